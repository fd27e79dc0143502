import Policy
import Wire

@testable import Words

/// Every message and every refusal, for the tests that look at all of them. A text that none of
/// these uses makes a test fail, so that a new case is listed here.
enum Wording {
    private static let rules: [Refusal.Rule] =
        [
            .minLength(8), .custom(name: "town", display: "no town"),
            .custom(name: "x", display: ""),
            .dictionary(name: "words", display: "", says: "it is a word"),
            .dictionary(name: "words", display: "no word", says: "it is a word"), .digitsOnly,
            .digit, .upper, .lower, .special,
            .groups(3), .unique(5), .sequence, .same, .history(4),
        ] + RuleFault.allCases.map { .notRun(name: "town", $0) }

    private static let storages: [Refusal.DiskFault] = [
        .noSpace, .noDescriptors, .readOnly, .held, .collision, .value, .error(5),
        .system("open: no"),
    ]

    private static let damages: [Refusal.Damage] = [
        .fileMissing, .machineKeyMissing, .machineKeyUnreadable, .machineKey, .foreignMachineKey,
        .slotsMissing, .slotsUnreadable, .slotsSize, .slotsEmpty, .slotsBlock(3), .slotsReadBack(4),
        .recordsMissing, .recordsFile, .recordsJournal, .recordsHead, .recordsNode(1),
        .recordsBucket(2), .recordsRecord(3), .recordsPages, .memberFile, .exportOpensNot,
        .exportChanged,
        .exportCut, .exportLayout, .system("read: no"), .unknown,
    ]

    private static let actionReasons: [Refusal.ActionReason] =
        [
            .noStore, .erased, .retryLocked, .damaged, .ownerChanged, .lockedAlready, .followsLogin,
            .passcodeOff, .passcodeOn, .terminalOnly, .notFollowing, .tooManyStores(16), .noSuchKey,
            .tooManyFollowers(64), .follows("default"), .parentWithoutPasscode("default"),
            .isDefault, .lastWayIn, .membershipPending, .membershipLost, .memberByGroup,
            .sameNumber("alice"),
            .tooManyMembers(64), .notShared, .shared,
            .isOwner, .notYetMember,
            .holdMost(seconds: 28_800),
            .policy(key: "AllowNoPasscode"), .policyBroken, .noPasscodeMode, .changeDue,
            .passcodeFirst,
        ] + Refusal.FingerprintReason.allCases.map { .fingerprint($0) }

    static let refusals: [Refusal] = plain + reasoned

    private static let orderer = Refusal.Orderer(name: "example.org", contact: "help@example.org")
    private static let nobody = Refusal.Orderer(name: "example.org", contact: "")

    private static let plain: [Refusal] = [
        .unknown, .alreadyExists, .dataType, .invalidPasscode(left: nil), .invalidPasscode(left: 1),
        .invalidPasscode(left: 7), .locked, .outOfMemory, .passcodeExpired, .passcodeRequired,
        .passcodeChanged,
        .deleted, .retryLimitReached(.erased), .wiped(by: nil), .wiped(by: orderer),
        .barred(.ordered(orderer)), .barred(.ordered(nobody)), .barred(.offline(days: 1, orderer)),
        .barred(.offline(days: 9, orderer)), .barred(.offline(days: 9, nobody)),
        .barred(.denied(Array("terms of use".utf8), orderer)),
        .throttled(seconds: 3), .policyDenies(key: "AllowNoPasscode"), .cancelled,
        .cancelledOpening, .fingerprintNoMatch(left: nil), .fingerprintNoMatch(left: 2),
        .tooLarge(limit: 9), .quotaReached(used: 9 << 20, limit: 1 << 20), .protocolError, .busy,
        .tooManyWatch,
        .noMatch, .exportPassphrase(.wrong), .exportPassphrase(.short(least: 8)), .resetRequested,
        .skipped, .addUser, .switchUser(to: Array("work".utf8)),
        .policyBroken(file: "f", line: 1, key: "k", wrong: "w", right: "r"),
        .policyBroken(file: "f", line: 1, key: "", wrong: "w", right: "r"),
    ]

    private static var reasoned: [Refusal] {
        var all: [Refusal] = rules.map { .rule($0, unmet: ["minLength", "digit"]) }
        all += Refusal.WayBack.allCases.map { .invalidPasscode(left: 3, $0) }
        all += Refusal.WayBack.allCases.map { .retryLimitReached(.locked($0)) }
        all += Refusal.Thing.allCases.map { .doesNotExist($0) }
        all += Refusal.Argument.allCases.map { .invalidArgument($0) }
        all += Refusal.Action.allCases.map { .invalidAction(action: $0, reason: .passcodeOff) }
        all += [.invalidAction(action: .hold, reason: .holdMost(seconds: 7200))]
        all += actionReasons.map { .invalidAction(action: .createPasscode, reason: $0) }
        all += Refusal.FingerprintReason.allCases.map { .fingerprintUnavailable($0) }
        all += Refusal.Why.allCases.map { .notPermitted($0) }
        all += [.serviceUnavailable(.version(1)), .serviceUnavailable(.directory)]
        all += [.serviceUnavailable(.groups)]
        all += [.serviceUnavailable(.failed(.count, .noSpace))]
        all += damages.map { .storeDamaged($0) }
        all += DueReason.allCases.flatMap { reason in
            Flow.allCases.map { .changeRequired($0, reason) }
        }
        all += [.recoveryKeyInvalid(.wrong), .recoveryKeyInvalid(.length)]
        all += [.recoveryKeyInvalid(.whole), .recoveryKeyInvalid(.group(2))]
        all += Refusal.During.allCases.map { .storageFailed($0, .readOnly) }
        all += storages.map { .storageFailed(.store, $0) }
        all += bundles.map { .bundle($0) }
        all += fetches.map { .fetchFailed($0) } + fetches.map { .invitation($0) }
        return all
    }

