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
            await readers.dropLeaving()
            if let end = await refusal(run) { return end }
        }
        let end = await readers.fingerprints.enroll(at: reader.choice, run)
        // A finger that the first touch did not tell, of a chip that did.
        guard case .failed(.duplicate) = end, !hasDeletedFormer, !run.isOver, await deleteFormer()
        else { return end }
        run.say(.heard(Self.again))
        return await readers.fingerprints.enroll(at: reader.choice, run)
    }

    /// Why nothing is enrolled, by one touch that is compared with all prints that the chip should
    /// hold; nil if something may be. A reader that cannot compare is asked to enrol.
    private func refusal(_ run: FingerRun) async -> FingerEnd? {
        guard reader.identifies else { return nil }
        let all = await readers.prints(on: reader, first: host?.id)
            .prefix(FingerprintLink.templatesMost)
        if all.isEmpty { return nil }
        let found = await readers.fingerprints.match(
            all.map(\.finger.print), at: reader.choice, seconds: UInt8(clamping: seconds), run)
        switch found {
        case .matched(let place) where all.indices.contains(all.startIndex + place):
            let owned = all[all.startIndex + place]
            guard owned.store == host?.id else {
                known = .fingerKnownElsewhere
                return .failed(.duplicate)
            }
            guard owned.finger.finger == finger.rawValue else {
                known = .fingerKnown(Finger(rawValue: owned.finger.finger) ?? .unnamed)
                return .failed(.duplicate)
            }
            guard !run.isOver else { return found }
            guard await deleteFormer() else { return .failed(.duplicate) }
        case .noMatch: if run.isOver { return found }
        // The prints are gone from the chip, or the reader compares only where it verifies.
        case .failed(.notStored), .failed(.notSupported), .failed(.badTemplate), .failed(.general):
            break
        case .matched, .enrolled: return .lost(.nonsense)
        case .failed, .lost, .stopped: return found
        }
        run.say(.heard(Self.again))
        return nil
    }

    /// Deletes the print on the chip, and with it the finger: it opens nothing any more.
    private func deleteFormer() async -> Bool {
        guard let former, let host, await readers.deleteOnChip(former) == nil else { return false }
        hasDeletedFormer = true
        try? await host.forgetFinger(former.finger)
        return true
    }

    private static let again = FingerprintScan(
        nonce: [], event: .retry, stage: 0, stages: 0, retry: .removeFinger)
}
