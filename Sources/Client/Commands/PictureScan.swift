import Posix
import Wire

/// What the QR code in a picture says. The picture is a stranger's, so another program looks at it,
/// which may do nothing else (appvault-scan).
extension Run {
    /// Beyond the program's own limits.
    private static let patience: Int32 = 30_000
    private static let mostAnswer = 8192

    func scanned(_ file: FileOperand) throws(ClientError) -> [UInt8] {
        let (name, answer) = try ask(file)
        let parts = answer.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let text = parts.count > 1 ? Array(parts[1]) : []
        let shown = Printable.escaped(name)
        switch parts.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "code" where text.starts(with: Array("appvault:".utf8)): return text
        case "code":
            throw .refused(Refused(.invalidArgument, words(.scanStranger, shown)))
        case "none":
            throw .refused(
                Refused(.invalidArgument, words(.scanNone, shown), hint: words(.scanNoneHint)))
        case "several":
            throw .refused(
                Refused(.invalidArgument, words(.scanSeveral, shown), hint: words(.scanSeveralHint))
            )
        case "large": throw .refused(Refused(.tooLarge, words(.scanLarge, shown)))
        case "picture": throw .refused(Refused(.dataType, words(.scanPicture, shown)))
        // It did not start, or was ended: by a picture that it could not bear, or by its limits.
        default:
            throw .refused(
                Refused(
                    .serviceUnavailable, words(.scanProgram), hint: words(.scanProgramHint)))
        }
    }

    private func ask(_ file: FileOperand) throws(ClientError) -> (name: [UInt8], answer: [UInt8]) {
        var name = words(.standardInput)
        if case .path(let path) = file { name = path }
        var answer = SecretBuffer()
        let process: PipedProcess
        do throws(PosixError) {
            let source =
                switch file {
                case .path(let path): try SourceFile(path: path)
                case .standardStream: try SourceFile(reading: environment.input.descriptor)
                }
            process = try PipedProcess(settings.scanner, reading: source)
        } catch {
            if error.call == "execve" || error.call == "fork" { return (name, []) }
            throw .refused(
                Refused(
                    error.isMissing ? .doesNotExist : .invalidArgument,
                    words(.cannotRead, Printable.escaped(name), ToolIO.reason(error))))
        }
        let end = ToolIO.milliseconds + UInt64(Self.patience)
        while answer.count < Self.mostAnswer {
            let now = ToolIO.milliseconds
            guard now < end, process.wait(beside: -1, Int32(end - now)) == .output else { break }
            guard let got = try? process.read(into: &answer, atMost: 4096), got > 0 else { break }
        }
        return (name, answer.withSpan { span in span.indices.map { span[$0] } })
    }
}
