import Policy
import Posix

/// Keeps the connection to logind, and hands on what it says: of sleep to `Sleep`, of sessions and
/// seats to `Screens`. The daemon listens from its start on, because the person may lock the screen
/// at the moment after a store was opened.
@LoopActor
final class LoginWatch {
    private unowned let upkeep: Upkeep
    private(set) var bus: LoginBus?
    private var retryWait: UInt64?

    private static let firstRetry: UInt64 = 250
    private static let lastRetry: UInt64 = 30_000

    init(_ upkeep: Upkeep) {
        self.upkeep = upkeep
    }

    /// Without a bus the daemon learns of no sleep and of no lock. It looks for one when something is
    /// opened; one that it has lost it looks for until it is back.
    func connect() {
        guard bus == nil, let made = LoginBus() else { return }
        bus = made
        upkeep.screens.isAsking = true
        EventLoop.shared.task { await self.listen(to: made) }
    }

    private func listen(to made: LoginBus) async {
        var hasMore = false
        while true {
            if !hasMore { guard await made.wait() else { return } }
            // A bus that was lost in the meantime has been closed.
            guard bus === made else { return }
            guard let news = made.news() else { return lost() }
            hasMore = news.hasMore
            if news.isLogindThere { retryWait = nil }
            upkeep.sleep.hear(news)
            await upkeep.screens.hear(news, from: made)
            guard bus === made else { return }
            upkeep.sleep.look()
            // A session that flickers must not keep the loop from everybody else.
            if hasMore { await EventLoop.sleep(until: Clock.bootMilliseconds()) }
        }
    }

    /// The bus is gone. When it comes back, no signal will say what happened meanwhile.
    private func lost() {
        bus?.close()
        bus = nil
        upkeep.screens.isLost()
        upkeep.sleep.isLost()
        retry()
    }

    private func retry() {
        let wait = retryWait ?? Self.firstRetry
        retryWait = min(wait * 2, Self.lastRetry)
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + wait) {
            EventLoop.shared.task {
                guard self.bus == nil else { return }
                self.connect()
                if self.bus == nil { self.retry() } else { self.upkeep.sleep.look() }
            }
        }
    }
}
