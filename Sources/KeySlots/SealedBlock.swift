import Secrets

/// The content of a block that only the store key opens.
protocol SealedContent: ~Copyable {
    static var purpose: Purpose { get }
    /// The size of the content before it is sealed. It is always the same, so that the disk does
    /// not show how much is in it.
    static var size: Int { get }
}

/// Such a block as it is on the disk: bound to the store and to its place.
struct SealedBlock<Content: SealedContent & ~Copyable> {
    private static var sealedSize: Int { Content.size + Sealing.tagSize }

    private let number: Int
    private let generation: UInt32
    private let nonce: [UInt8]
    private let text: [UInt8]

    init(_ payload: [UInt8], at number: Int) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let generation = reader.number(UInt32.self),
            let nonce = reader.bytes(Sealing.nonceSize),
            let text = reader.bytes(Self.sealedSize), reader.restIsZero
        else { throw .damaged(.block(number)) }
        self.number = number
        self.generation = generation
        self.nonce = nonce
        self.text = text
    }

    static func payload(
        _ content: Span<UInt8>, at number: Int, store: StoreID, storeKey: borrowing SecretBytes
    ) throws(SecretsError) -> [UInt8] {
        let generation = WrappedKey.generation
        let bound = bound(number, store, generation)
        let key = try Hash.subkey(of: storeKey, purpose: Content.purpose, message: bound.span)
        let nonce = try Random.bytes(Sealing.nonceSize)
        var sealed = [UInt8](repeating: 0, count: sealedSize)
        var span = sealed.mutableSpan
        try Sealing.sealCombined(
            content, aad: bound.span, nonce: nonce.span, key: key, into: &span)
        var writer = FieldWriter()
        writer.put(generation)
        writer.put(nonce)
        writer.put(sealed)
        return writer.bytes
    }

    /// No secret was typed that could be wrong, so what does not open is damage.
    func open(
        store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        do throws(SecretsError) {
            let bound = Self.bound(number, store, generation)
            let key = try Hash.subkey(of: storeKey, purpose: Content.purpose, message: bound.span)
            var opened = try SecretBytes(count: Content.size)
            try opened.withMutableBytes { (content) throws(SecretsError) in
                try Sealing.openCombined(
                    text.span, aad: bound.span, nonce: nonce.span, key: key, into: &content)
            }
            return opened
        } catch {
            throw error == .notAuthentic ? .damaged(.block(number)) : .secrets(error)
        }
    }

    private static func bound(_ number: Int, _ store: StoreID, _ generation: UInt32) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(store.bytes)
        writer.put(UInt16(number))
        writer.put(generation)
        return writer.bytes
    }
}
