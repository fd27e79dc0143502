import Posix

extension UncheckedSlotFile {
    /// The likely owner of a slots file that cannot be read as one. Only for telling this person
    /// about the damage.
    public static func likelyIdentity(in folder: Folder) -> Identity? {
        guard let file = try? openFile(SlotFile.fileName, .readWrite, in: folder),
            let bytes = try? FileDisk(file).read()
        else { return nil }
        return likelyIdentity(of: bytes)
    }

    static func likelyIdentity(of bytes: [UInt8]) -> Identity? {
        guard let owner = payload(Identity.ownerBlock, of: bytes) else { return nil }
        var reader = FieldReader(owner)
        guard let createdAt = reader.number(UInt64.self), let uid = reader.number(UInt32.self),
            let way = reader.number(UInt8.self), let condition = reader.number(UInt8.self),
            reader.bytes(1) != nil, let account = text(&reader, Identity.accountLimit)
        else { return nil }
        var name: [UInt8]?
        var policyKey: [UInt8]?
        if let label = payload(Identity.labelBlock, of: bytes) {
            var reader = FieldReader(label)
            name = text(&reader, Identity.storeNameLimit)
            reader = FieldReader(Array(label.dropFirst(1 + Identity.storeNameLimit)))
            policyKey = text(&reader, Identity.policyKeyLimit)
        }
        return Identity(
            uid: uid, account: account, createdAt: createdAt,
            way: Identity.Way(rawValue: way) ?? .own,
            condition: Identity.Condition(rawValue: condition) ?? .live,
            storeName: name ?? Array("default".utf8), policyKey: policyKey ?? Array("default".utf8))
    }

    private static func payload(_ number: Int, of bytes: [UInt8]) -> [UInt8]? {
        let start = number * Page.size + Block.payloadOffset
        guard bytes.count >= start + Block.payloadSize else { return nil }
        return Array(bytes[start..<(start + Block.payloadSize)])
    }

    /// Unlike `FieldReader.text`, takes any bytes as padding after the text.
    private static func text(_ reader: inout FieldReader, _ limit: Int) -> [UInt8]? {
        guard let count = reader.number(UInt8.self), let room = reader.bytes(limit), count > 0,
            count <= limit
        else { return nil }
        return Array(room[..<Int(count)])
    }
}
