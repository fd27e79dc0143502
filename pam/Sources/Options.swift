internal import CPam

/// What the service file says behind the module's name.
@safe
struct Options {
    /// Whose token opens the store, and whether ours is asked for.
    enum Role {
        case authenticator
        /// Behind others: takes the stack's token, and is never an answer to PAM.
        case unlocker
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

    enum Speech {
        case quiet
        case debug
    }

    private(set) var role = Role.authenticator
    private(set) var source = Source.person
    private(set) var prompt = Prompt.passcode
    private(set) var due = Due.goesOn
    private(set) var speech = Speech.quiet
    /// libpam's memory, alive as long as the service's configuration; nil means the default.
    let socket: UnsafePointer<CChar>?

    init(_ pam: Pam, _ count: Int32, _ arguments: Arguments?) {
        var socket: UnsafePointer<CChar>?
        var index: Int32 = 0
        // SAFETY (this loop): the shim checks the index, and every argument is a NUL-terminated string.
        while index < count, let argument = unsafe appvault_pam_argument(arguments, count, index) {
            index += 1
            if unsafe strcmp(argument, "unlock") == 0 {
                role = .unlocker
            } else if unsafe strcmp(argument, "or_password") == 0 {
                prompt = .passcodeOrLogin
            } else if unsafe strcmp(argument, "try_first_pass") == 0 {
                if source == .person { source = .tokenThenPerson }
            } else if unsafe strcmp(argument, "use_first_pass") == 0 {
                source = .tokenOnly
            } else if unsafe strcmp(argument, "use_authtok") == 0 {
                // We never ask for a new login password: this is what we do in any case.
            } else if unsafe strcmp(argument, "enforce") == 0 {
                due = .denies
            } else if unsafe strcmp(argument, "debug") == 0 {
                speech = .debug
            } else if unsafe strncmp(argument, "socket=", 7) == 0 {
                unsafe socket = argument + 7
            } else if appvault_pam_first_complaint() != 0 {
                unsafe pam.log(LOG_ERR, "unknown option, ignored:", argument)
            }
        }
        unsafe self.socket = socket
    }
}
