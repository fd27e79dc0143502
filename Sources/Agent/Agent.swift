import Bus
import Posix

/// Everything put together: the bus, what the agent does on it, and how long it stays.
@LoopActor
final class Agent {
    static let name = "org.appvault.Agent1"
    static let path = "/org/appvault/Agent1"

    private let bus: Bus
    private let relay: LockerRelay
    private let ending: Ending
    private var idle = Clock.bootMilliseconds()
    private var timer: UInt64?
    /// Not before every locker was looked for.
    private var hasBegun = false
    private var isLeaving = false

    init(_ bus: Bus, _ signals: HeldSignals, _ core: ToolIO.CoreLimit, _ ending: Ending) {
        self.bus = bus
        self.ending = ending
        let folder = ToolIO.variable("XDG_RUNTIME_DIR").map { String(decoding: $0, as: UTF8.self) }
        relay = LockerRelay(
            bus, SettingsReader(bus, signals, core), SessionScreen(runtimeFolder: folder))
        // The bus holds the agent, and lives as long as the process.
        relay.whenChanged = { self.look() }
        bus.whenCalled = { self.look() }
        // The session is over.
        bus.whenGone = { ending.end(0) }
    }

    func begin(until deadline: UInt64) async throws(BusError) -> Bus.Ownership {
        // Before the name is ours: a call may come with it.
        bus.serve(
            BusObject(
                path: Self.path, interface: Self.name,
                methods: [
                    BusMethod("Needs", gives: [BusMethod.Argument("needs", "as")]) { _ in
                        // The call itself is one.
                        .values([.strings(self.needs.subtracting([.call]).map(\.word).sorted())])
                    }
                ]))
        // Whoever sees the name may rely on it that lockers are heard.
        try await relay.listen(until: deadline)
        let ownership = try await bus.own(Self.name, until: deadline)
        guard ownership == .owner else { return ownership }
        relay.begin()
        hasBegun = true
        look()
        // From here on it mostly waits.
        ThisProcess.giveBackCode()
        return ownership
    }

    private var needs: Set<Need> {
        var needs: Set<Need> = []
        if relay.isNeeded { needs.insert(.locker) }
        if bus.callsUnderWay > 0 { needs.insert(.call) }
        return needs
    }

    /// Nothing wakes the agent while it is needed.
    private func look() {
        guard hasBegun, !isLeaving else { return }
        let now = Clock.bootMilliseconds()
        let needs = needs
        if !needs.isEmpty { idle = now }
        let stay = Stay.decide(needs, idle: idle, now: now)
        guard stay != .needed || timer != nil else { return }
        if let timer { EventLoop.shared.cancel(timer) }
        timer = nil
        switch stay {
        case .needed: break
        case .until(let moment):
            timer = EventLoop.shared.at(moment) { [unowned self] in
                LoopActor.assumed {
                    timer = nil
                    look()
                }
            }
        case .leaves:
            isLeaving = true
            EventLoop.shared.task { await self.leave() }
        }
    }

    /// First without the name: whoever calls from then on gets a new agent, and calls that came
    /// before are answered.
    private func leave() async {
        let deadline = Clock.bootMilliseconds() + 5_000
        do throws(BusError) {
            try await bus.release(Self.name, until: deadline)
            if needs.isEmpty { return ending.end(0) }
            // Another agent may have begun meanwhile.
            guard try await bus.own(Self.name, until: deadline) == .owner else {
                return answerLast()
            }
        } catch {
            return ending.end(1)
        }
        isLeaving = false
        look()
    }

    private func answerLast() {
        bus.whenCalled = { if self.bus.callsUnderWay == 0 { self.ending.end(0) } }
        if bus.callsUnderWay == 0 { ending.end(0) }
    }
}
