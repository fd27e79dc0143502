import Testing

@testable import Wire

@Suite("the fields of every body")
struct FieldsTests {
    /// A kind under its name.
    struct Named: Sendable, CustomTestStringConvertible {
        var kind: Content.Kind
        var testDescription: String { "\(kind)" }
    }

    static let kinds: [Named] = {
        let sent =
            RequestType.allCases.map(\.content.body) + AnswerType.allCases.map(\.content.body)
        let links: [Content.Kind] = [
            RuleQuestion.self, RuleAnswer.self, FingerprintNonce.self, FingerprintReaders.self,
            ReaderRequest.self, TemplatesRequest.self, FingerprintScan.self,
            FingerprintMatched.self, FingerprintStored.self, FingerprintFailed.self,
            FetchQuestion.self, FetchAnswer.self,
        ]
        var seen: Set<ObjectIdentifier> = []
        return (sent + links).filter { seen.insert(ObjectIdentifier($0)).inserted }
            .map(Named.init)
    }()

    @Test(
        "at each of their ends are read as they are and written as they were, or refused",
        arguments: kinds)
    func ends(of named: Named) throws {
        func check<B: Body & Fields & Equatable>(_ kind: B.Type) throws {
            for (message, written) in Extremes.all(of: kind) {
                if let wrong = written.wrong {
                    #expect(throws: wrong) { try read(kind, written.bytes) }
                    continue
                }
                #expect(try read(kind, written.bytes) == message)
                var again: [UInt8] = []
                message.write(to: &again)
                #expect(again == written.bytes)
            }
        }
        try check(named.kind)
    }

    @Test("are not read behind the first that is wrong", arguments: kinds)
    func first(of named: Named) {
        func check<B: Body & Fields & Equatable>(_ kind: B.Type) {
            for (_, written) in Extremes.all(of: kind) {
                guard let wrong = written.wrong else { continue }
                let shown = Array(written.bytes.prefix(written.shows))
                #expect(throws: wrong) { try read(kind, shown) }
                #expect(throws: WireError.cutShort) { try read(kind, shown.dropLast()) }
            }
        }
        check(named.kind)
    }

    @Test("cut short anywhere, or with a byte behind them, are refused", arguments: kinds)
    func wrongLength(of named: Named) throws {
        func check<B: Body & Fields & Equatable>(_ kind: B.Type) throws {
            let bytes = try #require(Extremes.all(of: kind).first).written.bytes
            for count in bytes.indices {
                #expect(throws: WireError.cutShort) { try read(kind, bytes.prefix(count)) }
            }
            #expect(throws: WireError.trailingBytes) { try read(kind, bytes + [0]) }
        }
        try check(named.kind)
    }
}

private func read<B: Body>(_ kind: B.Type, _ bytes: some Collection<UInt8>) throws(WireError) -> B {
    let bytes = Array(bytes)
    var reader = Reader()
    let message = try B(&reader, bytes.span)
    try reader.end(bytes.span)
    return message
}
