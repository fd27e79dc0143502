internal import CZbar
import Posix

/// appvault-scan: what the QR code in a picture says. The picture lies at standard input and is a
/// stranger's: it is read, decoded and looked at without files, sockets or other programs, and a process
/// looks at one.
enum Scanner {
    private static let help = """
        usage: appvault-scan < PICTURE
               appvault-scan --camera[-and-preview] < DEVICE

        Says what the QR code in a PNG or JPEG has in it. The first line is `code`, and what it says
        follows, as it is; or `none`, `several` (that say different things), `large` (more than 64
        million pixels, or 16 MiB), `picture` (it is neither PNG nor JPEG, or is damaged).

        With --camera it looks through DEVICE for a minute: `looking`, then for each code that it sees
        `code`, a length, and so many bytes behind the line; at the end `late`, `device` (it is no camera),
        `format` (none that can be read here), `busy` or `broken`. With --camera-and-preview a small grey
        picture goes to descriptor 3, ten times a second at most: `AVG1`, width and height of two bytes
        each, and a byte for each pixel.

        """
    /// A file of more is none that a camera makes.
    private static let mostBytes = 16 << 20
    /// No QR code holds more.
    private static let mostText = 4096

    static func run() -> Never {
        switch CommandLine.arguments.dropFirst() {
        case ["--camera"]: CameraScan.run(.none)
        case ["--camera-and-preview"]: CameraScan.run(.shown)
        case _: break
        }
        guard CommandLine.arguments.count == 1 else {
            let isHelp = CommandLine.arguments.dropFirst().allSatisfy { $0 == "--help" }
            try? ToolIO.write(isHelp ? 1 : 2, Array(help.utf8).span)
            ThisProcess.leave(isHelp ? 0 : 2)
        }
        do throws(PosixError) {
            try Sandbox.enterPicture()
        } catch {
            ThisProcess.leave(1)
        }
        look()
    }

    private static func look() -> Never {
        var count = 0
        // SAFETY: the bytes are as many as the call says, and live until this process ends.
        guard let bytes = unsafe appvault_read_all(mostBytes, &count) else { ThisProcess.leave(1) }
        guard count <= mostBytes else { leave("large") }
        guard count > 0 else { leave("picture") }
        var picture = unsafe appvault_picture()
        // SAFETY: the decoders read as many bytes as they are told; the pixels that they make are as many
        // as they say.
        let read =
            unsafe bytes[0] == 0xFF
            ? appvault_read_jpeg(bytes, count, &picture) { Scanner.leave("picture") }
            : appvault_read_png(bytes, count, &picture)
        switch read {
        case APPVAULT_SCAN_DONE: break
        case APPVAULT_SCAN_TOO_LARGE, APPVAULT_SCAN_NO_ROOM: leave("large")
        default: leave("picture")  // lint: allow: a number of C's
        }
        while unsafe Int(picture.width) * Int(picture.height) > Int(APPVAULT_ENOUGH_PIXELS) {
            unsafe appvault_halve(&picture)
        }
        switch unsafe code(in: &picture) {
        case .none: break
        case let found: leave(found)
        }
        // Noise and a blur are less in a smaller picture.
        guard unsafe min(picture.width, picture.height) > 40 else { leave("none") }
        unsafe appvault_halve(&picture)
        leave(unsafe code(in: &picture))
    }

    /// What the codes of a picture say together.
    enum Found: Equatable {
        case none, one([UInt8]), several
    }

    /// Looks at it twice: on a dark page a code is often the other way round, and it may stand beside one
    /// that is not. The picture is as it was when this is done.
    static func code(in picture: inout appvault_picture) -> Found {
        var found = Found.none
        for _ in 0..<2 {
            let seen = unsafe codes(of: picture)
            if found == .none {
                found = seen
            } else if seen != .none, seen != found {
                found = .several
            }
            unsafe appvault_invert(&picture)
        }
        return found
    }

    private static func codes(of picture: appvault_picture) -> Found {
        var text = [CChar](repeating: 0, count: mostText)
        var length = 0
        // SAFETY: as many characters are written as there is room for.
        switch unsafe withUnsafePointer(
            to: picture, { unsafe appvault_codes($0, &text, text.count, &length) })
        {
        case 0: return .none
        case 1 where length <= mostText:
            return .one(text.prefix(length).map { UInt8(bitPattern: $0) })
        case 1: return .none
        case 2: return .several
        default: ThisProcess.leave(1)  // lint: allow: a number of C's
        }
    }

    private static func leave(_ found: Found) -> Never {
        switch found {
        case .none: leave("none")
        case .one(let text): leave("code", text)
        case .several: leave("several")
        }
    }

    private static func leave(_ found: String, _ text: [UInt8] = []) -> Never {
        try? ToolIO.write(1, (Array("\(found)\n".utf8) + text).span)
        ThisProcess.leave(0)
    }
}
