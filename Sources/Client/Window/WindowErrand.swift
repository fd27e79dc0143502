/// With what the window begins.
package enum WindowErrand: Equatable, Sendable {
    /// With what there is.
    case home
    case unlock(store: [UInt8])
    case recover(store: [UInt8])
    /// A link, an address or the path of a picture.
    case join(invitation: [UInt8])

    package static let unlockOption = "--unlock"
    package static let recoverOption = "--recover"

    /// As `appvault-desktop` takes it.
    package var words: [String] {
        switch self {
        case .home: []
        case .unlock(let store): [Self.unlockOption, String(decoding: store, as: UTF8.self)]
        case .recover(let store): [Self.recoverOption, String(decoding: store, as: UTF8.self)]
        case .join(let invitation): [String(decoding: invitation, as: UTF8.self)]
        }
    }

    /// Nil where nothing is begun.
    package var request: WindowRequest? {
        switch self {
        case .home: nil
        case .unlock(let store): .unlock(store: store)
        case .recover(let store): .recover(store: store)
        case .join(let invitation): .join(invitation: invitation)
        }
    }
}

extension StoreNotice.Kind {
    /// Where the window can do something about it. `store` is called as a person types it.
    package func errand(of store: [UInt8]) -> WindowErrand? {
        switch self {
        // To unlock it leads through what is due, also while it is open.
        case .due: .unlock(store: store)
        case .retryLocked: .recover(store: store)
        case .erased, .trouble: .home
        // Whoever manages the machine has to.
        case .barred: nil
        }
    }
}
