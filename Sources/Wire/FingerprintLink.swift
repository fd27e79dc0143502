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

        public static let requests = [list, enroll, match, delete, stored, cancel]
    }

    /// The nonce alone: list and cancel; noMatch, done, and enrolled, where the print follows as the
    /// payload.
    public struct FingerprintNonce: Body, Equatable {
        public var nonce: [UInt8]

        public init(nonce: [UInt8]) {
            self.nonce = nonce
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
        }
    }

    /// Which reader: its id, and its port where that is said. An empty port is any.
    public struct ReaderChoice: Equatable, Sendable {
        public var id: [UInt8]
        public var port: [UInt8]

        public init(id: [UInt8], port: [UInt8]) {
            self.id = id
            self.port = port
        }

        init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            id = try reader.text(body, limit: FingerprintLink.text)
            port = try reader.text(body, limit: FingerprintLink.text)
        }

        func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(text: id)
            sink.put(text: port)
        }
    }

    /// One reader of the list.
    public struct FingerprintReader: Equatable, Sendable {
        public enum Scan: UInt8, CaseIterable, Sendable {
            case press = 1
            case swipe = 2
        }

        /// driver/device-id; readers of one make may share it.
        public var id: [UInt8]
        public var driver: [UInt8]
        public var name: [UInt8]
        public var scan: Scan
        /// Touches of an enrolment.
        public var stages: UInt8
        /// One touch can be compared with several templates.
        public var identifies: Bool
        /// It keeps prints on its own chip.
        public var stores: Bool
        /// Fixed to the machine, as the kernel says it; false where that is unknown.
        public var isInternal: Bool
        /// Where it is plugged in; the same place has the same name after a restart.
        public var port: [UInt8]

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

        init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            id = try reader.text(body, limit: FingerprintLink.text)
            driver = try reader.text(body, limit: FingerprintLink.text)
            name = try reader.text(body, limit: FingerprintLink.text)
            guard let scan = Scan(rawValue: try reader.u8(body)) else { throw .unknownValue }
            self.scan = scan
            stages = try reader.u8(body)
            identifies = try reader.flag(body)
            stores = try reader.flag(body)
            isInternal = try reader.flag(body)
            port = try reader.text(body, limit: FingerprintLink.text)
        }

        func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(text: id)
            sink.put(text: driver)
            sink.put(text: name)
            sink.put(scan.rawValue)
            sink.put(stages)
            sink.put(flag: identifies)
            sink.put(flag: stores)
            sink.put(flag: isInternal)
            sink.put(text: port)
        }
    }

    public struct FingerprintReaders: Body, Equatable {
        public var nonce: [UInt8]
        public var readers: [FingerprintReader]

        public init(nonce: [UInt8], readers: [FingerprintReader]) {
            self.nonce = nonce
            self.readers = readers
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            let count = Int(try reader.u8(body))
            guard count <= FingerprintLink.readersMost else { throw .fieldTooLong }
            readers = []
            while readers.count < count { readers.append(try FingerprintReader(&reader, body)) }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            sink.put(UInt8(truncatingIfNeeded: readers.count))
            for reader in readers { reader.write(to: &sink) }
        }
    }

    /// enroll; and delete, where the one template follows as the payload.
    public struct ReaderRequest: Body, Equatable {
        public var nonce: [UInt8]
        public var reader: ReaderChoice

        public init(nonce: [UInt8], reader: ReaderChoice) {
            self.nonce = nonce
            self.reader = reader
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            self.reader = try ReaderChoice(&reader, body)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            reader.write(to: &sink)
        }
    }

    /// match and stored. The templates follow as one payload, one behind the other.
    public struct TemplatesRequest: Body, Equatable {
        public var nonce: [UInt8]
        public var reader: ReaderChoice
        /// How long a match waits for a finger; 0 is FingerprintLink.matchSeconds. stored: 0.
        public var seconds: UInt8
        /// The length of each template; a match has at least one.
        public var sizes: [UInt32]

        public init(nonce: [UInt8], reader: ReaderChoice, seconds: UInt8, sizes: [UInt32]) {
            self.nonce = nonce
            self.reader = reader
            self.seconds = seconds
            self.sizes = sizes
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            self.reader = try ReaderChoice(&reader, body)
            seconds = try reader.u8(body)
            let count = Int(try reader.u8(body))
            guard count <= FingerprintLink.templatesMost else { throw .fieldTooLong }
            sizes = []
            while sizes.count < count {
                let size = try reader.u32(body)
                guard size <= UInt32(FingerprintLink.template) else { throw .fieldTooLong }
                guard size > 0 else { throw .unknownValue }
                sizes.append(size)
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            reader.write(to: &sink)
            sink.put(seconds)
            sink.put(UInt8(truncatingIfNeeded: sizes.count))
            for size in sizes { sink.put32(size) }
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
    public struct FingerprintScan: Body, Equatable {
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

        public var nonce: [UInt8]
        public var event: Event
        /// Touches done, of `stages`; a match has no stages.
        public var stage: UInt8
        public var stages: UInt8
        /// Where the event is retry; else none.
        public var retry: Retry

        public init(nonce: [UInt8], event: Event, stage: UInt8, stages: UInt8, retry: Retry) {
            self.nonce = nonce
            self.event = event
            self.stage = stage
            self.stages = stages
            self.retry = retry
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            guard let event = Event(rawValue: try reader.u8(body)) else { throw .unknownValue }
            self.event = event
            stage = try reader.u8(body)
            stages = try reader.u8(body)
            guard let retry = Retry(rawValue: try reader.u8(body)) else { throw .unknownValue }
            guard (retry == .none) == (event != .retry) else { throw .unknownValue }
            self.retry = retry
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            sink.put(event.rawValue)
            sink.put(stage)
            sink.put(stages)
            sink.put(retry.rawValue)
        }
    }

    public struct FingerprintMatched: Body, Equatable {
        public var nonce: [UInt8]
        /// The template's place in the request, from 0.
        public var index: UInt8

        public init(nonce: [UInt8], index: UInt8) {
            self.nonce = nonce
            self.index = index
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            index = try reader.u8(body)
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            sink.put(index)
        }
    }

    /// What a reader keeps on its chip.
    public struct FingerprintStored: Body, Equatable {
        public struct Print: Equatable, Sendable {
            /// The place of the template that it is, from 1; 0 where it is none of the request's.
            public var given: UInt8
            /// The driver's words, if any.
            public var description: [UInt8]

            public init(given: UInt8, description: [UInt8]) {
                self.given = given
                self.description = description
            }
        }

        public var nonce: [UInt8]
        public var prints: [Print]

        public init(nonce: [UInt8], prints: [Print]) {
            self.nonce = nonce
            self.prints = prints
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            let count = Int(try reader.u16(body))
            guard count <= FingerprintLink.storedMost else { throw .fieldTooLong }
            prints = []
            while prints.count < count {
                let given = try reader.u8(body)
                guard given <= UInt8(FingerprintLink.templatesMost) else { throw .unknownValue }
                prints.append(
                    Print(
                        given: given,
                        description: try reader.text(body, limit: FingerprintLink.text)))
            }
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            sink.put16(UInt16(truncatingIfNeeded: prints.count))
            for print in prints {
                sink.put(print.given)
                sink.put(text: print.description)
            }
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

    public struct FingerprintFailed: Body, Equatable {
        public var nonce: [UInt8]
        public var fault: FingerprintFault

        public init(nonce: [UInt8], fault: FingerprintFault) {
            self.nonce = nonce
            self.fault = fault
        }

        public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
            nonce = try reader.fixed(FingerprintLink.nonce, body)
            guard let fault = FingerprintFault(rawValue: try reader.u8(body)) else {
                throw .unknownValue
            }
            self.fault = fault
        }

        public func write<S: Sink & ~Copyable>(to sink: inout S) {
            sink.put(fixed: nonce)
            sink.put(fault.rawValue)
        }
    }

#endif
