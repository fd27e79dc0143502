import Glibc
import Posix

@testable import AppVault

/// The bus, and all other programs on it, played over one socket: libsystemd in the bridge reads
/// and writes what dbus-daemon would carry. A message here is one that dbus-daemon would let
/// through, but for its body, which may be anything. It runs on the bridge's own loop and never
/// blocks.
@LoopActor
final class PlayedBus {
    nonisolated static let address = "unix:abstract=appvault-fuzz-\(getpid())"
    private static let driver = "org.freedesktop.DBus"
    private static let own = ":1.0"
    /// Milliseconds in which whatever is waited for must have come. Only a hang takes so long.
    private static let patience: UInt64 = 8_000

    private static let listener: Int32 = {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Behind a NUL it is a name, and no file.
        let name = [0] + Array("appvault-fuzz-\(getpid())".utf8)
        // SAFETY: the name is shorter than the field, and the length says how much of it counts.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            unsafe room.copyBytes(from: name)
        }
        let socket = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bound = unsafe withUnsafePointer(to: &address) { address in
            // SAFETY: the kernel reads as much of the address as the length says.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, length)
            }
        }
        must(socket >= 0 && bound == 0 && Glibc.listen(socket, 8) == 0, "no socket for the bus")
        return socket
    }()

    /// Before the bridge connects.
    static func prepare() { must(listener >= 0, "no socket for the bus") }

    private let socket: Int32
    private var input: [UInt8] = []
    private var serial: UInt32 = 0
    /// Of each program on the bus.
    var users: [String: UInt32] = [:]
    /// Who is xdg-desktop-portal.
    var portal: String?
    /// What the bridge has sent to programs, in its order, with the call that it answers.
    private(set) var heard: [(message: BusMessage, call: Call?)] = []
    /// Calls of those who are still there.
    private(set) var waiting: [UInt32: Call] = [:]
    private(set) var isOwned = false
    private var rules: Set<String> = []

    init() async {
        must(Self.listener >= 0, "no socket for the bus")
        let end = Self.end
        var accepted: Int32 = -1
        while accepted < 0 {
            accepted = accept(Self.listener, nil, nil)
            guard accepted < 0 else { break }
            must(Clock.bootMilliseconds() < end, "nobody connects")
            await Self.onePass()
        }
        must(fcntl(accepted, F_SETFL, O_NONBLOCK) == 0, "a connection that blocks")
        socket = accepted
        await shakeHands()
    }

    private static var end: UInt64 { Clock.bootMilliseconds() + patience }

    /// The bridge and all that it waits for have their turn.
    static func onePass() async { await EventLoop.sleep(until: Clock.bootMilliseconds()) }

    func close() { _ = Glibc.close(socket) }

    // MARK: bytes

    /// False where nothing has come for long.
    private func receive() async -> Bool {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let end = Self.end
        while true {
            // SAFETY: at most as many bytes are written as the array has.
            let count = unsafe room.withUnsafeMutableBytes {
                unsafe recv(socket, $0.baseAddress, $0.count, 0)
            }
            if count > 0 {
                input += room[..<count]
                return true
            }
            must(count < 0 && errno == EAGAIN, "the bridge has gone")
            guard Clock.bootMilliseconds() < end else { return false }
            await Self.onePass()
        }
    }

    private func write(_ bytes: [UInt8]) async {
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: the slice's bytes, as many as it has.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else {
                must(errno == EAGAIN, "the bridge has gone")
                // It may be waiting for room itself.
                await take(for: 1)
            }
        }
    }

    /// Reads what has come, and lets the bridge have some turns.
    private func take(for passes: Int) async {
        for _ in 0..<passes { await Self.onePass() }
        var room = [UInt8](repeating: 0, count: 1 << 16)
        // SAFETY: at most as many bytes are written as the array has.
        let count = unsafe room.withUnsafeMutableBytes {
            unsafe recv(socket, $0.baseAddress, $0.count, 0)
        }
        if count > 0 { input += room[..<count] }
    }

    private func shakeHands() async {
        let end = Array("BEGIN\r\n".utf8)
        while !input.suffix(end.count).elementsEqual(end) {
            must(await receive(), "no handshake")
        }
        input = []
        await write(Array("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nERROR\r\n".utf8))
    }

    private func next() -> BusMessage? {
        guard let (message, length) = try? BusMessage.decode(input.span) else { return nil }
        input.removeFirst(length)
        must(message != nil, "a message of no kind")
        return message
    }

    // MARK: messages

    /// Takes what comes until this is true; false if it does not become so.
    func take(until isDone: @LoopActor (PlayedBus) -> Bool) async -> Bool {
        while !isDone(self) {
            if let message = next() {
                await received(message)
            } else if await !receive() {
                return false
            }
        }
        return true
    }

    private func received(_ message: BusMessage) async {
        guard message.destination == Self.driver, message.kind == .call else {
            must(message.kind != .call, "a call of another program")
            var call: Call?
            if let number = message.replyTo {
                call = waiting.removeValue(forKey: number)
                let isThere = message.destination.flatMap { users[$0] } != nil
                must(call != nil || !isThere, "a second answer to a call")
                must(call == nil || message.destination == call?.sender, "an answer to another")
            }
            heard.append((message, call))
            return
        }
        let argument = message.body.first?.text ?? ""
        var answer = BusMessage(kind: .reply)
        switch message.member {
        case "Hello": answer.body = [.string(Self.own)]
        case "GetId": answer.body = [.string("0123456789abcdef0123456789abcdef")]
        case "AddMatch": rules.insert(argument)
        case "RemoveMatch": rules.remove(argument)
        case "RequestName":
            answer.body = [.uint32(1)]
            isOwned = true
        case "GetNameOwner":
            if let portal { answer.body = [.string(portal)] } else { answer = Self.nobody }
        case "GetConnectionUnixUser":
            if let user = users[argument] {
                answer.body = [.uint32(user)]
            } else {
                answer = Self.nobody
            }
        case "GetConnectionCredentials":
            if let user = users[argument] {
                answer.body = [
                    .properties(["UnixUserID": .uint32(user), "ProcessID": .uint32(1)])
                ]
            } else {
                answer = Self.nobody
            }
        default: must(false, "a call of the bus that it does not know")
        }
        answer.replyTo = message.serial
        answer.sender = Self.driver
        answer.destination = Self.own
        await send(answer)
    }

    private static var nobody: BusMessage {
        BusMessage(
            kind: .error, errorName: "org.freedesktop.DBus.Error.NameHasNoOwner",
            body: [.string("nobody")])
    }

    private func send(_ message: BusMessage) async {
        var message = message
        serial += 1
        message.serial = serial
        await write(message.encoded().withSpan { copied($0) })
    }

    struct Call: Sendable {
        var sender: String
        var path: String
        var interface: String
        var member: String
        var signature: String
        var body: [UInt8]
    }

    /// Its number.
    func send(_ call: Call) async -> UInt32 {
        serial += 1
        var fields: [BusValue] = []
        func add(_ code: UInt8, _ value: BusValue) {
            fields.append(.structure([.byte(code), .variant(value)]))
        }
        add(1, .path(call.path))
        if !call.interface.isEmpty { add(2, .string(call.interface)) }
        add(3, .string(call.member))
        add(6, .string("org.freedesktop.secrets"))
        add(7, .string(call.sender))
        if !call.signature.isEmpty { add(8, .signature(call.signature)) }
        var whole = BusWriter()
        for byte in [UInt8(ascii: "l"), BusMessage.Kind.call.rawValue, 0, 1] {
            whole.put(.byte(byte))
        }
        whole.put32(UInt32(call.body.count))
        whole.put32(serial)
        whole.put(.array("(yv)", fields))
        whole.align(8)
        whole.bytes.put(call.body.span)
        waiting[serial] = call
        let number = serial
        await write(whole.bytes.withSpan { copied($0) })
        return number
    }

    /// It leaves the bus.
    func leaves(_ name: String) async {
        users[name] = nil
        waiting = waiting.filter { $0.value.sender != name }
        var names = [name]
        if portal == name {
            portal = nil
            names.append("org.freedesktop.portal.Desktop")
        }
        for name in names {
            guard rules.contains(where: { $0.contains("arg0='\(name)'") }) else { continue }
            await send(
                BusMessage(
                    kind: .signal, path: "/org/freedesktop/DBus", interface: Self.driver,
                    member: "NameOwnerChanged", sender: Self.driver,
                    body: [.string(name), .string(name), .string("")]))
        }
    }

    func forgetHeard() { heard = [] }
}
