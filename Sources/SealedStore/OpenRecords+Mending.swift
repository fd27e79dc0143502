internal import Secrets

extension OpenRecords {
    /// Looks at every record of these buckets, and notes which of them a mend has to go through. So
    /// most of its work can be done in slices.
    func examine(_ buckets: Range<Int>) throws(RecordsError) {
        for bucket in buckets { ledger.examined[bucket] = try isFlawed(bucket) ? .flawed : .sound }
    }

    private func isFlawed(_ bucket: Int) throws(RecordsError) -> Bool {
        guard case .all = try proof(of: bucket) else { return true }
        var isFlawed = false
        do throws(RecordsError) {
            try rows(of: bucket) { (statement, row) throws(RecordsError) in
                if ledger.explained[row] == nil, try opens(statement, row) { return .goOn }
                isFlawed = true
                return .stop
            }
        } catch {
            guard case .damaged = error else { throw error }
            // The ids and the tags could be read, and the bodies, on other pages, cannot.
            ledger.buckets[bucket] = .damaged
            return true
        }
        return isFlawed
    }

    /// The owner knows of all damage: in one transaction, what does not open is removed, and the
    /// rest is what the store holds from now on. Nothing is written where nothing has to be.
    func mend() throws(RecordsError) -> Mended {
        let flawed = try flawed()
        guard !flawed.isEmpty else {
            ledger.forgetExamined()
            return Mended()
        }
        let writing = try statements()
        try writing.begin.run()
        do throws(RecordsError) {
            var mended = Mended()
            var latest = ledger.head.generation
            var count: UInt64? = ledger.head.count
            var nodes: [(index: Int, node: Node)] = []
            for bucket in flawed {
                let index = bucket / Node.width
                if nodes.last?.index != index { nodes.append((index, try known(index) ?? Node())) }
                nodes[nodes.count - 1].node.sums[bucket % Node.width] = try mend(
                    bucket, &mended, &latest, &count, with: writing)
            }
            // Above every record that the store holds now: a mark's generation is to tell what was
            // stored later.
            guard latest < .max else { throw .damaged(.head) }
            ledger.head.generation = latest + 1
            for (index, node) in nodes { try replace(node, at: index, with: writing) }
            ledger.head.marks = []
            // To count all rows is to read the whole file.
            ledger.head.count = if let count { count } else { try countRows() }
            try write(head: ledger.head, with: writing)
            try countPages()
            try commit(with: writing)
            for bucket in flawed { ledger.buckets[bucket] = .whole }
            ledger.explained = [:]
            ledger.forgetExamined()
            return mended
        } catch {
            abandon()
            try? countPages()
            throw error
        }
    }

    /// The buckets to go through, in their order; all of a damaged node. What was not examined yet is examined first.
    func flawed() throws(RecordsError) -> [Int] {
        for bucket in 0..<Bucket.number where ledger.examined[bucket] == .not {
            try examine(bucket..<bucket + 1)
        }
        var flawed = Set(ledger.head.marks.map { Int($0.bucket) })
        for row in ledger.explained.keys { flawed.insert(Bucket.of(UInt64(bitPattern: row))) }
        for bucket in 0..<Bucket.number
        where ledger.examined[bucket] == .flawed || ledger.buckets[bucket] == .damaged {
            flawed.insert(bucket)
        }
        for index in 0..<Node.number where try known(index) == nil {
            flawed.formUnion(index * Node.width..<(index + 1) * Node.width)
        }
        return flawed.sorted()
    }

    /// Nil if the node is damaged.
    private func known(_ index: Int) throws(RecordsError) -> Node? {
        do throws(RecordsError) {
            _ = try expected(index * Node.width)
        } catch {
            guard case .damaged = error else { throw error }
        }
        guard case .read(let node) = ledger.nodes[index] else { return nil }
        return node
    }

    /// Each bucket by itself: a row that lies in the wrong place of the tree is none.
    func countRows() throws(RecordsError) -> UInt64 {
        let statement = try database.prepare(
            "SELECT count(*) FROM records WHERE id BETWEEN ?1 AND ?2")
        var count: UInt64 = 0
        for bucket in 0..<Bucket.number {
            let range = Bucket.rows(bucket)
            statement.bind(1, range.first)
            statement.bind(2, range.last)
            defer { statement.reset() }
            guard try statement.step() == .row else { throw .damaged(.bucket(bucket)) }
            count += UInt64(clamping: try statement.number(0))
        }
        return count
    }

    /// Returns what the bucket's rows add up to afterwards. The count of all records becomes nil if
    /// it is not known how many of them this bucket was to have.
    private func mend(
        _ bucket: Int, _ mended: inout Mended, _ latest: inout UInt64, _ count: inout UInt64?,
        with writing: WriteStatements
    ) throws(RecordsError) -> Sum {
        let proof = try proof(of: bucket)
        var sum = Sum.zero
        var broken: [Int64] = []
        var tags: [(row: Int64, tag: [UInt8])] = []
        try rows(of: bucket) { (statement, row) throws(RecordsError) in
            guard try opens(statement, row) else {
                broken.append(row)
                return .goOn
            }
            let generation = UInt64(bitPattern: try statement.number(0))
            latest = max(latest, generation)
            if !proof.covers(generation) { mended.accepted += 1 }
            if case .tag(let tag) = ledger.explained[row] {
                tags.append((row, tag))
                sum += try keys.term(row: row, tag: tag.span)
            } else {
                sum += try statement.withBytes(1) { (tag) throws(RecordsError) in
                    try keys.term(row: row, tag: tag)
                }
            }
            return .goOn
        }
        for row in broken {
            writing.delete.bind(1, row)
            try writing.delete.run()
            guard database.changedRows == 1 else { throw .damaged(.bucket(bucket)) }
        }
        mended.removed += broken.count
        let counted = broken.count { row in
            if case .foreign = ledger.explained[row] { false } else { true }
        }
        if case .all = proof, let before = count, before >= counted {
            count = before - UInt64(counted)
        } else {
            count = nil
        }
        for (row, tag) in tags {
            writing.writeTag.bind(1, row)
            defer { writing.writeTag.reset() }
            try writing.writeTag.bind(2, copying: tag.span)
            guard try writing.writeTag.step() == .done, database.changedRows == 1
            else { throw .damaged(.bucket(bucket)) }
        }
        return sum
    }

    /// A node is written only if its sums are others, or could not be read.
    private func replace(
        _ node: Node, at index: Int, with writing: WriteStatements
    ) throws(RecordsError) {
        if case .read(let known) = ledger.nodes[index], known == node { return }
        writing.ensureNode.bind(1, Int64(index))
        try writing.ensureNode.run()
        ledger.nodes[index] = .read(node)
        try write(node: node, at: index, with: writing)
        ledger.wrote(node: index)
    }

    /// What is proven of a bucket, whatever is damaged.
    func proof(of bucket: Int) throws(RecordsError) -> Proof {
        do throws(RecordsError) {
            _ = try check(bucket, for: nil)
            return proofIfWhole(bucket)
        } catch {
            guard case .damaged = error else { throw error }
            return .none
        }
    }
}
