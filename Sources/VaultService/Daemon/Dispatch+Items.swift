import Posix
import SealedStore
import StoreKeeping
import Wire
import Words

extension Dispatcher {
    func serve(
        _ request: ItemRequest, _ caller: Caller, _ tag: UInt32
    ) async throws(ConnectionEnd) {
        let items = house.items
        switch request {
        case .put(let put, let secret):
            try await answer(.item, caller, tag) { () async throws(Interruption) in
                try await items.put(put, secret, for: caller)
            }
        case .change(let change, let secret):
            try await answer(.item, caller, tag) { () async throws(Interruption) in
                try await items.change(change, secret, for: caller)
            }
        case .delete(let item):
            try await answerPlain(caller, tag) { () async throws(Interruption) in
                try await items.delete(item, for: caller)
            }
        case .putCollection(let put):
            try await answer(.collection, caller, tag) { () async throws(Interruption) in
                try await items.putCollection(put, for: caller)
            }
        case .deleteCollection(let collection):
            try await answerPlain(caller, tag) { () async throws(Interruption) in
                try await items.deleteCollection(collection, for: caller)
            }
        case .setAlias(let alias):
            try await answerPlain(caller, tag) { () async throws(Interruption) in
                try await items.setAlias(alias, for: caller)
            }
        case .find(let wanted):
            let read = try await read(caller, tag) { () async throws(Interruption) in
                try await items.find(wanted, for: caller)
            }
            try await give(read, tag, damaged: \.damaged) { page async throws(ConnectionEnd) in
                try await connection.send(page.list, .itemList, tag: tag)
            }
        case .secrets(let wanted):
            let read = try await read(caller, tag) { () async throws(Interruption) in
                try await items.secrets(wanted, for: caller)
            }
            try await give(read, tag, damaged: \.damaged) { page async throws(ConnectionEnd) in
                try await connection.send(page.given, .secrets, tag: tag, payload: page.bytes)
            }
        case .changes(let asked):
            let read = try await read(caller, tag) { () async throws(Interruption) in
                try await items.changes(asked, for: caller)
            }
            try await give(read, tag, damaged: \.damaged) { page async throws(ConnectionEnd) in
                try await connection.send(page.news, .itemNews, tag: tag)
            }
        }
    }

    /// Nil where it was refused.
    private func read<Answer: Sendable>(
        _ caller: Caller, _ tag: UInt32,
        _ body: () async throws(Interruption) -> ItemFlows.Finding<Answer>
    ) async throws(ConnectionEnd) -> ItemFlows.Finding<Answer>? {
        if connection.mustWaitToAnswer { try await connection.waitToAnswer() }
        house.ticker.begin(connection, tag)
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            return try await body()
        } catch {
            try await refuse(error, caller, tag)
            return nil
        }
    }

    private func give<Answer: Sendable>(
        _ read: ItemFlows.Finding<Answer>?, _ tag: UInt32,
        damaged: @Sendable (Answer) -> [DamagedRecord],
        _ send: (Answer) async throws(ConnectionEnd) -> Void
    ) async throws(ConnectionEnd) {
        guard let read else { return }
        try await connection.answer(from: read.records, opening: read.opening) {
            () async throws(ConnectionEnd) in
            try await tell(damaged(read.answer), tag: tag)
            try await send(read.answer)
        }
    }
}
