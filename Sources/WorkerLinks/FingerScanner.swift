import Posix
import Secrets
import StoreKeeping
import Wire

/// What reads fingers for the flows: the worker process, or a test that plays it.
@LoopActor
package protocol FingerScanner: AnyObject {
    /// As they were found last, without asking.
    var lastReaders: [FingerprintReader] { get }
    func readers(mayBeOld: Bool) async throws(ScannerFailure) -> [FingerprintReader]

    /// One touch, compared with all of these prints.
    func match(
        _ prints: [SecretBox], at reader: ReaderChoice, seconds: UInt8, _ run: FingerRun
    ) async -> FingerEnd
    func enroll(at reader: ReaderChoice, _ run: FingerRun) async -> FingerEnd
    /// From the reader's own chip.
    func delete(_ print: SecretBox, at reader: ReaderChoice) async throws(ScannerFailure)
    /// Everything that is on the reader's chip.
    func clear(at reader: ReaderChoice) async throws(ScannerFailure)
    /// What a reader's chip holds, and which of it is ours.
    func stored(
        _ prints: [SecretBox], at reader: ReaderChoice, _ run: FingerRun
    ) async throws(ScannerFailure) -> [FingerprintStored.Print]

    /// From here on no request gets a reader.
    func beginSleep()
    /// Returns when no request has a reader any more, or after a while.
    func letGo() async
    func wakeUp()
}

package enum ScannerFailure: Error, Equatable {
    /// The reader's own word.
    case fault(FingerprintFault)
    /// The worker's answers cannot be used any more.
    case lost(FingerLost)
}
