import Posix
import Testing
import Wire

@testable import Client

struct SecretBufferTests {
    @Test("a buffer grows, shrinks and drops its front without losing a byte")
    func bytes() {
        var buffer = SecretBuffer(capacity: 1)
        for index in 0..<10_000 { buffer.append(UInt8(truncatingIfNeeded: index)) }
        #expect(buffer.count == 10_000)
        buffer.dropFirst(3)
        #expect(buffer.count == 9_997)
        #expect(buffer[0] == 3)
        buffer.truncate(to: 2)
        #expect(buffer.count == 2)
        #expect(buffer[1] == 4)
        buffer.dropFirst(9)
        #expect(buffer.count == 0)
    }

    @Test("what was taken away is wiped where it was")
    func wiped() {
        var buffer = SecretBuffer(capacity: 4096)
        buffer.append(Array("secret".utf8))
        // SAFETY: the buffer has 4096 bytes, and the first six were written just above.
        let looked = unsafe buffer.withCString { text in unsafe text[0] }
        #expect(looked == 0x73)
        buffer.removeAll()
        // SAFETY: as above. The first byte is the NUL of the empty text, the others are what
        // `removeAll` left.
        let left = unsafe buffer.withCString { text in (0..<6).map { unsafe text[$0] } }
        #expect(left == [0, 0, 0, 0, 0, 0])
    }

    @Test("a frame is written as Wire writes it into an array")
    func sink() {
        var buffer = SecretBuffer()
        var array: [UInt8] = []
        let record = Record(store: [0x61], name: [0xFF, 0x00])
        let payload: [UInt8] = [1, 2, 3]
        Frame.write(
            record, type: RequestType.set.rawValue, tag: 7, payload: payload.span, to: &buffer)
        Frame.write(
            record, type: RequestType.set.rawValue, tag: 7, payload: payload.span, to: &array)
        #expect(buffer.withSpan { span in (0..<span.count).map { span[$0] } } == array)
    }

    @Test("equality looks at every byte")
    func equality() {
        func same(_ left: String, _ right: String) -> Bool {
            var first = SecretBuffer()
            first.append(Array(left.utf8))
            var second = SecretBuffer()
            second.append(Array(right.utf8))
            return first.isEqual(to: second)
        }
        #expect(same("abc", "abc"))
        #expect(!same("abc", "abd"))
        #expect(!same("abc", "ab"))
        #expect(same("", ""))
    }
}
