/// What is wrong with a value, in words. What would be right comes from the table.
struct BadValue: Error {
    let wrong: String
}

/// Puts a value that was read into a policy.
typealias ValueChange = @Sendable (inout Policy) -> Void

/// One of a few words.
struct Choice: Sendable {
    let words: [String]
    let change: @Sendable (String) -> ValueChange?
    let text: @Sendable (Policy) -> String

    init<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ path: any WritableKeyPath<Policy, Value> & Sendable
    ) {
        words = Value.allCases.map(\.rawValue)
        change = { word in
            guard let value = Value(rawValue: word) else { return nil }
            return { policy in policy[keyPath: path] = value }
        }
        text = { $0[keyPath: path].rawValue }
    }
}

extension PolicyKey.Kind {
    /// What would be right.
    var right: String {
        switch self {
        case .flag: "yes or no"
        case .number(let range, let zero, _):
            "a whole number from \(range.lowerBound)\(named(zero)) to \(range.upperBound)"
        case .time(let range, let zero, _):
            "a time from \(zero == nil ? TimeSpan.text(range.lowerBound) : "0")\(named(zero)) "
                + "to \(TimeSpan.text(range.upperBound)), such as 90s, 15min or 1h 30min"
        case .size(let range, let zero, _):
            "a size from \(ByteSize.text(range.lowerBound))\(named(zero)) "
                + "to \(ByteSize.text(range.upperBound)), such as 64MiB"
        case .choice(let choice):
            choice.words.dropLast().joined(separator: ", ") + " or " + (choice.words.last ?? "")
        case .services(let mayReferToLocal, _):
            "PAM service names with spaces between them"
                + (mayReferToLocal ? ", and the word \(ServiceList.localWord)" : "")
        case .stay(let range, _):
            "yes, no, or a time from \(TimeSpan.text(range.lowerBound)) to "
                + "\(TimeSpan.text(range.upperBound)), such as 15min"
        case .units:
            "names of systemd units with spaces between them, where * stands for any letters"
        case .storeName: "the name of a store, \(StoreName.longest) bytes at most"
        case .rules: "\(RuleChoice.allWord), or names of [Rule NAME] sections with spaces between"
        }
    }

    private func named(_ zero: String?) -> String { zero.map { " (\($0))" } ?? "" }

    /// Whether an empty text after the `=` is a value.
    var mayBeEmpty: Bool {
        switch self {
        case .services, .units, .rules: true
        case .flag, .number, .time, .size, .choice, .stay, .storeName: false
        }
    }

    func read(_ value: [UInt8]) throws(BadValue) -> ValueChange {
        switch self {
        case .flag(let path):
            let flag = try readFlag(value)
            return { $0[keyPath: path] = flag }
        case .number(let range, _, let path):
            guard let read = wholeNumber(value[...]) else {
                throw BadValue(wrong: "\(quoted(value)) is not a whole number")
            }
            let number = UInt32(try within(range, read, value))
            return { $0[keyPath: path] = number }
        case .time(let range, _, let path):
            let seconds = UInt32(try within(range, try TimeSpan.read(value), value))
            return { $0[keyPath: path] = seconds }
        case .size(let range, let zero, let path):
            // Zero needs no unit.
            let isZero = zero != nil && value.elementsEqual("0".utf8)
            let bytes = isZero ? 0 : try within(range, try ByteSize.read(value), value)
            return { $0[keyPath: path] = bytes }
        case .choice(let choice):
            guard let change = choice.change(String(decoding: value, as: UTF8.self)) else {
                throw BadValue(wrong: "\(quoted(value)) is not known here")
            }
            return change
        case .services(let mayReferToLocal, let path):
            let list = try ServiceList.read(value, mayReferToLocal: mayReferToLocal)
            return { $0[keyPath: path] = list }
        case .stay(let range, let path):
            let stay = try Stay.read(value, range)
            return { $0[keyPath: path] = stay }
        case .units(let path):
            let units = try LoginUnits.read(value)
            return { $0[keyPath: path] = units }
        case .storeName(let path):
            guard value.count <= StoreName.longest else {
                throw BadValue(wrong: "\(quoted(value)) is too long")
            }
            return { $0[keyPath: path] = StoreName(bytes: value) }
        case .rules(let path):
            let choice = try RuleChoice.read(value)
            return { $0[keyPath: path] = choice }
        }
    }

    /// The key's value in a policy, in the form that `read` takes.
    func text(_ policy: Policy) -> String {
        switch self {
        case .flag(let path): policy[keyPath: path] ? "yes" : "no"
        case .number(_, _, let path): "\(policy[keyPath: path])"
        case .time(_, _, let path): TimeSpan.text(UInt64(policy[keyPath: path]))
        case .size(_, _, let path): ByteSize.text(policy[keyPath: path])
        case .choice(let choice): choice.text(policy)
        case .services(_, let path): policy[keyPath: path].text
        case .stay(_, let path): policy[keyPath: path].text
        case .units(let path): policy[keyPath: path].text
        case .storeName(let path): String(decoding: policy[keyPath: path].bytes, as: UTF8.self)
        case .rules(let path): policy[keyPath: path].text
        }
    }
}

