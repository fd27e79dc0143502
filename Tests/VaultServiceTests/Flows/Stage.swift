import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

extension KeyDerivation.Cost {
    /// Less than a policy may ask for: what these tests are about does not depend on it.
    static let ofTests = (try? Self(memoryKiB: 64, passes: 1)) ?? .lowest
}

/// A whole daemon without a socket, in a folder of its own, and one person at a terminal in front
/// of it.
@LoopActor
final class Stage {
    /// Whether people have a front end that draws.
    var drawsScreens = false
    let house: House
    let reader: PlayedReader
    let polkit = PlayedPolkit()
    let server = PlayedServer()
    private let surroundings: PlayedSurroundings
    /// What a daemon began may still be under way when a test has ended: a house lasts as long as
    /// its process.
    private static var houses: [House] = []
    let alice = Person(uid: 4711, name: Array("alice".utf8))
    private let path: String
    var stateFolder: String { path + "/state" }

    static let patient = "RetryLimit=9\nThrottleAfter=0\n"

    /// `before` sees the state folder as a daemon before this one left it. A test that looks while
    /// a passcode is being derived gives the daemon's own `cost`, which takes its time.
    init(
        _ policy: String = "", hasReader: Bool = false,
        cost: @escaping @Sendable (Policy) -> KeyDerivation.Cost = { _ in .ofTests },
        before: (String) async throws -> Void = { _ in }
    ) async throws {
        path = "/tmp/appvault-stage-\(try StoreID.random())"
        let parent = try Folder(path: "/tmp")
        try parent.makeFolder(String(path.dropFirst(5)))
        let folder = try Folder(path: path)
        try folder.makeFolder("state")
        try folder.makeFolder("config")
        try folder.makeFolder("sessions")
        var options = Options()
        options.stateFolder = path + "/state"
        options.configFolder = path + "/config"
        options.defaultPolicy = nil
        options.socket = path + "/socket"
        options.rulesSocket = path + "/rules"
        options.fingerprintSocket = path + "/fingerprint"
        options.sessionFolder = path + "/sessions"
        // However busy the machine is: no test here waits for one of these.
        options.deadlines = Options.Deadlines(
            session: 3600, transaction: 3600, touch: 3600, onboarding: 3600)
        try Self.write(policy, path)
        try await before(options.stateFolder)
        reader = PlayedReader(isThere: hasReader)
        let surroundings = PlayedSurroundings()
        self.surroundings = surroundings
        let account = LoginAccount(
            name: alice.name, uid: alice.uid, home: Array("/home/alice".utf8),
            shell: Array("/bin/sh".utf8))
        let edges = Edges(
            look: { _, person in surroundings.look(at: person) },
            sessions: { _ in surroundings.sessions },
            // The screens of this test, and not of the machine that it runs on.
            seats: { nil }, seatSession: { _ in nil },
            polkit: { [polkit] action, subject, deadline, _ in
                await polkit.asked(action, subject, until: deadline)
            },
            servers: { [server] _, _ in server }, patience: 3_600_000,
            loginAccount: { $0 == account.uid ? .found(account) : .none },
            cost: cost)
        house = try House(options, edges, scanner: reader)
        Self.houses.append(house)
        try await house.begin()
    }

