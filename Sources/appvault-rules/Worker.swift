internal import CPwquality
import Posix
import Wire

/// appvault-rules, from its command line to its end.
enum Worker {
    private static let worker = ConnectionWorker(
        "appvault-rules",
        about: """
            Judges one candidate passcode by an administrator's patterns and by libpwquality, for
            appvaultd, in a process that can do nothing else. Started by systemd for each connection;
            with --listen it serves a socket of its own, a process for each connection.
            """)

    static func run() -> Never {
        worker.run(
            prepare: { appvault_utf8() == 0 ? nil : "there is no locale C.UTF-8" }, serve: serve)
    }

    /// Judges one candidate; then the process ends.
    private static func serve(_ connection: consuming FileDescriptor) -> Never {
        let number = connection.raw
        do throws(PosixError) {
            let socket = try ClientSocket(
                connected: connection, silence: Int32(RuleLink.wait))
            // Made before the sandbox, because it must be locked in memory.
            let room = SecretBuffer(capacity: FrameHeader.size + RuleLink.questionFrame + 1)
            try Sandbox.enter(connection: number, dictionaries: Rules.dictionaries)
            try answer(socket, room)
        } catch {
            worker.complain(error.description, status: 1)
        }
        ThisProcess.leave(0)
    }

    private static func answer(
        _ socket: borrowing ClientSocket, _ room: consuming SecretBuffer
    ) throws(PosixError) {
        guard let (question, candidate) = try question(socket, &room) else { ThisProcess.leave(1) }
        let needsDictionary = question.rules.contains { $0.kind == .dictionary }
        try Sandbox.settle(needsDictionary ? .dictionaries : .none)
        for (place, rule) in question.rules.enumerated() {
            let (outcome, reason) = Rules.judge(rule, &room, from: candidate)
            let answer = RuleAnswer(
                nonce: question.nonce, place: UInt8(truncatingIfNeeded: place), outcome: outcome,
                reason: reason)
            var frame: [UInt8] = []
            Frame.write(answer, type: RuleLink.answer, tag: 0, to: &frame)
            var bytes = SecretBuffer()
            bytes.append(frame)
            try socket.send(bytes)
        }
    }

    /// Returns the one question, and where its candidate begins in `room`. The candidate is the
    /// last thing in `room`.
    private static func question(
        _ socket: borrowing ClientSocket, _ room: inout SecretBuffer
    ) throws(PosixError) -> (RuleQuestion, Int)? {
        while true {
            guard try socket.receive(into: &room) > 0 else { return nil }
            do throws(WireError) {
                let header = try room.withSpan { (bytes) throws(WireError) in
                    try FrameHeader.decode(bytes, limit: RuleLink.questionFrame)
                }
                guard let header, room.count >= FrameHeader.size + header.length else { continue }
                guard header.type == RuleLink.question, header.tag == 0 else { return nil }
                return try room.withSpan(
                    from: FrameHeader.size, count: room.count - FrameHeader.size
                ) { (body) throws(WireError) in
                    var reader = Reader()
                    let question = try RuleQuestion(&reader, body)
                    let candidate = try reader.payload(body, limit: Limits.secret)
                    try reader.end(body)
                    guard
                        UTF8Check.isText(body, start: candidate.start, count: candidate.count)
                    else { throw .notText }
                    return (question, FrameHeader.size + candidate.start)
                }
            } catch {
                return nil
            }
        }
    }
}
