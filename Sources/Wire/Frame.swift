/// Requests are even and answers odd, so that neither side can be made to read its own kind.
public enum RequestType: UInt16, CaseIterable, Sendable {
    case hello = 0x02
    case reply = 0x04
    case abort = 0x06
    case answer = 0x08
    case draft = 0x0A

    case authenticate = 0x10
    case unlock = 0x12
    case confirm = 0x14
    case sessionOpen = 0x16
    case sessionClose = 0x18
    case password = 0x1A
    case passwordRules = 0x1C

    case status = 0x20
    case create = 0x22
    case openStore = 0x24
    case lock = 0x26
    case passcode = 0x28
    case recoveryNew = 0x2A
    case recover = 0x2C
    case reset = 0x2E
    case resync = 0x30
    case triesClear = 0x32
    case chown = 0x34
    case offerRecovery = 0x36
    case actions = 0x38
    case mend = 0x3A
    case hold = 0x3C
    case watch = 0x3E
    case rename = 0x90
    case stores = 0x92
    case recoveryDelete = 0x94
    case share = 0x96
    case unshare = 0x98
    case members = 0x9A

    case get = 0x40
    case set = 0x42
    case delete = 0x44
    case list = 0x46
    case exportBegin = 0x48
    case exportNext = 0x4A
    case importBegin = 0x4C
    case importChunk = 0x4E

    case policyShow = 0x50
    case policyCheck = 0x52
    case policyPreview = 0x54
    case texts = 0x56

    case fingerprintList = 0x60
    case fingerprintEnroll = 0x62
    case fingerprintVerify = 0x64
    case fingerprintDelete = 0x66
    case fingerprintSwitch = 0x68
    case keyringForget = 0x6A
    case fingerprintClear = 0x6C

    case health = 0x70

    case appRules = 0x80
    case appOpen = 0x82

    case itemPut = 0xA0
    case itemFind = 0xA2
    case itemSecrets = 0xA4
    case itemChange = 0xA6
    case itemDelete = 0xA8
    case itemChanges = 0xAA
    case collectionPut = 0xAC
    case collectionDelete = 0xAE
    case aliasSet = 0xB0

    case fleetStatus = 0xC0
    case fleetJoin = 0xC2
    case fleetImport = 0xC4
    case fleetLeave = 0xC6
    case fleetFetch = 0xC8
    case consentAsk = 0xCA
    case consents = 0xCC
    case switchStore = 0xCE
    case joinAsk = 0xD6
}

public enum AnswerType: UInt16, CaseIterable, Sendable {
    case welcome = 0x03
    case show = 0x05
    case ask = 0x07
    case working = 0x09
    case refused = 0x0B
    case done = 0x0D
    case reveal = 0x0F
    case verdict = 0x11
    case scan = 0x13
    case screen = 0x15
    case findings = 0x17
    case state = 0x21
    case actionList = 0x39
    case event = 0x3F
    case value = 0x41
    case names = 0x47
    case damaged = 0x49
    case chunk = 0x4B
    case progress = 0x4F
    case policyValues = 0x51
    case checklist = 0x53
    case preview = 0x55
    case textList = 0x57
    case fingerprintState = 0x61
    case token = 0x6B
    case healthReport = 0x71
    case appPolicy = 0x81
    case storeList = 0x93
    case memberList = 0x9B
    case item = 0xA1
    case itemList = 0xA3
    case secrets = 0xA5
    case itemNews = 0xAB
    case collection = 0xAD
    case fleetState = 0xC1
    case consentList = 0xCD
}

/// What stands before every body: its length, its type, and the tag of the request that it belongs
/// to.
public struct FrameHeader: Equatable, Sendable {
    public static let size = 10

    public var length: Int
    public var type: UInt16
    public var tag: UInt32

    public init(length: Int, type: UInt16, tag: UInt32) {
        self.length = length
        self.type = type
        self.tag = tag
    }

    /// The header at the start of `bytes`; nil until all ten bytes are there. A length over `limit`
    /// is refused here, before anybody sets memory aside for it.
    public static func decode(_ bytes: Span<UInt8>, limit: Int) throws(WireError) -> FrameHeader? {
        guard bytes.count >= size else { return nil }
        var reader = Reader()
        let length = try reader.u32(bytes)
        guard length <= UInt32(limit) else { throw .tooLong }
        let type = try reader.u16(bytes)
        return FrameHeader(length: Int(length), type: type, tag: try reader.u32(bytes))
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put32(UInt32(truncatingIfNeeded: length))
        sink.put16(type)
        sink.put32(tag)
    }
}

/// The fields of one message. Secrets and values are not among them: they follow as payloads, so
/// that a message can be copied and kept without copying what must be wiped.
public protocol Body: Sendable {
    init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError)
    func write<S: Sink & ~Copyable>(to sink: inout S)
}

public struct Empty: Body, Fields, Equatable {
    public init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {}
}

public enum Frame {
    public static func write<B: Body, S: Sink & ~Copyable>(
        _ body: B, type: UInt16, tag: UInt32, to sink: inout S
    ) {
        var counter = Counter()
        body.write(to: &counter)
        FrameHeader(length: counter.count, type: type, tag: tag).write(to: &sink)
        body.write(to: &sink)
    }

    public static func write<B: Body, S: Sink & ~Copyable>(
        _ body: B, type: UInt16, tag: UInt32, payload: Span<UInt8>, to sink: inout S
    ) {
        var counter = Counter()
        body.write(to: &counter)
        FrameHeader(length: counter.count + 4 + payload.count, type: type, tag: tag).write(
            to: &sink)
        body.write(to: &sink)
        sink.put(payload: payload)
    }

    public static func write<B: Body, S: Sink & ~Copyable>(
        _ body: B, type: UInt16, tag: UInt32, payload: Span<UInt8>, second: Span<UInt8>,
        to sink: inout S
    ) {
        var counter = Counter()
        body.write(to: &counter)
        FrameHeader(length: counter.count + 8 + payload.count + second.count, type: type, tag: tag)
            .write(to: &sink)
        body.write(to: &sink)
        sink.put(payload: payload)
        sink.put(payload: second)
    }
}
