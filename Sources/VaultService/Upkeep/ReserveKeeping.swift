import Posix
import StoreKeeping

/// Keeps the reserve on the disk: makes it when the daemon starts, and again when there is room.
extension Upkeep {
    private static let pause: UInt64 = 30_000

    /// Ends as soon as the reserve is kept. It is called anew when the reserve was given up. Then
    /// it waits first, because the work that needed the room has not taken it yet.
    func keepReserve(after wait: UInt64 = 0) async {
        guard !isKeepingReserve else { return }
        isKeepingReserve = true
        defer { isKeepingReserve = false }
        if wait > 0 { await EventLoop.sleep(until: Clock.bootMilliseconds() + wait) }
        let reserve = desk.vault.reserve
        var told: Result<DiskReserve.Keeping, PosixError>?
        while true {
            let outcome = await desk.vault.workers.slow.run {
                Result { () throws(PosixError) in try reserve.keep() }
            }
            if outcome != told { noteReserve(outcome, isFirst: told == nil) }
            told = outcome
            if outcome == .success(.kept) { return }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.pause)
        }
    }

    private func noteReserve(_ outcome: Result<DiskReserve.Keeping, PosixError>, isFirst: Bool) {
        switch outcome {
        case .success(.kept):
            guard !isFirst else { return }
            desk.audit.note(.start, "there is room on the disk again")
        case .success(.noRoom):
            desk.audit.note(
                .fault, "the disk is nearly full: nothing new is stored", code: .storageFailed)
        case .failure(let error):
            desk.audit.note(.fault, "no room is kept on the disk: \(error)", code: .storageFailed)
        }
    }

    func reserveWasGivenUp() async {
        desk.audit.note(
            .fault, "the disk is full: the room that was kept for such a case is in use",
            code: .storageFailed)
        await keepReserve(after: Self.pause)
    }
}
