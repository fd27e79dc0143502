import Foundation
import Wire

@testable import AppVault

/// A daemon that does what a test says: it accepts connections one after the other, and plays for
/// each the next part of the script, on a thread of its own.
final class ScriptedDaemon: @unchecked Sendable {
    /// What is done with one connection. The frames that were read are told to the test.
    typealias Part = @Sendable (Peer) -> Void

    /// The daemon's end of a connection.
    final class Peer: @unchecked Sendable {
        let descriptor: Int32
        private var bytes: [UInt8] = []
        private let note: (UInt16) -> Void

        init(_ descriptor: Int32, _ note: @escaping (UInt16) -> Void) {
            self.descriptor = descriptor
            self.note = note
        }

        /// The next frame: its type and its tag. Nil at the end.
        @discardableResult
        func read() -> (type: UInt16, tag: UInt32)? {
            while true {
                if let header = try? FrameHeader.decode(bytes.span, limit: Limits.frame),
                    bytes.count >= FrameHeader.size + header.length
                {
                    bytes.removeFirst(FrameHeader.size + header.length)
                    note(header.type)
                    return (header.type, header.tag)
                }
                var piece = [UInt8](repeating: 0, count: 65_536)
                let got = unsafe recv(descriptor, &piece, piece.count, 0)
                guard got > 0 else { return nil }
                bytes += piece.prefix(got)
            }
        }

        func send(_ raw: [UInt8]) {
            var sent = 0
            while sent < raw.count {
                let count = unsafe raw.withUnsafeBytes {
                    unsafe Foundation.send(
                        descriptor, $0.baseAddress! + sent, raw.count - sent,
                        Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                sent += count
            }
        }

        func send<B: Body>(_ type: AnswerType, _ body: B, tag: UInt32) {
            var bytes: [UInt8] = []
            Frame.write(body, type: type.rawValue, tag: tag, to: &bytes)
            send(bytes)
        }

        func send(value: [UInt8], tag: UInt32) {
            var bytes: [UInt8] = []
            Frame.write(
                Empty(), type: AnswerType.value.rawValue, tag: tag, payload: value.span, to: &bytes)
            send(bytes)
        }

        func refuse(_ code: VaultError.Code, tag: UInt32) {
            send(.refused, Refused(code: UInt16(code.rawValue)), tag: tag)
        }

        func greet() {
            guard let hello = read() else { return }
            send(.welcome, Welcome(software: Array("scripted".utf8)), tag: hello.tag)
        }

        /// Closes with what was not read: the peer hears that it was not.
        func close() { Foundation.close(descriptor) }

        /// Until the other side closes.
        func waitForEnd() { while read() != nil {} }
    }

    let folder = TemporaryFolder()
    var socket: String { folder.path + "/socket" }
    private let listener: Int32
    private let lock = NSLock()
    private var types: [UInt16] = []
    private var accepted = 0
    private var isClosed = false

    /// The types of all frames so far, but for the greetings.
    var requests: [UInt16] {
        lock.withLock { types.filter { $0 != RequestType.hello.rawValue } }
    }

    var connections: Int { lock.withLock { accepted } }

    init(_ parts: Part...) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let listener = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array((folder.path + "/socket").utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let bound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 64) == 0 else { throw CancellationError() }
        self.listener = listener
        Thread.detachNewThread { [weak self] in
            defer {
                if let self { self.threadHasEnded() } else { close(listener) }
            }
            for part in parts {
                let number = accept(listener, nil, nil)
                guard number >= 0 else { return }
                self?.lock.withLock { self?.accepted += 1 }
                part(Peer(number) { type in self?.lock.withLock { self?.types.append(type) } })
            }
            // Nobody is there any more for whoever connects now.
            if let path = self?.socket { unsafe unlink(path) }
        }
    }

    /// The number may be another test's as soon as it is closed.
    private func threadHasEnded() {
        lock.withLock {
            if !isClosed { Foundation.close(listener) }
            isClosed = true
        }
    }

    deinit {
        // The thread closes it, as soon as this has woken it.
        if !isClosed { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    func vault(silence: UInt64 = 3_600_000, hooks: PromptHooks = .none) -> Vault {
        var waits = Waits()
        waits.silence = silence
        return Vault(
            Greeting(path: socket, frontEnd: .program, language: ""), waits: waits, hooks: hooks)
    }
}
