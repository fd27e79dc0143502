internal import Posix
internal import Secrets

extension OpenRecords {
    /// What a change finds under its name.
    private enum Present {
        case absent
        /// What the record adds to its bucket's sum, and the room it takes.
        case record(Sum, RowSize)
        /// The same of a row that does not open. A foreign one adds nothing and is not counted.
        case broken(Sum, RowSize, isForeign: Bool)
        case collision

        var size: RowSize? {
            switch self {
            case .record(_, let size), .broken(_, let size, _): size
            case .absent, .collision: nil
            }
        }
    }

    /// Where a change finds it.
    private struct Place {
        let present: Present
        /// What the bucket owes, if its rows are not the ones that were stored.
        let debt: Sum?
        /// A record that is not there may be what the bucket lacks.
        var mayBeMissing = false

        var isMarkedByChange: Bool {
            if case .broken = present { return true }
            return debt != nil
        }
    }

    /// Makes all changes in one transaction; returns after its commit.
    func apply(
        _ changes: [Change], within room: Room
    ) throws(RecordsError) -> [ChangeResult] {
        let writing = try statements()
        try writing.begin.run()
        do throws(RecordsError) {
            var budget = try Budget(room, for: changes, pages)
            ledger.head.generation += 1
            var results: [ChangeResult] = []
            results.reserveCapacity(changes.count)
            for change in changes {
                results.append(try apply(change, with: writing, &budget))
            }
            if results.contains(where: \.isChange) {
                try write(head: ledger.head, with: writing)
                try countPages()
                try commit(with: writing)
            } else {
                try database.run("ROLLBACK")
                ledger.head.generation -= 1
            }
            return results
        } catch {
            abandon()
            try? countPages()
            // Moves the log into the file, which makes room for deleting.
            if error == .full { database.checkpoint() }
            throw error
        }
    }

    private func apply(
        _ change: Change, with writing: WriteStatements, _ budget: inout Budget
    ) throws(RecordsError) -> ChangeResult {
        if case .set(_, let value) = change, value.count > RecordBody.largestValue {
            return .tooLarge
        }
        let name = change.name
        guard (1...RecordBody.largestName).contains(name.count) else { return .nameRefused }
        let id = try keys.identity(of: name.span)
        let place: Place
        do throws(RecordsError) {
            place = try presence(of: name, id)
        } catch {
            // Nothing was written for this change yet, so the others can go on.
            if case .damaged(let damage) = error { return .damaged(damage) }
            throw error
        }
        if place.isMarkedByChange, try !mayMark(id.bucket, place) {
            return .damaged(.bucket(id.bucket))
        }
        let result: ChangeResult
        switch change {
        case .set(_, let value):
            let old = place.present.size
            if let limit = try budget.take(RowSize(change), inPlaceOf: old, pages) {
                return .noRoom(limit)
            }
            result = try set(name, id, value, place, writing)
        case .delete: result = try delete(id, place, writing)
        }
        if result.isChange { ledger.explained[id.row] = nil }
        return result
    }

    /// Whether the head has room for the mark, and the mark would tell what is written from now on
    /// from all that was stored before.
    private func mayMark(_ bucket: Int, _ place: Place) throws(RecordsError) -> Bool {
        // The changes of a damaged node stay in the journal, so it must be known which are.
        for index in ledger.changedNodes {
            do throws(RecordsError) {
                _ = try expected(index * Node.width)
            } catch {
                guard case .damaged = error else { throw error }
            }
        }
        guard ledger.canMark(bucket) else { return false }
        guard place.debt != nil else { return true }
        do throws(RecordsError) {
            return try latest(of: bucket) < ledger.head.generation
        } catch {
            guard case .damaged = error else { throw error }
            return false
        }
    }

    func contains(_ name: [UInt8]) throws(RecordsError) -> Bool {
        guard (1...RecordBody.largestName).contains(name.count) else { return false }
        switch try presence(of: name, try keys.identity(of: name.span)).present {
        case .record, .broken: return true
        case .absent, .collision: return false
        }
    }

    /// How much room the records would take in addition, and which of the names exist already.
    func effect(of changes: [Change]) throws(RecordsError) -> Effect {
        var effect = Effect()
        for change in changes where (1...RecordBody.largestName).contains(change.name.count) {
            let new = RowSize(change)
            switch try presence(of: change.name, try keys.identity(of: change.name.span)).present {
            case .absent, .collision: effect.growth += new.usual
            case .record(_, let old), .broken(_, let old, _):
                effect.growth += max(0, new.usual - old.usual)
                effect.existing.append(change.name)
            }
        }
        return effect
    }

    private func presence(of name: [UInt8], _ id: RecordID) throws(RecordsError) -> Place {
        var owing: (debt: Sum, isThere: Bool)?
        do throws(RecordsError) {
            try touch(id.bucket)
        } catch {
            guard case .damaged(.bucket) = error else { throw error }
            owing = try debt(of: id.bucket, for: id.row)
        }
        lookUp.bind(1, id.row)
        defer { lookUp.reset() }
        let isFound = try step(lookUp, in: id.bucket)
        // A tree that hides the row from one of the two cannot be written to.
        if let owing, owing.isThere != isFound { throw .damaged(.bucket(id.bucket)) }
        if isFound { return Place(present: try row(of: name, id), debt: owing?.debt) }
        if owing == nil { try confirmAbsent(id) }
        let mayBeMissing = if case .all = proofIfWhole(id.bucket) { owing != nil } else { true }
        return Place(present: .absent, debt: owing?.debt, mayBeMissing: mayBeMissing)
    }

