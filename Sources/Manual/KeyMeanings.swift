/// What each key of the policy file means. The table in Policy has names, bounds and defaults. A
/// test checks that both have the same keys.
enum KeyMeanings {
    static let all: [(key: String, meaning: String)] = [
        (
            "Enabled",
            "With no, the default policy is in force instead of the administrator's. For everybody, write this and the "
                + "next key only in [Passcode]."
        ),
        (
            "UseDefaultPolicy",
            "Whether Enabled=no puts the default policy in force. If you write both Enabled=no and UseDefaultPolicy=no, "
                + "there are no passcodes: stores are encrypted, and open for their owners without a question. Not "
                + "recommended."
        ),
        ("MinLength", "How many characters a passcode needs at least, as a person counts them."),
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
            "A PIN: only digits. The Require keys and MinCharacterGroups have no effect then; the other rules stay."
        ),
        ("MinUniqueCharacters", "At least so many different characters."),
        (
            "ForbidSequences",
            "A passcode of three or more digits and nothing else may not go on in equal steps, as 111111, 123456, 135791 "
                + "and 963074 do. If the line is missing: yes with DigitsOnly, otherwise no."
        ),
        ("Rules", "Which of the [Rule NAME] sections apply."),
        (
            "ExpireDays",
            "After so many days the person has to choose a new passcode, counted from when it was set. Without a passcode "
                + "nothing expires."
        ),
        (
            "HistoryCount",
            "The person may not use so many former passcodes again. A new passcode always has to differ from the current "
                + "one; after the recovery key, where nobody types the current one, only with 1 or more here."
        ),
        (
            "RetryLimit",
            "How many wrong tries in a row the person at this machine has; OnRetryLimit says what follows the last. Tries "
                + "from elsewhere have a count of their own with the same limit, and never erase a store."
        ),
        (
            "OnRetryLimit",
            "What follows: the store is erased, or it is locked until the recovery key opens it or root runs "
                + "`appvault tries clear`."
        ),
        (
            "ThrottleAfter",
            "After so many wrong tries in a row the person has to wait a second before the next, then two, four and so "
                + "on up to ThrottleMax. With OnRetryLimit=erase the last try always has to wait for ThrottleMax."
        ),
        ("ThrottleMax", "The longest wait between two tries."),
        (
            "LocalServices",
            "PAM services at which AppVault may count a person as being at this machine."
        ),
        (
            "PasscodeServices",
            "PAM services at which AppVault asks for the passcode and says whether it was right. At all others it asks nothing."
        ),
        ("UnlockServices", "PAM services at which a login password opens a store that follows it."),
        (
            "ConversingServices",
            "PAM services that can ask several questions: there a change that is due runs inside the login. su and sudo can "
                + "only on a terminal."
        ),
        ("AllowNoPasscode", "Whether a person may turn the passcode off, or begin without one."),
        (
            "NoPasscodeByDefault",
            "A new store begins without a passcode. Without AllowNoPasscode it has no effect."
        ),
        (
            "AllowRecoveryKey",
            "Whether people may have recovery keys. As soon as no is saved, existing keys open nothing: a person who "
                + "forgets the passcode then cannot open the store. The keys are kept, and work again after a yes. "
                + "`appvault status` tells each owner of a key, and `appvault policy preview` shows beforehand whose "
                + "stores have one."
        ),
        (
            "LockTimeout",
            "With LockOnBackground=timeout, a store locks after so long in the background. It never locks by this while "
                + "the session is in front."
        ),
        (
            "LockOnBackground",
            "What happens to open stores when their owner leaves: the screen is locked, the machine sleeps, another "
                + "person comes in front, the last session ends. `immediate` locks them at once, `timeout` after "
                + "LockTimeout, `never` not at all. Before a sleep that may write memory to the disk they are locked, "
                + "whatever this says. For stores under the policy key `secrets`, which keep the desktop's secrets, it is "
                + "`never` unless their own section [Passcode store:secrets] says otherwise."
        ),
        (
            "IdleTimeout",
            "A store locks after so long without a request, even while the session is in front. With 0 it does not, unless "
                + "its owner has no session: then no logout would lock it, and it locks after 15 minutes."
        ),
        (
            "HoldMax",
            "The longest that a person may keep a store open with `appvault hold`. A shorter time holds at once, also for "
                + "stores that are held."
        ),
        (
            "LockGrace",
            "If the screen was locked because nobody used the machine, stores wait so long before they are locked. "
                + "Whoever comes back within this time finds them open."
        ),
        (
            "FingerprintAfterLock",
            "Whether a finger opens a store again that was locked with the screen. With yes or a time, the key that a "
                + "finger opens stays in guarded memory meanwhile; with no, or when the time is over, it is wiped and "
                + "the passcode is needed. A sleep that may write memory to the disk wipes it."
        ),
        (
            "LoginUnits",
            "systemd units whose root processes log people in at this machine: consoles and display managers; * stands "
                + "for any letters. If a login comes from another unit, AppVault cannot tell that the person is at the "
                + "machine: it asks for no finger, and counts a wrong passcode as a stranger's."
        ),
        (
            "StoreQuota",
            "How much all stores of one person may take on the disk together. What needs more is refused: a new or longer "
                + "value, an import, another store. Everything else goes on, deleting too, even if the stores take more "
                + "already because you lowered the value. For a person with several stores the value for the store "
                + "`default` counts."
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
            "If a rule changed: always asks for a new passcode; noncompliant asks only if the present one, checked when it "
                + "next opens the store, breaks a rule."
        ),
        ("ShowReset", "Whether a person reads, after a wrong passcode, how to reset the store."),
        (
            "ShowCancel",
            "Whether the question for the passcode says how to cancel it. A change that the policy demands always says so."
        ),
        (
            "Onboard",
            "Who makes the store default. cli: the person, with `appvault create`. login: the first login that can ask "
                + "questions asks the person. silent: the first login with a password that another module has verified "
                + "makes it without a question, if the password meets the rules."
        ),
        (
            "DerivationMemory",
            "How much memory each guess at a passcode takes (Argon2id), for passcodes set from now on. Nobody has to do "
                + "anything if you change it."
        ),
        ("DerivationPasses", "How many passes over that memory."),
    ]

    /// Those of `[App ID]`, of which some have the name of one above.
    static let ofApps: [(key: String, meaning: String)] = [
        (
            "Require",
            "What the person shows before the application starts, and before it goes on. open: its store is open; if it "
                + "is locked, the person opens it. finger: a finger, or the passcode, also while the store is open. "
                + "passcode: the passcode, also while the store is open. With --require the person may demand more of "
                + "themselves, and not less. A store without a passcode asks for none."
        ),
        (
            "OnLock",
            "What becomes of the application when its store is locked. freeze: all of its processes stop where they are. "
                + "quit: it is ended. stay: nothing. If a file of the policy has this key, the person cannot choose "
                + "something else with --on-lock."
        ),
        (
            "LockOnBackground",
            "Whether the application is also locked when its owner leaves and its store stays open, because the key of "
                + "this name in [Passcode] or `appvault hold` keeps it open. `immediate` locks it at once, `timeout` after "
                + "LockTimeout, `never` only with its store."
        ),
        (
            "LockTimeout",
            "With LockOnBackground=timeout, the application is locked if its owner is away for so long."
        ),
        (
            "Store",
            "The store that the application belongs to. If the key is missing, it is the one that the person names with "
                + "--store, or `default`. If it is there, another --store is refused."
        ),
    ]

    static func of(_ key: String) -> String? { meaning(of: key, in: all) }

    static func ofApps(_ key: String) -> String? { meaning(of: key, in: ofApps) }

    private static func meaning(of key: String, in table: [(key: String, meaning: String)])
        -> String?
    {
        table.first { $0.key == key }?.meaning
    }
}
