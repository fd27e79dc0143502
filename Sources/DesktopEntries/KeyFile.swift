/// A file of groups and keys, as desktop entries and D-Bus services are. It keeps every byte that
/// it was not asked to change: comments, order, unknown keys, the ends of lines. Lines are read as
/// GLib reads them; where KDE reads more than that, as KDE does.
package struct KeyFile: Equatable, Sendable {
    /// Every reader of such files keeps them in memory as a whole.
    package static let limit = 1 << 20

    private enum Kind: Equatable {
        /// A comment, an empty line, or something that no program understands.
        case other
        case group(ArraySlice<UInt8>)
        case key(ArraySlice<UInt8>, value: Range<Int>)
    }

    private struct Line: Equatable {
        /// With its end; only the last one may have none.
        var bytes: ArraySlice<UInt8>
        var kind: Kind
        /// The name of the group that the line stands in.
        var group: ArraySlice<UInt8>
    }

    private var lines: [Line] = []

    package init(_ bytes: [UInt8]) throws(EntryProblem) {
        guard bytes.count <= Self.limit else { throw .tooLarge }
        var group: ArraySlice<UInt8> = []
        for line in Self.split(bytes[...]) {
            let kind = Self.kind(line)
            if case .group(let name) = kind { group = name }
            lines.append(Line(bytes: line, kind: kind, group: group))
        }
    }

    package var bytes: [UInt8] { lines.flatMap(\.bytes) }

    private static func split(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        for index in bytes.indices where bytes[index] == 0x0A {
            lines.append(bytes[start...index])
            start = index + 1
        }
        if start < bytes.endIndex { lines.append(bytes[start...]) }
        return lines
    }

    private static func kind(_ line: ArraySlice<UInt8>) -> Kind {
        let text = trimmed(line)
        guard let first = text.first, first != UInt8(ascii: "#") else { return .other }
        if first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) {
            return .group(text[(text.startIndex + 1)..<end])
        }
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return .other }
        let value = trimmed(text[(equals + 1)...])
        return .key(trimmed(text[..<equals]), value: value.startIndex..<value.endIndex)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    // MARK: Reading

    package func has(group: String) -> Bool {
        lines.contains { $0.kind == .group(Array(group.utf8)[...]) }
    }

    /// As it stands there. A key that stands there twice has its last value.
    package func value(_ key: String, in group: String) -> [UInt8]? {
        for line in lines.reversed() where line.group.elementsEqual(group.utf8) {
            if case .key(let name, let value) = line.kind, name.elementsEqual(key.utf8) {
                return Array(line.bytes[value])
            }
        }
        return nil
    }

    // MARK: Changing

    /// Changes every value of the key, in all groups, also where the key has a language or another
    /// mark in brackets behind it: which of them counts, desktops decide differently.
    package mutating func rewrite(
        _ key: String, _ change: ([UInt8]) throws(EntryProblem) -> [UInt8]
    ) throws(EntryProblem) {
        for index in lines.indices {
            guard case .key(let name, let value) = lines[index].kind,
                name.prefix(while: { $0 != UInt8(ascii: "[") && !Self.isSpace($0) })
                    .elementsEqual(key.utf8)
            else { continue }
            replace(index, value, try change(Array(lines[index].bytes[value])))
        }
    }

    /// Sets the key wherever it stands in the group; where it does not, behind the group's head.
    package mutating func set(_ key: String, _ value: String, in group: String) {
        var isThere = false
        for index in lines.indices where lines[index].group.elementsEqual(group.utf8) {
            guard case .key(let name, let old) = lines[index].kind, name.elementsEqual(key.utf8)
            else { continue }
            replace(index, old, Array(value.utf8))
            isThere = true
        }
        guard !isThere,
            let head = lines.firstIndex(where: { $0.kind == .group(Array(group.utf8)[...]) })
        else { return }
        let end = Self.end(of: lines[head].bytes)
        if end.isEmpty { lines[head].bytes = (lines[head].bytes + [0x0A])[...] }
        let line = Array("\(key)=\(value)".utf8) + (end.isEmpty ? [0x0A] : end)
        lines.insert(
            Line(bytes: line[...], kind: Self.kind(line[...]), group: lines[head].group),
            at: head + 1)
    }

    package mutating func remove(_ key: String, in group: String) {
        lines.removeAll { line in
            guard line.group.elementsEqual(group.utf8), case .key(let name, _) = line.kind else {
                return false
            }
            return name.elementsEqual(key.utf8)
        }
    }

    private mutating func replace(_ index: Int, _ old: Range<Int>, _ value: [UInt8]) {
        let line = lines[index].bytes
        let new = Array(line[..<old.lowerBound]) + value + line[old.upperBound...]
        lines[index].bytes = new[...]
        lines[index].kind = Self.kind(new[...])
    }

    private static func end(of line: ArraySlice<UInt8>) -> [UInt8] {
        if line.suffix(2).elementsEqual([0x0D, 0x0A]) { return [0x0D, 0x0A] }
        return line.last == 0x0A ? [0x0A] : []
    }
}
