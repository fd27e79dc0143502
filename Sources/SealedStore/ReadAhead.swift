internal import Posix

/// Asks the kernel for all pages of a bucket at once, before SQLite reads them one after the other.
/// In a large file the rows of a bucket are on many pages, which lie anywhere in the file: read one
/// by one from a disk, they would take many times as long.
///
/// It finds the pages by following the tree of the records. What it reads is only used to ask for
/// pages: where the file is damaged, or the log holds newer pages, it asks for useless ones, and
/// SQLite reads what it needs as ever.
struct ReadAhead: ~Copyable {
    /// In smaller files a bucket is on two pages or three.
    static let leastRecords: UInt64 = 65_536

    private static let pageSize = 4096
    /// A tree of this height holds more records than a file can.
    private static let height = 6
    /// For one bucket.
    private static let mostPages = 512

    private let file: File
    private let root: Int

    /// Nil if the file cannot be opened: then SQLite reads without it. To be made after SQLite has
    /// opened the file.
    init?(_ folder: RecordsFolder, root: Int) {
        guard root > 1, let file = try? folder.openForReading() else { return nil }
        self.file = file
        self.root = root
    }

    func ask(for rows: (first: Int64, last: Int64)) {
        pages(of: rows) { file.willRead(Self.pageSize, at: ($0 - 1) * Self.pageSize) }
    }

    /// The pages below the root, each before any page below it.
    func pages(of rows: (first: Int64, last: Int64), _ visit: (Int) -> Void) {
        var left = Self.mostPages
        pages(below: root, of: rows, height: Self.height, &left, visit)
    }

    private func pages(
        below page: Int, of rows: (first: Int64, last: Int64), height: Int, _ left: inout Int,
        _ visit: (Int) -> Void
    ) {
        guard height > 0, let children = interior(page)?.children(of: rows) else { return }
        for child in children.prefix(left) { visit(child) }
        left -= min(left, children.count)
        // A bucket is in one branch of the tree or in two neighbours, so more than two are leaves.
        guard left > 0, children.count <= 2 else { return }
        for child in children { pages(below: child, of: rows, height: height - 1, &left, visit) }
    }

    private func interior(_ page: Int) -> Interior? {
        var bytes = [UInt8](repeating: 0, count: Self.pageSize)
        var span = bytes.mutableSpan
        guard (try? file.read(into: &span, at: (page - 1) * Self.pageSize)) == Self.pageSize
        else { return nil }
        return Interior(bytes)
    }

    /// A page of SQLite's tree that only leads to others: the number of a page with each key, which
    /// is the largest that is found below it, and the number of a last page for larger ones.
    struct Interior {
        private static let type: UInt8 = 5
        private static let header = 12

        private let bytes: [UInt8]
        private let cells: Int

        /// Nil if the page is none, or its numbers lead out of it.
        init?(_ bytes: [UInt8]) {
            guard bytes.count >= Self.header, bytes[0] == Self.type else { return nil }
            self.bytes = bytes
            cells = Int(bytes[3]) << 8 | Int(bytes[4])
            guard Self.header + 2 * cells <= bytes.count else { return nil }
        }

        /// The pages that may hold such rows.
        func children(of rows: (first: Int64, last: Int64)) -> [Int] {
            var found: [Int] = []
            for index in 0..<cells {
                let pointer = Self.header + 2 * index
                let cell = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
                guard let child = page(at: cell), let largest = key(at: cell + 4) else {
                    return []
                }
                if largest >= rows.first { found.append(child) }
                if largest >= rows.last { return found }
            }
            if let last = page(at: 8) { found.append(last) }
            return found
        }

        private func page(at position: Int) -> Int? {
            guard position + 4 <= bytes.count else { return nil }
            let number = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            return number > 0 ? number : nil
        }

        private func key(at position: Int) -> Int64? {
            Varint.read(bytes.span, at: position).map { Int64(bitPattern: $0.value) }
        }
    }
}
