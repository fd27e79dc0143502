import Posix

/// Gives back what many items or calls have left in the heap, once they are over. Each of them needs
/// more for a moment than stays of it, and this process mostly waits.
@LoopActor
final class Tidying {
    /// Of them, after which it is worth while.
    private static let many = 64

    /// Milliseconds until what they have brought about is over.
    private let calm: UInt64
    private let giveBack: () -> Void
    private var noted = 0
    private var isDue = false

    init(
        calm: UInt64 = 2_000, _ giveBack: @escaping () -> Void = { ThisProcess.giveBackFreed() }
    ) {
        (self.calm, self.giveBack) = (calm, giveBack)
    }

    func note(_ count: Int) {
        noted += count
        guard noted >= Self.many, !isDue else { return }
        isDue = true
        EventLoop.shared.task {
            // Once more after the last of them: what came meanwhile has left something, too.
            var before: Int
            repeat {
                before = self.noted
                await EventLoop.sleep(until: Clock.bootMilliseconds() + self.calm)
                self.giveBack()
            } while self.noted != before
            (self.noted, self.isDue) = (0, false)
        }
    }
}