func readFlag(_ value: [UInt8]) throws(BadValue) -> Bool {
    if value.elementsEqual("yes".utf8) { return true }
    if value.elementsEqual("no".utf8) { return false }
    throw BadValue(wrong: "\(quoted(value)) is neither yes nor no")
}

/// Bytes of a file for an error line: as printable ASCII, and cut if there are many.
func quoted(_ bytes: [UInt8]) -> String { "'\(printable(bytes))'" }

func printable(_ bytes: [UInt8]) -> String {
    let most = 60
    var text = ""
    for byte in bytes.prefix(most) {
        if 0x20...0x7E ~= byte {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            text += byte < 0x10 ? "\\x0" : "\\x"
            text += String(byte, radix: 16)
        }
    }
    return bytes.count > most ? text + "..." : text
}

/// Reads digits and nothing else. A number that is too large for the type becomes its largest
/// value, which no bound allows.
func wholeNumber(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return digits.reduce(0) { number, digit in
        number.timesSaturating(10).addingSaturating(UInt64(digit - 0x30))
    }
}

private func within(
    _ range: ClosedRange<UInt64>, _ number: UInt64, _ value: [UInt8]
) throws(BadValue) -> UInt64 {
    guard number >= range.lowerBound else {
        throw BadValue(wrong: "\(quoted(value)) is too little")
    }
    guard number <= range.upperBound else { throw BadValue(wrong: "\(quoted(value)) is too much") }
    return number
}

extension Stay {
    var text: String {
        switch self {
        case .always: "yes"
        case .never: "no"
        case .time(let seconds): TimeSpan.text(UInt64(seconds))
        }
    }

    static func read(
        _ value: [UInt8], _ range: ClosedRange<UInt64>
    ) throws(BadValue) -> Stay {
        if value.elementsEqual("yes".utf8) { return .always }
        if value.elementsEqual("no".utf8) { return .never }
        return .time(UInt32(try within(range, try TimeSpan.read(value), value)))
    }
}

extension ServiceList {
    var text: String {
        ((withLocal ? [Self.localWord] : []) + names).joined(separator: " ")
    }

    static func read(_ value: [UInt8], mayReferToLocal: Bool) throws(BadValue) -> ServiceList {
        var list = ServiceList(names: [])
        for word in value.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }) {
            if localWord.utf8.elementsEqual(word) {
                guard mayReferToLocal else { throw BadValue(wrong: "the list refers to itself") }
                list.withLocal = true
                continue
            }
            guard word.count <= 64, word.allSatisfy(isNameByte), word.first != 0x2D else {
                throw BadValue(wrong: "\(quoted(Array(word))) is not a service name")
            }
            // libpam turns every service name into small letters: a rule with a capital one would
            // never apply.
            guard !word.contains(where: { 0x41...0x5A ~= $0 }) else {
                throw BadValue(
                    wrong: "\(quoted(Array(word))) has capital letters, which no service has")
            }
            list.names.append(String(decoding: word, as: UTF8.self))
        }
        return list
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x2B, 0x2D, 0x2E, 0x40, 0x5F: true  // + - . @ _
        default: false
        }
    }
}

extension LoginUnits {
    var text: String { patterns.joined(separator: " ") }

    static func read(_ value: [UInt8]) throws(BadValue) -> LoginUnits {
        var units = LoginUnits(patterns: [])
        for word in value.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }) {
            guard word.count <= 128, word.allSatisfy(isNameByte), word.first != 0x2A else {
                throw BadValue(wrong: "\(quoted(Array(word))) is not a pattern for unit names")
            }
            units.patterns.append(String(decoding: word, as: UTF8.self))
        }
        return units
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x2A, 0x2D, 0x2E, 0x3A, 0x40, 0x5C, 0x5F: true  // * - . : @ \ _
        default: false
        }
    }
}

extension RuleChoice {
    var text: String {
        switch self {
        case .all: Self.allWord
        case .named(let names): names.joined(separator: " ")
        }
    }

    static func read(_ value: [UInt8]) throws(BadValue) -> RuleChoice {
        if value.elementsEqual(allWord.utf8) { return .all }
        var names: [String] = []
        for word in value.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }) {
            guard let name = ruleName(word) else {
                throw BadValue(wrong: "\(quoted(Array(word))) is not a name for a rule")
            }
            names.append(name)
        }
        return .named(names)
    }
}

/// A rule's name, as lists and ids contain it.
func ruleName(_ bytes: ArraySlice<UInt8>) -> String? {
    let isName = bytes.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
    guard isName, 1...58 ~= bytes.count, !bytes.elementsEqual(RuleChoice.allWord.utf8) else {
        return nil
    }
    return String(decoding: bytes, as: UTF8.self)
}
