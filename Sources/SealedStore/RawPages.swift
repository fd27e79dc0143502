internal import Posix

/// The pages of a records file as they lie on the disk, or in the log. SQLite is not asked.
final class RawPages {
    static let size = 4096
    /// Behind so many bytes of a payload, the rest lies on other pages, but for at least that many.
    private static let most = size - 35
    private static let least = (size - 12) * 32 / 255 - 23
    /// What a further page holds behind the number of the next one.
    private static let further = size - 4

    private(set) var count = 0
    private let file: File
    private let logged: LoggedPages?
    /// The one that was read last.
    private var last: (number: Int, bytes: [UInt8]) = (0, [])

    init(_ folder: RecordsFolder) throws(RecordsError) {
        do throws(PosixError) {
            // Last, because closing it would end SQLite's locks.
            logged = try folder.loggedPages()
            file = try folder.openForReading()
        } catch {
            throw RecordsError(error)
        }
        try lookAnew()
    }

    /// To be called after SQLite may have written.
    func lookAnew() throws(RecordsError) {
        do throws(PosixError) {
            count = if let logged { logged.content.count } else { try file.size() / Self.size }
        } catch {
            throw RecordsError(error)
        }
        last = (0, [])
    }

    /// They count from 1.
    func page(_ number: Int) throws(RecordsError) -> [UInt8] {
        guard number != last.number else { return last.bytes }
        guard (1...max(1, count)).contains(number) else { throw .damaged(.file) }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let got: Int
        do throws(PosixError) {
            var span = bytes.mutableSpan
            if let logged, let place = logged.content.pages[number] {
                got = try logged.log.read(into: &span, at: place)
            } else {
                got = try file.read(into: &span, at: (number - 1) * Self.size)
            }
        } catch {
            throw RecordsError(error)
        }
        // Behind the end of a file that was cut.
        if got < Self.size { bytes = [UInt8](repeating: 0, count: Self.size) }
        last = (number, bytes)
        return bytes
    }

    func cells(on number: Int) throws(RecordsError) -> [Cell] {
        let page = try page(number)
        return Cell.all(in: page.span)
    }

    func cells(on number: Int, at start: Int) throws(RecordsError) -> [Cell] {
        let page = try page(number)
        return Cell.all(in: page.span, at: start)
    }

    /// A cell's payload; the beginning of it alone where the rest leads out of the file. All but the end of a body lies
    /// in the beginning.
    func payload(of cell: Cell, on number: Int) throws(RecordsError) -> [UInt8] {
        let page = try page(number)
        let size = cell.columns.size
        var here = size
        if size > Self.most {
            let usual = Self.least + (size - Self.least) % Self.further
            here = usual <= Self.most ? usual : Self.least
        }
        guard cell.start + here + (here < size ? 4 : 0) <= page.count else { return [] }
        var payload = Array(page[cell.start..<cell.start + here])
        payload.reserveCapacity(size)
        var next = here < size ? Self.number(page, at: cell.start + here) : 0
        // As many pages as it takes, and no more: a changed number can lead round in a circle.
        while payload.count < size, (1...count).contains(next) {
            let page = try self.page(next)
            payload += page[4..<4 + min(Self.further, size - payload.count)]
            next = Self.number(page, at: 0)
        }
        return payload
    }

    private static func number(_ page: [UInt8], at position: Int) -> Int {
        page[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The pages that SQLite would take from the log.
final class LoggedPages {
    let log: File
    let content: LogCheck.Content

    init(_ log: consuming File, _ content: LogCheck.Content) {
        self.log = log
        self.content = content
    }
}
