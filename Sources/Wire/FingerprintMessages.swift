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
    public struct FingerRequest: Body, Equatable {
        public var subject: Subject
        public var store: [UInt8]
        public var finger: Finger

        public init(subject: Subject, store: [UInt8], finger: Finger) {
            self.subject = subject
            self.store = store
            self.finger = finger
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            subject = try Subject(&reader, body)
            store = try reader.text(body, limit: Limits.name)
            guard let finger = Finger(rawValue: try reader.u8(body)) else { throw .unknownValue }
            self.finger = finger
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            subject.write(to: &sink)
            sink.put(text: store)
            sink.put(finger.rawValue)
        }
    }

    /// Fingers open the store from now on, or none does any more.
    public struct FingerSwitch: Body, Equatable {
        public var subject: Subject
        public var store: [UInt8]
        public var on: Bool

        public init(subject: Subject, store: [UInt8], on: Bool) {
            self.subject = subject
            self.store = store
            self.on = on
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            subject = try Subject(&reader, body)
            store = try reader.text(body, limit: Limits.name)
            on = try reader.flag(body)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            subject.write(to: &sink)
            sink.put(text: store)
            sink.put(flag: on)
        }
    }

    /// The fingers of a store, and the readers of the machine.
    public struct FingerprintState: Body, Equatable {
        public struct Device: Equatable, Sendable {
            public typealias Scan = FingerprintReader.Scan

            public var name: [UInt8]
            public var driver: [UInt8]
            public var scan: Scan
            public var stages: UInt8
            public var identifies: Bool
            /// It keeps prints on a chip of its own.
            public var stores: Bool
            /// Fixed to the machine.
            public var isInternal: Bool
            public var port: [UInt8]

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
        }

        public struct Enrolled: Equatable, Sendable {
            public var finger: Finger
            /// The name of the reader that it was enrolled on.
            public var reader: [UInt8]
            /// Seconds since 1970.
            public var at: UInt64
            /// That reader is there.
            public var usable: Bool

            public init(finger: Finger, reader: [UInt8], at: UInt64, usable: Bool) {
                self.finger = finger
                self.reader = reader
                self.at = at
                self.usable = usable
            }
        }

        public var on: Bool
        /// A finger would open the store now: a passcode did since the machine started.
        public var ready: Bool
        /// Failed matches until the passcode is needed.
        public var failuresLeft: UInt8
        /// Why no finger can be read; empty where one can.
        public var unavailable: [UInt8]
        public var readers: [Device]
        public var fingers: [Enrolled]
        /// Prints on a reader's chip that are not ours.
        public var foreign: UInt16
        /// The login password is kept, for the keyring behind a login by finger.
        public var keepsPassword: Bool

        public init(on: Bool) {
            self.on = on
            ready = false
            failuresLeft = 0
            unavailable = []
            readers = []
            fingers = []
            foreign = 0
            keepsPassword = false
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            on = try reader.flag(body)
            ready = try reader.flag(body)
            failuresLeft = try reader.u8(body)
            unavailable = try reader.text(body, limit: Limits.line)
            readers = []
            for _ in 0..<(try reader.listCount(body)) {
                let name = try reader.text(body)
                let driver = try reader.text(body)
                guard let scan = Device.Scan(rawValue: try reader.u8(body)) else {
                    throw .unknownValue
                }
                readers.append(
                    Device(
                        name: name, driver: driver, scan: scan, stages: try reader.u8(body),
                        identifies: try reader.flag(body), stores: try reader.flag(body),
                        isInternal: try reader.flag(body), port: try reader.text(body)))
            }
            fingers = []
            for _ in 0..<(try reader.listCount(body)) {
                guard let finger = Finger(rawValue: try reader.u8(body)) else {
                    throw .unknownValue
                }
                fingers.append(
                    Enrolled(
                        finger: finger, reader: try reader.text(body), at: try reader.u64(body),
                        usable: try reader.flag(body)))
            }
            foreign = try reader.u16(body)
            keepsPassword = try reader.flag(body)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(flag: on)
            sink.put(flag: ready)
            sink.put(failuresLeft)
            sink.put(text: unavailable)
            for device in sink.list(readers) {
                sink.put(text: device.name)
                sink.put(text: device.driver)
                sink.put(device.scan.rawValue)
                sink.put(device.stages)
                sink.put(flag: device.identifies)
                sink.put(flag: device.stores)
                sink.put(flag: device.isInternal)
                sink.put(text: device.port)
            }
            for enrolled in sink.list(fingers) {
                sink.put(enrolled.finger.rawValue)
                sink.put(text: enrolled.reader)
                sink.put64(enrolled.at)
                sink.put(flag: enrolled.usable)
            }
            sink.put16(foreign)
            sink.put(flag: keepsPassword)
        }
    }
#endif
