/// What an organisation asks each person to agree to before they use their stores: a licence, and
/// consents that are required or left to them. The part `terms` of a bundle:
///
///     [Licence]
///     Version=2
///     Title=Terms of use
///
///     # What this is about
///     A paragraph, over
///     as many lines as you like.
///
///     - an item of a list
///     https://example.org/terms
///     ---
///     The next page.
///
///     [Licence de]
///     Title=Nutzungsbedingungen
///
///     ...
///
///     [Consent diagnostics]
///     Version=1
///     Required=no
///     LearnMore=https://example.org/diagnostics
///     Title=Diagnostics
///
///     ...
public struct Consents: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case licence
        /// Whoever denies it does not go on.
        case required
        case optional
    }

    public struct Item: Equatable, Sendable {
        public var id: String
        public var kind: Kind
        /// Whoever has agreed to a lower one is asked again.
        public var version: UInt32
        /// Where a person may read more; empty where there is nothing.
        public var learnMore = ""
        fileprivate var papers: [String: Paper] = [:]

        /// In the first of these languages that there is, or as the organisation wrote it first.
        public func paper(for languages: [String]) -> Paper {
            languages.lazy.compactMap { papers[$0] }.first ?? papers[Consents.ownLanguage]
                ?? Paper()
        }

        public var languages: [String] {
            papers.keys.filter { $0 != Consents.ownLanguage }.sorted()
        }
    }

    /// What a person reads.
    public struct Paper: Equatable, Sendable {
        public var title = ""
        public var pages: [[Line]] = []
    }

    public struct Line: Equatable, Sendable {
        public enum Role: Equatable, Sendable { case heading, paragraph, item, link }

        public var role: Role
        public var text: String
    }

    /// The licence first, then as they stand there.
    public private(set) var items: [Item] = []

    public static let none = Consents()
    public static let licence = "licence"
    public static let mostItems = 16
    public static let mostPages = 64
    /// Of one paper, in bytes.
    public static let mostText = 64 * 1024
    /// Of one line of it.
    public static let mostLine = 4096
    /// Lines of one paper, and ends of pages between them: a screen has no more.
    public static let mostLines = 4096
    /// Of an address where a person may read more: a line of a screen has no more.
    public static let mostAddress = 800
    private static let ownLanguage = ""

    private init() {}

    public init(_ text: [UInt8]) throws(PlainSections.Fault) {
        guard String(validating: text, as: UTF8.self) != nil else {
            throw PlainSections.Fault(line: 1, wrong: "the text is not UTF-8")
        }
        var section: Section?
        var number = 0
        for line in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard !line.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw PlainSections.Fault(line: number, wrong: "the line has a control character")
            }
            if line.first == UInt8(ascii: "[") {
                if let section { try take(section) }
                section = try Section(title: line, number)
            } else if section != nil {
                try section?.take(line, number)
            } else if !line.isEmpty, line.first != UInt8(ascii: "#") {
                throw PlainSections.Fault(
                    line: number, wrong: "it begins with [Licence] or [Consent NAME]")
            }
        }
        if let section { try take(section) }
        let licence = items.firstIndex { $0.kind == .licence }
        if let licence { items.insert(items.remove(at: licence), at: 0) }
    }

    private mutating func take(_ section: Section) throws(PlainSections.Fault) {
        let place = items.firstIndex { $0.id == section.id }
        if section.language == Self.ownLanguage {
            guard place == nil else { throw section.fault("it is there a second time") }
            guard items.count < Self.mostItems else {
                throw section.fault("there are more than \(Self.mostItems) of them")
            }
            items.append(try section.item())
        } else {
            guard let place else { throw section.fault("it stands before its own language") }
            guard items[place].papers[section.language] == nil else {
                throw section.fault("it is there a second time")
            }
            items[place].papers[section.language] = try section.translation()
        }
    }
}

extension Consents {
    /// One while it is read.
    private struct Section {
        let id: String
        let language: String
        private let line: Int
        private var keys: [String: String] = [:]
        /// The keys end with the first empty line.
        private var isInText = false
        private var size = 0
        private var paper = Paper(title: "", pages: [[]])
        /// The next line goes on with the paragraph before it.
        private var goesOn = false

        private static let right =
            "a section is [Licence], [Consent NAME], or one of these with a language, "
            + "such as [Licence de]"

        init(title: ArraySlice<UInt8>, _ line: Int) throws(PlainSections.Fault) {
            let title = String(decoding: title, as: UTF8.self)
            guard title.hasPrefix("["), title.hasSuffix("]") else {
                throw PlainSections.Fault(line: line, wrong: Self.right)
            }
            var words = title.dropFirst().dropLast().split(
                separator: " ", omittingEmptySubsequences: false
            ).map(String.init)
            switch words.removeFirst() {
            case "Licence": id = Consents.licence
            case "Consent":
                guard let name = words.first, Self.isName(name, most: 32),
                    name != Consents.licence, name != SignIn.id
                else { throw PlainSections.Fault(line: line, wrong: Self.right) }
                id = name
                words.removeFirst()
            default: throw PlainSections.Fault(line: line, wrong: Self.right)
            }
            language = words.first ?? Consents.ownLanguage
            guard words.count <= 1, words.isEmpty || Self.isName(language, most: 8) else {
                throw PlainSections.Fault(line: line, wrong: Self.right)
            }
            self.line = line
        }

