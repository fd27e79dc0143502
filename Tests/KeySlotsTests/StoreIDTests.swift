import Testing

@testable import KeySlots

@Suite struct StoreIDTests {
    @Test("a random id is a UUID of version 4 and survives its text and its bytes")
    func roundTrip() throws {
        let id = try StoreID.random()
        let text = Array(id.description.utf8)
        #expect(text.count == 36)
        #expect(text[14] == UInt8(ascii: "4"))
        #expect(Array("89ab".utf8).contains(text[19]))
        #expect(StoreID(text: id.description) == id)
        #expect(StoreID(bytes: id.bytes) == id)
        #expect(try StoreID.random() != id)
    }

    @Test("bytes and text stand for each other as everywhere else")
    func known() {
        let id = StoreID(text: "00010203-0405-4607-8809-0a0b0c0d0e0f")
        #expect(id?.bytes == [0, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, 15])
    }

    @Test(
        "what is no store's folder name is refused",
        arguments: [
            "", "00010203-0405-4607-8809-0a0b0c0d0e0", "00010203-0405-4607-8809-0a0b0c0d0e0f0",
            "00010203-0405-4607-8809-0A0B0C0D0E0F", "000102030-405-4607-8809-0a0b0c0d0e0f",
            "../10203-0405-4607-8809-0a0b0c0d0e0f", "00010203-0405-4607-8809-0a0b0c0d0e0g",
        ])
    func refused(text: String) {
        #expect(StoreID(text: text) == nil)
    }
}
