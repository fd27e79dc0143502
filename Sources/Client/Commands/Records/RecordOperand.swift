import Wire

extension Arguments {
    /// The operand NAME, which is the first one.
    func recordName() throws(UsageError) -> [UInt8] {
        try Self.checkRecord(operands[0])
        return operands[0]
    }

    static func checkRecord(_ name: [UInt8]) throws(UsageError) {
        guard !name.isEmpty, name.count <= Limits.name else {
            throw UsageError(
                Text("a name of ", name.count, " bytes cannot be"),
                hint: Text("names have 1 to ", Limits.name, " bytes"))
        }
    }
}

extension Run {
    /// Shows a line to a person at a terminal. A script that stores a hundred values wants no
    /// lines.
    func finished(_ verb: String, _ line: @autoclosure () -> [UInt8]) {
        switch settings.form {
        case .plain: if environment.output.isTerminal { voice.done(line()) }
        case .json: report(verb, line())
        }
    }
}
