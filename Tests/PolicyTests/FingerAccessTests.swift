import Testing

@testable import Policy

@Suite struct FingerAccessTests {
    private static let reader = FingerReader(id: [1], port: [9], isInternal: true)
    private static let external = FingerReader(id: [1], port: [8], isInternal: false)

    private static func policy(_ change: (inout Policy) -> Void = { _ in }) -> Policy {
        var policy = Policy.builtIn
        change(&policy)
        return policy
    }

    private static func at(
        _ change: (inout Circumstances) -> Void = { _ in }
    ) -> Circumstances {
        var at = Circumstances(
            peer: .root, service: Array("sudo".utf8), isPAM: true, typedAtOurPrompt: true,
            remoteHost: [], realUID: 1000, knownUID: 1000, personUID: 1000, remoteUser: [],
            personName: Array("alice".utf8), whereabouts: .here(.session))
        change(&at)
        return at
    }

    /// Everything is as it should be.
    private static func good(
        _ change: (inout FingerInput) -> Void = { _ in }
    ) -> FingerInput {
        var input = FingerInput(
            purpose: .open, isSwitchedOff: false, knowledge: .known,
            store: FingerStore(
                state: .passcodeAndFingerprint, isRetryLocked: false, due: [], failures: 0,
                resident: .good),
            lid: .open, readers: .found([reader]),
            enrolled: [FingerPlace(reader: [1], port: [9])])
        change(&input)
        return input
    }

    private static func ask(
        _ input: FingerInput, at circumstances: Circumstances = at(),
        _ change: (inout Policy) -> Void = { _ in }
    ) -> FingerDecision {
        fingerDecision(input, circumstances, .standard(policy(change)))
    }

    @Test("where everything is as it should be, a finger is asked for")
    func asked() {
        #expect(Self.ask(Self.good()) == .ask(FingerPick(reader: 0, fingers: [0])))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let why: NoFinger
        var input = good()
        var at = FingerAccessTests.at()
        var policy: @Sendable (inout Policy) -> Void = { _ in }
        var testDescription: String { why.rawValue }
    }

    static let rows: [Row] = [
        Row(why: .option, input: good { $0.isSwitchedOff = true }),
        Row(why: .remoteHost, at: at { $0.remoteHost = [0x68] }),
        Row(why: .remoteSession, at: at { $0.whereabouts = .elsewhere(.sessionIsRemote) }),
        Row(why: .elsewhere, at: at { $0.whereabouts = .elsewhere(.somebodyElseInFront) }),
        Row(why: .elsewhere, at: at { $0.whereabouts = .here(.console(isInFront: false)) }),
        Row(why: .elsewhere, at: at { $0.realUID = 1001 }),
        Row(why: .elsewhere, at: at { $0.remoteUser = [0x62] }),
        Row(why: .unknownSession, at: at { $0.whereabouts = .elsewhere(.logindUnknown) }),
        Row(
            why: .unknownSession,
            at: at {
                $0.whereabouts = .elsewhere(.notALogin)
                $0.peer = .other
            }),
        Row(why: .lidShut, input: good { $0.lid = .shut }),
        Row(why: .notEnrolled, input: good { $0.enrolled = [] }),
        Row(why: .notEnrolled, input: good { $0.store.state = .passcode }),
        Row(why: .notEnrolled, input: good { $0.store.state = .fingerprintOnly }),
        Row(why: .notEnrolled, input: good { $0.store.state = .none(.byChoice) }),
        Row(why: .policy, input: good(), policy: { $0.allowFingerprint = false }),
        Row(why: .policyUnknown, input: good { $0.knowledge = .groupsUnknown }),
        Row(why: .policyUnknown, input: good { $0.knowledge = .broken }),
        Row(why: .externalReader, input: good { $0.readers = .found([reader(at: 9)]) }),
        Row(why: .flowDue, input: good { $0.store.due = [.change] }),
        Row(why: .noReader, input: good { $0.readers = .found([]) }),
        // A reader of the same make at another port, and one of another make at the same port.
        Row(why: .externalReader, input: good { $0.readers = .found([external]) }),
        Row(
            why: .readerMoved,
            input: good {
                $0.readers = .found([FingerReader(id: [1], port: [7], isInternal: true)])
            }),
        Row(
            why: .noReader,
            input: good {
                $0.readers = .found([FingerReader(id: [2], port: [9], isInternal: true)])
            }),
        Row(
            why: .noReader,
            input: good {
                $0.readers = .found([FingerReader(id: [2], port: [9], isInternal: true)])
            }, policy: { $0.fingerprintReaders = .any }),
        Row(why: .readerBusy, input: good { $0.readers = .busy }),
        Row(why: .workerMissing, input: good { $0.readers = .workerMissing }),
        Row(why: .failuresReached, input: good { $0.store.failures = 5 }),
        Row(
            why: .failuresReached, input: good { $0.store.failures = 1 },
            policy: { $0.fingerprintMaxFailures = 1 }),
        Row(why: .passcodeEvery, input: good { $0.store.resident = .over }),
        Row(why: .notYetOpened, input: good { $0.store.resident = .none }),
        Row(why: .retryLocked, input: good { $0.store.isRetryLocked = true }),
    ]

    private static func reader(at port: UInt8) -> FingerReader {
        FingerReader(id: [1], port: [port], isInternal: false)
    }

