#if !hasFeature(Embedded)
    /// What only the daemon knows of itself and of its workers. It says nothing about anybody's store: what concerns
    /// all of them is told to root alone.
    public struct Health: Body, Equatable {
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

        public struct Reader: Equatable, Sendable {
            public var name: [UInt8]
            public var driver: [UInt8]
            public var isInternal: Bool

            public init(name: [UInt8], driver: [UInt8], isInternal: Bool) {
                self.name = name
                self.driver = driver
                self.isInternal = isInternal
            }
        }

        public var pid: UInt32
        public var uid: UInt32
        public var stateFolder: [UInt8]
        public var configFolder: [UInt8]
        public var memory: Memory
        public var machineKey: MachineKey
        public var clock: Clock
        /// Of all people; 0 where the asker is not told.
        public var stores: UInt32
        public var damaged: UInt32
        public var rules: Worker
        public var rulesReason: [UInt8]
        public var fingerprints: Worker
        public var fingerprintsReason: [UInt8]
        public var readers: [Reader]

        public init(pid: UInt32, uid: UInt32, stateFolder: [UInt8], configFolder: [UInt8]) {
            self.pid = pid
            self.uid = uid
            self.stateFolder = stateFolder
            self.configFolder = configFolder
            memory = .unlocked
            machineKey = .untold
            clock = .believed
            stores = 0
            damaged = 0
            rules = .missing
            rulesReason = []
            fingerprints = .missing
            fingerprintsReason = []
            readers = []
        }

        public init(_ reader: inout Wire.Reader, _ body: Span<UInt8>) throws(WireError) {
            pid = try reader.u32(body)
            uid = try reader.u32(body)
            stateFolder = try reader.text(body, limit: Limits.line)
            configFolder = try reader.text(body, limit: Limits.line)
            guard let memory = Memory(rawValue: try reader.u8(body)),
                let machineKey = MachineKey(rawValue: try reader.u8(body)),
                let clock = Clock(rawValue: try reader.u8(body))
            else { throw .unknownValue }
            self.memory = memory
            self.machineKey = machineKey
            self.clock = clock
            stores = try reader.u32(body)
            damaged = try reader.u32(body)
            guard let rules = Worker(rawValue: try reader.u8(body)) else { throw .unknownValue }
            self.rules = rules
            rulesReason = try reader.text(body, limit: Limits.line)
            guard let fingerprints = Worker(rawValue: try reader.u8(body)) else {
                throw .unknownValue
            }
            self.fingerprints = fingerprints
            fingerprintsReason = try reader.text(body, limit: Limits.line)
            readers = []
            for _ in 0..<(try reader.listCount(body)) {
                readers.append(
                    Reader(
                        name: try reader.text(body), driver: try reader.text(body),
                        isInternal: try reader.flag(body)))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put32(pid)
            sink.put32(uid)
            sink.put(text: stateFolder)
            sink.put(text: configFolder)
            sink.put(memory.rawValue)
            sink.put(machineKey.rawValue)
            sink.put(clock.rawValue)
            sink.put32(stores)
            sink.put32(damaged)
            sink.put(rules.rawValue)
            sink.put(text: rulesReason)
            sink.put(fingerprints.rawValue)
            sink.put(text: fingerprintsReason)
            for device in sink.list(readers) {
                sink.put(text: device.name)
                sink.put(text: device.driver)
                sink.put(flag: device.isInternal)
            }
        }
    }
#endif
