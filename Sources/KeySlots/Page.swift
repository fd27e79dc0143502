import Secrets

/// Each block begins a page of its own. Disks with sectors of 4,096 bytes and the page cache write
/// whole pages. If two blocks shared a page, a torn write of the tries could destroy a slot.
enum Page {
    static let size = 4096
    /// The size of the file: one page for each block.
    static let fileSize = Block.count * size
    static let empty = [UInt8](repeating: 0, count: size)

    private static let rest = [UInt8](repeating: 0, count: size - Block.size)

    /// The block's bytes. The rest of its page must be zero.
    static func block(_ number: Int, of file: [UInt8]) throws(KeyError) -> [UInt8] {
        let start = number * size
        guard file.count >= start + size else { throw .damaged(.fileSize) }
        let behind = file.span.extracting((start + Block.size)..<(start + size))
        guard constantTimeEqual(behind, rest.span) else { throw .damaged(.block(number)) }
        return Array(file[start..<(start + Block.size)])
    }

    /// The block's bytes and whether nothing stands behind them in their page; nil where the file
    /// ends before the block does.
    static func found(_ number: Int, of file: [UInt8]) -> (block: [UInt8], isClean: Bool)? {
        let start = number * size
        guard file.count >= start + Block.size else { return nil }
        return (Array(file[start..<(start + Block.size)]), (try? block(number, of: file)) != nil)
    }

    static func isEmpty(_ number: Int, of file: [UInt8]) -> Bool {
        (try? block(number, of: file)) == Block.empty
    }

    static func around(_ block: [UInt8]) -> [UInt8] {
        block + [UInt8](repeating: 0, count: size - block.count)
    }
}
