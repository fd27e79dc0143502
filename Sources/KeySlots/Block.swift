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

    /// What is in a block's place.
    enum Reading {
        case empty
        case block(Block)
        /// The block with one wrong bit put right: no other content fits its MAC.
        case corrected(Block)
        /// Neither empty nor a block, however many of its bits are still right.
        case unreadable(KeyError)
    }

    /// Unlike `checked`, tells what may be lost from what must not be touched. Throws where the MAC
    /// is right and the content is none that this release knows.
    static func reading(
        _ bytes: [UInt8], number: Int, store: StoreID, _ guardian: Guardian
    ) throws(KeyError) -> Reading {
        if isEmpty(bytes) { return .empty }
        do throws(KeyError) {
            guard let block = try checked(bytes, number: number, store: store, guardian)
            else { return .empty }
            return .block(block)
        } catch {
            guard case .damaged = error else { throw error }
            let mac = try secrets(try seal(Array(bytes[..<sealed]), guardian))
            if mac == Array(bytes[sealed...]) {
                // A whole block of another place or store is here by mistake.
                guard bytes[6..<8].elementsEqual(header(number, bytes)[6..<8]),
                    bytes[16..<32].elementsEqual(store.bytes)
                else { return .unreadable(error) }
                throw error
            }
            guard let right = try corrected(bytes, mac, number, store, guardian),
                let block = try? checked(right, number: number, store: store, guardian)
            else { return .unreadable(error) }
            return .corrected(block)
        }
    }

    /// All zero, but for one wrong bit at most: a block has many.
    static func isEmpty(_ bytes: [UInt8]) -> Bool {
        wrongBits(bytes[...], empty) <= 1
    }

    /// Turns one bit after the other until the MAC is right. A forger gains nothing by it: the MAC
    /// has 256 bits, and this accepts a few thousand of their values instead of one.
    private static func corrected(
        _ bytes: [UInt8], _ mac: [UInt8], _ number: Int, _ store: StoreID, _ guardian: Guardian
    ) throws(KeyError) -> [UInt8]? {
        // Nothing is searched in what is no block of this store and machine at all.
        guard wrongBits(bytes[..<16], header(number, bytes)) <= 1,
            wrongBits(bytes[16..<32], store.bytes) <= 1,
            wrongBits(bytes[machineID], machineID(guardian)) <= 1
        else { return nil }
        var content = Array(bytes[..<sealed])
        let written = Array(bytes[sealed...])
        if wrongBits(written[...], mac) == 1 { return content + mac }
        for bit in 0..<(sealed * 8) {
            content[bit / 8] ^= 1 << UInt8(bit % 8)
            if try secrets(try seal(content, guardian)) == written { return content + written }
            content[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        return nil
    }

    /// The first 16 bytes, with whichever sequence is there.
    private static func header(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(magic)
        writer.put(version)
        writer.put(UInt16(number))
        writer.put(Array(bytes[8..<16]))
        return writer.bytes
    }

    private static func wrongBits(_ found: ArraySlice<UInt8>, _ right: [UInt8]) -> Int {
        zip(found, right).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
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
