import Client
import Posix
import Wire

/// What stands before each item of a list.
enum Faces {
    case none
    case fingers
    case persons(Portraits)

    /// Of a screen with that picture.
    init(_ picture: Screen.Picture) {
        self =
            switch picture {
            case .finger: .fingers
            case .people: .persons(Portraits(ToolIO.variable))
            case .none, .logo, .lock, .key, .person, .paper, .organisation, .warning, .done, .code:
                .none
            }
    }

    /// By the name as it is; it is drawn by the one that is shown.
    func widget(_ name: [UInt8], _ shown: String) -> Widget? {
        switch self {
        case .none: nil
        case .fingers: Widget.picture(.finger, 32)
        case .persons(let portraits):
            switch portraits.picture(for: name) {
            case .letter: Widget.letter(of: shown, 32).styled("appvault-letter")
            case .person: Widget.picture(.person, 32)
            case .people: Widget.picture(.people, 32)
            case .key: Widget.picture(.key, 32)
            case .lock: Widget.picture(.lock, 32)
            case .paper: Widget.picture(.paper, 32)
            case .organisation: Widget.picture(.organisation, 32)
            case .vault: Widget.picture(.logo, 32)
            }
        }
    }
}
