import ToolTexts

/// The texts of one language, read from a compiled gettext catalogue.
///
/// The daemon does not use gettext(3), which has one language for the whole process: it speaks to
/// several people at once.
package struct Catalogue: Equatable, Sendable {
    /// By id.
    package var entries: [String: String] = [:]

    package enum Problem: Error, Equatable, CustomStringConvertible {
        case tooLarge
        case notACatalogue
        case otherRevision
        /// A table or a text lies outside of the file.
        case outside
        case notUTF8

        package var description: String {
            switch self {
            case .tooLarge: "larger than any catalogue of ours"
            case .notACatalogue: "no compiled gettext catalogue"
            case .otherRevision: "a revision of the format that is not known here"
            case .outside: "cut short, or its tables point outside of it"
            case .notUTF8: "not UTF-8"
            }
        }
    }

    package static let limit = 1 << 20
    private static let texts = 4096
    private static let contextEnd: UInt8 = 4

    package init() {}

    /// The layout of a .mo file: magic, revision, count, and two tables of (length, offset), for
    /// the originals and for the translations. An entry whose original is not today's English, or
    /// whose positions are not the original's, is left out.
    package init(decoding file: [UInt8]) throws(Problem) {
        guard file.count <= Self.limit else { throw .tooLarge }
        let words = try Layout(file)
        guard try words.number(at: 4) >> 16 == 0 else { throw .otherRevision }
        let count = Int(try words.number(at: 8))
        guard count <= Self.texts else { throw .tooLarge }
        let originals = Int(try words.number(at: 12))
        let translations = Int(try words.number(at: 16))
        for index in 0..<count {
            let original = try words.text(at: originals + 8 * index)
            let translation = try words.text(at: translations + 8 * index)
            guard let translated = String(validating: translation, as: UTF8.self) else {
                throw .notUTF8
            }
            let parts = original.split(
                separator: Self.contextEnd, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2,
                let text = ListedText(id: String(decoding: parts[0], as: UTF8.self)),
                parts[1].elementsEqual(text.english.utf8), Self.stands(translated, for: text)
            else { continue }
            entries[text.id] = translated
        }
    }

    /// Whether a translation can take the place of the built-in text.
    private static func stands(_ translated: String, for text: ListedText) -> Bool {
        !translated.isEmpty && !translated.utf8.contains(0)
            && Positions.of(translated) == Positions.of(text.english)
    }

    /// The file, in its own byte order, with every place checked before it is read.
    private struct Layout {
        let file: [UInt8]
        let isBigEndian: Bool

        init(_ file: [UInt8]) throws(Problem) {
            switch Array(file.prefix(4)) {
            case [0xDE, 0x12, 0x04, 0x95]: isBigEndian = false
            case [0x95, 0x04, 0x12, 0xDE]: isBigEndian = true
            default: throw .notACatalogue
            }
            self.file = file
        }

        func number(at place: Int) throws(Problem) -> UInt32 {
            guard place >= 0, place <= file.count - 4 else { throw .outside }
            let bytes = file[place..<place + 4]
            return (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) {
                $0 << 8 | UInt32($1)
            }
        }

        func text(at entry: Int) throws(Problem) -> ArraySlice<UInt8> {
            let length = Int(try number(at: entry))
            let start = Int(try number(at: entry + 4))
            guard start <= file.count, length <= file.count - start else { throw .outside }
            return file[start..<start + length]
        }
    }
}
