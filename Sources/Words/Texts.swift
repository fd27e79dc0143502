import ToolTexts
import Wire

/// All texts of the daemon, in every language that it has: the administrator's own texts come
/// first, then the catalogues, then the built-in English.
package struct Texts: Sendable {
    package var catalogues: [String: Catalogue] = [:]
    /// `[Texts]` of the policy, by id. Such a text is shown in every language.
    package var overrides: [String: String] = [:]

    package init(catalogues: [String: Catalogue] = [:], overrides: [String: String] = [:]) {
        self.catalogues = catalogues
        self.overrides = overrides
    }

    /// A peer's bytes are only compared with the languages that were loaded at the start; they
    /// never become part of a path.
    package func language(_ locale: [UInt8]) -> Language {
        for name in Self.candidates(locale) where catalogues[name] != nil {
            return Language(name: name)
        }
        return .english
    }

    /// The names to try: for `de_AT.UTF-8@euro` these are de_AT@euro, de@euro, de_AT, de.
    private static func candidates(_ locale: [UInt8]) -> [String] {
        guard locale.count <= Limits.text else { return [] }
        let parts = String(decoding: locale, as: UTF8.self).split(
            separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].prefix { $0 != "." }
        let language = place.prefix { $0 != "_" }
        let plain = [String(place), String(language)]
        return parts.count > 1 ? plain.map { "\($0)@\(parts[1])" } + plain : plain
    }

    package func template(_ id: TextID, _ language: Language) -> Template {
        template(ListedText(id), language)
    }

    package typealias Template = (text: String, origin: TextList.Entry.Origin)

    package func template(_ text: ListedText, _ language: Language) -> Template {
        if let own = overrides[text.id], !own.isEmpty {
            return (Self.prompting(own, as: text.english), .administrator)
        }
        if let name = language.name, let translated = catalogues[name]?.entries[text.id] {
            return (Self.prompting(translated, as: text.english), .catalogue)
        }
        return (text.english, .builtIn)
    }

    /// A prompt ends with a space, but a policy file cannot hold a space at the end of a value.
    private static func prompting(_ text: String, as english: String) -> String {
        english.hasSuffix(" ") && !text.hasSuffix(" ") ? text + " " : text
    }

    package static func fill(_ template: String, _ arguments: [String]) -> String {
        String(
            decoding: Positions.filled(Array(template.utf8), arguments.map { Array($0.utf8) }),
            as: UTF8.self)
    }
}

/// One of the languages that were loaded, or English.
package struct Language: Equatable, Hashable, Sendable {
    package static let english = Language(name: nil)

    /// nil means the built-in texts.
    package let name: String?

    fileprivate init(name: String?) {
        self.name = name
    }
}
