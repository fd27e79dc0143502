import Posix

/// The members of one store: a file for each, in `members` in the store's folder, and for each key
/// generation one of its own. So while a store gets a new key, each member has both: what opens the
/// records says which of them counts. Each file is a block, guarded by the machine as those of the
/// slots file are; but the one of the recovery key can be read on any machine.
public struct MemberFolder: Sendable {
    public static let name = "members"
    /// More than a team has; each is a file that is read at the daemon's start.
    public static let most = 64

    private let folder: Folder
    private let store: StoreID
    private let machine: MachineKey
    private let reserve: DiskReserve?

    /// `folder` is the store's.
    public init(
        in folder: Folder, store: StoreID, machine: MachineKey, reserve: DiskReserve? = nil
    ) {
        self.folder = folder
        self.store = store
        self.machine = machine
        self.reserve = reserve
    }

    public struct Found: Equatable, Sendable {
        public var members: [VouchedMember] = []
        /// Files that are no member of this store.
        public var damaged: [String] = []

        public init() {}

        /// Each member as the latest generation has them.
        public var latest: [VouchedMember] {
            var found: [Member.Who: VouchedMember] = [:]
            for each in members where each.generation >= found[each.member.who]?.generation ?? 0 {
                found[each.member.who] = each
            }
            return members.filter { found[$0.member.who] == $0 }
        }

        /// Those that this key generation has.
        public func of(generation: UInt32) -> [VouchedMember] {
            members.filter { $0.generation == generation }
        }

        public var generations: Set<UInt32> { Set(members.map(\.generation)) }
    }

    /// In the order of the files' names.
    public func all() throws(KeyError) -> Found {
        var found = Found()
        guard folder.exists(Self.name) else { return found }
        let names = try stored(try TextFile.names(in: path))
        for name in names.sorted() where !name.hasSuffix(Self.unfinished) {
            if let member = read(name), Self.fileName(of: member) == name {
                found.members.append(member)
            } else {
                found.damaged.append(name)
            }
        }
        return found
    }

    private func read(_ name: String) -> VouchedMember? {
        guard let bytes = try? TextFile.read(at: "\(path)/\(name)", limit: Block.size + 1),
            bytes.count == Block.size,
            let reading = try? Block.reading(
                bytes, number: Member.block, store: store, guardian(of: name))
        else { return nil }
        switch reading {
        case .block(let block), .corrected(let block):
            return try? VouchedMember(payload: block.payload)
        case .empty, .unreadable: return nil
        }
    }

    private func guardian(of name: String) -> Block.Guardian {
        name.hasPrefix("r") ? .anybody : .machine(machine)
    }

    /// What their files take; zero where there are none.
    public static func bytes(in folder: Folder) -> Int {
        guard folder.exists(name) else { return 0 }
        return ((try? TextFile.names(in: "\(folder.path)/\(name)"))?.count ?? 0) * blockOnDisk
    }

    /// A file of one block takes one of the file system's.
    private static let blockOnDisk = 4096

    /// Written whole or not at all, synced, and read back.
    public func write(_ member: VouchedMember) throws(KeyError) {
        let name = Self.fileName(of: member)
        let payload = try member.payload()
        let padded = payload + [UInt8](repeating: 0, count: Block.payloadSize - payload.count)
        let bytes = try Block(number: Member.block, sequence: 0, payload: padded)
            .encoded(store, guardian(of: name))
        try spending { () throws(PosixError) in
            let isNew = !folder.exists(Self.name)
            try folder.makeFolder(Self.name)
            if isNew { try folder.sync() }
            let members = try folder.folder(Self.name)
            do throws(PosixError) {
                try TextFile.replace(at: "\(members.path)/\(name)", with: bytes)
            } catch {
                try? members.remove(name + Self.unfinished)
                throw error
            }
            try members.sync()
        }
        guard read(name) == member else { throw .damaged(.readBack(Member.block)) }
    }

    /// With all generations. It is not an error if there is no such member.
    public func remove(_ who: Member.Who) throws(KeyError) {
        guard folder.exists(Self.name) else { return }
        let names = try stored(try TextFile.names(in: path))
        for name in names where name.hasPrefix(Self.fileName(of: who) + ".") {
            try remove(name)
        }
    }

    public func remove(_ member: VouchedMember) throws(KeyError) {
        try remove(Self.fileName(of: member))
    }

    /// One that is damaged, by its file's name.
    public func remove(damaged name: String) throws(KeyError) {
        try remove(name)
    }

    private func remove(_ name: String) throws(KeyError) {
        guard folder.exists(Self.name) else { return }
        try spending { () throws(PosixError) in
            let members = try folder.folder(Self.name)
            guard !name.hasSuffix(Self.unfinished), members.exists(name) else { return }
            // Renamed first: what is half overwritten would count as damage.
            try members.rename(name, to: name + Self.unfinished)
            try members.sync()
            try Self.destroy(name + Self.unfinished, in: members)
            try members.sync()
        }
    }

    /// What a crash has left half done.
    public func sweep() throws(KeyError) {
        guard folder.exists(Self.name) else { return }
        try spending { () throws(PosixError) in
            let members = try folder.folder(Self.name)
            for name in try members.names() where name.hasSuffix(Self.unfinished) {
                try Self.destroy(name, in: members)
            }
        }
    }

    /// All of them, with the folder. For a store that is erased.
    public static func removeAll(in folder: Folder) throws(KeyError) {
        guard folder.exists(name) else { return }
        do throws(PosixError) {
            let members = try folder.folder(name)
            for each in try members.names() { try destroy(each, in: members) }
            try folder.removeFolder(name)
            try folder.sync()
        } catch {
            throw .storage(error)
        }
    }

    private static let unfinished = ".new"
    private var path: String { "\(folder.path)/\(Self.name)" }

    /// Overwrites the file, then removes it. One that cannot be overwritten is still removed.
    private static func destroy(_ name: String, in members: Folder) throws(PosixError) {
        if let file = try? members.file(name, .readWrite) {
            let zeroes = [UInt8](repeating: 0, count: Block.size)
            if (try? file.write(zeroes.span, at: 0)) != nil { try? file.sync() }
        }
        try members.remove(name)
    }

    private static func fileName(of member: VouchedMember) -> String {
        "\(fileName(of: member.member.who)).\(member.generation)"
    }

    /// The person whom a file is about, although it cannot be read.
    public static func person(ofFile name: String) -> UInt32? {
        guard name.hasPrefix("u"), let dot = name.firstIndex(of: ".") else { return nil }
        return UInt32(name[name.index(after: name.startIndex)..<dot])
    }

    private static func fileName(of who: Member.Who) -> String {
        switch who {
        case .person(let uid, _): "u\(uid)"
        case .group(let gid, _): "g\(gid)"
        case .everybody: "all"
        case .recoveryKey(let block): "r\(block)"
        }
    }

    private func spending(_ body: () throws(PosixError) -> Void) throws(KeyError) {
        guard let reserve else { return try stored(try body()) }
        try stored(try reserve.spending { () throws(PosixError) in try body() })
    }
}
