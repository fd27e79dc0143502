import Posix
import Testing

@testable import Words

/// The files of the repository that tests read.
enum Checkout {
    static func bytes(_ path: String, from file: String = #filePath) throws -> [UInt8] {
        try TextFile.read(at: self.path(path, from: file), limit: 1 << 20)
    }

    static func path(_ path: String, from file: String = #filePath) -> String {
        "/\(file.split(separator: "/").dropLast(3).joined(separator: "/"))/\(path)"
    }

    static func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }
}

/// The daemon's sources, for what no test can call: whether a case is used at all.
enum Sources {
    /// Every name that follows a dot in the files chosen.
    static func names(in isChosen: (String) -> Bool) throws -> Set<String> {
        let all = try ["Words", "StoreKeeping", "WorkerLinks", "VaultService"].map {
            "Sources/\($0)"
        }.flatMap(files)
        let files = all.filter { isChosen(String($0.split(separator: "/").last ?? "")) }
        try #require(files.count > 20)
        var names: Set<String> = []
        for file in files {
            let parts = try Checkout.text(file).split(separator: ".").dropFirst()
            names.formUnion(parts.map { String($0.prefix { $0.isLetter || $0.isNumber }) })
        }
        return names
    }

    /// Also those in folders below it.
    private static func files(in folder: String) throws -> [String] {
        try Folder(path: Checkout.path(folder)).names().flatMap { name in
            let path = "\(folder)/\(name)"
            return name.hasSuffix(".swift") ? [path] : try files(in: path)
        }
    }

    /// The name of a value's case.
    static func name(of value: some Any) -> String {
        String(String(describing: value).prefix { $0.isLetter || $0.isNumber })
    }
}

/// A catalogue's source: msgctxt, msgid and msgstr, in this order.
struct Translations {
    struct Entry {
        var id = ""
        var english = ""
        var text = ""
    }

    var entries: [Entry] = []

    init(_ path: String) throws {
        var entry = Entry()
        var field: WritableKeyPath<Entry, String> = \.id
        for line in try Checkout.text(path).split(separator: "\n") {
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("msgctxt") {
                entries.append(entry)
                entry = Entry()
                field = \.id
            } else if line.hasPrefix("msgid") {
                field = \.english
            } else if line.hasPrefix("msgstr") {
                field = \.text
            }
            guard let open = line.firstIndex(of: "\""), let close = line.lastIndex(of: "\"") else {
                continue
            }
            entry[keyPath: field] += Self.unquoted(line[line.index(after: open)..<close])
        }
        entries.append(entry)
        // The header, which has no context.
        entries.removeAll { $0.id.isEmpty }
    }

    private static func unquoted(_ text: Substring) -> String {
        var plain = ""
        var isEscaped = false
        for character in text {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                plain.append(character)
                isEscaped = false
            }
        }
        return plain
    }
}

/// German as po/de.po has it, by way of the file that msgfmt would make of it.
enum German {
    /// Compiled once: it takes longer than what a test asks of it.
    private static let catalogue: Result<Catalogue, any Error> = Result {
        let entries = try Translations("po/de.po").entries
        let file = MoFile(entries.map { ("\($0.id)\u{4}\($0.english)", $0.text) }).bytes
        return try Catalogue(decoding: file)
    }

    static func voice(_ overrides: [String: String] = [:]) throws -> Voice {
        var texts = Texts(catalogues: ["de": try catalogue.get()])
        texts.overrides = overrides
        return Voice(texts: texts, language: texts.language(Array("de_DE.UTF-8".utf8)))
    }
}

/// A compiled catalogue, as msgfmt lays it out, in either byte order.
struct MoFile {
    var bytes: [UInt8] = []

    init(_ entries: [(key: String, text: String)], bigEndian: Bool = false) {
        func put(_ number: Int) {
            let word = UInt32(number)
            let little = (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
            bytes += bigEndian ? little.reversed() : little
        }
        put(0x9504_12DE)
        put(0)
        put(entries.count)
        put(28)
        put(28 + 8 * entries.count)
        put(0)
        put(0)
        var place = 28 + 16 * entries.count
        for text in entries.map(\.key) + entries.map(\.text) {
            put(text.utf8.count)
            put(place)
            place += text.utf8.count + 1
        }
        for text in entries.map(\.key) + entries.map(\.text) { bytes += Array(text.utf8) + [0] }
    }

    /// With one 32-bit number replaced.
    func with(_ number: UInt32, at place: Int) -> [UInt8] {
        var changed = bytes
        for index in 0..<4 {
            changed[place + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))
        }
        return changed
    }
}
