import Posix
import Secrets
import StoreKeeping
import Wire

/// Has appvault-fetch ask servers, one question after the other over one connection, which is one
/// process of it. It may hang, crash or lie: what it brings is checked by whoever asked.
@LoopActor
package final class FetchWorker: ServerLink {
    private let path: String
    private let seconds: UInt16
    private var channel: Channel?
    /// Milliseconds beyond the worker's own limit.
    private static let patience: UInt64 = 5_000

    package init(path: String, seconds: Int) {
        self.path = path
        self.seconds = UInt16(clamping: seconds)
    }

    /// Where something can be fetched.
    package func get(_ url: [UInt8], tag: [UInt8]) async -> Fetched {
        await ask(.get, url, tag: tag)
    }

    /// What an invitation leads to.
    package func find(_ url: [UInt8]) async -> Fetched {
        await ask(.find, url)
    }

    package func post(_ report: [UInt8], to url: [UInt8]) async -> Fetched {
        await ask(.post, url, handing: WipedBuffer(bytes: report))
    }

    package func signIn(_ typed: WipedBuffer, at url: [UInt8]) async -> Fetched {
        await ask(.signIn, url, handing: typed)
    }

    /// The process ends, also one that is under way.
    package func end() {
        channel?.close()
        channel = nil
    }

    private func ask(
        _ method: FetchQuestion.Method, _ url: [UInt8], tag: [UInt8] = [],
        handing content: WipedBuffer = WipedBuffer(capacity: 0)
    ) async -> Fetched {
        let deadline = Clock.bootMilliseconds() + UInt64(seconds) * 1000 + Self.patience
        guard url.count <= Limits.url, tag.count <= FetchLink.tag,
            content.count <= FetchLink.report,
            let nonce = try? Random.bytes(FetchLink.nonce)
        else { return .lost(.missing) }
        let question = FetchQuestion(
            nonce: nonce, method: method, seconds: seconds, url: url, tag: tag)
        // What somebody types to say who they are is not left in memory.
        let frame = WipedBuffer(capacity: FrameHeader.size + FetchLink.questionFrame)
        content.withBytes { bytes in
            var sink = BufferSink(frame)
            Frame.write(question, type: FetchLink.question, tag: 0, payload: bytes, to: &sink)
        }
        let fetched = await answer(to: question, frame, until: deadline)
        switch fetched {
        case .answered, .failed: break
        // Whatever it may say later answers nothing.
        case .lost: end()
        }
        return fetched
    }

    private func answer(
        to question: FetchQuestion, _ frame: WipedBuffer, until deadline: UInt64
    ) async -> Fetched {
        guard let channel = channel ?? connect() else { return .lost(.missing) }
        self.channel = channel
        var sent = 0
        while sent < frame.count {
            switch frame.withBytes({ bytes in channel.write(bytes.extracting(sent...)) }) {
            case .bytes(let count): sent += count
            case .wouldBlock:
                guard await channel.writable(until: deadline) == .ready else {
                    return .lost(.tooSlow)
                }
            case .ended, .failed: return .lost(.ended)
            }
        }
        var inbox = FetchInbox(question)
        while true {
            switch await channel.readable(until: deadline) {
            case .ready: break
            case .timedOut: return .lost(.tooSlow)
            case .closed: return .lost(.ended)
            }
            switch Self.read(channel, &inbox) {
            case .answer(let fetched): return fetched
            case .more: break
            case .nonsense: return .lost(.nonsense)
            case nil: return .lost(.ended)
            }
        }
    }

    /// Nil if the worker has ended.
    private static func read(_ channel: Channel, _ inbox: inout FetchInbox) -> FetchInbox.Next? {
        // SAFETY: the channel reports how many bytes of the room it has filled.
        unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { room in
            switch unsafe channel.read(into: room) {
            case .bytes(let count):
                return unsafe inbox.take(
                    UnsafeRawBufferPointer(rebasing: room[..<count]).bindMemory(to: UInt8.self).span
                )
            case .wouldBlock: return .more
            case .ended, .failed: return nil
            }
        }
    }

    private func connect() -> Channel? {
        do throws(PosixError) {
            let socket = try OutgoingSocket.connect(to: path)
            // Who listens hears where the organisation's files are: systemd's socket or our own worker.
            let peer = try PeerCredentials.of(socket.raw)
            guard peer.uid == 0 || peer.uid == ThisProcess.uid else { return nil }
            return try Channel(owning: socket)
        } catch {
            return nil
        }
    }
}
