import Client
import Posix

/// What stands before each item of a list.
enum Faces {
    case fingers
    case persons(Portraits)

    static func people() -> Faces { .persons(Portraits(ToolIO.variable)) }

    /// By the name as it is; it is drawn by the one that is shown.
    func widget(_ name: [UInt8], _ shown: String) -> Widget {
        switch self {
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
