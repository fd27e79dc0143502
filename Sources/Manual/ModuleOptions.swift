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
            "Stands behind others: takes the password that they were given, opens a store that follows the login "
                + "password in silence, and always returns PAM_IGNORE."),
        Entry(
            "or_password", "auth",
            "The prompt takes the passcode or the login password. What is not the passcode becomes the token of the "
                + "stack, so that pam_unix behind it with `try_first_pass` takes it without asking again. Where a module "
                + "in front has set a token already, that is tried in place of a question."
        ),
        Entry(
            "try_first_pass", "auth",
            "The token of the stack is tried first, and then the person is asked."),
        Entry("use_first_pass", "auth", "The token of the stack is tried, and nobody is asked."),
        Entry(
            "enforce", "auth",
            "Where a change of the passcode is due and did not take place, the login is denied. Without it the login "
                + "goes on, and the store stays locked."),
        Entry(
            "password_rules", "password",
            "In front of pam_unix: asks for the new login password and judges it by the rules for passcodes, for people "
                + "whose store follows it. For all others it returns PAM_IGNORE. pam_unix behind it needs "
                + "`use_authtok`."),
        Entry(
            "always_ask", "password",
            "With `password_rules`: people whose store does not follow the login password are asked for the new one as "
                + "well, without rules, because a pam_unix with `use_authtok` would not ask them."),
        Entry(
            "use_authtok", "password",
            "Taken as a matter of course: behind pam_unix the module never asks for a new login password."
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
            "How long a finger is waited for, 1 to 120 (default 30); at a display never longer than 8, because nobody can "
                + "press a key there to type instead."),
        Entry(
            "set_authtok", "auth",
            "After a finger or a passcode of its own the token of the stack is the login password, so that pam_gnome_keyring or pam_kwallet behind it "
                + "open too. For a login at this machine (a service of both LocalServices and UnlockServices) by somebody "
                + "whose fingers open the store, and for root's programs alone. The password is learned from a login at "
                + "such a service that succeeded with it, and lies sealed in the store; `appvault keyring forget` forgets "
                + "it. Where none is kept, the token is left as it is. Modules behind take it as if it had been typed: a stack "
                + "that wants a finger and the login password must not have this option."),
        Entry("debug", "all", "Writes to the system log what it did, never a secret."),
        Entry(
            "socket=", argument: "PATH", "all",
            "The daemon's socket, for private set-ups (default /run/appvault/socket)."),
    ]
}
