/// What the front end is. Root peers are believed; from any other peer these claims may only
/// narrow.
public enum FrontEnd: UInt8, CaseIterable, Sendable {
    case pamAuth = 1
    case pamPassword = 2
    case pamSession = 3
    case terminal = 4
    /// A program, or a terminal tool whose input or output is no terminal.
    case program = 5
}

public struct Hello: Body, Equatable {
    public var version: UInt16 = Limits.version
    public var frontEnd: FrontEnd
    /// Exactly one secret prompt can be answered.
    public var oneSecret = false
    /// No line may be shown.
    public var silent = false
    public var realUID: UInt32
    public var service: [UInt8] = []
    public var tty: [UInt8] = []
    public var remoteHost: [UInt8] = []
    public var remoteUser: [UInt8] = []
    public var language: [UInt8] = []

    public init(frontEnd: FrontEnd, realUID: UInt32) {
        self.frontEnd = frontEnd
        self.realUID = realUID
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        version = try reader.u16(body)
        guard let frontEnd = FrontEnd(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.frontEnd = frontEnd
        oneSecret = try reader.flag(body)
        silent = try reader.flag(body)
        realUID = try reader.u32(body)
        service = try reader.text(body)
        tty = try reader.text(body)
        remoteHost = try reader.text(body)
        remoteUser = try reader.text(body)
        language = try reader.text(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put16(version)
        sink.put(frontEnd.rawValue)
        sink.put(flag: oneSecret)
        sink.put(flag: silent)
        sink.put32(realUID)
        sink.put(text: service)
        sink.put(text: tty)
        sink.put(text: remoteHost)
        sink.put(text: remoteUser)
        sink.put(text: language)
    }
}

public struct Welcome: Body, Equatable {
    public var version: UInt16 = Limits.version
    public var software: [UInt8]

    public init(software: [UInt8]) {
        self.software = software
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        version = try reader.u16(body)
        software = try reader.text(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put16(version)
        sink.put(text: software)
    }
}

/// For whom something is asked. An empty name means the peer itself. Root peers resolve the name in
/// their own process and send the uid along; from others the uid counts for nothing.
public struct Subject: Equatable, Sendable {
    public static let unknownUID = UInt32.max

    public var name: [UInt8]
    public var uid: UInt32

    public init(name: [UInt8] = [], uid: UInt32 = Subject.unknownUID) {
        self.name = name
        self.uid = uid
    }

    init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        name = try reader.text(body)
        uid = try reader.u32(body)
    }

    func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(text: name)
        sink.put32(uid)
    }
}