    /// The row that `lookUp` has found. It is opened before it is replaced. There is no other way
    /// to tell a damaged record from one of another name.
    private func row(of name: [UInt8], _ id: RecordID) throws(RecordsError) -> Present {
        let count = lookUp.withBytes(3) { $0.count }
        let size = RowSize(body: count)
        body.resize(to: min(count, RecordBody.largest))
        defer { body.clear() }
        do throws(RecordsError) {
            let opened = try body.withMutableBytes { (bytes) throws(RecordsError) in
                try open(lookUp, row: id.row, asked: name.span, into: &bytes)
            }
            guard opened.isAsked else { return .collision }
        } catch {
            guard case .damaged = error else { throw error }
            if case .foreign = ledger.explained[id.row] {
                return .broken(.zero, size, isForeign: true)
            }
            return .broken(try term(id), size, isForeign: false)
        }
        return .record(try term(id), size)
    }

    /// What the row that `lookUp` has found adds to its bucket's sum.
    private func term(_ id: RecordID) throws(RecordsError) -> Sum {
        if case .tag(let tag) = ledger.explained[id.row] {
            return try keys.term(row: id.row, tag: tag.span)
        }
        return try lookUp.withBytes(1) { (tag) throws(RecordsError) in
            tag.count == Sealing.tagSize ? try keys.term(row: id.row, tag: tag) : .zero
        }
    }

    private func set(
        _ name: [UInt8], _ id: RecordID, _ value: WipedBuffer, _ place: Place,
        _ writing: WriteStatements
    ) throws(RecordsError) -> ChangeResult {
        switch place.present {
        case .collision: return .collision
        case .absent:
            let term = try write(name, id, value, with: writing.insert)
            try note(term, minus: .zero, in: id.bucket, place, writing)
            ledger.head.count += 1
            return .stored
        case .record(let old, _), .broken(let old, _, _):
            let term = try write(name, id, value, with: writing.update)
            try note(term, minus: old, in: id.bucket, place, writing)
            if case .broken(_, _, isForeign: true) = place.present { ledger.head.count += 1 }
            return .replaced
        }
    }

    private func delete(
        _ id: RecordID, _ place: Place, _ writing: WriteStatements
    ) throws(RecordsError) -> ChangeResult {
        switch place.present {
        case .absent where place.mayBeMissing: return .damaged(.bucket(id.bucket))
        case .absent, .collision: return .absent
        case .record(let old, _), .broken(let old, _, _):
            writing.delete.bind(1, id.row)
            try writing.delete.run()
            guard database.changedRows == 1 else { throw .damaged(.bucket(id.bucket)) }
            try note(.zero, minus: old, in: id.bucket, place, writing)
            if case .broken(_, _, isForeign: true) = place.present { return .deleted }
            // What was deleted of a damaged bucket may have been a row that was never counted.
            if ledger.head.count > 0 { ledger.head.count -= 1 }
            return .deleted
        }
    }

    /// Seals the record and writes it; returns what it adds to its bucket's sum.
    private func write(
        _ name: [UInt8], _ id: RecordID, _ value: WipedBuffer, with statement: borrowing Statement
    ) throws(RecordsError) -> Sum {
        let generation = ledger.head.generation
        var nonce = InlineArray<24, UInt8>(repeating: 0)
        var tag = InlineArray<16, UInt8>(repeating: 0)
        body.resize(to: RecordBody.size(name: name.count, value: value.count))
        defer { body.clear() }
        do throws(SecretsError) {
            var bytes = nonce.mutableSpan
            try Random.fill(&bytes)
        } catch {
            throw RecordsError(error)
        }
        try body.withMutableBytes { (bytes) throws(RecordsError) in
            value.withBytes { value in
                RecordBody.encode(name: name.span, value: value, into: &bytes)
            }
            var tagBytes = tag.mutableSpan
            try keys.seal(
                &bytes, record: id.row, generation: generation, nonce: nonce.span, tag: &tagBytes)
        }
        statement.bind(1, id.row)
        statement.bind(2, Int64(bitPattern: generation))
        defer { statement.reset() }
        try statement.bind(3, copying: tag.span)
        try statement.bind(4, copying: nonce.span)
        try statement.bind(5, inPlace: body)
        guard try statement.step() == .done, database.changedRows == 1
        else { throw .damaged(.bucket(id.bucket)) }
        return try keys.term(row: id.row, tag: tag.span)
    }

    private func note(
        _ new: Sum, minus old: Sum, in bucket: Int, _ place: Place, _ writing: WriteStatements
    ) throws(RecordsError) {
        ledger.add(new - old, to: bucket)
        if place.isMarkedByChange { ledger.mark(bucket, debt: place.debt) }
        guard !ledger.fits else { return }
        // This bucket's node could be read, so it is written, and its changes leave the journal.
        // What stays in it are changes of damaged nodes.
        try fold(with: writing)
        guard ledger.fits else { throw .damaged(.bucket(bucket)) }
    }

    /// Writes the nodes for which the journal has changes, which empties the journal. The changes
    /// of a damaged node stay in it, so that the node is up to date if it can be read again one
    /// day.
    private func fold(with writing: WriteStatements) throws(RecordsError) {
        for index in ledger.changedNodes {
            do throws(RecordsError) {
                _ = try expected(index * Node.width)
            } catch {
                if case .damaged(.node) = error { continue }
                throw error
            }
            guard case .read(let node) = ledger.nodes[index] else { continue }
            try write(node: node, at: index, with: writing)
            ledger.wrote(node: index)
        }
    }
}

extension ChangeResult {
    var isChange: Bool {
        switch self {
        case .stored, .replaced, .deleted: true
        case .absent, .damaged, .collision, .nameRefused, .tooLarge, .noRoom: false
        }
    }
}

extension Change {
    public var name: [UInt8] {
        switch self {
        case .set(let name, _): name
        case .delete(let name): name
        }
    }
}
