/// A text of sections and keys, as people write manifests: `[Section]`, then `KEY=VALUE`. Nothing is
/// skipped and nothing is guessed.
public struct PlainSections {
    struct Entry: Equatable {
        var key: String
        var value: [UInt8]
        var line: Int
    }

    /// A line that is not as it should be.
    public struct Fault: Error, Equatable, Sendable {
        public var line: Int
        public var wrong: String
    }

    struct Section: Equatable {
        var title: String
        var line: Int
        var entries: [Entry] = []
    }

    /// In the order in which they stand there.
    private var sections: [Section] = []

    init(_ text: [UInt8]) throws(Fault) {
        guard String(validating: text, as: UTF8.self) != nil else {
            throw Fault(line: 1, wrong: "the text is not UTF-8")
        }
        var number = 0
        for raw in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard !raw.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw Fault(line: number, wrong: "the line has a control character")
            }
            switch raw.first {
            case nil, UInt8(ascii: "#"), UInt8(ascii: ";"): continue
            case UInt8(ascii: "["):
                guard raw.last == UInt8(ascii: "]") else {
                    throw Fault(line: number, wrong: "the title of a section ends with ]")
                }
                let title = String(decoding: raw.dropFirst().dropLast(), as: UTF8.self)
                guard !sections.contains(where: { $0.title == title }) else {
                    throw Fault(line: number, wrong: "[\(title)] is there a second time")
                }
                sections.append(Section(title: title, line: number))
            default: try take(raw, number)
            }
        }
    }

    private mutating func take(_ raw: ArraySlice<UInt8>, _ line: Int) throws(Fault) {
        guard let equals = raw.firstIndex(of: UInt8(ascii: "=")), equals > raw.startIndex else {
            throw Fault(
                line: line, wrong: "the line is no KEY=VALUE, no [section] and no # comment")
        }
        guard !sections.isEmpty else {
            throw Fault(line: line, wrong: "the key stands before any section")
        }
        let key = String(decoding: raw[..<equals], as: UTF8.self)
        let last = sections.count - 1
        guard !sections[last].entries.contains(where: { $0.key == key }) else {
            throw Fault(line: line, wrong: "\(key) is there a second time")
        }
        sections[last].entries.append(
            Entry(key: key, value: Array(raw[(equals + 1)...]), line: line))
    }

    /// Takes one out; what is left at the end is none that anybody knows.
    mutating func section(_ title: String) throws(Fault) -> Section {
        guard let place = sections.firstIndex(where: { $0.title == title }) else {
            throw Fault(line: 1, wrong: "[\(title)] is missing")
        }
        return sections.remove(at: place)
    }

    /// Takes out the first of those that are left.
    mutating func next() -> Section? { sections.isEmpty ? nil : sections.removeFirst() }

    func requireEnd() throws(Fault) {
        guard let section = sections.first else { return }
        throw Fault(line: section.line, wrong: "[\(section.title)] is no section of this file")
    }
}

extension PlainSections.Section {
    /// Takes a key out, and reads its value; nil where it is missing.
    mutating func read<Value>(
        _ key: String, _ right: String, _ read: ([UInt8]) -> Value?
    ) throws(PlainSections.Fault) -> Value? {
        guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: place)
        guard let value = read(entry.value) else {
            throw PlainSections.Fault(line: entry.line, wrong: "\(key) is \(right)")
        }
        return value
    }

    mutating func require<Value>(
        _ key: String, _ right: String, _ read: ([UInt8]) -> Value?
    ) throws(PlainSections.Fault) -> Value {
        guard let value = try self.read(key, right, read) else {
            throw PlainSections.Fault(line: line, wrong: "[\(title)] has no \(key)")
        }
        return value
    }

    func requireEnd() throws(PlainSections.Fault) {
        guard let entry = entries.first else { return }
        throw PlainSections.Fault(
            line: entry.line, wrong: "\(entry.key) is no key of [\(title)]")
    }
}
