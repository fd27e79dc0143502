/// How people say to an organisation who they are, before they keep something under its rules. The
/// part `signin` of a bundle, with fields that they fill:
///
///     [Sign-in]
///     Version=1
///     URL=https://id.example.org/appvault
///     Title=Sign in with your staff account
///
///     [Field user]
///     Label=E-mail
///     Kind=email
///     Prefill={account}@example.org
///
///     [Field password]
///     Label=Password
///     Kind=secret
///
///     [Sign-in de]
///     Title=Mit dem Dienstkonto anmelden
///
///     [Field password de]
///     Label=Passwort
///
/// Or, without fields, with a page on which they type a code: `Page=https://id.example.org/device`.
public struct SignIn: Equatable, Sendable {
    public struct Field: Equatable, Sendable {
        public enum Kind: String, CaseIterable, Sendable { case text, name, email, number, secret }

        public var id: String
        public var kind: Kind
        public var isRequired: Bool
        fileprivate var labels: Translated
        fileprivate var prefill: String

        public func label(for languages: [String]) -> String { labels.text(for: languages) }

        /// What stands there at first.
        public func prefill(account: String) -> String {
            prefill.split(separator: SignIn.account, omittingEmptySubsequences: false)
                .joined(separator: account)
        }
    }

    public enum Way: Equatable, Sendable {
        case fields([Field])
        case page(String)
    }

    /// Whoever has signed in by a lower one does so again.
    public var version: UInt32
    /// What was typed is sent there.
    public var url: String
    public var way: Way
    private var titles: Translated

    /// What it is called where people's answers are kept and told.
    public static let id = "sign-in"
    public static let mostBytes = 32 * 1024
    /// A screen has no more.
    public static let mostFields = 12
    public static let mostPrefill = 128
    /// Of a page: a line of a screen has no more.
    private static let mostAddress = 800
    private static let mostID = 32
    private static let mostLanguage = 8
    private static let account = "{account}"
    private static let title = "Sign-in"
    private static let field = "Field "

    public func title(for languages: [String]) -> String { titles.text(for: languages) }

    public init(_ text: [UInt8]) throws(PlainSections.Fault) {
        guard text.count <= Self.mostBytes else {
            throw PlainSections.Fault(line: 1, wrong: "it is longer than 32 KiB")
        }
        var file = try PlainSections(text)
        var main = try file.section(Self.title)
        version = try main.require("Version", "a number from 1 on", Self.version)
        url = try main.require("URL", Value.url, Value.url)
        titles = Translated(try main.require("Title", "a line of text", Value.text))
        let page = try main.read("Page", "a URL that begins with https://, of 800 bytes at most") {
            Value.url($0).flatMap { $0.utf8.count <= Self.mostAddress ? $0 : nil }
        }
        try main.requireEnd()
        var fields: [Field] = []
        while var section = file.next() {
            try Self.take(&section, &titles, &fields)
            try section.requireEnd()
        }
        if let page {
            guard fields.isEmpty else {
                throw PlainSections.Fault(
                    line: main.line, wrong: "with a Page there are no fields")
            }
            way = .page(page)
        } else {
            guard 1...Self.mostFields ~= fields.count else {
                throw PlainSections.Fault(
                    line: main.line,
                    wrong: "there is a Page, or there are 1 to \(Self.mostFields) fields")
            }
            way = .fields(fields)
        }
    }

    private static func version(_ value: [UInt8]) -> UInt32? {
        Value.version(value).flatMap { UInt32(exactly: $0) }
    }

    private static func take(
        _ section: inout PlainSections.Section, _ titles: inout Translated,
        _ fields: inout [Field]
    ) throws(PlainSections.Fault) {
        let wrong = PlainSections.Fault(
            line: section.line,
            wrong: "a section is [Sign-in], [Field NAME], or one of these with a language, "
                + "such as [Field user de]")
        if section.title.hasPrefix(title + " ") {
            let language = String(section.title.dropFirst(title.utf8.count + 1))
            guard isName(language, most: mostLanguage) else { throw wrong }
            let text = try section.require("Title", "a line of text", Value.text)
            guard titles.add(text, in: language) else { throw wrong }
            return
        }
        guard section.title.hasPrefix(field) else { throw wrong }
        let words = section.title.dropFirst(field.utf8.count).split(
            separator: " ", omittingEmptySubsequences: false
        ).map(String.init)
        guard 1...2 ~= words.count, isName(words[0], most: mostID) else { throw wrong }
        let place = fields.firstIndex { $0.id == words[0] }
        let label = try section.require("Label", "a line of text", Value.text)
        guard words.count == 2 else {
            guard place == nil else { throw wrong }
            fields.append(try new(words[0], label, &section))
            return
        }
        guard let place else {
            throw PlainSections.Fault(
                line: section.line, wrong: "it stands before its own language")
        }
        guard isName(words[1], most: mostLanguage), fields[place].labels.add(label, in: words[1])
        else { throw wrong }
    }

    private static func new(
        _ id: String, _ label: String, _ section: inout PlainSections.Section
    ) throws(PlainSections.Fault) -> Field {
        let kinds = Field.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        let kind = try section.require("Kind", "one of \(kinds)") {
            Field.Kind(rawValue: String(decoding: $0, as: UTF8.self))
        }
        let isRequired = try section.read("Required", "yes or no", Value.flag) ?? true
        let line = section.line
        let prefill = try section.read("Prefill", "a text of \(mostPrefill) bytes at most") {
            Value.text($0).flatMap { $0.utf8.count <= mostPrefill ? $0 : nil }
        }
        guard kind != .secret || prefill == nil else {
            throw PlainSections.Fault(line: line, wrong: "a secret has no Prefill")
        }
        return Field(
            id: id, kind: kind, isRequired: isRequired, labels: Translated(label),
            prefill: prefill ?? "")
    }

    private static func isName(_ text: String, most: Int) -> Bool {
        1...most ~= text.utf8.count
            && text.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-")
            }
    }
}

extension SignIn {
    /// A line of an organisation's, as it wrote it first and in other languages.
    fileprivate struct Translated: Equatable, Sendable {
        private let own: String
        private var others: [String: String] = [:]

        init(_ own: String) {
            self.own = own
        }

        /// False where there is one already.
        mutating func add(_ text: String, in language: String) -> Bool {
            others.updateValue(text, forKey: language) == nil
        }

        func text(for languages: [String]) -> String {
            languages.lazy.compactMap { others[$0] }.first ?? own
        }
    }
}
