import Posix

/// That somebody may change to which organisation this machine belongs: root, or a person whom polkit
/// has let. Whoever holds one need not be asked again.
@LoopActor
struct FleetLeave {
    let uid: UInt32
    /// For the journal.
    let note: String

    /// Nil for everybody else.
    init?(root caller: Caller) {
        guard caller.isTrusted else { return nil }
        (uid, note) = (caller.credentials.uid, "")
    }

    /// Once the person has agreed to what they saw, and not before.
    static func askingPolkit(
        _ authority: Authority, _ caller: Caller
    ) async throws(Interruption) -> Answer {
        switch try await authority.allows(.join, caller) {
        case .yes: .given(FleetLeave(uid: caller.credentials.uid))
        case .no: .denied
        case .noAgent, .absent: .notAsked
        }
    }

    enum Answer {
        case given(FleetLeave)
        case denied
        /// There is no polkit, or nobody who could ask the person.
        case notAsked
    }

    private init(uid: UInt32) {
        (self.uid, note) = (uid, ", as polkit allows")
    }
}
