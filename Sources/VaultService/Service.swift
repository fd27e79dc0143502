internal import CSystemd
import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// The whole daemon: what it keeps, and who may come in.
@LoopActor
public final class Service {
    public nonisolated static let software = "0.1.0"

    let options: Options
    let policies: PolicyKeeper
    let vault: Vault
    let sessions = Sessions()
    var isWatchingSessions = false
    let transactions: Transactions
    let onboarding: Onboarding
    let failedTokens: FailedTokens
    let audit: Audit
    let ruleWorker: RuleWorker
    let ticker = Ticker()
    let directory: Directory
    var isKeepingReserve = false
    let fingerprints: FingerprintWorker
    let fingerSeat = FingerSeat()
    let crowd: Crowd
    let residents = Residents()
    private let catalogues: [String: Catalogue]
    let people: PolicyPeople
    private(set) lazy var sleep = Sleep(self)
    private(set) lazy var idleLocks = IdleLocks { [unowned self] host in await self.lockIdle(host) }
    /// Uids that have the policy look at something of theirs: one thing at a time.
    var checking: Set<UInt32> = []
    private let slabs = Slabs()
    private let lock: FolderLock
    private var isActivated = false
    private var idleTimer: UInt64?

    enum StartFailure: Error {
        case stateFolderInUse
        case posix(PosixError)
        case keys(String)
        case sockets(String)
    }

    init(_ options: Options) throws(StartFailure) {
        self.options = options
        audit = Audit(toStandardError: options.socket != nil)
        ruleWorker = RuleWorker(path: options.rulesSocket) { [audit] in audit.note(.fault, $0) }
        fingerprints = FingerprintWorker(path: options.fingerprintSocket) { [audit] in
            audit.note(.fault, $0)
        }
        do throws(FolderLock.Failure) {
            lock = try FolderLock(at: options.stateFolder + "/lock")
        } catch {
            switch error {
            case .held: throw .stateFolderInUse
            case .posix(let failure): throw .posix(failure)
            }
        }
        failedTokens = FailedTokens(folderAt: options.tokenFolder) { [audit] trouble in
            audit.note(
                .fault,
                "failed tokens cannot be kept: \(trouble); no wrong try is given back from now on")
        }
        onboarding = Onboarding(options)
        let transactions = Transactions(
            lifeMilliseconds: UInt64(options.deadlines.transaction) * 1000)
        self.transactions = transactions
        failedTokens.whenForgotten = { store in transactions.forgetWrong(of: store) }
        let catalogues = CatalogueFolder.read(options.localeFolder)
        self.catalogues = catalogues.good
        for problem in catalogues.problems { audit.note(.fault, problem) }
        policies = PolicyKeeper(options)
        policies.start()
        let vault = Vault(stateFolder: options.stateFolder)
        self.vault = vault
        let directory = Directory()
        self.directory = directory
        let crowd = Crowd(
            AccountBook(directory) { !vault.stores(of: $0).isEmpty },
            Turns(isDeriving: { vault.workers.isDeriving }))
        self.crowd = crowd
        audit.party = { crowd.partyNow(of: $0) }
        people = PolicyPeople(
            policies, directory, stateFolder: options.stateFolder, disk: vault.workers.disk)
    }

    // MARK: who comes in

    /// Where they come in. Root has a door of its own: at everybody's, whoever connects and leaves all the time keeps
    /// the line full, and the kernel keeps the order of a line.
    enum Door {
        case everybodys
        case roots
    }

    func listen(on descriptor: consuming FileDescriptor, _ door: Door) throws(PosixError) {
        let channel = try Channel(owning: descriptor)
        EventLoop.shared.task { await self.acceptAll(channel, door) }
    }

    /// So many at a time, then others' work.
    private static let accepts = 32
    /// Of the accepting itself, in nanoseconds, which lies before what can be measured here.
    private static let acceptCost: UInt64 = 4_000
    /// At everybody's door coming in takes a quarter of a processor at most, and a tenth while somebody waits for a
    /// derivation: whoever connects and leaves all the time would have a whole one. Logins come in by root's.
    private var coming = Allowance(
        percent: Service.comingPercent, most: 2_000_000, at: Clock.monotonicNanoseconds())
    private static let comingPercent: Int64 = 25
    private static let comingPercentBeside: Int64 = 10

    private func acceptAll(_ channel: Channel, _ door: Door) async {
        var accepted = 0
        while true {
            switch channel.accept() {
            case .connection(let number): admit(FileDescriptor(owning: number), door)
            case .again: break
            case .wouldBlock:
                guard await channel.readable(until: nil) == .ready else { return }
            case .failed:
                // Out of descriptors: those who hold them leave in time.
                await EventLoop.sleep(until: Clock.bootMilliseconds() + 50)
            }
            accepted += 1
            guard accepted % Self.accepts == 0 else { continue }
            await Task.yield()
            switch door {
            case .roots: break
            case .everybodys: await waitToAccept()
            }
        }
    }

