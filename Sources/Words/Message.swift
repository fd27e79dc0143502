import Wire

/// Every line that a person reads in a conversation. TextID.swift has their ids and their English.
package enum Message: Sendable {
    // MARK: the passcode is asked for

    case prompt
    case promptOrPassword
    /// In pam_unix's own words.
    case promptPlain
    case promptLast(orPassword: Bool, erases: Bool)
    case promptCurrent
    case retry(left: Int?)
    case retryOrPassword(left: Int?)
    case lastErases
    case lastLocks
    case erased
    case retryLocked(Refusal.WayBack)
    case throttled(seconds: Int)
    /// For the policy key ShowReset: what to do if the passcode is forgotten.
    case forgotten
    /// The same where there is a recovery key, and in a reset.
    case forgottenRecoverable
    case forgottenInReset
    /// For the policy key ShowCancel.
    case mayCancel
    case opened
    case openAlready
    case lockedNow
    case renamed
    case fleetJoined(organisation: [UInt8])
    case fleetTaken(version: UInt64, organisation: [UInt8], isNew: Bool)
    /// Nil where what was kept of it does not tell any more which one it was.
    case fleetLeft(organisation: [UInt8]?)
    /// Both are new.
    case fleetFetched(policy: UInt64, orders: UInt64, organisation: [UInt8])
    case fleetUnchanged(organisation: [UInt8])
    /// There was nothing to fetch.
    case fleetReported(organisation: [UInt8])
    case createdShared
    case shared
    case sharedPending
    case handOnOffered(store: [UInt8], to: [UInt8])
    case tookOver
    case tookOverWithRecovery
    case sharedAgain
    case unshared
    case unsharedWithNewKey
    case unsharedButGroup
    case unsharedKeyDue(Refusal)
    case recoveryDeleted
    case recoveredShared
    case recoveredSharedAlone
    case cancelledChange

    // MARK: a new passcode

    case rules([Refusal.Rule])
    case chooseNew
    case confirmNew
    case loginPassword
    case maySkip
    case differ
    case unmet(Refusal.Rule)
    /// What was typed cannot be a passcode.
    case refused(Refusal)
    /// All rules that a new passcode does not meet.
    case missing([Refusal.Rule])
    case created
    case createdWithout
    case createdFollowing
    case changed
    case turnedOff
    case turnedOn
    /// The login password opens the store from now on.
    case following
    case reset
    /// polkit refuses a reset without the passcode, or does not answer.
    case resetNotAllowed
    case resetNotAsked
    case cleared
    case moved
    case passwordRules([Refusal.Rule])
    case newPassword
    case confirmPassword
    case passwordsDiffer

    // MARK: what is due

    /// A line of a notice.
    case notice(Notice, Notice.Part)
    /// The end of a notice: the person presses Enter.
    case noticeEnd(Notice)
    case noticeButton(Notice)
    // MARK: screens

    case button(Button)
    /// The end of a page: the person presses Enter.
    case pageEnd(Button)
    case createHeading
    case welcomeManaged(organisation: String)
    case welcomeWay
    case welcomeLogin
    case welcomeOwn
    case welcomeNone
    case welcomeOwnOffer
    case welcomeReady
    case welcomeSet
    case welcomeStatus
    case welcomeNothing
    case joinHeading
    case joinHint
    case joinField
    case joinConfirm
    case joinCalls(organisation: String, host: String)
    /// By somebody's e-mail address.
    case joinFound(domain: String)
    case joinRules
    case joinOrders
    case joinFingerprint
    case joinAsks(host: String)
    case joinQuestion
    case joinScan
    case joinScanHint
    case joinAbout
    case joinAboutStores
    case joinAboutLeave
    case joinNotAllowed
    case joinNotAsked
    case signInBody(organisation: String, host: String)
    case signInWeb(organisation: String)
    case signInWebCode(String)
    case signInRefused(organisation: String)
    case signInSays(String)
    case signInMissing
    case signInNotYet
    case joinLater
    case peopleHeading
    case peopleHint
    case peopleQuestion(of: Int)
    /// What stands above a screen.
    case title(Sheet.Title)
    /// Above the question for the passcode of one of several stores.
    case matchNamed(store: [UInt8])
    case exportHint(least: Int)
    case peopleOpen
    case peopleLocked
    case peopleLogin
    case peopleDamaged
    case peopleErased
    case peopleNoTries
    case peopleBarred
    case peopleFinger
    case peopleFingerOn(store: [UInt8])
    case peopleFingerOff(store: [UInt8])
    case peopleAddHeading
    case peopleAddHint
    case peopleAddName
    case peopleAddTaken
    case peopleAddWrong
    case peopleRemoveHeading(store: [UInt8])
    case peopleRemoveHint
    case peopleRemoveAlong(stores: [[UInt8]])
    case peopleRemoveShared
    case peopleRemoveName(store: [UInt8])
    case peopleRemoveWrong
    case peopleRemoved(store: [UInt8])
    case peopleRemovedLast(store: [UInt8])
    case peopleSwitched(store: [UInt8])
    case consentHeading(organisation: String)
    case consentRequired
    case consentOptional
    case consentQuestion(title: [UInt8])
    case consentsDone
    case consentsNone
    /// An organisation's words.
    case written([UInt8])
    /// The one line at a service that cannot ask.
    case due(Due)

    // MARK: fingerprints

    case fingerprintAllowed
    case fingerprintOffer
    case fingerprintWho
    case fingerprintWhoBody
    case fingerprintLearnMore
    case fingerprintNotNow
    case fingerprintPlace(FingerprintReader.Scan)
    case fingerprintOff
    /// `service` is nil on a terminal, where the person knows what they asked for.
    case fingerPlace(FingerprintReader.Scan, service: [UInt8]?)
    /// In a dialog, which takes the passcode while the reader waits.
    case fingerPlaceOrType(FingerprintReader.Scan)
    /// At a graphical login, where the module cannot see keys.
    case fingerPlaceOrWait(FingerprintReader.Scan, service: [UInt8], seconds: Int)
    case fingerWaitOver
    case fingerEnrollPlace(FingerprintReader.Scan, Finger)
    /// At a login in text mode. The person did not come to enrol a finger, so Enter goes on without
    /// one.
    case fingerEnrollPlaceEnter(FingerprintReader.Scan, Finger)
    /// How far an enrolment is, and what comes next.
    case fingerStage(FingerprintReader.Scan, UInt8, of: UInt8)
    case fingerRetry(FingerprintReader.Scan, FingerprintScan.Retry)
    case fingerNoMatchAgain(left: Int)
    case fingerNoMatch(left: Int)
    case fingerUnavailable(Refusal.FingerprintReason)
    case fingerEnrolled(Finger)
    /// The touch before an enrolment matched a finger that is enrolled.
    case fingerKnown(Finger)
    case fingerKnownElsewhere
    /// The former print was deleted, and then the enrolment that was to replace it failed.
    case fingerFormerGone(Finger)
    case fingerComing(Finger)
    case fingerVerified
    case fingerClear(reader: [UInt8])
    case fingerClearOurs(account: [UInt8], Finger)
    case fingerClearForeign(count: Int)
    case fingerClearUnknown
    case fingerClearAsk
    case fingerClearChanged
    case fingerCleared
    case fingerDeleted(Finger)
    case keyringForgotten
    case keyringNotKept

    // MARK: the first store, the recovery key, the login password, files

    case onboardTitle
    case onboardBody
    case onboardOffer
    case onboardFollow
    case onboardLater
    case recoveryPrompt
    case recoveryKeep
    case recoveryMade
    case recovered
    case recoveryOffer
    case recoveryLater
    case recoveryAskedAgain
    case recoveryRevoked
    case storeDamaged
    /// An organisation keeps it shut, or has wiped it: why, and what helps.
    case outOfUse(Refusal)
    case storeMended(withoutRecovery: Bool)
    case logRepaired
    case changesLost
    case lossEnd
    case lossEnded
    case drift
    case former
    case driftElsewhere
    case present
    case driftMended
    case passphrase
    case newPassphrase
    case confirmPassphrase
    /// `without`: how many records are not in the file, because they were damaged when it was made.
    case imported(count: UInt64, without: UInt64)
    case recordsMended(found: Int, removed: Int, accepted: Int)
    case held(seconds: Int)
    case resumed
    case checked(count: UInt64)

    /// What a person is told before a flow that is due.
    package enum Notice: CaseIterable, Sendable {
        case policyChanged
        case fingerprintOff
        case passcodeOff
        case passcodeAndFingerprintOff
        case migration
        case expired
        case recovered

        package enum Part: CaseIterable, Sendable { case title, headline, body }
    }

    /// What is due and waits for a service that can ask, or for the CLI.
    package enum Due: CaseIterable, Sendable {
        case policy, create, migration, recovery, expired
        /// Only a notice has to be shown.
        case told
    }

    package var phrase: Phrase {
        switch self {
        case .prompt: Phrase(.matchPrompt)
        case .promptOrPassword: Phrase(.matchPromptOrPassword)
        case .promptPlain: Phrase(.matchPromptPlain)
        case .promptLast(let orPassword, let erases):
            switch (orPassword, erases) {
            case (false, true): Phrase(.matchPromptLastErase)
            case (false, false): Phrase(.matchPromptLastLock)
            case (true, true): Phrase(.matchPromptOrPasswordLastErase)
            case (true, false): Phrase(.matchPromptOrPasswordLastLock)
            }
        case .promptCurrent: Phrase(.matchCurrent)
        case .retry(let left):
            switch left {
            case nil: Phrase(.matchRetry)
            case 1: Phrase(.matchRetryOne)
            case .some(let count): Phrase(.matchRetryLeft, .count(count))
            }
        case .retryOrPassword(let left):
            switch left {
            case nil: Phrase(.matchOrPassword)
            case .some(let count): Phrase(.matchOrPasswordLeft, .count(count))
            }
        case .lastErases: Phrase(.matchLast)
        case .lastLocks: Phrase(.matchLastLock)
        case .erased: Phrase(.matchErased)
        case .retryLocked(.recover): Phrase(.matchLocked)
        case .retryLocked: Phrase(.matchLockedKeyless)
        case .throttled(let seconds): Phrase(.matchThrottled, .phrase(.span(seconds)))
        case .forgotten: Phrase(.matchReset)
        case .forgottenRecoverable: Phrase(.matchRecover)
        case .forgottenInReset: Phrase(.matchResetRoot)
        case .mayCancel: Phrase(.matchCancel)
        case .opened: Phrase(.matchDone)
        case .openAlready: Phrase(.matchOpen)
        case .lockedNow: Phrase(.lockDone)
        case .renamed: Phrase(.renamed)
        case .fleetJoined(let name): Phrase(.fleetJoined, .text(Text.clean(name)))
        case .fleetTaken(let version, let name, let isNew):
            Phrase(
                isNew ? .fleetTaken : .fleetPresent, .text(String(version)),
                .text(Text.clean(name)))
        case .fleetLeft(let name?): Phrase(.fleetLeft, .text(Text.clean(name)))
        case .fleetLeft(nil): Phrase(.fleetLeftUnknown)
        case .fleetFetched(let policy, let orders, let name):
            Phrase(
                .fleetFetched, .count(policy), .text(Text.clean(name)), .count(orders))
        case .fleetUnchanged(let name): Phrase(.fleetUnchanged, .text(Text.clean(name)))
        case .fleetReported(let name): Phrase(.fleetReported, .text(Text.clean(name)))
        case .createdShared: Phrase(.createDoneShared)
        case .shared: Phrase(.sharedDone)
        case .sharedPending: Phrase(.sharedPending)
        case .handOnOffered(let store, let person):
            Phrase(.sharedOffered, .text(Text.clean(store)), .text(Text.clean(person)))
        case .tookOver: Phrase(.sharedTaken)
        case .tookOverWithRecovery: Phrase(.sharedTakenRecovery)
        case .sharedAgain: Phrase(.sharedAgain)
        case .unshared: Phrase(.unsharedDone)
        case .unsharedWithNewKey: Phrase(.unsharedNewKey)
        case .unsharedButGroup: Phrase(.unsharedButGroup)
        case .unsharedKeyDue(let refusal): Phrase(.unsharedKeyDue, .phrase(refusal.message))
        case .recoveryDeleted: Phrase(.recoveryDeleted)
        case .recoveredShared: Phrase(.recoveredShared)
        case .recoveredSharedAlone: Phrase(.recoveredSharedAlone)
        case .cancelledChange: Phrase(.cancelChangeTitle)

        case .rules(let rules): Phrase(.createRules, .phrases(rules.map(\.wish)))
        case .chooseNew: Phrase(.createChoose)
        case .confirmNew: Phrase(.createConfirm)
        case .loginPassword: Phrase(.createLoginPassword)
        case .maySkip: Phrase(.createSkip)
        case .differ: Phrase(.createDiffer)
        case .unmet(let rule): rule.unmetLine
        case .refused(let refusal): refusal.message
        case .missing(let rules): Phrase(.createUnmet, .phrases(rules.map(\.wish)))
        case .created, .turnedOn: Phrase(.createDone)
        case .createdFollowing: Phrase(.createDoneFollowing)
        case .createdWithout: Phrase(.createDoneNone)
        case .changed: Phrase(.changeDone)
        case .turnedOff: Phrase(.offDone)
        case .reset: Phrase(.resetDone)
        case .resetNotAllowed: Phrase(.resetNotAllowed)
        case .resetNotAsked: Phrase(.resetNotAsked)
        case .cleared: Phrase(.triesDone)
        case .moved: Phrase(.chownDone)
        case .passwordRules(let rules): Phrase(.passwordRules, .phrases(rules.map(\.wish)))
        case .newPassword: Phrase(.passwordChoose)
        case .confirmPassword: Phrase(.passwordConfirm)
        case .passwordsDiffer: Phrase(.passwordDiffer)

        case .notice(let notice, let part): Phrase(notice.text(part))
        case .noticeEnd(let notice): Phrase(.noticeEnter, .phrase(Phrase(notice.button)))
        case .noticeButton(let notice): Phrase(notice.button)
        case .button(let button): Phrase(button.text)
        case .pageEnd(let button): Phrase(.noticeEnter, .phrase(Phrase(button.text)))
        case .createHeading: Phrase(.createHeading)
        case .welcomeManaged(let name):
            Phrase(.welcomeManaged, .text(Text.clean(Array(name.utf8))))
        case .welcomeWay: Phrase(.welcomeWay)
        case .welcomeLogin: Phrase(.welcomeLogin)
        case .welcomeOwn: Phrase(.welcomeOwn)
        case .welcomeNone: Phrase(.welcomeNone)
        case .welcomeOwnOffer: Phrase(.welcomeOwnOffer)
        case .welcomeReady: Phrase(.welcomeReady)
        case .welcomeSet: Phrase(.welcomeSet)
        case .welcomeStatus: Phrase(.welcomeStatus)
        case .welcomeNothing: Phrase(.welcomeNothing)
        case .joinHeading: Phrase(.joinHeading)
        case .joinHint: Phrase(.joinHint)
        case .joinField: Phrase(.joinField)
        case .joinConfirm: Phrase(.joinConfirm)
        case .joinCalls(let name, let host):
            Phrase(.joinCalls, .text(Text.argument(name)), .text(host))
        case .joinFound(let domain): Phrase(.joinFound, .text(domain))
        case .joinRules: Phrase(.joinRules)
        case .joinOrders: Phrase(.joinOrders)
        case .joinFingerprint: Phrase(.joinFingerprint)
        case .joinAsks(let host): Phrase(.joinAsks, .text(host))
        case .joinQuestion: Phrase(.joinQuestion)
        case .joinScan: Phrase(.joinScan)
        case .joinScanHint: Phrase(.joinScanHint)
        case .joinAbout: Phrase(.joinAbout)
        case .joinAboutStores: Phrase(.joinAboutStores)
        case .joinAboutLeave: Phrase(.joinAboutLeave)
        case .joinNotAllowed: Phrase(.joinNotAllowed)
        case .joinNotAsked: Phrase(.joinNotAsked)
        case .signInBody(let name, let host):
            Phrase(.signInBody, .text(Text.argument(name)), .text(host))
        case .signInWeb(let name): Phrase(.signInWeb, .text(Text.argument(name)))
        case .signInWebCode(let code): Phrase(.signInWebCode, .text(code))
        case .signInRefused(let name): Phrase(.signInRefused, .text(Text.argument(name)))
        case .signInSays(let text): Phrase(.signInSays, .text(text))
        case .signInMissing: Phrase(.signInMissing)
        case .signInNotYet: Phrase(.signInNotYet)
        case .joinLater: Phrase(.joinLater)
        case .peopleHeading: Phrase(.peopleHeading)
        case .peopleHint: Phrase(.peopleHint)
        case .title(let title): Phrase(title.text)
        case .matchNamed(let store): Phrase(.matchNamed, .text(Text.clean(store)))
        case .exportHint(let least): Phrase(.exportHint, .text(String(least)))
        case .peopleQuestion(let count): Phrase(.peopleQuestion, .text(String(count)))
        case .peopleOpen: Phrase(.peopleOpen)
        case .peopleLocked: Phrase(.peopleLocked)
        case .peopleLogin: Phrase(.peopleLogin)
        case .peopleDamaged: Phrase(.peopleDamaged)
        case .peopleErased: Phrase(.peopleErased)
        case .peopleNoTries: Phrase(.peopleNoTries)
        case .peopleBarred: Phrase(.peopleBarred)
        case .peopleFinger: Phrase(.peopleFinger)
        case .peopleFingerOn(let name): Phrase(.peopleFingerOn, .text(Text.clean(name)))
        case .peopleFingerOff(let name): Phrase(.peopleFingerOff, .text(Text.clean(name)))
        case .peopleAddHeading: Phrase(.peopleAddHeading)
        case .peopleAddHint: Phrase(.peopleAddHint)
        case .peopleAddName: Phrase(.peopleAddName)
        case .peopleAddTaken: Phrase(.peopleAddTaken)
        case .peopleAddWrong: Phrase(.peopleAddWrong)
        case .peopleRemoveHeading(let name):
            Phrase(.peopleRemoveHeading, .text(Text.clean(name)))
        case .peopleRemoveHint: Phrase(.peopleRemoveHint)
        case .peopleRemoveAlong(let names):
            Phrase(.peopleRemoveAlong, .text(names.map(Text.clean).joined(separator: ", ")))
        case .peopleRemoveShared: Phrase(.peopleRemoveShared)
        case .peopleRemoveName(let name): Phrase(.peopleRemoveName, .text(Text.clean(name)))
        case .peopleRemoveWrong: Phrase(.peopleRemoveWrong)
        case .peopleRemoved(let name): Phrase(.peopleRemoved, .text(Text.clean(name)))
        case .peopleRemovedLast(let name): Phrase(.peopleRemovedLast, .text(Text.clean(name)))
        case .peopleSwitched(let name): Phrase(.peopleSwitched, .text(Text.clean(name)))
        case .consentHeading(let name):
            Phrase(.consentHeading, .text(Text.clean(Array(name.utf8))))
        case .consentRequired: Phrase(.consentRequired)
        case .consentOptional: Phrase(.consentOptional)
        case .consentQuestion(let title):
            Phrase(.consentQuestion, .written(String(decoding: title, as: UTF8.self)))
        case .consentsDone: Phrase(.consentsDone)
        case .consentsNone: Phrase(.consentsNone)
        case .written(let text):
            Phrase(.written, .written(String(decoding: text, as: UTF8.self)))
        case .due(let due): Phrase(due.text)

        case .fingerprintAllowed: Phrase(.fingerprintAllowed)
        case .fingerprintOffer: Phrase(.fingerprintOffer)
        case .fingerprintWho: Phrase(.fingerprintWho)
        case .fingerprintWhoBody: Phrase(.fingerprintWhoBody)
        case .fingerprintLearnMore: Phrase(.fingerprintLearnMore)
        case .fingerprintNotNow: Phrase(.fingerprintNotNow)
        case .fingerprintPlace(.press): Phrase(.fingerprintPlace)
        case .fingerprintPlace(.swipe): Phrase(.fingerprintSwipe)
        case .fingerprintOff: Phrase(.fingerprintOff)
        case .fingerPlace(.press, nil): Phrase(.fingerprintPlaceEnter)
        case .fingerPlace(.swipe, nil): Phrase(.fingerprintSwipeEnter)
        case .fingerPlace(.press, .some(let service)):
            Phrase(.fingerprintPlaceService, .text(Text.clean(service)))
        case .fingerPlace(.swipe, .some(let service)):
            Phrase(.fingerprintSwipeService, .text(Text.clean(service)))
        case .fingerPlaceOrWait(.press, let service, let seconds):
            Phrase(.fingerprintPlaceWait, .text(Text.clean(service)), .count(seconds))
        case .fingerPlaceOrWait(.swipe, let service, let seconds):
            Phrase(.fingerprintSwipeWait, .text(Text.clean(service)), .count(seconds))
        case .fingerPlaceOrType(.press): Phrase(.fingerprintPlaceType)
        case .fingerPlaceOrType(.swipe): Phrase(.fingerprintSwipeType)
        case .fingerWaitOver: Phrase(.fingerprintWaitOver)
        case .fingerEnrollPlaceEnter(.press, let finger):
            Phrase(.fingerprintPlaceEnrollEnter, .phrase(finger.phrase))
        case .fingerEnrollPlaceEnter(.swipe, let finger):
            Phrase(.fingerprintSwipeEnrollEnter, .phrase(finger.phrase))
        case .fingerEnrollPlace(.press, let finger):
            Phrase(.fingerprintPlaceEnroll, .phrase(finger.phrase))
        case .fingerEnrollPlace(.swipe, let finger):
            Phrase(.fingerprintSwipeEnroll, .phrase(finger.phrase))
        case .fingerStage(let scan, let done, let all):
            Phrase(scan.stage(isLast: done >= all), .count(done), .count(all))
        case .fingerRetry(let scan, let retry): Phrase(scan.retry(retry))
        case .fingerNoMatchAgain(let left): Phrase(.fingerprintNoMatchAgain, .count(left))
        case .fingerNoMatch(0): Phrase(.fingerprintNoMatchLast)
        case .fingerNoMatch: Phrase(.fingerprintNoMatch)
        case .fingerUnavailable(let why): Phrase(.fingerprintUnavailable, .phrase(why.phrase))
        case .fingerKnown(let finger): Phrase(.fingerprintKnown, .phrase(finger.phrase))
        case .fingerKnownElsewhere: Phrase(.fingerprintKnownElsewhere)
        case .fingerFormerGone(let finger): Phrase(.fingerprintFormerGone, .phrase(finger.phrase))
        case .fingerEnrolled(let finger): Phrase(.fingerprintEnrolled, .phrase(finger.phrase))
        case .fingerComing(let finger): Phrase(.fingerprintComing, .phrase(finger.phrase))
        case .fingerVerified: Phrase(.fingerprintVerified)
        case .fingerClear(let reader): Phrase(.fingerprintClear, .text(Text.clean(reader)))
        case .fingerClearOurs(let account, let finger):
            Phrase(.fingerprintClearOurs, .text(Text.clean(account)), .phrase(finger.phrase))
        case .fingerClearForeign(let count): Phrase(.fingerprintClearForeign, .count(count))
        case .fingerClearUnknown: Phrase(.fingerprintClearUnknown)
        case .fingerClearAsk: Phrase(.fingerprintClearAsk)
        case .fingerClearChanged: Phrase(.fingerprintClearChanged)
        case .fingerCleared: Phrase(.fingerprintCleared)
        case .fingerDeleted(let finger): Phrase(.fingerprintDeleted, .phrase(finger.phrase))
        case .keyringForgotten: Phrase(.keyringForgotten)
        case .keyringNotKept: Phrase(.keyringNotKept)

        case .onboardTitle: Phrase(.onboardTitle)
        case .onboardBody: Phrase(.onboardBody)
        case .onboardOffer: Phrase(.onboardOffer)
        case .onboardFollow: Phrase(.onboardFollow)
        case .onboardLater: Phrase(.onboardLater)
        case .recoveryPrompt: Phrase(.recoveryPrompt)
        case .recoveryKeep: Phrase(.recoveryKeep)
        case .recoveryMade: Phrase(.recoveryMade)
        case .recovered: Phrase(.recoveryDone)
        case .recoveryOffer: Phrase(.recoveryOffer)
        case .recoveryLater: Phrase(.recoveryLater)
        case .recoveryAskedAgain: Phrase(.recoveryAskedAgain)
        case .storeDamaged: Phrase(.storeDamaged)
        case .outOfUse(let refusal):
            Phrase(
                .outOfUse, .phrase(refusal.message),
                .phrase(refusal.hint ?? Phrase(.hintBarredUnnamed)))
        case .logRepaired: Phrase(.logRepaired)
        case .changesLost: Phrase(.changesLost)
        case .lossEnd: Phrase(.lossEnd)
        case .lossEnded: Phrase(.lossEnded)
        case .storeMended(withoutRecovery: false): Phrase(.storeMended)
        case .storeMended(withoutRecovery: true): Phrase(.storeMendedNoRecovery)
        case .recoveryRevoked: Phrase(.recoveryRevoked)
        case .drift: Phrase(.driftNotice)
        case .former: Phrase(.driftFormer)
        case .driftElsewhere: Phrase(.driftElsewhere)
        case .present: Phrase(.driftPresent)
        case .following: Phrase(.followDone)
        case .driftMended: Phrase(.driftDone)
        case .passphrase: Phrase(.exportPassphrase)
        case .newPassphrase: Phrase(.exportNew)
        case .confirmPassphrase: Phrase(.exportConfirm)
        case .imported(let count, without: 0): Phrase(.importDone, .count(count))
        case .imported(let count, let without):
            Phrase(.importDoneWithout, .count(count), .count(without))
        case .recordsMended(found: 0, let removed, let accepted):
            Phrase(.mendDone, .count(removed), .count(accepted))
        case .recordsMended(let found, let removed, let accepted):
            Phrase(.mendDoneFound, .count(found), .count(removed), .count(accepted))
        case .held(let seconds): Phrase(.holdDone, .phrase(.span(seconds)))
        case .resumed: Phrase(.holdOver)
        case .checked(let count): Phrase(.importChecked, .count(count))
        }
    }
}

