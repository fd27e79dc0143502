import KeySlots
import Posix

/// A disk that loses power: after `budget` writes and syncs every call fails, and what was not
/// synced may or may not be on the disk.
final class PowerDisk: BlockDisk {
    private var durable: [UInt8]
    private var pending: [(block: Int, bytes: [UInt8])] = []
    private(set) var steps = 0
    var budget: Int?
    /// A block whose writes never reach the disk, although the sync succeeds and the cache shows
    /// them.
    var losing: Int?

    init(_ bytes: [UInt8]) {
        durable = bytes
    }

    var bytes: [UInt8] {
        Self.apply(pending, to: durable)
    }

    func read() throws(PosixError) -> [UInt8] {
        bytes
    }

    func readBack() throws(PosixError) -> [UInt8] {
        durable
    }

    func write(_ bytes: [UInt8], block: Int) throws(PosixError) {
        // The write during which the power fails may have reached the disk.
        pending.append((block, bytes))
        try step()
    }

    func note(_ bytes: [UInt8], block: Int) throws(PosixError) {
        try write(bytes, block: block)
    }

    func trim() throws(PosixError) {
        try step()
        guard durable.count > 65_536 else { return }
        durable.removeLast(durable.count - 65_536)
    }

    func sync() throws(PosixError) {
        try step()
        durable = Self.apply(pending.filter { $0.block != losing }, to: durable)
        pending.removeAll { $0.block != losing }
    }

    private func step() throws(PosixError) {
        if let budget, steps >= budget { throw PosixError(call: "power", number: 5) }
        steps += 1
    }

    /// Everything that can be on the disk after the power came back. If that is very much, some
    /// hundred of it, with both ends; an odd step changes every bit.
    var afterPowerCut: [[UInt8]] {
        let last = 1 << pending.count - 1
        let step = max(37, last / 100) | 1
        let masks =
            last < 256 ? Array(0...last) : Array(stride(from: 0, to: last, by: step)) + [last]
        return masks.map { mask in
            let survived = pending.enumerated().filter { mask >> $0.offset & 1 == 1 }
            return Self.apply(survived.map(\.element), to: durable)
        }
    }

    private static func apply(
        _ writes: [(block: Int, bytes: [UInt8])], to bytes: [UInt8]
    ) -> [UInt8] {
        var result = bytes
        for write in writes {
            let start = write.block * 4096
            let missing = max(start + write.bytes.count - result.count, 0)
            result += [UInt8](repeating: 0, count: missing)
            result.replaceSubrange(start..<(start + write.bytes.count), with: write.bytes)
        }
        return result
    }
}
