/// What a module returns, by the names that a control in brackets uses.
enum PamResult: String, CaseIterable, Sendable {
    case success
    case openError = "open_err"
    case symbolError = "symbol_err"
    case serviceError = "service_err"
    case systemError = "system_err"
    case bufferError = "buf_err"
    case permissionDenied = "perm_denied"
    case authError = "auth_err"
    case credentialsInsufficient = "cred_insufficient"
    case authInfoUnavailable = "authinfo_unavail"
    case userUnknown = "user_unknown"
    case maxTries = "maxtries"
    case newTokenRequired = "new_authtok_reqd"
    case accountExpired = "acct_expired"
    case sessionError = "session_err"
    case credentialsUnavailable = "cred_unavail"
    case credentialsExpired = "cred_expired"
    case credentialsError = "cred_err"
    case noModuleData = "no_module_data"
    case conversationError = "conv_err"
    case tokenError = "authtok_err"
    case tokenRecoveryError = "authtok_recover_err"
    case tokenLockBusy = "authtok_lock_busy"
    case tokenAgingDisabled = "authtok_disable_aging"
    case tryAgain = "try_again"
    case ignore
    case abort
    case tokenExpired = "authtok_expired"
    case moduleUnknown = "module_unknown"
    case badItem = "bad_item"
    case conversationAgain = "conv_again"
    case incomplete

    /// What libpam itself returns if no module has succeeded.
    static let mustFail = PamResult.permissionDenied
}

/// What libpam does with a module's result.
enum PamAction: Hashable, Sendable {
    case ignore, ok, done, bad, die, reset
    /// Skips so many modules.
    case jump(Int)
}

/// The control of a line: its second word.
struct PamControl: Hashable, Sendable {
    private var actions: [PamResult: PamAction] = [:]
    /// The action for every result that `actions` does not name.
    private var otherwise = PamAction.bad

    subscript(result: PamResult) -> PamAction { actions[result] ?? otherwise }

    static let mustFail = PamControl(otherwise: .bad)
    static let neutral = PamControl(otherwise: .ignore)

    private init(_ actions: [PamResult: PamAction] = [:], otherwise: PamAction) {
        self.actions = actions
        self.otherwise = otherwise
    }

    /// A control that cannot be read fails the stack, as in libpam.
    init(_ text: String) {
        switch text.lowercased() {
        case "required":
            self.init(
                [.success: .ok, .newTokenRequired: .ok, .ignore: .ignore], otherwise: .bad)
        case "requisite":
            self.init(
                [.success: .ok, .newTokenRequired: .ok, .ignore: .ignore], otherwise: .die)
        case "sufficient":
            self.init([.success: .done, .newTokenRequired: .done], otherwise: .ignore)
        case "optional":
            self.init([.success: .ok, .newTokenRequired: .ok], otherwise: .ignore)
        default:
            guard text.first == "[", text.last == "]", let read = Self.read(text) else {
                self = .mustFail
                return
            }
            self = read
        }
    }

    private static func read(_ text: String) -> PamControl? {
        var control = PamControl(otherwise: .bad)
        var hasDefault = false
        let spaced = text.dropFirst().dropLast().replacing("=", with: " = ")
        var words = spaced.split { $0 == " " || $0 == "\t" }[...]
        while let name = words.popFirst() {
            guard words.popFirst() == "=", let word = words.popFirst(),
                let action = action(String(word))
            else { return nil }
            if name == "default" {
                if !hasDefault { control.otherwise = action }
                hasDefault = true
            } else if let result = PamResult(rawValue: String(name)) {
                control.actions[result] = action
            } else {
                return nil
            }
        }
        return control
    }

    private static func action(_ word: String) -> PamAction? {
        switch word {
        case "ignore": return .ignore
        case "ok": return .ok
        case "done": return .done
        case "bad": return .bad
        case "die": return .die
        case "reset": return .reset
        default:
            guard let count = Int(word), count > 0 else { return nil }
            return .jump(count)
        }
    }
}
