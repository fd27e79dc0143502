import Posix
import Wire

/// appvault-fetch, from its command line to its end.
enum Worker {
    private static let worker = ConnectionWorker(
        "appvault-fetch",
        about: """
            Fetches an organisation's bundles and hands in this machine's reports, for appvaultd, which
            has no network and checks itself what comes. Started by systemd for each connection; with
            --listen it serves a socket of its own, a process for each connection. In the folder that
            $CREDENTIALS_DIRECTORY names, ca.pem is who may vouch for a server, and client.pem and
            client.key are this machine's certificate; a file that is missing or blank says nothing.
            A proxy is taken from $https_proxy and $no_proxy.
            """)

    static func run() -> Never {
        worker.run(serve: serve)
    }

    /// Answers one question after the other; the process ends with its connection.
    private static func serve(_ connection: consuming FileDescriptor) -> Never {
        let number = connection.raw
        do throws(PosixError) {
            let socket = try ClientSocket(connected: connection, silence: Limits.idleWait)
            try Sandbox.enterNetwork()
            let files = Transfers.Credentials(
                folder: ToolIO.variable("CREDENTIALS_DIRECTORY").map {
                    String(decoding: $0, as: UTF8.self)
                })
            guard let transfers = Transfers(files) else {
                worker.complain("libcurl does not start", status: 1)
            }
            var room = SecretBuffer()
            while let (question, report) = try next(socket, &room) {
                let (answer, content) = transfers.run(question, report: report, asker: number)
                var frame: [UInt8] = []
                Frame.write(
                    answer, type: FetchLink.answer, tag: 0, payload: content.span, to: &frame)
                try ToolIO.write(number, frame.span)
            }
        } catch {
            // The daemon has gone, which it may.
            ThisProcess.leave(error.isBrokenPipe ? 0 : 1)
        }
        ThisProcess.leave(0)
    }

    /// Nil at the end, and where it is no question.
    private static func next(
        _ socket: borrowing ClientSocket, _ room: inout SecretBuffer
    ) throws(PosixError) -> (FetchQuestion, report: [UInt8])? {
        while true {
            let found: (question: FetchQuestion, report: [UInt8], end: Int)?
            do throws(WireError) {
                found = try room.withSpan { (bytes) throws(WireError) in try question(bytes) }
            } catch {
                return nil
            }
            if let found {
                room.dropFirst(found.end)
                return (found.question, found.report)
            }
            room.reserve(4096)
            guard try socket.receive(into: &room) > 0 else { return nil }
        }
    }

    private static func question(
        _ bytes: Span<UInt8>
    ) throws(WireError) -> (question: FetchQuestion, report: [UInt8], end: Int)? {
        guard let header = try FrameHeader.decode(bytes, limit: FetchLink.questionFrame) else {
            return nil
        }
        guard header.type == FetchLink.question, header.tag == 0 else { throw .unknownValue }
        let end = FrameHeader.size + header.length
        guard bytes.count >= end else { return nil }
        let body = bytes.extracting(FrameHeader.size..<end)
        var reader = Reader()
        let question = try FetchQuestion(&reader, body)
        let payload = try reader.payload(body, limit: FetchLink.report)
        try reader.end(body)
        let report = (payload.start..<payload.start + payload.count).map { body[$0] }
        return (question, report, end)
    }
}
