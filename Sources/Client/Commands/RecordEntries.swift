/// What is in a store.
extension VerbEntry {
    static let set = VerbEntry(
        words: ["set"], group: .records, operands: ["NAME", "[VALUE|-]"],
        summary: "store a value under a name",
        text: [
            "On a terminal the value is asked for and does not show. From a pipe, or with -, it is read "
                + "from standard input, byte for byte, a final newline included, up to 1 MiB.",
            "A VALUE on the command line can be seen by other users in the list of processes, and stays in "
                + "the history of the shell.",
        ],
        examples: [
            .init(command: "appvault set mail/work", meaning: "asks, without echo"),
            .init(
                command: "appvault set tls.key - <server.key",
                meaning: "a file, byte for byte"),
        ])

    static let get = VerbEntry(
        words: ["get"], group: .records, operands: ["NAME"],
        summary: "show the value of a name",
        text: [
            "Into a pipe or a file the value goes as it is; a terminal gets a newline behind it."
        ],
        json: [
            Field("name", "the name"),
            Field("value", "the value"),
            Field("valueEncoding", "`base64`, where the value is not UTF-8"),
        ],
        examples: [
            .init(
                command: "appvault get tls.key >server.key",
                meaning: "the very bytes that were stored")
        ])

    static let list = VerbEntry(
        words: ["list"], group: .records, operands: ["[PREFIX]"], summary: "list names",
        text: [
            "One a line, sorted. On a terminal control characters are shown as \\xNN; into a pipe names go "
                + "as they are."
        ],
        json: [Field("names[].name", "a name; `nameEncoding` beside it where it is not UTF-8")])

    static let delete = VerbEntry(
        words: ["delete"], group: .records, operands: ["NAME"],
        summary: "remove a name and its value",
        text: ["What is removed cannot be brought back."])

    static let export = VerbEntry(
        words: ["export"], group: .records, operands: ["[FILE|-]"],
        summary: "write everything into one encrypted file",
        text: [
            "The file has a passphrase of its own, which is asked for after the passcode. It appears under "
                + "its name only when it is whole."
        ],
        examples: [
            .init(
                command: "appvault export backup.vault",
                meaning: "mode 0600, never half a file")
        ])

    static let `import` = VerbEntry(
        words: ["import"], group: .records, operands: ["[FILE|-]"], options: [.replace],
        summary: "read a file that export wrote",
        text: [
            "The whole file is checked before anything is stored. Names that exist already stop it, unless "
                + "--replace is given."
        ])
}
