internal import Secrets

/// Which row a name has: 128 bits of a keyed hash of the name.
struct RecordID: Equatable, Sendable {
    /// The first 64 bits: the row's id. Their first 12 bits are the bucket.
    let hash: UInt64
    let rest: UInt64

    var row: Int64 { Int64(bitPattern: hash) }
    var bucket: Int { Bucket.of(hash) }
}

/// What a seal is for. The seal is bound to it, among other things.
enum SealKind: UInt8 {
    case head = 1
    case node = 2
    case record = 3
}

/// What opens records.
public enum RecordKeyKind: Sendable {
    case storeKey
    /// What `Records.keys` has copied of records that were open: they open nothing else of the store.
    case recordKeys
}

/// The three subkeys of the store key for its records, and all that is done with them.
struct RecordKeys: ~Copyable {
    static let overhead = Sealing.nonceSize + Sealing.tagSize

    let store: [UInt8]
    /// It goes up by one when all records of a store are sealed anew.
    let generation: UInt32
    private let names: SecretBytes
    private let sums: SecretBytes
    private let seals: SecretBytes

    private static let forNames = Purpose("AV record names")
    private static let forSums = Purpose("AV record sums")
    private static let forSeals = Purpose("AV record seals")
    private static let forIdentity = Purpose("AV record name")

    init(
        store: [UInt8], key: borrowing SecretBytes, _ kind: RecordKeyKind = .storeKey,
        generation: UInt32
    ) throws(RecordsError) {
        switch kind {
        case .storeKey: try self.init(store: store, deriving: key, generation)
        case .recordKeys: try self.init(store: store, copying: key, generation)
        }
    }

    private init(
        store: [UInt8], deriving key: borrowing SecretBytes, _ generation: UInt32
    ) throws(RecordsError) {
        precondition(store.count == 16, "a store's id has 16 bytes")
        let names = try Self.subkey(of: key, Self.forNames, store)
        let sums = try Self.subkey(of: key, Self.forSums, store, count: SipHash.keySize)
        let seals = try Self.subkey(of: key, Self.forSeals, store)
        self.store = store
        self.generation = generation
        self.names = names
        self.sums = sums
        self.seals = seals
    }

    /// Where each of them lies in a copy of all.
    private static let places = (
        names: 0..<32, sums: 32..<32 + SipHash.keySize,
        seals: 32 + SipHash.keySize..<64 + SipHash.keySize
    )

    private init(
        store: [UInt8], copying all: borrowing SecretBytes, _ generation: UInt32
    ) throws(RecordsError) {
        precondition(store.count == 16, "a store's id has 16 bytes")
        guard all.count == Self.places.seals.upperBound else { throw .damaged(.file) }
        do throws(SecretsError) {
            let names = try all.slice(Self.places.names)
            let sums = try all.slice(Self.places.sums)
            let seals = try all.slice(Self.places.seals)
            self.store = store
            self.generation = generation
            self.names = names
            self.sums = sums
            self.seals = seals
        } catch {
            throw RecordsError(error)
        }
    }

    /// A copy of all three, one behind the other.
    func all() throws(RecordsError) -> SecretBytes {
        do throws(SecretsError) {
            var all = try SecretBytes(count: Self.places.seals.upperBound)
            all.withMutableBytes { bytes in
                names.withBytes { copy($0, to: &bytes, at: Self.places.names.lowerBound) }
                sums.withBytes { copy($0, to: &bytes, at: Self.places.sums.lowerBound) }
                seals.withBytes { copy($0, to: &bytes, at: Self.places.seals.lowerBound) }
            }
            return all
        } catch {
            throw RecordsError(error)
        }
    }

    /// The same keys once more.
    func again() throws(RecordsError) -> RecordKeys {
        try RecordKeys(store: store, copying: try all(), generation)
    }

    private static func subkey(
        of key: borrowing SecretBytes, _ purpose: Purpose, _ store: [UInt8], count: Int = 32
    ) throws(RecordsError) -> SecretBytes {
        do throws(SecretsError) {
            return try Hash.subkey(of: key, purpose: purpose, message: store.span, count: count)
        } catch {
            throw RecordsError(error)
        }
    }

    func identity(of name: Span<UInt8>) throws(RecordsError) -> RecordID {
        var hash = InlineArray<16, UInt8>(repeating: 0)
        var span = hash.mutableSpan
        do throws(SecretsError) {
            try Hash.blake2b(name, key: names, purpose: Self.forIdentity, into: &span)
        } catch {
            throw RecordsError(error)
        }
        var first: UInt64 = 0
        var second: UInt64 = 0
        for index in 0..<8 {
            first = first << 8 | UInt64(hash[index])
            second = second << 8 | UInt64(hash[index + 8])
        }
        return RecordID(hash: first, rest: second)
    }

