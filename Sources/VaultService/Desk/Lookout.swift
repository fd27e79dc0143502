import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import WorkerLinks

/// What the daemon saw of the asking process at one moment.
struct Sighting: Equatable, Sendable {
    var whereabouts: Whereabouts
    /// Who started the process that asks; nil if that is not known.
    var startedBy: UInt32?

    /// Another person's program asks about this person. It is told the same about every person, and
    /// no try is made where another module decides.
    var isAnothers: Bool {
        switch whereabouts {
        case .elsewhere(.anotherPerson), .elsewhere(.agentOfAnother): true
        case .here, .elsewhere: false
        }
    }
}

extension Standing {
    var audience: Audience {
        switch self {
        case .own, .apart: .person
        case .stranger: .stranger
        }
    }

    /// What holds after two looks, one after the other: another person may have come in front
    /// meanwhile.
    func and(_ later: Standing) -> Standing {
        switch (self, later) {
        case (.stranger, _): self
        case (_, .stranger): later
        case (.apart, _): self
        case (.own, _): later
        }
    }
}

/// Sees who is at this machine, and so on which count a try goes.
@LoopActor
final class Lookout {
    let directory: Directory

    init(directory: Directory) {
        self.directory = directory
    }

    /// Looks anew each time, because people come and go.
    func sighting(_ caller: Caller, _ person: Person, _ policy: Policy) async -> Sighting {
        switch caller.standing {
        // At a private daemon its owner counts as root, and no other person uses it.
        case .privateOwner:
            return Sighting(whereabouts: .here(.session), startedBy: caller.credentials.uid)
        case .root, .other: break
        }
        let seen = await directory.surroundings(of: caller.process, person: person.uid)
        // If the peer has left, its pid may have been given to another process before the first
        // look at it.
        let process = caller.process.isHeld || !caller.hasHungUp ? seen.process : nil
        return Sighting(
            whereabouts: whereabouts(
                of: process, person: person.uid, at: seen.machine, logins: policy.loginUnits),
            startedBy: process?.startedBy)
    }

    func circumstances(
        _ caller: Caller, _ person: Person, _ seen: Sighting, typed: Bool = true
    ) -> Circumstances {
        Circumstances(
            peer: caller.standing, service: caller.hello.service, isPAM: caller.isPAM,
            typedAtOurPrompt: typed, remoteHost: caller.hello.remoteHost,
            realUID: caller.hello.realUID, knownUID: seen.startedBy, personUID: person.uid,
            remoteUser: caller.hello.remoteUser, personName: person.name,
            whereabouts: seen.whereabouts)
    }

    /// The count on which a try goes now. From here on the front end is told only what it may know
    /// under this standing.
    func standing(_ visit: Visit, typed: Bool = true) async -> Standing {
        let seen = await sighting(visit.caller, visit.person, visit.policy)
        return standing(of: visit.exchange, visit.person, visit.policy, seen, typed: typed)
    }

    func standing(
        of exchange: any Conversation, _ person: Person, _ policy: Policy, _ seen: Sighting,
        typed: Bool = true
    ) -> Standing {
        let standing = policy.standing(
            circumstances(exchange.caller, person, seen, typed: typed))
        exchange.audience = exchange.caller.isRemote ? .stranger : standing.audience
        return standing
    }

    // MARK: while a finger is asked for

    private static let lookAgain: UInt64 = 300

    /// Ends a scan as soon as it is not known any more that the person is at the reader. A match is
    /// judged by a look of its own, so a touch between two of these looks wins nothing.
    func watchOver(_ run: FingerRun, _ isStillHere: @escaping @LoopActor () async -> Bool) {
        EventLoop.shared.task {
            while !run.isOver {
                await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.lookAgain)
                guard !run.isOver else { return }
                guard await isStillHere() else { return run.stop(.withdrawn) }
            }
        }
    }
}
