#if !hasFeature(Embedded)
    /// A finger, as people name them.
    public enum Finger: UInt8, CaseIterable, Sendable {
        /// None is named.
        case unnamed = 0
        case leftThumb = 1
        case leftIndex = 2
        case leftMiddle = 3
        case leftRing = 4
        case leftLittle = 5
        case rightThumb = 6
        case rightIndex = 7
        case rightMiddle = 8
        case rightRing = 9
        case rightLittle = 10
    }

    /// Something is done with one finger of a store; with none named, what each request says.
    public struct FingerRequest: Body, Fields, Equatable {
        public var subject = Subject()
        public var store: [UInt8] = []
        public var finger = Finger.unnamed

        public init(subject: Subject, store: [UInt8], finger: Finger) {
            self.subject = subject
            self.store = store
            self.finger = finger
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&subject)
            coder.text(&store, limit: Limits.name)
            coder.value(&finger)
        }
    }

    /// Fingers open the store from now on, or none does any more.
    public struct FingerSwitch: Body, Fields, Equatable {
        public var subject = Subject()
        public var store: [UInt8] = []
        public var on = false

        public init(subject: Subject, store: [UInt8], on: Bool) {
            self.subject = subject
            self.store = store
            self.on = on
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&subject)
            coder.text(&store, limit: Limits.name)
            coder.flag(&on)
        }
    }

    /// A reader's chip is emptied.
    public struct FingerprintClear: Body, Fields, Equatable {
        /// Its name, its driver or its port.
        public var reader: [UInt8] = []
        /// Nobody is asked whether that is meant.
        public var agreed = false

        public init(reader: [UInt8], agreed: Bool) {
            self.reader = reader
            self.agreed = agreed
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&reader)
            coder.flag(&agreed)
        }
    }

    /// The fingers of a store, and the readers of the machine.
    public struct FingerprintState: Body, Fields, Equatable {
        public struct Device: Fields, Equatable, Sendable {
            public typealias Scan = FingerprintReader.Scan

            public var name: [UInt8] = []
            public var driver: [UInt8] = []
            public var scan = Scan.press
            public var stages: UInt8 = 0
            public var identifies = false
            /// It keeps prints on a chip of its own.
            public var stores = false
            /// Fixed to the machine.
            public var isInternal = false
            public var port: [UInt8] = []

            public init(
                name: [UInt8], driver: [UInt8], scan: Scan, stages: UInt8, identifies: Bool,
                stores: Bool, isInternal: Bool, port: [UInt8]
            ) {
                self.name = name
                self.driver = driver
                self.scan = scan
                self.stages = stages
                self.identifies = identifies
                self.stores = stores
                self.isInternal = isInternal
                self.port = port
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&name)
                coder.text(&driver)
                coder.value(&scan)
                coder.u8(&stages)
                coder.flag(&identifies)
                coder.flag(&stores)
                coder.flag(&isInternal)
                coder.text(&port)
            }
        }

        public struct Enrolled: Fields, Equatable, Sendable {
            public enum Standing: UInt8, CaseIterable, Sendable {
                case usable = 1
                /// Its reader is not there.
                case away = 2
                /// Its reader is at another port, and the policy allows built-in ones only.
                case moved = 3
                /// It is no longer on its reader's chip.
                case gone = 4
            }

            public var finger = Finger.unnamed
            /// The name of the reader that it was enrolled on.
            public var reader: [UInt8] = []
            /// Seconds since 1970.
            public var at: UInt64 = 0
            public var standing = Standing.away

            public init(finger: Finger, reader: [UInt8], at: UInt64, standing: Standing) {
                self.finger = finger
                self.reader = reader
                self.at = at
                self.standing = standing
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.value(&finger)
                coder.text(&reader)
                coder.u64(&at)
                coder.value(&standing)
            }
        }

        public var on = false
        /// A finger would open the store now: a passcode did since the machine started.
        public var ready = false
        /// Failed matches until the passcode is needed.
        public var failuresLeft: UInt8 = 0
        /// Why no finger can be read; empty where one can.
        public var unavailable: [UInt8] = []
        /// What can be done about that; empty where nothing can.
        public var advice: [UInt8] = []
        public var readers: [Device] = []
        public var fingers: [Enrolled] = []
        /// Prints on a reader's chip that are not ours.
        public var foreign: UInt16 = 0
        /// The login password is kept, for the keyring behind a login by finger.
        public var keepsPassword = false

        public init(on: Bool) {
            self.on = on
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.flag(&on)
            coder.flag(&ready)
            coder.u8(&failuresLeft)
            coder.text(&unavailable, limit: Limits.line)
            coder.text(&advice, limit: Limits.line)
            coder.list(&readers, .page)
            coder.list(&fingers, .page)
            coder.u16(&foreign)
            coder.flag(&keepsPassword)
        }
    }
#endif
