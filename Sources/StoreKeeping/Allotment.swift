import KeySlots
import Policy
import Posix
import Words

/// The disk that all stores of one person take together, and how much they may. What a commit under way may still
/// take is set aside before it begins: commits of several stores cannot share one rest.
@LoopActor
package final class Allotment {
    /// What one of the stores takes.
    private struct Share {
        let bytes: Int
        /// Of these: a log, which can be emptied at any time.
        let log: Int
        weak var records: OpenRecordsQueue?
    }

    /// What a commit may take.
    package struct Promise: Sendable {
        package let bytes: Int
        /// All that it can need: nothing has to be counted.
        package let isAmple: Bool
        /// What is left beside it.
        package let rest: Int
        /// What is taken beyond the quota already.
        package let excess: Int
    }

    /// Bytes; 0 is no limit.
    package private(set) var quota = Int(clamping: Policy.builtIn.storeQuota)
    /// Which reading of the policy says so; nil where that has to be asked for.
    package private(set) var reading: Int?
    package private(set) var used = 0
    private var shares: [StoreID: Share] = [:]
    private var promised = 0

    package func follow(_ policy: Policy, reading: Int?) {
        quota = Int(clamping: policy.storeQuota)
        self.reading = reading
    }

    /// What one of the stores takes from now on.
    package func note(_ bytes: Int, log: Int, of store: StoreID, _ records: OpenRecordsQueue) {
        used += bytes - (shares[store]?.bytes ?? 0)
        shares[store] = Share(bytes: bytes, log: log, records: records)
    }

    package func forget(_ store: StoreID) {
        used -= shares.removeValue(forKey: store)?.bytes ?? 0
    }

    /// Of somebody without a store.
    package var isUnused: Bool { shares.isEmpty && promised == 0 }

    /// Nil is no limit.
    package var left: Int? {
        quota == 0 ? nil : max(0, quota - used - promised)
    }

    /// So much of what is left as is needed at the most; nil is no limit. To be ended with `end`.
    package func promise(most: Int) -> Promise? {
        guard let left else { return nil }
        let given = min(left, most)
        let excess = max(0, used + promised - quota)
        promised += given
        return Promise(
            bytes: given, isAmple: given == most, rest: left - given, excess: excess)
    }

    /// The commit is over, and `note` knows what the store takes now.
    package func end(_ promise: Promise?) {
        promised -= promise?.bytes ?? 0
    }

    /// Where logs of other stores stand in the way of this one; false where there are none.
    package func emptyLogs(besides store: StoreID?) async -> Bool {
        let others = shares.filter { $0.key != store && $0.value.log > 0 }
        for share in others.values { await share.records?.emptyLog() }
        return !others.isEmpty
    }

    package var refusal: Refusal { .quotaReached(used: used, limit: quota) }
}
