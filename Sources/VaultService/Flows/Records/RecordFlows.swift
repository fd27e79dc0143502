import KeySlots
import Policy
import Posix
import SealedStore
import StoreKeeping
import Wire
import Words

/// Records are read and written by their owner alone, never by root for them.
@LoopActor
final class RecordFlows {
    let desk: Desk
    let settling: Settling

    init(desk: Desk, settling: Settling) {
        self.desk = desk
        self.settling = settling
    }

    func openStore(
        _ name: [UInt8], _ caller: Caller, _ least: Member.Role = .reader
    ) async throws(Interruption) -> StoreHost {
        let person = try await desk.person(Subject(), caller)
        if let access = try await desk.shared(with: person, named: name) {
            try access.require(least)
            try await desk.open(access, person)
            return access.host
        }
        guard let host = try desk.ownStore(of: person, named: name) else {
            throw .refused(.doesNotExist(.store))
        }
        if host.isOpen { return host }
        try refusing { () throws(Refusal) in try host.requireUsable() }
        if host.isFollower {
            try await refusingAsync { () async throws(Refusal) in try await host.openAlong() }
            return host
        }
        guard !host.hasPasscode else { throw .refused(.locked) }
        try await settling.openIfNone(host, person)
        return host
    }

    /// Items are asked for by messages of their own.
    private func requireFree(_ name: [UInt8]) throws(Interruption) {
        guard !ItemName.isReserved(name) else { throw .refused(.invalidArgument(.reservedName)) }
    }

    /// The value goes from the slab in which it was opened to `take`, and is stored nowhere else.
    /// Returns the records that it is from.
    func get(
        _ record: Record, for caller: Caller, _ take: @LoopActor (Span<UInt8>) -> Void
    ) async throws(Interruption) -> OpenRecordsQueue {
        let host = try await openStore(record.store, caller)
        try requireFree(record.name)
        do throws(Refusal) { try await host.value(of: record.name, take) } catch {
            throw .refused(error)
        }
        return host.records
    }

    /// The same where there is nothing to wait for; nil where there is, and then nothing was taken.
    func getNow(
        _ record: Record, for caller: Caller, _ take: @LoopActor (Span<UInt8>) -> Void
    ) throws(Interruption) -> OpenRecordsQueue? {
        guard let person = caller.account,
            let host = try desk.ownStore(of: person, named: record.store), host.isOpen,
            !host.isShared
        else { return nil }
        try requireFree(record.name)
        do throws(Refusal) {
            return try host.valueNow(of: record.name, take) ? host.records : nil
        } catch {
            throw .refused(error)
        }
    }

    func set(_ record: Record, _ value: WipedBuffer, for caller: Caller) async throws(Interruption)
    {
        let host = try await openStore(record.store, caller, .writer)
        try requireFree(record.name)
        desk.quotaNow(of: host.owner)
        try await refusingAsync { () async throws(Refusal) in
            try await host.change(.set(name: record.name, value: value))
        }
    }

    func delete(_ record: Record, for caller: Caller) async throws(Interruption) {
        let host = try await openStore(record.store, caller, .writer)
        try requireFree(record.name)
        try await refusingAsync { () async throws(Refusal) in
            try await host.change(.delete(name: record.name))
        }
    }

    func list(
        _ list: List, for caller: Caller
    ) async throws(Interruption) -> (page: Records.Page, of: OpenRecordsQueue, opening: Int) {
        let host = try await openStore(list.store, caller)
        let keyGeneration = host.keyGeneration
        guard list.cursor == 0 || caller.isListing(host.id, under: keyGeneration) else {
            throw .refused(.busy)
        }
        let page = try await refusingAsync { () async throws(Refusal) in
            let page = try await host.names(prefix: list.prefix, cursor: list.cursor)
            guard list.cursor == 0 || host.keyGeneration == keyGeneration else { throw .busy }
            return page
        }
        caller.lists(host.id, under: host.keyGeneration)
        if host.records.note(page.damaged) { desk.noteDamage(host, caller) }
        return (page, host.records, host.records.opening)
    }
}
