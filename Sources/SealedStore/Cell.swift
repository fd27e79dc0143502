/// A row that lies in a page, found by the shape of its cell: of SQLite's file nothing else is needed for it, neither the
/// page's head and pointers nor a tree that leads there. A page may hold more of them than there are rows: what was moved
/// elsewhere can lie there still.
struct Cell: Equatable {
    enum Table { case head, nodes, records }

    let table: Table
    let row: Int64
    /// Where its payload begins in the page: first which types the columns have, then the columns.
    let start: Int
    let columns: Columns

    /// Where the columns lie in the payload. The row's id is none of them. Head and nodes have the body alone.
    struct Columns: Equatable {
        let generation: Range<Int>
        let tag: Range<Int>
        let nonce: Range<Int>
        let body: Range<Int>
        /// Some small numbers have no byte of their own.
        let known: UInt64?

        /// Of the whole payload.
        var size: Int { body.upperBound }
    }

    /// All whose beginning lies in the page.
    static func all(in page: Span<UInt8>) -> [Cell] {
        var cells: [Cell] = []
        for start in 0..<page.count { cells += all(in: page, at: start) }
        return cells
    }

    /// Those whose payload begins there. How long the id before it is can only be guessed, so there may be two.
    static func all(in page: Span<UInt8>, at start: Int) -> [Cell] {
        guard let (table, columns) = shape(page, at: start) else { return [] }
        return rows(page, before: start, columns.size).map {
            Cell(table: table, row: $0, start: start, columns: columns)
        }
    }

    // MARK: what a payload begins with

    /// By SQLite's types: 0 is the row's id, which stands elsewhere; even numbers from 12 on are bytes.
    private static func shape(_ page: Span<UInt8>, at start: Int) -> (Table, Columns)? {
        guard start + 3 < page.count, page[start + 1] == 0 else { return nil }
        switch page[start] {
        case 4: return block(page, at: start)
        case 7...9: return record(page, at: start).map { (.records, $0) }
        default: return nil
        }
    }

    private static func block(_ page: Span<UInt8>, at start: Int) -> (Table, Columns)? {
        guard let count = bytes(page, at: start + 2, endingAt: start + 4) else { return nil }
        let table: Table
        switch count - RecordKeys.overhead {
        case Head.size: table = .head
        case Node.size: table = .nodes
        default: return nil
        }
        let columns = Columns(
            generation: 4..<4, tag: 4..<4, nonce: 4..<4, body: 4..<4 + count, known: nil)
        return (table, columns)
    }

    private static func record(_ page: Span<UInt8>, at start: Int) -> Columns? {
        let header = Int(page[start])
        guard start + header <= page.count,
            let number = numberSize(page[start + 2]),
            page[start + 3] == 12 + 2 * 16, page[start + 4] == 12 + 2 * 24,
            let body = bytes(page, at: start + 5, endingAt: start + header),
            (1...RecordBody.largest).contains(body)
        else { return nil }
        let tag = header + number
        return Columns(
            generation: header..<tag, tag: tag..<tag + 16, nonce: tag + 16..<tag + 40,
            body: tag + 40..<tag + 40 + body,
            known: number > 0 ? nil : UInt64(page[start + 2]) - 8)
    }

    private static func bytes(_ page: Span<UInt8>, at start: Int, endingAt end: Int) -> Int? {
        guard let type = Varint.read(page, at: start), type.end == end,
            type.value >= 12, type.value % 2 == 0, type.value < 1 << 32
        else { return nil }
        return Int(type.value - 12) / 2
    }

    private static func numberSize(_ type: UInt8) -> Int? {
        switch type {
        case 1...4: Int(type)
        case 5: 6
        case 6: 8
        case 8, 9: 0
        default: nil
        }
    }

    // MARK: what stands before it

    /// The length of the payload, and the row's id.
    private static func rows(_ page: Span<UInt8>, before start: Int, _ size: Int) -> [Int64] {
        var rows: [Int64] = []
        for length in 1...9 {
            let begin = start - length
            guard let row = Varint.read(page, at: begin), row.end == start,
                (1...4).contains(where: { length in
                    guard let found = Varint.read(page, at: begin - length) else { return false }
                    return found.end == begin && found.value == UInt64(size)
                })
            else { continue }
            rows.append(Int64(bitPattern: row.value))
        }
        return rows
    }
}
