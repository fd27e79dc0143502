import Fleet
import Policy
import Posix
import Secrets
import StoreKeeping
import Words

/// What the organisation hears of this machine: which rules are in force here, and how its stores
/// stand. Neither a person nor the machine is named but by what the organisation's key makes of it.
struct FleetReport: Equatable, Sendable {
    private struct Field: Equatable {
        var name: String
        var value: String
    }

    private var fields: [Field]

    init(of join: Join, machine: OrderTarget?, _ numbers: [MachineReport.Number: UInt64]) {
        fields = [
            Field(name: "MESSAGE", value: "a machine of \(join.organisation)"),
            Field(name: "MESSAGE_ID", value: MachineReport.messageID),
            Field(name: "PRIORITY", value: "6"),
            Field(name: "SYSLOG_IDENTIFIER", value: "appvaultd"),
        ]
        add(.organisation, join.organisation)
        add(.machine, machine?.text ?? "")
        add(.release, Software.version)
        for number in MachineReport.Number.allCases {
            fields.append(Field(name: number.rawValue, value: String(numbers[number] ?? 0)))
        }
    }

    mutating func add(agreed: [String]) {
        var text = ""
        for line in agreed where text.utf8.count + line.utf8.count < MachineReport.mostAgreed {
            text += (text.isEmpty ? "" : ";") + line
        }
        fields.append(Field(name: MachineReport.agreed, value: text))
    }

    mutating func add(_ words: MachineReport.Words, _ value: String) {
        fields.append(Field(name: words.rawValue, value: value))
    }

    /// One entry in the journal's export format.
    func render() -> [UInt8] {
        var entry: [UInt8] = []
        for field in fields {
            entry += Array("\(field.name)=".utf8)
            entry += Text.clean(field.value, limit: MachineReport.mostAgreed)
            entry.append(0x0A)
        }
        entry.append(0x0A)
        return entry
    }
}

extension FleetFlow {
    func report(of join: Join, _ problem: Refusal?) async throws(Refusal) -> FleetReport {
        var numbers = await standing()
        let orders = desk.orders
        orders.countDays()
        numbers[.offlineDays] = UInt64(orders.days.days)
        (numbers[.policyVersion], numbers[.ordersVersion]) = (
            orders.policyVersion, orders.mark.version
        )
        numbers[.signed] = orders.signed
        let owners = Set(desk.vault.all.map(\.owner))
        numbers[.consentsDue] = UInt64(
            owners.count { !orders.agreements(of: $0).due(orders.consents).isEmpty })
        var report = FleetReport(of: join, machine: try target(join), numbers)
        report.add(agreed: try agreed(owners, join))
        report.add(.problem, problem?.message.english ?? "")
        return report
    }

    /// How many of this machine's stores there are, and how many of them stand so.
    private func standing() async -> [MachineReport.Number: UInt64] {
        var numbers: [MachineReport.Number: UInt64] = [:]
        var stores = 0
        func count(_ number: MachineReport.Number) { numbers[number, default: 0] += 1 }
        for host in desk.vault.all {
            let inForce = await desk.policyAnswer(for: host.owner, host).policy
            stores += 1
            count(.stores)
            switch host.currentLock(inForce.policy) {
            case .retryLocked: count(.retryLocked)
            case .barred: count(.locked)
            case .erased where host.isWiped: count(.wiped)
            case .locked, .unlocked, .absent, .erased, .damaged, .ownerChanged: break
            }
            let isUsable = host.isUsable && desk.knowledge(of: host.owner) == .known
            if isUsable, isDue(host, inForce) { count(.due) }
            // Others are served meanwhile, however many stores there are.
            if stores.isMultiple(of: 16) { await Task.yield() }
        }
        return numbers
    }

    private func isDue(_ host: StoreHost, _ inForce: PolicyInForce) -> Bool {
        let policy = inForce.policy
        return !host.due(inForce, readers.hardware(policy), host.compliance(policy)).flows.isEmpty
    }

    /// People are called as in orders.
    private func agreed(_ owners: Set<Person>, _ join: Join) throws(Refusal) -> [String] {
        let signIn = desk.orders.signIn
        guard !desk.orders.consents.items.isEmpty || signIn != nil else { return [] }
        var lines: [String] = []
        for person in owners.sorted(by: { $0.uid < $1.uid }) {
            let said = desk.orders.agreements(of: person)
            var answers = desk.orders.consents.items.map { ($0.id, said.answer(to: $0)) }
            if let signIn { answers.append((SignIn.id, said.signedIn(signIn))) }
            let target = try called(join) { (key) throws(SecretsError) in
                try key.person(person.name)
            }
            for case (let id, let answer?) in answers {
                let word = answer.agrees ? "yes" : "no"
                lines.append("\(target.text) \(id) \(answer.version) \(word) \(answer.at)")
            }
        }
        return lines
    }

    /// What this machine is called by whoever has the organisation's key; nil where it has no id.
    private func target(_ join: Join) throws(Refusal) -> OrderTarget? {
        let id = desk.orders.machineID
        guard !id.isEmpty else { return nil }
        return try called(join) { (key) throws(SecretsError) in try key.machine(id) }
    }

    private func called(
        _ join: Join, _ body: (borrowing TargetKey) throws(SecretsError) -> OrderTarget
    ) throws(Refusal) -> OrderTarget {
        do throws(SecretsError) {
            return try body(TargetKey(try SecretBytes(copying: join.targetKey.span)))
        } catch {
            throw .outOfMemory
        }
    }
}
