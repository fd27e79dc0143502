/// The head and the nodes, opened from the sealed blocks that the file has of them. The scratch memory is wiped
/// afterwards.
extension Head {
    init(
        _ sealed: Span<UInt8>, _ keys: borrowing RecordKeys, _ block: Scratch
    ) throws(RecordsError) {
        block.resize(to: Self.size)
        defer { block.clear() }
        try block.withMutableBytes { (text) throws(RecordsError) in
            try keys.open(block: sealed, .head, 0, generation: 0, damage: .head, into: &text)
        }
        self = try block.withBytes { (text) throws(RecordsError) in
            do throws(FormatError) { return try Head(decoding: text) } catch {
                throw .damaged(.head)
            }
        }
    }
}

extension Node {
    init(
        _ sealed: Span<UInt8>, at index: Int, generation: UInt64,
        _ keys: borrowing RecordKeys, _ block: Scratch
    ) throws(RecordsError) {
        block.resize(to: Self.size)
        defer { block.clear() }
        try block.withMutableBytes { (text) throws(RecordsError) in
            try keys.open(
                block: sealed, .node, index, generation: generation, damage: .node(index),
                into: &text)
        }
        self = try block.withBytes { (text) throws(RecordsError) in
            do throws(FormatError) { return try Node(decoding: text) } catch {
                throw .damaged(.node(index))
            }
        }
    }
}
