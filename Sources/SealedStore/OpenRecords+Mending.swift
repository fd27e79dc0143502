internal import Secrets

extension OpenRecords {
    /// The owner knows of all damage: in one transaction, what does not open is removed, and the
    /// rest is what the store holds from now on.
    func mend() throws(RecordsError) -> Mended {
        let writing = try statements()
        try writing.begin.run()
        do throws(RecordsError) {
            ledger.head.generation += 1
            var mended = Mended()
            var count: UInt64 = 0
            for index in 0..<Node.number {
                var node = Node()
                for place in 0..<Node.width {
                    node.sums[place] = try mend(
                        index * Node.width + place, &mended, &count, with: writing)
                }
                try replace(node, at: index, with: writing)
            }
            ledger.head.marks = []
            ledger.head.count = count
            try write(head: ledger.head, with: writing)
            try countPages()
            try writing.commit.run()
            ledger.buckets = Array(repeating: .whole, count: Bucket.number)
            ledger.explained = [:]
            return mended
        } catch {
            abandon()
            try? countPages()
            throw error
        }
    }

    /// Returns what the bucket's rows add up to afterwards.
    private func mend(
        _ bucket: Int, _ mended: inout Mended, _ count: inout UInt64, with writing: WriteStatements
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
            count += 1
            if !proof.covers(UInt64(bitPattern: try statement.number(0))) { mended.accepted += 1 }
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
