/// Finds which of some known words a person meant who wrote another word.
package enum Nearness {
    /// In a file: capitals and small letters are alike, and a swap of neighbours is two slips.
    case inFile
    /// On a command line: letters are what they are, and a swap of neighbours is one slip.
    case onCommandLine

    /// The most bytes of a word that are compared. A longer word is not a typing error, and the
    /// time of a comparison grows with the product of the lengths.
    private static let longest = 64

    package func nearest(to word: [UInt8], among candidates: [String]) -> String? {
        let away = candidates.map { (name: $0, away: distance(word, Array($0.utf8))) }
        guard let best = away.min(by: { $0.away < $1.away }) else { return nil }
        switch self {
        case .inFile:
            guard word.count <= Self.longest else { return nil }
            return best.away <= max(2, best.name.utf8.count / 3) ? best.name : nil
        case .onCommandLine: return best.away <= max(1, word.count / 3) ? best.name : nil
        }
    }

    /// The number of changes, insertions and removals that turn one word into the other.
    package func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let left = left.prefix(Self.longest).map(letter)
        let right = right.map(letter)
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
                if swapsAreOne, i > 1, j > 1, left[i - 1] == right[j - 2],
                    left[i - 2] == right[j - 1]
                {
                    rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
                }
            }
        }
        return rows[left.count][right.count]
    }

    private func letter(_ byte: UInt8) -> UInt8 {
        switch self {
        case .inFile: byte | 0x20
        case .onCommandLine: byte
        }
    }

    private var swapsAreOne: Bool {
        switch self {
        case .inFile: false
        case .onCommandLine: true
        }
    }
}
