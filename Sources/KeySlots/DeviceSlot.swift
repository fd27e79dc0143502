import Secrets

/// Opens with the machine key alone: for a store without a passcode.
typealias DeviceSlot = Slot<DeviceDetails>

struct DeviceDetails: SlotDetails {
    static let kind: UInt16 = 2
    static let block = 5
    static let blocks = [block]
    static let opensOnAnyMachine = false

    var derivation: KeyDerivation.Cost? { nil }

    init() {}

    init?(_: inout FieldReader) {}

    func write(to _: inout FieldWriter) {}
}

extension DeviceSlot {
    static func key(
        at place: WrappedKey.Place, machine: MachineKey
    ) throws(KeyError) -> SecretBytes {
        let message = place.keyMessage
        return try secrets(
            try Hash.subkey(of: machine.slotKey, purpose: .deviceKEK, message: message.span))
    }

    /// No secret was typed that could be wrong, so what does not open is damage.
    func open(store: StoreID, machine: MachineKey) throws(KeyError) -> SecretBytes {
        do {
            return try open(store: store) { (place) throws(KeyError) in
                try Self.key(at: place, machine: machine)
            }
        } catch {
            throw error == .wrongSecret ? .damaged(.block(block)) : error
        }
    }
}
