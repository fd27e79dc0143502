import Testing
import Wire

@Suite("a reader")
struct ReaderTests {
    @Test("stops at the end of what it was given, whatever length it is told")
    func lengths() {
        for claimed in [1, 2, 255, 256, 0x7FFF, 0xFFFF] as [UInt16] {
            var bytes: [UInt8] = []
            bytes.put16(claimed)
            #expect(throws: WireError.cutShort) {
                var reader = Reader()
                _ = try reader.bytes(bytes.span, limit: Int(UInt16.max))
            }
        }
        for claimed in [1, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32] {
            var bytes: [UInt8] = []
            bytes.put32(claimed)
            #expect(throws: WireError.cutShort) {
                var reader = Reader()
                _ = try reader.payload(bytes.span, limit: Int.max)
            }
        }
    }

    @Test("takes no negative count")
    func negative() {
        #expect(throws: WireError.cutShort) {
            var reader = Reader()
            let bytes: [UInt8] = [1, 2, 3]
            _ = try reader.fixed(-1, bytes.span)
        }
    }

    @Test(
        "takes as text whatever Unicode takes as UTF-8, but for NUL",
        arguments: [
            "", "a", "caf\u{E9}", "\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}", "\u{D7FF}\u{E000}",
            "\u{10000}\u{10FFFF}",
        ])
    func goodText(text: String) {
        let bytes = Array(text.utf8)
        #expect(isText(bytes))
    }

    @Test(
        "refuses what is no UTF-8",
        arguments: [
            [0x00], [0x61, 0x00], [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x00],
            [0xC2, 0xC0],
            [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xF1, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func badText(bytes: [UInt8]) {
        #expect(!isText(bytes))
    }

    @Test(
        "agrees with the standard library on every two bytes and on the edges of longer sequences"
    )
    func againstTheStandardLibrary() {
        let edges: [UInt8] = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        let leads: [UInt8] = [
            0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5,
        ]
        var samples: [[UInt8]] = []
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max { samples.append([first, second]) }
        }
        for lead in leads {
            for second in edges {
                for third in edges {
                    samples.append([lead, second, third])
                    for fourth in edges { samples.append([lead, second, third, fourth]) }
                }
            }
        }
        let wrong = samples.filter { bytes in
            let expected = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains(0)
            return isText(bytes) != expected
        }
        #expect(wrong.isEmpty)
    }

    @Test(
        "refuses a run of text outside of what it was given",
        arguments: [(-1, 1), (0, 4), (3, 1), (2, -1)])
    func textOutside(start: Int, count: Int) {
        let bytes: [UInt8] = [0x61, 0x62, 0x63]
        #expect(!isText(bytes, start: start, count: count))
    }
}
