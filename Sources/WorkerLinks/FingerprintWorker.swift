import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// appvault-fingerprint as the daemon uses it. It is the one process that touches a reader, so it
/// may hang, crash or lie. Whatever it does, each question gets an answer in time.
@LoopActor
package final class FingerprintWorker: FingerScanner {
    private let path: String
    /// Writes to the journal what an administrator wants to know.
    private let noteFault: (String) -> Void
    /// It serves one request at a time.
    private let gate = Gate(width: 1, ownLimit: 64, apartLimit: 64)
    private var seen: (readers: [FingerprintReader], at: UInt64)?
    private var notedAt: UInt64?
    /// While the machine sleeps there is no reader.
    private var isAsleep = false
    private var sleeps = 0
    private var missed: [FingerprintReader] = []
    /// Readers that were ready quickly when they were last used.
    private var quick: Set<[UInt8]> = []
    private var hungAt: UInt64?
    /// The channel of a request without a run, which no caller can stop. `letGo` closes it.
    private var uncalled: Channel?

    /// Milliseconds to wait: for the list of readers, for a reader to be ready, for a scan to stop.
    private static let listWait: UInt64 = 2_000
    private static let readyWait: UInt64 = 6_000
    /// For a reader that was ready within half of this time, and for any reader when one has just
    /// hung.
    private static let shortReadyWait: UInt64 = 2_000
    private static let hangRemembered: UInt64 = 60_000
    private static let stopWait: UInt64 = 1_500
    /// For an enrolment: the reader may have the finger already, and then the worker deletes its
    /// print from the reader's chip.
    private static let undoWait: UInt64 = 16_000
    private static let letGoWait: UInt64 = 3_000
    private static let firstLook: UInt64 = 250
    private static let lastLook: UInt64 = 30_000
    /// How long a list may be used by callers that only offer a reader.
    private static let fresh: UInt64 = 5_000

    package init(path: String, noteFault: @escaping (String) -> Void) {
        self.path = path
        self.noteFault = noteFault
    }

    /// As they were found last, without asking.
    package var lastReaders: [FingerprintReader] { seen?.readers ?? [] }

    /// While somebody scans, those that were found last.
    package func readers(mayBeOld: Bool) async throws(ScannerFailure) -> [FingerprintReader] {
        if isAsleep { throw .fault(.noReader) }
        if let seen, !gate.isIdle { return seen.readers }
        if mayBeOld, let seen, Clock.bootMilliseconds() - seen.at < Self.fresh {
            return seen.readers
        }
        let nonce = Self.nonce()
        let frame = Self.frame(FingerprintNonce(nonce: nonce), FingerprintLink.list)
        let answer: FingerInbox.Answer
        do throws(ScannerFailure) {
            answer = try await ask(.list, nonce, frame, within: Self.listWait)
        } catch {
            seen = nil
            throw error
        }
        guard case .readers(let readers) = answer else { throw .lost(.nonsense) }
        seen = (readers, Clock.bootMilliseconds())
        return readers
    }

    /// Waits for one touch and compares it with all `prints`.
    package func match(
        _ prints: [SecretBox], at reader: ReaderChoice, seconds: UInt8, _ run: FingerRun
    ) async -> FingerEnd {
        let nonce = Self.nonce()
        let frame: WipedBuffer?
        frame = Self.frame(
            prints, FingerprintLink.match,
            TemplatesRequest(nonce: nonce, reader: reader, seconds: seconds, sizes: []))
        guard let frame else { return .failed(.badTemplate) }
        do throws(ScannerFailure) {
            let wait = UInt64(seconds) * 1000 + Self.readyWait
            let answer = try await ask(
                .match(templates: prints.count), nonce, frame, within: wait, run, at: reader)
            switch answer {
            case .matched(let index): return .matched(index)
            case .noMatch: return .noMatch
            case .readers, .enrolled, .done, .stored, .failed: return .lost(.nonsense)
            }
        } catch {
            return Self.end(error)
        }
    }

    package func enroll(at reader: ReaderChoice, _ run: FingerRun) async -> FingerEnd {
        let nonce = Self.nonce()
        let frame = Self.frame(
            ReaderRequest(nonce: nonce, reader: reader), FingerprintLink.enroll)
        do throws(ScannerFailure) {
            let wait = UInt64(Limits.exchangeWait)
            guard
                case .enrolled(let print) = try await ask(
                    .enroll, nonce, frame, within: wait, run, at: reader)
            else { return .lost(.nonsense) }
            return .enrolled(print)
        } catch {
            return Self.end(error)
        }
    }

    /// From the reader's own chip.
    package func delete(_ print: SecretBox, at reader: ReaderChoice) async throws(ScannerFailure) {
        let nonce = Self.nonce()
        let body = ReaderRequest(nonce: nonce, reader: reader)
        let frame = WipedBuffer(capacity: 4096)
        let written: Void? = try? print.read { (secret) throws(SecretsError) in
            secret.withBytes { bytes in
                var sink = BufferSink(frame)
                Frame.write(body, type: FingerprintLink.delete, tag: 0, payload: bytes, to: &sink)
            }
        }
        guard written != nil else { throw .fault(.badTemplate) }
        _ = try await ask(.delete, nonce, frame, within: FingerprintLink.readerWait * 2)
    }

    package func clear(at reader: ReaderChoice) async throws(ScannerFailure) {
        let nonce = Self.nonce()
        let frame = Self.frame(ReaderRequest(nonce: nonce, reader: reader), FingerprintLink.clear)
        _ = try await ask(.clear, nonce, frame, within: FingerprintLink.readerWait * 2)
    }

    /// What a reader's chip holds, and which of the prints are ours.
    package func stored(
        _ prints: [SecretBox], at reader: ReaderChoice, _ run: FingerRun
    ) async throws(ScannerFailure) -> [FingerprintStored.Print] {
        let nonce = Self.nonce()
        let frame = Self.frame(
            prints, FingerprintLink.stored,
            TemplatesRequest(nonce: nonce, reader: reader, seconds: 0, sizes: []))
        guard let frame else { throw .fault(.badTemplate) }
        let answer = try await ask(.stored, nonce, frame, within: FingerprintLink.readerWait, run)
        guard case .stored(let found) = answer else { throw .lost(.nonsense) }
        return found
    }

    // MARK: sleep

    /// From here on no request gets a reader.
    package func beginSleep() {
        isAsleep = true
        sleeps += 1
        if let seen { missed = seen.readers }
        seen = nil
    }

    /// Returns when no request has a reader any more, or when one did not let go of it in time.
    package func letGo() async {
        uncalled?.close()
        guard (try? await gate.enter(.own, until: Self.soon(Self.letGoWait))) != nil else { return }
        gate.leave()
    }

    package func wakeUp() {
        isAsleep = false
        let mine = sleeps
        guard !missed.isEmpty else { return }
        EventLoop.shared.task { await self.lookAgain(mine) }
    }

    /// After a sleep a reader comes back when its bus does. That may take a while, or never happen.
    private func lookAgain(_ mine: Int) async {
        var wait = Self.firstLook
        while true {
            await EventLoop.sleep(until: Self.soon(wait))
            guard !isAsleep, mine == sleeps else { return }
            let found = (try? await readers(mayBeOld: false)) ?? []
            guard mine == sleeps else { return }
            missed.removeAll { one in found.contains { $0.id == one.id && $0.port == one.port } }
            guard !missed.isEmpty, wait < Self.lastLook else { break }
            wait = min(wait * 2, Self.lastLook)
        }
        missed = []
    }

    private static func end(_ failure: ScannerFailure) -> FingerEnd {
        switch failure {
        case .fault(let fault): .failed(fault)
        case .lost(let lost): .lost(lost)
        }
    }

    // MARK: one question

    private func ask(
        _ question: FingerInbox.Question, _ nonce: [UInt8], _ frame: WipedBuffer,
        within wait: UInt64, _ run: FingerRun? = nil, at reader: ReaderChoice? = nil
    ) async throws(ScannerFailure) -> FingerInbox.Answer {
        do throws(Refusal) {
            try await gate.enter(.own, until: Clock.bootMilliseconds() + Self.listWait)
        } catch {
            throw .fault(.busy)
        }
        defer { gate.leave() }
        guard !isAsleep else { throw .fault(.noReader) }
        guard nonce.count == FingerprintLink.nonce else { throw .lost(.missing) }
        let deadline = Clock.bootMilliseconds() + wait
        let channel = try await connect(until: min(deadline, Self.soon(Self.listWait)))
        if run == nil { uncalled = channel }
        defer {
            run?.whenStopped = nil
            uncalled = nil
            channel.close()
        }
        run?.whenStopped = { channel.wakeReader() }
        do throws(ScannerFailure) {
            try await send(frame, on: channel, until: min(deadline, Self.soon(Self.listWait)))
            let answer = try await listen(
                FingerInbox(question, nonce: nonce), nonce, channel, until: deadline, run, reader)
            if case .failed(let fault) = answer { throw .fault(fault) }
            return answer
        } catch {
            if case .lost(let lost) = error { note(lost) }
            throw error
        }
    }

    private func listen(
        _ inbox: FingerInbox, _ nonce: [UInt8], _ channel: Channel, until end: UInt64,
        _ run: FingerRun?, _ reader: ReaderChoice?
    ) async throws(ScannerFailure) -> FingerInbox.Answer {
        var inbox = inbox
        var deadline = end
        // A reader that never gets ready would keep the person from typing the passcode.
        let began = Clock.bootMilliseconds()
        var ready = reader.map { began + readyWait($0) }
        var isCancelled = false
        while true {
            if let stop = run?.stop, !isCancelled {
                isCancelled = true
                ready = nil
                deadline = min(deadline, Self.soon(Self.wait(after: stop, inbox.question)))
                let cancel = Self.frame(FingerprintNonce(nonce: nonce), FingerprintLink.cancel)
                try await send(cancel, on: channel, until: deadline)
            }
            switch inbox.next() {
            case .scan(let scan):
                if let reader, ready != nil { wasReady(reader, since: began) }
                ready = nil
                run?.say(.heard(scan))
                continue
            case .answer(let answer): return answer
            case .nonsense: throw .lost(.nonsense)
            case .more: break
            }
            let limit = min(deadline, ready ?? deadline)
            switch await channel.readable(until: limit) {
            case .closed: throw .lost(.ended)
            case .timedOut:
                guard Clock.bootMilliseconds() >= limit else { continue }
                if ready != nil { hungAt = Clock.bootMilliseconds() }
                throw .lost(.tooSlow)
            case .ready: guard Self.read(channel, into: inbox) else { throw .lost(.ended) }
            }
        }
    }

    /// How long to wait for a reader to be ready. Some take seconds; but one that hangs keeps the
    /// person from typing the passcode for as long.
    private func readyWait(_ reader: ReaderChoice) -> UInt64 {
        if let hungAt, Clock.bootMilliseconds() - hungAt < Self.hangRemembered {
            return Self.shortReadyWait
        }
        return quick.contains(Self.key(reader)) ? Self.shortReadyWait : Self.readyWait
    }

    private func wasReady(_ reader: ReaderChoice, since began: UInt64) {
        hungAt = nil
        if Clock.bootMilliseconds() - began <= Self.shortReadyWait / 2 {
            quick.insert(Self.key(reader))
        } else {
            quick.remove(Self.key(reader))
        }
    }

    /// How long the worker may take to end a request. The person does not wait for it, but the next
    /// one at the reader does.
    package static func wait(after stop: FingerStop, _ question: FingerInbox.Question) -> UInt64 {
        switch (stop, question) {
        case (.preempted, _), (.withdrawn, _): stopWait
        case (.person, .enroll), (.gone, .enroll), (.nobody, .enroll): undoWait
        // Otherwise a reader that closes slowly would count as one that was touched.
        case (.nobody, _): readyWait
        case (.person, _), (.gone, _): stopWait
        }
    }

    private static func key(_ reader: ReaderChoice) -> [UInt8] { reader.id + [0] + reader.port }

    private static func soon(_ wait: UInt64) -> UInt64 { Clock.bootMilliseconds() + wait }

    private func connect(until deadline: UInt64) async throws(ScannerFailure) -> Channel {
        while true {
            do throws(PosixError) {
                let socket = try OutgoingSocket.connect(to: path)
                // The peer receives prints, so it must be systemd's socket or our own worker.
                let peer = try PeerCredentials.of(socket.raw)
                guard peer.uid == 0 || peer.uid == ThisProcess.uid else {
                    throw .init(call: "", number: 1)
                }
                return try Channel(owning: socket)
            } catch {
                guard error.isTimeout else { throw .lost(.missing) }
            }
            // The worker's queue of connections is full: try again.
            let next = Clock.bootMilliseconds() + 10
            guard next < deadline else { throw .lost(.tooSlow) }
            await EventLoop.sleep(until: next)
        }
    }

    private func send(
        _ frame: WipedBuffer, on channel: Channel, until deadline: UInt64
    ) async throws(ScannerFailure) {
        var sent = 0
        while sent < frame.count {
            switch frame.withBytes({ bytes in channel.write(bytes.extracting(sent...)) }) {
            case .bytes(let count): sent += count
            case .wouldBlock:
                guard await channel.writable(until: deadline) == .ready else {
                    throw .lost(.tooSlow)
                }
            case .ended, .failed: throw .lost(.ended)
            }
        }
    }

    /// False if the worker has ended.
    private static func read(_ channel: Channel, into inbox: FingerInbox) -> Bool {
        switch inbox.take(from: channel) {
        case .bytes, .wouldBlock: true
        case .ended, .failed: false
        }
    }

    // MARK: frames

    private static func nonce() -> [UInt8] {
        (try? Random.bytes(FingerprintLink.nonce)) ?? []
    }

    private static func frame<B: Body>(_ body: B, _ type: UInt16) -> WipedBuffer {
        let buffer = WipedBuffer(capacity: 1024)
        var sink = BufferSink(buffer)
        Frame.write(body, type: type, tag: 0, to: &sink)
        return buffer
    }

    /// Nil if there are too many prints, or one can no longer be read.
    private static func frame(
        _ prints: [SecretBox], _ type: UInt16, _ body: TemplatesRequest
    ) -> WipedBuffer? {
        guard prints.count <= FingerprintLink.templatesMost else { return nil }
        let all = WipedBuffer(capacity: 16_384)
        var body = body
        for print in prints {
            let count = try? print.read { (secret) throws(SecretsError) in
                secret.withBytes { bytes in
                    all.append(bytes)
                    return bytes.count
                }
            }
            guard let count, count > 0, count <= FingerprintLink.template else { return nil }
            body.sizes.append(UInt32(count))
        }
        let frame = WipedBuffer(capacity: all.count + 1024)
        var sink = BufferSink(frame)
        all.withBytes { bytes in
            Frame.write(body, type: type, tag: 0, payload: bytes, to: &sink)
        }
        return frame
    }

    /// Notes that the worker gave no answer, not more often than every ten seconds. A worker that
    /// is not installed is no fault.
    private func note(_ lost: FingerLost) {
        let now = Clock.bootMilliseconds()
        if lost == .missing { return }
        if let notedAt, now - notedAt < 10_000 { return }
        notedAt = now
        noteFault("the fingerprint worker gave no answer: \(lost)")
    }
}
