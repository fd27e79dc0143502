import Posix
import Wire

/// A request while it is served: who waits for its answer, and what ends it before its time.
struct Exchange {
    let nonce: [UInt8]
    let stop: Stop
    private let connection: Connection

    init(nonce: [UInt8], stop: Stop, on connection: Connection) {
        self.nonce = nonce
        self.stop = stop
        self.connection = connection
    }

    /// Whether the daemon is still there.
    var isHeard: Bool { !connection.hasEnded }

    func tell(_ scan: FingerprintScan) {
        connection.send(scan, FingerprintLink.scan)
    }

    func answer<B: Body>(_ body: B, _ type: UInt16) {
        connection.answer(body, type)
    }

    func answer(enrolled print: borrowing SecretBuffer) {
        connection.answer(print, nonce)
    }

    func fail(_ fault: FingerprintFault) {
        connection.answer(FingerprintFailed(nonce: nonce, fault: fault), FingerprintLink.failed)
    }
}
