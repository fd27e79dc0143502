// Asked for and answered by programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// What may be done with a store, and why what may not.
    public struct ActionList: Body, Equatable {
        public struct Entry: Equatable, Sendable {
            public var name: [UInt8]
            public var allowed: Bool
            /// Of the refusal that it would get; 0 where it is allowed.
            public var code: UInt16
            public var reason: [UInt8]
            /// What the person types.
            public var verb: [UInt8]

            public init(
                name: [UInt8], allowed: Bool, code: UInt16, reason: [UInt8], verb: [UInt8]
            ) {
                self.name = name
                self.allowed = allowed
                self.code = code
                self.reason = reason
                self.verb = verb
            }
        }

        public var actions: [Entry]

        public init(actions: [Entry]) {
            self.actions = actions
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            actions = []
            for _ in 0..<(try reader.listCount(body)) {
                actions.append(
                    Entry(
                        name: try reader.text(body, limit: Limits.messageID),
                        allowed: try reader.flag(body), code: try reader.u16(body),
                        reason: try reader.text(body, limit: Limits.line),
                        verb: try reader.text(body)))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            for action in sink.list(actions) {
                sink.put(text: action.name)
                sink.put(flag: action.allowed)
                sink.put16(action.code)
                sink.put(text: action.reason)
                sink.put(text: action.verb)
            }
        }
    }

    /// The policy that is in force for one store, each value with the place that it comes from.
    public struct PolicyValues: Body, Equatable {
        public enum Mode: UInt8, CaseIterable, Sendable {
            case administrators = 1
            case standard = 2
            case noPasscodeMode = 3
        }

        public struct Value: Equatable, Sendable {
            public var key: [UInt8]
            public var value: [UInt8]
            /// Empty where the value is built in.
            public var file: [UInt8]
            public var line: UInt32
            /// False for a key that this release reads and does not act on.
            public var actedOn: Bool

            public init(
                key: [UInt8], value: [UInt8], file: [UInt8], line: UInt32, actedOn: Bool
            ) {
                self.key = key
                self.value = value
                self.file = file
                self.line = line
                self.actedOn = actedOn
            }
        }

        public struct Rule: Equatable, Sendable {
            public enum Kind: UInt8, CaseIterable, Sendable {
                case match = 1
                case reject = 2
                case dictionary = 3
            }

            public var name: [UInt8]
            public var display: [UInt8]
            public var kind: Kind
            public var file: [UInt8]
            public var line: UInt32

            public init(
                name: [UInt8], display: [UInt8], kind: Kind, file: [UInt8], line: UInt32
            ) {
                self.name = name
                self.display = display
                self.kind = kind
                self.file = file
                self.line = line
            }
        }

        public var mode: Mode
        /// What is wrong with the files; empty where the policy in force is what they say.
        public var problem: [UInt8]
        public var values: [Value]
        public var rules: [Rule]

        public init(mode: Mode, problem: [UInt8] = [], values: [Value], rules: [Rule]) {
            self.mode = mode
            self.problem = problem
            self.values = values
            self.rules = rules
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            guard let mode = Mode(rawValue: try reader.u8(body)) else { throw .unknownValue }
            self.mode = mode
            problem = try reader.text(body, limit: Limits.policyText)
            values = []
            for _ in 0..<(try reader.listCount(body)) {
                values.append(
                    Value(
                        key: try reader.text(body, limit: Limits.messageID),
                        value: try reader.text(body, limit: Limits.policyText),
                        file: try reader.text(body, limit: Limits.line),
                        line: try reader.u32(body), actedOn: try reader.flag(body)))
            }
            rules = []
            for _ in 0..<(try reader.listCount(body)) {
                let name = try reader.text(body, limit: Limits.messageID)
                let display = try reader.text(body, limit: Limits.line)
                guard let kind = Rule.Kind(rawValue: try reader.u8(body)) else {
                    throw .unknownValue
                }
                rules.append(
                    Rule(
                        name: name, display: display, kind: kind,
                        file: try reader.text(body, limit: Limits.line),
                        line: try reader.u32(body)))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(mode.rawValue)
            sink.put(text: problem)
            for value in sink.list(values) {
                sink.put(text: value.key)
                sink.put(text: value.value)
                sink.put(text: value.file)
                sink.put32(value.line)
                sink.put(flag: value.actedOn)
            }
            for rule in sink.list(rules) {
                sink.put(text: rule.name)
                sink.put(text: rule.display)
                sink.put(rule.kind.rawValue)
                sink.put(text: rule.file)
                sink.put32(rule.line)
            }
        }
    }

    /// A candidate passcode is judged; it follows as the payload.
    public struct PolicyCheck: Body, Equatable {
        public var target: Target
        /// The custom rules run too: a process for each candidate, so not for every key that is typed.
        public var custom: Bool

        public init(target: Target, custom: Bool) {
            self.target = target
            self.custom = custom
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            target = try Target(&reader, body)
            custom = try reader.flag(body)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            target.write(to: &sink)
            sink.put(flag: custom)
        }
    }

    /// What every rule says about one candidate, in the order of the rules.
    public struct Checklist: Body, Equatable {
        public struct Entry: Equatable, Sendable {
            public enum Finding: UInt8, CaseIterable, Sendable {
                case satisfied = 0
                case unmet = 1
                case notChecked = 2
            }

            public var id: [UInt8]
            public var finding: Finding
            /// What the rule wants, for the person.
            public var wants: [UInt8]
            /// Why it is unmet or was not checked, where there is more to say.
            public var reason: [UInt8]

            public init(id: [UInt8], finding: Finding, wants: [UInt8], reason: [UInt8] = []) {
                self.id = id
                self.finding = finding
                self.wants = wants
                self.reason = reason
            }
        }

        public var entries: [Entry]

        public init(entries: [Entry]) {
            self.entries = entries
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            entries = []
            for _ in 0..<(try reader.listCount(body)) {
                let id = try reader.text(body)
                guard let finding = Entry.Finding(rawValue: try reader.u8(body)) else {
                    throw .unknownValue
                }
                entries.append(
                    Entry(
                        id: id, finding: finding, wants: try reader.text(body, limit: Limits.line),
                        reason: try reader.text(body, limit: Limits.line)))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            for entry in sink.list(entries) {
                sink.put(text: entry.id)
                sink.put(entry.finding.rawValue)
                sink.put(text: entry.wants)
                sink.put(text: entry.reason)
            }
        }
    }

    /// What a new policy file would ask of the stores of this machine; its text follows as the payload.
    public struct PolicyPreview: Body, Equatable {
        /// Empty: everybody that the peer may ask about.
        public var subject: Subject
        /// For error lines.
        public var file: [UInt8]

        public init(subject: Subject = Subject(), file: [UInt8]) {
            self.subject = subject
            self.file = file
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            subject = try Subject(&reader, body)
            file = try reader.text(body, limit: Limits.line)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            subject.write(to: &sink)
            sink.put(text: file)
        }
    }

    public struct Preview: Body, Equatable {
        public struct Entry: Equatable, Sendable {
            public enum Certainty: UInt8, CaseIterable, Sendable {
                case certain = 0
                /// Only where the present passcode, which nobody knows here, falls short.
                case ifFallsShort = 1
            }

            /// The store's 16 bytes.
            public var store: [UInt8]
            public var owner: [UInt8]
            public var name: [UInt8]
            /// Numbers of flows, in the order in which they run; empty: nothing.
            public var flows: [UInt8]
            public var certainty: Certainty
            public var reason: [UInt8]

            public init(
                store: [UInt8], owner: [UInt8], name: [UInt8], flows: [UInt8],
                certainty: Certainty, reason: [UInt8]
            ) {
                self.store = store
                self.owner = owner
                self.name = name
                self.flows = flows
                self.certainty = certainty
                self.reason = reason
            }
        }

        /// Of all stores that were asked about: more than the list has where the machine has very many.
        public var total: UInt32
        public var stores: [Entry]

        public init(total: UInt32, stores: [Entry]) {
            self.total = total
            self.stores = stores
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            total = try reader.u32(body)
            stores = []
            for _ in 0..<(try reader.listCount(body)) {
                let store = try reader.fixed(16, body)
                let owner = try reader.text(body)
                let name = try reader.text(body, limit: Limits.name)
                let flows = try reader.bytes(body, limit: Limits.flows)
                guard let certainty = Entry.Certainty(rawValue: try reader.u8(body)) else {
                    throw .unknownValue
                }
                stores.append(
                    Entry(
                        store: store, owner: owner, name: name, flows: flows, certainty: certainty,
                        reason: try reader.text(body, limit: Limits.line)))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put32(total)
            for store in sink.list(stores) {
                sink.put(fixed: store.store)
                sink.put(text: store.owner)
                sink.put(text: store.name)
                sink.put(text: store.flows)
                sink.put(store.certainty.rawValue)
                sink.put(text: store.reason)
            }
        }
    }

    /// Every text that a person can read, by its id, in the language of the front end.
    public struct TextList: Body, Equatable {
        public struct Entry: Equatable, Sendable {
            public enum Origin: UInt8, CaseIterable, Sendable {
                case builtIn = 0
                case catalogue = 1
                case administrator = 2
            }

            public var id: [UInt8]
            public var text: [UInt8]
            public var origin: Origin

            public init(id: [UInt8], text: [UInt8], origin: Origin) {
                self.id = id
                self.text = text
                self.origin = origin
            }
        }

        public var texts: [Entry]

        public init(texts: [Entry]) {
            self.texts = texts
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            texts = []
            for _ in 0..<(try reader.listCount(body)) {
                let id = try reader.text(body, limit: Limits.messageID)
                let text = try reader.text(body, limit: Limits.line)
                guard let origin = Entry.Origin(rawValue: try reader.u8(body)) else {
                    throw .unknownValue
                }
                texts.append(Entry(id: id, text: text, origin: origin))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            for text in sink.list(texts) {
                sink.put(text: text.id)
                sink.put(text: text.text)
                sink.put(text.origin.rawValue)
            }
        }
    }

    extension Reader {
        mutating func listCount(_ body: Span<UInt8>) throws(WireError) -> Int {
            let count = Int(try u16(body))
            guard count <= Limits.page else { throw .fieldTooLong }
            return count
        }
    }

    extension Sink where Self: ~Copyable {
        /// Writes the count, and gives what the count says.
        mutating func list<Entry>(_ entries: [Entry]) -> ArraySlice<Entry> {
            let listed = entries.prefix(Limits.page)
            put16(UInt16(truncatingIfNeeded: listed.count))
            return listed
        }
    }

#endif
