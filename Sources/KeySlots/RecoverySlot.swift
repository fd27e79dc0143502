import Secrets

/// Opens with the recovery key, on any machine.
package typealias RecoverySlot = Slot<RecoveryDetails>

package struct RecoveryDetails: SlotDetails {
    package static let kind: UInt16 = 3
    package static let blocks = [6, 7]
    package static let opensOnAnyMachine = true

    /// Whether the person had proved something when the key was made. In a store without a passcode
    /// there is nothing to prove.
    package let isProven: Bool
    /// Seconds since 1970.
    package let setAt: UInt64

    /// 128 random bits need no slow derivation.
    package var derivation: KeyDerivation.Cost? { nil }

    init(isProven: Bool, setAt: UInt64) {
        self.isProven = isProven
        self.setAt = setAt
    }

    package init?(_ reader: inout FieldReader) {
        guard let unproven = reader.number(UInt32.self), unproven <= 1,
            let setAt = reader.number(UInt64.self)
        else { return nil }
        self.init(isProven: unproven == 0, setAt: setAt)
    }

    package func write(to writer: inout FieldWriter) {
        writer.put(UInt32(isProven ? 0 : 1))
        writer.put(setAt)
    }
}

extension RecoverySlot {
    static func key(
        _ key: borrowing RecoveryKey, at place: WrappedKey.Place
    ) throws(KeyError) -> SecretBytes {
        let message = place.keyMessage
        return try secrets(
            try Hash.subkey(of: key.bytes, purpose: .recoveryKEK, message: message.span))
    }

    func open(_ key: borrowing RecoveryKey, store: StoreID) throws(KeyError) -> SecretBytes {
        try open(store: store) { (place) throws(KeyError) in try Self.key(key, at: place) }
    }
}

extension [RecoverySlot] {
    /// Throws `.wrongSecret` where none of them opens with this key.
    func open(_ key: borrowing RecoveryKey, store: StoreID) throws(KeyError) -> SecretBytes {
        guard !isEmpty else { throw .noSuchSlot }
        for slot in self {
            do {
                return try slot.open(key, store: store)
            } catch {
                guard error == .wrongSecret else { throw error }
            }
        }
        throw .wrongSecret
    }
}
