import Wire

// The reasons of refusals, as closed lists. Each has its text in every language, and a name for
// programs that is the same in every language.

extension Refusal {
    package enum Thing: CaseIterable, Sendable {
        case store, record, account, passcode, recoveryKey, finger, reader
        /// The machine has joined none.
        case organisation
        case group, member
        /// Of the desktop's secrets.
        case item, collection
        /// The store that this one follows.
        case parent
    }

    /// What a person who has forgotten the passcode can do. Each of these leads somewhere: there is
    /// a recovery key that the policy lets open the store, or the person may reset the store.
    package enum WayBack: CaseIterable, Sendable {
        case nothing, recover, reset
        /// In a reset, which has asked for the passcode itself.
        case resetByRoot
    }

    /// The limit of tries is reached.
    package enum Limit: Equatable, Sendable {
        case erased
        case locked(WayBack)
    }

    package enum Argument: CaseIterable, Sendable {
        case name, notText, control, export, exportCost, appID
        case storeName, defaultKind, storeID, policyKey, secretsPolicyKey, parent, role
        case switchShared
        /// Of an invitation to join an organisation.
        case joinLink, joinVersion, joinHost, joinWhat
        /// Of the desktop's secrets.
        case reservedName, attributes, alias, collections, loginCollection
    }

    package enum Why: CaseIterable, Sendable {
        case notYours, ownerChanged, rootOnly
        /// A member of a shared store may read it, and no more.
        case readOnly
        case ownerOnly
    }

    package enum Action: String, CaseIterable, Sendable {
        case create
        case createPasscode = "create-passcode"
        case changePasscode = "change-passcode"
        case turnOffPasscode = "turn-off-passcode"
        case turnOnFingerprint = "turn-on-fingerprint"
        case turnOffFingerprint = "turn-off-fingerprint"
        case unlock
        case lock
        case reset
        case newRecoveryKey = "new-recovery-key"
        case resync
        case hold
        case rename
        case share
        case unshare
        case chown
        case deleteRecoveryKey = "delete-recovery-key"
    }

    /// Why an action is not possible; `appvault actions` shows the same.
    package enum ActionReason: Equatable, Sendable {
        case noStore, erased, retryLocked, damaged, ownerChanged, lockedAlready
        case followsLogin, passcodeOff, passcodeOn, terminalOnly, notFollowing
        case tooManyStores(Int)
        case tooManyFollowers(Int)
        /// The store of that name.
        case follows(String)
        case parentWithoutPasscode(String)
        case isDefault
        case lastWayIn
        case membershipPending
        /// What a member had the store opened by is gone with their own store.
        case membershipLost
        /// They would be one again at once.
        case memberByGroup
        /// Another member's number is this account's by now.
        case sameNumber(String)
        case tooManyMembers(Int)
        /// Only stores that were made to be shared can be.
        case notShared
        case shared
        case isOwner
        case notYetMember
        case holdMost(seconds: Int)
        case noSuchKey
        case policy(key: String)
        case policyBroken, noPasscodeMode, changeDue
        case fingerprint(FingerprintReason)
        case passcodeFirst
    }

    package enum FingerprintReason: CaseIterable, Sendable {
        case noReader, notEnrolled, on, off, option, remote, elsewhere, unknownSession, lid
        case policy, policyUnknown, external, due, busy, worker, failures, passcodeEvery
        case notOpened, retryLocked, removed, notSupported, oneFinger, full, unknownPrint
        case duplicate, noFinger, hot, fault, stopped, moved
    }

    package enum Unavailable: Equatable, Sendable {
        case version(UInt16)
        case directory
        case groups
        case failed(During, DiskFault)
    }

    package enum RecoveryKeyReason: Equatable, Sendable {
        case wrong, length, whole
        case group(Int)
    }

    /// What is wrong with the passphrase of an export.
    package enum PassphraseReason: Equatable, Sendable {
        case wrong
        case short(least: Int)
    }

    package enum During: CaseIterable, Sendable {
        case count, uncount, clearCount, writeCount, unlock, recover, change, follow, turnOff
        case recoveryKey, rename, newKey, share, chown, erase, create, remove, open, read, store,
            export, `import`,
            terms,
            finger, keyring, organisation
    }

    package enum DiskFault: Equatable, Sendable {
        case noSpace, noDescriptors, readOnly, held, collision, value
        case error(Int)
        /// In the system's own words.
        case system(String)
    }

    package enum Damage: Equatable, Sendable {
        case fileMissing, machineKeyMissing, machineKeyUnreadable, machineKey, foreignMachineKey
        case slotsMissing, slotsUnreadable, slotsSize, slotsEmpty
        case slotsBlock(Int), slotsReadBack(Int)
        case recordsMissing, recordsFile, recordsJournal, recordsHead
        case recordsNode(Int), recordsBucket(Int), recordsRecord(Int)
        /// Of an open store: SQLite cannot read a part of the file, so it cannot write there either.
        case recordsPages
        /// Of a store that is shared: what says that this person is a member.
        case memberFile
        case exportOpensNot, exportChanged, exportCut, exportLayout
        case system(String)
        case unknown
    }
}

