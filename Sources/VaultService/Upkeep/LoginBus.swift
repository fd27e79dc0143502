internal import CSystemd
import Policy
import Posix

/// logind on the system bus: what it says of sleep, sessions and seats. No call here waits for the
/// bus.
@LoopActor
@safe
final class LoginBus {
    /// What has come since the last look.
    struct News {
        var begins = false
        var ends = false
        var isRefused = false
        var isLogindThere = false
        /// Another logind than before, or the first.
        var isLogindNew = false
        /// The bus has said whether there is a logind.
        var hasAnswered = false
        var mayHibernate: Bool?
        var seats: [Piece] = []
        /// How many of the sessions that were asked have answered.
        var answers = 0
        /// There is more to come at once.
        var hasMore = false
    }

    enum Piece {
        case news(SeatNews)
        /// Only its id is told.
        case began(String)
    }

    private let state: UnsafeMutablePointer<appvault_logind>
    private let channel: Channel
    private var isAsked = false

    /// Nil if there is no system bus.
    init?() {
        let state = UnsafeMutablePointer<appvault_logind>.allocate(capacity: 1)
        // SAFETY: the memory stays where it is until the bus, which keeps its address, is closed.
        // The same holds in all of this file.
        unsafe state.initialize(to: appvault_logind())
        guard unsafe appvault_logind_open(state) >= 0 else {
            unsafe state.deallocate()
            return nil
        }
        let number = unsafe appvault_logind_descriptor(state)
        guard number >= 0, let channel = try? Channel(owning: FileDescriptor(owning: number)) else {
            unsafe appvault_logind_close(state)
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
        let turned = unsafe appvault_logind_turn(state)
        guard turned >= 0 else { return nil }
        var news = News()
        news.hasMore = turned > 0
        if !news.hasMore {
            channel.drained()
            // At its end libsystemd first fails a call that waits for an answer, and says no more
            // than that nothing is left to do. The kernel would not wake this connection again.
            if channel.hasHungUp { return nil }
        }
        unsafe news.begins = state.pointee.begins > 0
        unsafe news.ends = state.pointee.ends > 0
        unsafe news.isRefused = state.pointee.refused != 0
        unsafe news.isLogindThere = state.pointee.owner.0 != 0
        let isRenewed = unsafe state.pointee.renewed != 0 && news.isLogindThere
        unsafe news.hasAnswered = state.pointee.answered != 0
        news.isLogindNew = isRenewed || (news.hasAnswered && news.isLogindThere)
        // A logind that has refused is not asked again, but a new one is.
        if isRenewed { isAsked = false }
        unsafe state.pointee.renewed = 0
        unsafe state.pointee.answered = 0
        switch unsafe state.pointee.hibernation {
        case 0: break
        case 1: news.mayHibernate = false
        default: news.mayHibernate = true
        }
        news.seats = seats()
        news.answers = Int(unsafe state.pointee.answers)
        unsafe state.pointee.answers = 0
        unsafe state.pointee.begins = 0
        unsafe state.pointee.ends = 0
        unsafe state.pointee.refused = 0
        unsafe state.pointee.hibernation = 0
        return news
    }

    private func seats() -> [Piece] {
        let count = Int(unsafe state.pointee.count)
        unsafe state.pointee.count = 0
        return unsafe withUnsafeMutablePointer(to: &state.pointee.events) { room in
            // SAFETY: the events lie one after the other, and `count` of them are filled in.
            unsafe room.withMemoryRebound(to: appvault_logind_event.self, capacity: 32) { events in
                (0..<count).compactMap { unsafe Self.piece(&events[$0]) }
            }
        }
    }

    private static func piece(_ event: inout appvault_logind_event) -> Piece? {
        let session = text(&event.session)
        let seat = text(&event.seat)
        let isLocked = event.locked < 0 ? nil : event.locked != 0
        let isIdle = event.idle < 0 ? nil : event.idle != 0
        switch event.kind {
        case appvault_front:
            return .news(.front(seat: seat, session: session.isEmpty ? nil : session))
        case _ where session.isEmpty: return nil
        case appvault_hints:
            return .news(.changed(session: session, isLocked: isLocked, isIdle: isIdle))
        case appvault_answer:
            return .news(.answered(session: session, isLocked: isLocked, isIdle: isIdle))
        case appvault_lock: return .news(.lock(session: session))
        case appvault_began: return .began(session)
        case appvault_ended: return .news(.ended(session: session))
        default: return nil
        }
    }

    private static func text<Room>(_ room: inout Room) -> String {
        // SAFETY: the shim has ended the text within its room.
        unsafe withUnsafeBytes(of: &room) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Asks what this session says of its screen. False if it cannot be asked.
    func look(at session: String) -> Bool {
        unsafe appvault_logind_look(state, session) >= 0
    }

    /// From now on, a sleep waits for the daemon.
    func delay() {
        guard !isAsked else { return }
        isAsked = unsafe appvault_logind_inhibit(state) >= 0
    }

    func release() {
        isAsked = false
        unsafe appvault_logind_release(state)
    }

    func askForHibernation() -> Bool {
        unsafe appvault_logind_ask(state) >= 0
    }

    /// Must be called, once. Nothing else may be called afterwards.
    func close() {
        channel.close()
        unsafe appvault_logind_close(state)
        unsafe state.deallocate()
    }
}
