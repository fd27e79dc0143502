import Bus
import Posix
import Wire

/// appvault-secrets, from its beginning to its end.
public enum SecretsProgram {
    static let name = "org.freedesktop.secrets"

    /// Never returns: the process ends with the bus, or by a signal.
    public static func run() -> Never {
        ThisProcess.leave(main())
    }

    private static func main() -> Int32 {
        guard let socket = socket(of: ToolIO.arguments()) else {
            Complaint.say("it takes --socket with a path")
            return 2
        }
        // Before the first secret: no other program of the person shall read this one's memory.
        if case .failed(let error) = ThisProcess.harden() {
            Complaint.say(error.description)
            return 1
        }
        let signals: Channel
        do throws(PosixError) {
            signals = try Channel(
                owning: try Signals.descriptor(for: [
                    Signals.terminate, Signals.interrupt, Signals.hangup,
                ]))
        } catch {
            Complaint.say(error.description)
            return 1
        }
        let ending = Ending()
        EventLoop.shared.task {
            EventLoop.shared.task {
                _ = await signals.readable(until: nil)
                ending.end(0)
            }
            await start(socket, ending)
        }
        EventLoop.shared.run()
        return ending.status
    }

    /// For tests and private set-ups; nil if the arguments are not understood.
    private static func socket(of arguments: [[UInt8]]) -> String? {
        switch arguments.count {
        case 0: return "/run/appvault/socket"
        case 2 where arguments[0] == Array("--socket".utf8) && arguments[1].first == 0x2F:
            return String(decoding: arguments[1], as: UTF8.self)
        default: return nil
        }
    }

    @LoopActor
    private static func start(_ socket: String, _ ending: Ending) async {
        do throws(BusError) {
            let deadline = Clock.bootMilliseconds() + 20_000
            let bus = try await Bus.open(.session, until: deadline)
            let stores = DaemonStores(path: socket)
            let service = SecretService(bus, stores.cabinet, AgentAsker(bus))
            ending.service = service
            bus.whenGone = { ending.end(0) }
            stores.begin()
            if try await service.begin(until: deadline) == .waiting {
                Complaint.note("another program is \(name); this one waits in line")
            }
            // From here on it mostly waits.
            ThisProcess.giveBackCode()
        } catch {
            // The bus has ended, or a signal came.
            guard !ending.isOver else { return }
            Complaint.say("the session bus cannot be used: \(error)")
            ending.end(1)
        }
    }
}

/// Everything put together.
@LoopActor
final class SecretService {
    let bus: Bus
    let tree: SecretTree
    private let portal: PortalTree
    private let announcer: Announcer
    private let cabinet: Cabinet
    private let passing = MemoryKeeper([SecretService.session])

    init(_ bus: Bus, _ cabinet: Cabinet, _ asker: any Asker, journal: Journal = Journal()) {
        self.bus = bus
        self.cabinet = cabinet
        let announcer = Announcer(bus, cabinet)
        self.announcer = announcer
        let tree = SecretTree(bus, cabinet, passing: passing, asker: asker, journal: journal)
        self.tree = tree
        portal = PortalTree(bus, cabinet.main, tree.prompts, journal)
        let passing = passing
        passing.told = { announcer.announce($0, of: passing, isPassing: true) }
        for keeper in cabinet.all { hear(keeper) }
        cabinet.added = { [unowned self] in hear($0) }
    }

    /// What happens to it is told to all clients, and may end what they wait for.
    private func hear(_ keeper: any Keeper) {
        let (announcer, tree) = (announcer, tree)
        keeper.told = { [unowned keeper] in
            announcer.announce($0, of: keeper, isPassing: false)
        }
        var wasOpen = keeper.isOpen
        keeper.turned = { [unowned keeper] in
            if keeper.isOpen != wasOpen {
                wasOpen = keeper.isOpen
                announcer.announceLock(of: keeper)
            }
            tree.prompts.look()
        }
    }

    /// What is in it ends with this process.
    private static var session: ItemCollection {
        var session = ItemCollection()
        session.label = Array("session".utf8)
        return session
    }

    func begin(until deadline: UInt64) async throws(BusError) -> Bus.Standing {
        // Before the name is ours: a call may come with it.
        bus.serve(tree, at: ObjectPath.root)
        // Clients know it by this name, wherever they look.
        bus.unknownObject = .noSuchObject
        try await portal.begin(until: deadline)
        try await bus.follow(SecretsProgram.name, until: deadline) { [bus, announcer] owner in
            if let owner, owner == bus.ownName { announcer.begin() }
        }
        return try await bus.lineUp(for: SecretsProgram.name, until: deadline)
    }
}

/// How the process ends: by the first reason. Written on the loop, read after the loop has ended.
final class Ending: @unchecked Sendable {
    private(set) var status: Int32 = 0
    private(set) var isOver = false
    @LoopActor var service: SecretService?

    func end(_ status: Int32) {
        guard !isOver else { return }
        isOver = true
        self.status = status
        EventLoop.shared.stop()
    }
}
