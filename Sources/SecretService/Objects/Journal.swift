import Bus
import Posix

/// Says which program has asked for what of which collection, for the owner of the secrets: once for
/// each program on the bus, and never a secret, a label or an attribute of an item.
///
/// What a program says of itself is not believed, but any program of the same person can be made to
/// look like another one: between them nothing is promised.
@LoopActor
final class Journal {
    /// Lines in a minute. What is more is counted, and said with the next line.
    static let mostInMinute = 60
    /// What is remembered of one client.
    private static let mostOfClient = 64

    private let write: @LoopActor (String) -> Void
    private var told: [String: Set<String>] = [:]
    private var names: [String: String] = [:]
    private var minute: UInt64 = 0
    private var lines = 0
    private var unsaid = 0

    init(write: @escaping @LoopActor (String) -> Void = { Complaint.note($0) }) {
        self.write = write
    }

    func note(_ client: BusClient, _ act: String, in collection: String) {
        let what = act + " " + collection
        guard told[client.name, default: []].count < Self.mostOfClient,
            told[client.name, default: []].insert(what).inserted
        else { return }
        let now = Clock.bootMilliseconds() / 60_000
        if now != minute { (minute, lines) = (now, 0) }
        guard lines < Self.mostInMinute else {
            unsaid += 1
            return
        }
        lines += 1
        let rest = unsaid == 0 ? "" : " (\(unsaid) lines before it were left out)"
        unsaid = 0
        write(Self.clean("\(name(of: client)) \(act): \(collection)\(rest)"))
    }

    func left(_ client: BusClient) {
        told[client.name] = nil
        names[client.name] = nil
    }

    private func name(of client: BusClient) -> String {
        if let known = names[client.name] { return known }
        let pid = Int32(clamping: client.pid)
        let program = (try? Folder.realPath("/proc/\(pid)/exe")) ?? "a program that has ended"
        let unit = Self.unit(of: pid)
        let name = "\(program) (\(unit.map { $0 + ", " } ?? "")process \(pid))"
        names[client.name] = name
        return name
    }

    private static func unit(of pid: Int32) -> String? {
        guard let bytes = try? TextFile.read(at: "/proc/\(pid)/cgroup", limit: 1 << 14),
            let line = bytes.split(separator: 0x0A).last,
            let last = line.split(separator: UInt8(ascii: "/")).last
        else { return nil }
        let name = String(decoding: last, as: UTF8.self)
        return name.hasSuffix(".service") || name.hasSuffix(".scope") ? name : nil
    }

    /// A name that a program has chosen must not look like another line.
    private static func clean(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "?" : $0
                }
            ).prefix(1_024))
    }
}
