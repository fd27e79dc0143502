#if !hasFeature(Embedded)
    /// What only the daemon knows of itself and of its workers. It says nothing about anybody's store: what concerns
    /// all of them is shown to root only.
    public struct Health: Body, Fields, Equatable {
        public enum Memory: UInt8, CaseIterable, Sendable {
            case locked = 1
            /// Secrets may be written to a swap.
            case unlocked = 2
        }

        public enum MachineKey: UInt8, CaseIterable, Sendable {
            /// Who asks is not told.
            case untold = 0
            /// It is made with the first store.
            case none = 1
            case good = 2
            /// There are stores and no key.
            case missing = 3
            case unreadable = 4
        }

        public enum Clock: UInt8, CaseIterable, Sendable {
            case believed = 0
            case beforeBuild = 1
            case jumped = 2
        }

        public enum Worker: UInt8, CaseIterable, Sendable {
            case works = 1
            /// Nobody listens at its socket.
            case missing = 2
            case fails = 3
        }

        public struct Reader: Fields, Equatable, Sendable {
            public var name: [UInt8] = []
            public var driver: [UInt8] = []
            public var isInternal = false

            public init(name: [UInt8], driver: [UInt8], isInternal: Bool) {
                self.name = name
                self.driver = driver
                self.isInternal = isInternal
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&name)
                coder.text(&driver)
                coder.flag(&isInternal)
            }
        }

        /// A store of which nothing tells whose it is.
        public struct Ownerless: Fields, Equatable, Sendable {
            /// The store's 16 bytes.
            public var store: [UInt8] = []

            public init(store: [UInt8]) {
                self.store = store
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.fixed(&store, 16)
            }
        }

        public var pid: UInt32 = 0
        public var uid: UInt32 = 0
        public var stateFolder: [UInt8] = []
        public var configFolder: [UInt8] = []
        public var memory = Memory.unlocked
        public var machineKey = MachineKey.untold
        public var clock = Clock.believed
        /// Of all people; 0 where the asker is not told.
        public var stores: UInt32 = 0
        public var damaged: UInt32 = 0
        public var rules = Worker.missing
        public var rulesReason: [UInt8] = []
        public var fingerprints = Worker.missing
        public var fingerprintsReason: [UInt8] = []
        public var readers: [Reader] = []
        /// Those of the damaged stores that root alone can give to somebody; empty where the asker
        /// is not told.
        public var ownerless: [Ownerless] = []

        public init(pid: UInt32, uid: UInt32, stateFolder: [UInt8], configFolder: [UInt8]) {
            self.pid = pid
            self.uid = uid
            self.stateFolder = stateFolder
            self.configFolder = configFolder
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&pid)
            coder.u32(&uid)
            coder.text(&stateFolder, limit: Limits.line)
            coder.text(&configFolder, limit: Limits.line)
            coder.value(&memory)
            coder.value(&machineKey)
            coder.value(&clock)
            coder.u32(&stores)
            coder.u32(&damaged)
            coder.value(&rules)
            coder.text(&rulesReason, limit: Limits.line)
            coder.value(&fingerprints)
            coder.text(&fingerprintsReason, limit: Limits.line)
            coder.list(&readers, .page)
            coder.list(&ownerless, .page)
        }
    }
#endif
