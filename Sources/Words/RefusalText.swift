import Policy
import Wire

extension Refusal {
    /// What happened: lower case, one line.
    package var message: Phrase {
        switch self {
        case .unknown: Phrase(.refusedUnknown)
        case .alreadyExists: Phrase(.refusedAlreadyExists)
        case .dataType: Phrase(.refusedDataType)
        case .doesNotExist(.store): Phrase(.refusedDoesNotExistStore)
        case .doesNotExist(.record): Phrase(.refusedDoesNotExistRecord)
        case .doesNotExist(.account): Phrase(.refusedDoesNotExistAccount)
        case .doesNotExist(.passcode): Phrase(.refusedDoesNotExistPasscode)
        case .doesNotExist(.recoveryKey): Phrase(.refusedDoesNotExistRecoveryKey)
        case .doesNotExist(.finger): Phrase(.refusedDoesNotExistFinger)
        case .doesNotExist(.reader): Phrase(.refusedDoesNotExistReader)
        case .doesNotExist(.parent): Phrase(.refusedDoesNotExistParent)
        case .doesNotExist(.group): Phrase(.refusedDoesNotExistGroup)
        case .doesNotExist(.member): Phrase(.refusedDoesNotExistMember)
        case .doesNotExist(.organisation): Phrase(.refusedDoesNotExistOrganisation)
        case .doesNotExist(.item): Phrase(.refusedDoesNotExistItem)
        case .doesNotExist(.collection): Phrase(.refusedDoesNotExistCollection)
        case .invalidArgument(.reservedName): Phrase(.refusedInvalidArgumentReservedName)
        case .invalidArgument(.attributes): Phrase(.refusedInvalidArgumentAttributes)
        case .invalidArgument(.alias): Phrase(.refusedInvalidArgumentAlias)
        case .invalidArgument(.collections):
            Phrase(.refusedInvalidArgumentCollections, .count(Limits.collections))
        case .invalidArgument(.loginCollection): Phrase(.refusedInvalidArgumentLoginCollection)
        case .invalidArgument(.role): Phrase(.refusedInvalidArgumentRole)
        case .invalidArgument(.storeName): Phrase(.refusedInvalidArgumentStoreName)
        case .invalidArgument(.defaultKind): Phrase(.refusedInvalidArgumentDefaultKind)
        case .invalidArgument(.storeID): Phrase(.refusedInvalidArgumentStoreID)
        case .invalidArgument(.policyKey): Phrase(.refusedInvalidArgumentPolicyKey)
        case .invalidArgument(.secretsPolicyKey):
            Phrase(.refusedInvalidArgumentSecretsPolicyKey)
        case .invalidArgument(.parent): Phrase(.refusedInvalidArgumentParent)
        case .invalidArgument(.switchShared): Phrase(.refusedInvalidArgumentSwitchShared)
        case .invalidArgument(.joinLink): Phrase(.refusedInvalidArgumentJoinLink)
        case .invalidArgument(.joinVersion): Phrase(.refusedInvalidArgumentJoinVersion)
        case .invalidArgument(.joinHost): Phrase(.refusedInvalidArgumentJoinHost)
        case .invalidArgument(.joinWhat): Phrase(.refusedInvalidArgumentJoinWhat)
        case .invalidArgument(.name): Phrase(.refusedInvalidArgumentName)
        case .invalidArgument(.notText): Phrase(.refusedInvalidArgumentNotText)
        case .invalidArgument(.control): Phrase(.refusedInvalidArgumentControl)
        case .invalidArgument(.export): Phrase(.refusedInvalidArgumentExport)
        case .invalidArgument(.exportCost): Phrase(.refusedInvalidArgumentExportCost)
        case .invalidArgument(.appID): Phrase(.refusedInvalidArgumentAppID)
        case .invalidPasscode(nil, _): Phrase(.refusedInvalidPasscode)
        case .invalidPasscode(1, _): Phrase(.refusedInvalidPasscodeOne)
        case .invalidPasscode(.some(let left), _):
            Phrase(.refusedInvalidPasscodeLeft, .count(left))
        case .locked: Phrase(.refusedLocked)
        case .outOfMemory: Phrase(.refusedOutOfMemory)
        case .passcodeExpired: Phrase(.refusedPasscodeExpired)
        case .passcodeRequired: Phrase(.refusedPasscodeRequired)
        case .passcodeChanged: Phrase(.refusedPasscodeRequiredChanged)
        case .rule(let rule, _): rule.refusedText
        case .deleted: Phrase(.refusedDeleted)
        case .retryLimitReached(.erased): Phrase(.refusedRetryLimitReachedErased)
        case .retryLimitReached(.locked): Phrase(.refusedRetryLimitReached)
        case .throttled(let seconds): Phrase(.refusedThrottled, .phrase(.span(seconds)))
        case .policyDenies(let key): Phrase(.refusedPolicyDenies, .text(key))
        case .invalidAction(let action, let reason):
            Phrase(.refusedInvalidAction, .text(action.rawValue), .phrase(reason.phrase))
        case .cancelled: Phrase(.refusedCancelled)
        case .cancelledOpening: Phrase(.cancelOpenTitle)
        case .fingerprintUnavailable(let reason):
            Phrase(.refusedFingerprintUnavailable, .phrase(reason.phrase))
        case .fingerprintNoMatch(nil): Phrase(.refusedFingerprintNoMatch)
        case .fingerprintNoMatch(.some(let left)):
            Phrase(.refusedFingerprintNoMatchLeft, .count(left))
        case .notPermitted(.notYours): Phrase(.refusedNotPermitted)
        case .notPermitted(.ownerChanged): Phrase(.refusedNotPermittedOwnerChanged)
        case .notPermitted(.rootOnly): Phrase(.refusedNotPermittedRootOnly)
        case .notPermitted(.readOnly): Phrase(.refusedNotPermittedReadOnly)
        case .notPermitted(.ownerOnly): Phrase(.refusedNotPermittedOwnerOnly)
        case .serviceUnavailable(.version(let version)):
            Phrase(.refusedServiceUnavailableVersion, .count(version))
        case .serviceUnavailable(.directory): Phrase(.refusedServiceUnavailableDirectory)
        case .serviceUnavailable(.groups): Phrase(.refusedServiceUnavailableGroups)
        case .serviceUnavailable(.failed(let during, let storage)),
            .storageFailed(let during, let storage):
            Phrase(.refusedStorageFailed, .phrase(during.phrase), .phrase(storage.phrase))
        case .storeDamaged(let damage): Phrase(.refusedStoreDamaged, .phrase(damage.phrase))
        case .tooLarge(let limit): Phrase(.refusedTooLarge, .count(limit))
        case .quotaReached(let used, let limit):
            Phrase(
                .refusedTooLargeQuota, .text(ByteAmount.text(UInt64(clamping: used))),
                .text(ByteAmount.text(UInt64(clamping: limit))))
        case .protocolError: Phrase(.refusedProtocolError)
        case .busy: Phrase(.refusedBusy)
        case .tooManyWatch: Phrase(.refusedBusyWatch)
        case .changeRequired(let flow, let reason): Self.changeRequired(flow, reason)
        case .noMatch: Phrase(.refusedNoMatch)
        case .exportPassphrase(.wrong): Phrase(.refusedInvalidPasscodeExport)
        case .exportPassphrase(.short(let least)):
            Phrase(.refusedUnderMinLengthExport, .count(least))
        case .resetRequested: Phrase(.refusedResetRequested)
        case .skipped: Phrase(.refusedSkipped)
        case .addUser: Phrase(.refusedAddUser)
        case .switchUser(let name): Phrase(.refusedSwitchUser, .text(Text.clean(name)))
        case .recoveryKeyInvalid(.wrong): Phrase(.refusedRecoveryKeyInvalidWrong)
        case .recoveryKeyInvalid(.length): Phrase(.refusedRecoveryKeyInvalidLength)
        case .recoveryKeyInvalid(.group(let group)):
            Phrase(.refusedRecoveryKeyInvalidGroup, .count(group))
        case .recoveryKeyInvalid(.whole): Phrase(.refusedRecoveryKeyInvalidWhole)
        case .bundle(let reason): reason.phrase
        case .fetchFailed(let reason), .invitation(let reason): reason.phrase
        case .barred(let bar): bar.phrase
        case .wiped(nil): Phrase(.refusedWipedUnnamed)
        case .wiped(.some(let orderer)): Phrase(.refusedWiped, .text(orderer.name))
        case .policyBroken(let file, let line, "", let wrong, let right):
            Phrase(.refusedPolicyBroken, .text(file), .count(line), .text(wrong), .text(right))
        case .policyBroken(let file, let line, let key, let wrong, let right):
            Phrase(
                .refusedPolicyBrokenKey, .text(file), .count(line), .text(key), .text(wrong),
                .text(right))
        }
    }

