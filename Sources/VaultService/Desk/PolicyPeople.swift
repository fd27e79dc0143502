import Policy
import Posix
import StoreKeeping

/// Each person's policy. If it depends on groups, the directory service is asked. If that does not
/// answer, the policy that was in force for this person stays.
@LoopActor
final class PolicyPeople {
    struct Answer: Sendable {
        /// Read whole, with the groups that go with it.
        let book: PolicyBook
        let subject: PolicySubject
        let policy: PolicyInForce
        /// False if the directory service has never said which groups the person is in. Such a
        /// policy is good enough to open a store, but not to set a passcode by.
        let isKnown: Bool
    }

    private struct Known {
        var groups: [[UInt8]]?
        /// The directory service did not name these groups: it knew no such account, and nothing
        /// was known before.
        var isAssumed = false
        /// The policy as it was when the groups were last known.
        var book: PolicyBook
        var reading: Int
        var until: UInt64
        /// By the store's policy key, for this book and these groups.
        var decided: [[UInt8]: PolicyInForce] = [:]
        var saved: [[UInt8]]?

        mutating func decide(_ person: Person, _ key: [UInt8]) -> Answer {
            let subject = PolicySubject(user: person.name, groups: groups ?? [], store: key)
            let policy = decided[key] ?? book.inForce(for: subject)
            if decided.count < 16 { decided[key] = policy }
            return Answer(book: book, subject: subject, policy: policy, isKnown: true)
        }
    }

    private let keeper: PolicyKeeper
    private let directory: Directory
    private let file: GroupsFile
    private let disk: WorkerPool
    private var known: [Person: Known] = [:]
    /// After a silence, nothing is asked before this time: a login has several requests, and must
    /// wait only once.
    private var silentUntil: [Person: UInt64] = [:]
    private var asking: [Person: [CheckedContinuation<Void, Never>]] = [:]

    /// How long an answer is good, in milliseconds.
    private static let fresh: UInt64 = 60_000
    private static let silence: UInt64 = 10_000
    private static let most = 4096

    init(_ keeper: PolicyKeeper, _ directory: Directory, stateFolder: String, disk: WorkerPool) {
        self.keeper = keeper
        self.directory = directory
        file = GroupsFile(stateFolder: stateFolder)
        self.disk = disk
    }

    /// `keeps`: the groups are written down, so that they are known after a restart.
    func policy(for person: Person, key: [UInt8], keeps: Bool) async -> Answer {
        if keeper.book.needsGroups {
            await learn(person)
        } else if known[person]?.reading != keeper.reading {
            take(person, known[person]?.groups, until: 0)
        }
        guard known[person] != nil else {
            // No answer has ever come: treat the person as being in no group.
            let subject = PolicySubject(user: person.name, groups: [], store: key)
            let book = keeper.book
            return Answer(
                book: book, subject: subject, policy: book.inForce(for: subject), isKnown: false)
        }
        if keeps { save(person) }
        return known[person]!.decide(person, key)
    }

    /// Whether the person's policy is certain enough to set a passcode by.
    func isKnown(_ person: Person) -> Bool { known[person] != nil }

    /// The person's groups, asked for if no fresh answer is known; for a policy that is not in
    /// force.
    func groups(of person: Person) async -> [[UInt8]]? {
        await learn(person)
        return known[person]?.groups
    }

    /// The person's groups as last known, without asking the directory service.
    func lastGroups(of person: Person) -> [[UInt8]]? { known[person]?.groups }

    // MARK: groups

    private var numbers: [[UInt8]: (answer: Groups.Number, until: UInt64)] = [:]

    /// As fresh as the groups of a person are.
    func number(ofGroup name: [UInt8]) async -> Groups.Number {
        if let known = numbers[name], Clock.bootMilliseconds() < known.until {
            return known.answer
        }
        let answer = await directory.group(named: name)
        let good =
            switch answer {
            case .found, .none: Self.fresh
            case .unknown: Self.silence
            }
        if numbers.count >= Self.most { numbers.removeAll() }
        numbers[name] = (answer, Clock.bootMilliseconds() + good)
        return answer
    }

    /// Asks if no fresh answer is known. All who wait share one question.
    private func learn(_ person: Person) async {
        let now = Clock.bootMilliseconds()
        if let entry = known[person], entry.reading == keeper.reading, now < entry.until {
            return
        }
        if let end = silentUntil[person], now < end { return }
        if asking[person] != nil {
            return await withCheckedContinuation { asking[person]!.append($0) }
        }
        asking[person] = []
        let answer = await directory.groups(of: person) { answer in
            EventLoop.shared.task { await self.hear(answer, person) }
        }
        await hear(answer, person)
        for waiting in asking.removeValue(forKey: person) ?? [] { waiting.resume() }
    }

    private func hear(_ answer: Groups.Answer, _ person: Person) async {
        switch answer {
        case .found(let groups):
            take(person, groups, until: Clock.bootMilliseconds() + Self.fresh)
            known[person]?.isAssumed = false
        case .none: await hearOfNone(person)
        case .unknown:
            if silentUntil.count >= Self.most { silentUntil.removeAll() }
            silentUntil[person] = Clock.bootMilliseconds() + Self.silence
            if known[person] == nil { await remember(person) }
        }
    }

    /// The directory service knows no such account. An account that only its front end knows is in
    /// no group. But if the account had groups before, the service may have come up only in part,
    /// so the groups stay, also after a restart.
    private func hearOfNone(_ person: Person) async {
        var kept: [[UInt8]]?
        if known[person]?.groups == nil {
            let file = file
            kept = await disk.run { file.read(person) }
        }
        let before = known[person]
        let groups = before?.groups ?? kept
        take(person, groups ?? [], until: Clock.bootMilliseconds() + Self.fresh)
        if groups == nil { known[person]?.isAssumed = true }
        if before?.groups == nil, let kept { known[person]?.saved = kept }
    }

    private func take(_ person: Person, _ groups: [[UInt8]]?, until: UInt64) {
        if known.count >= Self.most, known[person] == nil, let oldest = known.first?.key {
            known[oldest] = nil
        }
        var entry = Known(
            groups: groups, book: keeper.book, reading: keeper.reading, until: until)
        entry.saved = known[person]?.saved
        entry.isAssumed = known[person]?.isAssumed ?? false
        known[person] = entry
        silentUntil[person] = nil
    }

    // MARK: kept on disk

    /// After a restart: the groups that were known before it.
    private func remember(_ person: Person) async {
        let file = file
        let found = await disk.run { file.read(person) }
        guard let found, known[person] == nil else { return }
        let silence = silentUntil[person]
        take(person, found, until: 0)
        known[person]?.saved = found
        silentUntil[person] = silence
    }

    private func save(_ person: Person) {
        guard let entry = known[person], !entry.isAssumed, let groups = entry.groups,
            entry.saved != groups
        else { return }
        known[person]?.saved = groups
        let file = file
        disk.submit { file.write(groups, person) }
    }
}
