import KeySlots
import Policy
import Posix
import Words

/// The disk that all stores of one person take together, and how much they may. What a commit under way may still
/// take is set aside before it begins: commits of several stores cannot share one rest.
@LoopActor
final class Allotment {
    /// What one of the stores takes.
    private struct Share {
        let bytes: Int
        /// Of these: a log, which can be emptied at any time.
        let log: Int
        weak var records: OpenRecordsQueue?
    }

    /// What a commit may take.
    struct Promise: Sendable {
        let bytes: Int
        /// All that it can need: nothing has to be counted.
        let isAmple: Bool
        /// What is left beside it.
        let rest: Int
        /// What is taken beyond the quota already.
        let excess: Int
    }

    /// Bytes; 0 is no limit.
    private(set) var quota = Int(clamping: Policy.builtIn.storeQuota)
    /// Which reading of the policy says so; nil where that has to be asked for.
    private(set) var reading: Int?
    private(set) var used = 0
    private var shares: [StoreID: Share] = [:]
    private var promised = 0

    func follow(_ policy: Policy, reading: Int?) {
        quota = Int(clamping: policy.storeQuota)
        self.reading = reading
    }

    /// What one of the stores takes from now on.
    func note(_ bytes: Int, log: Int, of store: StoreID, _ records: OpenRecordsQueue) {
        used += bytes - (shares[store]?.bytes ?? 0)
        shares[store] = Share(bytes: bytes, log: log, records: records)
    }

    func forget(_ store: StoreID) {
        used -= shares.removeValue(forKey: store)?.bytes ?? 0
    }

    /// Of somebody without a store.
    var isUnused: Bool { shares.isEmpty && promised == 0 }

    /// Nil is no limit.
    var left: Int? {
        quota == 0 ? nil : max(0, quota - used - promised)
    }

    /// So much of what is left as is needed at the most; nil is no limit. To be ended with `end`.
    func promise(most: Int) -> Promise? {
        guard let left else { return nil }
        let given = min(left, most)
        let excess = max(0, used + promised - quota)
        promised += given
        return Promise(
            bytes: given, isAmple: given == most, rest: left - given, excess: excess)
    }

    /// The commit is over, and `note` knows what the store takes now.
    func end(_ promise: Promise?) {
        promised -= promise?.bytes ?? 0
    }

    /// Where logs of other stores stand in the way of this one; false where there are none.
    func emptyLogs(besides store: StoreID?) async -> Bool {
        let others = shares.filter { $0.key != store && $0.value.log > 0 }
        for share in others.values { await share.records?.emptyLog() }
        return !others.isEmpty
    }

    var refusal: Refusal { .quotaReached(used: used, limit: quota) }
}

/// One number for all stores of a person, whatever their policy keys: the one that holds for `default`.
extension Service {
    /// Asks for the person's groups where they make a difference: when a store is opened, and after the policy changed.
    func followQuota(of person: Person) async {
        let reading = policies.reading
        let answer = await people.policy(
            for: person, key: Vault.defaultName, keeps: vault.hasStore(person))
        vault.allotment(of: person).follow(
            answer.policy.policy, reading: answer.isKnown ? reading : nil)
    }

    /// Asks nobody: a `set` waits for no directory service. By the groups that were last known.
    @discardableResult
    func quotaNow(of person: Person) -> Allotment {
        let allotment = vault.allotment(of: person)
        guard allotment.reading != policies.reading else { return allotment }
        let subject = PolicySubject(
            user: person.name, groups: people.lastGroups(of: person) ?? [],
            store: Vault.defaultName)
        allotment.follow(policies.book.inForce(for: subject).policy, reading: policies.reading)
        return allotment
    }
}
