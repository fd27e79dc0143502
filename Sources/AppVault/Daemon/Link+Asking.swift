internal import Wire

extension Link {
    /// A request that changes nothing and has one answer.
    func ask<B: Body, A: Body>(
        _ type: RequestType, _ body: B, for wanted: AnswerType, _ answer: A.Type
    ) async throws(VaultError) -> A {
        let result = try await request(Outgoing(type, body), .reads, from: { A?.none }) {
            (result, type, bytes) throws(WireError) in
            guard type == wanted else { return .unexpected }
            result = try Incoming.decode(A.self, bytes)
            return .done
        }
        guard let result else { throw .unexpected(0) }
        return result
    }

    /// A request that changes something, asks nobody, and ends with `done`.
    func act(_ request: consuming Outgoing) async throws(VaultError) {
        _ = try await self.request(request, .changes, from: { false }) {
            (result, type, bytes) throws(WireError) in
            guard type == .done else { return .unexpected }
            _ = try Incoming.decode(Done.self, bytes)
            result = true
            return .done
        }
    }
}
