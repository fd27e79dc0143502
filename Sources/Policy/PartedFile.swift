/// Several texts in one file, word by word. Each part begins with its length, and a mark at the end
/// shows that nothing is missing.
///
///     HEAD
///     KIND NAME-BYTES TEXT-BYTES
///     NAME
///     TEXT
///     ...
///     # whole
public enum PartedFile {
    public struct Part: Equatable, Sendable {
        public var kind: String
        public var name: [UInt8]
        public var text: [UInt8]

        public init(kind: String, name: [UInt8], text: [UInt8]) {
            self.kind = kind
            self.name = name
            self.text = text
        }
    }

    public enum Fault: Error, Equatable, Sendable {
        /// It is another file, or one of another release.
        case head
        /// From this line on it is not as it was written.
        case notWhole(line: Int)
    }

    private static let endMark = Array("# whole\n".utf8)

    public static func render(head: String, _ parts: [Part]) -> [UInt8] {
        var bytes = Array("\(head)\n".utf8)
        for part in parts {
            bytes += Array("\(part.kind) \(part.name.count) \(part.text.count)\n".utf8)
            bytes += part.name + [0x0A] + part.text + [0x0A]
        }
        return bytes + endMark
    }

    /// Reads what `render` wrote.
    public static func read(_ bytes: [UInt8], head: String) throws(Fault) -> [Part] {
        var rest = bytes[...]
        guard let first = line(&rest), first.elementsEqual(head.utf8) else { throw .head }
        var parts: [Part] = []
        while !rest.elementsEqual(endMark) {
            guard let part = part(&rest) else {
                throw .notWhole(line: bytes[..<rest.startIndex].count { $0 == 0x0A } + 1)
            }
            parts.append(part)
        }
        return parts
    }

    private static func part(_ rest: inout ArraySlice<UInt8>) -> Part? {
        guard let head = line(&rest) else { return nil }
        let words = head.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3,
            let nameCount = wholeNumber(words[1]), let textCount = wholeNumber(words[2]),
            let name = block(&rest, nameCount), let text = block(&rest, textCount)
        else { return nil }
        return Part(
            kind: String(decoding: words[0], as: UTF8.self), name: Array(name), text: Array(text))
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: 0x0A) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    private static func block(
        _ rest: inout ArraySlice<UInt8>, _ count: UInt64
    ) -> ArraySlice<UInt8>? {
        guard count < UInt64(rest.count) else { return nil }
        let block = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        guard rest.popFirst() == 0x0A else { return nil }
        return block
    }
}
