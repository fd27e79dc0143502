import Foundation

@testable import AppVault

/// A D-Bus bus that does what a test says with each call, but for `Hello`.
final class ScriptedBus: @unchecked Sendable {
    /// What is sent for a call: messages, or bytes that are none. Nil ends the connection.
    typealias Script = @Sendable (BusMessage) -> [UInt8]?

    let folder = TemporaryFolder()
    var address: String { "unix:path=\(folder.path)/bus" }
    private let lock = NSLock()
    private var calls: [BusMessage] = []
    private let listener: Int32

    var called: [BusMessage] { lock.withLock { calls } }

    init(_ script: @escaping Script) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let listener = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array((folder.path + "/bus").utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let bound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 8) == 0 else { throw CancellationError() }
        // One connection for each test.
        Thread.detachNewThread { [weak self] in
            let peer = accept(listener, nil, nil)
            defer {
                close(peer)
                close(listener)
            }
            guard peer >= 0 else { return }
            ScriptedBus.serve(peer) { message in
                self?.lock.withLock { self?.calls.append(message) }
                if message.member == "Hello" {
                    return ScriptedBus.reply(to: message, [.string(":1.1")])
                }
                return script(message)
            }
        }
    }

    static func reply(to call: BusMessage, _ body: [BusValue]) -> [UInt8] {
        var reply = BusMessage(kind: .reply, serial: 1)
        (reply.replyTo, reply.body) = (call.serial, body)
        return reply.encoded().withSpan { copied($0) }
    }

    private static func serve(_ peer: Int32, _ answer: (BusMessage) -> [UInt8]?) {
        var bytes: [UInt8] = []
        var hasBegun = false
        while true {
            var piece = [UInt8](repeating: 0, count: 65_536)
            let got = unsafe recv(peer, &piece, piece.count, 0)
            guard got > 0 else { return }
            bytes += piece.prefix(got)
            if !hasBegun {
                let text = String(decoding: bytes, as: UTF8.self)
                let begin = Array("BEGIN\r\n".utf8)
                if text.contains("BEGIN\r\n") {
                    hasBegun = true
                    let at = bytes.indices.first { bytes[$0...].starts(with: begin) }!
                    // The first call may come with it.
                    bytes.removeFirst(at + begin.count)
                } else {
                    if text.hasSuffix("\r\n") {
                        send(peer, Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8))
                        bytes = []
                    }
                    continue
                }
            }
            while let (message, length) = try? BusMessage.decode(bytes.span) {
                bytes.removeFirst(length)
                guard let message else { continue }
                guard let said = answer(message) else { return }
                send(peer, said)
            }
        }
    }

    private static func send(_ peer: Int32, _ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Foundation.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }
}
