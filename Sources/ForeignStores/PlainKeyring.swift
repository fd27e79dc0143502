internal import Posix

/// A keyring without a password, which gnome-keyring writes as groups of keys: `[keyring]`, for each
/// item a number, and behind the number and a colon its attributes.
enum PlainKeyring {
    static func isOne(_ bytes: Span<UInt8>) -> Bool {
        var lines = Lines(bytes.count)
        while let line = lines.next(bytes) {
            if line.isEmpty || bytes[line.lowerBound] == UInt8(ascii: "#") { continue }
            return bytes.holds(Array("[keyring]".utf8), at: line.lowerBound)
        }
        return false
    }

    /// A line without what is blank at its ends.
    private struct Lines {
        private var position = 0
        private let end: Int

        init(_ end: Int) { self.end = end }

        mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
            guard position < end else { return nil }
            let start = position
            while position < end, bytes[position] != 0x0A { position += 1 }
            let line = start..<position
            position += 1
            return bytes.trimmed(line)
        }
    }

    private struct Entry {
        var item = ForeignItem()
        var type: UInt32 = 0
        var text: Range<Int>?
        var hexadecimal: Range<Int>?
        /// By the group's name: two lines make one attribute.
        var attributes: [[UInt8]: Attribute] = [:]
    }

    private struct Attribute {
        var name: [UInt8]?
        var value: [UInt8] = []
    }

    static func read(_ file: borrowing SecretBuffer) throws(ForeignProblem) -> ForeignStore {
        var label: [UInt8] = []
        var entries: [Entry] = []
        var numbers: [[UInt8]: Int] = [:]
        file.withSpan { bytes in
            var lines = Lines(bytes.count)
            var group: [UInt8] = []
            while let line = lines.next(bytes) {
                guard let first = line.first.map({ bytes[$0] }), first != UInt8(ascii: "#") else {
                    continue
                }
                if first == UInt8(ascii: "["), bytes[line.upperBound - 1] == UInt8(ascii: "]") {
                    group = bytes.copy((line.lowerBound + 1)..<(line.upperBound - 1))
                    continue
                }
                guard let equals = line.first(where: { bytes[$0] == UInt8(ascii: "=") }) else {
                    continue
                }
                let key = bytes.copy(bytes.trimmed(line.lowerBound..<equals))
                let value = bytes.trimmed((equals + 1)..<line.upperBound)
                if group == keyring {
                    if key == Array("display-name".utf8) { label = unescaped(bytes, value) }
                    continue
                }
                let number = Array(group.prefix { $0 != UInt8(ascii: ":") })
                let index = numbers[number] ?? entries.count
                if index == entries.count {
                    numbers[number] = index
                    entries.append(Entry())
                }
                if number.count == group.count {
                    note(&entries[index], key, bytes, value)
                } else if group.dropFirst(number.count + 1).starts(with: attribute) {
                    note(&entries[index].attributes[group, default: Attribute()], key, bytes, value)
                }
            }
        }
        var secrets = SecretBuffer(capacity: file.count)
        var store = ForeignStore(label: label)
        for entry in entries {
            var item = entry.item
            for attribute in entry.attributes.values {
                if let name = attribute.name { item.attributes[name] = attribute.value }
            }
            item.nameSchema(entry.type)
            let start = secrets.count
            file.withSpan { bytes in
                if let text = entry.text {
                    secrets.append(bytes.extracting(text))
                } else if let digits = entry.hexadecimal {
                    appendBytes(bytes, digits, &secrets)
                }
            }
            item.secret = start..<secrets.count
            store.items.append(item)
        }
        store.secrets = secrets
        return store
    }

    private static let keyring = Array("keyring".utf8)
    private static let attribute = Array("attribute".utf8)

    private static func note(
        _ entry: inout Entry, _ key: [UInt8], _ bytes: Span<UInt8>, _ value: Range<Int>
    ) {
        switch String(decoding: key, as: UTF8.self) {
        case "item-type": entry.type = UInt32(clamping: number(bytes, value))
        case "display-name": entry.item.label = unescaped(bytes, value)
        case "ctime": entry.item.created = number(bytes, value)
        case "mtime": entry.item.modified = number(bytes, value)
        // gnome-keyring writes it as it is, and other texts with escapes.
        case "secret": entry.text = value
        case "binary-secret": entry.hexadecimal = value
        default: break
        }
    }

    private static func note(
        _ attribute: inout Attribute, _ key: [UInt8], _ bytes: Span<UInt8>, _ value: Range<Int>
    ) {
        switch String(decoding: key, as: UTF8.self) {
        case "name": attribute.name = unescaped(bytes, value)
        case "value": attribute.value = unescaped(bytes, value)
        default: break
        }
    }

    private static func number(_ bytes: Span<UInt8>, _ value: Range<Int>) -> UInt64 {
        UInt64(String(decoding: bytes.copy(value), as: UTF8.self)) ?? 0
    }

    private static func unescaped(_ bytes: Span<UInt8>, _ value: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        var isEscaped = false
        for index in value {
            let byte = bytes[index]
            guard isEscaped else {
                isEscaped = byte == UInt8(ascii: "\\")
                if !isEscaped { result.append(byte) }
                continue
            }
            isEscaped = false
            switch byte {
            case UInt8(ascii: "s"): result.append(0x20)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "\\"): result.append(byte)
            default: result += [UInt8(ascii: "\\"), byte]
            }
        }
        if isEscaped { result.append(UInt8(ascii: "\\")) }
        return result
    }

    private static func appendBytes(
        _ bytes: Span<UInt8>, _ digits: Range<Int>, _ secrets: inout SecretBuffer
    ) {
        func digit(_ index: Int) -> UInt8? { Unicode.Scalar(bytes[index]).hexadecimal }
        var index = digits.lowerBound
        while index + 1 < digits.upperBound, let high = digit(index), let low = digit(index + 1) {
            secrets.append(high << 4 | low)
            index += 2
        }
    }
}

extension Unicode.Scalar {
    var hexadecimal: UInt8? {
        switch self {
        case "0"..."9": UInt8(value - 48)
        case "a"..."f": UInt8(value - 87)
        case "A"..."F": UInt8(value - 55)
        default: nil
        }
    }
}

extension Span<UInt8> {
    /// Without blanks at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        func isBlank(_ index: Int) -> Bool { [0x20, 0x09, 0x0D].contains(self[index]) }
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, isBlank(start) { start += 1 }
        while end > start, isBlank(end - 1) { end -= 1 }
        return start..<end
    }
}
