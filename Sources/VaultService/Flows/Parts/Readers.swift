import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// A reader that is there, and the enrolled fingers that it can recognise.
struct FingerTarget: Sendable {
    let reader: FingerprintReader
    let fingers: [EnrolledFinger]
}

/// Decides which reader is asked for which fingers, or why none is.
@LoopActor
final class Readers {
    let desk: Desk
    let lookout: Lookout
    let fingerprints: any FingerScanner
    let fingerSeat: FingerSeat

    enum FingerAnswer<Found> {
        case found(Found)
        case refused(NoFinger)
    }

    init(desk: Desk, lookout: Lookout, fingerprints: any FingerScanner, fingerSeat: FingerSeat) {
        self.desk = desk
        self.lookout = lookout
        self.fingerprints = fingerprints
        self.fingerSeat = fingerSeat
    }

    /// Why no finger can be asked for, as far as this is known without the reader and before any
    /// other request is kept from it.
    func noFinger(
        _ purpose: FingerPurpose, _ visit: Visit, isSwitchedOff: Bool = false
    ) async -> NoFinger? {
        let input = fingerInput(purpose, visit, isSwitchedOff: isSwitchedOff)
        if let why = obstacleToFinger(of: input, visit.inForce) { return why }
        return await absence(visit)
    }

    /// Why it is not known that the person is at the reader now; nil if it is known.
    func absence(_ visit: Visit) async -> NoFinger? {
        let seen = await lookout.sighting(visit.caller, visit.person, visit.policy)
        return obstacleToFinger(at: lookout.circumstances(visit.caller, visit.person, seen))
    }

    /// The enrolled fingers whose files can be read.
    func enrolledFingers(_ visit: Visit) async -> [EnrolledFinger] {
        let found = try? await visit.host.enrolledFingers()
        for number in found?.damaged ?? [] {
            desk.audit.note(
                .fault, "finger \(number) is damaged and not used", store: visit.host.id.description
            )
        }
        return found?.fingers ?? []
    }

    /// Picks a reader from those that are there now.
    func fingerTarget(
        _ purpose: FingerPurpose, _ enrolled: [EnrolledFinger], _ policy: Policy
    ) async -> FingerAnswer<FingerTarget> {
        let places = enrolled.map { FingerPlace(reader: $0.reader, port: $0.port) }
        var readers: [FingerprintReader] = []
        let known: FingerReaders
        do throws(ScannerFailure) {
            readers = try await fingerprints.readers(mayBeOld: false)
            known = .found(readers.map(\.facts))
        } catch {
            switch error {
            case .fault(.busy): known = .busy
            case .fault(.noReader): known = .found([])
            case .fault, .lost: known = .workerMissing
            }
        }
        var lid = Lid.unknown
        if readers.contains(where: \.isInternal) { lid = await desk.directory.lid() }
        switch fingerPick(purpose, places, among: known, lid, policy) {
        case .passcode(let why): return .refused(why)
        case .ask(let pick):
            return .found(
                FingerTarget(
                    reader: readers[pick.reader], fingers: pick.fingers.map { enrolled[$0] }))
        }
    }

    func fingerInput(
        _ purpose: FingerPurpose, _ visit: Visit, isSwitchedOff: Bool, uncounted: UInt32 = 0
    ) -> FingerInput {
        let host = visit.host
        let failures = UInt32(host.snapshot.terms.fingerFailures)
        return FingerInput(
            purpose: purpose, isSwitchedOff: isSwitchedOff,
            knowledge: desk.knowledge(of: visit.person),
            store: FingerStore(
                state: host.passcodeState, isRetryLocked: host.isRetryLocked(visit.policy),
                due: host.due(visit.inForce, hardware(visit.policy)).flows,
                failures: failures > uncounted ? failures - uncounted : 0,
                resident: host.residentAge(visit.policy)),
            lid: .unknown, readers: .found([]), enrolled: [])
    }

    /// By the readers that were found last.
    func hardware(_ policy: Policy) -> Hardware {
        let readers = fingerprints.lastReaders
        if readers.isEmpty { return .none }
        return switch policy.fingerprintReaders {
        case .internal: readers.contains(where: \.isInternal) ? .readerUsable : .onlyExternal
        case .any: .readerUsable
        }
    }

