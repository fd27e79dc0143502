import Client
import Posix
import Wire

/// The thread that talks to the daemon. It does one thing after the other, and the window goes on meanwhile.
nonisolated final class Worker: Sendable {
    private typealias Job = @Sendable (WindowLink) -> Void

    private let jobs: WaitingList<Job>
    let inbox: Inbox

    /// `show` is called on the main thread.
    init(
        _ places: WindowPlaces,
        show: @escaping @MainActor @Sendable (WindowShow) -> Void
    ) throws(PosixError) {
        let inbox = try Inbox()
        self.inbox = inbox
        let jobs = try WaitingList<Job>()
        self.jobs = jobs
        Loop.thread("daemon") {
            let link = WindowLink(places, inbox: inbox) { next in
                Loop.main { show(next) }
            }
            while true { jobs.take()(link) }
        }
    }

    /// What `work` has come to is handed to `then` on the main thread.
    func run<R: Sendable>(
        _ work: @escaping @Sendable (WindowLink) -> R,
        then: @escaping @MainActor @Sendable (R) -> Void
    ) {
        jobs.put { link in
            let result = work(link)
            Loop.main { then(result) }
        }
    }
}
