import KeySlots
import Posix
import Secrets
import Words

/// A store that one daemon leaves open for the next.
extension StoreHost {
    /// A store that was closed so that the next daemon opens it.
    package struct Leaving {
        package let host: StoreHost
        package let store: HandOver.Store
        fileprivate let opening: Int
        fileprivate let departures: UInt64

        /// False if somebody has locked, opened or erased it after it was closed, or its owner has
        /// left.
        @LoopActor
        package var stands: Bool {
            host.isUsable && host.records.opening == opening && host.departures == departures
        }
    }

    var standingGround: Ground {
        if isFollower { return .parent(proven: nil) }
        if isShared { return .member(proven: nil) }
        return snapshot.passcodes.first.map { .passcode(salt: $0.details.salt) } ?? .device
    }

    /// Closes it, for all requests at once. Nil if it is not open, or is locked while the daemon
    /// waits for its disk: that wins.
    package func leave() async -> Leaving? {
        let opening = records.opening
        let departures = departures
        guard isOpen, isUsable, let keys = await records.keys(), isOpen,
            records.opening == opening
        else { return nil }
        let store = HandOver.Store(
            id: id, lastUse: lastUse, shutAt: shutAt, times: times, ground: standingGround,
            keys: keys, keyGeneration: keyGeneration, ring: ring?.copy)
        // Those that follow it are left one by one.
        await close()
        return Leaving(
            host: self, store: store, opening: opening + 1, departures: departures)
    }

    /// What a finger opens.
    package var leavingResident: HandOver.Resident? {
        guard let resident, isUsable, hasPasscode else { return nil }
        return HandOver.Resident(
            id: id, made: resident.made, times: times, ground: standingGround,
            key: resident.key)
    }

    /// Opens it as the daemon before this one had it open: as every opening does, it checks the
    /// records and their log, and that the slots are the same.
    package func reopen(_ store: HandOver.Store) async throws(Refusal) {
        let ring = store.ring.flatMap { left in try? Ring(of: id, left) }
        try await open(
            store.keys, .recordKeys, store.ground, ring, generation: store.keyGeneration)
        lastUse = store.lastUse
    }

    package func takeResident(_ left: HandOver.Resident) {
        guard resident == nil, fingerprintIsOn, hasPasscode, isUsable,
            (try? require(left.ground)) != nil
        else { return }
        resident = Resident(key: left.key, made: left.made)
        whenResident?(self)
    }
}