extension Message.Notice {
    /// The parts that it has, in order.
    package var parts: [Part] {
        switch self {
        case .migration, .recovered: [.headline, .body]
        case .policyChanged, .fingerprintOff, .passcodeOff, .passcodeAndFingerprintOff, .expired:
            Part.allCases
        }
    }

    package func text(_ part: Part) -> TextID {
        switch (self, part) {
        case (.policyChanged, .title): .policyChangedTitle
        case (.policyChanged, .headline): .policyChangedHeadline
        case (.policyChanged, .body): .policyChangedBody
        case (.fingerprintOff, .title): .biometricFingerprintOffTitle
        case (.fingerprintOff, .headline): .biometricFingerprintOffHeadline
        case (.fingerprintOff, .body): .biometricFingerprintOffBody
        case (.passcodeOff, .title), (.passcodeAndFingerprintOff, .title): .passcodeOffTitle
        case (.passcodeOff, .headline), (.passcodeAndFingerprintOff, .headline):
            .passcodeOffHeadline
        case (.passcodeOff, .body): .passcodeOffBody
        case (.passcodeAndFingerprintOff, .body): .passcodeOffWithFingerprintBody
        case (.migration, .title), (.migration, .headline): .migrationHeadline
        case (.migration, .body): .migrationBody
        case (.expired, .title): .expiredTitle
        case (.expired, .headline): .expiredHeadline
        case (.expired, .body): .expiredBody
        case (.recovered, .title), (.recovered, .headline): .recoveredHeadline
        case (.recovered, .body): .recoveredBody
        }
    }

