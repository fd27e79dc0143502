import Testing
import Wire

@Suite("PROTOCOL.md")
struct DocumentTests {
    /// Once, and not for each of some hundred cases.
    private static let read = Result { try Document() }
    let document: Document

    init() throws {
        document = try Self.read.get()
    }

    @Test("lists the requests and the answers of the code")
    func messages() {
        let requests = document.messages.filter(\.isRequest).map { "\($0.number) \($0.name)" }
        let answers = document.messages.filter { !$0.isRequest }.map { "\($0.number) \($0.name)" }
        #expect(requests == RequestType.allCases.map { "\($0.rawValue) \($0)" })
        #expect(answers == AnswerType.allCases.map { "\($0.rawValue) \($0)" })
    }

    @Test(
        "lists the fields of every message in the order of their bytes", arguments: try Vector.all()
    )
    func fields(vector: Vector) throws {
        let message = try #require(document.messages.first { $0.number == vector.type })
        #expect(message.name == vector.name)
        #expect(message.fields.map(\.name) == vector.fields.map(\.name))
    }

    @Test("says how long each text may be: so long and no longer", arguments: try Vector.all())
    func limits(vector: Vector) throws {
        let message = try #require(document.messages.first { $0.number == vector.type })
        for (index, field) in message.fields.enumerated() {
            let words = field.type.split(separator: " ")
            guard words.count == 2, let limit = Int(words[1]) else { continue }
            func decode(_ count: Int) throws -> Decoded {
                var bytes: [UInt8] = []
                switch words[0] {
                case "text", "bytes": bytes.put16(UInt16(count))
                case "payload": bytes.put32(UInt32(count))
                default: break
                }
                bytes += [UInt8](repeating: 0x61, count: count)
                let body = vector.body(replacing: index, with: bytes)
                return try Decoded(type: vector.type, tag: vector.tag, body: body)
            }
            _ = try decode(limit)
            switch words[0] {
            case "fixed": continue
            default:
                #expect(throws: WireError.fieldTooLong, "\(field.name)") { try decode(limit + 1) }
            }
        }
    }

