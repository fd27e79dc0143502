import Wire

/// A frame as a peer sends it: the header, then the body of the type that it names. Whatever is
/// taken must be written as the bytes that it came from.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    checkText(bytes)
    guard let header = try? FrameHeader.decode(bytes.span, limit: Limits.frame) else { return 0 }
    must(header.length <= Limits.frame, "a length over the limit was taken")
    let body = Array(bytes.dropFirst(FrameHeader.size))
    if let type = RequestType(rawValue: header.type) {
        request(type, body)
    } else if let type = AnswerType(rawValue: header.type) {
        answer(type, body)
    }
    return 0
}

func checkText(_ bytes: [UInt8]) {
    let expected = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains(0)
    must(
        UTF8Check.isText(bytes.span, start: 0, count: bytes.count) == expected,
        "UTF-8 is judged wrongly")
}

func request(_ type: RequestType, _ body: [UInt8]) {
    switch type {
    case .hello: check(Hello.self, body)
    case .reply: check(Reply.self, body, [Limits.secret])
    case .abort: check(Abort.self, body)
    case .authenticate: check(Authenticate.self, body, [Limits.secret])
    case .unlock: check(Unlock.self, body, [Limits.secret])
    case .confirm: check(Confirm.self, body)
    case .sessionOpen, .sessionClose: check(Session.self, body)
    case .password: check(Password.self, body, [Limits.secret, Limits.secret])
    case .create: check(Create.self, body)
    case .passcode: check(Passcode.self, body)
    case .status, .openStore, .lock, .recoveryNew, .recover, .reset, .resync, .triesClear,
        .exportBegin, .offerRecovery, .actions, .policyShow, .fingerprintList, .fingerprintVerify,
        .keyringForget:
        check(Target.self, body)
    case .chown: check(Chown.self, body)
    case .get, .delete: check(Record.self, body)
    case .set: check(Record.self, body, [Limits.value])
    case .list: check(List.self, body)
    case .passwordRules: check(PasswordRules.self, body, [Limits.secret, Limits.secret])
    case .exportNext, .texts, .health: check(Empty.self, body)
    case .fingerprintEnroll, .fingerprintDelete: check(FingerRequest.self, body)
    case .fingerprintSwitch: check(FingerSwitch.self, body)
    case .policyCheck: check(PolicyCheck.self, body, [Limits.secret])
    case .policyPreview: check(PolicyPreview.self, body, [Limits.value])
    case .importBegin: check(ImportBegin.self, body, [Limits.smallFrame])
    case .importChunk: check(Chunk.self, body, [Limits.value])
    }
}

func answer(_ type: AnswerType, _ body: [UInt8]) {
    switch type {
    case .welcome: check(Welcome.self, body)
    case .show: check(Show.self, body)
    case .ask: check(Ask.self, body)
    case .working: check(Empty.self, body)
    case .refused: check(Refused.self, body)
    case .done: check(Done.self, body)
    case .reveal: check(Reveal.self, body, [Limits.secret])
    case .verdict: check(Verdict.self, body)
    case .state: check(State.self, body)
    case .value: check(Empty.self, body, [Limits.value])
    case .names: check(Names.self, body)
    case .chunk: check(Chunk.self, body, [Limits.value])
    case .progress: check(Chunk.self, body)
    case .actionList: check(ActionList.self, body)
    case .policyValues: check(PolicyValues.self, body)
    case .checklist: check(Checklist.self, body)
    case .preview: check(Preview.self, body)
    case .textList: check(TextList.self, body)
    case .scan: check(Scan.self, body)
    case .fingerprintState: check(FingerprintState.self, body)
    case .token: check(Empty.self, body, [Limits.secret])
    case .healthReport: check(Health.self, body)
    }
}

func check<B: Body>(_ kind: B.Type, _ body: [UInt8], _ payloads: [Int] = []) {
    var reader = Reader()
    guard let message = try? B(&reader, body.span) else { return }
    var again: [UInt8] = []
    message.write(to: &again)
    for limit in payloads {
        guard let slice = try? reader.payload(body.span, limit: limit) else { return }
        must(
            slice.start >= 0 && slice.count <= limit && slice.start + slice.count <= body.count,
            "a payload outside")
        again.put(payload: Array(body[slice.start..<slice.start + slice.count]).span)
    }
    guard (try? reader.end(body.span)) != nil else { return }
    must(again == body, "a message is not written as it was read")
}
