@testable import SealedStore

/// What the seals of a records file contain: the head, a node, a record. A seal shows who wrote it,
/// not that it is well-formed. Whatever is accepted has only one encoding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 3 {
    case 0: head(sized(rest, Head.size))
    case 1: node(sized(rest, Node.size))
    default: record(rest)
    }
    return 0
}

/// So that the fuzzer need not find the size by chance: the size is right, unless the first byte is
/// 0xFF.
func sized(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
    if bytes.first == 0xFF { return bytes }
    return Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
}

func head(_ bytes: [UInt8]) {
    guard let head = try? Head(decoding: bytes.span) else { return }
    var again = [UInt8](repeating: 0xAA, count: Head.size)
    var target = again.mutableSpan
    head.encode(into: &target)
    must(again == bytes, "a head is not written as it was read")
}

func node(_ bytes: [UInt8]) {
    guard let node = try? Node(decoding: bytes.span) else { return }
    var again = [UInt8](repeating: 0xAA, count: Node.size)
    var target = again.mutableSpan
    node.encode(into: &target)
    must(again == bytes, "a node is not written as it was read")
}

func record(_ bytes: [UInt8]) {
    guard let parts = try? RecordBody.decode(bytes.span) else { return }
    must(
        parts.name.upperBound <= bytes.count && parts.value.upperBound <= bytes.count,
        "a record outside its body")
    must((1...RecordBody.largestName).contains(parts.name.count), "a name of no or too many bytes")
    let name = Array(bytes[parts.name])
    let value = Array(bytes[parts.value])
    var again = [UInt8](
        repeating: 0xAA, count: RecordBody.size(name: name.count, value: value.count))
    must(again.count == bytes.count, "a record of another size class")
    var target = again.mutableSpan
    RecordBody.encode(name: name.span, value: value.span, into: &target)
    must(again == bytes, "a record is not written as it was read")
}
