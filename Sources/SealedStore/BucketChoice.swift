/// Which of the rows that lie scattered in a file are those of a bucket. There may be an older one beside a row, or one
/// that was deleted since: the bucket's sum tells.
struct BucketChoice {
    struct Row {
        let place: ScatteredRows.Place
        let opens: Bool
    }

    /// What a row may be, or that there is none.
    private struct Candidate {
        let row: Row?
        let generation: Int64
        let term: Sum

        /// That there is none can be as right as a row that opens.
        var isLikely: Bool { row?.opens ?? true }
    }

    /// Those of one id lie beside each other. The first one is what it is most likely to be.
    private var rows: [(id: Int64, candidates: [Candidate])] = []

    /// More of other ways than that are not tried in pairs.
    private static let most = 2000

    /// The rows come in the order of their ids.
    mutating func add(_ row: Row, generation: Int64, _ term: Sum) {
        let id = row.place.row
        if rows.last?.id != id {
            rows.append((id, [Candidate(row: nil, generation: .min, term: .zero)]))
        }
        let last = rows.count - 1
        let candidate = Candidate(row: row, generation: generation, term: term)
        // A copy that was left behind when the row was moved.
        let isKnown = rows[last].candidates.contains { known in
            known.row?.opens == row.opens && known.term == term
        }
        guard !isKnown else { return }
        rows[last].candidates.append(candidate)
        // What opens comes first, the latest of it at the front; then none; then what does not open.
        rows[last].candidates.sort {
            $0.isLikely != $1.isLikely ? $0.isLikely : $0.generation > $1.generation
        }
    }

    /// The latest of each row that opens.
    var latest: [Row] { rows.compactMap { $0.candidates[0].row } }

    /// Of each row of which none opens, one that does not.
    var rest: [ScatteredRows.Place] {
        rows.compactMap { row in
            row.candidates[0].row == nil ? row.candidates.lazy.compactMap(\.row?.place).first : nil
        }
    }

    /// The rows that have this sum: the latest ones, or those with one or two of them exchanged for another candidate.
    /// Nil if there are none.
    func rows(addingUpTo due: Sum?) -> [Row]? {
        guard var rest = due else { return nil }
        for row in rows { rest -= row.candidates[0].term }
        if rest == .zero { return latest }
        var others: [(row: Int, candidate: Int, change: Sum)] = []
        for (index, row) in rows.enumerated() {
            for candidate in row.candidates.indices.dropFirst() {
                others.append(
                    (index, candidate, row.candidates[candidate].term - row.candidates[0].term))
            }
        }
        if let only = others.firstIndex(where: { $0.change == rest }) {
            return latest(but: [others[only]])
        }
        guard others.count <= Self.most else { return nil }
        var byChange: [Sum: Int] = [:]
        for (index, other) in others.enumerated() {
            if let before = byChange[rest - other.change], others[before].row != other.row {
                return latest(but: [others[before], other])
            }
            byChange[other.change] = index
        }
        return nil
    }

    private func latest(but exchanged: [(row: Int, candidate: Int, change: Sum)]) -> [Row] {
        var chosen = rows.map { $0.candidates[0].row }
        for other in exchanged {
            chosen[other.row] = rows[other.row].candidates[other.candidate].row
        }
        return chosen.compactMap { $0 }
    }
}
