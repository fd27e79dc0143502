import ToolTexts

/// What `doctor` found at one link of the chain.
struct Finding: Equatable {
    enum Link: String, CaseIterable {
        case socket, daemon, users, state, key, policy, pam, presence, screen, reader, rules,
            sandbox,
            memory, clock, store, stores, secrets

        var title: ToolText {
            switch self {
            case .socket: .doctorSocket
            case .daemon: .doctorDaemon
            case .users: .doctorUsers
            case .state: .doctorState
            case .key: .doctorKey
            case .policy: .doctorPolicy
            case .pam: .doctorPam
            case .presence: .doctorPresence
            case .screen: .doctorScreen
            case .reader: .doctorReader
            case .rules: .doctorRules
            case .sandbox: .doctorSandbox
            case .memory: .doctorMemory
            case .clock: .doctorClock
            case .store: .doctorStore
            case .stores: .doctorStores
            case .secrets: .doctorSecrets
            }
        }
    }

    enum State: String, CaseIterable {
        case ok, warning, broken
        /// It cannot be told from here, or there is nothing to check.
        case unseen
    }

    var link: Link
    var state: State
    /// Which one it is about, if the link has several of a kind: a PAM service.
    var name = ""
    var text: String
    /// What to do, with the command in backquotes.
    var mend = ""
    /// Lines to paste.
    var paste: [String] = []

    init(
        _ link: Link, _ state: State, _ text: String, name: String = "", mend: String = "",
        paste: [String] = []
    ) {
        self.link = link
        self.state = state
        self.name = name
        self.text = text
        self.mend = mend
        self.paste = paste
    }
}