    @Test("no finger is asked for, and by which reason", arguments: rows)
    func refused(_ row: Row) {
        #expect(Self.ask(row.input, at: row.at, row.policy) == .passcode(row.why))
    }

    @Test("each reason has its row")
    func complete() {
        #expect(Set(Self.rows.map(\.why)) == Set(NoFinger.allCases))
    }

    @Test("no finger is asked for in no-passcode mode")
    func noPasscodeMode() {
        #expect(
            fingerDecision(Self.good(), Self.at(), .noPasscodeMode(Self.policy()))
                == .passcode(.policy))
    }

    @Test("nothing but the announcement may be due", arguments: Flow.allCases)
    func due(_ flow: Flow) {
        let isAsked = Self.ask(Self.good { $0.store.due = [flow] }) != .passcode(.flowDue)
        #expect(isAsked == (flow == .announceFingerprint))
    }

    @Test("only where the person is known to be here, and whatever the service is called")
    func presence() {
        let here: [Here] = [.session, .greeter, .agent, .console(isInFront: true)]
        for service in ["login", "cups", "swaylock"] {
            for place in here {
                let at = Self.at {
                    $0.whereabouts = .here(place)
                    $0.service = Array(service.utf8)
                }
                #expect(Self.ask(Self.good(), at: at) == .ask(FingerPick(reader: 0, fingers: [0])))
            }
            for why in Elsewhere.allCases {
                for peer in [Peer.root, .other] {
                    let at = Self.at {
                        $0.whereabouts = .elsewhere(why)
                        $0.service = Array(service.utf8)
                        $0.peer = peer
                    }
                    #expect(obstacleToFinger(at: at) != nil)
                }
            }
        }
    }

    @Test("a private daemon's own user is taken at their word", arguments: Elsewhere.allCases)
    func privateOwner(_ why: Elsewhere) {
        let at = Self.at {
            $0.peer = .privateOwner
            $0.whereabouts = .elsewhere(why)
        }
        #expect(Self.ask(Self.good(), at: at) == .ask(FingerPick(reader: 0, fingers: [0])))
    }

    @Test("of several readers the one that knows a finger and may be used")
    func several() {
        let other = FingerReader(id: [2], port: [7], isInternal: true)
        let input = Self.good {
            $0.readers = .found([other, Self.external, Self.reader])
            $0.enrolled = [
                FingerPlace(reader: [3], port: [1]), FingerPlace(reader: [1], port: [9]),
                FingerPlace(reader: [1], port: [9]), FingerPlace(reader: [2], port: [6]),
            ]
        }
        #expect(Self.ask(input) == .ask(FingerPick(reader: 2, fingers: [1, 2])))
        // With FingerprintReaders=any another reader of the same make is good as well, but the one
        // that the finger was enrolled on is better.
        func any(_ readers: [FingerReader]) -> FingerDecision {
            var input = input
            input.readers = .found(readers)
            return Self.ask(input) { $0.fingerprintReaders = .any }
        }
        #expect(any([other, Self.external]) == .ask(FingerPick(reader: 0, fingers: [3])))
        #expect(
            any([other, Self.external, Self.reader])
                == .ask(FingerPick(reader: 2, fingers: [1, 2])))
    }

    @Test("with the lid shut an external reader is fine where the policy allows one")
    func lidAndExternal() {
        let input = Self.good {
            $0.lid = .shut
            $0.readers = .found([Self.reader, Self.external])
        }
        #expect(Self.ask(input) == .passcode(.lidShut))
        #expect(
            Self.ask(input) { $0.fingerprintReaders = .any }
                == .ask(FingerPick(reader: 1, fingers: [0])))
    }

    @Test("whether a finger matches is asked without a resident slot, and counted all the same")
    func verify() {
        let input = Self.good {
            $0.purpose = .verify
            $0.store.resident = .none
            $0.store.due = [.change]
        }
        #expect(Self.ask(input) == .ask(FingerPick(reader: 0, fingers: [0])))
        var worn = input
        worn.store.failures = 5
        #expect(Self.ask(worn) == .passcode(.failuresReached))
    }

    @Test("a first finger is enrolled at any reader that may be used")
    func enroll() {
        let input = Self.good {
            $0.purpose = .enroll
            $0.store.state = .passcode
            $0.store.failures = 200
            $0.store.resident = .none
            $0.enrolled = []
            $0.readers = .found([Self.external, Self.reader])
        }
        #expect(Self.ask(input) == .ask(FingerPick(reader: 1, fingers: [])))
        #expect(
            Self.ask(input) { $0.fingerprintReaders = .any }
                == .ask(FingerPick(reader: 0, fingers: [])))
        #expect(Self.ask(input) { $0.allowFingerprint = false } == .passcode(.policy))
    }

    @Test("the passcode is due by whichever clock more time has passed")
    func passcodeEvery() {
        let made = ResidentTime(boot: 100, wall: 1_000)
        func age(_ boot: UInt64, _ wall: UInt64, every: UInt32 = 60) -> ResidentAge {
            Self.policy { $0.passcodeEvery = every }
                .residentAge(since: made, now: ResidentTime(boot: boot, wall: wall))
        }
        #expect(age(159, 1_059) == .good)
        #expect(age(160, 1_000) == .over)
        #expect(age(100, 1_060) == .over)
        // A clock that is put back, and one that was never set.
        #expect(age(159, 0) == .good)
        #expect(age(160, 0) == .over)
        #expect(age(UInt64.max, UInt64.max, every: 0) == .good)
    }
}
