import Wire

/// All that the daemon can say, in every language that it has: the administrator's own texts, over
/// the catalogues, over the built-in English.
struct Texts: Sendable {
    var catalogues: [String: Catalogue] = [:]
    /// `[Texts]` of the policy, by id; each holds in every language.
    var overrides: [String: String] = [:]

    /// A peer's bytes are only compared with the languages that were loaded at the start; they
    /// never become part of a path.
    func language(_ locale: [UInt8]) -> Language {
        for name in Self.candidates(locale) where catalogues[name] != nil {
            return Language(name: name)
        }
        return .english
    }

    /// `de_AT.UTF-8@euro`: de_AT@euro, de@euro, de_AT, de.
    private static func candidates(_ locale: [UInt8]) -> [String] {
        guard locale.count <= Limits.text else { return [] }
        let parts = String(decoding: locale, as: UTF8.self).split(
            separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].prefix { $0 != "." }
        let language = place.prefix { $0 != "_" }
        let plain = [String(place), String(language)]
        return parts.count > 1 ? plain.map { "\($0)@\(parts[1])" } + plain : plain
    }

    func template(_ id: TextID, _ language: Language) -> (
        text: String, origin: TextList.Entry.Origin
    ) {
        if let own = overrides[id.rawValue], !own.isEmpty {
            return (Self.prompting(own, as: id.english), .administrator)
        }
        if let name = language.name, let translated = catalogues[name]?.entries[id] {
            return (Self.prompting(translated, as: id.english), .catalogue)
        }
        return (id.english, .builtIn)
    }

    /// A prompt keeps its space at the end, which a policy file cannot hold.
    private static func prompting(_ text: String, as english: String) -> String {
        english.hasSuffix(" ") && !text.hasSuffix(" ") ? text + " " : text
    }

    /// Puts the arguments where the text wants them. A position without an argument stays as it is
    /// written: it may be the administrator's own brace.
    static func fill(_ template: String, _ arguments: [String]) -> String {
        guard !arguments.isEmpty else { return template }
        var filled: [UInt8] = []
        let bytes = Array(template.utf8)
        var index = 0
        while index < bytes.count {
            if let number = position(in: bytes, at: index), number <= arguments.count {
                filled += Array(arguments[number - 1].utf8)
                index += 3
            } else {
                filled.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: filled, as: UTF8.self)
    }

    /// The positions that a text has, from 1 to 9.
    static func positions(_ template: String) -> Set<Int> {
        let bytes = Array(template.utf8)
        return Set(bytes.indices.compactMap { position(in: bytes, at: $0) })
    }

    private static func position(in bytes: [UInt8], at index: Int) -> Int? {
        guard index + 2 < bytes.count, bytes[index] == UInt8(ascii: "{"),
            bytes[index + 2] == UInt8(ascii: "}"),
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[index + 1])
        else { return nil }
        return Int(bytes[index + 1] - UInt8(ascii: "0"))
    }
}

/// One of the languages that were loaded, or English.
struct Language: Equatable, Hashable, Sendable {
    static let english = Language(name: nil)

    /// nil: the built-in texts.
    let name: String?

    fileprivate init(name: String?) {
        self.name = name
    }
}
