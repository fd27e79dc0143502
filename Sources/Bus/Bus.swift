internal import CBus
import Posix

/// A connection to a bus. Nothing here waits for the bus but what says so by `async`, and all of
/// that has a deadline.
///
/// libsystemd reads and writes the connection and does its handshake. It never calls us: `turn`
/// takes out one message after the other, in the order in which the bus has sent them.
@LoopActor
@safe
public final class Bus {
    public enum Place: Equatable, Sendable {
        case session
        case system
        case address(String)
    }

    /// The name under which the bus itself sends. Nobody else gets it.
    static let driver = "org.freedesktop.DBus"

    // SAFETY: the connection is used on the loop alone, from `init` to `close`, which is the last
    // that happens to it. The same holds in all of this file.
    nonisolated(unsafe) let raw: OpaquePointer
    private let channel: Channel
    /// From then on the connection must not be touched.
    private(set) var isOver = false
    private var waitsForRoom = false
    private var waiting: [UInt64: Waiting] = [:]
    var names: [String: FollowedName] = [:]
    var signals: [HeardSignal] = []
    var objects: [String: BusObject] = [:]
    var trees: [String: any BusTree] = [:]
    var clients = TreeClients()
    /// Where nothing of ours is.
    public var unknownObject = BusRefusal.unknownObject
    /// For the bus to say who calls, in milliseconds. Clients wait 25 seconds for an answer.
    var patienceForCaller: UInt64 = 20_000
    /// Calls that others have made and that are not answered yet.
    public internal(set) var callsUnderWay = 0
    /// Called when a call comes and when it has been answered.
    public var whenCalled: (@LoopActor () -> Void)?
    /// Called once if the bus ends the connection; not after `close`.
    public var whenGone: (@LoopActor () -> Void)?

    /// A call that waits for its answer.
    private struct Waiting {
        /// If it is known. Then an answer from anybody else is none: the numbers of calls can be
        /// guessed.
        let from: String?
        let timer: UInt64
        let answered: @LoopActor (Result<BusMessage, BusError>) -> Void
    }

    /// Connects, and waits until the bus has said hello.
    public static func open(_ place: Place, until deadline: UInt64) async throws(BusError) -> Bus {
        let bus = try Bus(place)
        EventLoop.shared.task { await bus.drive() }
        do throws(BusError) {
            // What is asked does not matter: the bus answers nothing before its hello.
            _ = try await bus.ask("GetId", [], until: deadline)
        } catch {
            bus.close()
            throw error
        }
        return bus
    }

    private init(_ place: Place) throws(BusError) {
        var opened: OpaquePointer?
        let result =
            switch place {
            case .session: unsafe sd_bus_open_user(&opened)
            case .system: unsafe sd_bus_open_system(&opened)
            case .address(let address): unsafe appvault_bus_open_at(address, &opened)
            }
        guard result >= 0, let opened = unsafe opened else { throw .gone }
        let number = unsafe appvault_bus_descriptor(opened)
        guard number >= 0, let channel = try? Channel(owning: FileDescriptor(owning: number)) else {
            unsafe sd_bus_close_unref(opened)
            throw .gone
        }
        unsafe raw = opened
        self.channel = channel
    }

    /// What is outstanding fails with `.gone`.
    public func close() {
        guard !isOver else { return }
        isOver = true
        channel.close()
        // Without the flush, which would wait.
        unsafe sd_bus_close_unref(raw)
        let left = waiting.values
        waiting = [:]
        for each in left {
            EventLoop.shared.cancel(each.timer)
            each.answered(.failure(.gone))
        }
        (names, signals, objects) = ([:], [], [:])
        trees = [:]
        clients = TreeClients()
        whenCalled = nil
    }

    // MARK: the connection

    /// In one turn of the loop; others wait for the loop as well.
    private static let mostMessages = 64

    private enum Turned {
        case idle, more, ended
    }

    private func drive() async {
        while !isOver {
            switch turn() {
            case .more: await Task.yield()
            case .ended:
                let told = whenGone
                close()
                told?()
            case .idle:
                waitForRoom()
                _ = await channel.readable(until: deadline)
            }
        }
        whenGone = nil
    }

