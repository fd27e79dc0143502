internal import CSystemd
import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// Puts the whole daemon together and hands each family of flows the few things that it needs.
/// Nothing else knows them all.
@LoopActor
final class House {
    enum StartFailure: Error {
        case stateFolderInUse
        case posix(PosixError)
        case keys(String)
        case sockets(String)
    }

    let desk: Desk
    let crowd: Crowd
    let curfew = Curfew()
    let ticker = Ticker()
    let sessions: LoginSessions
    let upkeep: Upkeep
    private let idleSeconds: Int
    private let lock: FolderLock

    // MARK: what may be asked

    let pam: Pam
    let flows: Flows
    let records: RecordFlows
    let items: ItemFlows
    let transfers: Transfers
    let permissions: Permissions
    let statuses: StatusQuery
    let policyQueries: PolicyQueries
    let health: HealthQuery
    let fleet: FleetFlow
    let joining: JoinFlow

    init(
        _ options: Options, _ edges: Edges = Edges(), scanner: (any FingerScanner)? = nil
    ) throws(StartFailure) {
        idleSeconds = options.deadlines.idle
        let audit = Audit(toStandardError: options.socket != nil)
        lock = try Self.lock(options.stateFolder)
        let transactions = Transactions(
            lifeMilliseconds: UInt64(options.deadlines.transaction) * 1000)
        let failedTokens = FailedTokens(folderAt: options.tokenFolder) { trouble in
            audit.note(
                .fault,
                "failed tokens cannot be kept: \(trouble); no wrong try is given back from now on")
        }
        failedTokens.whenForgotten = { store in transactions.forgetWrong(of: store) }
        let onboarding = Onboarding(options)
        let ruleWorker = RuleWorker(path: options.rulesSocket) { audit.note(.fault, $0) }
        let fingerprints =
            scanner ?? FingerprintWorker(path: options.fingerprintSocket) { audit.note(.fault, $0) }
        let catalogues = CatalogueFolder.read(options.localeFolder)
        for problem in catalogues.problems { audit.note(.fault, problem) }
        let policies = PolicyKeeper(options)
        policies.start()
        let orders = OrdersInForce(options)
        orders.start()
        let vault = Vault(stateFolder: options.stateFolder)
        vault.orders = orders
        let directory = Directory(edges)
        let crowd = Crowd(
            AccountBook(directory) { !vault.stores(of: $0).isEmpty },
            Turns(isDeriving: { vault.workers.isDeriving }))
        self.crowd = crowd
        audit.party = { crowd.partyNow(of: $0) }

        // What every flow asks first.
        let desk = Desk(
            policies: policies, vault: vault, directory: directory,
            speech: Speech(catalogues.good, policies), audit: audit,
            people: PolicyPeople(
                policies, directory, stateFolder: options.stateFolder, disk: vault.workers.disk),
            orders: orders, cost: edges.cost)
        self.desk = desk
        let lookout = Lookout(directory: directory)
        let sessions = LoginSessions(
            desk: desk, transactions: transactions, sessionFolder: options.sessionFolder,
            sessionSeconds: options.deadlines.session)
        self.sessions = sessions

        // What flows are made of.
        let newPasscodes = NewPasscodes(desk: desk, ruleWorker: ruleWorker)
        let readers = Readers(
            desk: desk, lookout: lookout, fingerprints: fingerprints, fingerSeat: FingerSeat())
        let permissions = Permissions(desk: desk, readers: readers)
        self.permissions = permissions
        let passcodes = Passcodes(
            desk: desk, newPasscodes: newPasscodes, failedTokens: failedTokens)
        let enrolment = Enrolment(
            desk: desk, lookout: lookout, readers: readers, permissions: permissions,
            touchSeconds: options.deadlines.touch)
        let settling = Settling(
            desk: desk, readers: readers, newPasscodes: newPasscodes, passcodes: passcodes,
            enrolment: enrolment, transactions: transactions, failedTokens: failedTokens)
        let proving = Proving(desk: desk, lookout: lookout, settling: settling)
        let scans = FingerScans(desk: desk, lookout: lookout, readers: readers)
        let keyrings = Keyrings(desk: desk, transactions: transactions)
        let recovery = RecoveryFlows(
            desk: desk, passcodes: passcodes, settling: settling, proving: proving,
            permissions: permissions)
        let resyncing = ResyncFlow(
            desk: desk, lookout: lookout, settling: settling, proving: proving,
            passcodes: passcodes)

        let serverAsks = ServerAsks()
        let servers = edges.servers
        let connect: () -> any ServerLink = {
            servers(options.fetchSocket, options.deadlines.fetch)
        }
        let consenting = Consenting(
            desk: desk, proving: proving,
            signingIn: SigningIn(desk: desk, asks: serverAsks, connect: connect))

        // What a person does with a store.
        let stores = StoreFlows(
            desk: desk, newPasscodes: newPasscodes, enrolment: enrolment,
            permissions: permissions, proving: proving, scans: scans, recovery: recovery,
            transactions: transactions, consenting: consenting)
        let authority = Authority(desk: desk)
        let owner = OwnerFlows(
            desk: desk, permissions: permissions, proving: proving,
            authority: authority, failedTokens: failedTokens)
        flows = Flows(
            stores: stores,
            people: PeopleFlow(
                desk: desk, stores: stores, owner: owner, transactions: transactions,
                scans: scans, consenting: consenting),
            passcodes: PasscodeFlows(
                desk: desk, passcodes: passcodes, permissions: permissions, proving: proving,
                failedTokens: failedTokens),
            recovery: recovery, resyncing: resyncing,
            owner: owner,
            fingers: FingerFlows(
                desk: desk, readers: readers, permissions: permissions, enrolment: enrolment,
                proving: proving, scans: scans),
            keyrings: keyrings, mending: MendFlow(desk: desk, proving: proving),
            holding: HoldFlow(desk: desk, proving: proving), naming: NamingFlow(desk: desk),
            sharing: SharingFlows(desk: desk, proving: proving),
            apps: AppFlow(desk: desk, stores: stores, proving: proving, scans: scans),
            consenting: consenting)

        // What a login asks.
        let onboarder = Onboarder(
            desk: desk, newPasscodes: newPasscodes, enrolment: enrolment, sessions: sessions,
            onboarding: onboarding, patience: options.deadlines.onboarding)
        let confirmation = PamConfirm(
            desk: desk, passcodes: passcodes, keyrings: keyrings, onboarder: onboarder,
            sessions: sessions, enrolment: enrolment, settling: settling,
            transactions: transactions, failedTokens: failedTokens)
        pam = Pam(
            authentication: PamAuthenticate(
                desk: desk, lookout: lookout, settling: settling, proving: proving, scans: scans,
                keyrings: keyrings, sessions: sessions, transactions: transactions,
                failedTokens: failedTokens),
            unlocking: PamUnlock(
                desk: desk, lookout: lookout, readers: readers, newPasscodes: newPasscodes,
                enrolment: enrolment, settling: settling, proving: proving, resyncing: resyncing,
                keyrings: keyrings, onboarder: onboarder, sessions: sessions,
                confirmation: confirmation, transactions: transactions, failedTokens: failedTokens),
            confirmation: confirmation, sessions: sessions,
            password: PamPassword(
                desk: desk, lookout: lookout, keyrings: keyrings, failedTokens: failedTokens),
            loginPasswordRules: LoginPasswordRules(desk: desk, newPasscodes: newPasscodes))

        // Records, transfers and queries, and the upkeep.
        records = RecordFlows(desk: desk, settling: settling)
        items = ItemFlows(desk: desk, records: records)
        transfers = Transfers(desk: desk, settling: settling, proving: proving)
        statuses = StatusQuery(
            desk: desk, readers: readers, permissions: permissions, sessions: sessions,
            failedTokens: failedTokens)
        policyQueries = PolicyQueries(desk: desk, readers: readers, ruleWorker: ruleWorker)
        health = HealthQuery(
            desk: desk, fingerprints: fingerprints, ruleWorker: ruleWorker, options: options)
        upkeep = Upkeep(
            desk: desk, readers: readers, failedTokens: failedTokens, transactions: transactions,
            onboarding: onboarding, sessions: sessions, ticker: ticker, curfew: curfew,
            isStoppedBeforeHibernation: options.isStoppedBeforeHibernation)
        let upkeep = upkeep
        consenting.obey = { await upkeep.obeyOrders() }
        fleet = FleetFlow(desk: desk, readers: readers, options) {
            await upkeep.readPolicy(isAsked: false)
            await orders.reread()
            await upkeep.obeyOrders()
        } obeyAgain: {
            await upkeep.obeyOrders()
        }
        joining = JoinFlow(
            fleet: fleet, authority: authority, asks: serverAsks, connect: connect)
        let joining = joining
        stores.joining = { caller in
            // Where nobody can tell whether it has joined, nobody is asked to.
            guard (try? await joining.isOffered(to: caller)) == true else { return nil }
            return { (exchange) async throws(Interruption) in
                try await joining.join(JoinAsk(), exchange)
            }
        }
    }

