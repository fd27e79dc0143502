import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// Questions about the policy. A person asks about themselves, root about anybody.
@LoopActor
final class PolicyQueries {
    let desk: Desk
    let readers: Readers
    let ruleWorker: RuleWorker
    /// Uids with a check or a preview under way: each has one at a time.
    var checking: Set<UInt32> = []

    init(desk: Desk, readers: Readers, ruleWorker: RuleWorker) {
        self.desk = desk
        self.readers = readers
        self.ruleWorker = ruleWorker
    }

    // MARK: show

    func showPolicy(_ target: Target, _ caller: Caller) async throws(Interruption) -> PolicyValues {
        let person = try await desk.person(target.subject, caller)
        let host = desk.vault.ownStore(of: person, named: target.store)
        let answer = await desk.policyAnswer(for: person, host)
        var room = ListRoom()
        let values =
            answer.book.values(for: answer.subject) + answer.book.appValues(for: answer.subject)
        return PolicyValues(
            mode: PolicyValues.Mode(answer.policy),
            problem: desk.problem(answer, desk.speech.voice(of: caller)),
            values: room.fitting(values.map(Self.value)) {
                $0.key.count + $0.value.count + $0.file.count
            },
            rules: room.fitting(answer.policy.policy.customRules.map(Self.rule)) {
                $0.name.count + $0.display.count + $0.file.count
            })
    }

    private static func value(_ value: PolicyValue) -> PolicyValues.Value {
        PolicyValues.Value(
            key: Text.clean(value.key),
            value: Text.clean(value.value, limit: Limits.policyText),
            file: Text.clean(value.file, limit: Limits.line), line: UInt32(clamping: value.line),
            actedOn: value.isActedOn)
    }

    private static func rule(_ rule: CustomRule) -> PolicyValues.Rule {
        let kind: PolicyValues.Rule.Kind =
            switch rule.test {
            case .matches: .match
            case .rejects: .reject
            case .dictionary: .dictionary
            }
        return PolicyValues.Rule(
            name: Text.clean(rule.name, limit: Limits.messageID),
            display: Text.clean(rule.display, limit: Limits.line), kind: kind,
            file: Text.clean(rule.file, limit: Limits.line), line: UInt32(clamping: rule.line))
    }

    // MARK: check

    /// What each rule says of a candidate, which is wiped behind it. `same` and `history` are
    /// for a change alone, where the current passcode was typed: here they would tell what it is.
    func checkPolicy(
        _ check: PolicyCheck, _ answer: SecretBox, _ caller: Caller
    ) async throws(Interruption) -> Checklist {
        let person = try await desk.person(check.target.subject, caller)
        let host = desk.vault.ownStore(of: person, named: check.target.store)
        let policy = await desk.policyAnswer(for: person, host).policy.policy
        let candidate = try refusing { () throws(Refusal) in try TypedPasscode(answer) }
        guard check.custom, !policy.customRules.isEmpty else {
            return checklist(candidate.judgement(policy, custom: []), policy, caller)
        }
        // Each candidate takes a process. One at a time is as much as a person types.
        let uid = caller.credentials.uid
        guard checking.insert(uid).inserted else { throw .refused(.busy) }
        defer { checking.remove(uid) }
        // The rules see it as it would be kept; what cannot be kept, no rule sees.
        var custom: [Finding] = []
        if candidate.refusal == nil {
            custom = await ruleWorker.judge(
                candidate, policy.customRules, for: caller.asker(for: person), kind: .apart)
        }
        return checklist(candidate.judgement(policy, custom: custom), policy, caller)
    }

    private func checklist(_ judgement: Judgement, _ policy: Policy, _ caller: Caller) -> Checklist
    {
        let voice = desk.speech.voice(of: caller)
        var room = ListRoom()
        return Checklist(
            entries: room.fitting(
                judgement.entries.map { Checklist.Entry($0, policy, voice) },
                { $0.id.count + $0.wants.count + $0.reason.count }))
    }
}

/// Cuts the lists of an answer, so that they fit in a frame.
struct ListRoom {
    private var left = Limits.frame - 8192

    mutating func fitting<Entry>(_ entries: [Entry], _ size: (Entry) -> Int) -> [Entry] {
        var fitting: [Entry] = []
        for entry in entries.prefix(Limits.page) {
            // 64 for the lengths of the fields and for the numbers beside them.
            left -= size(entry) + 64
            guard left >= 0 else { break }
            fitting.append(entry)
        }
        return fitting
    }
}

extension PolicyValues.Mode {
    init(_ inForce: PolicyInForce) {
        self =
            switch inForce {
            case .administrators: .administrators
            case .standard: .standard
            case .noPasscodeMode: .noPasscodeMode
            }
    }
}
