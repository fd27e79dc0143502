internal import CPam
internal import WireEmbedded

/// The options that the service file gives after the module's name.
@safe
struct Options {
    /// Whether this line asks for the passcode, or takes a token of the stack.
    enum Role {
        case authenticator
        /// After other modules: takes the stack's token, and never gives PAM a verdict.
        case unlocker
        /// Before other modules in a `password` stack: asks for the new login password, by our
        /// rules.
        case passwordRules
    }

    enum Source {
        case person
        case tokenThenPerson
        case tokenOnly
    }

    enum Prompt {
        case passcode
        case passcodeOrLogin
    }

    enum Due {
        case goesOn
        case denies
    }

    /// What the module does about a new login password for which the daemon has no rules.
    enum Otherwise {
        case left
        /// libpam asks for it, as pam_unix would. For a pam_unix after us that may not ask itself.
        case asked
    }

    /// Which of the secrets that the store keeps the stack may have.
    enum Keyring {
        case none
        /// After a login by finger: the login password, for the keyring modules after us.
        case token
    }

    enum Speech {
        case quiet
        case debug
    }

    private(set) var role = Role.authenticator
    private(set) var source = Source.person
    private(set) var prompt = Prompt.passcode
    private(set) var due = Due.goesOn
    private(set) var otherwise = Otherwise.left
    private(set) var keyring = Keyring.none
    private(set) var finger = FingerUse.byService
    /// 0 lets the daemon choose.
    private(set) var fingerSeconds: UInt8 = 0
    private(set) var speech = Speech.quiet
    /// libpam's memory, alive as long as the service's configuration; nil means the default.
    let socket: UnsafePointer<CChar>?

    init(_ pam: Pam, _ count: Int32, _ arguments: Arguments?) {
        var socket: UnsafePointer<CChar>?
        var index: Int32 = 0
        // SAFETY: the shim checks the index, and every argument ends with NUL.
        while index < count, let start = unsafe appvault_pam_argument(arguments, count, index) {
            index += 1
            let word = unsafe Word(start)
            if word == "unlock" {
                role = .unlocker
            } else if word == "or_password" {
                prompt = .passcodeOrLogin
            } else if word == "password_rules" {
                role = .passwordRules
            } else if word == "always_ask" {
                otherwise = .asked
            } else if word == "try_first_pass" {
                if source == .person { source = .tokenThenPerson }
            } else if word == "use_first_pass" {
                source = .tokenOnly
            } else if word == "use_authtok" {
                // After pam_unix the module never asks for a new login password. So it does in any
                // case what this option demands.
            } else if word == "enforce" {
                due = .denies
            } else if word == "set_authtok" {
                keyring = .token
            } else if word == "debug" {
                speech = .debug
            } else if word.starts("fingerprint=", 12), let use = word.fingerUse(from: 12) {
                finger = use
            } else if word.starts("timeout=", 8), let seconds = word.seconds(from: 8) {
                fingerSeconds = seconds
            } else if word.starts("socket=", 7) {
                // SAFETY: seven characters are there, and then at least NUL.
                unsafe socket = start + 7
            } else if appvault_pam_first_complaint() != 0 {
                // SAFETY: every argument ends with NUL.
                unsafe pam.log(LOG_ERR, "unknown option, ignored:", start)
            }
        }
        // SAFETY: only kept.
        unsafe self.socket = socket
    }
}

/// One word of a service file.
@safe
private struct Word {
    private let start: UnsafePointer<CChar>

    @unsafe
    init(_ start: UnsafePointer<CChar>) {
        // SAFETY: only kept.
        unsafe self.start = start
    }

    static func == (word: Word, literal: StaticString) -> Bool {
        // SAFETY: both end with NUL.
        unsafe strcmp(word.start, literal.cString) == 0
    }

    /// The value after the first `first` characters, which the caller has found to be there; nil if
    /// it is unknown.
    func fingerUse(from first: Int) -> FingerUse? {
        // SAFETY: the word has that many characters, and then at least NUL.
        let value = unsafe Word(start + first)
        if value == "first" { return .first }
        if value == "on-empty" { return .onEmpty }
        if value == "only" { return .only }
        if value == "off" { return .off }
        return nil
    }

    /// The value after the first `first` characters, which the caller has found to be there: 1 to
    /// 120 in digits; nil for anything else.
    func seconds(from first: Int) -> UInt8? {
        // SAFETY: the word has that many characters, and then at least NUL, which ends the loop.
        var value = 0
        var index = first
        while unsafe start[index] != 0 {
            let digit = Int(unsafe start[index]) - 48
            guard digit >= 0, digit <= 9 else { return nil }
            value = value * 10 + digit
            guard value <= Word.mostSeconds else { return nil }
            index += 1
        }
        return value > 0 ? UInt8(truncatingIfNeeded: value) : nil
    }

    private static let mostSeconds = 120

    func starts(_ literal: StaticString, _ count: Int) -> Bool {
        // SAFETY: both end with NUL.
        unsafe strncmp(start, literal.cString, count) == 0
    }
}
