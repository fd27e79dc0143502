/// Finds numbers by hashes that no two of them share. The hashes are as good as random, so that
/// some of their bits are the place.
struct HashTable: Sendable {
    /// A number and one; 0 is a free cell.
    private var cells = [UInt32](repeating: 0, count: 16)
    private(set) var count = 0

    private var mask: Int { cells.count - 1 }

    private static func place(_ hash: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: hash) & mask
    }

    func find(_ hash: UInt64, _ hashOf: (UInt32) -> UInt64) -> UInt32? {
        var at = Self.place(hash, mask)
        while cells[at] != 0 {
            let number = cells[at] - 1
            if hashOf(number) == hash { return number }
            at = (at + 1) & mask
        }
        return nil
    }

    mutating func insert(_ number: UInt32, _ hash: UInt64, _ hashOf: (UInt32) -> UInt64) {
        if (count + 1) * 4 > cells.count * 3 { grow(hashOf) }
        Self.put(number + 1, hash, into: &cells)
        count += 1
    }

    private static func put(_ cell: UInt32, _ hash: UInt64, into cells: inout [UInt32]) {
        let mask = cells.count - 1
        var at = place(hash, mask)
        while cells[at] != 0 { at = (at + 1) & mask }
        cells[at] = cell
    }

    private mutating func grow(_ hashOf: (UInt32) -> UInt64) {
        var larger = [UInt32](repeating: 0, count: cells.count * 2)
        for cell in cells where cell != 0 { Self.put(cell, hashOf(cell - 1), into: &larger) }
        cells = larger
    }

    /// What lies behind it moves forward, so that a search never ends too early.
    mutating func remove(_ hash: UInt64, _ hashOf: (UInt32) -> UInt64) {
        var hole = Self.place(hash, mask)
        while cells[hole] != 0, hashOf(cells[hole] - 1) != hash { hole = (hole + 1) & mask }
        guard cells[hole] != 0 else { return }
        count -= 1
        var next = (hole + 1) & mask
        while cells[next] != 0 {
            let wanted = Self.place(hashOf(cells[next] - 1), mask)
            if (next - wanted) & mask >= (next - hole) & mask {
                cells[hole] = cells[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        cells[hole] = 0
    }
}
