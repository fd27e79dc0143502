/// The options that may follow the module's name in a service file. The module itself is Embedded
/// Swift and holds no texts, so the list is kept here. A test compares it with the options that the
/// module reads.
enum ModuleOptions {
    struct Entry {
        var name: String
        var argument: String?
        /// The module types in which it has an effect.
        var types: String
        var meaning: String

        init(_ name: String, argument: String? = nil, _ types: String, _ meaning: String) {
            self.name = name
            self.argument = argument
            self.types = types
            self.meaning = meaning
        }
    }

    static let all: [Entry] = [
        Entry(
            "unlock", "auth",
            "For a line behind the modules that ask. It takes the password that they were given, opens with it a store "
                + "that follows the login password, shows nothing, and always returns PAM_IGNORE."),
        Entry(
            "or_password", "auth",
            "The person may type the passcode or the login password. An answer that is not the passcode becomes the "
                + "stack's token, so pam_unix behind it with `try_first_pass` uses it and does not ask again. If a "
                + "module in front has already set a token, AppVault tries that and does not ask."
        ),
        Entry(
            "try_first_pass", "auth",
            "Tries the stack's token first, and then asks the person."),
        Entry("use_first_pass", "auth", "Tries the stack's token and asks nobody."),
        Entry(
            "enforce", "auth",
            "If a new passcode is due and the person did not choose one, the login is denied. Without this option the "
                + "login goes on, and the store stays locked."),
        Entry(
            "password_rules", "password",
            "For a line in front of pam_unix. If the person's store follows the login password, it asks for the new "
                + "login password and checks it by the rules for passcodes. For everybody else it returns PAM_IGNORE. "
                + "pam_unix behind it needs `use_authtok`."),
        Entry(
            "always_ask", "password",
            "With `password_rules`: asks everybody else for the new password, too, and checks no rules then. A pam_unix "
                + "with `use_authtok` does not ask."),
        Entry(
            "use_authtok", "password",
            "Accepted, and changes nothing: behind pam_unix the module never asks for a new login password."
        ),
        Entry(
            "fingerprint=", argument: "WHEN", "auth",
            "When the reader is started: `first`, before the passcode is asked for, and Enter or Ctrl-C at the terminal "
                + "goes on to it; `on-empty`, after an empty answer to the passcode's prompt; `only`, with no passcode "
                + "to fall back on; `off`, never. Without it login, sudo, su and LightDM have `first`, every other "
                + "service `on-empty`; but sudo has `on-empty` where its input is no terminal and somebody may sit at "
                + "one, as in a pipeline, and login, sudo and su have `off` where nobody is seen at a terminal that "
                + "answers. The daemon asks for a finger only where the policy allows one, one is enrolled, and "
                + "somebody is known to be at the reader."
        ),
        Entry(
            "timeout=", argument: "SECONDS", "auth",
            "How long the reader waits for a finger, 1 to 120 (default 30). At a display it waits at most 8, because the "
                + "person cannot press a key there to type instead."),
        Entry(
            "set_authtok", "auth",
            "After a finger or a passcode of its own the token of the stack is the login password, so that pam_gnome_keyring or pam_kwallet behind it "
                + "open too. For a login at this machine (a service of both LocalServices and UnlockServices) by somebody "
                + "whose fingers open the store, and for root's programs alone. The password is learned from a login at "
                + "such a service that succeeded with it, and lies sealed in the store; `appvault keyring forget` forgets "
                + "it. Where none is kept, the token is left as it is. Modules behind take it as if it had been typed: a stack "
                + "that wants a finger and the login password must not have this option."),
        Entry("debug", "all", "Writes to the system log what the module did, and never a secret."),
        Entry(
            "socket=", argument: "PATH", "all",
            "The daemon's socket, for private set-ups (default /run/appvault/socket)."),
    ]
}
