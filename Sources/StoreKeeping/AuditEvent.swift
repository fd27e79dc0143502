/// What a line of the journal is about.
package enum AuditEvent: String, Sendable {
    case attempt, unlock, lock, change, refusal, erase, create, session, policy, start, stop, fault
}

extension AuditEvent {
    /// The level of syslog.
    package var priority: Int {
        switch self {
        case .erase, .fault: 4
        case .attempt, .refusal, .policy: 5
        case .unlock, .lock, .change, .create, .session, .start, .stop: 6
        }
    }
}
