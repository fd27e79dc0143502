/// Why the daemon asks for no finger and goes at once to the passcode.
public enum NoFinger: String, CaseIterable, Sendable {
    /// The front end asked for no finger.
    case option
    case remoteHost
    case remoteSession
    /// The program that asks is not known to belong to the person in front of the machine.
    case elsewhere
    /// Neither systemd nor logind can tell who is at the machine.
    case unknownSession
    case lidShut
    case notEnrolled
    case policy
    /// The person's groups are not known, or a policy file is broken.
    case policyUnknown
    case externalReader
    /// The reader is at another port than the one where the finger was enrolled.
    case readerMoved
    case flowDue
    case noReader
    case readerBusy
    case workerMissing
    case failuresReached
    case passcodeEvery
    /// No passcode has opened the store since the machine, or the daemon, started.
    case notYetOpened
    /// Only the recovery key or root can unlock the store again.
    case retryLocked
}

public enum FingerDecision: Equatable, Sendable {
    case ask(FingerPick)
    case passcode(NoFinger)
}

/// Which reader, and which of the enrolled fingers it can recognize; both as places in the lists of
/// the input.
public struct FingerPick: Equatable, Sendable {
    public var reader: Int
    public var fingers: [Int]

    public init(reader: Int, fingers: [Int]) {
        self.reader = reader
        self.fingers = fingers
    }
}

/// What a finger is asked for.
public enum FingerPurpose: CaseIterable, Sendable {
    case open
    /// To see whether it matches. Nothing is opened.
    case verify
    case enroll
}

/// The state of a store, as far as it decides whether a finger is asked for.
public struct FingerStore: Equatable, Sendable {
    public var state: PasscodeState
    public var isRetryLocked: Bool
    /// What is due, as far as that is known before the passcode is typed.
    public var due: [Flow]
    public var failures: UInt32
    public var resident: ResidentAge

    public init(
        state: PasscodeState, isRetryLocked: Bool, due: [Flow], failures: UInt32,
        resident: ResidentAge
    ) {
        self.state = state
        self.isRetryLocked = isRetryLocked
        self.due = due
        self.failures = failures
        self.resident = resident
    }
}

/// The age of the resident slot: the store key in memory, which a matching finger opens.
public enum ResidentAge: Equatable, Sendable {
    case none
    case good
    /// It is older than PasscodeEvery allows.
    case over
}

/// What two clocks show at one instant, in seconds: the one that counts since boot, and wall time.
public struct ResidentTime: Equatable, Sendable {
    public var boot: UInt64
    public var wall: UInt64

    public init(boot: UInt64, wall: UInt64) {
        self.boot = boot
        self.wall = wall
    }

    /// The age by the clock that shows the longer time, so that setting a clock back does not
    /// lengthen the time.
    public func age(at now: ResidentTime) -> UInt64 {
        max(now.boot.subtractingSaturating(boot), now.wall.subtractingSaturating(wall))
    }
}

extension Policy {
    public func residentAge(since made: ResidentTime, now: ResidentTime) -> ResidentAge {
        passcodeEvery > 0 && made.age(at: now) >= UInt64(passcodeEvery) ? .over : .good
    }
}

/// Which fingerprint readers there are, as the worker reports.
public enum FingerReaders: Equatable, Sendable {
    case workerMissing
    case busy
    case found([FingerReader])
}

public struct FingerReader: Equatable, Sendable {
    public var id: [UInt8]
    public var port: [UInt8]
    public var isInternal: Bool

    public init(id: [UInt8], port: [UInt8], isInternal: Bool) {
        self.id = id
        self.port = port
        self.isInternal = isInternal
    }
}

/// Where a finger was enrolled.
public struct FingerPlace: Equatable, Sendable {
    public var reader: [UInt8]
    public var port: [UInt8]

    public init(reader: [UInt8], port: [UInt8]) {
        self.reader = reader
        self.port = port
    }
}

public enum Lid: CaseIterable, Sendable {
    case open
    case shut
    /// The machine has no lid, or its state is not known.
    case unknown
}

/// All that decides whether a finger is asked for.
public struct FingerInput: Equatable, Sendable {
    public var purpose: FingerPurpose
    public var isSwitchedOff: Bool
    public var knowledge: PolicyKnowledge
    public var store: FingerStore
    public var lid: Lid
    public var readers: FingerReaders
    public var enrolled: [FingerPlace]

    public init(
        purpose: FingerPurpose, isSwitchedOff: Bool,
        knowledge: PolicyKnowledge, store: FingerStore, lid: Lid, readers: FingerReaders,
        enrolled: [FingerPlace]
    ) {
        self.purpose = purpose
        self.isSwitchedOff = isSwitchedOff
        self.knowledge = knowledge
        self.store = store
        self.lid = lid
        self.readers = readers
        self.enrolled = enrolled
    }
}

/// The whole decision. A caller that must ask logind or the worker in between calls its parts one
/// by one.
public func fingerDecision(
    _ input: FingerInput, _ at: Circumstances, _ policy: PolicyInForce
) -> FingerDecision {
    if let why = obstacleToFinger(of: input, policy) { return .passcode(why) }
    if let why = obstacleToFinger(at: at) { return .passcode(why) }
    return fingerPick(
        input.purpose, input.enrolled, among: input.readers, input.lid, policy.policy)
}

