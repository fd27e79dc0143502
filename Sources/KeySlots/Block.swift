import Secrets

/// One block of the slots file: what it is, where it belongs, and a MAC over all of it.
struct Block: Equatable {
    static let count = 16
    static let size = 512
    static let machineID = 32..<48
    static let payloadOffset = 48
    static let payloadSize = 432
    static let version: UInt16 = 1
    /// Far beyond any real sequence. Each write takes the highest sequence in the file plus one;
    /// without a limit, a forged block could leave no number for it.
    static let sequenceLimit: UInt64 = 1 << 63

    private static let magic = Array("AVSB".utf8)
    private static let sealed = 480
    static let empty = [UInt8](repeating: 0, count: size)

    /// Who can check a block.
    enum Guardian {
        /// by the machine that wrote it
        case machine(MachineKey)
        /// by anybody: recovery slots, which must also open when the key of their machine is lost
        case anybody
    }

    let number: Int
    let sequence: UInt64
    let payload: [UInt8]

    func encoded(_ store: StoreID, _ guardian: Guardian) throws(KeyError) -> [UInt8] {
        guard payload.count <= Self.payloadSize else { throw .tooLong }
        var writer = FieldWriter()
        writer.put(Self.magic)
        writer.put(Self.version)
        writer.put(UInt16(number))
        writer.put(sequence)
        writer.put(store.bytes)
        writer.put(Self.machineID(guardian))
        writer.put(payload)
        writer.put([UInt8](repeating: 0, count: Self.payloadSize - payload.count))
        return writer.bytes + (try secrets(try Self.seal(writer.bytes, guardian)))
    }

    /// What can be read without checking the MAC: for a store whose machine key is missing or
    /// another one.
    struct Glimpse {
        let block: Block
        let machineID: [UInt8]
    }

    /// Nil for an empty block. This checks that the block belongs at this place in this store, but
    /// not the MAC.
    static func glimpse(
        _ bytes: [UInt8], number: Int, store: StoreID
    ) throws(KeyError) -> Glimpse? {
        guard bytes.count == size else { throw .damaged(.fileSize) }
        if bytes == empty { return nil }
        var reader = FieldReader(bytes)
        guard reader.bytes(magic.count) == magic, reader.number() == version,
            reader.number() == UInt16(number), let sequence = reader.number(UInt64.self),
            sequence < sequenceLimit,
            reader.bytes(StoreID.size) == store.bytes,
            let machineID = reader.bytes(MachineKey.idSize), let payload = reader.bytes(payloadSize)
        else { throw .damaged(.block(number)) }
        return Glimpse(
            block: Block(number: number, sequence: sequence, payload: payload),
            machineID: machineID)
    }

    /// Nil for an empty block, else a block whose MAC is right.
    static func checked(
        _ bytes: [UInt8], number: Int, store: StoreID, _ guardian: Guardian
    ) throws(KeyError) -> Block? {
        guard let glimpse = try glimpse(bytes, number: number, store: store) else { return nil }
        guard glimpse.machineID == machineID(guardian) else {
            switch guardian {
            case .machine: throw .damaged(.foreignMachineKey)
            case .anybody: throw .damaged(.block(number))
            }
        }
        let mac = try secrets(try seal(Array(bytes[..<sealed]), guardian))
        guard constantTimeEqual(bytes.span.extracting(sealed..<size), mac.span)
        else { throw .damaged(.block(number)) }
        return glimpse.block
    }

    private static func machineID(_ guardian: Guardian) -> [UInt8] {
        switch guardian {
        case .machine(let key): key.id
        case .anybody: [UInt8](repeating: 0, count: MachineKey.idSize)
        }
    }

    private static func seal(_ bytes: [UInt8], _ guardian: Guardian) throws(SecretsError) -> [UInt8]
    {
        switch guardian {
        case .machine(let key):
            try Hash.blake2b(bytes.span, key: key.blockKey, purpose: .blockMAC)
        case .anybody: try Hash.blake2b(bytes.span, purpose: .blockCheck)
        }
    }
}
