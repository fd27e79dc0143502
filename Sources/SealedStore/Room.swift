/// How much a commit may add to what a store's records take on the disk.
public struct Room: Equatable, Sendable {
    /// Bytes that are left of what the owner's stores may take together, below zero where they take more; nil is no
    /// limit.
    public var owner: Int?
    /// Bytes that the disk can do without; nil is whatever there is.
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
    /// The records file, with what the log is still to bring into it.
    public var file = 0
    public var log = 0
    /// Of the file: where records were that are deleted. New ones of the same store come there first.
    public var free = 0

    public var total: Int { file + log }

    public init() {}
}

/// What a row of the table `records` takes, as SQLite lays it out in pages of 4,096 bytes.
struct RowSize {
    private static let page = 4096
    /// Of a page of overflow: all but the number of the next one.
    private static let overflow = 4092
    private static let mostLocal = 4061
    private static let leastLocal = 489
    /// Beside the body: tag, nonce, generation, and the header that says how long each is.
    private static let besides = 16 + 24 + 8 + 8
    /// The row's id, its length, and its place in the page.
    private static let cell = 16
    /// Whatever a row's way into the tree may split, at any depth that there is.
    private static let splits = 6 * page

    /// What it takes in a page that it shares with other rows.
    let shared: Int
    /// What it takes in pages of its own.
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
    /// More than the file can grow by it.
    var most: Int { bytes + Self.splits }
    /// As much as it takes in a file of many: pages of a tree are three quarters full.
    var usual: Int { shared * 4 / 3 + own }
}

/// The size of the file in the present transaction, by SQLite's own count.
final class FilePages {
    private static let size = 4096
    private let all: Statement
    private let free: Statement

    init(_ database: borrowing Database) throws(RecordsError) {
        all = try database.prepare("PRAGMA page_count")
        free = try database.prepare("PRAGMA freelist_count")
    }

    func bytes() throws(RecordsError) -> Int { try Self.number(all) * Self.size }
    /// Of pages that hold nothing any more.
    func freeBytes() throws(RecordsError) -> Int { try Self.number(free) * Self.size }

    private static func number(_ statement: borrowing Statement) throws(RecordsError) -> Int {
        defer { statement.reset() }
        guard try statement.step() == .row else { throw .damaged(.file) }
        return Int(clamping: try statement.number(0))
    }
}

/// The room of a batch, while it is stored. The file's pages are counted only where the batch could come near the
/// owner's limit: nearly none does.
struct Budget {
    private let owner: Int?
    private var disk: Int?
    private let before: Int

    /// Every page goes to the log before it goes to the file.
    private static let copies = 2

    init(_ room: Room, for changes: [Change], _ pages: FilePages) throws(RecordsError) {
        let sizes = changes.map { RowSize($0) }
        let isNear = room.owner.map { sizes.reduce(0) { $0 + $1.most } > $0 } ?? false
        owner = isNear ? room.owner : nil
        before = isNear ? try pages.bytes() : 0
        disk = room.disk
    }

    /// Nil where the row may be stored in place of one that had that size; it is then counted.
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
