/// The word that was probably meant.
enum Nearness {
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let best = candidates.min { distance(word, $0) < distance(word, $1) }
        guard let best, distance(word, best) <= max(1, word.utf8.count / 3) else { return nil }
        return best
    }

    /// Changes, insertions, removals and swaps of neighbours between two words.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8.prefix(64))
        let right = Array(right.utf8)
        var rows = [[Int]](
            repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
        for i in 0...left.count {
            for j in 0...right.count {
                if i == 0 || j == 0 {
                    rows[i][j] = i + j
                    continue
                }
                let change = rows[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
                rows[i][j] = min(change, rows[i - 1][j] + 1, rows[i][j - 1] + 1)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
                }
            }
        }
        return rows[left.count][right.count]
    }
}
