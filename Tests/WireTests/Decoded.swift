import Wire

/// Any message, taken from its bytes: its fields as the vectors write them, and its bytes once
/// more.
struct Decoded: Equatable {
    var fields: [Field]
    var again: [UInt8]

    init(type: UInt16, tag: UInt32, body: [UInt8]) throws(WireError) {
        if let request = RequestType(rawValue: type) {
            self = try Decoded(request: request, tag: tag, body: body)
        } else if let answer = AnswerType(rawValue: type) {
            self = try Decoded(answer: answer, tag: tag, body: body)
        } else {
            throw .unknownValue
        }
    }

    private init(request: RequestType, tag: UInt32, body: [UInt8]) throws(WireError) {
        let type = request.rawValue
        switch request {
        case .hello: try self.init(Hello.self, type, tag, body)
        case .reply: try self.init(Reply.self, type, tag, body, payloads: [Limits.secret])
        case .abort: try self.init(Abort.self, type, tag, body)
        case .authenticate:
            try self.init(Authenticate.self, type, tag, body, payloads: [Limits.secret])
        case .unlock: try self.init(Unlock.self, type, tag, body, payloads: [Limits.secret])
        case .confirm: try self.init(Confirm.self, type, tag, body)
        case .sessionOpen, .sessionClose: try self.init(Session.self, type, tag, body)
        case .password:
            try self.init(Password.self, type, tag, body, payloads: [Limits.secret, Limits.secret])
        case .passwordRules:
            try self.init(
                PasswordRules.self, type, tag, body, payloads: [Limits.secret, Limits.secret])
        case .create: try self.init(Create.self, type, tag, body)
        case .passcode: try self.init(Passcode.self, type, tag, body)
        case .status, .openStore, .lock, .recoveryNew, .recover, .reset, .resync, .triesClear,
            .offerRecovery, .actions, .policyShow, .exportBegin, .fingerprintList,
            .fingerprintVerify, .keyringForget:
            try self.init(Target.self, type, tag, body)
        case .chown: try self.init(Chown.self, type, tag, body)
        case .get, .delete: try self.init(Record.self, type, tag, body)
        case .set: try self.init(Record.self, type, tag, body, payloads: [Limits.value])
        case .list: try self.init(List.self, type, tag, body)
        case .exportNext: try self.init(Empty.self, type, tag, body)
        case .importBegin:
            try self.init(ImportBegin.self, type, tag, body, payloads: [Limits.smallFrame])
        case .importChunk: try self.init(Chunk.self, type, tag, body, payloads: [Limits.value])
        case .policyCheck:
            try self.init(PolicyCheck.self, type, tag, body, payloads: [Limits.secret])
        case .policyPreview:
            try self.init(PolicyPreview.self, type, tag, body, payloads: [Limits.value])
        case .texts: try self.init(Empty.self, type, tag, body)
        case .fingerprintEnroll, .fingerprintDelete:
            try self.init(FingerRequest.self, type, tag, body)
        case .fingerprintSwitch: try self.init(FingerSwitch.self, type, tag, body)
        case .health: try self.init(Empty.self, type, tag, body)
        }
    }

    private init(answer: AnswerType, tag: UInt32, body: [UInt8]) throws(WireError) {
        let type = answer.rawValue
        switch answer {
        case .welcome: try self.init(Welcome.self, type, tag, body)
        case .show: try self.init(Show.self, type, tag, body)
        case .ask: try self.init(Ask.self, type, tag, body)
        case .working: try self.init(Empty.self, type, tag, body)
        case .refused: try self.init(Refused.self, type, tag, body)
        case .done: try self.init(Done.self, type, tag, body)
        case .reveal: try self.init(Reveal.self, type, tag, body, payloads: [Limits.secret])
        case .verdict: try self.init(Verdict.self, type, tag, body)
        case .state: try self.init(State.self, type, tag, body)
        case .value: try self.init(Empty.self, type, tag, body, payloads: [Limits.value])
        case .names: try self.init(Names.self, type, tag, body)
        case .chunk: try self.init(Chunk.self, type, tag, body, payloads: [Limits.value])
        case .progress: try self.init(Chunk.self, type, tag, body)
        case .actionList: try self.init(ActionList.self, type, tag, body)
        case .policyValues: try self.init(PolicyValues.self, type, tag, body)
        case .checklist: try self.init(Checklist.self, type, tag, body)
        case .preview: try self.init(Preview.self, type, tag, body)
        case .textList: try self.init(TextList.self, type, tag, body)
        case .scan: try self.init(Scan.self, type, tag, body)
        case .fingerprintState: try self.init(FingerprintState.self, type, tag, body)
        case .token: try self.init(Empty.self, type, tag, body, payloads: [Limits.secret])
        case .healthReport: try self.init(Health.self, type, tag, body)
        }
    }

    private init<B: Body>(
        _ kind: B.Type, _ type: UInt16, _ tag: UInt32, _ body: [UInt8], payloads limits: [Int] = []
    ) throws(WireError) {
        var reader = Reader()
        let message = try B(&reader, body.span)
        var payloads: [[UInt8]] = []
        for limit in limits {
            let slice = try reader.payload(body.span, limit: limit)
            payloads.append(Array(body[slice.start..<slice.start + slice.count]))
        }
        try reader.end(body.span)

        fields = Describe.fields(of: message)
        for (name, payload) in zip(["payload", "second"], payloads) {
            fields.append(Field(name: name, value: Describe.bytes(payload)))
        }
        again = []
        guard let first = payloads.first else {
            Frame.write(message, type: type, tag: tag, to: &again)
            return
        }
        guard payloads.count > 1 else {
            Frame.write(message, type: type, tag: tag, payload: first.span, to: &again)
            return
        }
        let second = payloads[1]
        Frame.write(
            message, type: type, tag: tag, payload: first.span, second: second.span, to: &again)
    }
}

/// Values as the vectors write them: numbers, names of cases, "text" or hex:bytes.
enum Describe {
    static func fields(of message: Any, prefix: String = "") -> [Field] {
        var fields: [Field] = []
        for child in Mirror(reflecting: message).children {
            let name = prefix + (child.label ?? "?")
            if Mirror(reflecting: child.value).displayStyle == .struct, !isPlain(child.value) {
                fields += Self.fields(of: child.value, prefix: name + ".")
            } else {
                fields.append(Field(name: name, value: value(child.value)))
            }
        }
        return fields
    }

    private static func isPlain(_ value: Any) -> Bool {
        value is any BinaryInteger || value is Bool || value is [Any]
    }

    private static func value(_ value: Any) -> String {
        // An empty list would be taken for empty bytes by a mere cast.
        if type(of: value) == [UInt8].self, let bytes = value as? [UInt8] {
            return Self.bytes(bytes)
        }
        if let list = value as? [Any] { return "[" + list.map(entry).joined(separator: ", ") + "]" }
        return "\(value)"
    }

    private static func entry(_ value: Any) -> String {
        if type(of: value) == [UInt8].self { return Self.value(value) }
        let fields = fields(of: value).map { "\($0.name)=\($0.value)" }
        return "{" + fields.joined(separator: ", ") + "}"
    }

    static func bytes(_ bytes: [UInt8]) -> String {
        let plain = bytes.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        if plain { return "\"" + String(decoding: bytes, as: UTF8.self) + "\"" }
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return "hex:" + digits.joined()
    }
}
