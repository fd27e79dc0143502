import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// `session`: keeps track of who is logged in. What a login opens stays open only if a session of
/// its owner follows.
@LoopActor
final class LoginSessions {
    let desk: Desk
    let transactions: Transactions
    let sessionFolder: String
    let sessionSeconds: Int
    private let sessions = Sessions()
    private var watch: FolderWatch?
    /// Called when something ended: perhaps there is nothing left to do.
    var whenLess: () -> Void = {}
    /// Called when the last session of this person has ended, with the service that said so.
    var whenLastEnded: @LoopActor (UInt32, [UInt8]) async -> Void = { _, _ in }
    /// Called when a session of this person began.
    var whenBegun: (UInt32) -> Void = { _ in }

    init(desk: Desk, transactions: Transactions, sessionFolder: String, sessionSeconds: Int) {
        self.desk = desk
        self.transactions = transactions
        self.sessionFolder = sessionFolder
        self.sessionSeconds = sessionSeconds
    }

    var isEmpty: Bool { sessions.isEmpty }

    func count(of uid: UInt32) -> Int { sessions.count(of: uid) }

    /// What the next daemon has to know.
    var left: [HandOver.LoginSession] { sessions.all }

    /// Goes on with what the daemon before this one knew. What logind has ended meanwhile is over.
    func take(_ former: [HandOver.LoginSession]) {
        for session in former where !session.isListed || isListed(session.id) {
            sessions.add(
                session.id, of: session.uid, isListed: session.isListed,
                times: Int(session.times))
        }
        if former.contains(where: \.isListed) { watchSessions() }
    }

    /// Whether the person has a session. The daemon does not hear of each one from PAM: it may have
    /// been started again meanwhile, or the session's stack has no line of AppVault. Those that
    /// logind lists count from here on like all others.
    func hasSession(_ uid: UInt32) async -> Bool {
        guard sessions.count(of: uid) == 0 else { return true }
        for name in await desk.directory.sessions(of: uid) {
            let id = Array(name.utf8)
            if isListed(id), !sessions.has(id, of: uid) { begin(id, of: uid) }
        }
        return sessions.count(of: uid) > 0
    }

    func openSession(_ session: Session, _ caller: Caller) async throws(Interruption)
        -> Verdict
    {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard counts(session, caller) else { return Verdict(outcome: .ignore) }
        let person = try await desk.person(session.subject, caller)
        begin(session.id, of: person.uid)
        desk.vault.followed(person)
        desk.audit.note(
            .session, "a session began", person: desk.vault.hasStore(person) ? person : nil,
            service: caller.hello.service)
        return Verdict(outcome: .ignore)
    }

    func closeSession(_ session: Session, _ caller: Caller) async throws(Interruption)
        -> Verdict
    {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard counts(session, caller) else { return Verdict(outcome: .ignore) }
        let person = try await desk.person(session.subject, caller)
        if sessions.remove(session.id, of: person.uid) {
            await whenLastEnded(person.uid, caller.hello.service)
        }
        return Verdict(outcome: .ignore)
    }

    /// logind's sessions of class user count; without logind, those of services that log people in.
    func counts(_ session: Session, _ caller: Caller) -> Bool {
        if session.id.isEmpty {
            return desk.policies.policy.acts(.unlock, at: caller.hello.service)
        }
        // Later versions of logind add endings: root's sessions are `user-early`.
        return session.sessionClass.isEmpty || session.sessionClass.starts(with: "user".utf8)
    }

    // MARK: what a login opens

    /// Opens a store for a login. It then needs a session to stay open; a store that was open
    /// before stays as it is.
    func openForLogin(_ opening: Opening, _ visit: Visit) async throws(Interruption) {
        let wasOpen = visit.host.isOpen
        do throws(Refusal) {
            try await visit.host.open(opening)
        } catch .locked where visit.host.departures != opening.departures {
            // The owner left during the opening. The passcode was right all the same.
            return
        } catch {
            throw .refused(error)
        }
        if !wasOpen { await shutUnlessFollowed(visit.host, visit.person) }
        desk.audit.note(
            .unlock, "a store was opened", store: visit.host.id.description, person: visit.person,
            service: visit.caller.hello.service, uid: visit.caller.credentials.uid)
        await visit.tellLog()
    }

    /// A store that a login opened is shut again where no session of its owner follows.
    func shutUnlessFollowed(_ host: StoreHost, _ person: Person) async {
        await shutUnlessFollowed(
            host, person, at: Clock.bootMilliseconds() + UInt64(sessionSeconds) * 1000)
    }

    func shutUnlessFollowed(_ host: StoreHost, _ person: Person, at moment: UInt64) async {
        guard await !hasSession(person.uid), host.isOpen else { return }
        host.shut(at: moment) {
            self.desk.audit.note(
                .lock, "no session followed the login", store: host.id.description, person: person)
            self.whenLess()
        }
    }

    // MARK: sessions that end in silence

    // A session may end without its program saying so: the program was killed, or its terminal is
    // gone. logind has a file for each session, and removes it however the session ended. While
    // processes of it are left, the file stays and says that the session is closing.

    func begin(_ id: [UInt8], of uid: UInt32) {
        let isListed = isListed(id)
        sessions.add(id, of: uid, isListed: isListed)
        if isListed { watchSessions() }
        whenBegun(uid)
    }

    /// Whether logind has a file for this session that does not say that it is over. Where its
    /// files cannot be seen, only what PAM says counts.
    private func isListed(_ id: [UInt8]) -> Bool {
        let isName =
            !id.isEmpty
            && id.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        let path = sessionFolder + "/" + String(decoding: id, as: UTF8.self)
        guard isName, (try? FileFacts(of: path)) != nil else { return false }
        let text = (try? TextFile.read(at: path, limit: 16 << 10)) ?? []
        return !text.split(separator: 0x0A).contains { $0.elementsEqual("STATE=closing".utf8) }
    }

    private func watchSessions() {
        if let watch { return watch.renew() }
        let made = FolderWatch(sessionFolder)
        if let failure = made.failure {
            desk.audit.note(
                .fault, "\(failure): the ends of sessions are looked for every few seconds")
        }
        watch = made
        EventLoop.shared.task {
            await self.followSessions(made)
            self.watch = nil
        }
    }

    /// Runs as long as there are sessions.
    private func followSessions(_ watch: FolderWatch) async {
        while !sessions.isEmpty {
            for uid in sessions.forget(where: { !isListed($0) }) {
                await whenLastEnded(uid, [])
                whenLess()
            }
            guard await watch.change() else { return }
        }
    }
}
