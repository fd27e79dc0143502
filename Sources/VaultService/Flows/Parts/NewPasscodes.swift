import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// A passcode that was typed twice and that the rules accept.
struct NewPasscode: Sendable {
    let typed: TypedPasscode
    /// Of the rules that it was judged by.
    let digest: [UInt8]

    var coming: ComingPasscode { .own(typed, digest: digest) }
}

/// For whom a new passcode is asked, and what it is compared with.
@LoopActor
struct Entry {
    let person: Person
    /// Nil before the store is made.
    let host: StoreHost?
    /// Of the store that is to be made.
    var policyKey = Vault.defaultName
    let exchange: any Conversation
    /// What opened the store in this exchange. Without it, `same` and `history` would be an oracle,
    /// so they are not judged.
    var opening: Opening?
    /// An empty answer goes on without a passcode.
    var maySkip = false

    /// How far a candidate has come.
    enum Stage {
        case typed
        /// Typed twice: if nothing speaks against it, it is the passcode.
        case chosen
    }

    var isRecovery: Bool {
        switch opening?.ground {
        case .recovery, .foreign: true
        case .passcode, .device, .finger, .parent, .member, nil: false
        }
    }
}

/// Asks for a new passcode, wherever one is made: shows the rules, takes the passcode, says what it
/// lacks, and asks for it a second time.
@LoopActor
final class NewPasscodes {
    let desk: Desk
    let ruleWorker: RuleWorker

    init(desk: Desk, ruleWorker: RuleWorker) {
        self.desk = desk
        self.ruleWorker = ruleWorker
    }

    private static let rounds = 3

    /// Why a candidate is not taken.
    private enum Objection: Error {
        case refused(Refusal)
        case falls(Judgement)
        case differs
        case skipped
        case gone(ConnectionEnd)
    }

    func askNewPasscode(_ entry: Entry) async throws(Interruption) -> NewPasscode {
        let exchange = entry.exchange
        var policy = try await policyNow(entry)
        let isDrawn = exchange.drawsScreens
        if !isDrawn {
            try await showRules(policy, exchange)
            if entry.maySkip { try await exchange.show(.maySkip) }
        }
        var rounds = exchange.caller.isConversation ? Self.rounds : 1
        // What was not right the last time.
        var wrong: Message?
        while true {
            rounds -= 1
            do throws(Objection) {
                return try await isDrawn
                    ? drawn(entry, &policy, wrong) : candidate(entry, &policy)
            } catch {
                switch error {
                case .refused(let refusal): throw .refused(refusal)
                case .gone(let end): throw .gone(end)
                case .skipped: throw .refused(.skipped)
                case .falls(let judgement):
                    guard rounds > 0 else { throw .refused(Refusal(judgement, policy) ?? .unknown) }
                    wrong = Self.missing(judgement, policy)
                case .differs:
                    guard rounds > 0 else { throw .refused(.noMatch) }
                    wrong = .differ
                }
                if !isDrawn, let wrong { try await exchange.show(wrong, .error) }
            }
        }
    }

    private func candidate(_ entry: Entry, _ policy: inout Policy) async throws(Objection)
        -> NewPasscode
    {
        let new = try await asking(entry.exchange, .chooseNew, .newPasscode)
        if entry.maySkip, new.isEmpty { throw .skipped }
        try await requireGood(new, policy, entry)
        let again = try await asking(entry.exchange, .confirmNew, .confirmPasscode)
        return try await chosen(new, again, entry, &policy)
    }

    /// On one screen: both are typed before either is judged; what it lacks, the screen says while it is
    /// typed.
    private func drawn(
        _ entry: Entry, _ policy: inout Policy, _ wrong: Message?
    ) async throws(Objection) -> NewPasscode {
        let (shown, voice) = (policy, entry.exchange.voice)
        let sheet = Sheet.newPasscode(
            Self.unjudged(shown, voice), maySkip: entry.maySkip, wrong: wrong)
        let typed: [TypedPasscode]
        do throws(Interruption) {
            typed = try await entry.exchange.passcodes(sheet) { draft in
                Self.findings(on: draft, shown, voice)
            }
        } catch {
            throw Self.objection(error)
        }
        if entry.maySkip, typed[0].isEmpty { throw .skipped }
        try await requireGood(typed[0], policy, entry)
        return try await chosen(typed[0], typed[1], entry, &policy)
    }

    /// One that was typed twice.
    private func chosen(
        _ new: TypedPasscode, _ again: TypedPasscode, _ entry: Entry, _ policy: inout Policy
    ) async throws(Objection) -> NewPasscode {
        guard again.matches(new) else { throw .differs }
        // The rules may have changed meanwhile.
        let present: Policy
        do { present = try await policyNow(entry) } catch { throw Self.objection(error) }
        if present.ruleDigest != policy.ruleDigest || entry.isRecovery {
            policy = present
            try await requireGood(new, policy, entry, .chosen)
        }
        return NewPasscode(typed: new, digest: policy.ruleDigest)
    }

    private func requireGood(
        _ new: TypedPasscode, _ policy: Policy, _ entry: Entry, _ stage: Entry.Stage = .typed
    ) async throws(Objection) {
        do throws(Refusal) { try new.requireFit() } catch { throw .refused(error) }
        let judgement: Judgement
        do throws(Refusal) {
            judgement = try await judge(new, policy, entry, stage)
        } catch {
            throw .refused(error)
        }
        guard let obstacle = judgement.obstacle else { return }
        // No candidate is taken any more in this exchange, so asking again is of no use.
        if obstacle.finding == .notChecked(.tooManyCandidates) { throw .refused(.cancelled) }
        throw .falls(judgement)
    }

    private func policyNow(_ entry: Entry) async throws(Interruption) -> Policy {
        try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(
                for: entry.person, key: entry.host?.identity.policyKey ?? entry.policyKey
            ).policy
        }
    }

    private func asking(
        _ exchange: any Conversation, _ message: Message, _ purpose: Ask.Purpose
    ) async throws(Objection) -> TypedPasscode {
        do throws(Interruption) { return try await exchange.askPasscode(message, purpose) } catch {
            throw Self.objection(error)
        }
    }

    private static func objection(_ interruption: Interruption) -> Objection {
        switch interruption {
        case .refused(let refusal): .refused(refusal)
        case .gone(let end): .gone(end)
        }
    }
}

extension Caller {
    /// A person is there who can be asked again.
    var isConversation: Bool {
        switch hello.frontEnd {
        case .terminal, .dialog, .pamAuth, .pamPassword: true
        case .program, .device, .pamSession: false
        }
    }
}
