/// The rules of this machine.
extension VerbEntry {
    static let policyShow = VerbEntry(
        words: ["policy", "show"], group: .policy, operands: [], options: [.user],
        summary: "show the rules in force, and where each comes from",
        text: [
            "Every key with its value and its place: FILE:LINE, or built in where no file names it. Keys that "
                + "this release does not act on yet are marked. Where a file is broken, what is wrong with it "
                + "stands on top, and the values are those that stay in force.",
            "Into a pipe: KEY, value, place and mark in columns with tabs between them, and what is no key "
                + "behind a #.",
        ],
        json: [
            Field("mode", "`administrators`, `standard` or `no-passcode`"),
            Field("problem", "what is wrong with a file: FILE:LINE: KEY: wrong: right; else null"),
            Field("values[].key", "the key"),
            Field("values[].value", "its value, as the file would say it"),
            Field("values[].file", "where it comes from; null where it is built in"),
            Field("values[].line", "the line of that file; null where it is built in"),
            Field("values[].actedOn", "whether this release acts on it"),
            Field("rules[].name", "a rule of the administrator's that applies"),
            Field("rules[].display", "what a person reads"),
            Field("rules[].kind", "`match`, `reject` or `dictionary`"),
            Field("rules[].file", "where it stands"),
            Field("rules[].line", "the line of its section"),
        ],
        examples: [
            .init(
                command: "appvault policy show --user alice", meaning: "what holds for alice (root)"
            )
        ])

    static let policyCheck = VerbEntry(
        words: ["policy", "check"], group: .policy, operands: ["[-]"], options: [.user],
        summary: "hold a candidate passcode against the rules",
        text: [
            "On a terminal the list of rules changes while the candidate is typed, which shows as dots. "
                + "Rules of the administrator's own are asked on Enter. Ctrl-U begins anew, Ctrl-C leaves.",
            "From a pipe, or with -, one line of standard input is the candidate. Into a pipe: id, `met`, "
                + "`unmet` or `not checked`, what the rule wants and the reason, with tabs between them.",
            "Whether it equals the current passcode or a former one is not checked: anybody at an open "
                + "session could guess with it. Ends with status 1 where a rule is not met.",
        ],
        json: [
            Field("met", "whether no rule is unmet"),
            Field("rules[].id", "`minLength`, `rule.NAME`, `digitsOnly`, `digit` and so on"),
            Field("rules[].finding", "`met`, `unmet` or `not-checked`"),
            Field("rules[].wants", "what the rule wants, for a person"),
            Field("rules[].reason", "why it was not checked, or is not met; may be empty"),
        ],
        examples: [
            .init(command: "appvault policy check", meaning: "while you type"),
            .init(
                command: "pwgen -s 20 1 | appvault policy check",
                meaning: "what another program made"
            ),
        ])

    static let policyLint = VerbEntry(
        words: ["policy", "lint"], group: .policy, operands: ["FILE..."],
        summary: "look for mistakes in policy files",
        text: [
            "Reads the files as one policy, in the order given, as the daemon reads policy.conf and then "
                + "policy.d; - is standard input. Needs no daemon.",
            "One line for each mistake: FILE:LINE: KEY: what is wrong: what would be right. Contradictions, keys "
                + "without an effect and policies that nobody can meet are found as well. Ends with status 1 where "
                + "there is an error; warnings alone do not.",
        ],
        json: [
            Field("errors", "how many"),
            Field("warnings", "how many"),
            Field("problems[].severity", "`error` or `warning`"),
            Field("problems[].file", "the file as it was given"),
            Field("problems[].line", "counted from 1"),
            Field("problems[].key", "may be empty"),
            Field("problems[].wrong", "what is wrong"),
            Field("problems[].right", "what would be right"),
        ],
        examples: [
            .init(
                command:
                    "cd /etc/appvault && appvault policy lint policy.conf policy.d/*.conf",
                meaning: "what is installed")
        ])

    static let policyPreview = VerbEntry(
        words: ["policy", "preview"], group: .policy, operands: ["FILE|-"], options: [.user],
        summary: "show what a new policy.conf would ask of whom",
        text: [
            "For each store: which change its owner would be led through at the next unlock, and whether that is "
                + "certain or depends on the present passcode. Root sees the stores of all, everybody else their "
                + "own. Nothing changes.",
            "Into a pipe: owner, store, flows, certainty and reason, with tabs between them.",
        ],
        json: [
            Field("total", "how many stores there are, also where not all are listed"),
            Field("stores[].store", "the store's id"),
            Field("stores[].owner", "the account's name"),
            Field("stores[].name", "the store's name"),
            Field("stores[].flows[].number", "1 to 7"),
            Field("stores[].flows[].name", "`create`, `change` and so on"),
            Field(
                "stores[].certainty", "`certain` or `if-short`: only where the passcode falls short"
            ),
            Field("stores[].reason", "why, for a person"),
        ],
        examples: [
            .init(
                command: "appvault policy preview new.conf",
                meaning: "whom it would ask for a new passcode")
        ])

    static let texts = VerbEntry(
        words: ["texts"], group: .policy, operands: [],
        summary: "list all texts, with their ids",
        text: [
            "In your language. The administrator replaces any of them by its id in the section [Texts] of the "
                + "policy file; see appvault-policy.conf(5).",
            "Into a pipe: id, origin and text, with tabs between them.",
        ],
        json: [
            Field("texts[].id", "the id"),
            Field("texts[].text", "the text; {1}, {2} are where arguments go"),
            Field("texts[].origin", "`built-in`, `catalogue` or `administrator`"),
        ])
}
