import Testing
import Wire

@Suite("a frame header")
struct FrameTests {
    @Test("is waited for until all ten bytes are there", arguments: 0..<FrameHeader.size)
    func partial(count: Int) throws {
        let bytes = [UInt8](repeating: 0, count: count)
        #expect(try header(bytes) == nil)
    }

    @Test(
        "over the limit is refused before anything is set aside",
        arguments: [UInt32(Limits.frame) + 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF])
    func tooLong(length: UInt32) {
        var bytes: [UInt8] = []
        bytes.put32(length)
        bytes.put16(RequestType.set.rawValue)
        bytes.put32(1)
        #expect(throws: WireError.tooLong) { try header(bytes) }
    }

    @Test("at the limit is taken")
    func atTheLimit() throws {
        var bytes: [UInt8] = []
        FrameHeader(length: Limits.frame, type: 2, tag: 7).write(to: &bytes)
        let decoded = try header(bytes)
        #expect(decoded == FrameHeader(length: Limits.frame, type: 2, tag: 7))
    }

    @Test("has an even type in every request and an odd one in every answer")
    func parity() {
        #expect(RequestType.allCases.allSatisfy { $0.rawValue.isMultiple(of: 2) })
        #expect(AnswerType.allCases.allSatisfy { !$0.rawValue.isMultiple(of: 2) })
    }

    @Test("holds what it must: a value of the largest size with the longest names")
    func largest() throws {
        let name = [UInt8](repeating: 0x61, count: Limits.name)
        let value = [UInt8](repeating: 0, count: Limits.value)
        var frame: [UInt8] = []
        Frame.write(
            Record(store: name, name: name), type: RequestType.set.rawValue, tag: 1,
            payload: value.span,
            to: &frame)
        let decoded = try #require(try header(frame))
        #expect(decoded.length == frame.count - FrameHeader.size)
    }

    @Test("counts every body as it is written", arguments: try Vector.all())
    func counter(vector: Vector) throws {
        let again = try Decoded(type: vector.type, tag: vector.tag, body: vector.body).again
        let decoded = try #require(try header(again))
        #expect(decoded.length == again.count - FrameHeader.size)
    }
}
