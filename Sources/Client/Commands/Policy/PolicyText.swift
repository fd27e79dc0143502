import Posix
import Wire

/// Policy files that are not installed yet.
extension Run {
    /// The file's name for error lines, and its content.
    func text(of file: FileOperand) throws(ClientError) -> ([UInt8], [UInt8]) {
        var text = SecretBuffer()
        let name: [UInt8]
        do throws(PosixError) {
            switch file {
            case .standardStream:
                name = Array("-".utf8)
                while text.count <= Limits.value {
                    let got = try text.read(
                        from: environment.input.descriptor, atMost: 65_536)
                    if got == 0 { break }
                }
            case .path(let path):
                name = path
                let source = try SourceFile(path: path)
                try source.read(into: &text, upTo: Limits.value + 1)
            }
        } catch {
            let name: [UInt8] =
                switch file {
                case .standardStream: words(.standardInput)
                case .path(let path): path
                }
            let code: Code = error.isMissing ? .doesNotExist : .invalidArgument
            throw .refused(
                Refused(code, words(.cannotRead, name, ToolIO.reason(error))))
        }
        guard text.count <= Limits.value else {
            throw .refused(
                Refused(
                    .tooLarge, words(.policyLarge, name), hint: words(.policyLargeHint),
                    parameters: [
                        .init(
                            name: Array("limit".utf8), value: Array(String(Limits.value).utf8))
                    ]))
        }
        return (name, text.withSpan { span in (0..<span.count).map { span[$0] } })
    }
}
