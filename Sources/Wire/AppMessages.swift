// For programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// What the peer wants to hear of.
    public struct Watch: Body, Fields, Equatable {
        /// Also each change of the values, which happens often.
        public var records = false

        public init(records: Bool = false) {
            self.records = records
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.flag(&records)
        }
    }

    /// Something has happened to one of the peer's stores, or to its owner.
    public struct Event: Body, Fields, Equatable {
        public enum What: UInt8, CaseIterable, Sendable {
            case locked = 1
            case opened = 2
            /// `status` may say something else than before: tries are used up, the store is erased,
            /// a change is due.
            case changed = 3
            /// From now on this finger opens the store.
            case fingerAdded = 4
            /// The person is not in front of this machine any more, or the screen is locked.
            case left = 5
            case cameBack = 6
            /// How everything is at the beginning has been told.
            case told = 7
            /// Whom the store is shared with.
            case members = 8
            /// Values were stored or deleted.
            case records = 9
            /// The store is no more.
            case removed = 10
        }

        public var what = What.locked
        /// 16 bytes; zero where it is about the person.
        public var store = [UInt8](repeating: 0, count: 16)
        public var name: [UInt8] = []

        public init(_ what: What) {
            self.what = what
        }

        public init(_ what: What, store: [UInt8], name: [UInt8]) {
            self.what = what
            self.store = store
            self.name = name
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.value(&what)
            coder.fixed(&store, 16)
            coder.text(&name, limit: Limits.storeText)
        }
    }

    /// What has to be shown before an application starts. The higher number demands more.
    public enum AppDemand: UInt8, CaseIterable, Sendable {
        case open = 1
        case finger = 2
        case passcode = 3
    }

    /// Which application, and the store that the person has named for it.
    public struct App: Body, Fields, Equatable {
        public var target = Target()
        public var id: [UInt8] = []
        /// What the person demands. The policy may demand more.
        public var demand = AppDemand.open

        public init(target: Target, id: [UInt8], demand: AppDemand) {
            self.target = target
            self.id = id
            self.demand = demand
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&target)
            coder.text(&id, limit: Limits.appID)
            coder.value(&demand)
        }
    }

    /// What holds for one application of the peer's.
    public struct AppPolicy: Body, Fields, Equatable {
        public enum OnLock: UInt8, CaseIterable, Sendable {
            case freeze = 1
            case quit = 2
            case stay = 3
        }

        public enum Background: UInt8, CaseIterable, Sendable {
            /// It is locked only when its store is.
            case never = 0
            case immediate = 1
            case timeout = 2
        }

        public var demand = AppDemand.open
        public var onLock = OnLock.freeze
        /// The policy says what `onLock` is, so the person does not choose it.
        public var onLockIsWritten = false
        public var background = Background.never
        /// Seconds in the background after which it is locked; 0: never.
        public var timeout: UInt32 = 0
        /// The store that it goes with.
        public var store: [UInt8] = []

        public init(demand: AppDemand, onLock: OnLock) {
            self.demand = demand
            self.onLock = onLock
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.value(&demand)
            coder.value(&onLock)
            coder.flag(&onLockIsWritten)
            coder.value(&background)
            coder.u32(&timeout)
            coder.text(&store, limit: Limits.name)
        }
    }

#endif