    @Test("says which fields are text, and only text is taken there", arguments: try Vector.all())
    func text(vector: Vector) throws {
        let message = try #require(document.messages.first { $0.number == vector.type })
        for (index, field) in message.fields.enumerated() {
            let isText = field.type.hasPrefix("text ")
            guard isText || field.type.hasPrefix("bytes ") else { continue }
            for content in [[0x61, 0x00], [0xFF, 0x61], [0xED, 0xA0]] as [[UInt8]] {
                let body = vector.body(replacing: index, with: [2, 0] + content)
                if isText {
                    #expect(throws: WireError.notText, "\(field.name)") {
                        try Decoded(type: vector.type, tag: vector.tag, body: body)
                    }
                } else {
                    _ = try Decoded(type: vector.type, tag: vector.tag, body: body)
                }
            }
        }
    }

    @Test(
        "names every number of a listed field, and no other is taken", arguments: try Vector.all())
    func names(vector: Vector) throws {
        let message = try #require(document.messages.first { $0.number == vector.type })
        for (index, field) in message.fields.enumerated() {
            guard field.type.hasPrefix("u8 ") else { continue }
            var listed: [UInt8: String] = [:]
            for entry in field.type.dropFirst(3).split(separator: ",") {
                let words = entry.split(separator: " ")
                listed[try #require(UInt8(words[0]))] = String(words[1])
            }
            for byte in UInt8.min...UInt8.max {
                let body = vector.body(replacing: index, with: [byte])
                if let name = listed[byte] {
                    let decoded = try Decoded(type: vector.type, tag: vector.tag, body: body)
                    #expect(decoded.fields[index].value == name)
                } else {
                    #expect(throws: WireError.unknownValue, "\(field.name) \(byte)") {
                        try Decoded(type: vector.type, tag: vector.tag, body: body)
                    }
                }
            }
        }
    }

    @Test("says how many entries a list may have: so many and no more", arguments: try Vector.all())
    func lists(vector: Vector) throws {
        let message = try #require(document.messages.first { $0.number == vector.type })
        for (index, field) in message.fields.enumerated() where field.type.hasPrefix("list of ") {
            let wide = field.type.contains(", u16 count, at most ")
            try #require(wide || field.type.contains(", u8 count, at most \(Limits.parameters)"))
            let limit = try #require(Int(field.type.split(separator: " ").last ?? ""))
            let entry = try Self.least(field.type)
            func decode(_ count: Int) throws -> Decoded {
                var bytes: [UInt8] = []
                if wide { bytes.put16(UInt16(count)) } else { bytes.put(UInt8(count)) }
                for _ in 0..<count { bytes += entry }
                let body = vector.body(replacing: index, with: bytes)
                return try Decoded(type: vector.type, tag: vector.tag, body: body)
            }
            _ = try decode(limit)
            #expect(throws: WireError.fieldTooLong, "\(field.name)") { try decode(limit + 1) }
        }
    }

    @Test("has the limits of the code")
    func limitTable() {
        let coded: [(String, Int)] = [
            ("version", Int(Limits.version)),
            ("versionWithScreens", Int(Limits.versionWithScreens)), ("frame", Limits.frame),
            ("smallFrame", Limits.smallFrame),
            ("secret", Limits.secret), ("value", Limits.value), ("name", Limits.name),
            ("text", Limits.text), ("storeText", Limits.storeText),
            ("line", Limits.line), ("messageID", Limits.messageID), ("appID", Limits.appID),
            ("policyKey", Limits.policyKey), ("itemText", Limits.itemText),
            ("attributes", Limits.attributes), ("collections", Limits.collections),
            ("collectionText", Limits.collectionText), ("aliasText", Limits.aliasText),
            ("itemPage", Limits.itemPage),
            ("fleetText", Limits.fleetText), ("url", Limits.url), ("consents", Limits.consents),
            ("parameters", Limits.parameters), ("policyText", Limits.policyText),
            ("paragraph", Limits.paragraph), ("screenLines", Limits.screenLines),
            ("screenFields", Limits.screenFields), ("screenRules", Limits.screenRules),
            ("screenItems", Limits.screenItems), ("screenChoices", Limits.screenChoices),
            ("documentTexts", Limits.documentTexts), ("answers", Limits.answers),
            ("drafts", Limits.drafts),
            ("flows", Limits.flows), ("page", Limits.page), ("texts", Limits.texts),
            ("placesOfRoot", Limits.placesOfRoot), ("placesOfPerson", Limits.placesOfPerson),
            ("placesWithoutAccount", Limits.placesWithoutAccount),
            ("placesOfOthers", Limits.placesOfOthers), ("watchers", Limits.watchers),
            ("placesOfSecrets", Limits.placesOfSecrets),
            ("watchersOfSecrets", Limits.watchersOfSecrets),
            ("connectWait", Int(Limits.connectWait)),
            ("firstFrameWait", Int(Limits.firstFrameWait)),
            ("silenceWait", Int(Limits.silenceWait)), ("frameWait", Int(Limits.frameWait)),
            ("unreadWait", Int(Limits.unreadWait)), ("idleWait", Int(Limits.idleWait)),
            ("workingEvery", Int(Limits.workingEvery)), ("personWait", Int(Limits.personWait)),
        ]
        #expect(
            document.table("Limits").map { "\($0[0]) \($0[1])" } == coded.map { "\($0.0) \($0.1)" })
    }

    @Test("has every code")
    func codes() throws {
        let rows = document.table("Codes")
        #expect(rows.map { $0[0] } == Code.allCases.map { String($0.rawValue) })
        var found: [Code] = []
        for row in rows {
            let number = try #require(UInt16(row[0]))
            let code = try #require(Code(rawValue: number))
            let name = row[1].prefix(1).lowercased() + row[1].dropFirst()
            #expect(name == "\(code)")
            #expect(row[4] == Self.pam(code.outcome), "\(row[1])")
            found.append(code)
        }
        #expect(found == Code.allCases)
        #expect(rows.allSatisfy { $0[2] == "yes" || $0[2] == "no" })
    }

    @Test("turns no refusal into a success")
    func noSuccess() {
        #expect(Code.allCases.allSatisfy { $0.outcome != .success })
    }

    @Test("says of every request who may send it")
    func whoMayWhat() {
        let columns = ["request", "root", "the person", "another user", "no user", "overflow uid"]
        #expect(document.head("Who may what") == columns)
        let rows = document.table("Who may what")
        #expect(rows.map { $0[0] } == RequestType.allCases.map { "\($0)" })
        let cells: Set = ["yes", "apart", "proof", "polkit", "own", "30", "closed"]
        for row in rows {
            #expect(row.count == columns.count)
            #expect(row.dropFirst().allSatisfy { cells.contains($0) })
            #expect(row.last == "closed")
        }
    }

    @Test("gives every request one state that permits it")
    func states() {
        let permitted = document.table("A connection and its states").flatMap { Self.names($0[1]) }
        #expect(permitted.sorted() == RequestType.allCases.map { "\($0)" }.sorted())
    }

    /// The bytes of the shortest entry of a list, by its type in the document.
    private static func least(_ type: String) throws -> [UInt8] {
        guard let open = type.firstIndex(of: "("), let close = type.firstIndex(of: ")") else {
            let words = type.split(separator: " ").map(String.init)
            guard words[2] == "fixed" else { return [0, 0] }
            return [UInt8](repeating: 0, count: try #require(Int(words[3].prefix { $0 != "," })))
        }
        var bytes: [UInt8] = []
        for field in names(String(type[type.index(after: open)..<close])) {
            let words = field.split(separator: " ").map(String.init)
            switch words[1] {
            case "text", "bytes": bytes.put16(0)
            case "fixed": bytes += [UInt8](repeating: 0, count: try #require(Int(words[2])))
            case "flag": bytes.put(0)
            case "u8": bytes.put(words.count > 2 ? try #require(UInt8(words[2])) : 0)
            // Also the count of a list.
            case "u16": bytes.put16(0)
            case "u32": bytes.put32(0)
            case "u64": bytes.put64(0)
            default: Issue.record("\(field) is no field of an entry")
            }
        }
        return bytes
    }

    private static func names(_ cell: String) -> [String] {
        cell.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    private static func pam(_ outcome: Outcome) -> String {
        switch outcome {
        case .success: "SUCCESS"
        case .authError: "AUTH_ERR"
        case .maxTries: "MAXTRIES"
        case .userUnknown: "USER_UNKNOWN"
        case .permissionDenied: "PERM_DENIED"
        case .unavailable: "AUTHINFO_UNAVAIL"
        case .ignore: "IGNORE"
        }
    }
}