extension Refusal.ActionReason {
    package var phrase: Phrase {
        switch self {
        case .noStore: Phrase(.reasonNoStore)
        case .erased: Phrase(.reasonErased)
        case .retryLocked: Phrase(.reasonRetryLocked)
        case .damaged: Phrase(.reasonDamaged)
        case .ownerChanged: Phrase(.reasonOwnerChanged)
        case .lockedAlready: Phrase(.reasonLocked)
        case .followsLogin: Phrase(.reasonFollowsLogin)
        case .passcodeOff: Phrase(.reasonPasscodeOff)
        case .passcodeOn: Phrase(.reasonPasscodeOn)
        case .terminalOnly: Phrase(.reasonTerminalOnly)
        case .notFollowing: Phrase(.reasonNotFollowing)
        case .tooManyStores(let most): Phrase(.reasonTooManyStores, .count(most))
        case .tooManyFollowers(let most): Phrase(.reasonTooManyFollowers, .count(most))
        case .follows(let store): Phrase(.reasonFollows, .text(store))
        case .parentWithoutPasscode(let store):
            Phrase(.reasonParentWithoutPasscode, .text(store))
        case .isDefault: Phrase(.reasonIsDefault)
        case .lastWayIn: Phrase(.reasonLastWayIn)
        case .membershipPending: Phrase(.reasonMembershipPending)
        case .membershipLost: Phrase(.reasonMembershipLost)
        case .memberByGroup: Phrase(.reasonMemberByGroup)
        case .sameNumber(let name): Phrase(.reasonSameNumber, .text(name))
        case .tooManyMembers(let most): Phrase(.reasonTooManyMembers, .count(most))
        case .notShared: Phrase(.reasonNotShared)
        case .shared: Phrase(.reasonShared)
        case .isOwner: Phrase(.reasonIsOwner)
        case .notYetMember: Phrase(.reasonNotYetMember)
        case .holdMost(let seconds): Phrase(.reasonHoldMost, .phrase(.span(seconds)))
        case .noSuchKey: Phrase(.reasonNoSuchKey)
        case .policy(let key): Phrase(.reasonPolicy, .text(key))
        case .policyBroken: Phrase(.reasonPolicyBroken)
        case .noPasscodeMode: Phrase(.reasonNoPasscodeMode)
        case .changeDue: Phrase(.reasonChangeDue)
        case .fingerprint(let reason): reason.phrase
        case .passcodeFirst: Phrase(.reasonPasscodeFirst)
        }
    }
}

extension Refusal.FingerprintReason {
    package var phrase: Phrase {
        switch self {
        case .noReader: Phrase(.reasonFingerprintNoReader)
        case .notEnrolled: Phrase(.reasonFingerprintNotEnrolled)
        case .on: Phrase(.reasonFingerprintOn)
        case .off: Phrase(.reasonFingerprintOff)
        case .option: Phrase(.reasonFingerprintOption)
        case .remote: Phrase(.reasonFingerprintRemote)
        case .elsewhere: Phrase(.reasonFingerprintElsewhere)
        case .unknownSession: Phrase(.reasonFingerprintUnknownSession)
        case .lid: Phrase(.reasonFingerprintLid)
        case .policy: Phrase(.reasonFingerprintPolicy)
        case .policyUnknown: Phrase(.reasonFingerprintPolicyUnknown)
        case .external: Phrase(.reasonFingerprintExternal)
        case .due: Phrase(.reasonFingerprintDue)
        case .busy: Phrase(.reasonFingerprintBusy)
        case .worker: Phrase(.reasonFingerprintWorker)
        case .failures: Phrase(.reasonFingerprintFailures)
        case .passcodeEvery: Phrase(.reasonFingerprintPasscodeEvery)
        case .notOpened: Phrase(.reasonFingerprintNotOpened)
        case .retryLocked: Phrase(.reasonFingerprintRetryLocked)
        case .removed: Phrase(.reasonFingerprintRemoved)
        case .notSupported: Phrase(.reasonFingerprintNotSupported)
        case .oneFinger: Phrase(.reasonFingerprintOneFinger)
        case .full: Phrase(.reasonFingerprintFull)
        case .unknownPrint: Phrase(.reasonFingerprintUnknownPrint)
        case .duplicate: Phrase(.reasonFingerprintDuplicate)
        case .noFinger: Phrase(.reasonFingerprintNoFinger)
        case .hot: Phrase(.reasonFingerprintHot)
        case .fault: Phrase(.reasonFingerprintFault)
        case .stopped: Phrase(.reasonFingerprintStopped)
        case .moved: Phrase(.reasonFingerprintMoved)
        }
    }
}