    private static let bundles: [Refusal.BundleReason] = [
        .nothing, .tooLong, .notWhole(line: 2), .manifest(line: 3, wrong: "w"),
        .join(line: 4, wrong: "w"), .joinOther(host: "h"), .part("policy"), .changed("orders"),
        .kept("policy.bundle"), .orders(line: 2, wrong: "w"), .terms(line: 2, wrong: "w"),
        .signIn(line: 2, wrong: "w"),
        .ordersAhead(named: 9, version: 8),
        .ordersApart, .signaturesToWipe(found: 1, needed: 2), .ordersOlder(offered: 1, present: 2),
        .otherOrganisation("example.org"), .noOrdersApart, .signatures(found: 1, needed: 2),
        .signaturesOfNew(found: 0, needed: 1), .older(offered: 1, present: 2), .sameVersion(3),
        .stepTooWide(offered: 1 << 30, present: 1), .expired,
    ]

    private static let fetches: [Refusal.FetchReason] =
        [
            .nowhere, .noWorker, .workerEnded, .workerLied, .noBundle(host: "h"),
            .noInvitation(host: "h"), .elsewhere(host: "h"),
        ]
        + [.status(host: "h", 404)]
        + FetchAnswer.Outcome.allCases.compactMap { Refusal.FetchReason($0, host: "h") }

    /// What is said while a reader waits, to people who type at a terminal or at a display.
    static let scans: [Message] = FingerprintReader.Scan.allCases.flatMap { scan in
        Finger.allCases.flatMap {
            [Message.fingerEnrollPlace(scan, $0), .fingerEnrollPlaceEnter(scan, $0)]
        } + FingerprintScan.Retry.allCases.map { .fingerRetry(scan, $0) } + [
            .fingerprintPlace(scan), .fingerPlace(scan, service: nil),
            .fingerPlaceOrType(scan),
            .fingerPlace(scan, service: Array("sudo".utf8)),
            .fingerPlaceOrWait(scan, service: Array("lightdm".utf8), seconds: 8),
            .fingerStage(scan, 2, of: 5), .fingerStage(scan, 5, of: 5),
        ]
    }