    /// Looks for readers, if the policy makes it matter whether there is one.
    func lookForReaders(_ policy: Policy) async {
        guard policy.allowFingerprint else { return }
        _ = try? await fingerprints.readers(mayBeOld: true)
    }

    // MARK: prints on chips

    private struct Leaving {
        let number: UInt64
        /// Whose it was; nil for a store that a login would have made.
        let store: StoreID?
        let finger: EnrolledFinger
        /// The journal knows that it is still there: each try again is not worth a line.
        var isNoted = false
    }

    /// Prints that have to go from a reader's chip and are still there, oldest first.
    private var leaving: [Leaving] = []
    private var leavingNumber: UInt64 = 0
    private var isDropping = false
    private(set) var isRetryingLeaving = false
    private static let mostLeaving = 32
    /// A person has ten fingers.
    private static let mostOfOneStore = 10
    /// Readers that have not deleted a print, and when. A reader that hangs takes its time with
    /// each print, and all others wait for it.
    private var failures: [(at: ReaderChoice, moment: UInt64)] = []
    /// Milliseconds until such a reader is asked again.
    var pause: UInt64 = 10_000

    /// Deletes prints on the readers' chips, too. What fails is tried again when a reader is used
    /// the next time.
    func forgetOnChips(_ fingers: [EnrolledFinger], of store: StoreID?) {
        for finger in fingers where finger.isOnChip {
            leavingNumber += 1
            leaving.append(Leaving(number: leavingNumber, store: store, finger: finger))
            limitLeaving(store)
        }
        retryLeaving()
    }

    var hasLeaving: Bool { !leaving.isEmpty }

    /// Each store has a share, so that no person pushes out what others left.
    private func limitLeaving(_ store: StoreID?) {
        let own = leaving.filter { $0.store == store }.count
        var crowded = store
        if own <= Self.mostOfOneStore {
            guard leaving.count > Self.mostLeaving else { return }
            let counts = Dictionary(grouping: leaving, by: \.store).mapValues(\.count)
            guard let most = counts.max(by: { $0.value < $1.value }) else { return }
            crowded = most.key
        }
        guard let oldest = leaving.firstIndex(where: { $0.store == crowded }) else { return }
        leaving.remove(at: oldest)
        desk.audit.note(
            .fault, "too many deleted prints are still on readers' chips; one is not tried again",
            store: crowded?.description)
    }

    /// For none of these does a person wait.
    func retryLeaving() {
        guard !leaving.isEmpty, !isRetryingLeaving else { return }
        isRetryingLeaving = true
        EventLoop.shared.task {
            defer { self.isRetryingLeaving = false }
            _ = try? await self.fingerprints.readers(mayBeOld: true)
            await self.dropLeaving { _ in true }
        }
    }

    /// Before an enrolment: what is left on this reader's chip would keep the finger from it.
    func dropLeaving(on reader: FingerprintReader, _ run: FingerRun) async {
        await dropLeaving { place in !run.isOver && place == reader.choice }
    }

    /// A reader that is not there is not asked, and one that has just failed has a pause.
    private func dropLeaving(_ isWanted: (ReaderChoice) -> Bool) async {
        guard !isDropping else { return }
        isDropping = true
        defer { isDropping = false }
        for number in leaving.map(\.number) {
            guard let one = leaving.first(where: { $0.number == number }),
                let place = presentPlace(of: one.finger), isWanted(place), !hasPause(place)
            else { continue }
            let failure = await deleteOnChip(one.finger)
            guard let index = leaving.firstIndex(where: { $0.number == number }) else { continue }
            var left = leaving.remove(at: index)
            guard failure != nil else { continue }
            failures.append((place, Clock.bootMilliseconds()))
            if !left.isNoted {
                desk.audit.note(.fault, "a deleted print is still on a reader's chip")
            }
            left.isNoted = true
            // Behind the others, so that it does not keep them there.
            leaving.append(left)
        }
    }

    private func hasPause(_ place: ReaderChoice) -> Bool {
        let now = Clock.bootMilliseconds()
        failures.removeAll { now >= $0.moment + pause }
        return failures.contains { $0.at == place }
    }