    package var button: TextID {
        switch self {
        case .policyChanged: .policyChangedButton
        case .fingerprintOff: .biometricFingerprintOffButton
        case .passcodeOff, .passcodeAndFingerprintOff: .passcodeOffButton
        case .migration: .migrationButton
        case .expired: .expiredButton
        case .recovered: .recoveredButton
        }
    }
}

extension Message.Due {
    package var text: TextID {
        switch self {
        case .policy: .duePolicy
        case .create: .dueCreate
        case .migration: .dueMigration
        case .recovery: .dueRecovery
        case .expired: .dueExpired
        case .told: .dueTold
        }
    }
}

extension Finger {
    package var phrase: Phrase {
        switch self {
        case .unnamed, .rightIndex: Phrase(.fingerRightIndex)
        case .leftThumb: Phrase(.fingerLeftThumb)
        case .leftIndex: Phrase(.fingerLeftIndex)
        case .leftMiddle: Phrase(.fingerLeftMiddle)
        case .leftRing: Phrase(.fingerLeftRing)
        case .leftLittle: Phrase(.fingerLeftLittle)
        case .rightThumb: Phrase(.fingerRightThumb)
        case .rightMiddle: Phrase(.fingerRightMiddle)
        case .rightRing: Phrase(.fingerRightRing)
        case .rightLittle: Phrase(.fingerRightLittle)
        }
    }
}

extension FingerprintReader.Scan {
    fileprivate func stage(isLast: Bool) -> TextID {
        if isLast { return .fingerprintStageLast }
        return switch self {
        case .press: .fingerprintStage
        case .swipe: .fingerprintStageSwipe
        }
    }

    fileprivate func retry(_ retry: FingerprintScan.Retry) -> TextID {
        switch (self, retry) {
        case (.press, .tooShort): .fingerprintRetryShort
        case (.swipe, .tooShort): .fingerprintRetryShortSwipe
        case (.press, .center): .fingerprintRetryCenter
        case (.swipe, .center): .fingerprintRetryCenterSwipe
        case (.press, .removeFinger): .fingerprintRetryRemove
        case (.swipe, .removeFinger): .fingerprintRetryRemoveSwipe
        case (_, .none), (_, .general): .fingerprintRetry
        }
    }
}
