import Posix
import Secrets
import Wire

/// A request, whole: its fields, and its secrets in memory of their own.
enum Request: Sendable {
    case hello(Hello)
    case reply(Reply, SecretBox)
    case abort(Abort)

    case authenticate(Authenticate, token: SecretBox)
    case unlock(Unlock, token: SecretBox)
    case confirm(Confirm)
    case sessionOpen(Session)
    case sessionClose(Session)
    case password(Password, old: SecretBox, new: SecretBox)
    case passwordRules(PasswordRules, old: SecretBox, new: SecretBox)

    case status(Target)
    case create(Create)
    case openStore(Target)
    case lock(Target)
    case passcode(Passcode)
    case recoveryNew(Target)
    case recover(Target)
    case reset(Target)
    case resync(Target)
    case triesClear(Target)
    case chown(Chown)
    case offerRecovery(Target)
    case actions(Target)

    case get(Record)
    case set(Record, WipedBuffer)
    case delete(Record)
    case list(List)
    case exportBegin(Target)
    case exportNext
    case importBegin(ImportBegin, header: WipedBuffer)
    case importChunk(Chunk, WipedBuffer)

    case policyShow(Target)
    case policyCheck(PolicyCheck, candidate: SecretBox)
    case policyPreview(PolicyPreview, text: WipedBuffer)
    case texts

    case fingerprintList(Target)
    case fingerprintEnroll(FingerRequest)
    case fingerprintVerify(Target)
    case fingerprintDelete(FingerRequest)
    case fingerprintSwitch(FingerSwitch)
    case keyringForget(Target)

    case health

    /// What can be asked for when nothing else is known of the frame but its type.
    static func decode(_ header: FrameHeader, _ body: Span<UInt8>) throws(WireError) -> Request {
        guard let type = RequestType(rawValue: header.type) else { throw .unknownValue }
        var reader = Reader()
        let request = try decode(type, &reader, body)
        try reader.end(body)
        return request
    }

    private static func decode(
        _ type: RequestType, _ reader: inout Reader, _ body: Span<UInt8>
    ) throws(WireError) -> Request {
        switch type {
        case .hello: .hello(try Hello(&reader, body))
        case .reply: .reply(try Reply(&reader, body), try secret(&reader, body))
        case .abort: .abort(try Abort(&reader, body))
        case .authenticate:
            .authenticate(try Authenticate(&reader, body), token: try secret(&reader, body))
        case .unlock: .unlock(try Unlock(&reader, body), token: try secret(&reader, body))
        case .confirm: .confirm(try Confirm(&reader, body))
        case .sessionOpen: .sessionOpen(try Session(&reader, body))
        case .sessionClose: .sessionClose(try Session(&reader, body))
        case .password:
            .password(
                try Password(&reader, body), old: try secret(&reader, body),
                new: try secret(&reader, body))
        case .passwordRules:
            .passwordRules(
                try PasswordRules(&reader, body), old: try secret(&reader, body),
                new: try secret(&reader, body))
        case .status: .status(try Target(&reader, body))
        case .create: .create(try Create(&reader, body))
        case .openStore: .openStore(try Target(&reader, body))
        case .lock: .lock(try Target(&reader, body))
        case .passcode: .passcode(try Passcode(&reader, body))
        case .recoveryNew: .recoveryNew(try Target(&reader, body))
        case .recover: .recover(try Target(&reader, body))
        case .reset: .reset(try Target(&reader, body))
        case .resync: .resync(try Target(&reader, body))
        case .triesClear: .triesClear(try Target(&reader, body))
        case .chown: .chown(try Chown(&reader, body))
        case .offerRecovery: .offerRecovery(try Target(&reader, body))
        case .actions: .actions(try Target(&reader, body))
        case .get: .get(try Record(&reader, body))
        case .set: .set(try Record(&reader, body), try bytes(&reader, body, limit: Limits.value))
        case .delete: .delete(try Record(&reader, body))
        case .list: .list(try List(&reader, body))
        case .exportBegin: .exportBegin(try Target(&reader, body))
        case .exportNext: .exportNext
        case .importBegin:
            .importBegin(
                try ImportBegin(&reader, body),
                header: try bytes(&reader, body, limit: Limits.smallFrame))
        case .importChunk:
            .importChunk(try Chunk(&reader, body), try bytes(&reader, body, limit: Limits.value))
        case .policyShow: .policyShow(try Target(&reader, body))
        case .policyCheck:
            .policyCheck(try PolicyCheck(&reader, body), candidate: try secret(&reader, body))
        case .policyPreview:
            .policyPreview(
                try PolicyPreview(&reader, body),
                text: try bytes(&reader, body, limit: Limits.value))
        case .texts: .texts
        case .fingerprintList: .fingerprintList(try Target(&reader, body))
        case .fingerprintEnroll: .fingerprintEnroll(try FingerRequest(&reader, body))
        case .fingerprintVerify: .fingerprintVerify(try Target(&reader, body))
        case .fingerprintDelete: .fingerprintDelete(try FingerRequest(&reader, body))
        case .fingerprintSwitch: .fingerprintSwitch(try FingerSwitch(&reader, body))
        case .keyringForget: .keyringForget(try Target(&reader, body))
        case .health: .health
        }
    }

    private static func secret(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError)
        -> SecretBox
    {
        let slice = try reader.payload(body, limit: Limits.secret)
        let bytes = body.extracting(slice.start..<(slice.start + slice.count))
        do {
            return SecretBox(try SecretBytes(copying: bytes))
        } catch {
            // Without memory for one secret nothing can be done for this peer.
            throw .fieldTooLong
        }
    }

    private static func bytes(
        _ reader: inout Reader, _ body: Span<UInt8>, limit: Int
    ) throws(WireError) -> WipedBuffer {
        let slice = try reader.payload(body, limit: limit)
        return WipedBuffer(copying: body.extracting(slice.start..<(slice.start + slice.count)))
    }
}
