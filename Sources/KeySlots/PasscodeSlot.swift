import Secrets

/// Opens with Argon2id of the passcode, mixed with the machine key.
package typealias PasscodeSlot = Slot<PasscodeDetails>

package struct PasscodeDetails: SlotDetails {
    package static let kind: UInt16 = 1
    package static let blocks = [3, 4]
    package static let opensOnAnyMachine = false
    package static let digestSize = 32
    static let saltSize = KeyDerivation.saltSize

    package var salt: [UInt8]
    package var cost: KeyDerivation.Cost
    /// Seconds since 1970.
    package var setAt: UInt64
    /// The digest of the rules by which the passcode was judged last; zero where it was never
    /// judged.
    package var policyDigest: [UInt8]
    /// Whether this passcode is the login password.
    package var way: Identity.Way

    package var derivation: KeyDerivation.Cost? { cost }

    /// Draws a new salt.
    package init(
        cost: KeyDerivation.Cost, setAt: UInt64,
        policyDigest: [UInt8] = [UInt8](repeating: 0, count: digestSize), way: Identity.Way
    ) throws(SecretsError) {
        self.init(
            salt: try Random.bytes(Self.saltSize), cost: cost, setAt: setAt,
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

    package init?(_ reader: inout FieldReader) {
        guard let memory = reader.number(UInt32.self), let passes = reader.number(UInt32.self),
            // A cost beyond the caps is damage. This finds it before any memory is allocated.
            let cost = try? KeyDerivation.Cost(memoryKiB: memory, passes: passes),
            let way = reader.number(UInt32.self).flatMap(UInt8.init(exactly:))
                .flatMap(Identity.Way.init(rawValue:)),
            let setAt = reader.number(UInt64.self), let salt = reader.bytes(Self.saltSize),
            let digest = reader.bytes(Self.digestSize)
        else { return nil }
        self.init(salt: salt, cost: cost, setAt: setAt, policyDigest: digest, way: way)
    }

    package func write(to writer: inout FieldWriter) throws(KeyError) {
        guard salt.count == Self.saltSize, policyDigest.count == Self.digestSize
        else { throw .secrets(.wrongSize) }
        writer.put(cost.memoryKiB)
        writer.put(cost.passes)
        writer.put(UInt32(way.rawValue))
        writer.put(setAt)
        writer.put(salt)
        writer.put(policyDigest)
    }
}

extension PasscodeSlot {
    /// Made from the result of the derivation, never from the passcode itself.
    static func key(
        derived: borrowing SecretBytes, at place: WrappedKey.Place, machine: MachineKey
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