    /// What a record adds to its bucket's sum. The tag stands for the whole record, including its
    /// generation and nonce.
    func term(row: Int64, tag: Span<UInt8>) throws(RecordsError) -> Sum {
        var message = InlineArray<24, UInt8>(repeating: 0)
        var span = message.mutableSpan
        var writer = ByteWriter()
        writer.put(UInt64(bitPattern: row), &span)
        writer.put(tag, &span)
        do throws(SecretsError) {
            let lanes = try SipHash.hash(message.span, key: sums)
            return Sum(first: lanes.first, second: lanes.second)
        } catch {
            throw RecordsError(error)
        }
    }

    /// What every seal is bound to: kind, store, place, generation, key generation.
    private func place(_ kind: SealKind, _ index: UInt64, _ generation: UInt64) -> InlineArray<
        37, UInt8
    > {
        var bytes = InlineArray<37, UInt8>(repeating: 0)
        var span = bytes.mutableSpan
        var writer = ByteWriter()
        writer.put(kind.rawValue, &span)
        writer.put(store.span, &span)
        writer.put(index, &span)
        writer.put(generation, &span)
        writer.put(self.generation, &span)
        return bytes
    }

    @_lifetime(text: copy text)
    @_lifetime(tag: copy tag)
    func seal(
        _ text: inout MutableSpan<UInt8>, record row: Int64, generation: UInt64,
        nonce: Span<UInt8>, tag: inout MutableSpan<UInt8>
    ) throws(RecordsError) {
        let place = place(.record, UInt64(bitPattern: row), generation)
        do throws(SecretsError) {
            try Sealing.sealInPlace(&text, aad: place.span, nonce: nonce, key: seals, tag: &tag)
        } catch {
            throw RecordsError(error)
        }
    }

    /// Throws if the seal does not open.
    @_lifetime(target: copy target)
    func open(
        _ text: Span<UInt8>, record row: Int64, generation: UInt64, nonce: Span<UInt8>,
        tag: Span<UInt8>, into target: inout MutableSpan<UInt8>
    ) throws(RecordsError) {
        let place = place(.record, UInt64(bitPattern: row), generation)
        do throws(SecretsError) {
            try Sealing.open(
                text, tag: tag, aad: place.span, nonce: nonce, key: seals, into: &target)
        } catch {
            throw RecordsError(error, damage: .record(bucket: Bucket.of(UInt64(bitPattern: row))))
        }
    }

    /// The text of a record, which nothing vouches for, and the tag that it would have been stored
    /// with. The text is that of `body`, which is replaced by it.
    @_lifetime(body: copy body)
    func unverified(
        _ body: inout MutableSpan<UInt8>, record row: Int64, generation: UInt64,
        nonce: Span<UInt8>
    ) throws(RecordsError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: Sealing.tagSize)
        // The cipher is its own inverse. The tag is computed of the ciphertext, so it is that of
        // the second time.
        for _ in 0..<2 {
            var span = tag.mutableSpan
            try seal(&body, record: row, generation: generation, nonce: nonce, tag: &span)
        }
        var unused = InlineArray<16, UInt8>(repeating: 0)
        var span = unused.mutableSpan
        try seal(&body, record: row, generation: generation, nonce: nonce, tag: &span)
        return tag
    }

    /// Seals the text that follows the first 40 bytes of a block, and puts nonce and tag into
    /// those.
    func seal(
        block: inout MutableSpan<UInt8>, _ kind: SealKind, _ index: Int, generation: UInt64
    ) throws(RecordsError) {
        let place = place(kind, UInt64(index), generation)
        var nonce = InlineArray<24, UInt8>(repeating: 0)
        var tag = InlineArray<16, UInt8>(repeating: 0)
        do throws(SecretsError) {
            var nonceBytes = nonce.mutableSpan
            try Random.fill(&nonceBytes)
            var tagBytes = tag.mutableSpan
            var text = block._mutatingExtracting(Self.overhead...)
            try Sealing.sealInPlace(
                &text, aad: place.span, nonce: nonce.span, key: seals, tag: &tagBytes)
        } catch {
            throw RecordsError(error)
        }
        copy(nonce.span, to: &block, at: 0)
        copy(tag.span, to: &block, at: Sealing.nonceSize)
    }

    /// The counterpart: opens a whole block and puts its text into the target.
    @_lifetime(target: copy target)
    func open(
        block: Span<UInt8>, _ kind: SealKind, _ index: Int, generation: UInt64, damage: Damage,
        into target: inout MutableSpan<UInt8>
    ) throws(RecordsError) {
        guard block.count == target.count + Self.overhead else { throw .damaged(damage) }
        let place = place(kind, UInt64(index), generation)
        do throws(SecretsError) {
            try Sealing.open(
                block.extracting(Self.overhead...),
                tag: block.extracting(Sealing.nonceSize..<Self.overhead), aad: place.span,
                nonce: block.extracting(..<Sealing.nonceSize), key: seals, into: &target)
        } catch {
            throw RecordsError(error, damage: damage)
        }
    }
}

extension RecordsError {
    init(_ error: SecretsError, damage: Damage = .file) {
        switch error {
        case .outOfMemory: self = .outOfMemory
        case .notAuthentic, .wrongSize, .costOutOfBounds: self = .damaged(damage)
        case .libraryUnavailable: self = .io(code: 0)
        }
    }
}
