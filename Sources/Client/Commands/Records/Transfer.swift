import Posix
import ToolTexts
import Wire

/// The errors about files that export and import share.
extension Run {
    func cannot(_ text: ToolText, _ path: [UInt8], _ error: PosixError) -> Refused {
        Refused(
            error.isMissing ? .doesNotExist : error.isNoSpace ? .storageFailed : .invalidArgument,
            words(text, Printable.escaped(path), ToolIO.reason(error)))
    }
}
