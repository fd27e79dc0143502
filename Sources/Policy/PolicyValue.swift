/// What is wrong with a value, in words; what would be right stands in the table.
struct BadValue: Error {
    let wrong: String
}

extension PolicyKey.Kind {
    /// What would be right.
    var right: String {
        switch self {
        case .flag: "yes or no"
        case .number(let range, let zero, _):
            "a whole number from \(range.lowerBound)\(zero.map { " (\($0))" } ?? "") to \(range.upperBound)"
        case .time(let range, _):
            "a time from \(TimeSpan.text(range.lowerBound)) to \(TimeSpan.text(range.upperBound)), "
                + "such as 90s, 15min or 1h 30min"
        case .size(let range, _):
            "a size from \(ByteSize.text(range.lowerBound)) to \(ByteSize.text(range.upperBound)), "
                + "such as 64MiB"
        case .retryLimitAction:
            OnRetryLimit.allCases.map(\.rawValue).joined(separator: " or ")
        case .services(let mayReferToLocal, _):
            "PAM service names with spaces between them"
                + (mayReferToLocal ? ", and the word \(ServiceList.localWord)" : "")
        }
    }

    /// Reads a value and puts it in its place.
    func read(_ value: [UInt8], into policy: inout Policy) throws(BadValue) {
        switch self {
        case .flag(let path):
            switch String(decoding: value, as: UTF8.self) {
            case "yes": policy[keyPath: path] = true
            case "no": policy[keyPath: path] = false
            default: throw BadValue(wrong: "\(quoted(value)) is neither yes nor no")
            }
        case .number(let range, _, let path):
            guard let number = wholeNumber(value[...]) else {
                throw BadValue(wrong: "\(quoted(value)) is not a whole number")
            }
            policy[keyPath: path] = UInt32(try within(range, number, value))
        case .time(let range, let path):
            policy[keyPath: path] = UInt32(try within(range, try TimeSpan.read(value), value))
        case .size(let range, let path):
            policy[keyPath: path] = try within(range, try ByteSize.read(value), value)
        case .retryLimitAction(let path):
            guard let action = OnRetryLimit(rawValue: String(decoding: value, as: UTF8.self)) else {
                throw BadValue(wrong: "\(quoted(value)) is not known here")
            }
            policy[keyPath: path] = action
        case .services(let mayReferToLocal, let path):
            policy[keyPath: path] = try ServiceList.read(value, mayReferToLocal: mayReferToLocal)
        }
    }

    /// The value of a policy as `read` takes it.
    func text(_ policy: Policy) -> String {
        switch self {
        case .flag(let path): policy[keyPath: path] ? "yes" : "no"
        case .number(_, _, let path): "\(policy[keyPath: path])"
        case .time(_, let path): TimeSpan.text(UInt64(policy[keyPath: path]))
        case .size(_, let path): ByteSize.text(policy[keyPath: path])
        case .retryLimitAction(let path): policy[keyPath: path].rawValue
        case .services(_, let path): policy[keyPath: path].text
        }
    }
}

/// Bytes of a file for an error line: printable ASCII, and not too much of it.
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

/// Digits and nothing else; what is too large for the type stays its largest value, which no bound allows.
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
                throw BadValue(wrong: "\(quoted(Array(word))) is no service name")
            }
            // libpam makes every service name small: a capital one would be a rule that never applies.
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
