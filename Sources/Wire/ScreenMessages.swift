#if !hasFeature(Embedded)
    /// What a person sees at once, for front ends that draw it: a window, or lines on a terminal.
    /// Nothing of it is markup.
    public struct Screen: Body, Fields, Equatable {
        public enum Kind: UInt8, CaseIterable, Sendable {
            case page = 1
            case form = 2
            case document = 3
            case list = 4
            case scan = 5
            case web = 6
        }

        public enum Picture: UInt8, CaseIterable, Sendable {
            case none = 0
            case logo = 1
            case lock = 2
            case key = 3
            case finger = 4
            case person = 5
            case people = 6
            case paper = 7
            case organisation = 8
            case warning = 9
            case done = 10
            case code = 11
        }

        public struct Text: Fields, Equatable, Sendable {
            public enum Role: UInt8, CaseIterable, Sendable {
                case heading = 1
                case paragraph = 2
                case item = 3
                case link = 4
                /// Small, beside the rest.
                case hint = 5
                case error = 6
                /// Of a document: the next page begins behind it, and it has no text.
                case page = 7
            }

            public var role = Role.paragraph
            public var text: [UInt8] = []

            public init(_ role: Role, _ text: [UInt8]) {
                (self.role, self.text) = (role, text)
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.value(&role)
                coder.text(&text, limit: Limits.paragraph)
            }
        }

        public struct Field: Fields, Equatable, Sendable {
            public enum Kind: UInt8, CaseIterable, Sendable {
                case secret = 1
                case text = 2
                case name = 3
                case email = 4
                case number = 5
            }

            public var kind = Kind.secret
            public var id: [UInt8] = []
            public var label: [UInt8] = []
            public var prefill: [UInt8] = []
            /// What it is asked for, as a question says it. A login password is proven by the front end
            /// before it is sent.
            public var purpose = Ask.Purpose.passcode
            /// What is typed there is judged by the rules: a draft may be sent.
            public var isJudged = false

            public init(
                _ kind: Kind, id: [UInt8], label: [UInt8], prefill: [UInt8] = [],
                purpose: Ask.Purpose, isJudged: Bool = false
            ) {
                (self.kind, self.id, self.label) = (kind, id, label)
                (self.prefill, self.purpose, self.isJudged) = (prefill, purpose, isJudged)
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.value(&kind)
                coder.text(&id, limit: Limits.messageID)
                coder.text(&label, limit: Limits.line)
                coder.text(&prefill)
                coder.value(&purpose)
                coder.flag(&isJudged)
            }
        }

        public struct Item: Fields, Equatable, Sendable {
            public enum Mark: UInt8, CaseIterable, Sendable {
                case none = 0
                /// It is the one that is in use now.
                case current = 1
            }

            public var id: [UInt8] = []
            public var title: [UInt8] = []
            public var subtitle: [UInt8] = []
            public var mark = Mark.none

            public init(id: [UInt8], title: [UInt8], subtitle: [UInt8] = [], mark: Mark = .none) {
                (self.id, self.title) = (id, title)
                (self.subtitle, self.mark) = (subtitle, mark)
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&id, limit: Limits.messageID)
                coder.text(&title, limit: Limits.line)
                coder.text(&subtitle, limit: Limits.line)
                coder.value(&mark)
            }
        }

        public struct Choice: Fields, Equatable, Sendable {
            public enum Role: UInt8, CaseIterable, Sendable {
                /// What Enter does.
                case primary = 1
                case other = 2
                /// What it does cannot be undone.
                case grave = 3
                /// Leaves without an answer. An abort is the same.
                case cancel = 4
            }

            public var id: [UInt8] = []
            public var role = Role.primary
            public var label: [UInt8] = []
            /// A bit for each field that has to be filled for it, the lowest for the first.
            public var needs: UInt16 = 0
            /// It needs one of the items.
            public var needsItem = false

            public init(
                _ role: Role, id: [UInt8], label: [UInt8], needs: UInt16 = 0,
                needsItem: Bool = false
            ) {
                (self.role, self.id, self.label) = (role, id, label)
                (self.needs, self.needsItem) = (needs, needsItem)
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&id, limit: Limits.messageID)
                coder.value(&role)
                coder.text(&label, limit: Limits.line)
                coder.u16(&needs)
                coder.flag(&needsItem)
            }
        }

        public var question: UInt32 = 0
        public var kind = Kind.page
        /// Its name in `[Texts]` and in style sheets.
        public var id: [UInt8] = []
        public var picture = Picture.none
        /// Which one, of how many; 0 of 0 where it is no row of steps.
        public var step: UInt8 = 0
        public var steps: UInt8 = 0
        public var lines: [Text] = []
        public var formFields: [Field] = []
        public var rules: [Checklist.Entry] = []
        public var items: [Item] = []
        public var choices: [Choice] = []
        /// What is to be read, page by page; the choices come on the last.
        public var document: [Text] = []

        public init(question: UInt32, kind: Kind, id: [UInt8]) {
            (self.question, self.kind, self.id) = (question, kind, id)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&question)
            coder.value(&kind)
            coder.text(&id, limit: Limits.messageID)
            coder.value(&picture)
            coder.u8(&step)
            coder.u8(&steps)
            coder.list(&lines, .u16(0...Limits.screenLines))
            coder.list(&formFields, .u16(0...Limits.screenFields))
            coder.list(&rules, .u16(0...Limits.screenRules))
            coder.list(&items, .u16(0...Limits.screenItems))
            coder.list(&choices, .u16(0...Limits.screenChoices))
            coder.list(&document, .u16(0...Limits.documentTexts))
        }
    }

    /// The answer to a screen. What was typed follows as one payload: for each field, in their order, a
    /// 16-bit length and so many bytes.
    public struct Answer: Body, Fields, Equatable {
        public var question: UInt32 = 0
        /// By its place among the choices.
        public var choice: UInt8 = 0
        /// By its place among the items, from 1 on; 0: none.
        public var item: UInt8 = 0

        public init(question: UInt32, choice: UInt8, item: UInt8 = 0) {
            (self.question, self.choice, self.item) = (question, choice, item)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&question)
            coder.u8(&choice)
            coder.u8(&item)
        }
    }

    /// What stands in a field of the screen so far; it follows as the payload. It is no answer.
    public struct Draft: Body, Fields, Equatable {
        public var question: UInt32 = 0
        /// By its place among the fields.
        public var field: UInt8 = 0

        public init(question: UInt32, field: UInt8) {
            (self.question, self.field) = (question, field)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&question)
            coder.u8(&field)
        }
    }

    /// What the rules of the screen say of a draft, in their order.
    public struct Findings: Body, Fields, Equatable {
        public var question: UInt32 = 0
        public var entries: [Checklist.Entry] = []

        public init(question: UInt32, entries: [Checklist.Entry]) {
            (self.question, self.entries) = (question, entries)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&question)
            coder.list(&entries, .u16(0...Limits.screenRules))
        }
    }
#endif