extension Refusal.During {
    package var phrase: Phrase {
        switch self {
        case .count: Phrase(.duringCount)
        case .uncount: Phrase(.duringUncount)
        case .clearCount: Phrase(.duringClearCount)
        case .writeCount: Phrase(.duringWriteCount)
        case .unlock: Phrase(.duringUnlock)
        case .recover: Phrase(.duringRecover)
        case .change: Phrase(.duringChange)
        case .follow: Phrase(.duringFollow)
        case .turnOff: Phrase(.duringTurnOff)
        case .recoveryKey: Phrase(.duringRecoveryKey)
        case .rename: Phrase(.duringRename)
        case .newKey: Phrase(.duringNewKey)
        case .share: Phrase(.duringShare)
        case .chown: Phrase(.duringChown)
        case .erase: Phrase(.duringErase)
        case .create: Phrase(.duringCreate)
        case .remove: Phrase(.duringRemove)
        case .open: Phrase(.duringOpen)
        case .read: Phrase(.duringRead)
        case .store: Phrase(.duringStore)
        case .export: Phrase(.duringExport)
        case .import: Phrase(.duringImport)
        case .terms: Phrase(.duringTerms)
        case .finger: Phrase(.duringFinger)
        case .keyring: Phrase(.duringKeyring)
        case .organisation: Phrase(.duringOrganisation)
        }
    }
}

extension Refusal.DiskFault {
    package var phrase: Phrase {
        switch self {
        case .noSpace: Phrase(.storageNoSpace)
        case .noDescriptors: Phrase(.storageNoDescriptors)
        case .readOnly: Phrase(.storageReadOnly)
        case .held: Phrase(.storageHeld)
        case .collision: Phrase(.storageCollision)
        case .value: Phrase(.storageValue)
        case .error(let code): Phrase(.storageError, .count(code))
        case .system(let words): Phrase(.storageSystem, .text(words))
        }
    }

    /// What helps; nil if only another name or value helps.
    var hint: Phrase? {
        switch self {
        case .noSpace: Phrase(.hintStorageFailed)
        case .noDescriptors: Phrase(.hintStorageDescriptors)
        case .readOnly: Phrase(.hintStorageReadOnly)
        case .held: Phrase(.hintStorageHeld)
        case .collision, .value: nil
        case .error, .system: Phrase(.hintStorageOther)
        }
    }
}

extension Refusal.Damage {
    /// The damage concerns all records of an open store, not only some.
    package var isOfAllRecords: Bool {
        switch self {
        case .recordsNode, .recordsBucket, .recordsRecord, .recordsPages, .memberFile: false
        case .fileMissing, .machineKeyMissing, .machineKeyUnreadable, .machineKey,
            .foreignMachineKey, .slotsMissing, .slotsUnreadable, .slotsSize, .slotsEmpty,
            .slotsBlock, .slotsReadBack, .recordsMissing, .recordsFile, .recordsJournal,
            .recordsHead, .exportOpensNot, .exportChanged, .exportCut, .exportLayout, .system,
            .unknown:
            true
        }
    }

    /// What to do about it.
    package var advice: Phrase {
        if case .recordsPages = self { return Phrase(.adviceRecordsPages) }
        if case .memberFile = self { return Phrase(.adviceMemberFile) }
        return Phrase(isOfAllRecords ? .hintStoreDamaged : .adviceMend)
    }

    package var phrase: Phrase {
        switch self {
        case .fileMissing: Phrase(.damageFileMissing)
        case .machineKeyMissing: Phrase(.damageMachineKeyMissing)
        case .machineKeyUnreadable: Phrase(.damageMachineKeyUnreadable)
        case .machineKey: Phrase(.damageMachineKey)
        case .foreignMachineKey: Phrase(.damageForeignMachineKey)
        case .slotsMissing: Phrase(.damageSlotsMissing)
        case .slotsUnreadable: Phrase(.damageSlotsUnreadable)
        case .slotsSize: Phrase(.damageSlotsSize)
        case .slotsEmpty: Phrase(.damageSlotsEmpty)
        case .slotsBlock(let number): Phrase(.damageSlotsBlock, .count(number))
        case .slotsReadBack(let number): Phrase(.damageSlotsReadBack, .count(number))
        case .recordsMissing: Phrase(.damageRecordsMissing)
        case .recordsFile: Phrase(.damageRecordsFile)
        case .recordsJournal: Phrase(.damageRecordsJournal)
        case .recordsHead: Phrase(.damageRecordsHead)
        case .recordsNode(let number): Phrase(.damageRecordsNode, .count(number))
        case .recordsBucket(let number): Phrase(.damageRecordsBucket, .count(number))
        case .recordsRecord(let bucket): Phrase(.damageRecordsRecord, .count(bucket))
        case .recordsPages: Phrase(.damageRecordsPages)
        case .memberFile: Phrase(.damageMemberFile)
        case .exportOpensNot: Phrase(.damageExportOpensNot)
        case .exportChanged: Phrase(.damageExportChanged)
        case .exportCut: Phrase(.damageExportCut)
        case .exportLayout: Phrase(.damageExportLayout)
        case .system(let words): Phrase(.damageSystem, .text(words))
        case .unknown: Phrase(.damageUnknown)
        }
    }
}
