/// A kind of screen locker, by its name on the session bus. The signal's interface has the same
/// name.
enum Locker: String, CaseIterable, Sendable {
    case mate = "org.mate.ScreenSaver"
    case cinnamon = "org.cinnamon.ScreenSaver"
    case xfce = "org.xfce.ScreenSaver"
    case gnome = "org.gnome.ScreenSaver"
    /// KDE's, and of whoever else follows the common specification.
    case freedesktop = "org.freedesktop.ScreenSaver"

    /// Where the owner of the name has its object.
    var path: String {
        switch self {
        case .mate: "/org/mate/ScreenSaver"
        case .cinnamon: "/org/cinnamon/ScreenSaver"
        case .xfce: "/org/xfce/ScreenSaver"
        case .gnome: "/org/gnome/ScreenSaver"
        case .freedesktop: "/org/freedesktop/ScreenSaver"
        }
    }

    /// Where it keeps what it does when the screen is blank.
    var settings: Settings {
        switch self {
        case .mate: .gsettings(schema: "org.mate.screensaver", delayUnit: 60_000)
        case .cinnamon: .gsettings(schema: "org.cinnamon.desktop.screensaver", delayUnit: 1_000)
        case .gnome: .gsettings(schema: "org.gnome.desktop.screensaver", delayUnit: 1_000)
        case .xfce: .xfconf
        // KDE's says that it is active when it locks.
        case .freedesktop: .none
        }
    }

    enum Settings: Equatable, Sendable {
        /// `delayUnit` is in milliseconds.
        case gsettings(schema: String, delayUnit: UInt64)
        case xfconf
        case none
    }
}