    static let messages: [Message] = {
        var all: [Message] = [
            .prompt, .promptOrPassword, .promptPlain, .promptCurrent, .retry(left: nil),
            .retry(left: 1),
            .retry(left: 5), .retryOrPassword(left: nil), .retryOrPassword(left: 4), .lastErases,
            .lastLocks, .erased, .retryLocked(.recover), .retryLocked(.reset),
            .throttled(seconds: 4),
            .throttled(seconds: 900), .throttled(seconds: 90_000), .throttled(seconds: 900_000),
            .forgotten, .forgottenRecoverable, .forgottenInReset, .mayCancel, .opened, .openAlready,
            .lockedNow, .fleetJoined(organisation: Array("o".utf8)),
            .fleetTaken(version: 2, organisation: Array("o".utf8), isNew: true),
            .fleetTaken(version: 2, organisation: Array("o".utf8), isNew: false),
            .fleetLeft(organisation: Array("o".utf8)), .fleetLeft(organisation: nil), .renamed,
            .fleetFetched(policy: 2, orders: 3, organisation: Array("o".utf8)),
            .fleetUnchanged(organisation: Array("o".utf8)),
            .fleetReported(organisation: Array("o".utf8)), .recoveryDeleted,
            .recoveredShared, .recoveredSharedAlone,
            .createdFollowing, .createdShared, .shared,
            .sharedPending, .handOnOffered(store: Array("alice/team".utf8), to: Array("bob".utf8)),
            .tookOver, .tookOverWithRecovery, .sharedAgain,
            .unshared, .unsharedWithNewKey, .unsharedButGroup,
            .unsharedKeyDue(.locked),
            .cancelledChange, .rules(rules), .chooseNew, .confirmNew, .loginPassword, .maySkip,
            .differ, .missing(rules), .created, .createdWithout, .changed, .turnedOff, .turnedOn,
            .following,
            .reset, .resetNotAllowed, .resetNotAsked, .cleared, .moved, .passwordRules(rules),
            .newPassword, .confirmPassword,
            .passwordsDiffer, .fingerprintAllowed,
            .fingerprintOffer, .fingerprintWho, .fingerprintWhoBody, .fingerprintLearnMore,
            .fingerprintOff,
            .onboardTitle, .onboardBody, .onboardOffer, .onboardFollow, .onboardLater,
            .recoveryPrompt, .recoveryKeep, .recoveryMade, .recovered,
            .recoveryOffer, .recoveryLater, .recoveryAskedAgain, .recoveryRevoked,
            .storeDamaged, .outOfUse(.barred(.ordered(orderer))), .logRepaired, .changesLost,
            .lossEnd, .lossEnded,
            .storeMended(withoutRecovery: false),
            .storeMended(withoutRecovery: true), .drift, .former, .driftElsewhere,
            .present, .driftMended, .passphrase, .newPassphrase, .confirmPassphrase,
            .imported(count: 3, without: 0), .imported(count: 3, without: 2),
            .recordsMended(found: 0, removed: 2, accepted: 3),
            .recordsMended(found: 4, removed: 2, accepted: 3), .checked(count: 3),
            .held(seconds: 900),
            .resumed,
            .fingerWaitOver, .fingerNoMatchAgain(left: 3), .fingerNoMatch(left: 2),
            .fingerNoMatch(left: 0), .fingerVerified,
            .keyringForgotten, .keyringNotKept,
        ]
        all += Finger.allCases.flatMap {
            [
                .fingerEnrolled($0), .fingerComing($0), .fingerDeleted($0), .fingerKnown($0),
                .fingerFormerGone($0),
            ]
        }
        all += [
            .fingerKnownElsewhere, .fingerClear(reader: Array("Reader".utf8)), .fingerClearUnknown,
            .fingerClearOurs(account: Array("alice".utf8), .leftThumb),
            .fingerClearForeign(count: 3), .fingerClearAsk, .fingerClearChanged,
            .fingerCleared,
        ]
        all += scans
        all += Refusal.FingerprintReason.allCases.map { .fingerUnavailable($0) }
        for orPassword in [false, true] {
            all += [.promptLast(orPassword: orPassword, erases: true)]
            all += [.promptLast(orPassword: orPassword, erases: false)]
        }
        all += rules.map { .unmet($0) }
        for notice in Message.Notice.allCases {
            all += notice.parts.map { .notice(notice, $0) }
            all += [.noticeEnd(notice), .noticeButton(notice)]
        }
        all += Button.allCases.map { .button($0) }
        all += Sheet.Title.allCases.map { .title($0) }
        all.append(.exportHint(least: 8))
        all += [
            .pageEnd(.goOn),
            .welcomeManaged(organisation: "example.org"), .welcomeWay, .welcomeLogin, .welcomeOwn,
            .welcomeNone, .welcomeOwnOffer, .welcomeReady, .welcomeSet, .welcomeStatus,
            .welcomeNothing, .peopleHeading, .peopleHint, .peopleQuestion(of: 3), .peopleOpen,
            .peopleLocked, .peopleSwitched(store: Array("work".utf8)), .peopleLogin, .peopleDamaged,
            .peopleErased, .peopleNoTries, .peopleBarred, .peopleAddHeading, .peopleAddHint,
            .peopleFinger, .peopleFingerOn(store: Array("work".utf8)),
            .peopleFingerOff(store: Array("work".utf8)), .peopleAddName, .peopleAddTaken,
            .peopleAddWrong,
            .peopleRemoveHeading(store: Array("work".utf8)), .peopleRemoveHint,
            .peopleRemoveAlong(stores: [Array("mail".utf8), Array("notes".utf8)]),
            .peopleRemoveShared, .peopleRemoveName(store: Array("work".utf8)), .peopleRemoveWrong,
            .peopleRemoved(store: Array("work".utf8)),
            .peopleRemovedLast(store: Array("work".utf8)),
            .joinHeading, .joinHint, .joinField, .joinConfirm,
            .joinCalls(organisation: "example.org", host: "fleet.example.org"),
            .joinFound(domain: "example.org"), .joinRules, .joinOrders, .joinFingerprint,
            .joinAsks(host: "example.org"), .joinQuestion, .joinLater, .joinScan, .joinScanHint,
            .joinAbout, .joinAboutStores,
            .joinAboutLeave, .joinNotAllowed, .joinNotAsked,
            .signInBody(organisation: "example.org", host: "id.example.org"),
            .signInWeb(organisation: "example.org"), .signInMissing, .signInNotYet,
            .signInRefused(organisation: "example.org"), .signInSays("no"),
            .signInWebCode("BCDF-GHJK"),
            .createHeading, .written(Array("a paper".utf8)), .consentRequired, .consentOptional,
            .consentHeading(organisation: "example.org"), .matchNamed(store: Array("mail".utf8)),
            .consentsDone, .consentsNone,
            .consentQuestion(title: Array("terms of use".utf8)),
        ]
        return all + Message.Due.allCases.map { .due($0) }
    }()
}
