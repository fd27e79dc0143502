// Asked for and answered by programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// What may be done with a store, and why what may not.
    public struct ActionList: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            public var name: [UInt8] = []
            public var allowed = false
            /// Of the refusal that it would get; 0 where it is allowed.
            public var code: UInt16 = 0
            public var reason: [UInt8] = []
            /// What the person types.
            public var verb: [UInt8] = []

            public init(
                name: [UInt8], allowed: Bool, code: UInt16, reason: [UInt8], verb: [UInt8]
            ) {
                self.name = name
                self.allowed = allowed
                self.code = code
                self.reason = reason
                self.verb = verb
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&name, limit: Limits.messageID)
                coder.flag(&allowed)
                coder.u16(&code)
                coder.text(&reason, limit: Limits.line)
                coder.text(&verb)
            }
        }

        public var actions: [Entry] = []

        public init(actions: [Entry]) {
            self.actions = actions
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.list(&actions, .page)
        }
    }

    /// The policy that is in force for one store, each value with the place that it comes from.
    public struct PolicyValues: Body, Fields, Equatable {
        public enum Mode: UInt8, CaseIterable, Sendable {
            case administrators = 1
            case standard = 2
            case noPasscodeMode = 3
        }

        public struct Value: Fields, Equatable, Sendable {
            public var key: [UInt8] = []
            public var value: [UInt8] = []
            /// Empty where the value is built in.
            public var file: [UInt8] = []
            public var line: UInt32 = 0
            /// False for a key that this release reads and does not act on.
            public var actedOn = false

            public init(
                key: [UInt8], value: [UInt8], file: [UInt8], line: UInt32, actedOn: Bool
            ) {
                self.key = key
                self.value = value
                self.file = file
                self.line = line
                self.actedOn = actedOn
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&key)
                coder.text(&value, limit: Limits.policyText)
                coder.text(&file, limit: Limits.line)
                coder.u32(&line)
                coder.flag(&actedOn)
            }
        }

        public struct Rule: Fields, Equatable, Sendable {
            public enum Kind: UInt8, CaseIterable, Sendable {
                case match = 1
                case reject = 2
                case dictionary = 3
            }

            public var name: [UInt8] = []
            public var display: [UInt8] = []
            public var kind = Kind.match
            public var file: [UInt8] = []
            public var line: UInt32 = 0

            public init(
                name: [UInt8], display: [UInt8], kind: Kind, file: [UInt8], line: UInt32
            ) {
                self.name = name
                self.display = display
                self.kind = kind
                self.file = file
                self.line = line
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&name, limit: Limits.messageID)
                coder.text(&display, limit: Limits.line)
                coder.value(&kind)
                coder.text(&file, limit: Limits.line)
                coder.u32(&line)
            }
        }

        public var mode = Mode.administrators
        /// What is wrong with the files; empty where the policy in force is what they say.
        public var problem: [UInt8] = []
        public var values: [Value] = []
        public var rules: [Rule] = []

        public init(mode: Mode, problem: [UInt8] = [], values: [Value], rules: [Rule]) {
            self.mode = mode
            self.problem = problem
            self.values = values
            self.rules = rules
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.value(&mode)
            coder.text(&problem, limit: Limits.policyText)
            coder.list(&values, .page)
            coder.list(&rules, .page)
        }
    }

    /// A candidate passcode is judged; it follows as the payload.
    public struct PolicyCheck: Body, Fields, Equatable {
        public var target = Target()
        /// The custom rules run too: a process for each candidate, so not for every key that is typed.
        public var custom = false

        public init(target: Target, custom: Bool) {
            self.target = target
            self.custom = custom
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&target)
            coder.flag(&custom)
        }
    }

    /// What every rule says about one candidate, in the order of the rules.
    public struct Checklist: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            public enum Finding: UInt8, CaseIterable, Sendable {
                case satisfied = 0
                case unmet = 1
                case notChecked = 2
            }

            public var id: [UInt8] = []
            public var finding = Finding.satisfied
            /// What the rule wants, for the person.
            public var wants: [UInt8] = []
            /// Why it is unmet or was not checked, where there is more to say.
            public var reason: [UInt8] = []

            public init(id: [UInt8], finding: Finding, wants: [UInt8], reason: [UInt8] = []) {
                self.id = id
                self.finding = finding
                self.wants = wants
                self.reason = reason
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&id)
                coder.value(&finding)
                coder.text(&wants, limit: Limits.line)
                coder.text(&reason, limit: Limits.line)
            }
        }

        public var entries: [Entry] = []

        public init(entries: [Entry]) {
            self.entries = entries
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.list(&entries, .page)
        }
    }

    /// What a new policy file would ask of the stores of this machine; its text follows as the payload.
    public struct PolicyPreview: Body, Fields, Equatable {
        /// Empty: everybody that the peer may ask about.
        public var subject = Subject()
        /// For error lines.
        public var file: [UInt8] = []

        public init(subject: Subject = Subject(), file: [UInt8]) {
            self.subject = subject
            self.file = file
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&subject)
            coder.text(&file, limit: Limits.line)
        }
    }

    public struct Preview: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            public enum Certainty: UInt8, CaseIterable, Sendable {
                case certain = 0
                /// Only where the present passcode, which nobody knows here, falls short.
                case ifFallsShort = 1
            }

            /// The store's 16 bytes.
            public var store: [UInt8] = []
            public var owner: [UInt8] = []
            public var name: [UInt8] = []
            /// Numbers of flows, in the order in which they run; empty: nothing.
            public var flows: [UInt8] = []
            public var certainty = Certainty.certain
            public var reason: [UInt8] = []

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

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.fixed(&store, 16)
                coder.text(&owner)
                coder.text(&name, limit: Limits.name)
                coder.bytes(&flows, limit: Limits.flows)
                coder.value(&certainty)
                coder.text(&reason, limit: Limits.line)
            }
        }

        /// Of all stores that were asked about: more than the list has where the machine has very many.
        public var total: UInt32 = 0
        public var stores: [Entry] = []

        public init(total: UInt32, stores: [Entry]) {
            self.total = total
            self.stores = stores
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&total)
            coder.list(&stores, .page)
        }
    }

    /// Every text that a person can read, by its id, in the language of the front end.
    public struct TextList: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            public enum Origin: UInt8, CaseIterable, Sendable {
                case builtIn = 0
                case catalogue = 1
                case administrator = 2
            }

            public var id: [UInt8] = []
            public var text: [UInt8] = []
            public var origin = Origin.builtIn

            public init(id: [UInt8], text: [UInt8], origin: Origin) {
                self.id = id
                self.text = text
                self.origin = origin
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&id, limit: Limits.messageID)
                coder.text(&text, limit: Limits.line)
                coder.value(&origin)
            }
        }

        public var texts: [Entry] = []

        public init(texts: [Entry]) {
            self.texts = texts
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.list(&texts, .texts)
        }
    }

#endif
