import Fleet
import Policy
import Posix
import Wire
import Words
import WorkerLinks

/// What root does with the organisation that the machine has joined, and what everybody may know of
/// it. Nothing that a person waits for goes through here: a login needs none of it.
@LoopActor
final class FleetFlow {
    let desk: Desk
    let folder: FleetFolder
    let worker: FetchWorker
    let readers: Readers
    /// Bundles are looked at one at a time, so that of two the later one wins, whoever is faster.
    let pool = WorkerPool(name: "fleet", threads: 1)
    private var isUnderWay = false
    /// A server is asked by one request at a time; whoever brings a file does not wait for that.
    var isFetching = false
    /// The last report that somebody took.
    var told: Told?
    /// Reads the policy and the orders anew, and obeys them.
    private let reread: () async -> Void
    /// Obeys the orders once more: what could not be wiped, or was made meanwhile.
    let obeyAgain: () async -> Void
    /// For `status`.
    private var known: Known?

    init(
        desk: Desk, readers: Readers, _ options: Options, reread: @escaping () async -> Void,
        obeyAgain: @escaping () async -> Void
    ) {
        self.desk = desk
        self.readers = readers
        self.reread = reread
        self.obeyAgain = obeyAgain
        worker = FetchWorker(path: options.fetchSocket, seconds: options.deadlines.fetch)
        folder = FleetFolder(stateFolder: options.stateFolder)
    }

    func join(_ text: WipedBuffer, _ caller: Caller) async throws(Interruption) -> Message {
        try await join(Self.bytes(text), try Self.byRoot(caller))
    }

    func join(_ text: [UInt8], _ leave: FleetLeave) async throws(Interruption) -> Message {
        let folder = folder
        let joined = try await alone(leave) { () throws(Refusal) in
            guard try !Self.isWhole(folder) else { throw .alreadyExists }
            let join: Join
            do throws(PlainSections.Fault) {
                join = try Join(text)
            } catch {
                throw .bundle(.join(line: error.line, wrong: error.wrong))
            }
            try Self.kept { () throws(FleetFolder.Fault) in try folder.begin(join) }
            return join.organisation
        }
        desk.audit.note(.policy, "this machine has joined \(joined)\(leave.note)", uid: leave.uid)
        return .fleetJoined(organisation: Array(joined.utf8))
    }

    /// Whether it has, and is to go on with that.
    func hasJoined() async throws(Refusal) -> Bool {
        let folder = folder
        return try await apart { () throws(Refusal) in try Self.isWhole(folder) }
    }

    struct Taken: Sendable {
        let manifest: Manifest
        let isNew: Bool
    }

    func take(_ bundle: WipedBuffer, _ caller: Caller) async throws(Interruption) -> Message {
        let leave = try Self.byRoot(caller)
        let (folder, reader) = (folder, desk.policies.reader)
        let now = Clock.wallSeconds()
        let taken = try await alone(leave) { () throws(Refusal) in
            try Self.take(Self.bytes(bundle), folder, reader, now: now)
        }
        if taken.isNew { await obey(taken, leave) } else { await obeyAgain() }
        return .fleetTaken(
            version: taken.manifest.version, organisation: Array(taken.manifest.organisation.utf8),
            isNew: taken.isNew)
    }

    /// Blocking, as one step: nobody takes another one meanwhile.
    nonisolated static func take(
        _ bytes: [UInt8], _ folder: FleetFolder, _ reader: PolicyReader, now: UInt64
    ) throws(Refusal) -> Taken {
        guard let trust = try kept({ () throws(FleetFolder.Fault) in try folder.trust() })
        else { throw .doesNotExist(.organisation) }
        let bundle = try Self.bundle(bytes)
        let next: Trust
        do throws(Trust.Refusal) {
            switch try trust.judge(bundle, now: now) {
            case .present: return Taken(manifest: bundle.manifest, isNew: false)
            case .newer(let trust): next = trust
            }
        } catch {
            throw .init(error)
        }
        do throws(Bundle.Fault) {
            _ = try bundle.consents()
            _ = try bundle.signIn()
        } catch {
            throw .init(error)
        }
        // One that breaks the policy of this machine is not taken: the one before is better.
        if case .policy = bundle.manifest.bundle {
            do throws(PolicyProblem) {
                _ = try reader.read(under: FleetFolder.policy(bundle))
            } catch {
                throw PolicyKeeper.refusal(error)
            }
        }
        try kept { () throws(FleetFolder.Fault) in
            try folder.keep(bytes, bundle.manifest.bundle.kind, from: trust, to: next)
        }
        return Taken(manifest: bundle.manifest, isNew: true)
    }

    /// What follows from one that was taken.
    func obey(_ taken: Taken, _ leave: FleetLeave) async {
        desk.audit.note(
            .policy,
            "\(taken.manifest.organisation): version \(taken.manifest.version) of its "
                + "\(taken.manifest.bundle.kind.rawValue) was taken",
            uid: leave.uid)
        await reread()
    }

