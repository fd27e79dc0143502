/// What memory knows of the sums: the head, the nodes that were read, and which buckets were found
/// intact. During a transaction it is ahead of the file. So after a failed transaction it is thrown
/// away and read again.
struct Ledger {
    enum State: UInt8 { case untested, whole, damaged }

    enum Sums {
        case unread
        case damaged
        /// The sums as they are now, including the changes in the journal.
        case read(Node)
    }

    /// What was found of a bucket for a mend.
    enum Examined: UInt8 { case not, sound, flawed }

    /// What a row is that does not open, where the sum of its bucket shows it.
    enum Explanation {
        /// Only its tag was changed; this is the one that it was stored with.
        case tag([UInt8])
        /// It was never stored.
        case foreign
    }

    var head: Head
    var nodes: [Sums]
    var buckets: [State]
    var examined: [Examined] = []
    /// By row id. Empty, unless something is damaged.
    var explained: [Int64: Explanation] = [:]

    init(head: Head) {
        self.head = head
        nodes = Array(repeating: .unread, count: Node.number)
        buckets = Array(repeating: .untested, count: Bucket.number)
        forgetExamined()
    }

    mutating func forgetExamined() {
        examined = Array(repeating: .not, count: Bucket.number)
    }

    /// What is known after a rollback: nothing but what was examined for a mend, because the file is
    /// again as it was then. Only what was found damaged later has to be examined again.
    func rolledBack(to head: Head) -> Ledger {
        var ledger = Ledger(head: head)
        for bucket in 0..<Bucket.number
        where examined[bucket] == .flawed || buckets[bucket] != .damaged {
            ledger.examined[bucket] = examined[bucket]
        }
        return ledger
    }

    /// Takes a node as it was read, and adds the changes that the head's journal holds.
    mutating func take(_ node: Node, at index: Int) {
        var node = node
        for entry in head.journal where Int(entry.bucket) / Node.width == index {
            node.sums[Int(entry.bucket) % Node.width] += entry.delta
        }
        nodes[index] = .read(node)
    }

    mutating func add(_ delta: Sum, to bucket: Int) {
        guard case .read(var node) = nodes[bucket / Node.width] else {
            preconditionFailure("a bucket is touched before it changes")
        }
        nodes[bucket / Node.width] = .unread
        node.sums[bucket % Node.width] += delta
        nodes[bucket / Node.width] = .read(node)
        if let index = head.journal.firstIndex(where: { Int($0.bucket) == bucket }) {
            head.journal[index].delta += delta
        } else {
            head.journal.append(Head.Entry(bucket: UInt16(bucket), delta: delta))
        }
    }

    // MARK: Marks

    /// What a bucket's rows must add up to.
    func due(_ bucket: Int, of sum: Sum) -> Sum {
        guard let mark = head.mark(of: bucket) else { return sum }
        return sum - mark.debt
    }

    var fits: Bool { Head.fits(journal: head.journal.count, marks: head.marks.count) }

    /// Whether one more bucket can be marked. Changes of a damaged node stay in the journal.
    func canMark(_ bucket: Int) -> Bool {
        if head.mark(of: bucket) != nil { return true }
        let stuck = head.journal.count { entry in
            if case .damaged = nodes[Int(entry.bucket) / Node.width] { true } else { false }
        }
        return Head.fits(journal: stuck + 1, marks: head.marks.count + 1)
    }

    /// To be called within the commit that writes over something damaged. Without a debt, the
    /// bucket is as it was stored but for records that do not open.
    mutating func mark(_ bucket: Int, debt: Sum?) {
        let mark = Head.Mark(
            bucket: UInt16(bucket), generation: head.generation - 1, debt: debt ?? .zero)
        if let index = head.marks.firstIndex(where: { Int($0.bucket) == bucket }) {
            if debt != nil { head.marks[index] = mark }
        } else {
            head.marks.append(mark)
        }
        if debt != nil { buckets[bucket] = .whole }
    }

    /// The nodes for which the journal has changes.
    var changedNodes: [Int] {
        var changed = [Bool](repeating: false, count: Node.number)
        for entry in head.journal { changed[Int(entry.bucket) / Node.width] = true }
        return changed.indices.filter { changed[$0] }
    }

    /// A node was written: the journal no longer needs its changes.
    mutating func wrote(node index: Int) {
        head.nodeGenerations[index] = head.generation
        head.journal.removeAll { Int($0.bucket) / Node.width == index }
    }
}
