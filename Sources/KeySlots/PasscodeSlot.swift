import Secrets

/// A slot that opens with Argon2id of the passcode, mixed with the machine key.
public struct PasscodeSlot: Equatable, Sendable {
    /// What a new slot is made with.
    public struct Details: Equatable, Sendable {
        public var salt: [UInt8]
        public var cost: KeyDerivation.Cost
        /// Seconds since 1970.
        public var setAt: UInt64
        /// Of the rule keys in force when the passcode was judged last; zero where nothing was judged.
        public var policyDigest: [UInt8]
        /// Whether this passcode is the login password.
        public var way: Identity.Way

        public static let digestSize = 32
        static let saltSize = KeyDerivation.saltSize

        /// With a salt of its own.
        public init(
            cost: KeyDerivation.Cost, setAt: UInt64,
            policyDigest: [UInt8] = [UInt8](repeating: 0, count: digestSize), way: Identity.Way
        ) throws(SecretsError) {
            self.init(
                salt: try Random.bytes(KeyDerivation.saltSize), cost: cost, setAt: setAt,
                policyDigest: policyDigest, way: way)
        }

        init(
            salt: [UInt8], cost: KeyDerivation.Cost, setAt: UInt64, policyDigest: [UInt8],
            way: Identity.Way
        ) {
            self.salt = salt
            self.cost = cost
            self.setAt = setAt
            self.policyDigest = policyDigest
            self.way = way
        }
    }

    public let block: Int
    public let details: Details
    public let keyGeneration: UInt32
    /// The later one has the higher.
    public let sequence: UInt64
    let wrapped: WrappedKey

    /// Under the result of the derivation, never under the passcode itself.
    static func payload(
        _ storeKey: borrowing SecretBytes, derived: borrowing SecretBytes, details: Details,
        block: Int, store: StoreID, machine: MachineKey
    ) throws(KeyError) -> [UInt8] {
        guard details.salt.count == KeyDerivation.saltSize,
            details.policyDigest.count == Details.digestSize
        else { throw .secrets(.wrongSize) }
        let place = WrappedKey.Place(
            store: store, kind: .passcode, block: block, generation: SlotFile.keyGeneration,
            cost: details.cost)
        let key = try key(derived: derived, place: place, machine: machine)
        let wrapped = try WrappedKey(storeKey, under: key, at: place)
        return payload(details, SlotFile.keyGeneration, wrapped)
    }

    private static func payload(
        _ details: Details, _ generation: UInt32, _ wrapped: WrappedKey
    ) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(generation)
        writer.put(details.cost.memoryKiB)
        writer.put(details.cost.passes)
        writer.put(UInt32(details.way.rawValue))
        writer.put(details.setAt)
        writer.put(details.salt)
        writer.put(details.policyDigest)
        wrapped.write(to: &writer)
        return writer.bytes
    }

    /// The same slot judged under other rules.
    func payload(policyDigest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard policyDigest.count == Details.digestSize else { throw .secrets(.wrongSize) }
        var changed = details
        changed.policyDigest = policyDigest
        return Self.payload(changed, keyGeneration, wrapped)
    }

    init(_ block: Block) throws(KeyError) {
        var reader = FieldReader(block.payload)
        guard let generation = reader.number(UInt32.self),
            let memory = reader.number(UInt32.self), let passes = reader.number(UInt32.self),
            // A cost beyond the caps is damage, found before any memory is asked for.
            let cost = try? KeyDerivation.Cost(memoryKiB: memory, passes: passes),
            let way = reader.number(UInt32.self).flatMap(UInt8.init(exactly:))
                .flatMap(Identity.Way.init(rawValue:)),
            let setAt = reader.number(UInt64.self),
            let salt = reader.bytes(KeyDerivation.saltSize),
            let digest = reader.bytes(Details.digestSize), let wrapped = WrappedKey(&reader),
            reader.restIsZero
        else { throw .damaged(.block(block.number)) }
        self.block = block.number
        sequence = block.sequence
        keyGeneration = generation
        details = Details(salt: salt, cost: cost, setAt: setAt, policyDigest: digest, way: way)
        self.wrapped = wrapped
    }

    /// `.wrongSecret` where the passcode was another one.
    func open(
        derived: borrowing SecretBytes, store: StoreID, machine: MachineKey
    ) throws(KeyError) -> SecretBytes {
        let place = WrappedKey.Place(
            store: store, kind: .passcode, block: block, generation: keyGeneration,
            cost: details.cost)
        return try wrapped.open(
            under: try Self.key(derived: derived, place: place, machine: machine), at: place)
    }

    private static func key(
        derived: borrowing SecretBytes, place: WrappedKey.Place, machine: MachineKey
    ) throws(KeyError) -> SecretBytes {
        guard derived.count == KeyDerivation.keySize else { throw .secrets(.wrongSize) }
        do {
            var hash = try Blake2b(key: machine.slotKey, purpose: .passcodeKEK)
            hash.update(derived)
            hash.update(place.keyMessage)
            return try hash.finishSecret()
        } catch {
            throw .secrets(error)
        }
    }
}
