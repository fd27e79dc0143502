internal import Wire

/// What a person sees at once, for a prompter that draws whole screens
/// (``Prompter/drawsScreens``). Nothing of it is markup.
public struct PromptScreen: Sendable {
    /// What it is.
    public enum Kind: Hashable, Sendable {
        /// Lines, and what can be done.
        case page
        /// Fields to be filled in.
        case form
        /// Something to be read: the choices come behind its last page.
        case document
        /// Items of which one is taken.
        case list
        /// A code to be read by a camera, or from a picture.
        case scan
        /// An address that a browser opens.
        case web
    }

    /// What is drawn beside it.
    public enum Picture: Hashable, Sendable {
        /// Nothing.
        case none
        /// That of AppVault.
        case logo
        /// A lock.
        case lock
        /// A key.
        case key
        /// A finger on a reader.
        case finger
        /// A person.
        case person
        /// Several people.
        case people
        /// Something written.
        case paper
        /// An organisation.
        case organisation
        /// A warning.
        case warning
        /// All is done.
        case done
        /// A code.
        case code
    }

    /// A line of it.
    public struct Line: Hashable, Sendable {
        /// What it is for.
        public enum Role: Hashable, Sendable {
            /// It stands above the others.
            case heading
            /// Text.
            case paragraph
            /// One of a list.
            case item
            /// An address.
            case link
            /// Small, beside the rest.
            case hint
            /// What went wrong.
            case error
            /// In a document: the next page begins here. It has no text.
            case page
        }

        /// What it is for.
        public var role: Role
        /// The finished text, in the person's language.
        public var text: String

        /// A line, for tests of a prompter.
        public init(_ role: Role, _ text: String) {
            (self.role, self.text) = (role, text)
        }
    }

    /// Something that is to be filled in.
    public struct Field: Sendable {
        /// What is typed there.
        public enum Kind: Hashable, Sendable {
            /// It is not shown.
            case secret
            /// Any text.
            case text
            /// A name.
            case name
            /// An e-mail address.
            case email
            /// A number.
            case number
        }

        /// What is typed there.
        public var kind: Kind
        /// What it is asked for.
        public var purpose: Question.Purpose
        /// The id of its label.
        public var id: String
        /// What stands beside it, in the person's language.
        public var label: String
        /// What stands in it at first.
        public var prefill: String
        /// ``PromptScreen/judge`` tells what the rules say of what was typed so far.
        public var isJudged: Bool

        /// A field, for tests of a prompter.
        public init(
            _ kind: Kind = .secret, purpose: Question.Purpose, id: String, label: String = "",
            prefill: String = "", isJudged: Bool = false
        ) {
            (self.kind, self.purpose, self.id) = (kind, purpose, id)
            (self.label, self.prefill, self.isJudged) = (label, prefill, isJudged)
        }
    }

    /// One of those that can be taken.
    public struct Item: Hashable, Sendable {
        /// Its name.
        public var title: String
        /// What else is said of it.
        public var subtitle: String
        /// It is the one that is in use now.
        public var isCurrent: Bool

        /// An item, for tests of a prompter.
        public init(_ title: String, subtitle: String = "", isCurrent: Bool = false) {
            (self.title, self.subtitle, self.isCurrent) = (title, subtitle, isCurrent)
        }
    }

    /// Something that can be done.
    public struct Choice: Hashable, Sendable {
        /// How it stands among the others.
        public enum Role: Hashable, Sendable {
            /// What Enter does.
            case primary
            /// Another one.
            case other
            /// What it does cannot be undone: Enter alone must not do it.
            case grave
            /// Leaves. It is the same as ``ScreenAnswer/cancel``.
            case cancel
        }

        /// How it stands among the others.
        public var role: Role
        /// Its name, which no language changes: `continue`, `agree`, `deny`, `forgotten`, ...
        public var id: String
        /// What stands on its button, in the person's language.
        public var label: String
        /// The fields that have to be filled for it, by their places.
        public var needs: [Int]
        /// One of the items has to be taken for it.
        public var needsItem: Bool

        /// A choice, for tests of a prompter.
        public init(
            _ role: Role, id: String, label: String = "", needs: [Int] = [],
            needsItem: Bool = false
        ) {
            (self.role, self.id, self.label) = (role, id, label)
            (self.needs, self.needsItem) = (needs, needsItem)
        }
    }

    /// Its name, also for themes: `match`, `create.passcode`, `licence`, ...
    public var id: String
    /// What it is.
    public var kind: Kind
    /// What is drawn beside it.
    public var picture: Picture
    /// Which one of a row, and of how many; nil where it is none of a row.
    public var step: (number: Int, of: Int)?
    /// What it says.
    public var lines: [Line]
    /// What is to be filled in.
    public var fields: [Field]
    /// What a field that is judged has to fulfil, before a letter was typed.
    public var checklist: [PasscodeRule]
    /// What can be taken.
    public var items: [Item]
    /// What can be done.
    public var choices: [Choice]
    /// What is to be read.
    public var document: [Line]
    /// The store that the call is about, as in ``Question/store``.
    public var store: StoreName
    /// Judges a passcode to be by the rules, for a checklist that follows the keys. It is no try.
    public var judge: PasscodeJudge

    /// A screen, for tests of a prompter.
    public init(
        id: String, kind: Kind, picture: Picture = .none, lines: [Line] = [],
        fields: [Field] = [], checklist: [PasscodeRule] = [], items: [Item] = [],
        choices: [Choice] = [], document: [Line] = [], store: StoreName = .default,
        judge: PasscodeJudge = PasscodeJudge { _ in [] }
    ) {
        (self.id, self.kind, self.picture, self.lines) = (id, kind, picture, lines)
        (self.fields, self.checklist, self.items) = (fields, checklist, items)
        (self.choices, self.document) = (choices, document)
        (self.store, self.judge) = (store, judge)
    }
}

/// What a person has done on a screen.
public enum ScreenAnswer: ~Copyable, Sendable {
    /// One of its choices, with what was typed.
    case chosen(ScreenChoice)
    /// Leaves. Nothing is tried, and nothing is changed.
    case cancel
    /// There is nobody who could answer: as ``Answer/nobody``.
    case nobody
}

/// A choice that was taken on a screen, with what was typed into its fields.
public struct ScreenChoice: ~Copyable, Sendable {
    let place: Int
    let item: Int?
    /// Each value behind its length, as the daemon takes them.
    private(set) var values: WipedBytes
    private(set) var count = 0
    private(set) var isTooLong = false
    /// Nothing was typed into the first field.
    private(set) var isEmpty = true

    /// A choice, by its place among ``PromptScreen/choices``, and the item that it needs. Then
    /// ``fill(_:)`` each of the fields.
    public init(_ place: Int, item: Int? = nil) {
        (self.place, self.item) = (place, item)
        values = WipedBytes(capacity: 64)
    }

    /// What was typed into the next field, in the order of ``PromptScreen/fields``. What was not
    /// filled is empty.
    public mutating func fill(_ typed: borrowing SecretBytes) {
        if count == 0 { isEmpty = typed.isEmpty }
        count += 1
        guard typed.count <= Limits.secret else {
            isTooLong = true
            return
        }
        values.put(UInt8(typed.count & 0xFF))
        values.put(UInt8(typed.count >> 8))
        typed.withBytes { values.put($0) }
    }

    /// For so many fields, those that were not filled being empty.
    mutating func pad(to fields: Int) {
        while count < fields { fill(SecretBytes()) }
    }
}