    /// Why the print is still on its chip; nil where it is not. No reader takes a print that is none
    /// of its own.
    func deleteOnChip(_ finger: EnrolledFinger) async -> ScannerFailure? {
        do throws(ScannerFailure) {
            let place = presentPlace(of: finger)
            try await fingerprints.delete(
                finger.print, at: place ?? ReaderChoice(id: finger.reader, port: finger.port))
            return nil
        } catch {
            return error == .fault(.badTemplate) || error == .fault(.notStored) ? nil : error
        }
    }

    /// Where the finger's reader is now: it is the same one at another port. Nil where it is not
    /// there, or it is not known which one it is.
    private func presentPlace(of finger: EnrolledFinger) -> ReaderChoice? {
        let alike = fingerprints.lastReaders.filter { $0.id == finger.reader }
        let exact = alike.first { $0.port == finger.port }
        return (exact ?? (alike.count == 1 ? alike.first : nil))?.choice
    }

    /// A finger is gone that no new one came for. Where it was the last one, fingers are off.
    func endWithoutFinger(_ host: StoreHost) async {
        guard (try? await host.turnOffWithoutFingers()) == true else { return }
        desk.audit.note(
            .change, "the fingerprint was turned off: no finger is left",
            store: host.id.description, person: host.owner)
    }

    /// An enrolled finger, and whose.
    struct Owned: Sendable {
        var store: StoreID
        var account: [UInt8]
        var finger: EnrolledFinger

        func isSame(as other: Owned) -> Bool {
            store == other.store && finger.isSame(as: other.finger)
        }
    }

    struct Prints: Sendable {
        var owned: [Owned] = []
        /// Why those of a store could not be read.
        var unread: Refusal?
    }

    /// All prints of this machine's stores that lie on this reader's chip; those of `first` before
    /// the others. Of several readers with one id each has those that were enrolled at its port.
    func prints(on reader: FingerprintReader, first: StoreID? = nil) async -> Prints {
        let alike = fingerprints.lastReaders.filter { $0.id == reader.id }
        return await prints(of: reader.id, first: first) { finger in
            finger.port == reader.port || !alike.contains { $0.port == finger.port }
        }
    }

    /// All prints that lie on the chip of a reader with this id.
    func prints(
        of id: [UInt8], first: StoreID? = nil,
        where isThere: (EnrolledFinger) -> Bool = { _ in true }
    ) async -> Prints {
        var found = Prints()
        for host in desk.vault.all where host.isUsable && host.fingerprintIsOn {
            let fingers: [EnrolledFinger]
            do throws(Refusal) { fingers = try await host.enrolledFingers().fingers } catch {
                found.unread = error
                continue
            }
            let owned = fingers.filter { $0.isOnChip && $0.reader == id && isThere($0) }.map {
                Owned(store: host.id, account: host.identity.account, finger: $0)
            }
            found.owned = host.id == first ? owned + found.owned : found.owned + owned
        }
        return found
    }

    /// What a chip holds.
    struct Chip: Equatable, Sendable {
        var count = 0
        /// Places in the list of prints that was asked for: those that are on the chip.
        var known: Set<Int> = []

        /// Prints that are not ours; a worker may say anything.
        var foreign: Int { max(0, count - known.count) }
    }

    /// Nil where the reader does not say.
    func chip(
        of reader: FingerprintReader, _ prints: [Owned], _ run: FingerRun
    ) async -> Chip? {
        guard prints.count <= 4 * FingerprintLink.templatesMost else { return nil }
        var chip = Chip()
        var start = 0
        repeat {
            let some = prints[start...].prefix(FingerprintLink.templatesMost)
            guard
                let stored = try? await fingerprints.stored(
                    some.map(\.finger.print), at: reader.choice, run)
            else { return nil }
            chip.count = stored.count
            for print in stored where print.given > 0 && Int(print.given) <= some.count {
                chip.known.insert(start + Int(print.given) - 1)
            }
            start += some.count
        } while start < prints.count
        return chip
    }

    /// Whether the person is known to be at the reader. This does not look at the store: an
    /// enrolment in a login comes just before its passcode is made.
    func isAtReader(_ person: Person, _ policy: Policy, _ caller: Caller) async -> Bool {
        let seen = await lookout.sighting(caller, person, policy)
        return obstacleToFinger(at: lookout.circumstances(caller, person, seen)) == nil
    }
}
