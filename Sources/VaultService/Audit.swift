internal import CSystemd
import Posix
import Wire

/// One structured journal line for each thing that matters. Never a secret, never the length of
/// one; a user name only where it belongs to an account with a store, because people type passwords
/// at the login prompt.
@LoopActor
final class Audit {
    enum Event: String, Sendable {
        case attempt, unlock, lock, change, refusal, erase, create, session, policy, start, stop,
            fault
    }

    private struct Bucket {
        var tokens: Double
        var at: UInt64
        var suppressed: UInt64
    }

    private let toStandardError: Bool
    private var buckets: [UInt32: Bucket] = [:]

    init(toStandardError: Bool) {
        self.toStandardError = toStandardError
    }

    private static let burst = 40.0
    private static let perSecond = 2.0

    func note(
        _ event: Event, _ text: String, store: String? = nil, person: Person? = nil,
        service: [UInt8] = [],
        code: Code? = nil, uid: UInt32? = nil
    ) {
        guard let suppressed = admit(Self.bucket(uid, person)) else { return }
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

    /// Whose lines are counted. Root speaks for everybody, so there it is the person's; the daemon's own lines are
    /// nobody's, and never swallowed.
    private static func bucket(_ uid: UInt32?, _ person: Person?) -> UInt32? {
        if let uid, uid != 0 { return uid }
        return person?.uid ?? uid
    }

    /// The lines swallowed since the last one of this uid; nil where this one is swallowed too.
    private func admit(_ uid: UInt32?) -> UInt64? {
        guard let uid else { return 0 }
        let now = Clock.bootMilliseconds()
        var bucket = buckets[uid] ?? Bucket(tokens: Self.burst, at: now, suppressed: 0)
        bucket.tokens = min(
            Self.burst, bucket.tokens + Double(now - bucket.at) / 1000 * Self.perSecond)
        bucket.at = now
        defer {
            // Uids come and go; a machine has fewer than this, and an attacker has one.
            if buckets.count > 4096 { buckets.removeAll() }
            buckets[uid] = bucket
        }
        guard bucket.tokens >= 1 else {
            bucket.suppressed += 1
            return nil
        }
        bucket.tokens -= 1
        let swallowed = bucket.suppressed
        bucket.suppressed = 0
        return swallowed
    }
}

extension Audit.Event {
    /// syslog's levels.
    var priority: Int {
        switch self {
        case .erase, .fault: 4
        case .attempt, .refusal, .policy: 5
        case .unlock, .lock, .change, .create, .session, .start, .stop: 6
        }
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
