import Policy
import Posix
import Secrets
import WorkerLinks

/// Where the daemon looks at the machine around it, and how hard it works that machine. A test
/// answers in its place.
struct Edges: Sendable {
    var look: @Sendable (PeerProcess, UInt32) -> Surroundings = {
        Surroundings.look(at: $0, person: $1)
    }
    /// The ids of a person's sessions that are not over, as logind lists them.
    var sessions: @Sendable (UInt32) -> [String] = { Surroundings.sessions(of: $0) }
    /// All sessions and what each seat shows; nil if there is no logind. And one of the sessions.
    var seats: @Sendable () -> SeatNews? = { Surroundings.seats() }
    var seatSession: @Sendable (String) -> SeatSession? = { Surroundings.seatSession($0) }
    /// What polkit says of a process, until that moment and as long as somebody waits for it.
    var polkit:
        @LoopActor @Sendable (PolkitAction, PolkitSubject, UInt64, @LoopActor () -> Bool) async
            -> PolkitAnswer = { await PolkitQuestion.ask($0, $1, until: $2, isWanted: $3) }
    /// Who asks an organisation's servers: at that socket, with so many seconds for each.
    var servers: @LoopActor @Sendable (String, Int) -> any ServerLink = {
        FetchWorker(path: $0, seconds: $1)
    }
    /// How long the answer may take, in milliseconds; then it is unknown.
    var patience: UInt64 = 2_000
    var loginAccount: @Sendable (UInt32) -> LoginAccount.Answer = { LoginAccount.of(uid: $0) }
    /// What the derivation of a new passcode costs by a policy. Tests of flows make thousands of
    /// passcodes, and give less.
    var cost: @Sendable (Policy) -> KeyDerivation.Cost = {
        // The parser's bounds lie within the derivation's.
        (try? KeyDerivation.Cost(
            memoryKiB: UInt32($0.derivationMemory / 1024), passes: $0.derivationPasses))
            ?? .standard
    }
}