    private func waitToAccept() async {
        while true {
            coming.percent =
                vault.workers.isDeriving ? Self.comingPercentBeside : Self.comingPercent
            coming.refresh(Clock.monotonicNanoseconds())
            if coming.isLeft { return }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + coming.wait)
        }
    }

    /// Cheap where there is no place: anybody can connect again and again.
    private func admit(_ descriptor: consuming FileDescriptor, _ door: Door) {
        let began = Clock.monotonicNanoseconds()
        defer {
            switch door {
            case .roots: break
            case .everybodys: coming.spend(Clock.monotonicNanoseconds() - began + Self.acceptCost)
            }
        }
        // The peer is known before its first byte is read.
        guard let peer = try? PeerCredentials.of(descriptor.raw), !peer.isNobody else { return }
        switch crowd.place(for: peer.uid) {
        case .none(tells: true): SocketEnd.write(busy(), to: descriptor)
        case .none(tells: false): return
        case .taken(let share):
            guard let channel = try? Channel(accepted: descriptor) else { return }
            let connection = Connection(
                channel: channel, credentials: peer, share: share, crowd: crowd, slabs: slabs)
            crowd.add(connection)
            stopIdling()
            EventLoop.shared.task {
                await Dispatcher(service: self, connection: connection).serve()
                self.left(connection)
            }
        }
    }

    /// What whoever finds no place hears, as a whole frame.
    private func busy() -> [UInt8] {
        if let made = busyFrame, made.reading == policies.reading { return made.bytes }
        var bytes: [UInt8] = []
        Frame.write(
            voice.refused(.busy), type: AnswerType.refused.rawValue, tag: 0, to: &bytes)
        busyFrame = (policies.reading, bytes)
        return bytes
    }

    private var busyFrame: (reading: Int, bytes: [UInt8])?

    private func left(_ connection: Connection) {
        crowd.remove(connection)
        startIdling()
        rest()
    }

    private var restedAt: UInt64 = 0

    /// Nobody is here: what the last ones needed goes, but not after every single call.
    private func rest() {
        let now = Clock.bootMilliseconds()
        guard crowd.isEmpty, !vault.hasOpenStores, now - restedAt > 10_000 else { return }
        restedAt = now
        ThisProcess.giveBackMemory()
    }

    func caller(_ connection: Connection, _ hello: Hello) -> Caller {
        Caller(connection, hello: hello, daemonUID: ThisProcess.uid)
    }

    // MARK: in whose language

    private var texts: Texts { Texts(catalogues: catalogues, overrides: policies.texts) }

    func voice(of caller: Caller) -> Voice {
        let texts = texts
        return Voice(texts: texts, language: texts.language(caller.hello.language))
    }

    private let textLists = TextLists()

    func textList(for caller: Caller) -> SharedBody {
        textLists.list(voice(of: caller), reading: policies.reading)
    }

    /// To a peer that has not said which language it reads.
    var voice: Voice { Voice(texts: texts, language: .english) }

    // MARK: for whom

    /// The account that a request is about. A peer that is not root speaks for itself alone, and is
    /// told the same about everybody else, whether they exist or not.
    func person(_ subject: Subject, _ caller: Caller) async throws(Interruption) -> Person {
        switch caller.standing {
        case .root:
            if !subject.name.isEmpty {
                guard subject.uid != Subject.unknownUID else {
                    throw .refused(.doesNotExist(.account))
                }
                return Person(uid: subject.uid, name: subject.name)
            }
            return try await account(of: caller)
        case .privateOwner, .other:
            let own = try await account(of: caller)
            guard subject.name.isEmpty || subject.name == own.name else {
                throw .refused(.notPermitted(.notYours))
            }
            return own
        }
    }

    private func account(of caller: Caller) async throws(Interruption) -> Person {
        if let known = caller.account { return known }
        switch await directory.account(of: caller.credentials.uid) {
        case .found(let name, let uid):
            let person = Person(uid: uid, name: name)
            caller.account = person
            return person
        case .none: throw .refused(.notPermitted(.notYours))
        case .unknown:
            throw .refused(.serviceUnavailable(.directory))
        }
    }

    // MARK: whose policy

    /// What a policy is asked for.
    enum PolicyUse {
        case opening
        /// Creating and changing: not by a policy that nobody may be sure of.
        case changing
    }

    /// The person's policy, with their groups and the store's policy key: asked for once in a
    /// request, which then sees the old or the new one whole.
    func policy(
        for person: Person, _ host: StoreHost?, _ use: PolicyUse = .opening
    ) async throws(Refusal) -> PolicyInForce {
        let answer = await policyAnswer(for: person, host)
        switch use {
        case .opening: break
        case .changing:
            try policies.requireUsable()
            guard answer.isKnown else {
                throw .serviceUnavailable(.groups)
            }
        }
        return answer.policy
    }

    func policyAnswer(for person: Person, _ host: StoreHost?) async -> PolicyPeople.Answer {
        let key = host?.identity.policyKey ?? Vault.defaultName
        let keeps = host != nil || vault.hasStore(person)
        return await people.policy(for: person, key: key, keeps: keeps)
    }

    // MARK: small things that flows share

    func cost(_ policy: Policy) -> KeyDerivation.Cost {
        // The parser's bounds lie within the derivation's.
        (try? KeyDerivation.Cost(
            memoryKiB: UInt32(policy.derivationMemory / 1024), passes: policy.derivationPasses))
            ?? .standard
    }

    func hash(_ token: SecretBox, _ host: StoreHost) throws(Refusal) -> TokenHash {
        do throws(SecretsError) {
            let hash = try token.read { (secret) throws(SecretsError) in
                try failedTokens.hash(secret, of: host)
            }
            guard let hash else { throw .wrongSize }
            return hash
        } catch {
            throw .outOfMemory
        }
    }

    func noteRefusal(_ refusal: Refusal, _ caller: Caller) {
        switch refusal {
        // Everyday answers of an everyday client; the journal is for what an administrator looks
        // for.
        case .doesNotExist, .locked, .cancelled, .cancelledOpening: return
        default:
            audit.note(
                .refusal, refusal.message.english, service: caller.hello.service,
                code: refusal.code,
                uid: caller.credentials.uid)
        }
    }

    /// A store that a login opened is shut again where no session of its owner follows.
    func shutUnlessFollowed(_ host: StoreHost, _ person: Person) {
        guard sessions.count(of: person.uid) == 0 else { return }
        host.shut(at: Clock.bootMilliseconds() + UInt64(options.deadlines.session) * 1000) {
            self.audit.note(
                .lock, "no session followed the login", store: host.id.description, person: person)
            self.startIdling()
        }
    }

    // MARK: start and end

    /// What becomes of a store from now on is heard of here.
    private func follow(_ host: StoreHost) {
        host.whenOpened = { host in EventLoop.shared.task { await self.opened(host) } }
        host.whenResident = { host in
            EventLoop.shared.task {
                self.sleep.look()
                if self.sleep.wipesResidents { host.wipeResident() }
                await self.followResident(host)
                self.startIdling()
            }
        }
        host.whenErased = { host in self.failedTokens.forget(host) }
        host.whenFingersGo = { [id = host.id] in self.fingerSeat.withdraw(of: id) }
        host.forgetOnChips = { self.forgetOnChips($0) }
    }

    func sweepAtStart() async throws(StartFailure) {
        vault.prepare = { host in self.follow(host) }
        fingerSeat.whenTaken = { self.sleep.look() }
        let failure = await vault.open { event, text, store in
            self.audit.note(event, text, store: store)
        }
        if let failure { throw .keys(failure) }
        failedTokens.load(vault.all)
        vault.reserve.follow { EventLoop.shared.task { await self.reserveWasGivenUp() } }
        EventLoop.shared.task { await self.keepReserve() }
        switch policies.standing {
        case .good: break
        case .lastGood(let problem):
            audit.note(
                .policy, "\(problem); the last good policy stays in force", code: .policyBroken)
        case .broken(let problem):
            audit.note(
                .policy, "\(problem); nothing can be created or changed", code: .policyBroken)
        }
    }

    func activated() {
        isActivated = true
        startIdling()
    }

    /// A socket-activated daemon leaves when nothing would be lost by it.
    func startIdling() {
        sleep.look()
        guard isActivated, crowd.isEmpty, idleTimer == nil else { return }
        let end = Clock.bootMilliseconds() + UInt64(options.deadlines.idle) * 1000
        idleTimer = EventLoop.shared.at(end) {
            EventLoop.shared.task { self.leaveIfIdle() }
        }
    }

    private func stopIdling() {
        if let timer = idleTimer { EventLoop.shared.cancel(timer) }
        idleTimer = nil
    }

    private func leaveIfIdle() {
        idleTimer = nil
        // The end of each of these begins the wait anew.
        guard crowd.isEmpty, !vault.hasOpenStores, sessions.isEmpty, !isHeldByTokens,
            !vault.hasResidents
        else { return }
        // These end by themselves, and nobody says so.
        guard transactions.isEmpty, onboarding.isEmpty else { return startIdling() }
        audit.note(.stop, "nothing to do")
        EventLoop.shared.stop()
    }

    /// The next daemon has to know them, and none must be left to be wiped when nobody is there to do it.
    private var isHeldByTokens: Bool {
        guard failedTokens.outlivesDaemon else { return !failedTokens.isEmpty }
        return failedTokens.hasHashes && !options.isStoppedBeforeHibernation
    }

    func stop() async {
        await vault.lockAll()
        audit.note(.stop, "stopped")
        EventLoop.shared.stop()
    }
}
