internal import CSystemd
import Posix

/// logind on the system bus, as far as it concerns sleep. No call here waits for the bus.
@LoopActor
@safe
final class SleepBus {
    /// What has come since the last look.
    struct News {
        var begins = false
        var ends = false
        var isRefused = false
        var isLogindThere = false
        var mayHibernate: Bool?
    }

    private let state: UnsafeMutablePointer<appvault_sleep>
    private let channel: Channel
    private var isAsked = false

    /// Nil if there is no system bus.
    init?() {
        let state = UnsafeMutablePointer<appvault_sleep>.allocate(capacity: 1)
        // SAFETY: the memory stays where it is until the bus, which keeps its address, is closed.
        // The same holds in all of this file.
        unsafe state.initialize(to: appvault_sleep())
        guard unsafe appvault_sleep_open(state) >= 0 else {
            unsafe state.deallocate()
            return nil
        }
        let number = unsafe appvault_sleep_descriptor(state)
        guard number >= 0, let channel = try? Channel(owning: FileDescriptor(owning: number)) else {
            unsafe appvault_sleep_close(state)
            unsafe state.deallocate()
            return nil
        }
        unsafe self.state = state
        self.channel = channel
    }

    /// False if the connection was closed on this side.
    func wait() async -> Bool {
        await channel.readable(until: nil) == .ready
    }

    /// Nil if the bus is gone.
    func news() -> News? {
        guard unsafe appvault_sleep_turn(state) >= 0 else { return nil }
        channel.drained()
        var news = News()
        unsafe news.begins = state.pointee.begins > 0
        unsafe news.ends = state.pointee.ends > 0
        unsafe news.isRefused = state.pointee.refused != 0
        // A logind that has refused is not asked again, but a new one is.
        if unsafe state.pointee.renewed != 0, unsafe state.pointee.owner.0 != 0 { isAsked = false }
        unsafe state.pointee.renewed = 0
        unsafe news.isLogindThere = state.pointee.owner.0 != 0
        switch unsafe state.pointee.hibernation {
        case 0: break
        case 1: news.mayHibernate = false
        default: news.mayHibernate = true
        }
        unsafe state.pointee.begins = 0
        unsafe state.pointee.ends = 0
        unsafe state.pointee.refused = 0
        unsafe state.pointee.hibernation = 0
        return news
    }

    /// From now on, a sleep waits for the daemon.
    func delay() {
        guard !isAsked else { return }
        isAsked = unsafe appvault_sleep_inhibit(state) >= 0
    }

    func release() {
        isAsked = false
        unsafe appvault_sleep_release(state)
    }

    func askForHibernation() -> Bool {
        unsafe appvault_sleep_ask(state) >= 0
    }

    /// Must be called, once. Nothing else may be called afterwards.
    func close() {
        channel.close()
        unsafe appvault_sleep_close(state)
        unsafe state.deallocate()
    }
}
