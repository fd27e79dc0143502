import Posix
import Secrets
import Wire

/// A whole request: its fields, and its secrets in memory of their own. Grouped by family, so that
/// the code that serves one family does not see the others.
enum Request: Sendable {
    /// The first request of a connection, and only the first.
    case hello(Hello)
    /// Only while a flow asks. The flow reads them itself.
    case reply(Reply, SecretBox)
    case abort(Abort)
    /// Likewise, where a screen stands.
    case answer(Answer, SecretBox)
    case draft(Draft, SecretBox)
    /// Only while no other request is under way.
    case pam(PamRequest)
    case flow(FlowRequest)
    case record(RecordRequest)
    case item(ItemRequest)
    case query(Query)
    case fleet(FleetRequest)
    case transfer(TransferRequest)
    /// From then on the connection only hears what happens.
    case watch(Watch)
    /// Only after the transfer that they continue has begun.
    case exportNext
    case importChunk(Chunk, WipedBuffer)
}

/// What a login asks. The connection ends with the answer.
enum PamRequest: Sendable {
    case authenticate(Authenticate, token: SecretBox)
    case unlock(Unlock, token: SecretBox)
    case confirm(Confirm)
    case sessionOpen(Session)
    case sessionClose(Session)
    case password(Password, old: SecretBox, new: SecretBox)
    case passwordRules(PasswordRules, old: SecretBox, new: SecretBox)

    /// Whether the request itself brings a secret that may open a store.
    var carriesSecret: Bool {
        switch self {
        case .unlock, .password, .passwordRules: true
        case .authenticate, .confirm, .sessionOpen, .sessionClose: false
        }
    }
}

/// What a person does with a store, in a flow that asks questions.
enum FlowRequest: Sendable {
    case create(Create)
    case openStore(Target)
    case lock(Target)
    case passcode(Passcode)
    case recoveryNew(Target)
    case recover(Target)
    case offerRecovery(Target)
    case reset(Target)
    case resync(Target)
    case triesClear(Target)
    case chown(Chown)
    case fingerprintEnroll(FingerRequest)
    case fingerprintVerify(Target)
    case fingerprintDelete(FingerRequest)
    case fingerprintSwitch(FingerSwitch)
    case keyringForget(Target)
    case fingerprintClear(FingerprintClear)
    case mend(Target)
    case hold(Hold)
    case rename(Rename)
    case recoveryDelete(Target)
    case share(ShareStore)
    case unshare(UnshareStore)
    case appOpen(App)
    case consentAsk(ConsentAsk)
    case switchStore(SwitchStore)
}

enum RecordRequest: Sendable {
    case get(Record)
    case set(Record, WipedBuffer)
    case delete(Record)
    case list(List)
}

/// The desktop's secrets, which are records under names of their own.
enum ItemRequest: Sendable {
    case put(PutItem, secret: WipedBuffer)
    case change(ChangeItem, secret: WipedBuffer)
    case delete(StoredID)
    case find(FindItems)
    case secrets(GetSecrets)
    case changes(ItemChanges)
    case putCollection(PutCollection)
    case deleteCollection(StoredID)
    case setAlias(SetAlias)
}

/// Requests that change nothing.
enum Query: Sendable {
    case status(Target)
    case actions(Target)
    case fingerprintList(Target)
    case policyShow(Target)
    case policyCheck(PolicyCheck, candidate: SecretBox)
    case policyPreview(PolicyPreview, text: WipedBuffer)
    case texts
    case health
    case appRules(App)
    case stores(Stores)
    case members(Target)
    case consents
}

/// What root does with the organisation that the machine has joined.
enum FleetRequest: Sendable {
    case status
    case join(WipedBuffer)
    case ask(JoinAsk)
    case take(WipedBuffer)
    case fetch
    case leave
}

/// What begins a transfer. From then on the connection serves the transfer alone.
enum TransferRequest: Sendable {
    case exportBegin(Target)
    case importBegin(ImportBegin, header: WipedBuffer)
}

