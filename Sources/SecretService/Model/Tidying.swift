import Posix

/// Gives back what many items or calls have left in the heap, once they are over. Each of them needs
/// more for a moment than stays of it, and this process mostly waits.
@LoopActor
final class Tidying {
    /// Of them, after which it is worth while.
    private static let many = 64
    /// Milliseconds until what they have brought about is over.
    private static let calm: UInt64 = 2_000

    private var noted = 0
    private var isDue = false

    func note(_ count: Int) {
        noted += count
        guard noted >= Self.many, !isDue else { return }
        isDue = true
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.calm)
            self.noted = 0
            self.isDue = false
            ThisProcess.giveBackFreed()
        }
    }
}
