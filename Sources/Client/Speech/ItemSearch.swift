/// Which items of a long list have in their name what somebody typed.
enum ItemSearch {
    /// So many are seen at a glance.
    static let few = 10

    /// All of them where nothing was typed. Large letters and small ones are the same.
    static func places(of typed: [UInt8], among titles: [[UInt8]]) -> [Int] {
        let wanted = folded(typed)
        guard !wanted.isEmpty else { return Array(titles.indices) }
        return titles.indices.filter { contains(folded(titles[$0]), wanted) }
    }

    private static func folded(_ text: [UInt8]) -> [UInt8] {
        let bytes = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
        var trimmed = Array(bytes.drop { $0 == 0x20 })
        while trimmed.last == 0x20 { trimmed.removeLast() }
        return trimmed
    }

    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }
}
