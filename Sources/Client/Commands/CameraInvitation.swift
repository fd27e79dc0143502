import Fleet
import Posix
import Wire
import Words

/// Whoever holds something in front of a camera, and what they see meanwhile.
struct Onlooker {
    /// The camera gives pictures.
    var looking: () -> Void
    /// It was another code.
    var stranger: () -> Void
    /// Nil where nothing can be drawn.
    var sees: ((CameraPicture) -> Void)?
    /// Rings when they may have left.
    var bell: Doorbell?
    var hasLeft: () -> Bool = { false }
}

/// An invitation that somebody holds in front of a camera. Another program looks through it and may do
/// nothing else (appvault-scan); what it has read is judged here, before anything is asked.
extension Run {
    /// Beyond the program's own minute.
    private static let patience: UInt64 = 80_000

    /// At a terminal.
    func seen(through device: [UInt8]?) throws(ClientError) -> [UInt8] {
        try seen(
            through: device,
            Onlooker(
                looking: { self.show() },
                stranger: { self.voice.error(self.words(.cameraStranger)) }))
    }

    func seen(
        through device: [UInt8]?, _ onlooker: Onlooker
    ) throws(ClientError) -> [UInt8] {
        if let device {
            switch try look(through: device, onlooker) {
            case .invitation(let link): return link
            case .missing: throw .refused(Refused(.doesNotExist, words(.cameraMissing, device)))
            case .noCamera: throw .refused(Refused(.invalidArgument, words(.cameraIsNone, device)))
            }
        }
        for number in 0..<64 {
            switch try look(through: Array("/dev/video\(number)".utf8), onlooker) {
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

    private func look(
        through device: [UInt8], _ onlooker: Onlooker
    ) throws(ClientError) -> Sight {
        let shown = Printable.escaped(device)
        let pictures: PicturePipe
        do throws(PosixError) {
            pictures = try PicturePipe()
        } catch {
            throw .refused(
                Refused(.serviceUnavailable, words(.cannotRead, shown, ToolIO.reason(error))))
        }
        let process: PipedProcess
        do throws(PosixError) {
            process = try start(device, pictures, draws: onlooker.sees != nil)
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
        var drawn = CameraPictures()
        let end = ToolIO.milliseconds + Self.patience
        while true {
            guard let said = output.next() else {
                let now = ToolIO.milliseconds
                let over = ClientError.refused(
                    Refused(
                        .serviceUnavailable, words(.scanProgram), hint: words(.scanProgramHint)))
                guard now < end else { throw over }
                switch process.wait(pictures, onlooker.bell, Int32(end - now)) {
                case .late: throw over
                case .output: guard output.read(process) else { throw over }
                case .drawn: if let picture = drawn.add(pictures.read()) { onlooker.sees?(picture) }
                case .rung:
                    if onlooker.hasLeft() {
                        throw .refused(Refused(.cancelled, words(.cancelled)))
                    }
                }
                continue
            }
            switch said {
            case .looking: onlooker.looking()
            case .code(let text):
                if (try? JoinLink(text)) != nil { return .invitation(text) }
                // Nothing of what a stranger wrote is shown.
                onlooker.stranger()
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

    private func start(
        _ device: [UInt8], _ pictures: borrowing PicturePipe, draws: Bool
    ) throws(PosixError) -> PipedProcess {
        let device = try DeviceFile(path: device)
        guard draws else {
            return try PipedProcess(settings.scanner, argument: "--camera", reading: device)
        }
        return try PipedProcess(
            settings.scanner, argument: "--camera-and-preview", reading: device,
            drawing: pictures)
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

/// What a camera sees, small and grey.
package struct CameraPicture: Equatable, Sendable {
    package let width: Int
    package let height: Int
    /// One byte for each point, row by row.
    package let points: [UInt8]
}

/// The pictures that the program has drawn, out of its bytes: `AVG1`, two bytes each for width and
/// height, and the points. It has seen a stranger's picture: of what is none, nothing more is taken.
struct CameraPictures {
    static let (widest, highest) = (160, 120)
    private var bytes: [UInt8] = []
    private var isBroken = false

    /// The last whole one of them.
    mutating func add(_ more: [UInt8]) -> CameraPicture? {
        guard !isBroken else { return nil }
        bytes += more
        var last: CameraPicture?
        while bytes.count >= 8 {
            let width = Int(bytes[4]) + Int(bytes[5]) << 8
            let height = Int(bytes[6]) + Int(bytes[7]) << 8
            guard bytes.starts(with: Array("AVG1".utf8)), 1...Self.widest ~= width,
                1...Self.highest ~= height
            else {
                (isBroken, bytes) = (true, [])
                return last
            }
            let end = 8 + width * height
            guard bytes.count >= end else { return last }
            last = CameraPicture(width: width, height: height, points: Array(bytes[8..<end]))
            bytes.removeSubrange(..<end)
        }
        return last
    }
}