extension Request {
    /// Decodes a request by its type alone. Whether it is allowed now is checked later.
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
        case .answer:
            .answer(
                try Answer(&reader, body), try secret(&reader, body, limit: Limits.answers))
        case .draft: .draft(try Draft(&reader, body), try secret(&reader, body))
        case .authenticate:
            .pam(.authenticate(try Authenticate(&reader, body), token: try secret(&reader, body)))
        case .unlock: .pam(.unlock(try Unlock(&reader, body), token: try secret(&reader, body)))
        case .confirm: .pam(.confirm(try Confirm(&reader, body)))
        case .sessionOpen: .pam(.sessionOpen(try Session(&reader, body)))
        case .sessionClose: .pam(.sessionClose(try Session(&reader, body)))
        case .password:
            .pam(
                .password(
                    try Password(&reader, body), old: try secret(&reader, body),
                    new: try secret(&reader, body)))
        case .passwordRules:
            .pam(
                .passwordRules(
                    try PasswordRules(&reader, body), old: try secret(&reader, body),
                    new: try secret(&reader, body)))
        case .status: .query(.status(try Target(&reader, body)))
        case .create: .flow(.create(try Create(&reader, body)))
        case .openStore: .flow(.openStore(try Target(&reader, body)))
        case .lock: .flow(.lock(try Target(&reader, body)))
        case .passcode: .flow(.passcode(try Passcode(&reader, body)))
        case .recoveryNew: .flow(.recoveryNew(try Target(&reader, body)))
        case .recover: .flow(.recover(try Target(&reader, body)))
        case .reset: .flow(.reset(try Target(&reader, body)))
        case .resync: .flow(.resync(try Target(&reader, body)))
        case .triesClear: .flow(.triesClear(try Target(&reader, body)))
        case .chown: .flow(.chown(try Chown(&reader, body)))
        case .offerRecovery: .flow(.offerRecovery(try Target(&reader, body)))
        case .actions: .query(.actions(try Target(&reader, body)))
        case .get: .record(.get(try Record(&reader, body)))
        case .set:
            .record(.set(try Record(&reader, body), try bytes(&reader, body, limit: Limits.value)))
        case .delete: .record(.delete(try Record(&reader, body)))
        case .list: .record(.list(try List(&reader, body)))
        case .exportBegin: .transfer(.exportBegin(try Target(&reader, body)))
        case .exportNext: .exportNext
        case .importBegin:
            .transfer(
                .importBegin(
                    try ImportBegin(&reader, body),
                    header: try bytes(&reader, body, limit: Limits.smallFrame)))
        case .importChunk:
            .importChunk(try Chunk(&reader, body), try bytes(&reader, body, limit: Limits.value))
        case .policyShow: .query(.policyShow(try Target(&reader, body)))
        case .policyCheck:
            .query(
                .policyCheck(try PolicyCheck(&reader, body), candidate: try secret(&reader, body)))
        case .policyPreview:
            .query(
                .policyPreview(
                    try PolicyPreview(&reader, body),
                    text: try bytes(&reader, body, limit: Limits.value)))
        case .texts: .query(.texts)
        case .fingerprintList: .query(.fingerprintList(try Target(&reader, body)))
        case .fingerprintEnroll: .flow(.fingerprintEnroll(try FingerRequest(&reader, body)))
        case .fingerprintVerify: .flow(.fingerprintVerify(try Target(&reader, body)))
        case .fingerprintDelete: .flow(.fingerprintDelete(try FingerRequest(&reader, body)))
        case .fingerprintSwitch: .flow(.fingerprintSwitch(try FingerSwitch(&reader, body)))
        case .mend: .flow(.mend(try Target(&reader, body)))
        case .hold: .flow(.hold(try Hold(&reader, body)))
        case .keyringForget: .flow(.keyringForget(try Target(&reader, body)))
        case .fingerprintClear: .flow(.fingerprintClear(try FingerprintClear(&reader, body)))
        case .health: .query(.health)
        case .watch: .watch(try Watch(&reader, body))
        case .rename: .flow(.rename(try Rename(&reader, body)))
        case .recoveryDelete: .flow(.recoveryDelete(try Target(&reader, body)))
        case .share: .flow(.share(try ShareStore(&reader, body)))
        case .unshare: .flow(.unshare(try UnshareStore(&reader, body)))
        case .members: .query(.members(try Target(&reader, body)))
        case .stores: .query(.stores(try Stores(&reader, body)))
        case .appRules: .query(.appRules(try App(&reader, body)))
        case .appOpen: .flow(.appOpen(try App(&reader, body)))
        case .itemPut:
            .item(
                .put(
                    try PutItem(&reader, body),
                    secret: try bytes(&reader, body, limit: Limits.value)))
        case .itemChange:
            .item(
                .change(
                    try ChangeItem(&reader, body),
                    secret: try bytes(&reader, body, limit: Limits.value)))
        case .itemDelete: .item(.delete(try StoredID(&reader, body)))
        case .itemFind: .item(.find(try FindItems(&reader, body)))
        case .itemSecrets: .item(.secrets(try GetSecrets(&reader, body)))
        case .itemChanges: .item(.changes(try ItemChanges(&reader, body)))
        case .collectionPut: .item(.putCollection(try PutCollection(&reader, body)))
        case .collectionDelete: .item(.deleteCollection(try StoredID(&reader, body)))
        case .aliasSet: .item(.setAlias(try SetAlias(&reader, body)))
        case .fleetStatus: .fleet(.status)
        case .fleetJoin: .fleet(.join(try bytes(&reader, body, limit: Limits.value)))
        case .fleetImport: .fleet(.take(try bytes(&reader, body, limit: Limits.value)))
        case .fleetLeave: .fleet(.leave)
        case .fleetFetch: .fleet(.fetch)
        case .joinAsk: .fleet(.ask(try JoinAsk(&reader, body)))
        case .switchStore: .flow(.switchStore(try SwitchStore(&reader, body)))
        case .consentAsk: .flow(.consentAsk(try ConsentAsk(&reader, body)))
        case .consents: .query(.consents)
        }
    }

    private static func secret(
        _ reader: inout Reader, _ body: Span<UInt8>, limit: Int = Limits.secret
    ) throws(WireError) -> SecretBox {
        let slice = try reader.payload(body, limit: limit)
        let bytes = body.extracting(slice.start..<(slice.start + slice.count))
        do {
            return SecretBox(try SecretBytes(copying: bytes))
        } catch {
            // Without memory for one secret the daemon can do nothing for this peer.
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