    func leave(_ caller: Caller) async throws(Interruption) -> Message {
        let leave = try Self.byRoot(caller)
        let folder = folder
        let left = try await alone(leave) { () throws(Refusal) in
            // Where nobody can tell any more which one it was, the machine leaves it all the same.
            let join = Result { () throws(FleetFolder.Fault) in try folder.join() }
            if case .success(nil) = join { throw .doesNotExist(.organisation) }
            let name = (try? join.get())?.organisation
            try Self.kept { () throws(FleetFolder.Fault) in try folder.leave() }
            return name
        }
        desk.audit.note(
            .policy, "this machine has left \(left ?? "its organisation")", uid: leave.uid)
        await reread()
        return .fleetLeft(organisation: left.map { Array($0.utf8) })
    }

    /// Whether the machine has joined one, and is to go on with it. Where what is kept is damaged, it
    /// may join anew.
    private nonisolated static func isWhole(_ folder: FleetFolder) throws(Refusal) -> Bool {
        do throws(FleetFolder.Fault) {
            return try folder.trust() != nil
        } catch {
            switch error {
            case .damaged: return false
            case .file, .secrets: throw error.refusal
            }
        }
    }

    /// Everybody may know who sets the rules here, and whom to ask.
    func status(for caller: Caller) async -> FleetState {
        let (folder, known) = (folder, known)
        let (found, last) = await pool.run { (Self.kept(folder, known), folder.lastFetch()) }
        self.known = found
        var state = found.state
        state.fetchedAt = last?.at ?? 0
        state.fetchProblem = last?.problem.map { desk.speech.voice(of: caller).bytes($0) } ?? []
        desk.orders.countDays()
        (state.offlineDays, state.lockAfter) = (desk.orders.days.days, desk.orders.lockAfter)
        state.wipeAfter = desk.orders.wipeAfter
        return state
    }

    /// What the files say, and which files these were; nil for those that are not there.
    private struct Known: Sendable {
        let versions: [FileVersion?]
        let state: FleetState
    }

    /// A large bundle takes some time to read, and everybody may ask, again and again: so what is known
    /// of the same files is not read anew.
    private nonisolated static func kept(_ folder: FleetFolder, _ known: Known?) -> Known {
        let versions = folder.versions()
        if let known, known.versions == versions, known.state.problem.isEmpty { return known }
        var state = FleetState()
        do throws(FleetFolder.Fault) {
            try state.take(folder)
        } catch {
            state.problem = Text.clean(error.whatToDo)
        }
        return Known(versions: versions, state: state)
    }

    // MARK: one at a time

    private func alone<R: Sendable>(
        _ leave: FleetLeave, _ work: @escaping @Sendable () throws(Refusal) -> R
    ) async throws(Interruption) -> R {
        guard !isUnderWay else { throw .refused(.busy) }
        isUnderWay = true
        defer { isUnderWay = false }
        let result = await pool.run { Result { () throws(Refusal) in try work() } }
        return try refusing { () throws(Refusal) in try result.get() }
    }

    /// Blocking work, among the other of its kind.
    func apart<R: Sendable>(
        _ work: @escaping @Sendable () throws(Refusal) -> R
    ) async throws(Refusal) -> R {
        try await pool.run { Result { () throws(Refusal) in try work() } }.get()
    }

    /// Before anything of theirs is looked at.
    static func byRoot(_ caller: Caller) throws(Interruption) -> FleetLeave {
        guard let leave = FleetLeave(root: caller) else {
            throw .refused(.notPermitted(.rootOnly))
        }
        return leave
    }

    private nonisolated static func bytes(_ buffer: WipedBuffer) -> [UInt8] {
        buffer.withBytes { bytes in
            var copy: [UInt8] = []
            copy.put(bytes)
            return copy
        }
    }

    nonisolated static func kept<R>(
        _ body: () throws(FleetFolder.Fault) -> R
    ) throws(Refusal) -> R {
        do throws(FleetFolder.Fault) {
            return try body()
        } catch {
            throw error.refusal
        }
    }

    private nonisolated static func bundle(_ bytes: [UInt8]) throws(Refusal) -> Bundle {
        do throws(Bundle.Fault) {
            return try Bundle(bytes)
        } catch {
            throw .init(error)
        }
    }
}

extension FleetState {
    fileprivate mutating func take(_ folder: FleetFolder) throws(FleetFolder.Fault) {
        guard let join = try folder.join() else { return }
        organisation = Array(join.organisation.utf8)
        policy.url = Array((join.urls[.policy] ?? "").utf8)
        orders.url = Array((join.urls[.orders] ?? "").utf8)
        reportURL = Array((join.reportURL ?? "").utf8)
        if let bundle = try folder.bundle(.policy) {
            policy.take(bundle.manifest)
            contact = Array(bundle.manifest.contact.utf8)
            if case .policy(let charter) = bundle.manifest.bundle { isFinal = charter.isFinal }
        }
        if try folder.trust()?.ordersKind == .orders, let bundle = try folder.bundle(.orders) {
            orders.take(bundle.manifest)
        }
    }
}

extension FleetState.Taken {
    fileprivate mutating func take(_ manifest: Manifest) {
        (version, signed, expires) = (manifest.version, manifest.signed, manifest.expires)
    }
}
