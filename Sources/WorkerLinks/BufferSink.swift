import Posix
import Wire

/// Writes a frame into a buffer from its start.
package struct BufferSink: Sink {
    package let buffer: WipedBuffer

    package init(_ buffer: WipedBuffer) {
        self.buffer = buffer
        buffer.setCount(0)
    }

    package mutating func put(_ byte: UInt8) { buffer.append(byte) }
    package mutating func put(_ bytes: Span<UInt8>) { buffer.append(bytes) }
}
