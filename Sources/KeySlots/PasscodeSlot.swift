import Secrets

/// Who made a passcode up.
public enum PasscodeSource: UInt8, CaseIterable, Sendable {
    /// Nobody said; earlier releases did not write it down.
    case unknown = 0
    /// A person typed it.
    case user = 1
    /// A program made it, for itself.
    case device = 2
}

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
    package var source: PasscodeSource

    package var derivation: KeyDerivation.Cost? { cost }

    /// Draws a new salt.
    package init(
        cost: KeyDerivation.Cost, setAt: UInt64,
        policyDigest: [UInt8] = [UInt8](repeating: 0, count: digestSize), way: Identity.Way,
        source: PasscodeSource = .unknown
    ) throws(SecretsError) {
        self.init(
            salt: try Random.bytes(Self.saltSize), cost: cost, setAt: setAt,
            policyDigest: policyDigest, way: way, source: source)
    }

    init(
        salt: [UInt8], cost: KeyDerivation.Cost, setAt: UInt64, policyDigest: [UInt8],
        way: Identity.Way, source: PasscodeSource
    ) {
        self.salt = salt
        self.cost = cost
        self.setAt = setAt
        self.policyDigest = policyDigest
        self.way = way
        self.source = source
    }

    package init?(_ reader: inout FieldReader) {
        guard let memory = reader.number(UInt32.self), let passes = reader.number(UInt32.self),
            // A cost beyond the caps is damage. This finds it before any memory is allocated.
            let cost = try? KeyDerivation.Cost(memoryKiB: memory, passes: passes),
            let way = reader.number().flatMap(Identity.Way.init(rawValue:)),
            let source = reader.number().flatMap(PasscodeSource.init(rawValue:)),
            reader.number(UInt16.self) == 0, let setAt = reader.number(UInt64.self),
            let salt = reader.bytes(Self.saltSize),
            let digest = reader.bytes(Self.digestSize)
        else { return nil }
        self.init(
            salt: salt, cost: cost, setAt: setAt, policyDigest: digest, way: way, source: source)
    }

    package func write(to writer: inout FieldWriter) throws(KeyError) {
        guard salt.count == Self.saltSize, policyDigest.count == Self.digestSize
        else { throw .secrets(.wrongSize) }
        writer.put(cost.memoryKiB)
        writer.put(cost.passes)
        writer.put(way.rawValue)
        writer.put(source.rawValue)
        writer.put(UInt16(0))
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
