internal import CFprint
import Posix
import Wire

/// What is said while a reader waits for a finger, and what the touch has come to.
@safe
final class Scan {
    private let exchange: Exchange
    private let reader: Reader
    private let stages: UInt8
    private var signal: gulong = 0
    private var isPlaced = false
    private var isAnswered = false { didSet { deadline = Clock.bootMilliseconds() + Scan.rest } }
    /// nil: each touch has its own time.
    var deadline: UInt64?
    private var touchedAt = Clock.bootMilliseconds()
    var prints: [Print] = []
    /// The touch was compared with every print, and none matched.
    private var isMissed = false
    /// When a finger that is still there is asked to leave.
    private var liftAt: UInt64?
    private static let liftSoon: UInt64 = 500
    /// Milliseconds that a reader has for its rest (some wait for the finger to go) once it has
    /// said what people wait for.
    private static let rest: UInt64 = 2_000

    init(_ exchange: Exchange, _ reader: Reader, stages: UInt8) {
        self.exchange = exchange
        self.reader = reader
        self.stages = stages
        // SAFETY: deinit takes the handler away before this object is gone.
        signal = unsafe appvault_on(
            UnsafeMutableRawPointer(reader.device), "notify::finger-status",
            { data in
                unsafe Unmanaged<Scan>.fromOpaque(data!).takeUnretainedValue().statusChanged()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        unsafe g_signal_handler_disconnect(UnsafeMutableRawPointer(reader.device), signal)
    }

    func tell(_ event: FingerprintScan.Event, _ stage: UInt8, _ retry: FingerprintScan.Retry) {
        exchange.tell(
            FingerprintScan(
                nonce: exchange.nonce, event: event, stage: stage, stages: stages, retry: retry))
    }

    private func statusChanged() {
        let status = unsafe fp_device_get_finger_status(reader.device)
        if status.rawValue & FP_FINGER_STATUS_NEEDED.rawValue != 0 { place() }
    }

    private func place() {
        guard !isPlaced else { return }
        isPlaced = true
        tell(.place, 0, .none)
    }

    /// A touch of an enrolment; the error is ours.
    func touched(_ stage: Int32, _ error: UnsafeMutablePointer<GError>?) {
        touchedAt = Clock.bootMilliseconds()
        place()
        let stage = UInt8(clamping: stage)
        guard let error = unsafe error else { return tell(.stage, stage, .none) }
        switch unsafe Failure.of(error) {
        case .retry(let kind): tell(.retry, stage, kind)
        case .fault: tell(.retry, stage, .general)
        }
    }

    /// The touch was compared; libfprint says it once before its call ends and once with it.
    func compared(_ match: OpaquePointer?) {
        guard !isAnswered, !isMissed else { return }
        guard let match = unsafe match else {
            // Said when the reader has ended: most wait for the finger to go, and the next touch
            // begins without it.
            isMissed = true
            liftAt = Clock.bootMilliseconds() + Scan.liftSoon
            return
        }
        // Who has cancelled opens nothing any more.
        guard exchange.stop.reason == nil else { return }
        isAnswered = true
        let nonce = exchange.nonce
        guard let index = prints.firstIndex(where: { unsafe $0.pointer == match }) else {
            return exchange.fail(.general)
        }
        exchange.answer(
            FingerprintMatched(nonce: nonce, index: UInt8(index)), FingerprintLink.matched)
    }

    /// The reader has ended, with or without an error. What comes behind a comparison is of no
    /// interest: also for one who has cancelled meanwhile the touch counts.
    func ended(_ failure: Failure? = nil) throws(Failure) {
        if isAnswered { return }
        if isMissed {
            isAnswered = true
            return exchange.answer(
                FingerprintNonce(nonce: exchange.nonce), FingerprintLink.noMatch)
        }
        throw failure ?? .fault(.cancelled)
    }

    func wait(for call: Call) {
        // Not every driver says when it is ready.
        let soon = Clock.bootMilliseconds() + 500
        if !isPlaced,
            !MainContext.turn(
                until: soon,
                { unsafe call.result != nil || isPlaced || exchange.stop.reason != nil })
        {
            place()
        }
        while true {
            let end = deadline ?? touchedAt + FingerprintLink.touchWait
            let until = min(end, liftAt ?? end)
            let (wasAnswered, wasMissed) = (isAnswered, isMissed)
            let came = MainContext.turn(until: until) {
                unsafe call.result != nil || exchange.stop.reason != nil
                    || isAnswered != wasAnswered || isMissed != wasMissed
            }
            if unsafe call.result != nil { return }
            if exchange.stop.reason == nil {
                // Answered, or a touch came meanwhile: there is another deadline now.
                if came { continue }
                if until < end {
                    liftAt = nil
                    tell(.retry, 0, .removeFinger)
                    continue
                }
                if deadline == nil, touchedAt + FingerprintLink.touchWait > until { continue }
                exchange.stop.stop(.timedOut)
            }
            return call.finish()
        }
    }
}
