import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import WorkerLinks

/// Wipes resident slots when PasscodeEvery is over. There is one alarm for all of them, and none
/// while there are none.
@LoopActor
final class Residents {
    private var ends: [StoreID: (host: StoreHost, end: UInt64)] = [:]
    private var alarm: BootAlarm?

    /// Follows the owner's policy, when the slot was made or the policy changed; 0 means never.
    func follow(_ host: StoreHost, seconds: UInt32) {
        ends[host.id] = nil
        if let resident = host.resident, seconds > 0 {
            ends[host.id] = (host, (resident.made.boot + UInt64(seconds)) * 1000)
        }
        setAlarm()
    }

    private func setAlarm() {
        let next = ends.values.map(\.end).min()
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
                let now = Clock.bootMilliseconds()
                for (id, entry) in self.ends where entry.end <= now {
                    self.ends[id] = nil
                    entry.host.wipeResident()
                }
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
        if case .noPasscodeMode = inForce { return host.wipeResident() }
        guard policy.allowFingerprint, host.residentAge(policy) == .good,
            host.fingerFailuresLeft(policy) > 0
        else { return host.wipeResident() }
        residents.follow(host, seconds: policy.passcodeEvery)
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