    private static func changeRequired(_ flow: Flow, _ reason: DueReason) -> Phrase {
        switch reason {
        case .policy:
            switch flow {
            case .create, .createOfferingFingerprint: Phrase(.refusedChangeRequiredCreate)
            case .dropPasscode, .dropFingerprint, .dropBoth: Phrase(.refusedChangeRequiredTold)
            case .change, .announceFingerprint: Phrase(.refusedChangeRequiredPolicy)
            }
        case .migration: Phrase(.refusedChangeRequiredMigration)
        case .recovery: Phrase(.refusedChangeRequiredRecovery)
        case .expired: Phrase(.refusedChangeRequiredExpired)
        }
    }

    /// What to do about it; nil if there is nothing to do.
    package var hint: Phrase? {
        switch self {
        case .alreadyExists: Phrase(.hintAlreadyExists)
        case .doesNotExist(.store): Phrase(.hintDoesNotExistStore)
        case .doesNotExist(.record): Phrase(.hintDoesNotExistRecord)
        case .doesNotExist(.account): Phrase(.hintDoesNotExistAccount)
        case .doesNotExist(.passcode): Phrase(.hintDoesNotExistPasscode)
        case .doesNotExist(.recoveryKey): Phrase(.hintDoesNotExistRecoveryKey)
        case .doesNotExist(.finger): Phrase(.hintDoesNotExistFinger)
        case .doesNotExist(.reader): Phrase(.hintDoesNotExistReader)
        case .doesNotExist(.parent): Phrase(.hintDoesNotExistParent)
        case .doesNotExist(.group): Phrase(.hintDoesNotExistGroup)
        case .doesNotExist(.member): Phrase(.hintDoesNotExistMember)
        case .doesNotExist(.organisation): Phrase(.hintDoesNotExistOrganisation)
        case .bundle(let reason): reason.hint
        case .fetchFailed(let reason): reason.hint
        case .invitation(let reason): reason.hintToJoin
        case .invalidArgument(.joinLink), .invalidArgument(.joinHost), .invalidArgument(.joinWhat):
            Phrase(.hintJoinLink)
        case .invalidArgument(.joinVersion): Phrase(.hintJoinVersion)
        case .barred(let bar): bar.hint
        case .doesNotExist(.item), .doesNotExist(.collection): nil
        case .invalidPasscode(_, let forgotten): forgotten.hintAfterWrong
        case .locked: Phrase(.hintLocked)
        case .outOfMemory: Phrase(.hintOutOfMemory)
        case .passcodeExpired: Phrase(.hintPasscodeExpired)
        case .passcodeRequired: Phrase(.hintPasscodeRequired)
        case .passcodeChanged: Phrase(.hintPasscodeRequiredChanged)
        case .rule(.same, _): Phrase(.hintSameAsCurrent)
        case .rule(.notRun, _): Phrase(.hintRuleFailedFailed)
        case .rule: Phrase(.hintRules)
        case .deleted, .retryLimitReached(.erased), .wiped: Phrase(.hintDeleted)
        case .retryLimitReached(.locked(let forgotten)): forgotten.hintAtLimit
        case .policyDenies: Phrase(.hintPolicyDenies)
        case .invalidAction(_, .fingerprint(let reason)):
            reason.hint ?? Phrase(.hintInvalidAction)
        case .invalidAction(_, .tooManyStores), .invalidAction(_, .tooManyFollowers):
            Phrase(.hintTooManyStores)
        case .invalidAction(action: .hold, _): Phrase(.hintHold)
        case .invalidAction: Phrase(.hintInvalidAction)
        case .fingerprintUnavailable(let reason):
            reason.hint ?? Phrase(.hintFingerprintUnavailable)
        case .notPermitted(.ownerChanged): Phrase(.hintNotPermittedOwnerChanged)
        case .serviceUnavailable(.failed(_, .noSpace)): Phrase(.hintServiceUnavailableFull)
        case .serviceUnavailable(.failed(_, let storage)):
            storage.hint ?? Phrase(.hintServiceUnavailable)
        case .serviceUnavailable: Phrase(.hintServiceUnavailable)
        case .storeDamaged(let damage): damage.advice
        case .busy: Phrase(.hintBusy)
        case .tooManyWatch: Phrase(.hintBusyWatch)
        case .changeRequired: Phrase(.hintChangeRequired)
        case .noMatch: Phrase(.hintNoMatch)
        case .resetRequested: Phrase(.hintResetRequested)
        case .recoveryKeyInvalid: Phrase(.hintRecoveryKeyInvalid)
        case .policyBroken: Phrase(.hintPolicyBroken)
        case .storageFailed(_, let storage): storage.hint
        case .quotaReached: Phrase(.hintTooLargeQuota)
        case .exportPassphrase, .unknown, .dataType, .invalidArgument, .throttled, .cancelled,
            .cancelledOpening,
            .fingerprintNoMatch, .notPermitted(.notYours), .notPermitted(.rootOnly),
            .notPermitted(.readOnly),
            .notPermitted(.ownerOnly), .tooLarge,
            .protocolError, .skipped, .addUser, .switchUser:
            nil
        }
    }
}

