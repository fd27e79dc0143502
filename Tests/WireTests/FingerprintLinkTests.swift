import Testing
import Wire

@Suite("The fingerprint worker's messages")
struct FingerprintLinkTests {
    static let nonce = [UInt8](0..<16)
    static let reader = FingerprintReader(
        id: Array("virtual_device/0".utf8), driver: Array("virtual_device".utf8),
        name: Array("Virtual".utf8), scan: .swipe, stages: 5, identifies: true, stores: false,
        isInternal: true, port: Array("0000:00:14.0/9".utf8))

    /// Each kind once: its bytes, and the bytes that encoding gives after they were read.
    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body: [UInt8]
        var again: @Sendable ([UInt8]) throws(WireError) -> [UInt8]

        init<B: Body>(_ message: B) {
            testDescription = "\(B.self)"
            body = []
            message.write(to: &body)
            again = { (bytes) throws(WireError) in
                var reader = Reader()
                let message = try B(&reader, bytes.span)
                try reader.end(bytes.span)
                var written: [UInt8] = []
                message.write(to: &written)
                return written
            }
        }
    }

    static let samples = [
        Sample(FingerprintNonce(nonce: nonce)),
        Sample(FingerprintReaders(nonce: nonce, readers: [reader, reader])),
        Sample(ReaderRequest(nonce: nonce, reader: reader.choice)),
        Sample(
            TemplatesRequest(nonce: nonce, reader: reader.choice, seconds: 30, sizes: [1, 65_536])),
        Sample(
            FingerprintScan(nonce: nonce, event: .retry, stage: 1, stages: 5, retry: .center)),
        Sample(FingerprintMatched(nonce: nonce, index: 9)),
        Sample(
            FingerprintStored(
                nonce: nonce, prints: [.init(given: 10, description: Array("x".utf8))])),
        Sample(FingerprintFailed(nonce: nonce, fault: .tooHot)),
    ]

    @Test("are read as they were written", arguments: samples)
    func roundTrip(sample: Sample) throws {
        #expect(try sample.again(sample.body) == sample.body)
    }

    @Test("cut short anywhere, or with a byte behind them, are refused", arguments: samples)
    func wrongLength(sample: Sample) {
        for count in 0..<sample.body.count {
            #expect(throws: WireError.self, "\(count) bytes") {
                try sample.again(Array(sample.body.prefix(count)))
            }
        }
        #expect(throws: WireError.trailingBytes) { try sample.again(sample.body + [0]) }
    }

    @Test("with any byte changed are refused, or mean what those bytes mean", arguments: samples)
    func anyByte(sample: Sample) {
        for index in sample.body.indices {
            for flip in [0x01, 0x80, 0xFF] as [UInt8] {
                var body = sample.body
                body[index] ^= flip
                guard let again = try? sample.again(body) else { continue }
                #expect(again == body, "byte \(index)")
            }
        }
    }

    @Test("hold no more than their limits say")
    func limits() throws {
        func refused<B: Body>(_ message: B, _ error: WireError) {
            #expect(throws: error) { try Sample(message).again(Sample(message).body) }
        }
        let choice = Self.reader.choice
        let long = [UInt8](repeating: 0x61, count: 256)
        refused(ReaderRequest(nonce: Self.nonce, reader: .init(id: long, port: [])), .fieldTooLong)
        refused(ReaderRequest(nonce: Self.nonce, reader: .init(id: [], port: long)), .fieldTooLong)
        refused(
            FingerprintReaders(
                nonce: Self.nonce, readers: Array(repeating: Self.reader, count: 17)),
            .fieldTooLong)
        for (sizes, error) in [
            ([UInt32](repeating: 1, count: 11), WireError.fieldTooLong),
            ([65_537], .fieldTooLong), ([UInt32.max], .fieldTooLong), ([0], .unknownValue),
        ] {
            refused(
                TemplatesRequest(nonce: Self.nonce, reader: choice, seconds: 0, sizes: sizes),
                error)
        }
        let print = FingerprintStored.Print(given: 0, description: [])
        refused(
            FingerprintStored(nonce: Self.nonce, prints: Array(repeating: print, count: 257)),
            .fieldTooLong)
        refused(
            FingerprintStored(nonce: Self.nonce, prints: [.init(given: 11, description: [])]),
            .unknownValue)
    }

    @Test("a retry has its kind, and nothing else has one")
    func retries() {
        for event in FingerprintScan.Event.allCases {
            for retry in FingerprintScan.Retry.allCases {
                let sample = Sample(
                    FingerprintScan(
                        nonce: Self.nonce, event: event, stage: 0, stages: 5, retry: retry))
                let fits = (event == .retry) == (retry != .none)
                #expect(((try? sample.again(sample.body)) != nil) == fits)
            }
        }
    }

    @Test("templates lie one behind the other, and fill their payload")
    func templates() throws {
        let request = TemplatesRequest(
            nonce: Self.nonce, reader: Self.reader.choice, seconds: 0, sizes: [2, 3])
        func slices(_ payload: [UInt8]) throws -> [Slice] {
            var body: [UInt8] = []
            request.write(to: &body)
            body.put(payload: payload.span)
            var reader = Reader()
            let read = try TemplatesRequest(&reader, body.span)
            return try read.templates(&reader, body.span)
        }
        let found = try slices([1, 2, 3, 4, 5])
        #expect(found.map(\.count) == [2, 3])
        #expect(found[1].start == found[0].start + 2)
        #expect(throws: WireError.unknownValue) { try slices([1, 2, 3, 4]) }
        #expect(throws: WireError.unknownValue) { try slices([1, 2, 3, 4, 5, 6]) }
    }

    @Test("the largest of each fits its frame")
    func frames() {
        let text = [UInt8](repeating: 0x61, count: FingerprintLink.text)
        let reader = FingerprintReader(
            id: text, driver: text, name: text, scan: .press, stages: 255, identifies: true,
            stores: true, isInternal: true, port: text)
        let most = FingerprintLink.templatesMost
        let sizes = [UInt32](repeating: UInt32(FingerprintLink.template), count: most)
        let request = Sample(
            TemplatesRequest(nonce: Self.nonce, reader: reader.choice, seconds: 1, sizes: sizes))
        #expect(
            request.body.count + 4 + most * FingerprintLink.template
                == FingerprintLink.requestFrame)
        let readers = Sample(
            FingerprintReaders(
                nonce: Self.nonce,
                readers: Array(repeating: reader, count: FingerprintLink.readersMost)))
        let prints = Sample(
            FingerprintStored(
                nonce: Self.nonce,
                prints: Array(
                    repeating: .init(given: 1, description: text),
                    count: FingerprintLink.storedMost)))
        for count in [
            readers.body.count, prints.body.count,
            FingerprintLink.nonce + 4 + FingerprintLink.template,
        ] {
            #expect(count <= FingerprintLink.answerFrame)
        }
    }
}
