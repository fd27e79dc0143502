/// A connection to a D-Bus bus: calls, and the signals that somebody waits for. A task reads it as
/// long as it is open, and sleeps in between.
actor BusConnection {
    /// Milliseconds for an answer, unless a person is asked.
    static let patience: UInt64 = 25_000

    private let socket: UnixSocket
    private var input = WipedBytes(capacity: 4096)
    private var serial: UInt32 = 0
    private var waiting: [UInt32: CheckedContinuation<Result<BusMessage, VaultError>, Never>] = [:]
    private var listeners: [UInt64: @Sendable (BusMessage) -> Void] = [:]
    private var lastID: UInt64 = 0
    private var isClosed = false
    private var turns = Turns()
    private var reader: Task<Void, Never>?

    /// Connects to the bus at the first of the addresses where one listens, and says hello.
    static func connect(_ address: String) async throws(VaultError) -> BusConnection {
        var reason = VaultError(.busFailed, "there is no session bus at \(address)")
        for path in BusAddress.paths(address) {
            let connection: BusConnection
            do throws(SystemError) {
                guard case .connected(let socket) = try UnixSocket.connect(path) else { continue }
                connection = BusConnection(consume socket)
                try await connection.begin()
            } catch {
                reason.message += ": \(error.text)"
                continue
            }
            _ = try await connection.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
            return connection
        }
        throw reason
    }

    private init(_ socket: consuming UnixSocket) { self.socket = socket }

    deinit { reader?.cancel() }

    private func begin() async throws(SystemError) {
        let uid = String(ThisProcess.effectiveUID).utf8
            .map { String($0, radix: 16) }.joined()
        var hello = WipedBytes(capacity: 64)
        hello.put(0)
        hello.put(Array("AUTH EXTERNAL \(uid)\r\n".utf8).span)
        try await send(hello)
        let deadline = Clock.milliseconds() + 5_000
        while true {
            let line = input.withSpan { bytes in String(decoding: copied(bytes), as: UTF8.self) }
            if line.hasSuffix("\r\n") {
                guard line.hasPrefix("OK ") else { throw SystemError.denied }
                break
            }
            try await receive(until: deadline)
        }
        input.removeAll()
        var rest = WipedBytes(capacity: 64)
        rest.put(Array("BEGIN\r\n".utf8).span)
        try await send(rest)
        reader = Task { [weak self] in
            while let raw = self?.socket.raw {
                let outcome = await Poller.shared.wait(
                    for: raw, .readable, until: nil, cancellable: true)
                guard outcome == .ready, await self?.take() ?? false else { return }
            }
        }
    }

    // MARK: Calls

    /// Calls a method, and returns what it gives.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusValue] = [], patience: UInt64 = BusConnection.patience
    ) async throws(VaultError) -> [BusValue] {
        guard !isClosed else { throw BusConnection.lost }
        serial &+= 1
        let own = serial
        var message = BusMessage(serial: own)
        (message.destination, message.path) = (destination, path)
        (message.interface, message.member, message.body) = (interface, member, arguments)
        sending.insert(own)
        defer { sending.remove(own) }
        do throws(SystemError) {
            try await send(message.encoded())
        } catch {
            close()
            throw VaultError(.busFailed, "the session bus failed: \(error.text)")
        }
        let timer = Task { [weak self] in
            try await Task.sleep(for: .milliseconds(patience))
            await self?.settle(
                own, .failure(VaultError(.noAnswer, "\(destination) does not answer")))
        }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                sending.remove(own)
                if let early = answered.removeValue(forKey: own) {
                    continuation.resume(returning: early)
                } else if isClosed {
                    continuation.resume(returning: .failure(BusConnection.lost))
                } else if Task.isCancelled {
                    continuation.resume(returning: .failure(.cancelled))
                } else {
                    waiting[own] = continuation
                }
            }
        } onCancel: {
            Task { await self.settle(own, .failure(.cancelled)) }
        }
        let reply = try result.get()
        guard reply.kind != .error else {
            throw VaultError(
                .busFailed, reply.body.first?.text ?? reply.errorName ?? "",
                parameters: ["error": reply.errorName ?? ""])
        }
        return reply.body
    }

    /// Calls that are sent and not waited for yet, and answers that have come to them.
    private var sending: Set<UInt32> = []
    private var answered: [UInt32: Result<BusMessage, VaultError>] = [:]

    private func settle(_ serial: UInt32, _ result: Result<BusMessage, VaultError>) {
        if let continuation = waiting.removeValue(forKey: serial) {
            continuation.resume(returning: result)
        } else if sending.contains(serial) {
            answered[serial] = result
        }
    }

    private static let lost = VaultError(.busFailed, "the session bus has gone")

    // MARK: Signals

    /// Hands on each signal that comes, until `stopListening`.
    func listen(_ heard: @escaping @Sendable (BusMessage) -> Void) -> UInt64 {
        lastID += 1
        listeners[lastID] = heard
        return lastID
    }

    func stopListening(_ id: UInt64) { listeners[id] = nil }

    // MARK: Bytes

    private func send(_ bytes: consuming WipedBytes) async throws(SystemError) {
        // A message that is under way is not to be mixed with another one.
        if !turns.take() {
            _ = await withCheckedContinuation { turns.wait(turns.newID(), $0) }
        }
        defer { turns.leave() }
        var sent = 0
        let deadline = Clock.milliseconds() + BusConnection.patience
        while sent < bytes.count {
            let taken = try bytes.withSpan(from: sent) { rest throws(SystemError) in
                try socket.send(rest)
            }
            sent += taken
            if taken == 0 {
                let outcome = await Poller.shared.wait(
                    for: socket.raw, .writable, until: deadline, cancellable: false)
                if outcome == .late { throw .timedOut }
            }
        }
    }

    private func receive(until deadline: UInt64) async throws(SystemError) {
        let outcome = await Poller.shared.wait(
            for: socket.raw, .readable, until: deadline, cancellable: true)
        guard outcome == .ready else { throw .timedOut }
        guard try socket.receive(into: &input, room: 4096) != .ended else { throw .brokenPipe }
    }

    /// Takes what has come; false once the connection has ended.
    private func take() -> Bool {
        do {
            guard try socket.receive(into: &input, room: 65_536) != .ended else {
                close()
                return false
            }
            while let (message, length) = try input.withSpan({ bytes throws(BusFault) in
                try BusMessage.decode(bytes)
            }) {
                input.dropFirst(length)
                if let message { deliver(message) }
            }
            return true
        } catch {
            close()
            return false
        }
    }

    private func deliver(_ message: BusMessage) {
        switch message.kind {
        case .reply, .error:
            guard let serial = message.replyTo else { return }
            settle(serial, .success(message))
        case .signal:
            for heard in listeners.values { heard(message) }
        case .call: break
        }
    }

    private func close() {
        isClosed = true
        for continuation in waiting.values {
            continuation.resume(returning: .failure(BusConnection.lost))
        }
        waiting = [:]
    }
}

/// The addresses of a bus that are Unix sockets.
enum BusAddress {
    /// Where the session's bus is.
    static var session: String {
        ThisProcess.variable("DBUS_SESSION_BUS_ADDRESS")
            ?? "unix:path=/run/user/\(ThisProcess.effectiveUID)/bus"
    }

    /// The paths of sockets, in order; an abstract one begins with a NUL.
    static func paths(_ address: String) -> [[UInt8]] {
        address.split(separator: ";").compactMap { one in
            guard one.hasPrefix("unix:") else { return nil }
            for pair in one.dropFirst(5).split(separator: ",") {
                if pair.hasPrefix("path=") { return unescaped(pair.dropFirst(5)) }
                if pair.hasPrefix("abstract=") { return [0] + unescaped(pair.dropFirst(9)) }
            }
            return nil
        }
    }

    private static func unescaped(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let number = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(number)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
