/// What the front end is. Root peers are believed; from any other peer these claims may only
/// narrow.
public enum FrontEnd: UInt8, CaseIterable, Sendable {
    case pamAuth = 1
    case pamPassword = 2
    case pamSession = 3
    case terminal = 4
    /// A program, or a terminal tool whose input or output is no terminal.
    case program = 5
    /// A person answers in dialogs, and what is shown stays on a screen: never a secret.
    case dialog = 6
    /// A program, for a store whose passcode it has made up itself.
    case device = 7
}

public struct Hello: Body, Fields, Equatable {
    public var version: UInt16 = Limits.version
    public var frontEnd = FrontEnd.pamAuth
    /// Exactly one secret prompt can be answered.
    public var oneSecret = false
    /// No line may be shown.
    public var silent = false
    public var realUID: UInt32 = 0
    public var service: [UInt8] = []
    public var tty: [UInt8] = []
    public var remoteHost: [UInt8] = []
    public var remoteUser: [UInt8] = []
    public var language: [UInt8] = []

    public init(frontEnd: FrontEnd, realUID: UInt32) {
        self.frontEnd = frontEnd
        self.realUID = realUID
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u16(&version)
        coder.value(&frontEnd)
        coder.flag(&oneSecret)
        coder.flag(&silent)
        coder.u32(&realUID)
        coder.text(&service)
        coder.text(&tty)
        coder.text(&remoteHost)
        coder.text(&remoteUser)
        coder.text(&language)
    }
}

#if !hasFeature(Embedded)
    extension Hello {
        /// The service of what answers for the desktop's secrets. Any program of the person may say
        /// so, and gets no more by it than places to connect.
        public static let secretsService = Array("appvault-secrets".utf8)

        public var isForSecrets: Bool { service == Self.secretsService }
    }
#endif

public struct Welcome: Body, Fields, Equatable {
    public var version: UInt16 = Limits.version
    public var software: [UInt8] = []

    public init(version: UInt16 = Limits.version, software: [UInt8]) {
        self.version = version
        self.software = software
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u16(&version)
        coder.text(&software)
    }
}

/// For whom something is asked. An empty name means the peer itself. Root peers resolve the name in
/// their own process and send the uid along; from others the uid counts for nothing.
public struct Subject: Fields, Equatable, Sendable {
    public static let unknownUID = UInt32.max

    public var name: [UInt8] = []
    public var uid = Subject.unknownUID

    public init(name: [UInt8] = [], uid: UInt32 = Subject.unknownUID) {
        self.name = name
        self.uid = uid
    }

    public init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.text(&name)
        coder.u32(&uid)
    }
}
