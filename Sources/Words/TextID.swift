import ToolTexts

/// Every text that the daemon shows to a person, one row for each. A row has the id (by which
/// `[Texts]` of the policy and the catalogues name the text), the English (shown if neither of them
/// has another text), and what its positions {1}, {2} stand for. A prompt ends with a space. A new
/// text needs a row here and one in each po/ file.
package enum TextID: TextRow, CaseIterable, Sendable {
    // MARK: The passcode is asked for

    case matchPrompt = "match.prompt | AppVault passcode: "
    case matchPromptOrPassword = "match.prompt.or-password | Passcode or login password: "
    case matchPromptPlain = "match.prompt.plain | Password: "
    case matchPromptLastErase = """
        match.prompt.last.erase | \
        One try left, then the store is erased. AppVault passcode:\u{20}
        """
    case matchPromptLastLock = """
        match.prompt.last.lock | \
        One try left, then the store is locked. AppVault passcode:\u{20}
        """
    case matchPromptOrPasswordLastErase = """
        match.prompt.or-password.last.erase | \
        One try left, then the store is erased. Passcode or login password:\u{20}
        """
    case matchPromptOrPasswordLastLock = """
        match.prompt.or-password.last.lock | \
        One try left, then the store is locked. Passcode or login password:\u{20}
        """
    case matchCurrent = "match.current | Current passcode: "
    case matchRetry = "match.retry | Wrong passcode."
    case matchRetryOne = "match.retry.one | Wrong passcode. One try left."
    case matchRetryLeft = "match.retry.left | Wrong passcode. {1} tries left. | tries that are left"
    case matchOrPassword = "match.or-password | Not the passcode; trying it as the login password."
    case matchOrPasswordLeft = """
        match.or-password.left | \
        Not the passcode (tries left: {1}); trying it as the login password. | \
        tries that are left
        """
    case matchLast = "match.last | One try left. A wrong passcode now erases the store."
    case matchLastLock = "match.last.lock | One try left. A wrong passcode now locks the store."
    case matchErased = "match.erased | Too many wrong passcodes. The store was erased."
    case matchLocked = "match.locked | Too many wrong passcodes. The store needs its recovery key."
    case matchLockedKeyless = """
        match.locked.keyless | \
        Too many wrong passcodes. The store is locked until root clears the tries.
        """
    case matchThrottled = "match.throttled | You can try again in {1}. | a time: span.*"
    case matchReset = """
        match.reset | \
        Forgotten? `appvault reset` erases the store and makes room for a new one.
        """
    case matchResetRoot = """
        match.reset.root | \
        Forgotten? Root erases the store with `appvault reset --user NAME`.
        """
    case matchRecover = "match.recover | Forgotten? `appvault recover` asks for the recovery key."
    case matchCancel = "match.cancel | Press Enter without typing to cancel."
    case matchDone = "match.done | Passcode successfully validated."
    case matchOpen = "match.open | The store is open."
    case createDoneShared = """
        create.done.shared | \
        Shared store created. `appvault share` says who may use it.
        """
    case sharedDone = "share.done | The store is shared with them."
    case sharedPending = """
        share.pending | \
        The store is shared with them. They get access once they have a store with a passcode \
        and you both are logged in.
        """
    case sharedOffered = """
        share.offered | \
        The store is theirs as soon as they say yes: `appvault share {1} {2} --owner` | \
        the store as they call it | their account
        """
    case sharedTaken = """
        share.taken | \
        The store is yours now. Its former owner may still read and write it.
        """
    case sharedTakenRecovery = """
        share.taken-recovery | \
        The store is yours now. Its former owner may still read and write it, and has its recovery key: \
        `appvault recovery new` makes another one.
        """
    case sharedAgain = "share.again | The store opens for them again."
    case unsharedDone = "unshare.done | The store is not shared with them any more."
    case unsharedNewKey = """
        unshare.new-key | \
        The store is not shared with them any more, and has a new key. They know what they have read.
        """
    case unsharedKeyDue = """
        unshare.key-due | \
        The store is not shared with them any more. It could not get a new key yet: {1}. It is tried again when the store is opened. | \
        why: a refusal
        """
    case unsharedButGroup = """
        unshare.but-group | \
        The store has a new key, but it is still shared with a group that they are in.
        """
    case renamed = "store.renamed | The store has a new name."
    case recoveryDeleted = "recovery.deleted | The recovery key opens nothing any more."
    case recoveredShared = "recovery.shared | This shared store opens with your own store again."
    case recoveredSharedAlone = """
        recovery.shared-alone | \
        This shared store opens with your own store again. It is from another machine, so share it \
        again with the others.
        """
    case lockDone = "lock.done | The store is locked."
    case cancelOpenTitle = "cancel.open.title | cancelled; the store stays locked"
    case cancelChangeTitle = """
        cancel.change.title | \
        Cancelled. The store stays locked, and the change is still due.
        """

    // MARK: A new passcode

    case createRules = "create.rules | The passcode needs: {1}. | a list of wish.*"
    case createChoose = "create.choose | New passcode: "
    case createConfirm = "create.confirm | New passcode again: "
    case createLoginPassword = "create.login-password | Login password: "
    case createSkip = "create.skip | Press Enter without typing to go on without a passcode."
    case createDiffer = "create.differ | The passcodes do not match."
    case createUnmet = "create.unmet | Still missing: {1}. | a list of wish.*"
    case createDone = "create.done | Passcode successfully created."
    case createDoneFollowing = """
        create.done.following | \
        Store created. It opens and locks with the store that it follows.
        """
    case createDoneNone = "create.done.none | Store created without a passcode."
    case changeDone = "change.done | Passcode successfully changed."
    case offDone = "off.done | The passcode is off. The store now opens without asking."
    case followDone = "follow.done | Your login password now opens the store."
    case resetDone = "reset.done | The store was erased."
    case resetNotAllowed = """
        reset.not-allowed | \
        polkit does not allow it here. Type the passcode, or let root run \
        `appvault reset --user NAME`.
        """
    case resetNotAsked = """
        reset.not-asked | \
        polkit cannot be asked here. Type the passcode, or let root run \
        `appvault reset --user NAME`.
        """
    case triesDone = "tries.done | The wrong tries were cleared."
    case chownDone = "chown.done | The store now belongs to its new owner."
    case passwordRules = "password.rules | The login password needs: {1}. | a list of wish.*"
    case passwordChoose = "password.choose | New login password: "
    case passwordConfirm = "password.confirm | New login password again: "
    case passwordDiffer = "password.differ | The passwords do not match."

    // MARK: What a rule asks for, as part of a list

    case wishMinLength = "wish.minLength | {1} or more characters | a number"
    case wishRule = "wish.rule | {1} | the administrator's name for a rule"
    case wishRuleDictionary = "wish.rule.dictionary | no word from a dictionary"
    case wishDigitsOnly = "wish.digitsOnly | only digits"
    case wishDigit = "wish.digit | a digit"
    case wishUpper = "wish.upper | a capital letter"
    case wishLower = "wish.lower | a small letter"
    case wishSpecial = "wish.special | a special character"
    case wishGroups = """
        wish.groups | \
        {1} of these kinds: digits, small letters, capital letters, special characters | \
        a number
        """
    case wishUnique = "wish.unique | {1} or more different characters | a number"
    case wishSequence = "wish.sequence | no run of digits such as 1234 or 1111"
    case wishSame = "wish.same | a passcode that differs from the current one"
    case wishHistory = "wish.history | no passcode that you had before (remembered: {1}) | a number"

    // MARK: A rule that a new passcode does not meet

    case unmetMinLength = "unmet.minLength | Please use {1} or more characters. | a number"
    case unmetRule = """
        unmet.rule | \
        The passcode does not meet this rule: {1} | \
        the administrator's name for the rule
        """
    case unmetRuleDictionary = """
        unmet.rule.dictionary | \
        The passcode is too close to a dictionary word.
        """
    case unmetRuleFailed = """
        unmet.rule.failed | \
        The rule {1} could not be checked: {2}. Until it can, no new passcode is accepted. | \
        the name of the rule | why: fault.*
        """
    case unmetDigitsOnly = "unmet.digitsOnly | Please use only digits."
    case unmetDigit = "unmet.digit | The passcode needs a digit."
    case unmetUpper = "unmet.upper | The passcode needs a capital letter."
    case unmetLower = "unmet.lower | The passcode needs a small letter."
    case unmetSpecial = "unmet.special | The passcode needs a special character."
    case unmetGroups = """
        unmet.groups | \
        Please use {1} of: digits, small letters, capital letters, special characters. | \
        a number
        """
    case unmetUnique = "unmet.unique | Please use {1} or more different characters. | a number"
    case unmetSequence = "unmet.sequence | Please avoid runs of digits such as 1234 or 1111."
    case unmetSame = "unmet.same | That is the current passcode; choose another one."
    case unmetHistory = """
        unmet.history | \
        You have used that passcode before (remembered: {1}). Choose another one. | \
        a number
        """

    // MARK: Why a rule was not judged

    case notcheckedInChange = "notchecked.in-change | checked only when the passcode is changed"
    case notcheckedCandidates = "notchecked.candidates | too many candidates were checked already"
    case notcheckedCustom = """
        notchecked.custom | \
        your administrator's own rules are not checked here
        """
    case notcheckedEmpty = "notchecked.empty | nothing was typed"
    case notcheckedTooLong = "notchecked.too-long | the passcode is too long"
    case notcheckedNotText = "notchecked.not-text | the passcode is not valid text (UTF-8)"
    case notcheckedControl = "notchecked.control | the passcode contains a control character"
    case faultNoWorker = "fault.no-worker | the service that checks the rules is not running"
    case faultBusy = "fault.busy | too many passcodes are being checked at the moment"
    case faultTooSlow = "fault.too-slow | the check took too long"
    case faultEnded = "fault.ended | the check ended without an answer"
    case faultNotReached = "fault.not-reached | an earlier rule took too long or failed"
    case faultNonsense = "fault.nonsense | the check gave an answer that makes no sense"
    case faultPattern = "fault.pattern | its pattern is not valid"
    case faultDictionary = "fault.dictionary | no dictionary is installed"

    // MARK: The policy changed

    case policyChangedTitle = "policy.changed.title | New passcode policy"
    case policyChangedHeadline = """
        policy.changed.headline | \
        Your administrator has changed the rules for passcodes.
        """
    case policyChangedBody = """
        policy.changed.body | \
        Choose a passcode that meets the new rules; then your store opens.
        """
    case policyChangedButton = "policy.changed.button | Continue"
    case biometricFingerprintOffTitle = "biometric.fingerprint.off.title | Fingerprint turned off"
    case biometricFingerprintOffHeadline = """
        biometric.fingerprint.off.headline | \
        Your administrator does not allow fingerprints any more.
        """
    case biometricFingerprintOffBody = """
        biometric.fingerprint.off.body | \
        Only your passcode opens your store now. Your fingerprints are removed.
        """
    case biometricFingerprintOffButton = "biometric.fingerprint.off.button | Continue"
    case passcodeOffTitle = "passcode.off.title | Passcode turned off"
    case passcodeOffHeadline = """
        passcode.off.headline | \
        Your administrator does not ask for a passcode any more.
        """
    case passcodeOffBody = """
        passcode.off.body | \
        Your store now opens without asking. You need not do anything.
        """
    case passcodeOffWithFingerprintBody = """
        passcode.off.with-fingerprint.body | \
        Your store now opens without asking. Passcode and fingerprints are removed.
        """
    case passcodeOffButton = "passcode.off.button | Continue"
    case migrationHeadline = "migration.headline | Your store has no passcode yet."
    case migrationBody = """
        migration.body | \
        An older release opened it by fingerprint alone. Choose a passcode for it now.
        """
    case migrationButton = "migration.button | Continue"
    case expiredTitle = "expired.title | Passcode expired"
    case expiredHeadline = "expired.headline | Your passcode has expired."
    case expiredBody = "expired.body | Choose a new one; then your store opens."
    case expiredButton = "expired.button | Continue"
    case recoveredHeadline = "recovered.headline | Your store was opened with its recovery key."
    case recoveredBody = "recovered.body | Choose a new passcode now."
    case recoveredButton = "recovered.button | Continue"
    case noticeEnter = "notice.enter | {1} [Enter]:  | what a notice has to press: *.button"
    case duePolicy = "due.policy | Your passcode must change; `appvault unlock` asks for a new one."
    case dueCreate = "due.create | Your store needs a passcode; `appvault unlock` asks for one."
    case dueMigration = """
        due.migration | \
        Your store has no passcode yet; `appvault unlock` asks for one.
        """
    case dueRecovery = """
        due.recovery | \
        Your store needs a new passcode; `appvault unlock` asks for it.
        """
    case dueExpired = """
        due.expired | \
        Your passcode has expired; `appvault unlock` asks for a new one.
        """
    case dueTold = """
        due.told | \
        The policy has changed; `appvault unlock` shows what is new.
        """

    // MARK: Fingerprints

    case fingerprintAllowed = """
        fingerprint.allowed | \
        Your policy now allows unlocking with a fingerprint.
        """
    case fingerprintOffer = "fingerprint.offer | Use your fingerprint to unlock? [y/n] "
    case fingerprintEnable = "fingerprint.enable | Enable"
    case fingerprintNotNow = "fingerprint.not-now | Not now"
    case fingerprintLearnMore = """
        fingerprint.learn-more | \
        The first unlock needs the passcode. After it, a fingerprint works, too.
        """
    case fingerprintPlace = "fingerprint.place | Place your finger on the reader."
    case fingerprintOff = "fingerprint.off | Fingerprints are off."
    case fingerprintPlaceEnter = """
        fingerprint.place.enter | \
        Place your finger on the reader, or press Enter to type the passcode.
        """
    case fingerprintPlaceType = """
        fingerprint.place.type | \
        Place your finger on the reader, or type the passcode.
        """
    case fingerprintPlaceService = """
        fingerprint.place.service | \
        {1}: place your finger on the reader, or press Enter to type the passcode. | \
        who asks, as `sudo`
        """
    case fingerprintPlaceWait = """
        fingerprint.place.wait | \
        {1}: place your finger on the reader, or type the passcode in {2} s. | \
        who asks, as `lightdm` | how long the reader waits
        """
    case fingerprintSwipe = "fingerprint.swipe | Swipe your finger over the reader."
    case fingerprintSwipeEnter = """
        fingerprint.swipe.enter | \
        Swipe your finger over the reader, or press Enter to type the passcode.
        """
    case fingerprintSwipeType = """
        fingerprint.swipe.type | \
        Swipe your finger over the reader, or type the passcode.
        """
    case fingerprintSwipeService = """
        fingerprint.swipe.service | \
        {1}: swipe your finger over the reader, or press Enter to type the passcode. | \
        who asks, as `sudo`
        """
    case fingerprintSwipeWait = """
        fingerprint.swipe.wait | \
        {1}: swipe your finger over the reader, or type the passcode in {2} s. | \
        who asks, as `lightdm` | how long the reader waits
        """
    case fingerprintWaitOver = """
        fingerprint.wait-over | \
        No finger was read. Please type your passcode.
        """
    case fingerprintPlaceEnroll = """
        fingerprint.place.enroll | \
        Place your {1} on the reader, and lift it again. | \
        finger.*
        """
    case fingerprintPlaceEnrollEnter = """
        fingerprint.place.enroll-enter | \
        Place your {1} on the reader. Enter goes on without it. | \
        finger.*
        """
    case fingerprintSwipeEnroll = """
        fingerprint.swipe.enroll | \
        Swipe your {1} over the reader. | \
        finger.*
        """
    case fingerprintSwipeEnrollEnter = """
        fingerprint.swipe.enroll-enter | \
        Swipe your {1} over the reader. Enter goes on without it. | \
        finger.*
        """
    case fingerprintStage = """
        fingerprint.stage | \
        {1} of {2}. Lift the finger, move it a little, and place it again. | \
        touches that were read | touches that are needed
        """
    case fingerprintStageSwipe = """
        fingerprint.stage.swipe | \
        {1} of {2}. Swipe the finger again. | \
        touches that were read | touches that are needed
        """
    case fingerprintStageLast = """
        fingerprint.stage.last | \
        {1} of {2}. One moment, please. | \
        touches that were read | touches that are needed
        """
    case fingerprintRetryShort = """
        fingerprint.retry.short | \
        Too short: leave the finger there a little longer.
        """
    case fingerprintRetryCenter = """
        fingerprint.retry.center | \
        Place the middle of the finger on the reader.
        """
    case fingerprintRetryRemove = "fingerprint.retry.remove | Lift the finger and place it again."
    case fingerprintRetryShortSwipe = """
        fingerprint.retry.short-swipe | \
        Too short: swipe the whole finger, a little more slowly.
        """
    case fingerprintRetryCenterSwipe = """
        fingerprint.retry.center-swipe | \
        Swipe the middle of the finger over the reader.
        """
    case fingerprintRetryRemoveSwipe = """
        fingerprint.retry.remove-swipe | \
        Lift the finger and swipe it again.
        """
    case fingerprintRetry = "fingerprint.retry | It could not be read. Try again."
    case fingerprintNoMatchAgain = """
        fingerprint.no-match.again | \
        It does not match. Lift the finger. Try again ({1} left, then the passcode). | \
        touches that are left
        """
    case fingerprintNoMatch = "fingerprint.no-match | The fingerprint does not match."
    case fingerprintNoMatchLast = """
        fingerprint.no-match.last | \
        The fingerprint does not match. Please type your passcode.
        """
    case fingerprintUnavailable = """
        fingerprint.unavailable | \
        Your fingerprint cannot be read now: {1}. | \
        why: reason.*
        """
    case fingerprintKnown = """
        fingerprint.known | \
        The reader knows this finger already: it is enrolled as your {1}. | \
        finger.*
        """
    case fingerprintKnownElsewhere = """
        fingerprint.known.elsewhere | \
        The reader knows this finger already: it is enrolled for another account.
        """
    case fingerprintFormerGone = """
        fingerprint.former-gone | \
        The former print was deleted: {1}. | \
        finger.*
        """
    case fingerprintEnrolled = "fingerprint.enrolled | Enrolled: {1}. | finger.*"
    case fingerprintComing = """
        fingerprint.coming | \
        Read: {1}. It opens the store once you are logged in. | \
        finger.*
        """
    case fingerprintClear = """
        fingerprint.clear | \
        All fingerprints on the reader {1} are deleted: | \
        the name of a reader
        """
    case fingerprintClearOurs = "fingerprint.clear.ours | {1}: {2} | an account | finger.*"
    case fingerprintClearForeign = """
        fingerprint.clear.foreign | \
        fingerprints that no store of this machine knows: {1} | \
        a number
        """
    case fingerprintClearUnknown = """
        fingerprint.clear.unknown | \
        This reader does not tell what else it holds.
        """
    case fingerprintClearAsk = "fingerprint.clear.ask | Delete them? [y/n] "
    case fingerprintClearChanged = """
        fingerprint.clear.changed | \
        The fingerprints on the reader have changed since they were shown. Please run the command again.
        """
    case fingerprintCleared = "fingerprint.cleared | The reader holds no fingerprints any more."
    case fingerprintVerified = "fingerprint.verified | The fingerprint matches."
    case fingerprintDeleted = "fingerprint.deleted | Deleted: {1}. | finger.*"
    case keyringForgotten = """
        keyring.forgotten | \
        The login password that was kept for logins by finger is forgotten.
        """
    case keyringNotKept = "keyring.not-kept | No login password is kept."
    case fingerLeftThumb = "finger.left-thumb | left thumb"
    case fingerLeftIndex = "finger.left-index | left index finger"
    case fingerLeftMiddle = "finger.left-middle | left middle finger"
    case fingerLeftRing = "finger.left-ring | left ring finger"
    case fingerLeftLittle = "finger.left-little | left little finger"
    case fingerRightThumb = "finger.right-thumb | right thumb"
    case fingerRightIndex = "finger.right-index | right index finger"
    case fingerRightMiddle = "finger.right-middle | right middle finger"
    case fingerRightRing = "finger.right-ring | right ring finger"
    case fingerRightLittle = "finger.right-little | right little finger"

    // MARK: The first store

    case onboardTitle = "onboard.title | Welcome to AppVault."
    case onboardBody = """
        onboard.body | \
        AppVault keeps your passwords and keys in an encrypted store of your own.
        """
    case onboardOffer = "onboard.offer | Make your store now? [y/n] "
    case onboardFollow = "onboard.follow | Should your login password open it? [y/n] "
    case onboardLater = """
        onboard.later | \
        No store was made. `appvault create` makes one at any time.
        """

    // MARK: The recovery key

    case recoveryPrompt = "recovery.prompt | Recovery key: "
    case recoveryKeep = """
        recovery.keep | \
        Write this recovery key down. You see it only once. Older keys no longer work.
        """
    case recoveryMade = "recovery.made | The recovery key was made."
    case recoveryDone = "recovery.done | Passcode successfully changed."
    case recoveryOffer = """
        recovery.offer | \
        Make a recovery key now, for a forgotten passcode? [y/n, Enter: later]\u{20}
        """
    case recoveryRevoked = """
        recovery.revoked | \
        Your recovery key, made when there was no passcode, no longer opens the store.
        """
    case recoveryAskedAgain = "recovery.asked-again | You will be asked again next time."
    case storeDamaged = """
        store.damaged | \
        Your store is damaged and stays locked: `appvault status` says what to do.
        """
    case storeMended = "store.mended | The store's slots file was damaged. It is repaired."
    case storeMendedNoRecovery = """
        store.mended.no-recovery | \
        The slots file was damaged and is repaired. No recovery key opens it any more.
        """
    case logRepaired = """
        log.repaired | \
        The store's records were damaged. They are repaired, and nothing is missing.
        """
    case changesLost = """
        changes.lost | \
        The changes stored last are missing: `appvault status` says what to do.
        """
    case lossEnd = """
        changes.lost.end | \
        Remove what is left of the damaged log, and stop saying so? [y/n]\u{20}
        """
    case lossEnded = "changes.lost.ended | What was left of the damaged log is removed."
    case recoveryLater = "recovery.later | `appvault recovery new` makes one at any time."

    // MARK: The login password and the store

    case driftNotice = """
        drift.notice | \
        Your login password has changed; your store still opens with the old one.
        """
    case driftFormer = "drift.former | Old login password or recovery key (Enter to skip): "
    case driftElsewhere = """
        drift.elsewhere | \
        Too many wrong tries came from elsewhere; your store now asks separately.
        """
    case driftPresent = "drift.present | Passcode of the store or recovery key (Enter to skip): "
    case driftDone = "drift.done | Your store opens with your login password again."

    // MARK: Export and import

    case exportPassphrase = "export.passphrase | Passphrase of the file: "
    case exportNew = "export.new | Passphrase for the file: "
    case exportConfirm = "export.confirm | Passphrase again: "
    case importDone = "import.done | Values imported: {1}. | a number"
    case importDoneWithout = """
        import.done.without | \
        Values imported: {1}. Damaged when the file was made, and not in it: {2}. | \
        a number | a number
        """
    case mendDone = """
        mend.done | \
        Mended. Damaged records that were removed: {1}. Records that were kept as they are: {2}. | \
        a number | a number
        """
    case mendDoneFound = """
        mend.done.found | \
        Mended. Records that a damaged page had hidden, and are back: {1}. \
        Damaged records that were removed: {2}. Records that were kept as they are: {3}. | \
        a number | a number | a number
        """
    case holdDone = """
        hold.done | \
        The store stays open for {1}, also behind a locked screen. `appvault resume` ends that. | \
        a time: span.*
        """
    case holdOver = "hold.over | The store locks by itself again."
    case importChecked = "import.checked | Values checked: {1}. | a number"

    // MARK: Pieces of other texts

    case answerYes = "answer.yes | y yes"
    case answerNo = "answer.no | n no"
    case spanSeconds = "span.seconds | {1} s | a number"
    case spanMinutes = "span.minutes | {1} min | a number"
    case spanHours = "span.hours | {1} h | a number"
    case spanDays = "span.days | {1} d | a number"

    // MARK: Refusals: what happened

    case refusedUnknown = "refused.Unknown | something unexpected went wrong"
    case refusedAlreadyExists = "refused.AlreadyExists | it exists already"
    case refusedDataType = "refused.DataType | the value has another type"
    case refusedDoesNotExistGroup = "refused.DoesNotExist.group | there is no such group"
    case refusedDoesNotExistMember = """
        refused.DoesNotExist.member | \
        the store is not shared with them
        """
    case refusedNotPermittedReadOnly = """
        refused.NotPermitted.read-only | \
        you may read this store, and not write to it
        """
    case refusedNotPermittedOwnerOnly = """
        refused.NotPermitted.owner-only | \
        only the owner of the shared store may do this
        """
    case refusedDoesNotExistParent = """
        refused.DoesNotExist.parent | \
        this store opens with another one, and that one is gone
        """
    case refusedInvalidArgumentStoreName = """
        refused.InvalidArgument.store-name | \
        a store's name has no slash and no control character, and is not a store's id
        """
    case refusedInvalidArgumentDefaultKind = """
        refused.InvalidArgument.default-kind | \
        `default` is the store that a login opens: it can neither follow another one nor be shared
        """
    case refusedInvalidArgumentStoreID = """
        refused.InvalidArgument.store-id | \
        an id is 32 hexadecimal digits with hyphens (8-4-4-4-12), not all of them 0
        """
    case refusedInvalidArgumentPolicyKey = """
        refused.InvalidArgument.policy-key | \
        a policy key has no square bracket, no control character and at most 128 bytes
        """
    case refusedInvalidArgumentSecretsPolicyKey = """
        refused.InvalidArgument.secrets-policy-key | \
        the policy key `secrets` is for a store that opens and locks with another one (--follow)
        """
    case refusedInvalidArgumentRole = """
        refused.InvalidArgument.role | \
        that cannot be theirs: only a person owns a store, and only shared configuration is everybody's, to be read
        """
    case refusedDoesNotExistItem = "refused.DoesNotExist.item | there is no such secret"
    case refusedDoesNotExistCollection = """
        refused.DoesNotExist.collection | \
        there is no such collection of secrets
        """
    case refusedInvalidArgumentReservedName = """
        refused.InvalidArgument.reserved-name | \
        names that begin like this one are kept for the desktop's secrets
        """
    case refusedInvalidArgumentAttributes = """
        refused.InvalidArgument.attributes | \
        a secret has each attribute only once
        """
    case refusedInvalidArgumentAlias = """
        refused.InvalidArgument.alias | \
        the name of an alias has at least one byte
        """
    case refusedInvalidArgumentCollections = """
        refused.InvalidArgument.collections | \
        a store has at most {1} collections of secrets, and as many aliases | \
        a number
        """
    case refusedInvalidArgumentLoginCollection = """
        refused.InvalidArgument.login-collection | \
        this collection is always there; only the secrets in it can be deleted
        """
    case refusedInvalidArgumentParent = """
        refused.InvalidArgument.parent | \
        a store can follow only one that has a passcode of its own, or none
        """
    case refusedInvalidArgumentJoinLink = """
        refused.InvalidArgument.join-link | the link is not whole, or was changed
        """
    case refusedInvalidArgumentJoinVersion = """
        refused.InvalidArgument.join-version | the link was made for another release of AppVault
        """
    case refusedInvalidArgumentJoinHost = """
        refused.InvalidArgument.join-host | the link names no server
        """
    case refusedInvalidArgumentJoinWhat = """
        refused.InvalidArgument.join-what | this is neither a link of AppVault's nor an e-mail address
        """
    case refusedInvalidArgumentSwitchShared = """
        refused.InvalidArgument.switch-shared | \
        a shared store opens with its members' own stores: switch to one of these
        """
    case refusedDoesNotExistStore = "refused.DoesNotExist.store | there is no such store"
    case refusedDoesNotExistRecord = "refused.DoesNotExist.record | there is no such record"
    case refusedDoesNotExistAccount = "refused.DoesNotExist.account | there is no such account"
    case refusedDoesNotExistPasscode = "refused.DoesNotExist.passcode | the store has no passcode"
    case refusedDoesNotExistFinger = "refused.DoesNotExist.finger | this finger is not enrolled"
    case refusedDoesNotExistReader = """
        refused.DoesNotExist.reader | \
        there is no reader of that name, or more than one
        """
    case refusedDoesNotExistRecoveryKey = """
        refused.DoesNotExist.recoveryKey | \
        this store has no recovery key
        """
    case refusedInvalidArgumentAppID = """
        refused.InvalidArgument.appID | \
        this is not the id of an application: it is the name of its desktop entry, without .desktop
        """
    case refusedInvalidArgumentName = """
        refused.InvalidArgument.name | \
        a name must have 1 to 255 bytes
        """
    case refusedInvalidArgumentNotText = """
        refused.InvalidArgument.notText | \
        the passcode is not valid text (UTF-8)
        """
    case refusedInvalidArgumentControl = """
        refused.InvalidArgument.control | \
        the passcode contains a control character
        """
    case refusedInvalidArgumentExport = """
        refused.InvalidArgument.export | \
        that file is not an AppVault export
        """
    case refusedInvalidArgumentExportCost = """
        refused.InvalidArgument.exportCost | \
        opening this file costs more than this machine's policy allows
        """
    case refusedInvalidPasscode = "refused.InvalidPasscode | wrong passcode"
    case refusedInvalidPasscodeExport = """
        refused.InvalidPasscode.export | \
        the file does not open: the passphrase is wrong, or the file was changed
        """
    case refusedInvalidPasscodeOne = "refused.InvalidPasscode.one | wrong passcode; one try left"
    case refusedInvalidPasscodeLeft = """
        refused.InvalidPasscode.left | \
        wrong passcode; {1} tries left | \
        tries that are left
        """
    case refusedLocked = "refused.Locked | the store is locked"
    case refusedOutOfMemory = "refused.OutOfMemory | there is not enough memory to open a store now"
    case refusedPasscodeExpired = "refused.PasscodeExpired | the passcode has expired"
    case refusedPasscodeRequired = """
        refused.PasscodeRequired | \
        the passcode is needed, but it cannot be asked for here
        """
    case refusedPasscodeRequiredChanged = """
        refused.PasscodeRequired.changed | \
        the passcode was changed meanwhile
        """
    case refusedRequiresDigit = "refused.RequiresDigit | the passcode needs a digit"
    case refusedRequiresLower = "refused.RequiresLower | the passcode needs a small letter"
    case refusedRequiresSpecial = "refused.RequiresSpecial | the passcode needs a special character"
    case refusedRequiresUpper = "refused.RequiresUpper | the passcode needs a capital letter"
    case refusedUnderMinLength = """
        refused.UnderMinLength | \
        the passcode needs {1} or more characters | \
        a number
        """
    case refusedUnderMinLengthExport = """
        refused.UnderMinLength.export | \
        the passphrase of an export needs {1} or more characters | \
        a number
        """
    case refusedUnderMinUniqueCharacters = """
        refused.UnderMinUniqueCharacters | \
        the passcode needs {1} or more different characters | \
        a number
        """
    case refusedDeleted = "refused.Deleted | the store was erased after too many wrong passcodes"
    case refusedBarred = """
        refused.LockedByAdministrator | \
        {1} has locked this store | \
        the name of an organisation
        """
    case refusedBarredDenied = """
        refused.LockedByAdministrator.denied | \
        {1} requires that you agree to: {2} | an organisation | the title of what it asks
        """
    case hintBarredDenied = """
        hint.LockedByAdministrator.denied | `appvault consents answer` asks you again
        """
    case consentQuestion = """
        consent.question | Do you agree to: {1}? [y/n]\u{20} | the title of what is asked
        """
    case consentHeading = """
        consent.heading | {1} asks you to read this. | an organisation
        """
    case consentOptional = "consent.optional | You may also say no."
    case consentRequired = "consent.required | Without it your store stays shut."
    case consentsDone = "consent.done | Your answers are kept."
    case consentsNone = "consent.none | There is nothing to answer."
    case refusedBarredOffline = """
        refused.LockedByAdministrator.offline | \
        this machine has heard nothing from {1} for {2} days, so its stores are locked | \
        the name of an organisation | a number
        """
    case refusedBarredOfflineOne = """
        refused.LockedByAdministrator.offline.one | \
        this machine has heard nothing from {1} for a day, so its stores are locked | \
        the name of an organisation
        """
    case refusedWiped = """
        refused.WipedByAdministrator | \
        {1} has wiped this store; what it held is gone | \
        the name of an organisation
        """
    case refusedWipedUnnamed = """
        refused.WipedByAdministrator.unnamed | \
        the organisation of this machine has wiped this store; what it held is gone
        """
    case hintBarred = "hint.LockedByAdministrator | ask {1} | an address or a name"
    case hintBarredUnnamed = """
        hint.LockedByAdministrator.unnamed | ask whoever looks after this machine
        """
    case hintBarredOffline = """
        hint.LockedByAdministrator.offline | \
        connect this machine to the network, or ask {1} | \
        an address or a name
        """
    case hintBarredOfflineUnnamed = """
        hint.LockedByAdministrator.offline.unnamed | \
        connect this machine to the network, or ask whoever looks after it
        """
    case outOfUse = "store.out-of-use | AppVault: {1}; {2}. | refused.* | hint.*"
    case refusedRequiresGroups = """
        refused.RequiresGroups | \
        the passcode needs {1} of these kinds: digits, small letters, capital letters, \
        special characters | \
        a number
        """
    case refusedDigitsOnly = "refused.DigitsOnly | the passcode may contain only digits"
    case refusedSequence = """
        refused.Sequence | \
        the passcode is only a run of digits, such as 1234 or 1111
        """
    case refusedDictionary = "refused.Dictionary | the passcode is too close to a dictionary word"
    case refusedDictionaryFailed = """
        refused.Dictionary.failed | \
        the rule {1} could not be checked, so no new passcode is accepted: {2} | \
        the name of the rule | why: fault.*
        """
    case refusedReused = """
        refused.Reused | \
        you have used that passcode before (remembered: {1}) | \
        a number
        """
    case refusedRuleFailed = """
        refused.RuleFailed | \
        the passcode does not meet the rule {1}: {2} | \
        the name of the rule | the administrator's words for it
        """
    case refusedRuleFailedFailed = """
        refused.RuleFailed.failed | \
        the rule {1} could not be checked, so no new passcode is accepted: {2} | \
        the name of the rule | why: fault.*
        """
    case refusedRetryLimitReached = """
        refused.RetryLimitReached | \
        too many wrong passcodes; no tries are left
        """
    case refusedRetryLimitReachedErased = """
        refused.RetryLimitReached.erased | \
        too many wrong passcodes; the store was erased
        """
    case refusedThrottled = """
        refused.Throttled | \
        too many wrong passcodes; you can try again in {1} | \
        a time: span.*
        """
    case refusedPolicyDenies = """
        refused.PolicyDenies | \
        the policy does not allow it ({1}) | \
        a policy key
        """
    case refusedInvalidAction = """
        refused.InvalidAction | \
        {1} is not possible: {2} | \
        the name of an action | why: reason.*
        """
    case refusedCancelled = "refused.Cancelled | cancelled; nothing was changed"
    case refusedFingerprintUnavailable = """
        refused.FingerprintUnavailable | \
        your fingerprint cannot be read now: {1} | \
        why: reason.*
        """
    case refusedFingerprintNoMatch = "refused.FingerprintNoMatch | the fingerprint does not match"
    case refusedFingerprintNoMatchLeft = """
        refused.FingerprintNoMatch.left | \
        the fingerprint does not match; left before the passcode is needed: {1} | \
        touches that are left
        """
    case refusedNotPermitted = "refused.NotPermitted | you are not allowed to do that"
    case refusedNotPermittedOwnerChanged = """
        refused.NotPermitted.ownerChanged | \
        the store was made for an account that has changed since
        """
    case refusedNotPermittedRootOnly = "refused.NotPermitted.rootOnly | only root may do that"
    case refusedServiceUnavailableVersion = """
        refused.ServiceUnavailable.version | \
        this appvaultd speaks version {1} of the protocol | \
        a number
        """
    case refusedServiceUnavailableDirectory = """
        refused.ServiceUnavailable.directory | \
        the directory service does not say who you are
        """
    case refusedServiceUnavailableGroups = """
        refused.ServiceUnavailable.groups | \
        the directory service does not say which groups you are in
        """
    case refusedStoreDamaged = "refused.StoreDamaged | the store is damaged: {1} | what: damage.*"
    case refusedTooLarge = """
        refused.TooLarge | \
        it is too large: at most {1} bytes | \
        a number of bytes
        """
    case refusedTooLargeQuota = """
        refused.TooLarge.quota | \
        there is not enough room: your stores use {1} of the {2} that they may use | \
        an amount, as `17 MiB` | an amount
        """
    case refusedProtocolError = "refused.ProtocolError | the request was not understood"
    case refusedBusy = "refused.Busy | too many requests are waiting"
    case refusedBusyWatch = """
        refused.Busy.watch | \
        no more programs of yours may watch your stores at the same time
        """
    case refusedChangeRequiredPolicy = """
        refused.ChangeRequired.policy | \
        the policy has changed, and the store needs a new passcode first
        """
    case refusedChangeRequiredCreate = """
        refused.ChangeRequired.create | \
        the policy has changed, and the store needs a passcode first
        """
    case refusedChangeRequiredTold = """
        refused.ChangeRequired.told | \
        the policy has changed; its notice must be read first
        """
    case refusedChangeRequiredMigration = """
        refused.ChangeRequired.migration | \
        the store has no passcode yet, and needs one first
        """
    case refusedChangeRequiredRecovery = """
        refused.ChangeRequired.recovery | \
        the recovery key was used, and the store needs a new passcode first
        """
    case refusedChangeRequiredExpired = """
        refused.ChangeRequired.expired | \
        the passcode has expired, and the store needs a new one first
        """
    case refusedNoMatch = "refused.NoMatch | the passcodes do not match"
    case refusedSameAsCurrent = "refused.SameAsCurrent | the new passcode is the current one"
    case refusedResetRequested = """
        refused.ResetRequested | the passcode is forgotten; nothing changed
        """
    case refusedSkipped = "refused.Skipped | it was skipped"
    case refusedAddUser = "refused.AddUser | somebody else is to be added"
    case refusedSwitchUser = "refused.SwitchUser | the store {1} is to be opened | a store"
    case refusedRecoveryKeyInvalidWrong = """
        refused.RecoveryKeyInvalid.wrong | \
        that is not this store's recovery key
        """
    case refusedRecoveryKeyInvalidLength = """
        refused.RecoveryKeyInvalid.length | \
        that recovery key is too long or too short
        """
    case refusedRecoveryKeyInvalidGroup = """
        refused.RecoveryKeyInvalid.group | \
        group {1} of the recovery key is mistyped | \
        a number
        """
    case refusedRecoveryKeyInvalidWhole = """
        refused.RecoveryKeyInvalid.whole | \
        the recovery key is mistyped
        """
    case refusedDoesNotExistOrganisation = """
        refused.DoesNotExist.organisation | this machine has joined no organisation
        """
    case hintDoesNotExistOrganisation =
        "hint.DoesNotExist.organisation | `appvault fleet join FILE`"
    case bundleNothing = "refused.BundleBroken.nothing | this is no bundle of an organisation"
    case bundleTooLong = "refused.BundleBroken.too-long | the bundle is longer than 1 MiB"
    case bundleNotWhole = """
        refused.BundleBroken.not-whole | \
        the bundle is not whole: something is wrong in line {1} | a line
        """
    case bundleManifest = """
        refused.BundleBroken.manifest | \
        line {1} of the manifest: {2} | a line | what is wrong
        """
    case bundleJoin = """
        refused.BundleBroken.join | line {1} of the file: {2} | a line | what is wrong
        """
    case bundlePart = """
        refused.BundleBroken.part | \
        the part `{1}` is missing, is there twice, or is not in the manifest | \
        a part: policy, orders, terms, signin
        """
    case bundleChanged = """
        refused.BundleBroken.changed | \
        the part `{1}` is not the one that was signed | a part: policy, orders, terms, signin
        """
    case bundleOrders = """
        refused.BundleBroken.orders | line {1} of the orders: {2} | a line | what is wrong
        """
    case bundleSignIn = """
        refused.BundleBroken.signin | line {1} of the sign-in: {2} | a line | what is wrong
        """
    case bundleTerms = """
        refused.BundleBroken.terms | line {1} of the terms: {2} | a line | what is wrong
        """
    case bundleOrdersAhead = """
        refused.BundleBroken.orders-ahead | \
        its orders name version {1}, and the bundle itself has version {2} | a number | a number
        """
    case bundleOrdersApart = """
        refused.BundleBroken.orders-apart | \
        it has orders, and says itself that these come in a bundle of their own
        """
    case bundleJoinOther = """
        refused.BundleUntrusted.join-other | \
        what {1} hands out is not what the invitation means | a server
        """
    case hintBundleJoinOther = """
        hint.BundleUntrusted.join-other | \
        nothing was joined: ask the organisation, by another way, for a new invitation
        """
    case bundleKept = """
        refused.BundleBroken.kept | \
        what this machine keeps of its organisation is damaged: {1} | a file
        """
    case bundleOther = """
        refused.BundleUntrusted.other-organisation | \
        the bundle is of another organisation: {1} | its name
        """
    case bundleNoOrdersApart = """
        refused.BundleUntrusted.no-orders-apart | \
        the organisation signs orders together with its policy, and not in a bundle of their own
        """
    case bundleSignatures = """
        refused.BundleUntrusted.signatures | \
        the bundle has {1} of {2} signatures that it needs | a number | a number
        """
    case bundleSignaturesOfNew = """
        refused.BundleUntrusted.signatures-of-new | \
        the bundle names other keys, and has {1} of {2} signatures of these | a number | a number
        """
    case bundleSignaturesToWipe = """
        refused.BundleUntrusted.signatures-to-wipe | \
        its orders wipe or reset stores, and it has {1} of {2} signatures that this needs | a number | a number
        """
    case bundleOlder = """
        refused.BundleOlder.older | \
        the bundle has version {1}, and version {2} was taken already | a number | a number
        """
    case bundleOrdersOlder = """
        refused.BundleOlder.orders-older | \
        its orders would have version {1}, and orders of version {2} were taken already | a number | a number
        """
    case bundleSameVersion = """
        refused.BundleOlder.same-version | \
        another bundle with version {1} was taken already | a number
        """
    case bundleStepTooWide = """
        refused.BundleOlder.step-too-wide | \
        version {1} is too far from the present one, {2} | a number | a number
        """
    case bundleExpired = "refused.BundleExpired | the bundle has expired"
    case hintBundleBroken = """
        hint.BundleBroken | what was taken before stays in force; fetch the file again
        """
    case hintBundleOrders = """
        hint.BundleBroken.orders | \
        what was taken before stays in force; who made the bundle has to make another one
        """
    case hintBundleKept = """
        hint.BundleBroken.kept | \
        `appvault fleet join FILE`, as when this machine joined, and then `appvault fleet import`
        """
    case hintBundleUntrusted = """
        hint.BundleUntrusted | \
        what was taken before stays in force; `appvault fleet check FILE` shows who has signed
        """
    case hintBundleOlder = """
        hint.BundleOlder | what was taken before stays in force; each bundle has a higher version
        """
    case hintBundleExpired = """
        hint.BundleExpired | \
        what was taken before stays in force; is the machine's clock right? If so, a new bundle is due
        """
    case fetchNowhere = """
        refused.FetchFailed.nowhere | the organisation names no place to fetch from
        """
    case fetchNoName = """
        refused.FetchFailed.no-name | no address is known for {1} | a server
        """
    case fetchNoWay = "refused.FetchFailed.no-way | there is no way to {1} | a server"
    case fetchRefused = """
        refused.FetchFailed.refused | {1} refuses the connection | a server
        """
    case fetchProxy =
        "refused.FetchFailed.proxy | the proxy does not let us through to {1} | a server"
    case fetchTooSlow = "refused.FetchFailed.too-slow | {1} takes too long | a server"
    case fetchCut = "refused.FetchFailed.cut | the connection with {1} was cut | a server"
    case fetchBroken = "refused.FetchFailed.failed | the transfer from {1} failed | a server"
    case fetchUntrusted = """
        refused.FetchFailed.untrusted | \
        the certificate of {1} is signed by nobody whom this machine trusts | a server
        """
    case fetchNotValidNow = """
        refused.FetchFailed.not-valid-now | \
        the certificate of {1} has expired, or is not valid yet | a server
        """
    case fetchOtherName = """
        refused.FetchFailed.other-name | the certificate of {1} is of another server | a server
        """
    case fetchNoTLS = """
        refused.FetchFailed.no-tls | no encrypted connection with {1} comes about | a server
        """
    case fetchOwnFiles = """
        refused.FetchFailed.own-files | \
        this machine's own certificate, its key or its file of CAs cannot be used with {1} | a server
        """
    case fetchStatus = """
        refused.FetchFailed.status | {1} answers with the status {2} | a server | a number of HTTP
        """
    case fetchRedirected = """
        refused.FetchFailed.redirected | \
        {1} sends us elsewhere: too often, or to a place without encryption | a server
        """
    case fetchTooLarge = """
        refused.FetchFailed.too-large | what {1} sends is longer than 1 MiB | a server
        """
    case fetchNoBundle = """
        refused.FetchFailed.no-bundle | what {1} sends is no bundle, perhaps a page for people | a server
        """
    case fetchNoWorker = "refused.FetchFailed.no-worker | the program that fetches is not there"
    case fetchWorkerEnded = """
        refused.FetchFailed.worker-ended | the program that fetches ended without an answer
        """
    case fetchWorkerLied = """
        refused.FetchFailed.worker-lied | \
        the program that fetches says what it was not asked; nothing of it was taken
        """
    case fetchNoInvitation = """
        refused.FetchFailed.no-invitation | \
        {1} has no invitation there, perhaps a page for people | a server
        """
    case fetchElsewhere = """
        refused.FetchFailed.elsewhere | \
        {1} sends us to another address, and an invitation comes from its own | a server
        """
    case hintJoinAgain = """
        hint.join.again | is there a network? Nothing was joined; try it again
        """
    case hintJoinServer = """
        hint.join.server | nothing was joined: ask the organisation for a new invitation
        """
    case hintJoinLink = """
        hint.join.link | copy the whole link, from appvault:join? on; or type your e-mail address there
        """
    case hintJoinVersion = """
        hint.join.version | install a newer AppVault, or ask the organisation for another link
        """
    case hintFetchNowhere = """
        hint.FetchFailed.nowhere | `appvault fleet import FILE` takes a bundle that comes by another way
        """
    case hintFetchAgain = """
        hint.FetchFailed.again | \
        is there a network? What was taken before stays in force; it is tried again every 15 minutes
        """
    case hintFetchProxy = """
        hint.FetchFailed.proxy | \
        https_proxy and no_proxy come from the unit: `systemctl edit appvault-fetch@.service`
        """
    case hintFetchTrust = """
        hint.FetchFailed.trust | \
        a login page of the network may be in between; a CA of your own belongs in /etc/appvault/fleet/ca.pem
        """
    case hintFetchClock = """
        hint.FetchFailed.clock | is the machine's clock right? If so, the server needs a new certificate
        """
    case hintFetchOwnFiles = """
        hint.FetchFailed.own-files | look at ca.pem, client.pem and client.key in /etc/appvault/fleet
        """
    case hintFetchServer = """
        hint.FetchFailed.server | \
        ask the organisation: the server is there, and what it has is wrong or not for this machine
        """
    case hintFetchPortal = """
        hint.FetchFailed.portal | does this network want somebody to log in first? Then do that
        """
    case hintFetchWorker = """
        hint.FetchFailed.worker | \
        `systemctl status appvault-fetch.socket`, `journalctl -u 'appvault-fetch@*'`; is libcurl4 installed?
        """
    case fleetFetched = """
        fleet.fetched | \
        Version {1} of {2} and version {3} of its orders are in force. | a number | an organisation | a number
        """
    case buttonContinue = "button.continue | Continue"
    case buttonAgree = "button.agree | Agree"
    case buttonDisagree = "button.disagree | Disagree"
    case buttonDeny = "button.deny | Deny"
    case buttonNotNow = "button.not-now | Not now"
    case buttonCancel = "button.cancel | Cancel"
    case buttonLoginPassword = "button.login-password | My login password"
    case buttonOwnPasscode = "button.own-passcode | A passcode of its own"
    case buttonOpen = "button.open | Open"
    case buttonForgotten = "button.forgotten | I forgot it"
    case buttonSomebodyElse = "button.somebody-else | Somebody else"
    case buttonMakeKey = "button.make-key | Make a recovery key"
    case buttonNoKey = "button.no-key | No recovery key"
    case buttonRemove = "button.remove | Remove"
    case buttonKeep = "button.keep | Keep"
    case buttonLater = "button.later | Later"
    case matchHeading = "match.heading | Open your store"
    case matchNamed = "match.named | Open the store {1} | the name of a store"
    case matchCurrentHeading = "match.current.heading | First, your present passcode"
    case recoveryHeading = "recovery.heading | Open your store with the recovery key"
    case recoveryOfferTitle = """
        recovery.offer.title | Make a recovery key now, for a forgotten passcode?
        """
    case loginHeading = "login.heading | Your login password"
    case formerHeading = "former.heading | What opened your store before"
    case exportHeading = "export.heading | A passphrase for the file"
    case exportHint = """
        export.hint | \
        {1} or more characters. Without it, the file cannot be opened by anyone. | a number
        """
    case importHeading = "import.heading | The passphrase of the file"
    case fingerprintWho = "fingerprint.who | Let your finger say who you are? [y/n] "
    case fingerprintWhoTitle = "fingerprint.who.title | Let your finger say who you are?"
    case fingerprintWhoBody = """
        fingerprint.who.body | \
        Then `appvault switch` asks for a finger first, and opens whose it is.
        """
    case fingerprintOfferTitle = "fingerprint.offer.title | Use your fingerprint to unlock?"
    case fingerprintClearTitle = "fingerprint.clear.title | Remove all of these prints?"
    case lossTitle = """
        changes.lost.title | Remove what is left of the damaged log?
        """
    case buttonJoin = "button.join | Join"
    case buttonInvitation = "button.invitation | I have an invitation"
    case joinHeading = "join.heading | Join an organisation"
    case joinHint = """
        join.hint | \
        Type the link that you were given, or your e-mail address there.
        """
    case joinField = "join.field | Link or e-mail address:\u{20}"
    case joinConfirm = "join.confirm | Let this organisation manage this machine?"
    case joinCalls = """
        join.calls | \
        It calls itself {1}. The invitation comes from {2}. | an organisation | a server
        """
    case joinFound = """
        join.found | \
        The domain {1} names this server. Compare the fingerprint before you join. | a domain
        """
    case joinRules = """
        join.rules | It decides which passcodes are good, and when stores lock.
        """
    case joinOrders = """
        join.orders | It can lock every store on this machine, and wipe it.
        """
    case joinFingerprint = """
        join.fingerprint | \
        Its fingerprint. Compare it with what you were told in another way:
        """
    case joinAsks = "join.asks | Asking {1} ... | a server"
    case joinQuestion = "join.question | Join? [y/n]\u{20}"
    case buttonPicture = "button.picture | Choose a picture"
    case buttonType = "button.type | Type it"
    case buttonSignedIn = "button.signed-in | I have signed in"
    case joinScan = "join.scan | Scan the code"
    case joinScanHint = """
        join.scan.hint | \
        Hold the code of your organisation in front of the camera.
        """
    case joinAbout = "join.about | What it means to join"
    case joinAboutStores = """
        join.about.stores | Your stores stay yours: nobody there can read them.
        """
    case joinAboutLeave = """
        join.about.leave | Root ends it at any time: `appvault fleet leave`
        """
    case joinNotAllowed = """
        join.not-allowed | It was not allowed. This machine has joined no organisation.
        """
    case joinNotAsked = """
        join.not-asked | \
        The password of an administrator cannot be asked for here. This machine has joined no organisation.
        """
    case signInBody = """
        signin.body | \
        {1} wants to know who you are. What you type is sent to {2} and not kept on this machine. \
        | an organisation | a server
        """
    case signInWeb = """
        signin.web | \
        {1} wants to know who you are. Open this page on any device: | an organisation
        """
    case signInWebCode = "signin.web.code | Sign in there, and type this code: {1} | a code"
    case signInRefused = "signin.refused | {1} did not accept that. | an organisation"
    case signInSays = "signin.says | It says: {1} | a text of the organisation's server"
    case signInMissing = "signin.missing | Fill in every field that is needed."
    case signInNotYet = "signin.not-yet | Nobody has typed this code there yet."
    case joinLater = """
        join.later | \
        Its rules could not be fetched yet. This machine tries again by itself:
        """
    case peopleHeading = "people.heading | Which store should be open?"
    case peopleHint = """
        people.hint | \
        Your others are locked, once this one is open.
        """
    case peopleQuestion = "people.question | Which one? A number from 1 to {1}:\u{20} | a number"
    case peopleOpen = "people.open | open"
    case peopleLocked = "people.locked | locked"
    case peopleLogin = "people.login | locked; your login password opens it"
    case peopleDamaged = "people.damaged | damaged"
    case peopleErased = "people.erased | erased"
    case peopleNoTries = "people.no-tries | locked: no tries are left"
    case peopleBarred = "people.barred | kept shut by your organisation"
    case buttonAddPerson = "button.add | Add somebody"
    case peopleFinger = """
        people.finger | \
        Touch the fingerprint reader, or press Enter for the list.
        """
    case peopleFingerOn = """
        people.finger.on | \
        From now on a finger of the store {1} says that it is its person, at `appvault switch`. | a store
        """
    case peopleFingerOff = """
        people.finger.off | \
        A finger of the store {1} no longer says who it is. | a store
        """
    case peopleAddHeading = "people.add.heading | A store for somebody else"
    case peopleAddHint = """
        people.add.hint | \
        It gets a passcode of its own, and nothing of yours is in it. You both use the same account.
        """
    case peopleAddName = "people.add.name | Their name, or what it is for:\u{20}"
    case peopleAddTaken = """
        people.add.taken | \
        You have a store of this name already. Take another name.
        """
    case peopleAddWrong = """
        people.add.wrong | \
        This cannot be a name. A name has no slash and no control character.
        """
    case peopleRemoveHeading = "people.remove.heading | Remove {1}? | a store"
    case peopleRemoveHint = """
        people.remove.hint | \
        Everything in it is erased. Nobody can bring it back.
        """
    case peopleRemoveAlong = """
        people.remove.along | \
        These stores follow it. Nobody can open them any more: {1} | names of stores
        """
    case peopleRemoveShared = """
        people.remove.shared | \
        Stores that others share with you open no more, until they let you in again.
        """
    case peopleRemoveName = "people.remove.name | Type its name, {1}, to go on:\u{20} | a store"
    case peopleRemoveWrong = "people.remove.wrong | That is not its name."
    case peopleRemoved = """
        people.removed | \
        The store {1} is removed. | a store
        """
    case peopleRemovedLast = """
        people.removed.last | \
        The store {1} is removed. You have none now; `appvault welcome` makes one. | a store
        """
    case peopleSwitched = """
        people.switched | \
        The store {1} is open. Your others are locked. | a store
        """
    case buttonNoPasscode = "button.no-passcode | No passcode"
    case createHeading = "create.heading | A passcode for your store"
    case welcomeManaged = "welcome.managed | This machine is managed by {1}. | an organisation"
    case welcomeWay = "welcome.way | What should open your store?"
    case welcomeLogin = """
        welcome.login | \
        Your login password: then there is one password for both.
        """
    case welcomeOwn = """
        welcome.own | \
        A passcode of its own: then your login password alone does not open it.
        """
    case welcomeNone = """
        welcome.none | \
        No passcode: then it is open for everybody who is logged in as you.
        """
    case welcomeOwnOffer = """
        welcome.own.offer | Should it have a passcode of its own? [y/n]\u{20}
        """
    case welcomeReady = "welcome.ready | Your store is ready."
    case welcomeSet = "welcome.set | `appvault set NAME` keeps something in it."
    case welcomeStatus = """
        welcome.status | \
        `appvault status` says whether it is open, and what it needs.
        """
    case welcomeNothing = "welcome.nothing | Your store is ready, and nothing is left to do."
    case written = "written | {1} | what an organisation wrote"
    case fleetReported = "fleet.reported | {1} has this machine's report. | an organisation"
    case fleetUnchanged = "fleet.unchanged | {1} has nothing new. | an organisation"
    case fleetJoined = "fleet.joined | This machine has joined {1}. | an organisation"
    case fleetTaken = """
        fleet.taken | Version {1} of {2} is in force. | a number | an organisation
        """
    case fleetPresent = """
        fleet.present | Version {1} of {2} was in force already. | a number | an organisation
        """
    case fleetLeft = "fleet.left | This machine has left {1}. | an organisation"
    case fleetLeftUnknown = "fleet.left.unknown | This machine has left its organisation."
    case refusedPolicyBroken = """
        refused.PolicyBroken | \
        {1}:{2}: {3}: {4} | \
        a file | a line | what is wrong | what would be right
        """
    case refusedPolicyBrokenKey = """
        refused.PolicyBroken.key | \
        {1}:{2}: {3}: {4}: {5} | \
        a file | a line | a policy key | what is wrong | what would be right
        """
    case refusedStorageFailed = """
        refused.StorageFailed | \
        {1} failed: {2} | \
        what was done: during.* | why: storage.*
        """

    // MARK: Refusals: what to do about it

    case hintAlreadyExists = "hint.AlreadyExists | `appvault status` shows it"
    case hintDoesNotExistGroup = "hint.DoesNotExist.group | `getent group` lists them"
    case hintDoesNotExistMember = """
        hint.DoesNotExist.member | \
        `appvault members STORE` lists whom it is shared with
        """
    case hintDoesNotExistParent = """
        hint.DoesNotExist.parent | \
        if the store has a recovery key of its own, `appvault recover --store NAME` opens it
        """
    case hintDoesNotExistStore = "hint.DoesNotExist.store | `appvault create` makes one"
    case hintDoesNotExistRecord = "hint.DoesNotExist.record | `appvault list` shows what is there"
    case hintDoesNotExistAccount = "hint.DoesNotExist.account | check the spelling of the name"
    case hintDoesNotExistPasscode = "hint.DoesNotExist.passcode | `appvault passwd --on` sets one"
    case hintDoesNotExistReader = """
        hint.DoesNotExist.reader | \
        name it as `appvault fingerprint list --json` does, by name, driver or port
        """
    case hintDoesNotExistFinger = """
        hint.DoesNotExist.finger | \
        `appvault fingerprint list` shows which are
        """
    case hintDoesNotExistRecoveryKey = """
        hint.DoesNotExist.recoveryKey | \
        `appvault recovery new` makes one, as long as you know the passcode
        """
    case hintInvalidPasscodeRecover = """
        hint.InvalidPasscode.recover | \
        forgotten? `appvault recover` asks for the recovery key
        """
    case hintInvalidPasscodeReset = """
        hint.InvalidPasscode.reset | \
        forgotten? `appvault reset` erases the store
        """
    case hintInvalidPasscodeRoot = """
        hint.InvalidPasscode.root | \
        forgotten? root erases the store: `appvault reset --user NAME`
        """
    case hintLocked = "hint.Locked | `appvault unlock` opens it"
    case hintOutOfMemory = "hint.OutOfMemory | close something and try again; no try was counted"
    case hintPasscodeExpired = """
        hint.PasscodeExpired | \
        `appvault unlock` on a terminal asks for a new one
        """
    case hintPasscodeRequired = """
        hint.PasscodeRequired | \
        run it on a terminal, or pass the passcode with --passcode-fd
        """
    case hintPasscodeRequiredChanged = """
        hint.PasscodeRequired.changed | \
        start again with the new passcode
        """
    case hintRules = "hint.Rules | `appvault policy check` shows what a passcode needs"
    case hintDeleted = "hint.Deleted | `appvault reset`, then `appvault create`, makes a new one"
    case hintRuleFailedFailed = """
        hint.RuleFailed.failed | \
        an administrator finds the reason with `journalctl -u appvaultd`
        """
    case hintRetryLimitReached = """
        hint.RetryLimitReached | \
        `appvault recover`, or root's `appvault tries clear --user NAME`
        """
    case hintRetryLimitReachedReset = """
        hint.RetryLimitReached.reset | \
        root's `appvault tries clear --user NAME`, or `appvault reset`, which erases the store
        """
    case hintRetryLimitReachedClear = """
        hint.RetryLimitReached.clear | \
        root's `appvault tries clear --user NAME`
        """
    case hintRetryLimitReachedRoot = """
        hint.RetryLimitReached.root | \
        root's `appvault tries clear --user NAME`, or `appvault reset --user NAME`, which erases \
        the store
        """
    case hintPolicyDenies = """
        hint.PolicyDenies | \
        your administrator decides that, in /etc/appvault/policy.conf
        """
    case hintHold = """
        hint.hold | \
        `appvault hold` without a time holds it as long as the policy allows
        """
    case hintInvalidAction = "hint.InvalidAction | `appvault actions` lists what is possible"
    case hintFingerprintUnavailable = "hint.FingerprintUnavailable | use the passcode"
    case hintFingerprintUnavailableExternal = """
        hint.FingerprintUnavailable.external | \
        an administrator can allow it: FingerprintReaders=any in /etc/appvault/policy.conf
        """
    case hintFingerprintUnavailableNoReader = """
        hint.FingerprintUnavailable.no-reader | \
        `lsusb` shows whether there is one; some work only after `fwupdmgr update`
        """
    case hintFingerprintUnavailableNotEnrolled = """
        hint.FingerprintUnavailable.not-enrolled | \
        `appvault fingerprint enroll` enrols a finger
        """
    case hintFingerprintUnavailableMoved = """
        hint.FingerprintUnavailable.moved | \
        `appvault fingerprint enroll` enrols the finger at that port
        """
    case hintFingerprintUnavailableDuplicate = """
        hint.FingerprintUnavailable.duplicate | \
        use another finger; `appvault fingerprint delete` deletes yours
        """
    case hintFingerprintUnavailableFull = """
        hint.FingerprintUnavailable.full | \
        delete a finger; as root `appvault fingerprint clear` empties the reader
        """
    case hintFingerprintUnavailableLid = """
        hint.FingerprintUnavailable.lid | \
        open the lid, or use the passcode
        """
    case hintFingerprintUnavailableBusy = """
        hint.FingerprintUnavailable.busy | \
        try again in a moment, or use the passcode
        """
    case hintFingerprintUnavailableWorker = """
        hint.FingerprintUnavailable.worker | \
        `appvault doctor` says why; use the passcode
        """
    case hintFingerprintUnavailableRemoved = """
        hint.FingerprintUnavailable.removed | \
        plug it in again and repeat, or use the passcode
        """
    case hintFingerprintUnavailableNoFinger = """
        hint.FingerprintUnavailable.no-finger | \
        repeat it and touch the reader, or use the passcode
        """
    case hintFingerprintUnavailableHot = """
        hint.FingerprintUnavailable.hot | \
        leave the reader alone for about 5 minutes, or use the passcode
        """
    case hintFingerprintUnavailableFault = """
        hint.FingerprintUnavailable.fault | \
        try again, or use the passcode; `journalctl -u appvault-fingerprint` may say more
        """
    case hintNotPermittedOwnerChanged = """
        hint.NotPermitted.ownerChanged | \
        root moves it: `appvault chown STORE USER`
        """
    case hintServiceUnavailable = """
        hint.ServiceUnavailable | \
        try again; if it stays so, `journalctl -u appvaultd` says more
        """
    case hintStoreDamaged = """
        hint.StoreDamaged | \
        `appvault status` says more; restore the state folder from a backup
        """
    case hintBusy = "hint.Busy | try again in a moment"
    case hintBusyWatch = "hint.Busy.watch | end one of them first, for example an `appvault watch`"
    case hintChangeRequired = """
        hint.ChangeRequired | \
        `appvault unlock` on a terminal leads you through it
        """
    case hintResetRequested = """
        hint.ResetRequested | \
        with a recovery key, `appvault recover`; without one, `appvault reset` removes the store
        """
    case hintNoMatch = "hint.NoMatch | type the same passcode twice"
    case hintSameAsCurrent = "hint.SameAsCurrent | choose another one"
    case hintRecoveryKeyInvalid = """
        hint.RecoveryKeyInvalid | \
        use the key that was shown last; older ones no longer work
        """
    case hintPolicyBroken = """
        hint.PolicyBroken | \
        the policy from before stays in force until an administrator mends the file
        """
    case hintStorageFailed = """
        hint.StorageFailed | \
        nothing of it was stored; make room on the disk and try again
        """
    case hintStorageDescriptors = """
        hint.StorageFailed.descriptors | \
        try again in a moment; root allows more by LimitNOFILE= in `systemctl edit appvaultd`
        """
    case hintStorageReadOnly = """
        hint.StorageFailed.read-only | \
        nothing of it was stored; it works once root has made the state folder writable
        """
    case hintStorageHeld = "hint.StorageFailed.held | end the other process and try again"
    case hintStorageOther = """
        hint.StorageFailed.other | \
        the disk may be failing: `journalctl -k` and `journalctl -u appvaultd` say more
        """
    case hintServiceUnavailableFull = """
        hint.ServiceUnavailable.full | \
        no try was counted; make room on the disk and try again
        """
    case hintTooManyStores = """
        hint.InvalidAction.stores | \
        `appvault stores` lists yours; `appvault reset --store NAME` removes one
        """
    case hintTooLargeQuota = """
        hint.TooLarge.quota | \
        delete records that you do not need, or ask the administrator for more (StoreQuota)
        """

    // MARK: Why an action is not possible

    case reasonNoStore = "reason.no-store | there is no store"
    case reasonErased = "reason.erased | the store was erased"
    case reasonRetryLocked = "reason.retry-locked | the store needs its recovery key"
    case reasonDamaged = "reason.damaged | the store is damaged"
    case reasonOwnerChanged = """
        reason.owner-changed | \
        the store was made for an account that has changed since
        """
    case reasonLocked = "reason.locked | the store is locked already"
    case reasonFollowsLogin = """
        reason.follows-login | \
        it opens with your login password, which `passwd` changes
        """
    case reasonPasscodeOff = "reason.passcode-off | the passcode is off"
    case reasonPasscodeOn = "reason.passcode-on | the store has a passcode"
    case reasonTerminalOnly = "reason.terminal-only | it is shown on a terminal only"
    case reasonNotFollowing = "reason.not-following | the store does not follow the login password"
    case reasonTooManyStores = "reason.too-many-stores | a person has at most {1} stores | a number"
    case reasonTooManyFollowers = """
        reason.too-many-followers | \
        a person has at most {1} stores that follow others | \
        a number
        """
    case reasonFollows = """
        reason.follows | \
        it opens and locks with the store {1} | \
        a store's name
        """
    case reasonParentWithoutPasscode = """
        reason.parent-without-passcode | \
        the store that it follows, {1}, has no passcode | \
        a store's name
        """
    case reasonMembershipPending = """
        reason.membership-pending | \
        you get access when another member has the store open
        """
    case reasonMembershipLost = """
        reason.membership-lost | \
        your own store was made anew since: a member has to share this one with you again
        """
    case reasonMemberByGroup = """
        reason.member-by-group | \
        it is shared with a group that you are in, and you have it as long as you are
        """
    case reasonSameNumber = """
        reason.same-number | \
        {1} is a member and had the same number: `appvault unshare` them first | \
        an account or a group
        """
    case reasonTooManyMembers = """
        reason.too-many-members | \
        a store has at most {1} members | \
        a number
        """
    case reasonNotShared = """
        reason.not-shared | \
        only a store that was made with --shared can be shared
        """
    case reasonShared = "reason.shared | it is a shared store: its members' stores open it"
    case reasonNotYetMember = """
        reason.not-yet-member | \
        share it with them first, and wait until they have access
        """
    case reasonIsOwner = "reason.is-owner | the store belongs to them"
    case reasonIsDefault = "reason.is-default | logins open it by this name"
    case reasonLastWayIn = "reason.last-way-in | nothing else would open the store"
    case reasonHoldMost = "reason.hold-most | the policy allows {1} at most | a time: span.*"
    case reasonNoSuchKey = "reason.no-such-key | the store has no such key"
    case reasonPolicy = "reason.policy | the policy does not allow it ({1}) | a policy key"
    case reasonPolicyBroken = """
        reason.policy-broken | \
        the policy file has an error, and no earlier version is known
        """
    case reasonNoPasscodeMode = "reason.no-passcode-mode | the policy asks for no passcode"
    case reasonChangeDue = "reason.change-due | a change that your policy demands comes first"
    case reasonFingerprintNoReader = "reason.fingerprint.no-reader | there is no reader"
    case reasonFingerprintNotEnrolled = "reason.fingerprint.not-enrolled | no finger is enrolled"
    case reasonFingerprintOn = "reason.fingerprint.on | fingerprints are already on"
    case reasonFingerprintOff = "reason.fingerprint.off | fingerprints are off"
    case reasonFingerprintOption = "reason.fingerprint.option | fingerprints are switched off here"
    case reasonFingerprintRemote = "reason.fingerprint.remote | the session is a remote one"
    case reasonFingerprintElsewhere = """
        reason.fingerprint.elsewhere | \
        your session is not the active one at this machine
        """
    case reasonFingerprintUnknownSession = """
        reason.fingerprint.unknown-session | \
        AppVault cannot find out who is at this machine
        """
    case reasonFingerprintLid = "reason.fingerprint.lid | the lid is shut"
    case reasonFingerprintPolicy = "reason.fingerprint.policy | the policy does not allow it"
    case reasonFingerprintPolicyUnknown = """
        reason.fingerprint.policy-unknown | \
        AppVault cannot find out which policy applies to you
        """
    case reasonFingerprintExternal = """
        reason.fingerprint.external | \
        the reader is not known to be built in
        """
    case reasonFingerprintDue = """
        reason.fingerprint.due | \
        a change is due first, and it needs your passcode
        """
    case reasonFingerprintBusy = "reason.fingerprint.busy | the reader is in use"
    case reasonFingerprintWorker = """
        reason.fingerprint.worker | \
        the fingerprint service does not answer
        """
    case reasonFingerprintFailures = """
        reason.fingerprint.failures | \
        too many touches did not match; your passcode is needed once
        """
    case reasonFingerprintPasscodeEvery = """
        reason.fingerprint.passcode-every | \
        your policy asks for the passcode again
        """
    case reasonFingerprintNotOpened = """
        reason.fingerprint.not-opened | \
        your passcode must open the store once first
        """
    case reasonFingerprintRetryLocked = "reason.fingerprint.retry-locked | no tries are left"
    case reasonFingerprintRemoved = "reason.fingerprint.removed | the reader was unplugged"
    case reasonFingerprintNotSupported = """
        reason.fingerprint.not-supported | \
        the reader cannot do that
        """
    case reasonFingerprintOneFinger = """
        reason.fingerprint.one-finger | \
        this reader can keep one finger only; delete the other one first
        """
    case reasonFingerprintFull = """
        reason.fingerprint.full | \
        the reader's memory for fingerprints is full
        """
    case reasonFingerprintUnknownPrint = """
        reason.fingerprint.unknown-print | \
        the reader has lost this fingerprint; enrol the finger again
        """
    case reasonFingerprintDuplicate = """
        reason.fingerprint.duplicate | \
        the reader knows this finger already
        """
    case reasonFingerprintNoFinger = """
        reason.fingerprint.no-finger | \
        no finger was placed on the reader
        """
    case reasonFingerprintHot = """
        reason.fingerprint.hot | \
        the reader is too warm and has to cool down
        """
    case reasonFingerprintFault = "reason.fingerprint.fault | the reader has failed"
    case reasonFingerprintMoved = """
        reason.fingerprint.moved | \
        the reader is at another port than before
        """
    case reasonFingerprintStopped = "reason.fingerprint.stopped | another request uses the reader"
    case reasonPasscodeFirst = "reason.passcode-first | the store needs a passcode first"

    // MARK: What failed, and why

    case duringCount = "during.count | counting the try"
    case duringUncount = "during.uncount | taking the count back"
    case duringClearCount = "during.clear-count | clearing the count"
    case duringWriteCount = "during.write-count | writing the count"
    case duringUnlock = "during.unlock | unlocking"
    case duringRecover = "during.recover | recovering"
    case duringChange = "during.change | changing the passcode"
    case duringFollow = "during.follow | following the login password"
    case duringTurnOff = "during.turn-off | turning the passcode off"
    case duringRecoveryKey = "during.recovery-key | making a recovery key"
    case duringRename = "during.rename | changing the store's name"
    case duringNewKey = "during.new-key | giving the store a new key"
    case duringShare = "during.share | sharing the store"
    case duringChown = "during.chown | changing the owner"
    case duringErase = "during.erase | erasing"
    case duringCreate = "during.create | creating a store"
    case duringRemove = "during.remove | removing the store"
    case duringOpen = "during.open | opening the store"
    case duringRead = "during.read | reading"
    case duringStore = "during.store | storing"
    case duringExport = "during.export | exporting"
    case duringImport = "during.import | importing"
    case duringTerms = "during.terms | noting what is due"
    case duringFinger = "during.finger | keeping the fingers"
    case duringKeyring = "during.keyring | keeping the login password"
    case duringOrganisation = "during.organisation | keeping what the organisation has signed"
    case storageNoSpace = "storage.no-space | no space left on the disk"
    case storageNoDescriptors = "storage.no-descriptors | the service has too many files open"
    case storageReadOnly = "storage.read-only | the state folder is read-only"
    case storageHeld = "storage.held | another process holds the records"
    case storageCollision = "storage.collision | the name collides with another one"
    case storageValue = "storage.value | a value could not be stored"
    case storageError = "storage.error | error {1} | a number of the system's"
    case storageSystem = "storage.system | {1} | the system's words"

    // MARK: What is damaged, and what to do

    case damageFileMissing = "damage.file-missing | a file of it is missing"
    case damageMachineKeyMissing = "damage.machine-key-missing | the machine key is missing"
    case damageMachineKeyUnreadable = """
        damage.machine-key-unreadable | \
        the machine key cannot be read
        """
    case damageMachineKey = "damage.machine-key | the machine key is damaged"
    case damageForeignMachineKey = """
        damage.foreign-machine-key | \
        it was made with another machine's key
        """
    case damageSlotsMissing = "damage.slots-missing | its slots file is missing"
    case damageSlotsUnreadable = "damage.slots-unreadable | its slots file cannot be read"
    case damageSlotsSize = "damage.slots-size | its slots file has a wrong size"
    case damageSlotsBlock = "damage.slots-block | block {1} of its slots file is damaged | a number"
    case damageSlotsEmpty = "damage.slots-empty | its slots file holds no key"
    case damageSlotsReadBack = """
        damage.slots-read-back | \
        block {1} of its slots file was not written as it should be | \
        a number
        """
    case damageRecordsMissing = "damage.records-missing | its records are missing"
    case damageRecordsFile = "damage.records-file | its records file cannot be read"
    case damageRecordsJournal = """
        damage.records-journal | \
        the latest changes to its records are missing
        """
    case damageRecordsHead = "damage.records-head | the head of its records cannot be read"
    case damageRecordsNode = """
        damage.records-node | \
        a part of its records cannot be read (node {1}) | \
        a number
        """
    case damageRecordsBucket = """
        damage.records-bucket | \
        records are missing or were replaced by older ones (bucket {1}) | \
        a number
        """
    case damageRecordsRecord = """
        damage.records-record | \
        a record cannot be read (bucket {1}) | \
        a number
        """
    case damageRecordsPages = """
        damage.records-pages | \
        a part of its records file cannot be read or written
        """
    case damageMemberFile = """
        damage.member-file | \
        what gives you access to it cannot be read any more
        """
    case damageExportOpensNot = "damage.export-opens-not | the export file cannot be opened"
    case damageExportChanged = """
        damage.export-changed | \
        the export file cannot be opened, or was changed
        """
    case damageExportCut = "damage.export-cut | the export file was cut short"
    case damageExportLayout = """
        damage.export-layout | \
        the export file does not have the right format
        """
    case damageSystem = "damage.system | {1} | the system's words"
    case damageUnknown = "damage.unknown | unknown"
    case adviceRecover = """
        advice.recover | \
        `appvault recover` brings it back with the recovery key; or restore a backup
        """
    case adviceRestore = """
        advice.restore | \
        restore the state folder from a backup; nothing here overwrites what is left
        """
    case adviceLostChanges = """
        advice.lost-changes | \
        look what is missing and store it again; then `appvault unlock` ends this message
        """
    case adviceMend = """
        advice.mend | \
        `appvault list` names what is damaged; `appvault mend` goes on without it, or restore a backup
        """
    case adviceRecordsPages = """
        advice.records-pages | \
        restore a backup; or save what can be read with `appvault export`, \
        then `appvault reset`, `appvault create` and `appvault import`
        """
    case adviceMemberFile = """
        advice.member-file | \
        ask its owner to share it with you again, or a member if you are its owner: `appvault share`
        """
    case troubleRecordsMarked = """
        trouble.records-marked | \
        damaged records were written over, and others may be missing
        """
    case troubleOwnerChanged = """
        trouble.owner-changed | \
        the store was made for uid {1}, {2} | \
        a uid | the name of an account
        """
    case adviceOwnerChanged = """
        advice.owner-changed | \
        root moves it: appvault chown {1} USER, or erases it: appvault reset --user USER | \
        the id of a store
        """
    case previewApp = """
        preview.app | \
        {1} ({2}) | \
        the id of an application | what would be different, as in policy.conf: Require=passcode
        """
    case previewApps = """
        preview.apps | \
        applications that would change: {1} | \
        applications, each as preview.app
        """
    case previewAppsMore = """
        preview.apps.more | \
        applications that would change: {1} and {2} more | \
        applications, each as preview.app | a count
        """
    case troubleRecoveryOff = """
        trouble.recovery-off | \
        your policy does not allow opening it with its recovery key
        """
    case troubleConsents = """
        trouble.consents | {1} asks you to read something, and to answer | an organisation
        """
    case adviceConsents = "advice.consents | `appvault consents answer` shows it"
    case troubleDrift = "trouble.drift | your login password did not open it"
    case adviceDrift = """
        advice.drift | \
        if you changed the login password elsewhere: `appvault resync`
        """
    case troubleNoPasscodeMode = """
        trouble.no-passcode-mode | \
        your policy uses no passcodes: stores open without asking; this is not recommended
        """
    case adviceNoPasscodeMode = """
        advice.no-passcode-mode | \
        UseDefaultPolicy=yes or Enabled=yes in the policy asks for passcodes again
        """
}

extension TextID {
    /// The rows are split once, not each time that a text is shown.
    private static let rows = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, $0.rawValue) })
    private static let ids = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue.id, $0) })

    package var row: TextRow { Self.rows[self] ?? rawValue }
    package var id: String { row.id }
    package var english: String { row.english }

    /// By its id alone: the compiler's own would compare with each row in turn, and take seconds to
    /// be compiled.
    package init?(rawValue: TextRow) {
        self.init(id: rawValue.id)
    }

    package init?(id: String) {
        guard let text = Self.ids[id] else { return nil }
        self = text
    }
}
