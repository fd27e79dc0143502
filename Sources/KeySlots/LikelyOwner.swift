extension UncheckedSlotFile {
    /// The likely owner of a slots file whose first blocks cannot be read as they should be. Only
    /// for telling this person about the damage, and for a recovery. Nil where the bytes are not
    /// even likely: nobody must be taken for the owner of noise.
    static func likelyIdentity(of bytes: [UInt8], _ store: StoreID) -> Identity? {
        guard let owner = likely(Identity.ownerBlock, of: bytes, store) else { return nil }
        var reader = FieldReader(owner.payload)
        guard let createdAt = reader.number(UInt64.self), let uid = reader.number(UInt32.self),
            let way = reader.number(UInt8.self), let condition = reader.number(UInt8.self),
            let without = reader.number(UInt8.self)
        else { return nil }
        // Without a header that fits, zeroes behind the name show that it is one.
        let account =
            owner.hasHeader
            ? text(&reader, Identity.accountLimit) : reader.text(limit: Identity.accountLimit)
        guard let account, !account.isEmpty else { return nil }
        var rest = FieldReader(Array(owner.payload.dropFirst(Identity.markOffset)))
        var name: [UInt8]?
        var policyKey: [UInt8]?
        var kind: Identity.Kind?
        if let label = likely(Identity.labelBlock, of: bytes, store) {
            var reader = FieldReader(label.payload)
            name = text(&reader, Identity.storeNameLimit)
            reader = FieldReader(Array(label.payload.dropFirst(1 + Identity.storeNameLimit)))
            policyKey = text(&reader, Identity.policyKeyLimit)
            kind = Identity.Kind(&reader)
        }
        return Identity(
            uid: uid, account: account, createdAt: createdAt,
            way: Identity.Way(rawValue: way) ?? .own,
            condition: Identity.Condition(rawValue: condition) ?? .live,
            withoutPasscode: Identity.WithoutPasscode(rawValue: without) ?? .hasPasscode,
            storeName: name ?? Array("default".utf8), policyKey: policyKey ?? Array("default".utf8),
            kind: kind ?? .own, madeUnder: OrdersMark(&rest) ?? .none,
            isWiped: rest.flag() ?? false)
    }

    private static func likely(
        _ number: Int, of bytes: [UInt8], _ store: StoreID
    ) -> (payload: [UInt8], hasHeader: Bool)? {
        guard let found = Page.found(number, of: bytes) else { return nil }
        let payload = Block.payloadOffset..<(Block.payloadOffset + Block.payloadSize)
        let header = try? Block.glimpse(found.block, number: number, store: store)
        return (Array(found.block[payload]), header != nil)
    }

    /// Unlike `FieldReader.text`, takes any bytes as padding after the text.
    private static func text(_ reader: inout FieldReader, _ limit: Int) -> [UInt8]? {
        guard let count = reader.number(UInt8.self), let room = reader.bytes(limit), count > 0,
            count <= limit
        else { return nil }
        return Array(room[..<Int(count)])
    }
}
