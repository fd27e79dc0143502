import Policy
import Posix
import StoreKeeping

/// The directory service, asked on threads of its own and with a deadline. It may hang; then the
/// answer is "unknown", never "another person". The loop does not wait for it.
@LoopActor
final class Directory {
    // Each has threads of its own, so that a logind that hangs does not block the questions about
    // accounts.
    let accounts: Questions
    fileprivate let lids: Questions
    // More than the connections that root may have at once. None of these questions waits for a
    // service.
    private let surroundings: Questions
    // Anybody can cause these questions, so they do not share a line with those that requests ask.
    private let owners: Questions
    private let memberships: Questions
    // logind's own files, read when it says that something has changed.
    private let seats: Questions
    let edges: Edges

    init(_ edges: Edges) {
        self.edges = edges
        let patience = edges.patience
        accounts = Questions(name: "accounts", patience: patience)
        lids = Questions(name: "lid", patience: patience)
        surroundings = Questions(name: "surroundings", limit: 1024, patience: patience)
        owners = Questions(name: "owners", threads: 1, patience: patience)
        memberships = Questions(name: "groups", threads: 4, patience: patience)
        seats = Questions(name: "seats", threads: 1, patience: patience)
    }

    func account(of uid: UInt32) async -> Accounts.Answer {
        await accounts.ask(otherwise: .unknown) { Accounts.of(uid: uid) }
    }

    /// Asks only whether the uid of a connection has an account.
    func owner(of uid: UInt32) async -> Accounts.Answer {
        await owners.ask(otherwise: .unknown) { Accounts.of(uid: uid) }
    }

    /// An answer that comes too late is given to `late`.
    func groups(
        of person: Person, late: @escaping @LoopActor @Sendable (Groups.Answer) -> Void
    ) async -> Groups.Answer {
        await memberships.ask(otherwise: .unknown, late: late) { Groups.of(person.name) }
    }

    func account(named name: [UInt8]) async -> Accounts.Answer {
        await accounts.ask(otherwise: .unknown) {
            Accounts.named(String(decoding: name, as: UTF8.self))
        }
    }

    func group(named name: [UInt8]) async -> Groups.Number {
        await memberships.ask(otherwise: .unknown) { Groups.number(of: name) }
    }

    /// With the same deadline: what is not known in time is unknown.
    func surroundings(of peer: PeerProcess, person: UInt32) async -> Surroundings {
        await surroundings.ask(otherwise: .unknown) { [look = edges.look] in
            look(peer, person)
        }
    }

    /// When the process began; nil if it has ended.
    func beginning(of peer: PeerProcess) async -> UInt64? {
        await surroundings.ask(otherwise: nil) {
            peer.during { pid in ProcessFacts.beginning(of: pid) }
        }
    }

    func sessions(of uid: UInt32) async -> [String] {
        await surroundings.ask(otherwise: []) { [sessions = edges.sessions] in sessions(uid) }
    }

    /// Nil if nobody can tell.
    func seatView() async -> SeatNews? {
        await seats.ask(otherwise: nil) { [seats = edges.seats] in seats() }
    }

    func seatSession(_ id: String) async -> SeatSession? {
        await seats.ask(otherwise: nil) { [session = edges.seatSession] in session(id) }
    }
}

extension Directory {
    /// Where logind does not answer in time, its signal still comes.
    func sleepIsNear() async -> Bool {
        await lids.ask(otherwise: false) { ComingSleep.isNear() }
    }

    func lid() async -> Lid {
        await lids.ask(otherwise: .unknown) { Seat.lid() }
    }
}

/// Questions to one service, each with a deadline.
@LoopActor
final class Questions {
    private let pool: WorkerPool
    private let limit: Int
    private var inFlight = 0
    private let patience: UInt64

    init(name: String, threads: Int = 2, limit: Int = 64, patience: UInt64) {
        pool = WorkerPool(name: name, threads: threads)
        self.limit = limit
        self.patience = patience
    }

    func ask<Answer: Sendable>(
        otherwise: Answer, late: (@LoopActor @Sendable (Answer) -> Void)? = nil,
        _ question: @escaping @Sendable () -> Answer
    ) async -> Answer {
        // If threads hang in a dead service, do not let more and more questions hang with them.
        guard inFlight < limit else { return otherwise }
        inFlight += 1
        let box = First<Answer>()
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + patience) {
            EventLoop.shared.task { box.settle(otherwise) }
        }
        EventLoop.shared.task {
            let answer = await self.pool.run(question)
            self.inFlight -= 1
            if box.isSettled { late?(answer) } else { box.settle(answer) }
        }
        let answer = await box.value()
        EventLoop.shared.cancel(timer)
        return answer
    }
}
