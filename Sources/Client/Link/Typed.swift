import Posix

/// What a person typed into a window, on its way to the thread that talks to the daemon. It is wiped
/// when the last one lets go of it.
package final class Typed: @unchecked Sendable {
    // One thread fills it before another one gets it.
    private var buffer: SecretBuffer

    package init(capacity: Int) {
        buffer = SecretBuffer(capacity: capacity)
    }

    package func append(_ bytes: Span<UInt8>) { buffer.append(bytes) }

    package func append(_ bytes: [UInt8]) { buffer.append(bytes) }

    package var count: Int { buffer.count }

    package func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try buffer.withSpan(body)
    }

    /// For what checks a login password.
    func withBuffer<R>(_ body: (inout SecretBuffer) -> R) -> R { body(&buffer) }
}
