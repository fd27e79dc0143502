@testable import Wire

/// What stands behind the header of a type: the fields of a body, then its payloads. The fuzz
/// target goes by the same table.
struct Content {
    typealias Kind = any (Body & Fields & Equatable).Type

    var body: Kind
    /// How long each payload may be.
    var payloads: [Int] = []
}

extension RequestType {
    var content: Content {
        switch self {
        case .hello: Content(body: Hello.self)
        case .reply: Content(body: Reply.self, payloads: [Limits.secret])
        case .abort: Content(body: Abort.self)
        case .answer: Content(body: Answer.self, payloads: [Limits.answers])
        case .draft: Content(body: Draft.self, payloads: [Limits.secret])
        case .authenticate: Content(body: Authenticate.self, payloads: [Limits.secret])
        case .unlock: Content(body: Unlock.self, payloads: [Limits.secret])
        case .confirm: Content(body: Confirm.self)
        case .sessionOpen, .sessionClose: Content(body: Session.self)
        case .password: Content(body: Password.self, payloads: [Limits.secret, Limits.secret])
        case .passwordRules:
            Content(body: PasswordRules.self, payloads: [Limits.secret, Limits.secret])
        case .create: Content(body: Create.self)
        case .passcode: Content(body: Passcode.self)
        case .status, .openStore, .lock, .recoveryNew, .recover, .reset, .resync, .triesClear,
            .offerRecovery, .actions, .policyShow, .exportBegin, .fingerprintList,
            .fingerprintVerify, .keyringForget, .mend, .recoveryDelete,
            .members:
            Content(body: Target.self)
        case .chown: Content(body: Chown.self)
        case .hold: Content(body: Hold.self)
        case .rename: Content(body: Rename.self)
        case .stores: Content(body: Stores.self)
        case .share: Content(body: ShareStore.self)
        case .unshare: Content(body: UnshareStore.self)
        case .appRules, .appOpen: Content(body: App.self)
        case .get, .delete: Content(body: Record.self)
        case .set: Content(body: Record.self, payloads: [Limits.value])
        case .list: Content(body: List.self)
        case .exportNext, .texts, .health: Content(body: Empty.self)
        case .watch: Content(body: Watch.self)
        case .importBegin: Content(body: ImportBegin.self, payloads: [Limits.smallFrame])
        case .importChunk: Content(body: Chunk.self, payloads: [Limits.value])
        case .policyCheck: Content(body: PolicyCheck.self, payloads: [Limits.secret])
        case .policyPreview: Content(body: PolicyPreview.self, payloads: [Limits.value])
        case .fingerprintEnroll, .fingerprintDelete: Content(body: FingerRequest.self)
        case .fingerprintSwitch: Content(body: FingerSwitch.self)
        case .fingerprintClear: Content(body: FingerprintClear.self)
        case .itemPut: Content(body: PutItem.self, payloads: [Limits.value])
        case .itemChange: Content(body: ChangeItem.self, payloads: [Limits.value])
        case .itemDelete, .collectionDelete: Content(body: StoredID.self)
        case .itemFind: Content(body: FindItems.self)
        case .itemSecrets: Content(body: GetSecrets.self)
        case .itemChanges: Content(body: ItemChanges.self)
        case .collectionPut: Content(body: PutCollection.self)
        case .aliasSet: Content(body: SetAlias.self)
        case .joinAsk: Content(body: JoinAsk.self)
        case .switchStore: Content(body: SwitchStore.self)
        case .consentAsk: Content(body: ConsentAsk.self)
        case .consents: Content(body: Empty.self)
        case .fleetStatus, .fleetLeave, .fleetFetch: Content(body: Empty.self)
        case .fleetJoin, .fleetImport: Content(body: Empty.self, payloads: [Limits.value])
        }
    }
}

extension AnswerType {
    var content: Content {
        switch self {
        case .welcome: Content(body: Welcome.self)
        case .show: Content(body: Show.self)
        case .ask: Content(body: Ask.self)
        case .working: Content(body: Empty.self)
        case .refused: Content(body: Refused.self)
        case .done: Content(body: Done.self)
        case .reveal: Content(body: Reveal.self, payloads: [Limits.secret])
        case .verdict: Content(body: Verdict.self)
        case .state: Content(body: State.self)
        case .event: Content(body: Event.self)
        case .memberList: Content(body: MemberList.self)
        case .storeList: Content(body: StoreList.self)
        case .item: Content(body: Item.self)
        case .itemList: Content(body: ItemList.self)
        case .secrets: Content(body: GivenSecrets.self, payloads: [Limits.value])
        case .itemNews: Content(body: ItemNews.self)
        case .collection: Content(body: ItemCollection.self)
        case .fleetState: Content(body: FleetState.self)
        case .appPolicy: Content(body: AppPolicy.self)
        case .value: Content(body: Empty.self, payloads: [Limits.value])
        case .names: Content(body: Names.self)
        case .damaged: Content(body: DamagedRecords.self)
        case .chunk: Content(body: Chunk.self, payloads: [Limits.value])
        case .progress: Content(body: Chunk.self)
        case .actionList: Content(body: ActionList.self)
        case .policyValues: Content(body: PolicyValues.self)
        case .screen: Content(body: Screen.self)
        case .consentList: Content(body: ConsentList.self)
        case .findings: Content(body: Findings.self)
        case .checklist: Content(body: Checklist.self)
        case .preview: Content(body: Preview.self)
        case .textList: Content(body: TextList.self)
        case .scan: Content(body: Scan.self)
        case .fingerprintState: Content(body: FingerprintState.self)
        case .token: Content(body: Empty.self, payloads: [Limits.secret])
        case .healthReport: Content(body: Health.self)
        }
    }
}
