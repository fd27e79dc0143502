import Fleet
import Policy
import Posix
import Secrets
import StoreKeeping
import Words

/// What the organisation hears of this machine: which rules are in force here, and how its stores
/// stand. Neither a person nor the machine is named but by what the organisation's key makes of it.
struct FleetReport: Sendable {
    /// Of all of them, so that a journal is searched for it.
    static let messageID = "6b1fae4e0c7c4f6f9d1f0d6c55b1a7f3"

    private var fields: [(name: String, value: String)]

    init(of join: Join, machine: OrderTarget?) {
        fields = [
            ("MESSAGE", "a machine of \(join.organisation)"), ("MESSAGE_ID", Self.messageID),
            ("PRIORITY", "6"), ("SYSLOG_IDENTIFIER", "appvaultd"),
            ("APPVAULT_ORGANISATION", join.organisation),
            ("APPVAULT_MACHINE", machine?.text ?? ""), ("APPVAULT_RELEASE", Software.version),
        ]
    }

    mutating func add(_ name: String, _ value: some CustomStringConvertible) {
        fields.append(("APPVAULT_" + name, value.description))
    }

    /// One entry in the journal's export format.
    func render() -> [UInt8] {
        fields.flatMap { field in Array("\(field.name)=".utf8) + Text.clean(field.value) + [0x0A] }
            + [0x0A]
    }
}

extension FleetFlow {
    func report(of join: Join, _ problem: Refusal?) async throws(Refusal) -> FleetReport {
        let (folder, machineID) = (folder, machineID)
        let began = try await apart { () throws(Refusal) in
            var report = FleetReport(of: join, machine: try Self.target(join, machineID))
            let (policy, orders) = try Self.kept { () throws(FleetFolder.Fault) in
                (try folder.bundle(.policy)?.manifest, try folder.bundle(.orders)?.manifest)
            }
            report.add("POLICY_VERSION", policy?.version ?? 0)
            report.add("ORDERS_VERSION", (orders ?? policy)?.version ?? 0)
            report.add("SIGNED", max(policy?.signed ?? 0, orders?.signed ?? 0))
            return report
        }
        var report = began
        for (name, count) in await standing() { report.add(name, count) }
        report.add("PROBLEM", problem?.message.english ?? "")
        return report
    }

    /// How many of this machine's stores there are, and how many of them stand so.
    private func standing() async -> [(name: String, count: Int)] {
        var (stores, due, retryLocked) = (0, 0, 0)
        var (barred, wiped) = (0, 0)
        for host in desk.vault.all {
            let inForce = await desk.policyAnswer(for: host.owner, host).policy
            stores += 1
            switch host.currentLock(inForce.policy) {
            case .retryLocked: retryLocked += 1
            case .barred: barred += 1
            case .erased where host.identity.isWiped: wiped += 1
            case .locked, .unlocked, .absent, .erased, .damaged, .ownerChanged: break
            }
            let isUsable = host.isUsable && desk.knowledge(of: host.owner) == .known
            if isUsable, isDue(host, inForce) { due += 1 }
            // Others are served meanwhile, however many stores there are.
            if stores.isMultiple(of: 16) { await Task.yield() }
        }
        desk.orders.countDays()
        return [
            ("STORES", stores), ("DUE", due), ("RETRY_LOCKED", retryLocked), ("LOCKED", barred),
            ("WIPED", wiped), ("OFFLINE_DAYS", Int(desk.orders.days.days)),
        ]
    }

    private func isDue(_ host: StoreHost, _ inForce: PolicyInForce) -> Bool {
        let policy = inForce.policy
        return !host.due(inForce, readers.hardware(policy), host.compliance(policy)).flows.isEmpty
    }

    /// What this machine is called by whoever has the organisation's key; nil where it has no id.
    private nonisolated static func target(
        _ join: Join, _ file: String
    ) throws(Refusal) -> OrderTarget? {
        guard let text = try? TextFile.read(at: file, limit: 64) else { return nil }
        let id = Array(text.prefix { $0 != 0x0A })
        guard !id.isEmpty else { return nil }
        do throws(SecretsError) {
            let key = TargetKey(try SecretBytes(copying: join.targetKey.span))
            return try key.machine(id)
        } catch {
            throw .outOfMemory
        }
    }
}
