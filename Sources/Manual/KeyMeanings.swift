/// What each key of the policy file means. The table in Policy has names, bounds and defaults. A
/// test checks that both have the same keys.
enum KeyMeanings {
    static let all: [(key: String, meaning: String)] = [
        (
            "Enabled",
            "With no the administrator's rules are not in force, and the default policy is. This and the next key "
                + "stand in [Passcode] alone where they are to hold for everybody."
        ),
        (
            "UseDefaultPolicy",
            "Whether the default policy stands in where Enabled=no. With Enabled=no and UseDefaultPolicy=no, both "
                + "written, there are no passcodes: stores are encrypted, and open for their owners without a question. "
                + "Not recommended."
        ),
        ("MinLength", "In characters as a person counts them."),
        ("RequireDigit", "At least one digit, of any script."),
        ("RequireLower", "At least one small letter."),
        ("RequireUpper", "At least one capital letter."),
        ("RequireSpecial", "At least one character that is neither letter, mark nor digit."),
        (
            "MinCharacterGroups",
            "At least so many of these four groups: digits, small letters, capital letters, special characters."
        ),
        (
            "DigitsOnly",
            "A PIN: digits and nothing else. Sets the Require keys and MinCharacterGroups aside; the other rules stay."
        ),
        ("MinUniqueCharacters", "At least so many different characters."),
        (
            "ForbidSequences",
            "Passcodes of three or more digits and nothing else may not go on in equal steps, as 111111, 123456, 135791 "
                + "and 963074 do. Where the line is missing it is yes with DigitsOnly and no without."
        ),
        ("Rules", "Which of the [Rule NAME] sections apply."),
        (
            "ExpireDays",
            "Days after which a new passcode is demanded, counted from when it was set; in the state without a passcode "
                + "nothing expires."
        ),
        (
            "HistoryCount",
            "So many former passcodes may not come back. A new one differs from the current one in any case; after the "
                + "recovery key, where nobody has typed the current one, only with this at 1 or more."
        ),
        (
            "RetryLimit",
            "The wrong try in a row, made by the person at this machine, that is the last. Tries from elsewhere have a "
                + "count of their own with the same limit, and never erase."
        ),
        (
            "OnRetryLimit",
            "What then: the store is erased, or locked until the recovery key, or `appvault tries clear` by root."
        ),
        (
            "ThrottleAfter",
            "After so many wrong tries in a row the next has to wait a second, then two, four and so on up to "
                + "ThrottleMax. With OnRetryLimit=erase the last try always waits ThrottleMax."
        ),
        ("ThrottleMax", "The longest wait between two tries."),
        ("LocalServices", "PAM services at which somebody can be known to sit at this machine."),
        (
            "PasscodeServices",
            "PAM services at which AppVault asks for the passcode and answers for it; at all others it asks nothing."
        ),
        ("UnlockServices", "PAM services at which a login password opens a store that follows it."),
        (
            "ConversingServices",
            "PAM services that can hold a conversation: a change that is due runs inside the login there. su and sudo "
                + "only on a terminal."
        ),
        ("AllowNoPasscode", "Whether a person may turn the passcode off, or begin without."),
        (
            "NoPasscodeByDefault",
            "A new store begins without a passcode. Without AllowNoPasscode it has no effect."
        ),
        (
            "AllowRecoveryKey",
            "Whether there may be recovery keys. With no, those that there are open nothing either, from the moment at "
                + "which it is saved: who forgets the passcode then cannot open the store. They stay where they are, and "
                + "open again after a yes. `appvault status` tells each owner of one, and `appvault policy preview` says "
                + "beforehand whose stores have one."
        ),
        (
            "LockTimeout",
            "Time in the background after which a store locks, where LockOnBackground=timeout; never while the session "
                + "is in front."
        ),
        (
            "LockOnBackground",
            "What the screen lock, suspend, a switch to another person and the last logout do to open stores."
        ),
        (
            "IdleTimeout",
            "Time without a request after which a store locks even in front. Each request begins it anew. A store whose "
                + "owner has no session is locked by no logout, and where this is 0 it locks after 15 minutes."
        ),
        ("HoldMax", "The longest that a person may suspend locking."),
        (
            "LoginUnits",
            "systemd units whose root processes log people in at this machine: consoles and display managers; * stands "
                + "for any letters. Where a login comes from any other unit, AppVault cannot tell that the person is at "
                + "the machine: it asks for no finger, and wrong passcodes count as a stranger's."
        ),
        (
            "StoreQuota",
            "How much all stores of one person may take on the disk together. What would grow beyond it is refused: a "
                + "new or longer value, an import, another store. Everything else goes on, deleting too, also where "
                + "they take more already because the value was lowered. For somebody with several stores it is the "
                + "value that holds for the store `default`."
        ),
        (
            "AllowFingerprint",
            "Whether a finger may open a store that a passcode has opened since the machine started."
        ),
        (
            "FingerprintFirstUnlock",
            "Whether a finger may be the first to open a store after the machine started."
        ),
        (
            "FingerprintReaders",
            "internal: readers that are built into the machine, at the port where the finger was enrolled. Built in is what "
                + "the kernel calls fixed (each hub on the way too), what udev calls so (ID_INTEGRATION=internal, for "
                + "example by a rule of your own), what the firmware places in the lid, and a chip of a kind that is made "
                + "for laptops; nothing behind a hub or a dock that can be unplugged. any: every reader."
        ),
        (
            "FingerprintMaxFailures",
            "After so many fingers that do not match the passcode is needed once."
        ),
        ("PasscodeEvery", "The passcode itself is needed after so long, fingers notwithstanding."),
        (
            "ChangeOnUpdate",
            "When a rule changed: always a new passcode, or only where the present one, judged when it next opens the "
                + "store, falls short."
        ),
        ("ShowReset", "Whether a wrong passcode is answered with the way to reset the store."),
        (
            "ShowCancel",
            "Whether the question for the passcode says how it is cancelled. A demanded change always does."
        ),
        (
            "Onboard",
            "Who makes the store default: the person, with `appvault create`; a conversation at the first login that can "
                + "hold one; or the first login with a password that another module has verified, without a question, "
                + "if the password meets the rules."
        ),
        (
            "DerivationMemory",
            "Memory that it costs to try a passcode (Argon2id), for passcodes set from now on. A change of it asks "
                + "nothing of anybody."
        ),
        ("DerivationPasses", "Passes over that memory."),
    ]

    static func of(_ key: String) -> String? {
        all.first { $0.key == key }?.meaning
    }
}
