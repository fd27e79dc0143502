import Testing
import Wire

@Suite("every message")
struct VectorTests {
    @Test("has a vector")
    func everyTypeHasOne() throws {
        let types = Set(try Vector.all().map(\.type))
        #expect(
            types == Set(RequestType.allCases.map(\.rawValue) + AnswerType.allCases.map(\.rawValue))
        )
    }

    @Test("is decoded to the fields of its vector", arguments: try Vector.all())
    func fields(vector: Vector) throws {
        let first = try #require(try header(vector.frame))
        #expect(first == FrameHeader(length: vector.body.count, type: vector.type, tag: vector.tag))
        let decoded = try Decoded(type: vector.type, tag: vector.tag, body: vector.body)
        #expect(decoded.fields == vector.fields)
    }

    @Test("is written as the bytes that it was read from", arguments: try Vector.all())
    func roundTrip(vector: Vector) throws {
        #expect(
            try Decoded(type: vector.type, tag: vector.tag, body: vector.body).again == vector.frame
        )
    }

    @Test("cut short anywhere is refused", arguments: try Vector.all())
    func cutShort(vector: Vector) {
        for count in 0..<vector.body.count {
            #expect(throws: WireError.cutShort, "\(count) bytes") {
                try Decoded(
                    type: vector.type, tag: vector.tag, body: Array(vector.body.prefix(count)))
            }
        }
    }

    @Test("with a byte behind it is refused", arguments: try Vector.all())
    func trailing(vector: Vector) {
        #expect(throws: WireError.trailingBytes) {
            try Decoded(type: vector.type, tag: vector.tag, body: vector.body + [0])
        }
    }

    @Test("with a flag that is neither 0 nor 1 is refused", arguments: try Vector.all())
    func flags(vector: Vector) {
        for (index, field) in vector.fields.enumerated()
        where ["true", "false"].contains(field.value) {
            for byte in [2, 0x80, 0xFF] as [UInt8] {
                #expect(throws: WireError.unknownValue, "\(field.name) \(byte)") {
                    let body = vector.body(replacing: index, with: [byte])
                    _ = try Decoded(type: vector.type, tag: vector.tag, body: body)
                }
            }
        }
    }

    @Test(
        "with any byte changed is refused, or is the message that those bytes mean",
        arguments: try Vector.all())
    func anyByte(vector: Vector) {
        for index in vector.body.indices {
            for flip in [0x01, 0x80, 0xFF] as [UInt8] {
                var body = vector.body
                body[index] ^= flip
                guard let decoded = try? Decoded(type: vector.type, tag: vector.tag, body: body)
                else { continue }
                #expect(decoded.again.suffix(body.count) == body[...], "byte \(index)")
            }
        }
    }
}