/// The obstacles that the daemon knows itself, without asking another program.
public func obstacleToFinger(of input: FingerInput, _ inForce: PolicyInForce) -> NoFinger? {
    let policy = inForce.policy
    let store = input.store
    if input.isSwitchedOff { return .option }
    switch input.knowledge {
    case .known: break
    case .broken, .groupsUnknown: return .policyUnknown
    }
    if case .noPasscodeMode = inForce { return .policy }
    guard policy.allowFingerprint else { return .policy }
    if store.isRetryLocked { return .retryLocked }
    switch (store.state, input.purpose) {
    case (.passcode, .enroll), (.passcodeAndFingerprint, _): break
    case (.passcode, .open), (.passcode, .verify), (.none, _), (.fingerprintOnly, _):
        return .notEnrolled
    }
    switch input.purpose {
    // The passcode is typed in the same exchange, and what is due runs after it.
    case .enroll: return nil
    case .verify: return store.failures >= policy.fingerprintMaxFailures ? .failuresReached : nil
    case .open: break
    }
    if store.due.contains(where: { $0 != .announceFingerprint }) { return .flowDue }
    if store.failures >= policy.fingerprintMaxFailures { return .failuresReached }
    switch store.resident {
    case .good: return nil
    case .over: return .passcodeEvery
    case .none: return .notYetOpened
    }
}

/// Whether the person is known to be at the reader. The names of services do not matter here. What
/// the front end says of itself can only add an obstacle.
public func obstacleToFinger(at: Circumstances) -> NoFinger? {
    if !at.remoteHost.isEmpty { return .remoteHost }
    switch at.peer {
    // The user who runs a private daemon counts as root there, and logind is not asked.
    case .privateOwner: return nil
    case .root, .other: break
    }
    guard at.realUID == 0 || at.realUID == at.personUID,
        at.remoteUser.isEmpty || at.remoteUser == at.personName
    else { return .elsewhere }
    switch at.whereabouts {
    case .here(.session), .here(.greeter), .here(.agent), .here(.console(isInFront: true)):
        return nil
    case .here(.console(isInFront: false)): return .elsewhere
    case .elsewhere(let why): return NoFinger(why)
    }
}

extension NoFinger {
    fileprivate init(_ why: Elsewhere) {
        self =
            switch why {
            case .sessionIsRemote, .remoteGreeter: .remoteSession
            case .anotherPerson, .sessionIsNotInFront, .anotherSession, .somebodyElseInFront,
                .othersAreLoggedIn, .nobodyInFront, .agentOfAnother:
                .elsewhere
            case .processUnknown, .notALogin, .logindUnknown, .noSession: .unknownSession
            }
    }
}

/// Picks a reader that may be used and at which a finger was enrolled. For an enrolment, any reader
/// that may be used.
public func fingerPick(
    _ purpose: FingerPurpose, _ enrolled: [FingerPlace], among readers: FingerReaders, _ lid: Lid,
    _ policy: Policy
) -> FingerDecision {
    let found: [FingerReader]
    switch readers {
    case .workerMissing: return .passcode(.workerMissing)
    case .busy: return .passcode(.readerBusy)
    case .found(let all): found = all
    }
    switch purpose {
    case .enroll: break
    case .open, .verify: if enrolled.isEmpty { return .passcode(.notEnrolled) }
    }
    if found.isEmpty { return .passcode(.noReader) }
    var why = NoFinger.noReader
    // First the readers at which a finger was enrolled. Another reader with the same id, at another
    // port, is the second choice.
    let own = found.indices.filter { place in
        enrolled.contains { $0 == FingerPlace(reader: found[place].id, port: found[place].port) }
    }
    for place in own + found.indices.filter({ !own.contains($0) }) {
        let reader = found[place]
        let fingers = enrolled.indices.filter { known(enrolled[$0], at: reader, policy) }
        switch purpose {
        case .enroll: break
        case .open, .verify:
            if fingers.isEmpty {
                if why == .noReader, enrolled.contains(where: { $0.reader == reader.id }) {
                    why = obstacle(to: reader, lid, policy) ?? .readerMoved
                }
                continue
            }
        }
        switch obstacle(to: reader, lid, policy) {
        case nil: return .ask(FingerPick(reader: place, fingers: fingers))
        case .some(let obstacle): why = obstacle
        }
    }
    return .passcode(why)
}

/// A reader that is built in must be at the port where the finger was enrolled. One that is not may
/// be plugged in anywhere.
public func known(_ finger: FingerPlace, at reader: FingerReader, _ policy: Policy) -> Bool {
    guard finger.reader == reader.id else { return false }
    switch policy.fingerprintReaders {
    case .internal: return finger.port == reader.port
    case .any: return true
    }
}

private func obstacle(to reader: FingerReader, _ lid: Lid, _ policy: Policy) -> NoFinger? {
    guard reader.isInternal else {
        switch policy.fingerprintReaders {
        case .internal: return .externalReader
        case .any: return nil
        }
    }
    switch lid {
    case .open, .unknown: return nil
    case .shut: return .lidShut
    }
}
