internal import CSystemd
import Posix
import StoreKeeping
import Wire
import Words

/// One structured journal line for each thing that matters. Never a secret, never the length of
/// one; a user name only where it belongs to an account with a store, because people type passwords
/// at the login prompt.
@LoopActor
final class Audit {
    private struct Bucket {
        var tokens: Double
        var at: UInt64
        var suppressed: UInt64

        mutating func refill(_ now: UInt64) {
            tokens = min(Audit.burst, tokens + Double(now - at) / 1000 * Audit.perSecond)
            at = now
        }

        /// The bucket is like one that was never used.
        func isFresh(_ now: UInt64) -> Bool {
            var bucket = self
            bucket.refill(now)
            return bucket.tokens == Audit.burst && suppressed == 0
        }
    }

    private let toStandardError: Bool
    private var buckets: [Party: Bucket] = [:]
    /// One bucket for all parties that find the table full.
    private var common: Bucket?
    private var clearedAt: UInt64 = 0
    /// Uids without an account share one bucket: anybody has as many of them as they like.
    var party: @LoopActor (UInt32) -> Party = { .person($0) }

    init(toStandardError: Bool) {
        self.toStandardError = toStandardError
    }

    private nonisolated static let burst = 40.0
    private nonisolated static let perSecond = 2.0
    private static let most = 4096

    func note(
        _ event: AuditEvent, _ text: String, store: String? = nil, person: Person? = nil,
        service: [UInt8] = [],
        code: Code? = nil, uid: UInt32? = nil
    ) {
        guard let suppressed = admit(Self.bucket(uid, person).map { party($0) }) else { return }
        var fields = [
            "MESSAGE=\(text)", "PRIORITY=\(event.priority)", "SYSLOG_IDENTIFIER=appvaultd",
            "APPVAULT_EVENT=\(event.rawValue)",
        ]
        if let store { fields.append("APPVAULT_STORE=\(store)") }
        if let person { fields.append("APPVAULT_USER=\(Text.clean(person.name))") }
        if !service.isEmpty { fields.append("APPVAULT_SERVICE=\(Text.clean(service))") }
        if let code { fields.append("APPVAULT_CODE=\(code.rawValue)") }
        if let uid { fields.append("APPVAULT_PEER_UID=\(uid)") }
        if suppressed > 0 { fields.append("APPVAULT_SUPPRESSED=\(suppressed)") }
        Journal.send(fields)
        if toStandardError {
            Journal.printError(
                "appvaultd: \(text)\(code.map { " (\($0.rawValue))" } ?? "")\(store.map { " [\($0)]" } ?? "")\n"
            )
        }
    }

    /// On whose account a line goes. Root speaks for everybody, so with root it is the person's.
    /// The daemon's own lines are on no account and are never swallowed.
    private static func bucket(_ uid: UInt32?, _ person: Person?) -> UInt32? {
        if let uid, uid != 0 { return uid }
        return person?.uid ?? uid
    }

    /// The lines swallowed since the last one of this party; nil where this one is swallowed too.
    func admit(_ party: Party?) -> UInt64? {
        guard let party else { return 0 }
        let now = Clock.bootMilliseconds()
        let isListed = buckets[party] != nil || hasRoom(now)
        let known = isListed ? buckets[party] : common
        var bucket = known ?? Bucket(tokens: Self.burst, at: now, suppressed: 0)
        bucket.refill(now)
        defer { if isListed { buckets[party] = bucket } else { common = bucket } }
        guard bucket.tokens >= 1 else {
            bucket.suppressed += 1
            return nil
        }
        bucket.tokens -= 1
        let swallowed = bucket.suppressed
        bucket.suppressed = 0
        return swallowed
    }

    /// Makes room by dropping only parties of which nothing has to be remembered. A party that is
    /// being limited stays limited.
    private func hasRoom(_ now: UInt64) -> Bool {
        if buckets.count >= Self.most, now - clearedAt >= 1000 {
            clearedAt = now
            buckets = buckets.filter { !$0.value.isFresh(now) }
        }
        return buckets.count < Self.most
    }
}

enum Journal {
    static func send(_ fields: [String]) {
        var joined: [UInt8] = []
        var ends: [Int] = []
        for field in fields {
            joined += field.utf8
            ends.append(joined.count)
        }
        // SAFETY: every vector lies within `joined`, whose memory stays put inside the closure.
        unsafe joined.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var vectors: [iovec] = unsafe []
            var start = 0
            for end in ends {
                unsafe vectors.append(iovec(iov_base: base + start, iov_len: end - start))
                start = end
            }
            _ = unsafe sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }

    static func printError(_ text: String) {
        StandardError.write(Array(text.utf8))
    }
}
