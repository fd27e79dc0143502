import Fleet
import Posix
import Wire
import Words
import WorkerLinks

// The worker asks the organisation's servers. What it brings goes the way of every bundle, whoever hands
// it over: a worker that somebody has taken over can keep something back, and nothing else.
extension FleetFlow {
    func fetch(_ caller: Caller) async throws(Interruption) -> Message {
        try await fetch(try Self.byRoot(caller))
    }

    func fetch(_ leave: FleetLeave) async throws(Interruption) -> Message {
        guard !isFetching else { throw .refused(.busy) }
        isFetching = true
        defer {
            isFetching = false
            worker.end()
        }
        return try await refusingAsync { () async throws(Refusal) in try await ask(leave) }
    }

    private func ask(_ leave: FleetLeave) async throws(Refusal) -> Message {
        let folder = folder
        let join = try await apart { () throws(Refusal) in
            try Self.kept { () throws(FleetFolder.Fault) in try folder.join() }
        }
        guard let join else { throw .doesNotExist(.organisation) }
        guard !join.urls.isEmpty || join.reportURL != nil else { throw .fetchFailed(.nowhere) }
        var new: [Manifest.Kind: UInt64] = [:]
        var problem: Refusal?
        // The policy first: it says who signs orders.
        for kind in Manifest.Kind.allCases {
            guard let url = join.urls[kind] else { continue }
            do throws(Refusal) {
                let taken = try await fetch(kind, from: url)
                if let taken, taken.isNew {
                    new[taken.manifest.bundle.kind] = taken.manifest.version
                    await obey(taken, leave)
                }
            } catch {
                problem = problem ?? error
            }
        }
        if new.isEmpty { await obeyAgain() }
        if let url = join.reportURL {
            do throws(Refusal) {
                try await tell(try await report(of: join, problem), to: url)
            } catch {
                problem = problem ?? error
            }
        }
        await note(problem, of: join)
        if let problem { throw problem }
        let name = Array(join.organisation.utf8)
        return switch (new[.policy], new[.orders]) {
        case (let policy?, let orders?):
            .fleetFetched(policy: policy, orders: orders, organisation: name)
        case (let version?, nil), (nil, let version?):
            .fleetTaken(version: version, organisation: name, isNew: true)
        case (nil, nil):
            join.urls.isEmpty
                ? .fleetReported(organisation: name) : .fleetUnchanged(organisation: name)
        }
    }

    private func tell(_ report: FleetReport, to url: String) async throws(Refusal) {
        let now = Told(report: report, url: url, at: Clock.bootMilliseconds())
        if let told, !now.isNews(after: told) { return }
        try await hand(report, to: url)
        told = now
    }

    private func hand(_ report: FleetReport, to url: String) async throws(Refusal) {
        let host = JoinHost.host(of: url)
        switch await worker.post(report.render(), to: Array(url.utf8)) {
        case .answered(200..<300, _, _): return
        case .answered(let status, _, _): throw .fetchFailed(.status(host: host, status))
        case .failed(let outcome): throw Self.refusal(outcome, host)
        case .lost(let lost): throw Self.refusal(lost, host)
        }
    }

    /// Nil where the server has what is here already.
    private func fetch(_ kind: Manifest.Kind, from url: String) async throws(Refusal) -> Taken? {
        let (folder, reader) = (folder, desk.policies.reader)
        let present = try await apart { () throws(Refusal) in folder.tag(of: kind) ?? [] }
        let fetched = await worker.get(Array(url.utf8), tag: present)
        let (tag, content) = try Self.answer(fetched, JoinHost.host(of: url), present: present)
        guard let content else { return nil }
        let now = Clock.wallSeconds()
        return try await apart { () throws(Refusal) in
            do throws(Refusal) {
                let taken = try Self.take(content, folder, reader, now: now)
                // Now that it is here: before, it would have kept the server from sending it again.
                try Self.kept { () throws(FleetFolder.Fault) in try folder.keep(tag: tag, of: kind)
                }
                return taken
            } catch {
                guard case .bundle(.nothing) = error else { throw error }
                throw .fetchFailed(.noBundle(host: JoinHost.host(of: url)))
            }
        }
    }

    private static func answer(
        _ fetched: Fetched, _ host: String, present: [UInt8]
    ) throws(Refusal) -> (tag: [UInt8], content: [UInt8]?) {
        switch fetched {
        case .answered(200, let tag, let content): return (tag, content)
        case .answered(304, _, _) where !present.isEmpty: return ([], nil)
        case .answered(let status, _, _): throw .fetchFailed(.status(host: host, status))
        case .failed(let outcome): throw Self.refusal(outcome, host)
        case .lost(let lost): throw Self.refusal(lost, host)
        }
    }

    private static func refusal(_ outcome: FetchAnswer.Outcome, _ host: String) -> Refusal {
        .fetchFailed(.init(outcome, host: host) ?? .failed(host: host))
    }

    private static func refusal(_ lost: FetchLost, _ host: String) -> Refusal {
        .fetchFailed(.init(lost, host: host))
    }

    /// For people.
    /// For `fleet status`; a change goes to the journal.
    private func note(_ problem: Refusal?, of join: Join) async {
        let folder = folder
        let last = LastFetch(at: Clock.wallSeconds(), problem: problem?.message)
        let former = await pool.run { () -> LastFetch? in
            let former = folder.lastFetch()
            // Nothing is kept of an organisation that the machine has left meanwhile.
            if let now = try? folder.join(), now == join { folder.keep(last) }
            return former
        }
        if let problem, former?.problem != last.problem {
            desk.audit.note(.fault, problem.message.english, code: problem.code)
        }
    }
}

/// What the organisation was told.
struct Told {
    let report: FleetReport
    let url: String
    /// By the boot clock, in milliseconds.
    let at: UInt64

    private static let day: UInt64 = 24 * 60 * 60 * 1000

    /// What says nothing new is not sent, or a million machines would fill a journal with it. Once a day it
    /// is: whoever says nothing at all is absent.
    func isNews(after last: Told) -> Bool {
        report != last.report || url != last.url || at >= last.at + Self.day
    }
}
