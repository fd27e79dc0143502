import KeySlots
import Policy
import Posix
import Words

/// How much disk all stores of one person take together, and how much they may take. What a commit
/// may add is set aside before it begins, so that commits of several stores do not use the same
/// free space.
@LoopActor
package final class Allotment {
    /// What one of the person's stores takes.
    private struct Share {
        let bytes: Int
        /// How many of these bytes are a log, which can be emptied at any time.
        let log: Int
        weak var records: OpenRecordsQueue?
    }

    /// What a commit may take.
    package struct Promise: Sendable {
        package let bytes: Int
        /// The promise covers all that the commit can need, so nothing has to be counted.
        package let isAmple: Bool
        /// What is left of the quota beside this promise.
        package let rest: Int
        /// By how much the stores exceed the quota already.
        package let excess: Int
    }

    /// In bytes; 0 means no limit.
    package private(set) var quota = Int(clamping: Policy.builtIn.storeQuota)
    /// The reading of the policy that the quota comes from; nil if the policy has to be asked
    /// again.
    package private(set) var reading: Int?
    package private(set) var used = 0
    private var shares: [StoreID: Share] = [:]
    private var promised = 0
    /// Of the indexes of items in the open ones.
    var itemHashes = 0

    package func follow(_ policy: Policy, reading: Int?) {
        quota = Int(clamping: policy.storeQuota)
        self.reading = reading
    }

    /// Notes what one of the stores takes from now on.
    package func note(_ bytes: Int, log: Int, of store: StoreID, _ records: OpenRecordsQueue) {
        used += bytes - (shares[store]?.bytes ?? 0)
        shares[store] = Share(bytes: bytes, log: log, records: records)
    }

    package func forget(_ store: StoreID) {
        used -= shares.removeValue(forKey: store)?.bytes ?? 0
    }

    /// The person has no store, and none is being made.
    package var isUnused: Bool { shares.isEmpty && promised == 0 }

    /// What is left of the quota; nil means no limit.
    package var left: Int? {
        quota == 0 ? nil : max(0, quota - used - promised)
    }

    /// Sets aside at most `most` bytes of what is left; nil means no limit. The caller ends it with
    /// `end`.
    package func promise(most: Int) -> Promise? {
        guard let left else { return nil }
        let given = min(left, most)
        let excess = max(0, used + promised - quota)
        promised += given
        return Promise(
            bytes: given, isAmple: given == most, rest: left - given, excess: excess)
    }

    /// Ends a promise when the commit is over; `note` has the new size by then.
    package func end(_ promise: Promise?) {
        promised -= promise?.bytes ?? 0
    }

    /// Empties the logs of the person's other stores, to make room for this one. False if there are
    /// none.
    package func emptyLogs(besides store: StoreID?) async -> Bool {
        let others = shares.filter { $0.key != store && $0.value.log > 0 }
        for share in others.values { await share.records?.emptyLog() }
        return !others.isEmpty
    }

    package var refusal: Refusal { .quotaReached(used: used, limit: quota) }
}
