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
        var finger: EnrolledFinger
        /// The journal knows that it is still there: each try again is not worth a line.
        var isNoted = false
    }

    /// Prints that have to go from a reader's chip and are still there, oldest first.
    private var leaving: [Leaving] = []
    private var isDropping = false
    private static let mostLeaving = 32

    /// Deletes prints on the readers' chips, too. What fails is tried again when a reader is used
    /// the next time.
    func forgetOnChips(_ fingers: [EnrolledFinger]) {
        leaving = (leaving + fingers.map { Leaving(finger: $0) }).suffix(Self.mostLeaving)
        retryLeaving()
    }

    func retryLeaving() {
        guard !leaving.isEmpty, !isDropping else { return }
        EventLoop.shared.task { await self.dropLeaving() }
    }

    func dropLeaving() async {
        guard !isDropping else { return }
        isDropping = true
        defer { isDropping = false }
        let first = leaving
        leaving = []
        for var one in first {
            if await deleteOnChip(one.finger) == nil { continue }
            if !one.isNoted {
                desk.audit.note(.fault, "a deleted print is still on a reader's chip")
            }
            one.isNoted = true
            leaving.append(one)
        }
    }

    /// Why the print is still on its chip; nil where it is not. No reader takes a print that is none
    /// of its own.
    func deleteOnChip(_ finger: EnrolledFinger) async -> ScannerFailure? {
        do throws(ScannerFailure) {
            try await fingerprints.delete(finger.print, at: place(of: finger))
            return nil
        } catch {
            return error == .fault(.badTemplate) || error == .fault(.notStored) ? nil : error
        }
    }

    /// Where the finger's reader is now: it is the same one at another port.
    private func place(of finger: EnrolledFinger) -> ReaderChoice {
        let alike = fingerprints.lastReaders.filter { $0.id == finger.reader }
        let exact = alike.first { $0.port == finger.port }
        if let found = exact ?? (alike.count == 1 ? alike.first : nil) { return found.choice }
        return ReaderChoice(id: finger.reader, port: finger.port)
    }

    /// An enrolled finger, and whose.
    struct Owned: Sendable {
        var store: StoreID
        var account: [UInt8]
        var finger: EnrolledFinger
    }

    /// All prints of this machine's stores that lie on this reader's chip; those of `first` before
    /// the others.
    func prints(on reader: FingerprintReader, first: StoreID? = nil) async -> [Owned] {
        var found: [Owned] = []
        for host in desk.vault.all where host.fingerprintIsOn {
            let fingers = (try? await host.enrolledFingers())?.fingers ?? []
            let owned = fingers.filter { $0.isOnChip && $0.reader == reader.id }.map {
                Owned(store: host.id, account: host.identity.account, finger: $0)
            }
            found = host.id == first ? owned + found : found + owned
        }
        return found
    }

    /// What a chip holds.
    struct Chip: Sendable {
        var count = 0
        /// Places in the list of prints that was asked for: those that are on the chip.
        var known: Set<Int> = []
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
