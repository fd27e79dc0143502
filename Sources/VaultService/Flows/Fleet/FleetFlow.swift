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
    /// A file.
    let machineID: String
    /// Bundles are looked at one at a time, so that of two the later one wins, whoever is faster.
    let pool = WorkerPool(name: "fleet", threads: 1)
    private var isUnderWay = false
    /// A server is asked by one request at a time; whoever brings a file does not wait for that.
    var isFetching = false
    /// Reads the policy and the orders anew, and obeys them.
    private let reread: () async -> Void

    init(
        desk: Desk, readers: Readers, _ options: Options, reread: @escaping () async -> Void
    ) {
        self.desk = desk
        self.readers = readers
        self.reread = reread
        machineID = options.machineID
        worker = FetchWorker(path: options.fetchSocket, seconds: options.deadlines.fetch)
        folder = FleetFolder(stateFolder: options.stateFolder)
    }

    func join(_ text: WipedBuffer, _ caller: Caller) async throws(Interruption) -> Message {
        let (folder, bytes) = (folder, Self.bytes(text))
        let joined = try await alone(caller) { () throws(Refusal) in
            guard try !Self.isWhole(folder) else { throw .alreadyExists }
            let join: Join
            do throws(PlainSections.Fault) {
                join = try Join(bytes)
            } catch {
                throw .bundle(.join(line: error.line, wrong: error.wrong))
            }
            try Self.kept { () throws(FleetFolder.Fault) in try folder.begin(join) }
            return join.organisation
        }
        desk.audit.note(.policy, "this machine has joined \(joined)", uid: caller.credentials.uid)
        return .fleetJoined(organisation: Array(joined.utf8))
    }

    struct Taken: Sendable {
        let manifest: Manifest
        let isNew: Bool
    }

    func take(_ bundle: WipedBuffer, _ caller: Caller) async throws(Interruption) -> Message {
        let (folder, bytes, reader) = (folder, Self.bytes(bundle), desk.policies.reader)
        let now = Clock.wallSeconds()
        let taken = try await alone(caller) { () throws(Refusal) in
            try Self.take(bytes, folder, reader, now: now)
        }
        await obey(taken, caller)
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
    func obey(_ taken: Taken, _ caller: Caller) async {
        guard taken.isNew else { return }
        desk.audit.note(
            .policy,
            "\(taken.manifest.organisation): version \(taken.manifest.version) of its "
                + "\(taken.manifest.bundle.kind.rawValue) was taken",
            uid: caller.credentials.uid)
        await reread()
    }

    func leave(_ caller: Caller) async throws(Interruption) -> Message {
        let folder = folder
        let left = try await alone(caller) { () throws(Refusal) in
            // Where nobody can tell any more which one it was, the machine leaves it all the same.
            let join = Result { () throws(FleetFolder.Fault) in try folder.join() }
            if case .success(nil) = join { throw .doesNotExist(.organisation) }
            let name = (try? join.get())?.organisation
            try Self.kept { () throws(FleetFolder.Fault) in try folder.leave() }
            return name
        }
        desk.audit.note(
            .policy, "this machine has left \(left ?? "its organisation")",
            uid: caller.credentials.uid)
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
            case .file, .secrets: throw refusal(error)
            }
        }
    }

    /// Everybody may know who sets the rules here, and whom to ask.
    func status(for caller: Caller) async -> FleetState {
        let (folder, voice, orders) = (folder, desk.speech.voice(of: caller), desk.orders)
        orders.countDays()
        var started = FleetState()
        (started.offlineDays, started.lockAfter) = (orders.days.days, orders.lockAfter)
        started.wipeAfter = orders.wipeAfter
        let begun = started
        return await pool.run {
            var state = begun
            do throws(FleetFolder.Fault) {
                guard let join = try folder.join() else { return state }
                state.organisation = Array(join.organisation.utf8)
                state.policy.url = Array((join.urls[.policy] ?? "").utf8)
                state.orders.url = Array((join.urls[.orders] ?? "").utf8)
                state.reportURL = Array((join.reportURL ?? "").utf8)
                if let last = folder.lastFetch() {
                    state.fetchedAt = last.at
                    state.fetchProblem = last.problem.map { voice.bytes($0) } ?? []
                }
                if let bundle = try folder.bundle(.policy) {
                    state.policy.take(bundle.manifest)
                    state.contact = Array(bundle.manifest.contact.utf8)
                    if case .policy(let charter) = bundle.manifest.bundle {
                        state.isFinal = charter.isFinal
                    }
                }
                if try folder.trust()?.ordersKind == .orders,
                    let bundle = try folder.bundle(.orders)
                {
                    state.orders.take(bundle.manifest)
                }
            } catch {
                state.problem = Text.clean(error.whatToDo)
            }
            return state
        }
    }

    // MARK: one at a time

    private func alone<R: Sendable>(
        _ caller: Caller, _ work: @escaping @Sendable () throws(Refusal) -> R
    ) async throws(Interruption) -> R {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
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

    private static func bytes(_ buffer: WipedBuffer) -> [UInt8] {
        buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    nonisolated static func kept<R>(
        _ body: () throws(FleetFolder.Fault) -> R
    ) throws(Refusal) -> R {
        do throws(FleetFolder.Fault) {
            return try body()
        } catch {
            throw refusal(error)
        }
    }

    private nonisolated static func refusal(_ fault: FleetFolder.Fault) -> Refusal {
        switch fault {
        case .damaged(let file): .bundle(.kept(file))
        case .file, .secrets: .storageFailed(.organisation, .system(fault.description))
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

extension FleetState.Taken {
    fileprivate mutating func take(_ manifest: Manifest) {
        (version, signed, expires) = (manifest.version, manifest.signed, manifest.expires)
    }
}
