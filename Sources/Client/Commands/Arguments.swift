import Wire

/// What was typed after a verb.
struct Arguments {
    /// The options that were given, with their values. An option that takes no value has an empty
    /// one.
    let options: [Option: [UInt8]]
    /// All that were given of those that may be given several times.
    let repeated: [Option: [[UInt8]]]
    let operands: [[UInt8]]
    /// Every verb there is.
    let verbs: [VerbEntry]

    func has(_ option: Option) -> Bool { options[option] != nil }

    /// The meaning of the option that was given; nil if none of these was.
    func only<Meaning>(
        of choice: KeyValuePairs<Option, Meaning>
    ) throws(UsageError) -> Meaning? {
        let chosen = choice.filter { has($0.key) }
        guard chosen.count < 2 else {
            let flags = chosen.map(\.key.entry.flag)
            throw UsageError(
                Text(flags[0], " and ", flags[1], " exclude each other"),
                hint: Text("give one of them"))
        }
        return chosen.first?.value
    }

    /// One that somebody shares is OWNER/NAME.
    static func shared(_ name: [UInt8], _ from: String) throws(UsageError) -> [UInt8] {
        guard let slash = name.firstIndex(of: UInt8(ascii: "/")) else {
            return try store(name, from)
        }
        _ = try account(Array(name[..<slash]))
        _ = try store(Array(name[(slash + 1)...]), from)
        return name
    }

    static func store(_ name: [UInt8], _ from: String) throws(UsageError) -> [UInt8] {
        guard !name.isEmpty, name.count <= Limits.name,
            UTF8Check.isText(name.span, start: 0, count: name.count)
        else {
            throw UsageError(
                Text(from, " ", Printable.escaped(name), " cannot be"),
                hint: Text("a store's name is UTF-8 of 1 to ", Limits.name, " bytes"))
        }
        return name
    }

    static func account(_ bytes: [UInt8]) throws(UsageError) -> [UInt8] {
        guard !bytes.isEmpty, bytes.count <= Limits.text,
            UTF8Check.isText(bytes.span, start: 0, count: bytes.count)
        else {
            throw UsageError(
                Text(Printable.escaped(bytes), " is not an account name"),
                hint: Text("`getent passwd` lists them"))
        }
        return bytes
    }
}

/// A file that is named as an operand.
enum FileOperand: Equatable {
    case path([UInt8])
    /// `-`
    case standardStream

    init(_ operand: [UInt8]) {
        self = operand == [0x2D] ? .standardStream : .path(operand)
    }
}
