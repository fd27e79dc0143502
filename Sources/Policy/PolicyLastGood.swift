/// The file of the last good policy. It contains the files that the policy was read from, word by
/// word, so that after a restart the daemon still knows what holds for whom, and where it was
/// written. Each part begins with its length, and a mark at the end shows that nothing is missing.
///
///     appvault policy 2
///     KIND NAME-BYTES TEXT-BYTES
///     NAME
///     TEXT
///     ...
///     # whole
extension PolicyBook {
    private static let head = Array("appvault policy 2\n".utf8)
    private static let endMark = Array("# whole\n".utf8)
    private static let mostFiles = 10_000

    /// The most bytes that the file of the last good policy can have.
    public static let mostLastGoodBytes = mostBytes + mostFiles * 64

    private enum Part: String {
        case standard
        case administrators
        case dropIn = "drop-in"
    }

    public func render() -> [UInt8] {
        let parts: [(Part, PolicyFile)] =
            [(.standard, files.standard), (.administrators, files.administrators)]
            .compactMap { part, file in file.map { (part, $0) } }
            + files.dropIns.map { (.dropIn, $0) }
        var bytes = Self.head
        for (part, file) in parts {
            let name = Array(file.name.utf8)
            bytes += Array("\(part.rawValue) \(name.count) \(file.text.count)\n".utf8)
            bytes += name + [0x0A] + file.text + [0x0A]
        }
        return bytes + Self.endMark
    }

    /// Reads what `render` wrote. A file of another release is refused, and so is an incomplete
    /// one.
    public init(lastGood file: PolicyFile) throws(PolicyProblem) {
        var rest = file.text[...]
        guard rest.starts(with: Self.head) else {
            throw Self.notWhole(file, rest, "the file is not of this release")
        }
        rest = rest.dropFirst(Self.head.count)
        var files = PolicyFiles()
        while !rest.elementsEqual(Self.endMark) {
            guard let (part, read) = Self.part(&rest) else {
                throw Self.notWhole(file, rest, "the file is not whole")
            }
            switch part {
            case .standard: files.standard = read
            case .administrators: files.administrators = read
            case .dropIn: files.dropIns.append(read)
            }
        }
        try self.init(files)
    }

    private static func part(_ rest: inout ArraySlice<UInt8>) -> (Part, PolicyFile)? {
        guard let head = line(&rest) else { return nil }
        let words = head.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3,
            let part = Part(rawValue: String(decoding: words[0], as: UTF8.self)),
            let nameCount = wholeNumber(words[1]), let textCount = wholeNumber(words[2]),
            let name = block(&rest, nameCount), let text = block(&rest, textCount)
        else { return nil }
        return (part, PolicyFile(name: String(decoding: name, as: UTF8.self), text: Array(text)))
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

    private static func notWhole(
        _ file: PolicyFile, _ rest: ArraySlice<UInt8>, _ wrong: String
    ) -> PolicyProblem {
        PolicyProblem(
            file: file.name, line: file.text[..<rest.startIndex].count { $0 == 0x0A } + 1, key: "",
            wrong: wrong, right: "the file as it was written")
    }
}
