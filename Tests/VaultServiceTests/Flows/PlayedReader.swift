import Posix
import Secrets
import StoreKeeping
import Wire
import WorkerLinks

@testable import VaultService

/// A reader in the machine, whose fingers come when the script says so.
@LoopActor
final class PlayedReader: FingerScanner {
    static let reader = FingerprintReader(
        id: Array("played/1".utf8), driver: Array("played".utf8), name: Array("Played".utf8),
        scan: .press, stages: 1, identifies: true, stores: false, isInternal: true,
        port: Array("1-1".utf8))

    /// Where there is none, nothing is ever asked of it.
    var readers: [FingerprintReader]
    private var waiting: CheckedContinuation<FingerEnd, Never>?
    private(set) var deleted = 0
    private(set) var cleared = 0
    /// Where prints were deleted.
    private(set) var places: [ReaderChoice] = []
    /// What the next deletions fail with.
    var failures: [ScannerFailure] = []
    /// What the deletions fail with once these are over.
    var failsAlways: ScannerFailure?
    private(set) var deletions = 0
    /// What happens while a print is being deleted.
    var whenDeleting: (@LoopActor () async -> Void)?
    /// What its chip holds: places in what is asked for, from 1; 0 for prints that are not ours.
    var held: [UInt8] = []
    /// What is left on it where clearing it fails.
    var heldAfterFailure: [UInt8]?
    /// What the chips of several readers hold, by their ports, or of one that is asked for more
    /// than one request takes.
    var holds: (@LoopActor (ReaderChoice, _ asked: Int) -> [UInt8])?
    /// The worker ends where it is asked about more prints than that: one of them is poisonous.
    var mostStored = Int.max
    /// For how long each match was to wait, and with how many prints it was compared.
    private(set) var waits: [UInt8] = []
    private(set) var compared: [Int] = []
    /// What a scan comes to that is stopped; nil for a worker that does not obey.
    var whenStopped: FingerEnd? = .failed(.cancelled)

    init(isThere: Bool) {
        readers = isThere ? [Self.reader] : []
    }

    var lastReaders: [FingerprintReader] { readers }

    func readers(mayBeOld: Bool) async throws(ScannerFailure) -> [FingerprintReader] {
        lastReaders
    }

    func match(
        _ prints: [SecretBox], at reader: ReaderChoice, seconds: UInt8, _ run: FingerRun
    ) async -> FingerEnd {
        waits.append(seconds)
        compared.append(prints.count)
        return await scan(run)
    }

    func enroll(at reader: ReaderChoice, _ run: FingerRun) async -> FingerEnd { await scan(run) }

    func delete(_ print: SecretBox, at reader: ReaderChoice) async throws(ScannerFailure) {
        deletions += 1
        if let failure = failures.popLast() ?? failsAlways { throw failure }
        await whenDeleting?()
        deleted += 1
        places.append(reader)
    }

    func clear(at reader: ReaderChoice) async throws(ScannerFailure) {
        if let failure = failures.popLast() {
            held = heldAfterFailure ?? held
            throw failure
        }
        held = []
        cleared += 1
    }

    func stored(
        _ prints: [SecretBox], at reader: ReaderChoice, _ run: FingerRun
    ) async throws(ScannerFailure) -> [FingerprintStored.Print] {
        guard prints.count <= mostStored else { throw .lost(.ended) }
        return (holds?(reader, prints.count) ?? held).map {
            FingerprintStored.Print(given: $0, description: [])
        }
    }

    func beginSleep() {}
    func letGo() async {}
    func wakeUp() {}

    private func scan(_ run: FingerRun) async -> FingerEnd {
        if run.isOver { return .failed(.cancelled) }
        if let end = whenStopped { run.whenStopped = { [weak self] in self?.touch(end) } }
        run.say(
            .heard(
                FingerprintScan(nonce: [], event: .place, stage: 0, stages: 0, retry: .none)))
        return await withCheckedContinuation { waiting = $0 }
    }

    /// What the scan under way comes to.
    func touch(_ end: FingerEnd) {
        waiting?.resume(returning: end)
        waiting = nil
    }
}
