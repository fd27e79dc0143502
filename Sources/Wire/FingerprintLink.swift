// The module talks to the daemon, never to a worker.
#if !hasFeature(Embedded)

    /// What appvaultd and appvault-fingerprint say to each other: one request at a time, each with a
    /// nonce that everything said about it carries. Neither believes a length or a number of the
    /// other's.
    public enum FingerprintLink {
        /// The daemon's.
        public static let list: UInt16 = 0x70
        public static let enroll: UInt16 = 0x72
        public static let match: UInt16 = 0x74
        public static let delete: UInt16 = 0x76
        public static let stored: UInt16 = 0x78
        public static let cancel: UInt16 = 0x7A
        public static let clear: UInt16 = 0x7C

        /// The worker's.
        public static let readers: UInt16 = 0x71
        public static let enrolled: UInt16 = 0x73
        public static let matched: UInt16 = 0x75
        public static let done: UInt16 = 0x77
        public static let storedPrints: UInt16 = 0x79
        public static let scan: UInt16 = 0x7B
        public static let noMatch: UInt16 = 0x7D
        public static let failed: UInt16 = 0x7F

        public static let nonce = 16
        public static let text = 255
        /// Readers in one list.
        public static let readersMost = 16
        /// An image reader's is 12 KB, five stages of at most 200 points.
        public static let template = 65_536
        /// Templates in one request: a person has ten fingers.
        public static let templatesMost = 10
        /// Prints that a reader may keep.
        public static let storedMost = 256

        /// The longest body of a request, and of an answer.
        public static let requestFrame =
            nonce + 2 * (2 + text) + 2 + templatesMost * 4 + 4 + templatesMost * template
        public static let answerFrame = nonce + 4 + storedMost * (1 + 2 + text)

        /// Seconds that a match waits for a finger where the request says 0.
        public static let matchSeconds = 30
        /// Milliseconds for each touch of an enrolment, and to open a reader or to close it.
        public static let touchWait: UInt64 = 60_000
        public static let readerWait: UInt64 = 10_000
        /// Milliseconds without a request, after which the worker is gone.
        public static let linger: UInt64 = 30_000

        public static let requests = [list, enroll, match, delete, stored, cancel, clear]
    }

    /// The nonce alone: list and cancel; noMatch, done, and enrolled, where the print follows as the
    /// payload.
    public struct FingerprintNonce: Body, Fields, Equatable {
        public var nonce: [UInt8] = []

        public init(nonce: [UInt8]) {
            self.nonce = nonce
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
        }
    }

    /// Which reader: its id, and its port where that is said. An empty port is any.
    public struct ReaderChoice: Fields, Equatable, Sendable {
        public var id: [UInt8] = []
        public var port: [UInt8] = []

        public init(id: [UInt8], port: [UInt8]) {
            self.id = id
            self.port = port
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&id, limit: FingerprintLink.text)
            coder.text(&port, limit: FingerprintLink.text)
        }
    }

    /// One reader of the list.
    public struct FingerprintReader: Fields, Equatable, Sendable {
        public enum Scan: UInt8, CaseIterable, Sendable {
            case press = 1
            case swipe = 2
        }

        /// driver/device-id; readers of one make may share it.
        public var id: [UInt8] = []
        public var driver: [UInt8] = []
        public var name: [UInt8] = []
        public var scan = Scan.press
        /// Touches of an enrolment.
        public var stages: UInt8 = 0
        /// One touch can be compared with several templates.
        public var identifies = false
        /// It keeps prints on its own chip.
        public var stores = false
        /// Fixed to the machine, as the kernel says it; false where that is unknown.
        public var isInternal = false
        /// Where it is plugged in; the same place has the same name after a restart.
        public var port: [UInt8] = []

        public init(
            id: [UInt8], driver: [UInt8], name: [UInt8], scan: Scan, stages: UInt8,
            identifies: Bool,
            stores: Bool, isInternal: Bool, port: [UInt8]
        ) {
            self.id = id
            self.driver = driver
            self.name = name
            self.scan = scan
            self.stages = stages
            self.identifies = identifies
            self.stores = stores
            self.isInternal = isInternal
            self.port = port
        }

        public var choice: ReaderChoice { ReaderChoice(id: id, port: port) }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&id, limit: FingerprintLink.text)
            coder.text(&driver, limit: FingerprintLink.text)
            coder.text(&name, limit: FingerprintLink.text)
            coder.value(&scan)
            coder.u8(&stages)
            coder.flag(&identifies)
            coder.flag(&stores)
            coder.flag(&isInternal)
            coder.text(&port, limit: FingerprintLink.text)
        }
    }

    public struct FingerprintReaders: Body, Fields, Equatable {
        public var nonce: [UInt8] = []
        public var readers: [FingerprintReader] = []

        public init(nonce: [UInt8], readers: [FingerprintReader]) {
            self.nonce = nonce
            self.readers = readers
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.list(&readers, .u8(0...FingerprintLink.readersMost))
        }
    }

    /// enroll and clear; and delete, where the one template follows as the payload.
    public struct ReaderRequest: Body, Fields, Equatable {
        public var nonce: [UInt8] = []
        public var reader = ReaderChoice()

        public init(nonce: [UInt8], reader: ReaderChoice) {
            self.nonce = nonce
            self.reader = reader
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.part(&reader)
        }
    }

    /// match and stored. The templates follow as one payload, one behind the other.
    public struct TemplatesRequest: Body, Fields, Equatable {
        public var nonce: [UInt8] = []
        public var reader = ReaderChoice()
        /// How long a match waits for a finger; 0 is FingerprintLink.matchSeconds. stored: 0.
        public var seconds: UInt8 = 0
        /// The length of each template; a match has at least one.
        public var sizes: [UInt32] = []

        public init(nonce: [UInt8], reader: ReaderChoice, seconds: UInt8, sizes: [UInt32]) {
            self.nonce = nonce
            self.reader = reader
            self.seconds = seconds
            self.sizes = sizes
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.part(&reader)
            coder.u8(&seconds)
            coder.each(&sizes, .u8(0...FingerprintLink.templatesMost), blank: 0) { coder, size in
                coder.u32(&size)
                coder.require(size <= UInt32(FingerprintLink.template), else: .fieldTooLong)
                coder.require(size > 0, else: .unknownValue)
            }
        }

        /// Where each template lies; the payload is as long as they are together.
        public func templates(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError)
            -> [Slice]
        {
            let whole = try reader.payload(
                body, limit: FingerprintLink.templatesMost * FingerprintLink.template)
            var found: [Slice] = []
            var start = whole.start
            for size in sizes {
                found.append(Slice(start: start, count: Int(size)))
                start += Int(size)
            }
            guard start == whole.start + whole.count else { throw .unknownValue }
            return found
        }
    }

    /// How a scan goes on, while it does.
    public struct FingerprintScan: Body, Fields, Equatable {
        public enum Event: UInt8, CaseIterable, Sendable {
            /// The reader waits for a finger.
            case place = 1
            /// A touch of an enrolment is done.
            case stage = 2
            /// The touch could not be used.
            case retry = 3
        }

        public enum Retry: UInt8, CaseIterable, Sendable {
            case none = 0
            case tooShort = 1
            case center = 2
            case removeFinger = 3
            case general = 4
        }

        public var nonce: [UInt8] = []
        public var event = Event.place
        /// Touches done, of `stages`; a match has no stages.
        public var stage: UInt8 = 0
        public var stages: UInt8 = 0
        /// Where the event is retry; else none.
        public var retry = Retry.none

        public init(nonce: [UInt8], event: Event, stage: UInt8, stages: UInt8, retry: Retry) {
            self.nonce = nonce
            self.event = event
            self.stage = stage
            self.stages = stages
            self.retry = retry
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.value(&event)
            coder.u8(&stage)
            coder.u8(&stages)
            coder.value(&retry)
            coder.require((retry == .none) == (event != .retry), else: .unknownValue)
        }
    }

    public struct FingerprintMatched: Body, Fields, Equatable {
        public var nonce: [UInt8] = []
        /// The template's place in the request, from 0.
        public var index: UInt8 = 0

        public init(nonce: [UInt8], index: UInt8) {
            self.nonce = nonce
            self.index = index
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.u8(&index)
        }
    }

    /// What a reader keeps on its chip.
    public struct FingerprintStored: Body, Fields, Equatable {
        public struct Print: Fields, Equatable, Sendable {
            /// The place of the template that it is, from 1; 0 where it is none of the request's.
            public var given: UInt8 = 0
            /// The driver's words, if any.
            public var description: [UInt8] = []

            public init(given: UInt8, description: [UInt8]) {
                self.given = given
                self.description = description
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.u8(&given)
                coder.require(
                    given <= UInt8(FingerprintLink.templatesMost), else: .unknownValue)
                coder.text(&description, limit: FingerprintLink.text)
            }
        }

        public var nonce: [UInt8] = []
        public var prints: [Print] = []

        public init(nonce: [UInt8], prints: [Print]) {
            self.nonce = nonce
            self.prints = prints
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.list(&prints, .u16(0...FingerprintLink.storedMost))
        }
    }

    /// Why a request has come to nothing.
    public enum FingerprintFault: UInt8, CaseIterable, Error, Sendable {
        /// By a cancel, by the end of the connection, by the end of the worker.
        case cancelled = 1
        /// No finger came in the request's time, or the reader did not answer.
        case timedOut = 2
        /// There is none of that id at that port.
        case noReader = 3
        /// Another program has the reader.
        case busy = 4
        /// It was unplugged while the request was under way.
        case removed = 5
        case notSupported = 6
        /// The reader's chip holds no further print.
        case storageFull = 7
        /// A template is not one of this reader's.
        case badTemplate = 8
        /// The finger is on the reader's chip already.
        case duplicate = 9
        case general = 10
        /// The template's print is not on the reader's chip any more.
        case notStored = 11
        /// The reader has to cool down.
        case tooHot = 12
    }

    public struct FingerprintFailed: Body, Fields, Equatable {
        public var nonce: [UInt8] = []
        public var fault = FingerprintFault.cancelled

        public init(nonce: [UInt8], fault: FingerprintFault) {
            self.nonce = nonce
            self.fault = fault
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FingerprintLink.nonce)
            coder.value(&fault)
        }
    }

#endif
