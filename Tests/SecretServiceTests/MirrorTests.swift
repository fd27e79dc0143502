import Testing
import Wire

@testable import Posix
@testable import SecretService

private func item(
    _ number: UInt8, in collection: SecretID = .zero, _ attributes: [String: String] = [:],
    modified: UInt64 = 1
) -> Item {
    var item = Item()
    item.id = [UInt8](repeating: number, count: 16)
    item.collection = collection.bytes
    item.attributes = attributes.sorted { $0.key < $1.key }.map {
        Item.Attribute(name: Array($0.key.utf8), value: Array($0.value.utf8))
    }
    item.modified = modified
    return item
}

private func id(_ number: UInt8) -> SecretID {
    SecretID([UInt8](repeating: number, count: 16)) ?? .zero
}

private func attributes(_ texts: [String: String]) -> [Item.Attribute] { item(0, texts).attributes }

private func page(
    _ items: [Item], isAnew: Bool = false, cursor: UInt64 = 0, gone: [SecretID] = [],
    collections: [SecretID] = [.zero]
) -> ItemNews {
    var news = ItemNews()
    news.isAnew = isAnew
    news.cursor = cursor
    news.items = items
    news.gone = gone.map(\.bytes)
    news.collections = collections.map {
        var collection = ItemCollection()
        collection.id = $0.bytes
        return collection
    }
    return news
}

@Test("an id is 16 bytes and 32 digits, and comes back from both")
func ids() {
    for id in [SecretID.zero, .random(), SecretID(high: 1, low: .max)] {
        #expect(SecretID(id.bytes) == id)
        #expect(SecretID(text: id.text[...]) == id)
        #expect(id.text.count == 32)
    }
    #expect(SecretID([1, 2]) == nil)
    for bad in ["", "0", String(repeating: "A", count: 32), String(repeating: "g", count: 32)] {
        #expect(SecretID(text: bad[...]) == nil)
    }
}

@Test("what is searched has all of the attributes, and what was changed last comes first")
func searching() async throws {
    try await TestLoop.run {
        let mirror = Mirror()
        var changes = Mirror.Changes()
        mirror.put(item(1, ["a": "1", "b": "2"], modified: 5), &changes)
        mirror.put(item(2, ["a": "1", "b": "3"], modified: 9), &changes)
        mirror.put(item(3, in: id(7), ["a": "1"], modified: 7), &changes)
        #expect(mirror.search(attributes(["a": "1"])) == [id(2), id(3), id(1)])
        #expect(mirror.search(attributes(["a": "1"]), in: .zero) == [id(2), id(1)])
        #expect(mirror.search(attributes(["a": "1", "b": "2"])) == [id(1)])
        #expect(mirror.search(attributes(["a": "2"])) == [])
        #expect(mirror.search(attributes(["b": "1"])) == [])
        #expect(mirror.search([]) == [id(2), id(3), id(1)])
        // With other attributes it is found by those alone.
        mirror.put(item(1, ["a": "2"], modified: 10), &changes)
        #expect(mirror.search(attributes(["a": "2"])) == [id(1)])
        #expect(mirror.search(attributes(["a": "1"])) == [id(2), id(3)])
        mirror.remove(id(2), &changes)
        #expect(mirror.search(attributes(["a": "1"])) == [id(3)])
        #expect(mirror.items(in: .zero) == [id(1)])
    }
}

@Test(
    "an attribute that hundreds have is found as well as one that one has, while they come and go")
func crowds() async throws {
    try await TestLoop.run {
        let mirror = Mirror()
        var changes = Mirror.Changes()
        for number in 0..<200 {
            mirror.put(item(UInt8(number), ["same": "x", "own": "\(number)"]), &changes)
        }
        #expect(mirror.search(attributes(["same": "x"])).count == 200)
        for number in stride(from: 0, to: 200, by: 2) { mirror.remove(id(UInt8(number)), &changes) }
        #expect(mirror.search(attributes(["same": "x"])).count == 100)
        #expect(mirror.search(attributes(["same": "x", "own": "7"])) == [id(7)])
        #expect(mirror.search(attributes(["same": "x", "own": "8"])) == [])
        for number in 0..<200 { mirror.remove(id(UInt8(number)), &changes) }
        #expect(mirror.search(attributes(["same": "x"])) == [] && mirror.count == 0)
    }
}

@Test("only what is different is told")
func changes() async throws {
    try await TestLoop.run {
        let mirror = Mirror()
        var changes = Mirror.Changes()
        mirror.put(item(1, ["a": "1"]), &changes)
        #expect(changes.created == [Mirror.Place(collection: .zero, id: id(1))])
        changes = Mirror.Changes()
        mirror.put(item(1, ["a": "1"]), &changes)
        #expect(changes.isEmpty)
        mirror.put(item(1, ["a": "2"]), &changes)
        #expect(changes.changed == [Mirror.Place(collection: .zero, id: id(1))])
        changes = Mirror.Changes()
        mirror.remove(id(1), &changes)
        mirror.remove(id(1), &changes)
        #expect(changes.deleted == [Mirror.Place(collection: .zero, id: id(1))])
    }
}

@Test("an answer that names all items ends with those alone; until its last page the others stay")
func anew() async throws {
    try await TestLoop.run {
        let mirror = Mirror()
        var changes = Mirror.Changes()
        mirror.apply(page([item(1), item(2), item(3)], isAnew: true), isFirst: true, &changes)
        #expect(changes.newCollections == [.zero] && changes.created.count == 3)
        changes = Mirror.Changes()
        mirror.apply(page([item(3)], isAnew: true, cursor: 9), isFirst: true, &changes)
        #expect(mirror.count == 3 && changes.isEmpty)
        mirror.apply(page([item(4)], collections: []), isFirst: false, &changes)
        #expect(Set(mirror.search([])) == [id(3), id(4)])
        #expect(Set(changes.deleted.map(\.id)) == [id(1), id(2)])
        #expect(mirror.collections.keys.contains(.zero))
    }
}

@Test("an answer that begins anew in the middle counts from there")
func anewInTheMiddle() async throws {
    try await TestLoop.run {
        let mirror = Mirror()
        var changes = Mirror.Changes()
        mirror.apply(page([item(1)], isAnew: true, cursor: 5), isFirst: true, &changes)
        mirror.apply(page([item(2)], isAnew: true), isFirst: false, &changes)
        #expect(mirror.search([]) == [id(2)])
    }
}

@Test(
    "an answer of what has changed leaves the rest; a collection that is gone takes its items along"
)
func news() async throws {
    try await TestLoop.run {
        let mirror = Mirror()
        var changes = Mirror.Changes()
        mirror.apply(
            page(
                [item(1), item(2, in: id(7)), item(3)], isAnew: true, collections: [.zero, id(7)]),
            isFirst: true, &changes)
        changes = Mirror.Changes()
        mirror.apply(page([item(4)], gone: [id(1)]), isFirst: true, &changes)
        #expect(Set(mirror.search([])) == [id(3), id(4)])
        #expect(changes.goneCollections == [id(7)])
        #expect(Set(changes.deleted.map(\.id)) == [id(1), id(2)])
    }
}