extension Refusal.FingerprintReason {
    /// What helps against this reason alone; nil where the passcode is all that helps.
    package var hint: Phrase? {
        switch self {
        case .external: Phrase(.hintFingerprintUnavailableExternal)
        case .noReader: Phrase(.hintFingerprintUnavailableNoReader)
        case .notEnrolled: Phrase(.hintFingerprintUnavailableNotEnrolled)
        case .unknownPrint: Phrase(.hintFingerprintUnavailableNotEnrolled)
        case .moved: Phrase(.hintFingerprintUnavailableMoved)
        case .duplicate: Phrase(.hintFingerprintUnavailableDuplicate)
        case .full: Phrase(.hintFingerprintUnavailableFull)
        case .lid: Phrase(.hintFingerprintUnavailableLid)
        case .busy, .stopped: Phrase(.hintFingerprintUnavailableBusy)
        case .worker: Phrase(.hintFingerprintUnavailableWorker)
        case .removed: Phrase(.hintFingerprintUnavailableRemoved)
        case .noFinger: Phrase(.hintFingerprintUnavailableNoFinger)
        case .hot: Phrase(.hintFingerprintUnavailableHot)
        case .fault: Phrase(.hintFingerprintUnavailableFault)
        case .on, .off, .option, .remote, .elsewhere, .unknownSession, .policy, .policyUnknown,
            .due, .failures, .passcodeEvery, .notOpened, .retryLocked, .notSupported, .oneFinger:
            nil
        }
    }
}

extension Refusal.WayBack {
    fileprivate var hintAfterWrong: Phrase? {
        switch self {
        case .nothing: nil
        case .recover: Phrase(.hintInvalidPasscodeRecover)
        case .reset: Phrase(.hintInvalidPasscodeReset)
        case .resetByRoot: Phrase(.hintInvalidPasscodeRoot)
        }
    }

    fileprivate var hintAtLimit: Phrase {
        switch self {
        case .recover: Phrase(.hintRetryLimitReached)
        case .reset: Phrase(.hintRetryLimitReachedReset)
        case .nothing: Phrase(.hintRetryLimitReachedClear)
        case .resetByRoot: Phrase(.hintRetryLimitReachedRoot)
        }
    }
}