        private static func isName(_ text: String, most: Int) -> Bool {
            1...most ~= text.utf8.count
                && text.utf8.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }

        func fault(_ wrong: String) -> PlainSections.Fault {
            PlainSections.Fault(line: line, wrong: wrong)
        }

        mutating func take(_ line: ArraySlice<UInt8>, _ number: Int) throws(PlainSections.Fault) {
            if isInText { return try takeText(line, number) }
            guard !line.isEmpty else {
                isInText = true
                return
            }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
                throw PlainSections.Fault(
                    line: number, wrong: "an empty line stands between the keys and the text")
            }
            let key = String(decoding: line[..<equals], as: UTF8.self)
            guard keys[key] == nil else {
                throw PlainSections.Fault(line: number, wrong: "\(key) is there a second time")
            }
            keys[key] = String(decoding: line[(equals + 1)...], as: UTF8.self)
        }

        private mutating func takeText(
            _ bytes: ArraySlice<UInt8>, _ number: Int
        ) throws(PlainSections.Fault) {
            size += bytes.count + 1
            guard size <= Consents.mostText else {
                throw PlainSections.Fault(line: number, wrong: "the text is longer than 64 KiB")
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text == "---" {
                goesOn = false
                guard paper.pages.count < Consents.mostPages else {
                    throw PlainSections.Fault(
                        line: number, wrong: "there are more than \(Consents.mostPages) pages")
                }
                if paper.pages.last?.isEmpty == false { paper.pages.append([]) }
                return
            }
            if text.allSatisfy({ $0 == " " }) {
                goesOn = false
                return
            }
            let found: Line =
                if text.hasPrefix("# ") {
                    Line(role: .heading, text: String(text.dropFirst(2)))
                } else if text.hasPrefix("- ") {
                    Line(role: .item, text: String(text.dropFirst(2)))
                } else if text.hasPrefix("https://"), !text.contains(" ") {
                    Line(role: .link, text: text)
                } else {
                    Line(role: .paragraph, text: text)
                }
            try add(found, number)
        }

        private mutating func add(_ found: Line, _ number: Int) throws(PlainSections.Fault) {
            let page = paper.pages.count - 1
            let last = paper.pages[page].count - 1
            if goesOn, found.role == .paragraph {
                paper.pages[page][last].text += " " + found.text
            } else {
                paper.pages[page].append(found)
            }
            guard paper.pages.reduce(page, { $0 + $1.count }) <= Consents.mostLines else {
                throw PlainSections.Fault(
                    line: number, wrong: "there are more than \(Consents.mostLines) paragraphs")
            }
            switch found.role {
            case .paragraph, .item: goesOn = true
            case .heading, .link: goesOn = false
            }
            let length = paper.pages[page].last?.text.utf8.count ?? 0
            guard length <= Consents.mostLine else {
                throw PlainSections.Fault(
                    line: number, wrong: "a paragraph has more than \(Consents.mostLine) bytes")
            }
        }

        // MARK: what it says

        func item() throws(PlainSections.Fault) -> Item {
            var keys = keys
            let isLicence = id == Consents.licence
            guard let version = keys.removeValue(forKey: "Version").flatMap(UInt32.init),
                version > 0
            else { throw fault("its Version is a number from 1 on") }
            var item = Item(id: id, kind: .licence, version: version)
            if !isLicence {
                switch keys.removeValue(forKey: "Required") {
                case "yes": item.kind = .required
                case "no": item.kind = .optional
                default: throw fault("its Required is yes or no")
                }
            }
            if let url = keys.removeValue(forKey: "LearnMore") {
                guard url.hasPrefix("https://"), !url.contains(" ") else {
                    throw fault("its LearnMore begins with https://")
                }
                guard url.utf8.count <= Consents.mostAddress else {
                    throw fault("its LearnMore has more than \(Consents.mostAddress) bytes")
                }
                item.learnMore = url
            }
            item.papers[language] = try paper(&keys)
            return item
        }

        func translation() throws(PlainSections.Fault) -> Paper {
            var keys = keys
            return try paper(&keys)
        }

        private func paper(_ keys: inout [String: String]) throws(PlainSections.Fault) -> Paper {
            var paper = paper
            guard let title = keys.removeValue(forKey: "Title"), 1...256 ~= title.utf8.count else {
                throw fault("its Title is a line of text")
            }
            paper.title = title
            if let key = keys.keys.min() { throw fault("\(key) is no key of it") }
            if paper.pages.last?.isEmpty == true { paper.pages.removeLast() }
            guard !paper.pages.isEmpty else { throw fault("it has no text") }
            return paper
        }
    }
}
