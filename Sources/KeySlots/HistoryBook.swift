import Secrets

/// The places of all blocks of the history, one after another.
struct HistoryBook: ~Copyable, SealedContent {
    static let purpose = Purpose.history
    static let blocks = [9, 10, 11, 12]
    static let places = 7
    private static let entrySize = 4 + KeyDerivation.saltSize + KeyDerivation.keySize
    /// The size of one block's content.
    static let size = places * entrySize

    private var bytes: SecretBytes

    init() throws(KeyError) {
        bytes = try secrets(try SecretBytes(count: Self.blocks.count * Self.size))
    }

    consuming func release() -> SecretBytes { bytes }

    static func hash(_ place: Int) -> Range<Int> {
        let end = (place + 1) * entrySize
        return (end - KeyDerivation.keySize)..<end
    }

    static func content(_ block: Int) -> Range<Int> {
        (block * size)..<((block + 1) * size)
    }

    /// In the order of their places.
    var entries: [PasscodeHistory.Entry] {
        bytes.withBytes { bytes in
            (0..<(Self.blocks.count * Self.places)).compactMap { place in
                let start = place * Self.entrySize
                let serial = (0..<4).reduce(UInt32(0)) {
                    $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1)
                }
                guard serial > 0 else { return nil }
                let salt = (start + 4)..<(start + 4 + KeyDerivation.saltSize)
                return PasscodeHistory.Entry(
                    serial: serial, place: place, salt: salt.map { bytes[$0] })
            }
        }
    }

    /// Returns the block that changed; nil where the passcode already has an entry.
    mutating func add(_ added: HistoryHash) throws(KeyError) -> Int? {
        let entries = entries
        guard !entries.contains(where: { $0.salt == added.salt }) else { return nil }
        guard let hash = added.hash.take(), hash.count == KeyDerivation.keySize,
            added.salt.count == KeyDerivation.saltSize
        else { throw .secrets(.wrongSize) }
        let taken = Set(entries.map(\.place))
        let free = (0..<(Self.blocks.count * Self.places)).first { !taken.contains($0) }
        // The book is full only if trims were interrupted again and again. Then the oldest entry is
        // replaced.
        guard let place = free ?? entries.min(by: { $0.serial < $1.serial })?.place
        else { throw .tooLong }
        let serial = (entries.map(\.serial).max() ?? 0) + 1
        let start = place * Self.entrySize
        bytes.withMutableBytes { bytes in
            for index in 0..<4 {
                bytes[start + index] = UInt8(truncatingIfNeeded: serial >> UInt32(8 * index))
            }
            for (index, byte) in added.salt.enumerated() { bytes[start + 4 + index] = byte }
            hash.withBytes { hash in
                for index in hash.indices {
                    bytes[Self.hash(place).lowerBound + index] = hash[index]
                }
            }
        }
        return place / Self.places
    }

    /// Keeps the latest `count` former passcodes and the present ones; with 0, removes all entries.
    /// Returns the blocks that changed.
    mutating func trim(to count: Int, present salts: [[UInt8]]) -> Set<Int> {
        let entries = entries.sorted { $0.serial > $1.serial }
        let kept = min(max(count, 0), PasscodeHistory.limit)
        let former = entries.filter { !salts.contains($0.salt) }
        var gone = Array(former.dropFirst(kept))
        if kept == 0 { gone = entries }
        for entry in gone {
            bytes.wipe((entry.place * Self.entrySize)..<((entry.place + 1) * Self.entrySize))
        }
        return Set(gone.map { $0.place / Self.places })
    }

    func isEmpty(_ block: Int) -> Bool {
        !entries.contains { $0.place / Self.places == block }
    }

    // MARK: Sealed, block by block

    func payload(
        _ block: Int, store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> [UInt8] {
        do {
            return try bytes.withBytes { (bytes) throws(SecretsError) in
                try SealedBlock<Self>.payload(
                    bytes.extracting(Self.content(block)), at: Self.blocks[block], store: store,
                    storeKey: storeKey)
            }
        } catch {
            throw .secrets(error)
        }
    }

    mutating func read(
        _ block: Int, _ payload: [UInt8], store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        let opened = try SealedBlock<Self>(payload, at: Self.blocks[block])
            .open(store: store, storeKey: storeKey)
        let start = Self.content(block).lowerBound
        bytes.withMutableBytes { bytes in
            opened.withBytes { content in
                for index in content.indices { bytes[start + index] = content[index] }
            }
        }
    }
}
