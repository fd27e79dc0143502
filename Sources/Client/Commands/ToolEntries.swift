/// The tool itself.
extension VerbEntry {
    static let version = VerbEntry(
        words: ["version"], group: .tool, operands: [],
        summary: "show the versions of tool and daemon",
        text: ["The daemon's is left out where none runs."],
        json: [
            Field("appvault", "the tool's"),
            Field("appvaultd", "the daemon's, or null"),
            Field("protocol", "the version of the protocol that the tool speaks"),
        ])

    static let help = VerbEntry(
        words: ["help"], group: .tool, operands: ["[VERB]"],
        summary: "show help, for one verb too",
        text: ["The same as VERB --help."],
        json: [
            Field("verbs[].name", "the verb"),
            Field("verbs[].synopsis", "how it is called"),
            Field("verbs[].summary", "what it does"),
            Field("verbs[].fields[].name", "a field of what the verb prints with --json"),
            Field("verbs[].fields[].meaning", "what it says"),
        ])
}