    private static func lock(_ folder: String) throws(StartFailure) -> FolderLock {
        do throws(FolderLock.Failure) {
            return try FolderLock(at: folder + "/lock")
        } catch {
            switch error {
            case .held: throw .stateFolderInUse
            case .posix(let failure): throw .posix(failure)
            }
        }
    }

    // MARK: start and end

    private var isActivated = false
    private var idleTimer: UInt64?

    func begin() async throws(StartFailure) {
        sessions.whenLess = { [unowned self] in startIdling() }
        upkeep.whenLess = { [unowned self] in startIdling() }
        if let failure = await upkeep.begin() { throw .keys(failure) }
    }

    func activated() {
        isActivated = true
        startIdling()
    }

    /// A socket-activated daemon ends itself when nothing would be lost by that.
    func startIdling() {
        upkeep.sleep.look()
        guard isActivated, crowd.isEmpty, idleTimer == nil else { return }
        let end = Clock.bootMilliseconds() + UInt64(idleSeconds) * 1000
        idleTimer = EventLoop.shared.at(end) {
            EventLoop.shared.task { await self.leaveIfIdle() }
        }
    }

    func stopIdling() {
        if let timer = idleTimer { EventLoop.shared.cancel(timer) }
        idleTimer = nil
    }

    private func leaveIfIdle() async {
        idleTimer = nil
        // Before it is looked whether anybody is there: somebody may come meanwhile.
        await desk.orders.keep()
        // When one of these ends, the wait begins anew.
        guard crowd.isEmpty, !desk.vault.hasOpenStores, sessions.isEmpty, !upkeep.isHeldByTokens,
            !desk.vault.hasResidents
        else { return }
        // These end by themselves without telling the daemon, so it looks again later.
        guard upkeep.transactions.isEmpty, upkeep.onboarding.isEmpty else { return startIdling() }
        desk.audit.note(.stop, "nothing to do")
        EventLoop.shared.stop()
    }

    /// What a restart does with open stores.
    var succession = Succession.none
    /// Lets nobody in any more.
    var closeDoors: () -> Void = {}

    func stop() async {
        switch succession {
        case .possible: await leave()
        case .none: await desk.vault.lockAll()
        case .noSecretMemory:
            let isLoss = desk.vault.hasOpenStores || desk.vault.hasResidents
            await desk.vault.lockAll()
            if isLoss {
                desk.audit.note(
                    .lock, "all is locked: the kernel has no memory to leave keys in")
            }
        }
        // Only now: a disk that hangs keeps no store open.
        await desk.orders.keep()
        desk.audit.note(.stop, "stopped")
        EventLoop.shared.stop()
    }
}
