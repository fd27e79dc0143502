import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// What `appvault doctor` cannot see from outside.
@LoopActor
final class HealthQuery {
    let desk: Desk
    let fingerprints: any FingerScanner
    let ruleWorker: RuleWorker
    let options: Options

    init(desk: Desk, fingerprints: any FingerScanner, ruleWorker: RuleWorker, options: Options) {
        self.desk = desk
        self.fingerprints = fingerprints
        self.ruleWorker = ruleWorker
        self.options = options
    }

    func health(for caller: Caller) async -> Health {
        var health = Health(
            pid: UInt32(ThisProcess.pid), uid: ThisProcess.uid,
            stateFolder: Self.path(options.stateFolder),
            configFolder: Self.path(options.configFolder))
        health.memory = memory
        health.clock = clock(for: caller)
        switch caller.standing {
        case .root, .privateOwner:
            health.machineKey = desk.vault.machineKeyHealth
            health.stores = UInt32(clamping: desk.vault.count)
            health.damaged = UInt32(clamping: desk.vault.damagedCount)
            health.ownerless = desk.vault.storesOfNobody.prefix(Limits.page)
                .map { Health.Ownerless(store: $0.id.bytes) }
        case .other: break
        }
        (health.rules, health.rulesReason) = await rulesHealth(for: caller)
        do throws(ScannerFailure) {
            health.readers = try await fingerprints.readers(mayBeOld: true).prefix(Limits.page)
                .map { Health.Reader(name: $0.name, driver: $0.driver, isInternal: $0.isInternal) }
            health.fingerprints = .works
        } catch {
            switch error {
            case .lost(.missing): health.fingerprints = .missing
            case .lost(let lost):
                health.fingerprints = .fails
                health.fingerprintsReason = Array("\(lost)".utf8)
            case .fault(let fault):
                health.fingerprints = .fails
                health.fingerprintsReason = Array("\(fault)".utf8)
            }
        }
        return health
    }

    private static func path(_ path: String) -> [UInt8] {
        Text.clean(path)
    }

    /// Whether a secret that is made now can be kept out of swap.
    private var memory: Health.Memory {
        let before = SecretBytes.unlockedCount
        guard (try? SecretBytes(count: 32)) != nil, before == 0,
            SecretBytes.unlockedCount == 0
        else { return .unlocked }
        return .locked
    }

    private func clock(for caller: Caller) -> Health.Clock {
        let seen =
            switch caller.standing {
            case .root, .privateOwner: desk.vault.lastTimeKnown
            case .other: desk.vault.lastTimeKnown(of: caller.credentials.uid)
            }
        let reading = ClockReading(
            now: Clock.wallSeconds(), builtAt: BuildDate.seconds, lastKnown: seen)
        return switch reading.doubt {
        case nil: .believed
        case .beforeBuild: .beforeBuild
        case .jumped: .jumped
        }
    }

    /// Asks the rules worker with a rule that the candidate meets, in the caller's own line.
    private func rulesHealth(for caller: Caller) async -> (Health.Worker, [UInt8]) {
        guard let text = try? SecretBytes(copying: Array("doctor".utf8).span),
            let candidate = try? TypedPasscode(text)
        else {
            return (.fails, Array("outOfMemory".utf8))
        }
        let findings = await ruleWorker.judge(
            candidate, asking: [.init(kind: .matches, pattern: Array("o".utf8))],
            for: RuleAsker(isTrusted: false, uid: caller.credentials.uid), .nothing)
        return switch findings.first {
        case .satisfied: (.works, [])
        case .unmetBecause(.cannotRun(.noWorker)): (.missing, [])
        case .unmetBecause(.cannotRun(let fault)): (.fails, Array("\(fault)".utf8))
        case .unmet, .unmetBecause(.dictionary), .notChecked, nil: (.fails, Array("nonsense".utf8))
        }
    }
}

extension Vault {
    var machineKeyHealth: Health.MachineKey {
        if machine != nil { return .good }
        guard machineTrouble == nil || machineTrouble == .machineKeyMissing else {
            return .unreadable
        }
        return all.isEmpty ? .none : .missing
    }

    var count: Int { all.count }

    var damagedCount: Int {
        all.count { host in
            switch host.health {
            case .live, .erased, .barred: host.records.damage != nil || host.records.marked > 0
            case .damaged: true
            }
        }
    }

    /// The latest time that any store has noted; 0 if none has.
    var lastTimeKnown: UInt64 { all.map(\.clock.lastKnown).max() ?? 0 }

    func lastTimeKnown(of uid: UInt32) -> UInt64 {
        stores(of: uid).map(\.clock.lastKnown).max() ?? 0
    }
}
