import Posix
import Wire

/// All connections: whose share each of them uses, and how long it may take.
@LoopActor
final class Crowd {
    let turns: Turns
    let rooms = Rooms()
    private let book: AccountBook
    private var shares: [Party: Share] = [:]
    private var connections: [ObjectIdentifier: Connection] = [:]
    /// How many connections are not root's.
    private var others = 0
    private var isSweeping = false
    private var asked: Set<UInt32> = []

    private static let sweepEvery: UInt64 = 500

    init(_ book: AccountBook, _ turns: Turns) {
        self.book = book
        self.turns = turns
        EventLoop.shared.inEachPass = { [turns] in LoopActor.assumed { turns.grant() } }
    }

    var isEmpty: Bool { connections.isEmpty }

    // MARK: the end

    /// No connection is served any further than the request that it has made.
    private(set) var isDismissed = false

    /// Ends all connections: those that wait for their peer at once, the others when their request
    /// is answered, or at that moment. Whoever is cut off may ask the next daemon.
    func dismiss(until moment: UInt64) async {
        isDismissed = true
        endWaiting()
        while !isEmpty, Clock.bootMilliseconds() < moment {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 5)
            endWaiting()
        }
        for connection in connections.values { connection.close() }
    }

    /// What a peer has sent already is still answered.
    private func endWaiting() {
        for connection in connections.values where connection.isReading && !connection.hasInput {
            connection.close()
        }
    }

    // MARK: parties

    /// The party of a uid. If nothing is known of it, the directory service is asked meanwhile.
    private func party(of uid: UInt32) -> Party {
        if uid == 0 || uid == ThisProcess.uid { return .root }
        switch book.look(uid) {
        case .person: return .person(uid)
        case .accountless: return .accountless
        case .unknown: return ask(uid) ? .unresolved : .accountless
        }
    }

    /// The party that the uid counts with at this moment. The directory service is not asked.
    func partyNow(of uid: UInt32) -> Party {
        if uid == 0 || uid == ThisProcess.uid { return .root }
        return switch book.look(uid) {
        case .person: .person(uid)
        case .accountless, .unknown: .accountless
        }
    }

    private func share(of party: Party) -> Share {
        if let share = shares[party] { return share }
        let share = Share(party, turns)
        shares[party] = share
        return share
    }

    private func ask(_ uid: UInt32) -> Bool {
        if asked.contains(uid) { return true }
        guard asked.count < Limits.placesWithoutAccount else { return false }
        asked.insert(uid)
        EventLoop.shared.task {
            let answer = await self.book.ask(uid)
            self.asked.remove(uid)
            switch answer {
            case .person: self.settle(uid, as: .person(uid))
            case .accountless, .unknown, nil: self.settle(uid, as: .accountless)
            }
        }
        return true
    }

    private func settle(_ uid: UInt32, as party: Party) {
        for connection in connections.values
        where connection.credentials.uid == uid && connection.home.party == .unresolved {
            let share = share(of: party)
            guard share.places < share.mostPlaces else {
                connection.close()
                continue
            }
            connection.home.places -= 1
            share.places += 1
            connection.move(to: share)
        }
        rooms.admit()
    }

    // MARK: in and out

    enum Place {
        case taken(Share, PlaceKind)
        /// There is no place. `tells`: there is time to tell the peer so.
        case none(tells: Bool)
    }

    /// Whether there is a place for one more connection of this uid.
    func place(for uid: UInt32) -> Place {
        let share = share(of: party(of: uid))
        if !share.isLimited || others < Limits.placesOfOthers {
            if share.places < share.mostPlaces { return .taken(share, .ordinary) }
            // Its greeting will tell what it is.
            if share.hasSpare { return .taken(share, .spare) }
        }
        return .none(tells: turns.hasTime(for: share))
    }

    /// What answers for the desktop's secrets has places beside the others, so that no number of
    /// other programs of the person keeps it out. False if there is no place for this one.
    func settle(_ connection: Connection, isForSecrets: Bool) -> Bool {
        let home = connection.home
        switch (connection.place, isForSecrets) {
        case (.ordinary, false), (.spare, true): break
        case (.ordinary, true):
            guard home.hasSpare else { break }
            home.places -= 1
            home.spares += 1
            connection.place = .spare
        case (.spare, false):
            guard home.places < home.mostPlaces else { return false }
            home.spares -= 1
            home.places += 1
            connection.place = .ordinary
        }
        return true
    }

    private func count(_ connection: Connection, _ change: Int) {
        switch connection.place {
        case .ordinary: connection.home.places += change
        case .spare: connection.home.spares += change
        }
        if connection.home.isLimited { others += change }
    }

    func add(_ connection: Connection) {
        count(connection, 1)
        connections[ObjectIdentifier(connection)] = connection
        sweepLater()
    }

    func remove(_ connection: Connection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        count(connection, -1)
        if connection.isClaimed { connection.share.claims -= 1 }
        rooms.leave(connection)
    }

    /// A program that acts for a person with root's rights (sudo, su) uses that person's turns and
    /// time, and has a limit of its own. Otherwise a person could start so many of them that they
    /// take root's, and nobody could log in. False if that person has too many of them already.
    func claim(_ connection: Connection, by realUID: UInt32) -> Bool {
        guard connection.credentials.uid == 0, realUID != 0 else { return true }
        let party: Party
        switch self.party(of: realUID) {
        case .root: return true
        case .person(let uid): party = .person(uid)
        case .accountless, .unresolved: party = .accountless
        }
        let share = share(of: party)
        guard share.claims < share.mostPlaces else { return false }
        share.claims += 1
        connection.claim(share)
        return true
    }

    // MARK: time

    /// Nothing has to be looked at while all that is left is quiet.
    private var isAtRest: Bool {
        guard connections.values.allSatisfy(\.isQuiet) else { return false }
        let instant = turns.now()
        return shares.values.allSatisfy { $0.isResting(instant) }
    }

    /// To be called when a connection is quiet no more.
    func look() { sweepLater() }

    private func sweepLater() {
        guard !isSweeping, !isAtRest else { return }
        isSweeping = true
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + Self.sweepEvery) {
            LoopActor.assumed { self.sweep() }
        }
    }

    private func sweep() {
        isSweeping = false
        let now = Clock.bootMilliseconds()
        for connection in connections.values { connection.endIfLate(now) }
        let instant = turns.now()
        shares = shares.filter { !$0.value.isForgettable(instant) }
        sweepLater()
    }
}
