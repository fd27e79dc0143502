internal import CPwquality
import Posix
import Wire

/// appvault-rules, from its command line to its end.
enum Worker {
    static func run() -> Never {
        switch Arguments.parse(Array(CommandLine.arguments.dropFirst())) {
        case .say(let text):
            StandardOutput.write(Array(text.utf8))
            ThisProcess.leave(0)
        case .wrong(let text): complain(text, status: 2)
        case .run(let arguments): run(arguments)
        }
    }

    private static func run(_ arguments: Arguments) -> Never {
        if case .failed(let error) = ThisProcess.harden() { complain(error.description, status: 1) }
        guard appvault_utf8() == 0 else { complain("there is no locale C.UTF-8", status: 1) }
        if let path = arguments.listen {
            do throws(PosixError) {
                try ForkingListener.run(at: path, mode: 0o600, limit: arguments.limit) {
                    serve($0, for: arguments.user)
                }
            } catch {
                complain(error.description, status: 1)
            }
        }
        guard let connection = HandedOver.descriptor() else {
            complain("no connection was handed over, and there is no --listen", status: 2)
        }
        serve(connection, for: arguments.user)
    }

    /// Judges one candidate; then the process ends.
    private static func serve(_ connection: consuming FileDescriptor, for user: UInt32) -> Never {
        let number = connection.raw
        do throws(PosixError) {
            // Check who the peer is before reading its first byte.
            guard try PeerCredentials.of(number).uid == user else { ThisProcess.leave(1) }
            let socket = try ClientSocket(
                connected: connection, silence: Int32(RuleLink.wait))
            // Made before the sandbox, because it must be locked in memory.
            let room = SecretBuffer(capacity: FrameHeader.size + RuleLink.questionFrame + 1)
            try Sandbox.enter(connection: number, dictionaries: Rules.dictionaries)
            try answer(socket, room)
        } catch {
            complain(error.description, status: 1)
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

    private static func complain(_ text: String, status: Int32) -> Never {
        StandardError.write(
            Array("appvault-rules: \(text)\nhint: appvault-rules --help\n".utf8))
        ThisProcess.leave(status)
    }
}
