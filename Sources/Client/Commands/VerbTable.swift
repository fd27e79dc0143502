extension Verb {
    package var entry: VerbEntry {
        switch self {
        case .create: .create
        case .status: .status
        case .unlock: .unlock
        case .lock: .lock
        case .passwd: .passwd
        case .recoveryNew: .recoveryNew
        case .recover: .recover
        case .actions: .actions
        case .fingerprintEnroll: .fingerprintEnroll
        case .fingerprintList: .fingerprintList
        case .fingerprintVerify: .fingerprintVerify
        case .fingerprintDelete: .fingerprintDelete
        case .fingerprintOn: .fingerprintOn
        case .fingerprintOff: .fingerprintOff
        case .keyringForget: .keyringForget
        case .set: .set
        case .get: .get
        case .list: .list
        case .delete: .delete
        case .export: .export
        case .import: .import
        case .policyShow: .policyShow
        case .policyCheck: .policyCheck
        case .policyLint: .policyLint
        case .policyPreview: .policyPreview
        case .texts: .texts
        case .reset: .reset
        case .resync: .resync
        case .triesClear: .triesClear
        case .chown: .chown
        case .doctor: .doctor
        case .version: .version
        case .help: .help
        }
    }

    /// The verb of exactly these words.
    static func named(_ words: [String]) -> Verb? {
        allCases.first { $0.entry.words == words }
    }

    /// Those of two words that begin with this one.
    static func beginning(_ word: String) -> [Verb] {
        allCases.filter { $0.entry.words.count > 1 && $0.entry.words[0] == word }
    }
}
