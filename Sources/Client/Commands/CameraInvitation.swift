import Fleet
import Posix
import Wire
import Words

/// An invitation that somebody holds in front of a camera. Another program looks through it and may do
/// nothing else (appvault-scan); what it has read is judged here, before anything is asked.
extension Run {
    /// Beyond the program's own minute.
    private static let patience: UInt64 = 80_000

    func seen(through device: [UInt8]?) throws(ClientError) -> [UInt8] {
        if let device {
            switch try look(through: device) {
            case .invitation(let link): return link
            case .missing: throw .refused(Refused(.doesNotExist, words(.cameraMissing, device)))
            case .noCamera: throw .refused(Refused(.invalidArgument, words(.cameraIsNone, device)))
            }
        }
        for number in 0..<64 {
            switch try look(through: Array("/dev/video\(number)".utf8)) {
            case .invitation(let link): return link
            // A camera often has a second device that takes no pictures.
            case .missing, .noCamera: continue
            }
        }
        throw .refused(Refused(.doesNotExist, words(.cameraNone), hint: words(.cameraNoneHint)))
    }

    private enum Sight {
        case invitation([UInt8])
        case missing
        case noCamera
    }

    private func look(through device: [UInt8]) throws(ClientError) -> Sight {
        let shown = Printable.escaped(device)
        let process: PipedProcess
        do throws(PosixError) {
            process = try PipedProcess(
                settings.scanner, argument: "--camera", reading: DeviceFile(path: device))
        } catch {
            if error.call == "execve" || error.call == "fork" {
                throw .refused(
                    Refused(
                        .serviceUnavailable, words(.scanProgram), hint: words(.scanProgramHint)))
            }
            if error.isMissing { return .missing }
            if error.isNoDevice { return .noCamera }
            throw .refused(
                Refused(.notPermitted, words(.cannotRead, shown, ToolIO.reason(error))))
        }
        var output = CameraOutput()
        let end = ToolIO.milliseconds + Self.patience
        while true {
            guard let said = output.next() else {
                let now = ToolIO.milliseconds
                guard now < end, process.wait(beside: -1, Int32(end - now)) == .output,
                    output.read(process)
                else {
                    throw .refused(
                        Refused(
                            .serviceUnavailable, words(.scanProgram), hint: words(.scanProgramHint))
                    )
                }
                continue
            }
            switch said {
            case .looking: show()
            case .code(let text):
                if (try? JoinLink(text)) != nil { return .invitation(text) }
                // Nothing of what a stranger wrote is shown.
                voice.error(words(.cameraStranger))
            case .device: return .noCamera
            case .format: throw .refused(Refused(.dataType, words(.cameraFormat, shown)))
            case .busy:
                throw .refused(
                    Refused(.busy, words(.cameraBusy, shown), hint: words(.cameraBusyHint)))
            case .broken:
                throw .refused(Refused(.serviceUnavailable, words(.cameraBroken, shown)))
            case .late:
                throw .refused(
                    Refused(.doesNotExist, words(.cameraLate), hint: words(.cameraLateHint)))
            }
        }
    }

    private func show() {
        let sheet = Sheet.joinScan().screen(0, .installed(for: environment.language))
        for line in sheet.lines { voice.screen(line) }
        voice.info(words(.cameraLeave))
    }
}

/// What the program has said, line by line. It has seen a stranger's picture: nothing else is believed.
struct CameraOutput {
    enum Said: Equatable {
        case looking
        case code([UInt8])
        case device, format, busy, broken, late
    }

    private static let most = 8192
    private var bytes: [UInt8] = []

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// False at its end, or where it has said more than it can mean.
    mutating func read(_ process: borrowing PipedProcess) -> Bool {
        var more = SecretBuffer()
        guard bytes.count < Self.most, let got = try? process.read(into: &more, atMost: 4096),
            got > 0
        else { return false }
        more.withSpan { span in
            for place in span.indices { bytes.append(span[place]) }
        }
        return true
    }

    /// Nil where it is not whole yet, or never will be.
    mutating func next() -> Said? {
        guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        let simple: Said? =
            switch line {
            case "looking": .looking
            case "device": .device
            case "format": .format
            case "busy": .busy
            case "broken": .broken
            case "late": .late
            case _: nil
            }
        if let simple {
            bytes.removeSubrange(...end)
            return simple
        }
        guard line.hasPrefix("code "), let count = Int(line.dropFirst(5)),
            0...(Self.most / 2) ~= count, bytes.count > end + count
        else { return nil }
        let text = Array(bytes[(end + 1)..<(end + 1 + count)])
        bytes.removeSubrange(..<(end + 1 + count))
        return .code(text)
    }
}
