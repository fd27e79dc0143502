/// How much a commit may add to what a store's records take on the disk.
public struct Room: Equatable, Sendable {
    /// The bytes that are left of what the owner's stores may take together; negative if they take
    /// more. Nil is no limit.
    public var owner: Int?
    /// The bytes that the disk can spare; nil means all that are free.
    public var disk: Int?

    public enum Limit: Equatable, Sendable { case owner, disk }

    public static let unlimited = Room(owner: nil, disk: nil)

    public init(owner: Int?, disk: Int?) {
        self.owner = owner
        self.disk = disk
    }
}

/// What a store's records take on the disk, in bytes.
public struct RecordsSize: Equatable, Sendable {
    /// The records file, including what is still in the log and will be moved into it.
    public var file = 0
    public var log = 0
    /// The part of the file that deleted records have left. New records of the same store fill it
    /// first.
    public var free = 0
    /// The logs that commits were missing from, and how many there are.
    public var kept = 0
    public var keptLogs = 0
    /// What a re-keying that was cut short has left. It is not counted while the store is open.
    public var leftover = 0

    public var total: Int { file + log + kept + leftover }

    public init() {}
}

/// The room of one row of the table `records`, as SQLite lays it out in pages of 4,096 bytes.
struct RowSize {
    private static let page = 4096
    /// The usable part of an overflow page: all but the number of the next page.
    private static let overflow = 4092
    private static let mostLocal = 4061
    private static let leastLocal = 489
    /// What a row has beside its body: tag, nonce, generation, and the header with their lengths.
    private static let besides = 16 + 24 + 8 + 8
    /// The row's id, its length, and its pointer in the page.
    private static let cell = 16
    /// For all pages that may be split when a row is inserted, however deep the tree is.
    private static let splits = 6 * page

    /// The bytes in a page that the row shares with others.
    let shared: Int
    /// The bytes in pages of its own.
    let own: Int

    private static let none = RowSize(shared: 0, own: 0)

    private init(shared: Int, own: Int) {
        self.shared = shared
        self.own = own
    }

    init(body: Int) {
        let payload = body + Self.besides
        guard payload > Self.mostLocal else {
            shared = payload + Self.cell
            own = 0
            return
        }
        let rest = Self.leastLocal + (payload - Self.leastLocal) % Self.overflow
        let local = rest <= Self.mostLocal ? rest : Self.leastLocal
        shared = local + Self.cell
        own = (payload - local + Self.overflow - 1) / Self.overflow * Self.page
    }

    init(_ change: Change) {
        switch change {
        case .set(let name, let value):
            self.init(body: RecordBody.size(name: name.count, value: value.count))
        case .delete: self = .none
        }
    }

    var bytes: Int { shared + own }
    /// The file cannot grow by more than this.
    var most: Int { bytes + Self.splits }
    /// About what it takes in a file with many records: pages of a tree are three quarters full.
    var usual: Int { shared * 4 / 3 + own }
}

/// The size of the file in the present transaction, as SQLite counts it.
final class FilePages {
    private static let size = 4096
    private let all: Statement
    private let free: Statement

    init(_ database: borrowing Database) throws(RecordsError) {
        all = try database.prepare("PRAGMA page_count")
        free = try database.prepare("PRAGMA freelist_count")
    }

    func bytes() throws(RecordsError) -> Int { try Self.number(all) * Self.size }
    /// Pages that hold nothing any more.
    func freeBytes() throws(RecordsError) -> Int { try Self.number(free) * Self.size }

    private static func number(_ statement: borrowing Statement) throws(RecordsError) -> Int {
        defer { statement.reset() }
        guard try statement.step() == .row else { throw .damaged(.file) }
        return Int(clamping: try statement.number(0))
    }
}

/// The room that is left to a batch while it is stored. The file's pages are counted only if the
/// batch might come near the owner's limit, which hardly any does.
struct Budget {
    private let owner: Int?
    private var disk: Int?
    private let before: Int

    /// Every page is written to the log before it is written to the file.
    private static let copies = 2

    init(_ room: Room, for changes: [Change], _ pages: FilePages) throws(RecordsError) {
        let sizes = changes.map { RowSize($0) }
        let isNear = room.owner.map { sizes.reduce(0) { $0 + $1.most } > $0 } ?? false
        owner = isNear ? room.owner : nil
        before = isNear ? try pages.bytes() : 0
        disk = room.disk
    }

    /// Nil if the row may be stored in place of a row of the old size; then the row is counted.
    mutating func take(
        _ new: RowSize, inPlaceOf old: RowSize?, _ pages: FilePages
    ) throws(RecordsError) -> Room.Limit? {
        let growth = new.bytes - (old?.bytes ?? 0)
        if let owner, growth > 0 {
            let grown = try pages.bytes() - before
            guard growth <= owner - grown + (try pages.freeBytes()) else { return .owner }
        }
        if let left = disk {
            let needed = Self.copies * new.bytes
            guard needed <= left else { return .disk }
            disk = left - needed
        }
        return nil
    }
}
