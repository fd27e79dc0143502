import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// An enrolment at a reader that may keep prints on a chip of its own. Most such chips refuse a
/// finger that they hold already, and some mix up two prints of one finger. So the finger is looked
/// for first among those that are enrolled there, also for other accounts.
@LoopActor
final class ChipEnrolment {
    private let finger: Finger
    private let reader: FingerprintReader
    private let host: StoreHost?
    /// The print that the new one replaces, if the reader's chip holds it.
    private let former: EnrolledFinger?
    private let readers: Readers
    private let seconds: Int

    /// What the person is told of the finger that the first touch matched.
    private(set) var known: Message?
    /// The former print of this finger is gone, whatever comes of the enrolment.
    private(set) var hasDeletedFormer = false
    /// The finger that was read. It is taken by who keeps it.
    var coming: ComingFinger?
    /// A touch has shown whether the finger is one of those that are enrolled.
    private var isCompared = false
    private var isDeleting = false
    private var resting: [CheckedContinuation<Void, Never>] = []

    init(
        _ finger: Finger, at reader: FingerprintReader, of host: StoreHost?,
        _ enrolled: [EnrolledFinger], _ readers: Readers, seconds: Int
    ) {
        self.finger = finger
        self.reader = reader
        self.host = host
        self.readers = readers
        self.seconds = seconds
        former = enrolled.first {
            $0.finger == finger.rawValue && $0.isOnChip && $0.reader == reader.id
        }
    }

    func enroll(_ run: FingerRun) async -> FingerEnd {
        if reader.stores {
            await readers.dropLeaving(on: reader, run)
            if run.isOver { return .failed(.cancelled) }
            if let end = await refusal(run) { return end }
        }
        let end = await readers.fingerprints.enroll(at: reader.choice, run)
        // The chip does not say which finger it means. Where a touch was compared, it is not the
        // former one.
        guard case .failed(.duplicate) = end, !isCompared, !run.isOver, let former,
            await delete(former)
        else { return end }
        run.say(.heard(Self.again))
        return await readers.fingerprints.enroll(at: reader.choice, run)
    }

    /// Why nothing is enrolled, by one touch that is compared with all prints that the chip should
    /// hold; nil if something may be. A reader that cannot compare is asked to enrol.
    private func refusal(_ run: FingerRun) async -> FingerEnd? {
        guard reader.identifies else { return nil }
        let owned = await readers.prints(on: reader, first: host?.id).owned
        guard let (found, all) = await compare(owned, run) else { return nil }
        switch found {
        case .matched(let place) where all.indices.contains(place):
            isCompared = true
            let owned = all[place]
            guard owned.store == host?.id else {
                known = .fingerKnownElsewhere
                return .failed(.duplicate)
            }
            guard owned.finger.finger == finger.rawValue else {
                known = .fingerKnown(Finger(rawValue: owned.finger.finger) ?? .unnamed)
                return .failed(.duplicate)
            }
            guard !run.isOver else { return found }
            guard await delete(owned.finger) else { return .failed(.duplicate) }
        case .noMatch:
            isCompared = true
            if run.isOver { return found }
        // The prints are gone from the chip, or the reader compares only where it verifies.
        case .failed(.notStored), .failed(.notSupported), .failed(.general): break
        case .matched, .enrolled: return .lost(.nonsense)
        case .failed, .lost, .stopped: return found
        }
        run.say(.heard(Self.again))
        return nil
    }

    /// Nil where nothing can be compared. A print can end the worker that parses it, or be refused
    /// by it, and one of another account's must keep nobody from enrolling: then those of this store
    /// alone are compared, and at last none.
    private func compare(_ prints: [Readers.Owned], _ run: FingerRun) async -> (
        FingerEnd, [Readers.Owned]
    )? {
        let own = prints.filter { $0.store == host?.id }
        for some in own.count < prints.count ? [prints, own] : [prints] where !some.isEmpty {
            let all = Array(some.prefix(FingerprintLink.templatesMost))
            let found = await readers.fingerprints.match(
                all.map(\.finger.print), at: reader.choice, seconds: UInt8(clamping: seconds), run)
            guard !run.isOver else { return (found, all) }
            switch found {
            case .lost(.ended), .lost(.nonsense), .failed(.badTemplate): continue
            case .lost, .failed, .matched, .noMatch, .enrolled, .stopped: return (found, all)
            }
        }
        return nil
    }

    /// Deletes the print on the chip, and with it the finger: it opens nothing any more.
    private func delete(_ finger: EnrolledFinger) async -> Bool {
        guard let host else { return false }
        isDeleting = true
        defer {
            isDeleting = false
            for waiting in resting { waiting.resume() }
            resting = []
        }
        guard await readers.deleteOnChip(finger) == nil else { return false }
        hasDeletedFormer = true
        readers.desk.audit.note(
            .change, "a finger was deleted", store: host.id.description, person: host.owner)
        _ = try? await host.forgetFinger(exactly: finger)
        return true
    }

    /// A deletion under way cannot be taken back: until it has ended, nobody can say that nothing
    /// was changed.
    func rest() async {
        if isDeleting { await withCheckedContinuation { resting.append($0) } }
    }

    private static let again = FingerprintScan(
        nonce: [], event: .retry, stage: 0, stages: 0, retry: .removeFinger)
}
