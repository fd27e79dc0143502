import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// What another policy.conf would ask of people, before it is installed.
extension PolicyQueries {
    /// Milliseconds after which a preview asks the directory service no more and uses the groups
    /// that were last known.
    private static let previewPatience: UInt64 = 10_000

    /// Which flows another policy.conf would cause, at which store.
    func previewPolicy(
        _ preview: PolicyPreview, _ text: WipedBuffer, _ caller: Caller
    ) async throws(Interruption) -> Preview {
        let isEverybody = caller.isTrusted && preview.subject.name.isEmpty
        let hosts: [StoreHost]
        if isEverybody {
            hosts = desk.vault.all
        } else {
            let person = try await desk.person(preview.subject, caller)
            hosts = desk.vault.stores(of: person.uid).filter { $0.identity.account == person.name }
        }
        let uid = caller.credentials.uid
        guard checking.insert(uid).inserted else { throw .refused(.busy) }
        defer { checking.remove(uid) }
        let name =
            preview.file.isEmpty ? "policy.conf" : String(decoding: preview.file, as: UTF8.self)
        let file = PolicyFile(name: name, text: text.withBytes(Self.copy))
        let book: PolicyBook
        do throws(PolicyProblem) {
            book = try await desk.policies.read(candidate: file)
        } catch {
            throw .refused(PolicyKeeper.refusal(error))
        }
        let voice = desk.speech.voice(of: caller)
        let deadline = Clock.bootMilliseconds() + Self.previewPatience
        var entries: [Preview.Entry] = []
        for host in hosts {
            entries.append(await entry(host, book, until: deadline, voice))
        }
        var room = ListRoom()
        return Preview(
            total: UInt32(clamping: entries.count),
            stores: room.fitting(entries.sorted(by: Self.isBefore)) {
                $0.owner.count + $0.name.count + $0.flows.count + $0.reason.count
            })
    }

    /// Stores with something to do come first, because a long list may be cut.
    private nonisolated static func isBefore(_ left: Preview.Entry, _ right: Preview.Entry) -> Bool
    {
        if left.flows.isEmpty != right.flows.isEmpty { return right.flows.isEmpty }
        if left.owner != right.owner { return left.owner.lexicographicallyPrecedes(right.owner) }
        return left.name.lexicographicallyPrecedes(right.name)
    }

    private nonisolated static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        bytes.indices.map { bytes[$0] }
    }

    private func entry(
        _ host: StoreHost, _ book: PolicyBook, until deadline: UInt64, _ voice: Voice
    ) async -> Preview.Entry {
        let identity = host.identity
        var entry = Preview.Entry(
            store: host.id.bytes, owner: Array(Text.clean(identity.account).utf8),
            name: identity.storeName,
            flows: [], certainty: .certain, reason: [])
        switch host.health {
        case .live: break
        case .barred(let bar):
            entry.reason = voice.bytes(Refusal.barred(bar).message)
            return entry
        case .erased:
            entry.reason = voice.bytes(host.gone.message)
            return entry
        case .damaged(let what):
            entry.reason = voice.bytes(Refusal.storeDamaged(what).message)
            return entry
        }
        let owner = Person(uid: identity.uid, name: identity.account)
        var groups: [[UInt8]]? = []
        if book.needsGroups {
            groups =
                Clock.bootMilliseconds() < deadline
                ? await desk.people.groups(of: owner) : desk.people.lastGroups(of: owner)
        }
        guard let groups else {
            entry.reason = voice.bytes(Refusal.serviceUnavailable(.groups).message)
            return entry
        }
        let subject = PolicySubject(
            user: identity.account, groups: groups, store: identity.policyKey)
        let inForce = book.inForce(for: subject)
        let due = host.due(inForce, readers.hardware(inForce.policy))
        entry.flows = due.flows.map(\.rawValue)
        switch due.certainty {
        case .certain: entry.certainty = .certain
        case .onlyWhereItFallsShort: entry.certainty = .ifFallsShort
        }
        let changes = book.appChanges(
            since: desk.policies.book, at: host.identity.storeName, for: subject)
        let reasons = [reason(host, inForce, due), changes.phrase].compactMap { $0 }
        // Each is a line at most, and both together are one.
        entry.reason = Text.clean(reasons.map { voice.text($0) }.joined(separator: "; "))
        return entry
    }

    private func reason(_ host: StoreHost, _ inForce: PolicyInForce, _ due: Due) -> Phrase? {
        // The list shows the flows anyway. But without this reason, the person would learn that the
        // recovery key opens nothing only when they need it.
        if host.hasRecovery, !inForce.policy.allowRecoveryKey { return Phrase(.troubleRecoveryOff) }
        switch due {
        case .nothing: return nil
        case .steps(let steps): return steps.first.map { Refusal.changeRequired($0).message }
        }
    }
}

extension [PolicyBook.AppChange] {
    /// So many fit into a line.
    private static var shown: Int { 4 }

    /// Nil if there are none.
    fileprivate var phrase: Phrase? {
        guard !isEmpty else { return nil }
        let phrases = prefix(Self.shown).map { change in
            Phrase(
                .previewApp, .text(String(decoding: change.app, as: UTF8.self)),
                .text(change.values))
        }
        guard count > Self.shown else { return Phrase(.previewApps, .phrases(phrases)) }
        return Phrase(.previewAppsMore, .phrases(phrases), .count(count - Self.shown))
    }
}
