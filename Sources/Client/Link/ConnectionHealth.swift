import Wire

extension Connection {
    func health() throws(ClientError) -> Health {
        try send(.health, Empty())
        return try expect(.healthReport, Health.self)
    }
}