    private func turn() -> Turned {
        for _ in 0..<Self.mostMessages {
            var message: OpaquePointer?
            let result = unsafe sd_bus_process(raw, &message)
            guard result >= 0 else { return .ended }
            if let message = unsafe message { receive(unsafe BusMessage(owning: message)) }
            // Whoever received it may have closed the connection.
            if isOver { return .idle }
            if result == 0 {
                channel.drained()
                // At its end libsystemd may say no more than that nothing is left to do, and the
                // kernel would not wake this connection again.
                return channel.hasHungUp ? .ended : .idle
            }
        }
        return .more
    }

    /// Only for the handshake: calls have timers of their own.
    private var deadline: UInt64? {
        let at = unsafe appvault_bus_deadline(raw)
        guard at != UInt64.max else { return nil }
        let now = Clock.monotonicNanoseconds() / 1000
        return Clock.bootMilliseconds() + (at > now ? (at - now) / 1000 + 1 : 0)
    }

    /// After libsystemd's own attempt the kernel tells when there is room again, and once.
    private func waitForRoom() {
        guard !waitsForRoom, unsafe appvault_bus_is_full(raw) != 0 else { return }
        waitsForRoom = true
        channel.filled()
        EventLoop.shared.task {
            _ = await self.channel.writable(until: nil)
            self.waitsForRoom = false
            self.channel.wakeReader()
        }
    }

    private func receive(_ message: BusMessage) {
        switch message.kind {
        case .answer: answered(message, .success(message))
        case .refusal: answered(message, .failure(message.refusal))
        case .signal: heard(message)
        case .call: called(message)
        case .other: break
        }
    }

    // MARK: calls

    private func answered(_ message: BusMessage, _ result: Result<BusMessage, BusError>) {
        guard let cookie = message.answered, let call = waiting[cookie] else { return }
        if let from = call.from, from != message.sender { return }
        waiting[cookie] = nil
        EventLoop.shared.cancel(call.timer)
        call.answered(result)
    }

    /// Calls a method. `destination` is a name or a unique name.
    public func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusValue] = [], until deadline: UInt64
    ) async throws(BusError) -> BusMessage {
        // SAFETY: `start` calls its closure exactly once, at the latest when the connection ends.
        let result: Result<BusMessage, BusError> = await unsafe withUnsafeContinuation { waiter in
            start(destination, path, interface, member, arguments, until: deadline) {
                unsafe waiter.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// A call of the bus itself.
    func ask(
        _ member: String, _ arguments: [BusValue], until deadline: UInt64
    ) async throws(BusError) -> BusMessage {
        try await call(
            Self.driver, "/org/freedesktop/DBus", Self.driver, member, arguments, until: deadline)
    }

    /// Tells the result when the answer is read, before any message that came after it.
    func start(
        _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusValue], until deadline: UInt64,
        _ answered: @escaping @LoopActor (Result<BusMessage, BusError>) -> Void
    ) {
        guard !isOver else { return answered(.failure(.gone)) }
        var made: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            raw, &made, destination, path, interface, member)
        guard result >= 0, let made = unsafe made else {
            return answered(.failure(BusError(sending: result)))
        }
        let message = unsafe BusMessage(owning: made)
        var cookie: UInt64 = 0
        do throws(BusError) {
            try unsafe BusWriter(message.raw).append(arguments)
            cookie = try send(message)
        } catch {
            return answered(.failure(error))
        }
        let isKnown = destination == Self.driver || destination.hasPrefix(":")
        let number = cookie
        let timer = EventLoop.shared.at(deadline) { [unowned self] in
            LoopActor.assumed { late(number) }
        }
        waiting[number] = Waiting(
            from: isKnown ? destination : nil, timer: timer, answered: answered)
    }

    private func late(_ cookie: UInt64) {
        waiting.removeValue(forKey: cookie)?.answered(.failure(.silent))
    }

    /// The bus has no room for what libsystemd keeps.
    var isFull: Bool { unsafe !isOver && appvault_bus_is_full(raw) != 0 }

    /// The number of the message.
    @discardableResult
    func send(_ message: BusMessage) throws(BusError) -> UInt64 {
        guard !isOver else { throw .gone }
        var cookie: UInt64 = 0
        let result = unsafe sd_bus_send(raw, message.raw, &cookie)
        guard result >= 0 else { throw BusError(sending: result) }
        // The rest goes out when the connection is turned.
        if unsafe appvault_bus_is_full(raw) != 0 { channel.wakeReader() }
        return cookie
    }
}
