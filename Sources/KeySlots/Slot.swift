import Secrets

/// What one kind of slot keeps beside the wrapped key, and in which blocks its slots are. A new
/// kind needs a file with such a type and with the code that makes its key, and a row in
/// `BlockTable`.
package protocol SlotDetails: Equatable, Sendable {
    /// The number of the kind in FORMAT.md. A wrapped key is bound to it.
    static var kind: UInt16 { get }
    static var blocks: [Int] { get }
    /// Whether its slots must also open when the machine key is lost.
    static var opensOnAnyMachine: Bool { get }
    /// What the derivation of the key costs; nil where the secret needs no slow derivation.
    var derivation: KeyDerivation.Cost? { get }

    init?(_ reader: inout FieldReader)
    func write(to writer: inout FieldWriter) throws(KeyError)
}

/// A way to open a store, kept on disk: the store key, wrapped under a key that is made from one
/// secret. The payload of every kind consists of the key generation, what the kind keeps, and the
/// wrapped key.
package struct Slot<Details: SlotDetails>: Equatable, Sendable {
    /// Makes the key for a slot at this place, from a passcode, a recovery key or the machine key.
    typealias KeyMaker = (WrappedKey.Place) throws(KeyError) -> SecretBytes

    package let block: Int
    /// A later slot has a higher sequence.
    package let sequence: UInt64
    package let keyGeneration: UInt32
    package let details: Details
    let wrapped: WrappedKey

    static func payload(
        _ storeKey: borrowing SecretBytes, _ details: Details, block: Int, store: StoreID,
        key: KeyMaker
    ) throws(KeyError) -> [UInt8] {
        let generation = WrappedKey.generation
        let place = place(block, store, generation, details)
        let wrapped = try WrappedKey(storeKey, under: try key(place), at: place)
        return try payload(generation, details, wrapped)
    }

    /// The payload with the same wrapped key and other details.
    func payload(with changed: Details) throws(KeyError) -> [UInt8] {
        try Self.payload(keyGeneration, changed, wrapped)
    }

    private static func payload(
        _ generation: UInt32, _ details: Details, _ wrapped: WrappedKey
    ) throws(KeyError) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(generation)
        try details.write(to: &writer)
        wrapped.write(to: &writer)
        return writer.bytes
    }

    init(_ block: Block) throws(KeyError) {
        var reader = FieldReader(block.payload)
        guard let generation = reader.number(UInt32.self), let details = Details(&reader),
            let wrapped = WrappedKey(&reader), reader.restIsZero
        else { throw .damaged(.block(block.number)) }
        self.block = block.number
        sequence = block.sequence
        keyGeneration = generation
        self.details = details
        self.wrapped = wrapped
    }

    /// Throws `.wrongSecret` where the key was made from another secret.
    func open(store: StoreID, key: KeyMaker) throws(KeyError) -> SecretBytes {
        let place = place(of: store)
        return try wrapped.open(under: try key(place), at: place)
    }

    func place(of store: StoreID) -> WrappedKey.Place {
        Self.place(block, store, keyGeneration, details)
    }

    private static func place(
        _ block: Int, _ store: StoreID, _ generation: UInt32, _ details: Details
    ) -> WrappedKey.Place {
        WrappedKey.Place(
            store: store, kind: Details.kind, block: block, generation: generation,
            cost: details.derivation)
    }
}

extension [Block?] {
    /// The slots of one kind, the newest first.
    func slots<Details>(_: Details.Type = Details.self) throws(KeyError) -> [Slot<Details>] {
        var slots: [Slot<Details>] = []
        for number in Details.blocks {
            if let block = self[number] { slots.append(try Slot(block)) }
        }
        return slots.sorted { $0.sequence > $1.sequence }
    }
}
