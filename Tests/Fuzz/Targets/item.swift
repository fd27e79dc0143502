import Posix
import Wire

@testable import StoreKeeping

/// The value of a record that should be an item, a collection or an alias, with any bytes: an
/// import may bring it. What is taken is written again as the very same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let kind = bytes.first else { return 0 }
    let value = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: item(value)
    case 1:
        guard let record = try? CollectionRecord(value.span) else { return 0 }
        must(content(record.encode()) == value, "a collection is not written as it was read")
    case 2:
        guard let id = try? AliasRecord.decode(value.span) else { return 0 }
        must(content(AliasRecord.encode(id)) == value, "an alias is not written as it was read")
    default:
        guard let name = ItemName(value.span) else { return 0 }
        must(name.bytes == value, "a name is not written as it was read")
        must(ItemName.isReserved(value), "a name that others could use")
    }
    return 0
}

func content(_ buffer: WipedBuffer) -> [UInt8] {
    buffer.withBytes { span in span.indices.map { span[$0] } }
}

func item(_ value: [UInt8]) {
    guard let record = try? ItemRecord(value.span),
        let id = ItemID([UInt8](repeating: 7, count: 16)),
        let key = try? ItemHashKey()
    else { return }
    let said = record.item(id, in: value.span)
    let again = ItemRecord.encode(said, secret: value.span.extracting(record.secret))
    must(content(again) == value, "an item is not written as it was read")
    must(ItemRecord.inOrder(said.attributes) == said.attributes, "attributes in another order")
    must(record.facts(id, in: value.span, key) == key.facts(said), "the index is told two things")
}
