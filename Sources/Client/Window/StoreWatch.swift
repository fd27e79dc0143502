import Posix
import Wire

/// Hears when a store is locked, for as long as a person looks into it.
final class StoreWatch {
    private let connection: Connection
    private let store: [UInt8]
    private(set) var isOpen = true

    /// From here on no lock is missed.
    init(_ connection: Connection, of store: [UInt8]) throws(ClientError) {
        self.connection = connection
        self.store = store
        try connection.send(.watch, Watch(records: false))
        while try hear() != .told {}
    }

    /// Waits for the person. False where the store is locked before they do anything.
    func wait(for bell: Doorbell) throws(ClientError) -> Bool {
        while isOpen {
            if connection.waitForPerson(bell) { return true }
            _ = try hear()
        }
        return false
    }

    private func hear() throws(ClientError) -> Event.What {
        let event = try connection.expect(.event, Event.self)
        if event.store == store, event.what == .locked || event.what == .removed { isOpen = false }
        return event.what
    }
}