    /// Set up, played on, and taken away.
    nonisolated static func run<R: Sendable>(
        _ policy: String, hasReader: Bool = false,
        cost: @escaping @Sendable (Policy) -> KeyDerivation.Cost = { _ in .ofTests },
        before: @escaping @LoopActor @Sendable (String) async throws -> Void = { _ in },
        _ body: @escaping @LoopActor @Sendable (Stage) async throws -> R
    ) async throws -> R {
        let result = await TestLoop.run { () -> Result<R, any Error> in
            do {
                let stage = try await Stage(
                    policy, hasReader: hasReader, cost: cost, before: before)
                let made: Result<R, any Error>
                do { made = .success(try await body(stage)) } catch { made = .failure(error) }
                await stage.end()
                return made
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func end() async {
        await house.desk.vault.lockAll()
        Self.remove(path)
    }

    private static func write(_ policy: String, _ path: String) throws {
        let folder = try Folder(path: path + "/config")
        let file = try folder.file("policy.new", .createNew(mode: 0o644))
        try file.write(Array(("[Passcode]\n" + patient + policy).utf8).span, at: 0)
        try folder.rename("policy.new", to: "policy.conf")
    }

    private static func remove(_ path: String) {
        guard let folder = try? Folder(path: path), let names = try? folder.names() else { return }
        for name in names {
            if (try? Folder(path: "\(path)/\(name)")) != nil {
                remove("\(path)/\(name)")
            } else {
                try? folder.remove(name)
            }
        }
        let parts = path.split(separator: "/")
        let parent = "/" + parts.dropLast().joined(separator: "/")
        try? Folder(path: parent).removeFolder(String(parts.last ?? ""))
    }

    /// The administrator writes another policy, and it is in force.
    func change(_ policy: String) async {
        try? Self.write(policy, path)
        await house.upkeep.readPolicy(isAsked: true)
    }

    // MARK: who asks

    func caller(
        _ hello: Hello, uid: UInt32, daemonUID: UInt32? = nil,
        hangsUp: @escaping () -> Bool = { false }
    ) -> Caller {
        let credentials = PeerCredentials(pid: ThisProcess.pid, uid: uid, gid: uid)
        let caller = Caller(
            credentials, hello: hello, daemonUID: daemonUID ?? alice.uid,
            process: { PeerProcess(of: credentials, socket: -1) }, hangsUp: hangsUp)
        if uid == alice.uid { caller.account = alice }
        return caller
    }

    /// The person, at a terminal or through a program.
    func script(
        _ answers: [String: String], at turn: (Int, Script.Turn)? = nil,
        _ frontEnd: FrontEnd = .terminal
    ) -> Script {
        let hello = Hello(frontEnd: frontEnd, realUID: alice.uid)
        let script = Script(caller(hello, uid: alice.uid), reader, answers, at: turn)
        script.drawsScreens = drawsScreens
        return script
    }

    /// Root's `login`, with the person in front of it, or another program of root's.
    func login(
        _ answers: [String: String], at turn: (Int, Script.Turn)? = nil, service: String = "login",
        tty: String = "tty1", silent: Bool = false
    ) -> Script {
        var hello = Hello(frontEnd: .pamAuth, realUID: 0)
        hello.service = Array(service.utf8)
        hello.tty = Array(tty.utf8)
        hello.silent = silent
        return Script(caller(hello, uid: 0), reader, answers, at: turn)
    }

    /// The person's own screen locker, under a daemon that is not theirs.
    func locker(_ answers: [String: String]) -> Script {
        var hello = Hello(frontEnd: .pamAuth, realUID: alice.uid)
        hello.service = Array("swaylock".utf8)
        return Script(caller(hello, uid: alice.uid, daemonUID: 990), reader, answers)
    }

    /// Whether the person is known to be at this machine.
    func move(_ place: PlayedSurroundings.Place) { surroundings.place = place }

    // MARK: logind

    /// logind lists a session, in that state. It writes its files anew and renames them, as here.
    func list(_ id: String, _ state: String = "active") throws {
        let folder = try Folder(path: path + "/sessions")
        let file = try folder.file(".#\(id)", .createNew(mode: 0o644))
        try file.write(Array("UID=\(alice.uid)\nSTATE=\(state)\n".utf8).span, at: 0)
        try folder.rename(".#\(id)", to: id)
        if !surroundings.sessions.contains(id) { surroundings.sessions.append(id) }
    }

    func unlist(_ id: String) throws {
        surroundings.sessions.removeAll { $0 == id }
        try Folder(path: path + "/sessions").remove(id)
    }

    /// What the daemon does by itself is done soon; false where it is not.
    func comes(_ isTrue: @LoopActor () -> Bool) async -> Bool {
        let end = Clock.bootMilliseconds() + 60_000
        while !isTrue() {
            guard Clock.bootMilliseconds() < end else { return false }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 2)
        }
        return true
    }

    /// What the flow ends with: the id of its message, or why there is none.
    @discardableResult
    func run(_ request: FlowRequest, _ script: Script) async -> Result<String, Interruption> {
        do throws(Interruption) {
            return .success(try await house.flows.run(request, script)?.phrase.id.id ?? "")
        } catch {
            return .failure(error)
        }
    }

    /// What an enrolment gives.
    var print: SecretBox {
        guard let print = try? SecretBytes(copying: Array("print".utf8).span) else {
            preconditionFailure("no guarded memory")
        }
        return SecretBox(print)
    }

    // MARK: how the store is

    var store: StoreHost? { house.desk.vault.ownStore(of: alice, named: []) }

    /// Whether this passcode opens the store, which is then locked again.
    func opens(with passcode: String, ending due: [String: String] = [:]) async -> Bool {
        await store?.lock()
        var answers = ["match.prompt": passcode, "notice.enter": ""]
        answers.merge(due) { $1 }
        let done = await run(.openStore(Target()), script(answers))
        let isOpen = store?.isOpen ?? false
        await store?.lock()
        return isOpen && done == .success("match.done")
    }
}
