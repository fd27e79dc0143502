import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import WorkerLinks

/// Wipes resident slots when their time is over: PasscodeEvery, or FingerprintAfterLock while their
/// owner is away. There is one alarm for all of them, and none while there are none.
@LoopActor
final class Residents {
    /// PasscodeEvery in seconds; 0 means never.
    private var all: [StoreID: (host: StoreHost, seconds: UInt32)] = [:]
    private var alarm: BootAlarm?

    /// Follows the owner's policy, when the slot was made or the policy changed.
    func follow(_ host: StoreHost, seconds: UInt32) {
        all[host.id] = host.resident != nil ? (host, seconds) : nil
        setAlarm()
    }

    /// The owner has left or has come back. What is over is wiped at once.
    func follow(_ host: StoreHost) {
        guard host.resident != nil else { return }
        if let end = end(host, all[host.id]?.seconds ?? 0), end <= Clock.bootMilliseconds() {
            all[host.id] = nil
            host.wipeResident()
        }
        setAlarm()
    }

    private func end(_ host: StoreHost, _ seconds: UInt32) -> UInt64? {
        let old = host.resident.flatMap { resident in
            seconds > 0 ? (resident.made.boot + UInt64(seconds)) * 1000 : nil
        }
        return [old, host.fingerEnd].compactMap { $0 }.min()
    }

    private func setAlarm() {
        let next = all.values.compactMap { end($0.host, $0.seconds) }.min()
        if alarm == nil {
            guard next != nil else { return }
            start()
        }
        alarm?.set(next)
    }

    private func start() {
        // Even without an alarm, a slot that is too old opens nothing. It only stays in memory for
        // longer.
        guard let made = try? BootAlarm() else { return }
        alarm = made
        EventLoop.shared.task {
            while true {
                await made.rings()
                for entry in self.all.values { self.follow(entry.host) }
                self.setAlarm()
            }
        }
    }
}

extension Upkeep {
    /// The owner's policy says how long a finger opens a store after its passcode has, and whether at all.
    func followResident(_ host: StoreHost) async {
        let owner = Person(uid: host.identity.uid, name: host.identity.account)
        guard host.resident != nil, let inForce = try? await desk.policy(for: owner, host) else {
            return residents.follow(host, seconds: 0)
        }
        let policy = inForce.policy
        host.leavingRules = policy.leaving
        if case .noPasscodeMode = inForce { return host.wipeResident() }
        guard policy.allowFingerprint, host.residentAge(policy) == .good,
            host.fingerFailuresLeft(policy) > 0
        else { return host.wipeResident() }
        residents.follow(host, seconds: policy.passcodeEvery)
        residents.follow(host)
    }

    /// Does this for all resident slots, after the policy changed.
    func followResidentsAgain() {
        for host in desk.vault.all where host.resident != nil {
            EventLoop.shared.task { await self.followResident(host) }
        }
    }

    /// Before hibernation, because memory goes to the disk; and before the machine sleeps, because a reader that is
    /// in use then is not usable afterwards.
    func stopFingers(wiping: Bool) {
        readers.fingerSeat.withdraw()
        guard wiping else { return }
        for host in desk.vault.all where host.resident != nil { host.wipeResident() }
    }
}
