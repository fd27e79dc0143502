import Posix
import Testing
import Wire

@testable import StoreKeeping

@Suite("the records of items, collections and aliases")
struct ItemRecordTests {
    private let item: Item = {
        var item = Item()
        item.id = Array(1...16)
        item.collection = Array(17...32)
        item.label = Array("Mail of ann".utf8)
        item.contentType = Array("text/plain".utf8)
        item.attributes = [
            Item.Attribute(name: Array("server".utf8), value: Array("mail.example".utf8)),
            Item.Attribute(name: Array("user".utf8), value: []),
        ]
        item.created = 1_700_000_000
        item.modified = 1_700_000_001
        return item
    }()
    private let secret = Array("otter".utf8)

    private func bytes(_ buffer: WipedBuffer) -> [UInt8] {
        buffer.withBytes { span in span.indices.map { span[$0] } }
    }

    private func encoded() -> [UInt8] {
        bytes(ItemRecord.encode(item, secret: secret.span))
    }

    /// What these bytes say, as they would be stored.
    private func again(_ value: [UInt8]) throws(WireError) -> [UInt8] {
        let record = try ItemRecord(value.span)
        let read = record.item(ItemID(item.id)!, in: value.span)
        return bytes(
            ItemRecord.encode(read, secret: value.span.extracting(record.secret)))
    }

    @Test("say what was stored")
    func whole() throws {
        let value = encoded()
        let record = try ItemRecord(value.span)
        #expect(record.item(ItemID(item.id)!, in: value.span) == item)
        #expect(Array(value[record.secret]) == secret)
        #expect(record.collection(in: value.span).bytes == item.collection)
        #expect(record.contentType(in: value.span) == item.contentType)
    }

    @Test("are laid out as FORMAT.md says")
    func layout() throws {
        var wanted: [UInt8] = [1]
        wanted += [0, 0xF1, 0x53, 0x65, 0, 0, 0, 0] + [1, 0xF1, 0x53, 0x65, 0, 0, 0, 0]
        wanted += [11, 0] + Array("Mail of ann".utf8) + [10, 0] + Array("text/plain".utf8)
        wanted += Array(17...32) + [2, 0]
        wanted += [6, 0] + Array("server".utf8) + [12, 0] + Array("mail.example".utf8)
        wanted += [4, 0] + Array("user".utf8) + [0, 0]
        wanted += [5, 0, 0, 0] + Array("otter".utf8)
        #expect(encoded() == wanted)
    }

    @Test("cut anywhere, or with a byte behind them, they are refused")
    func cuts() {
        let value = encoded()
        for count in 0..<value.count {
            #expect(throws: WireError.self) { try again(Array(value.prefix(count))) }
        }
        #expect(throws: WireError.trailingBytes) { try again(value + [0]) }
    }

    @Test("with any bit turned they are refused, or say something else in the only encoding of it")
    func bits() {
        let value = encoded()
        for bit in 0..<value.count * 8 {
            var turned = value
            turned[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let said = try? again(turned) else { continue }
            #expect(said == turned)
        }
    }

    @Test("attributes stand in the order of their names, each once")
    func order() throws {
        let pair = { (name: String, value: String) in
            Item.Attribute(name: Array(name.utf8), value: Array(value.utf8))
        }
        let ordered = ItemRecord.inOrder([pair("b", "1"), pair("", "2"), pair("ab", "3")])
        #expect(ordered == [pair("", "2"), pair("ab", "3"), pair("b", "1")])
        #expect(ItemRecord.inOrder([pair("b", "1"), pair("a", "2"), pair("b", "3")]) == nil)
        for names in [["b", "a"], ["a", "a"]] {
            var wrong = item
            wrong.attributes = names.map { pair($0, "") }
            let value = bytes(ItemRecord.encode(wrong, secret: secret.span))
            #expect(throws: WireError.unknownValue) { try again(value) }
        }
    }

    @Test("the index is told the same by the record and by the item")
    func facts() throws {
        let key = try ItemHashKey()
        for attributes in [item.attributes, []] {
            var item = item
            item.attributes = attributes
            let value = bytes(ItemRecord.encode(item, secret: secret.span))
            let id = ItemID(item.id)!
            let facts = try ItemRecord(value.span).facts(id, in: value.span, key)
            #expect(facts == key.facts(item))
            #expect(facts.hashes.count == attributes.count + 1)
            #expect(Array(facts.hashes.dropLast()) == attributes.map { key.hash($0) })
            #expect(facts.hashes.last == key.hash(whole: item))
        }
    }

    @Test("the records of collections and aliases, too")
    func others() throws {
        var record = CollectionRecord(label: Array("Work".utf8), created: 5, modified: 6)
        for isDeleted in [false, true] {
            record.isDeleted = isDeleted
            let value = bytes(record.encode())
            #expect(try CollectionRecord(value.span) == record)
            for count in 0..<value.count {
                let cut = Array(value.prefix(count))
                #expect(throws: WireError.self) { try CollectionRecord(cut.span) }
            }
            for bit in 0..<value.count * 8 {
                var turned = value
                turned[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let said = try? CollectionRecord(turned.span) else { continue }
                #expect(bytes(said.encode()) == turned)
            }
        }
        let id = try ItemID.random()
        for target in [AliasTarget.collection(id), .store(id)] {
            let alias = bytes(AliasRecord.encode(target))
            #expect(try AliasRecord.decode(alias.span) == target)
            for count in 0..<alias.count {
                let cut = Array(alias.prefix(count))
                #expect(throws: WireError.self) { try AliasRecord.decode(cut.span) }
            }
            let other = [3] + Array(alias[1...])
            #expect(throws: WireError.self) { try AliasRecord.decode(other.span) }
        }
    }

    @Test("have names that nothing else has")
    func names() throws {
        let id = try ItemID.random()
        let names: [ItemName] = [
            .item(id), .collection(id), .collection(.zero), .alias(Array("default".utf8)),
        ]
        for name in names {
            #expect(ItemName(name.bytes.span) == name)
            #expect(ItemName.isReserved(name.bytes))
            #expect(name.bytes.count <= Limits.name)
        }
        let longest = ItemName.alias([UInt8](repeating: 0x61, count: Limits.aliasText))
        #expect(longest.bytes.count <= Limits.name)
        let prefix: [UInt8] = [0] + Array("secret".utf8) + [0]
        #expect(ItemName.prefix == prefix)
        let others: [[UInt8]] = [
            prefix, prefix + [0x69], prefix + [0x61], prefix + [0x7A] + id.bytes,
            prefix + [0x69] + id.bytes + [0], prefix + [0x69] + ItemID.zero.bytes,
            prefix.dropLast() + [0x69] + id.bytes, Array("secret".utf8),
        ]
        for other in others { #expect(ItemName(other.span) == nil) }
        #expect(!ItemName.isReserved(Array("secret".utf8)))
    }

    @Test("what waits to be stored counts with its label and its attributes")
    func weight() throws {
        let own = WipedBuffer(copying: secret.span)
        let said = "Mail of ann".utf8.count + "servermail.exampleuser".utf8.count
        let put = ItemWork.put(item, secret: own, replace: false)
        #expect(put.bytes == said + secret.count)
        let id = try #require(ItemID(item.id))
        let change = ItemWork.change(
            id, label: nil, attributes: item.attributes, modified: 0, secret: nil)
        #expect(change.bytes == "servermail.exampleuser".utf8.count)
        #expect(ItemWork.delete(id).bytes == 0)
    }
}
