internal import CLinux

/// Cells of one size for secrets, in memory that is mapped once and never given back: taking one
/// and giving it back changes nothing in the process's memory map. Between every four cells lies a
/// page that no code may touch.
@safe
public final class GuardedCells: @unchecked Sendable {
    // Unchecked because of the pointer: the memory lives as long as the process, and each cell
    // belongs to whoever took it.
    public static let size = 2048
    private static let page = 4096
    private static let cellsInRow = 4
    private static let row = cellsInRow * size

    private let start: UnsafeMutableRawPointer
    public let count: Int

    /// Nil where so much memory cannot be locked.
    public init?(rows: Int) {
        // SAFETY: new memory, which is never given back.
        guard rows > 0, let memory = unsafe appvault_guarded_rows(Self.row, rows) else {
            return nil
        }
        unsafe start = memory
        count = rows * Self.cellsInRow
    }

    public func cell(_ number: Int) -> UnsafeMutableRawPointer {
        precondition(number >= 0 && number < count)
        let (row, place) = number.quotientAndRemainder(dividingBy: Self.cellsInRow)
        // SAFETY: the number was checked, so this lies in one of the rows.
        return unsafe start + (row * (Self.row + Self.page) + place * Self.size)
    }

    /// The number of the cell that begins there; nil where none of these does.
    public func number(of cell: UnsafeRawPointer) -> Int? {
        let distance = unsafe cell - UnsafeRawPointer(start)
        let (row, inRow) = distance.quotientAndRemainder(dividingBy: Self.row + Self.page)
        guard distance >= 0, inRow % Self.size == 0, inRow < Self.row else { return nil }
        let number = row * Self.cellsInRow + inRow / Self.size
        return number < count ? number : nil
    }
}
