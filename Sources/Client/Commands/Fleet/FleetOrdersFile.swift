import Fleet
import Posix
import Wire
import Words

/// The orders that an administrator keeps in a file, until they are signed.
struct FleetOrdersFile {
    let path: [UInt8]
    /// Lines for people. They stay, at the top.
    private var comments: [[UInt8]] = []
    var orders = Orders.none

    /// One that does not exist yet has no orders.
    init(_ path: [UInt8], _ run: Run) throws(ClientError) {
        self.path = path
        guard ToolIO.kind(of: path) != .missing else { return }
        let text = try run.text(of: .path(path)).1
        orders = try Self.read(text)
        comments = text.split(separator: 0x0A).filter { $0.first == UInt8(ascii: "#") }
            .map { Array($0) }
    }

    private static func read(_ text: [UInt8]) throws(ClientError) -> Orders {
        do throws(PlainSections.Fault) {
            return try Orders(text)
        } catch {
            throw ClientError(Words.Refusal.bundle(.orders(line: error.line, wrong: error.wrong)))
        }
    }

    func write(_ run: Run) throws(ClientError) {
        let text = comments.flatMap { $0 + [0x0A] } + orders.render()
        // What no machine would read is not written.
        _ = try Self.read(text)
        do throws(PosixError) {
            let file = try ReplacementFile(path: path)
            try file.write(text.span)
            try file.commit(.replace)
        } catch {
            throw .refused(
                Refused(
                    .storageFailed,
                    run.words(.fleetNotWritten, Printable.escaped(path), ToolIO.reason(error))))
        }
    }
}
