import Policy
import Posix

/// Whose a store is, once more, in a file outside the store's folder: so it stays known when the
/// slots file is gone. And what becomes of tries that cannot be read. The slots file has the last
/// word on everything that it still says.
public struct OwnerFile: Equatable, Sendable {
    static let folderName = "owners"
    private static let ownerNumber = Block.count
    private static let labelNumber = Block.count + 1
    private static let triesNumber = Block.count + 2
    private static let numbers = [ownerNumber, labelNumber, triesNumber]
    private static let size = numbers.count * Block.size

    /// As blocks 0 and 1 of a slots file.
    let owner: Block
    let label: Block
    /// Nil where it is not certain: it was not read under this machine's key.
    public let identity: Identity?
    /// What the file says, certain or not.
    public let likelyOwner: Identity
    public let tries: LostTries

    /// What is known of the tries while block 2 of the slots file cannot be read.
    public struct LostTries: Equatable, Sendable {
        /// There is no try left without them.
        public var areSpent: Bool
        /// When they were first missing.
        public var since: Moment

        public init(areSpent: Bool = false, since: Moment = .never) {
            self.areSpent = areSpent
            self.since = since
        }

        /// Where not even this can be read: nobody gets a try by destroying it as well.
        static let unknown = LostTries(areSpent: true)

        func payload() -> [UInt8] {
            var writer = FieldWriter()
            writer.put(UInt8(areSpent ? 1 : 0))
            writer.put(since.bootID.bytes)
            writer.put(since.milliseconds)
            return writer.bytes
        }

        init?(payload: [UInt8]) {
            var reader = FieldReader(payload)
            guard let areSpent = reader.flag(),
                let bootID = reader.bytes(BootID.size).flatMap(BootID.init),
                let milliseconds = reader.number(UInt64.self), reader.restIsZero
            else { return nil }
            self.init(
                areSpent: areSpent, since: Moment(bootID: bootID, milliseconds: milliseconds))
        }
    }

    public init(_ identity: Identity, _ tries: LostTries) throws(KeyError) {
        var live = identity
        // What an erase has come to, the slots file alone says.
        live.condition = .live
        live.isWiped = false
        owner = Block(
            number: Identity.ownerBlock, sequence: 0, payload: Self.padded(try live.ownerPayload()))
        label = Block(
            number: Identity.labelBlock, sequence: 0, payload: Self.padded(try live.labelPayload()))
        self.identity = live
        likelyOwner = live
        self.tries = tries
    }

    private static func padded(_ payload: [UInt8]) -> [UInt8] {
        payload + [UInt8](repeating: 0, count: Block.payloadSize - payload.count)
    }

    /// Nil where there is no file, or where it says nothing at all. Without a machine key nothing
    /// of it is certain.
    public static func read(
        of store: StoreID, in state: Folder, _ machine: MachineKey?
    ) -> OwnerFile? {
        guard let folder = try? state.folder(folderName),
            let file = try? folder.file("\(store)", .read)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        var span = bytes.mutableSpan
        guard let count = try? file.read(into: &span, at: 0), count == size else { return nil }
        return OwnerFile(bytes, store, machine)
    }

    init?(_ bytes: [UInt8], _ store: StoreID, _ machine: MachineKey?) {
        func payload(_ index: Int, _ number: Int) -> (payload: [UInt8], isCertain: Bool)? {
            let part = Array(bytes[(index * Block.size)..<((index + 1) * Block.size)])
            if let machine,
                let reading = try? Block.reading(
                    part, number: number, store: store, .machine(machine))
            {
                switch reading {
                case .block(let block), .corrected(let block): return (block.payload, true)
                case .empty, .unreadable: break
                }
            }
            let glimpse = try? Block.glimpse(part, number: number, store: store)
            return glimpse.map { ($0.block.payload, false) }
        }
        guard let owner = payload(0, Self.ownerNumber), let label = payload(1, Self.labelNumber),
            let identity = try? Identity(owner: owner.payload, label: label.payload)
        else { return nil }
        self.owner = Block(
            number: Identity.ownerBlock, sequence: 0, payload: owner.payload)
        self.label = Block(
            number: Identity.labelBlock, sequence: 0, payload: label.payload)
        self.identity = owner.isCertain && label.isCertain ? identity : nil
        likelyOwner = identity
        let tries = payload(2, Self.triesNumber)
        self.tries =
            tries.flatMap { $0.isCertain ? LostTries(payload: $0.payload) : nil } ?? .unknown
    }

    /// Written over what is there, and synced: each of the three blocks is the old or the new one.
    public func write(
        of store: StoreID, in state: Folder, _ machine: MachineKey, _ reserve: DiskReserve? = nil
    ) throws(KeyError) {
        var bytes: [UInt8] = []
        let payloads = [owner.payload, label.payload, tries.payload()]
        for (number, payload) in zip(Self.numbers, payloads) {
            bytes += try Block(number: number, sequence: 0, payload: Self.padded(payload))
                .encoded(store, .machine(machine))
        }
        let content = bytes
        func put() throws(PosixError) {
            let isNew = !state.exists(Self.folderName)
            try state.makeFolder(Self.folderName)
            if isNew { try state.sync() }
            let folder = try state.folder(Self.folderName)
            let isFirst = !folder.exists("\(store)")
            let file = try folder.file("\(store)", .createOrOpen)
            try file.write(content.span, at: 0)
            try file.sync()
            if isFirst { try folder.sync() }
        }
        guard let reserve else { return try stored(try put()) }
        try stored(try reserve.spending { () throws(PosixError) in try put() })
    }

    public static func remove(of store: StoreID, in state: Folder) throws(KeyError) {
        guard state.exists(folderName) else { return }
        try stored(try state.folder(folderName).remove("\(store)"))
    }

    /// Removes the files of stores that are gone.
    public static func sweep(in state: Folder, keeping: Set<StoreID>) throws(KeyError) {
        guard state.exists(folderName) else { return }
        let folder = try stored(try state.folder(folderName))
        for name in try stored(try folder.names()) {
            guard let store = StoreID(text: name), !keeping.contains(store) else { continue }
            try stored(try folder.remove(name))
        }
    }
}
