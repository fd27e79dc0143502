/// Why no finger is asked for, and it goes at once to the passcode.
public enum NoFinger: String, CaseIterable, Sendable {
    /// By the front end's word.
    case option
    case remoteHost
    case remoteSession
    /// What asks is not known to be of the person who is in front of the machine.
    case elsewhere
    /// Neither systemd nor logind says who is at the machine.
    case unknownSession
    case lidShut
    case notEnrolled
    case policy
    /// Whose groups nobody knows, and of a broken file.
    case policyUnknown
    case externalReader
    case flowDue
    case noReader
    case readerBusy
    case workerMissing
    case failuresReached
    case passcodeEvery
    /// No passcode has opened the store since the machine, or the daemon, started.
    case notYetOpened
    /// Only the recovery key or root opens it again.
    case retryLocked
}

public enum FingerDecision: Equatable, Sendable {
    case ask(FingerPick)
    case passcode(NoFinger)
}

/// Which reader, and which of the enrolled fingers it can tell, by their places in the input.
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
    /// Whether it matches: nothing is opened by it.
    case verify
    case enroll
}

/// How a store stands, as far as fingers are concerned.
public struct FingerStore: Equatable, Sendable {
    public var state: PasscodeState
    public var isRetryLocked: Bool
    /// What is due before the passcode was typed.
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

/// Where the resident slot stands.
public enum ResidentAge: Equatable, Sendable {
    case none
    case good
    /// PasscodeEvery is over.
    case over
}

/// The two clocks at one instant, in seconds: of the boot, and of the wall.
public struct ResidentTime: Equatable, Sendable {
    public var boot: UInt64
    public var wall: UInt64

    public init(boot: UInt64, wall: UInt64) {
        self.boot = boot
        self.wall = wall
    }

    /// By whichever clock more time has passed: one that is put back lengthens nothing.
    public func age(at now: ResidentTime) -> UInt64 {
        max(now.boot.subtractingSaturating(boot), now.wall.subtractingSaturating(wall))
    }
}

extension Policy {
    public func residentAge(since made: ResidentTime, now: ResidentTime) -> ResidentAge {
        passcodeEvery > 0 && made.age(at: now) >= UInt64(passcodeEvery) ? .over : .good
    }
}

/// What only the machine knows.
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
    /// Machines without one, and machines of which nobody can say.
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

/// The whole decision. Its parts are asked one by one where the next needs somebody's answer first.
public func fingerDecision(
    _ input: FingerInput, _ at: Circumstances, _ policy: PolicyInForce
) -> FingerDecision {
    if let why = obstacleToFinger(of: input, policy) { return .passcode(why) }
    if let why = obstacleToFinger(at: at) { return .passcode(why) }
    return fingerPick(
        input.purpose, input.enrolled, among: input.readers, input.lid, policy.policy)
}

/// By what the daemon knows itself, without asking anybody.
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
    // The passcode is typed in the same exchange, and what is due runs behind it.
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

/// Whether the person is known to be at the reader. Names of services and what a front end says of itself make no
/// difference here: they can only have narrowed before.
public func obstacleToFinger(at: Circumstances) -> NoFinger? {
    if !at.remoteHost.isEmpty { return .remoteHost }
    switch at.peer {
    // A private daemon's own user is root there, and logind is not asked.
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

/// A reader that may be used and that is known, of those that are there. For an enrolment any that may be used.
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
    // One of the same make is the second choice.
    let own = found.indices.filter { place in
        enrolled.contains { $0 == FingerPlace(reader: found[place].id, port: found[place].port) }
    }
    for place in own + found.indices.filter({ !own.contains($0) }) {
        let reader = found[place]
        let fingers = enrolled.indices.filter { known(enrolled[$0], at: reader, policy) }
        switch purpose {
        case .enroll: break
        case .open, .verify: if fingers.isEmpty { continue }
        }
        switch obstacle(to: reader, lid, policy) {
        case nil: return .ask(FingerPick(reader: place, fingers: fingers))
        case .some(let obstacle): why = obstacle
        }
    }
    return .passcode(why)
}

/// A reader that is fixed to the machine stands where it stood; one that is not may be plugged in anywhere.
private func known(_ finger: FingerPlace, at reader: FingerReader, _ policy: Policy) -> Bool {
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
