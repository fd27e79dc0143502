/// The rows of a records file by where they lie in its pages, whether a tree leads to them or not. What was moved or
/// deleted may lie there still, and what looks like a row need not be one: its seal tells.
struct ScatteredRows {
    /// Kept small: there may be a million of them.
    struct Place {
        let row: Int64
        let page: UInt32
        let start: UInt16
    }

    private(set) var heads: [Place] = []
    private(set) var nodes: [[Place]] = Array(repeating: [], count: Node.number)
    /// By bucket, in the order of their ids.
    private(set) var records: [[Place]] = Array(repeating: [], count: Bucket.number)
    private let pages: RawPages

    /// Of the records, only those of some buckets.
    init(in pages: RawPages, of isWanted: (Int) -> Bool) throws(RecordsError) {
        self.pages = pages
        for number in 1..<pages.count + 1 {
            for cell in try pages.cells(on: number) {
                note(
                    cell, Place(row: cell.row, page: UInt32(number), start: UInt16(cell.start)),
                    isWanted)
            }
        }
        for bucket in records.indices { records[bucket].sort { $0.row < $1.row } }
    }

    private mutating func note(_ cell: Cell, _ place: Place, _ isWanted: (Int) -> Bool) {
        switch cell.table {
        case .head: if place.row == 0 { heads.append(place) }
        case .nodes:
            if let index = Int(exactly: place.row), nodes.indices.contains(index) {
                nodes[index].append(place)
            }
        case .records:
            let bucket = Bucket.of(UInt64(bitPattern: place.row))
            if isWanted(bucket) { records[bucket].append(place) }
        }
    }

    /// Nil where it leads out of its page.
    func row(at place: Place) throws(RecordsError) -> ScatteredRow? {
        let cells = try pages.cells(on: Int(place.page), at: Int(place.start))
        guard let cell = cells.first(where: { $0.row == place.row }) else { return nil }
        return ScatteredRow(cell, try pages.payload(of: cell, on: Int(place.page)))
    }
}

/// A row with its bytes as they lie in the file. The end of the body may be missing.
struct ScatteredRow {
    private let cell: Cell
    private let payload: [UInt8]

    init?(_ cell: Cell, _ payload: [UInt8]) {
        guard payload.count > cell.columns.body.lowerBound else { return nil }
        self.cell = cell
        self.payload = payload
    }

    var id: Int64 { cell.row }
    var tag: Span<UInt8> { payload.span.extracting(cell.columns.tag) }
    var nonce: Span<UInt8> { payload.span.extracting(cell.columns.nonce) }
    var body: Span<UInt8> { payload.span.extracting(cell.columns.body.lowerBound...) }

    /// The highest byte comes first, and its first bit is the sign.
    var generation: Int64 {
        if let known = cell.columns.known { return Int64(known) }
        let bytes = payload[cell.columns.generation]
        return bytes.dropFirst().reduce(Int64(Int8(bitPattern: bytes.first ?? 0))) {
            $0 << 8 | Int64($1)
        }
    }
}
