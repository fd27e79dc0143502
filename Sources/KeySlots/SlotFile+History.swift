import Secrets

extension SlotFile {
    public func history(storeKey: borrowing SecretBytes) throws(KeyError) -> PasscodeHistory {
        try requireLive()
        return PasscodeHistory(try book(storeKey), present: try presentSalts)
    }

    /// Adds the entry of the present passcode, which was typed at an unlock, and removes the
    /// entries that are no longer kept. Writes nothing if nothing changes.
    public func write(
        _ change: HistoryChange, storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        try requireLive()
        try finish(Along(history: change), storeKey: storeKey)
    }

    /// Adds the entry of the former passcode, which must happen before its slot is removed. If the
    /// history cannot be read, this throws before anything is changed.
    func remember(
        _ change: HistoryChange?, storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        guard let change else { return }
        var book = try book(storeKey)
        guard change.keep > 0, let former = change.former, let block = try book.add(former)
        else { return }
        try write(Along(), history: try payloads([block], of: book, storeKey))
    }

    func finish(_ along: Along, storeKey: borrowing SecretBytes) throws(KeyError) {
        guard let change = along.history else { return try write(along) }
        var book = try book(storeKey)
        var changed: Set<Int> = []
        if change.keep > 0, let present = change.present, let block = try book.add(present) {
            changed.insert(block)
        }
        changed.formUnion(book.trim(to: change.keep, present: try presentSalts))
        try write(
            along, history: try payloads(changed.filter { !book.isEmpty($0) }, of: book, storeKey),
            emptied: changed.filter { book.isEmpty($0) }.map { HistoryBook.blocks[$0] }.sorted())
    }

    private var presentSalts: [[UInt8]] {
        get throws(KeyError) { try passcodeSlots.map(\.details.salt) }
    }

    private func book(_ storeKey: borrowing SecretBytes) throws(KeyError) -> HistoryBook {
        var book = try HistoryBook()
        for (index, number) in HistoryBook.blocks.enumerated() {
            guard let block = file[number] else { continue }
            try book.read(index, block.payload, store: store, storeKey: storeKey)
        }
        return book
    }

    private func payloads(
        _ changed: Set<Int>, of book: borrowing HistoryBook, _ storeKey: borrowing SecretBytes
    ) throws(KeyError) -> [Int: [UInt8]] {
        var payloads: [Int: [UInt8]] = [:]
        for index in changed {
            payloads[HistoryBook.blocks[index]] = try book.payload(
                index, store: store, storeKey: storeKey)
        }
        return payloads
    }
}
