import Bus
import Posix

/// Tells logind what screen lockers tell only the session bus. It can only lock a store: nothing
/// that logind says opens one. So it believes any program that owns a locker's name.
@LoopActor
final class LockerRelay {
    /// Milliseconds for a locker's answer.
    private static let patience: UInt64 = 5_000

    private let bus: Bus
    private let settings: SettingsReader
    private let screen: SessionScreen
    private var states: [Locker: LockerState] = [:]
    private var timers: [Locker: UInt64] = [:]
    /// How many signals each has sent: an answer that was read after a later signal is out of date.
    private var signals: [Locker: Int] = [:]
    /// Lockers that are being asked, or whose settings are being read.
    private var asked: Set<Locker> = []
    private var reading: Set<Locker> = []
    /// Became blank once more while its settings were being read; they may be others by now.
    private var isToBeReadAgain: Set<Locker> = []
    private var hasBegun = false
    /// Called when a locker comes or leaves.
    var whenChanged: (@LoopActor () -> Void)?

    init(_ bus: Bus, _ settings: SettingsReader, _ screen: SessionScreen) {
        (self.bus, self.settings, self.screen) = (bus, settings, screen)
    }

    /// A locker is on the bus, or has left a session that is still shown as locked.
    var isNeeded: Bool { states.values.contains { $0 != .absent } }

    func listen(until deadline: UInt64) async throws(BusError) {
        for locker in Locker.allCases {
            let name = locker.rawValue
            try await bus.hear("ActiveChanged", of: name, from: name, until: deadline) {
                [unowned self] signal in
                guard let isActive = try? signal.bool() else { return }
                signals[locker, default: 0] += 1
                happened(.says(isActive: isActive), to: locker)
            }
            try await bus.follow(name, until: deadline) { [unowned self] owner in
                happened(owner == nil ? .left : .came, to: locker)
            }
        }
    }

    /// From here on it tells logind: this is the session's only agent.
    func begin() {
        hasBegun = true
        show()
    }

    private func state(of locker: Locker) -> LockerState { states[locker] ?? .absent }

    private func happened(_ event: LockerState.Event, to locker: Locker) {
        let (state, step) = state(of: locker).after(event)
        states[locker] = state
        if LockerState.isReturn(event) {
            for (other, state) in states where state == .lost { states[other] = .absent }
        }
        if state != .delayed, let timer = timers.removeValue(forKey: locker) {
            EventLoop.shared.cancel(timer)
        }
        switch step {
        case .nothing: break
        case .ask: ask(locker)
        case .readSettings: readSettings(of: locker)
        case .wait(let delay):
            timers[locker] = EventLoop.shared.at(Clock.bootMilliseconds() + delay) {
                [weak self] in
                LoopActor.assumed {
                    self?.timers[locker] = nil
                    self?.happened(.delayOver, to: locker)
                }
            }
        }
        show()
        whenChanged?()
    }

    /// This starts no locker: the call goes to the connection that has the name.
    private func ask(_ locker: Locker) {
        guard let owner = bus.owner(of: locker.rawValue), asked.insert(locker).inserted
        else { return }
        let before = signals[locker]
        EventLoop.shared.task {
            let answer = try? await self.bus.call(
                owner, locker.path, locker.rawValue, "GetActive",
                until: Clock.bootMilliseconds() + Self.patience)
            self.asked.remove(locker)
            if self.bus.owner(of: locker.rawValue) != owner {
                self.ask(locker)
            } else if let isActive = try? answer?.bool(), self.signals[locker] == before {
                self.happened(.answers(isActive: isActive), to: locker)
            }
            self.show()
        }
    }

    /// One reading at a time, however often the screen becomes blank meanwhile.
    private func readSettings(of locker: Locker) {
        guard reading.insert(locker).inserted else {
            isToBeReadAgain.insert(locker)
            return
        }
        EventLoop.shared.task {
            var rule: LockRule
            repeat {
                rule = await self.settings.rule(of: locker)
            } while self.isToBeReadAgain.remove(locker) != nil
            self.reading.remove(locker)
            self.happened(.rule(rule), to: locker)
        }
    }

    /// While a locker has not been looked at, the session is not shown as unlocked: a former agent
    /// may have said that it is locked, and it may still be.
    private func show() {
        let isLocked = states.values.contains(where: \.isLocked)
        guard hasBegun, isLocked || (asked.isEmpty && reading.isEmpty) else { return }
        screen.show(isLocked: isLocked)
    }
}
