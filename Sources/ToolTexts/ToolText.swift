/// Every text of the command line's own that a person reads, one row for each. A row has the id (by
/// which `[Texts]` of the policy and the catalogues name the text), the English (shown if neither
/// of them has another text, or if the daemon cannot be asked), and what its positions {1}, {2}
/// stand for. A prompt ends with a space. The daemon lists these texts together with its own. A new
/// text needs a row here and one in each po/ file.
package enum ToolText: TextRow, CaseIterable, Sendable {
    // MARK: Notices of the agent

    case noticeErased = "tool.notice.erased | The store {1} was erased. | the name of a store"
    case noticeBarred = """
        tool.notice.barred | \
        The organisation of this machine has locked the store {1}. | \
        the name of a store
        """
    case noticeRetryLocked = """
        tool.notice.retry-locked | \
        The store {1} is locked: there were too many wrong passcodes. | \
        the name of a store
        """
    case noticeDue = """
        tool.notice.due | \
        The policy demands a change of the store {1}. | \
        the name of a store
        """
    case noticeTrouble = """
        tool.notice.trouble | \
        Something is wrong with the store {1}. | \
        the name of a store
        """
    case noticeFinger = """
        tool.notice.finger | \
        A finger was enrolled. From now on it opens the store {1}. | \
        the name of a store
        """
    case noticeFingerBody = """
        tool.notice.finger.body | \
        If that was not you: `appvault fingerprint list`, then `appvault passwd`.
        """
    case noticeStillLocked = "tool.notice.still-locked | Still locked: {1}. | the names of stores"
    case noticeStillLockedBody = """
        tool.notice.still-locked.body | \
        Since you came back, AppVault has seen neither your passcode nor your finger. `appvault unlock` asks for it.
        """
    case noticeApp = "tool.notice.app | {1} is locked. | the id of an application"
    case noticeAppBody = "tool.notice.app.body | It goes on where it was as soon as you unlock it."
    case noticeAppOpen = "tool.notice.app.open | Unlock"
    case noticeWindow = "tool.notice.window | Open AppVault"

    case appIsLocked = "tool.app.is-locked | it runs, and is locked now"
    case appRuns = "tool.app.runs | it runs"
    case appOpenHint = "tool.app.open.hint | `appvault app open ID` lets one go on"

    // MARK: Running an application

    case runNoFolder = """
        tool.run.no-folder | \
        the application cannot be locked: there is no XDG_RUNTIME_DIR
        """
    case runNoAgent = "tool.run.no-agent | the application cannot be locked: {1} | what went wrong"
    case runNoBus = "tool.run.no-bus | no session bus answers"
    case runHint = """
        tool.run.hint | \
        run it in a session of your own, or with --on-lock stay: then nothing locks it while it runs
        """
    case runNotMoved = "tool.run.not-moved | systemd did not give it a scope of its own"
    case runGoesOn = "tool.run.goes-on | {1} goes on where it was. | the id of an application"
    case runNoCommand = """
        tool.run.no-command | \
        {1}: {2} | \
        a command | what is wrong, in the system's words
        """
    case runNoSecret = """
        tool.run.no-secret | \
        {1} is not given to the command: {2} | \
        the name of a variable | what is wrong, in the system's words
        """
    case runBadValue = """
        tool.run.bad-value | \
        the record {1} has a NUL in it, which no variable can have | \
        the name of a record
        """
    case runBadValueHint = "tool.run.bad-value.hint | give it by --file"
    case runNoApp = "tool.run.no-app | {1} is not locked | the id of an application"
    case runNoAppHint = "tool.run.no-app.hint | `appvault app list` shows what is"
    case runOnLock = """
        tool.run.on-lock | \
        the policy says what becomes of {1} when its store is locked: {2} | \
        the id of an application | freeze, quit or stay
        """

    // MARK: Confirming what cannot be undone

    case agreePrompt = "tool.agree.prompt | type yes to go on: "
    case agreeName = """
        tool.agree.name | \
        type the store's name, {1}, to go on:\u{20} | \
        the name of a store
        """
    case agreeNobody = """
        tool.agree.nobody | \
        {1}: you must confirm this, but there is no terminal to ask on | \
        a verb, as it is typed
        """
    case agreeHint = "tool.agree.hint | add --yes if you are sure: {1} | what is lost: tool.agree.*"
    case agreeNot = "tool.agree.not | you did not type yes; nothing was changed"
    case agreePasscodeOff = """
        tool.agree.passwd-off | \
        without a passcode the store opens by itself, and whoever has the disk can read it
        """
    case agreeReset = "tool.agree.reset | the store and everything in it will be erased"
    case resetValues = """
        tool.reset.values | \
        values that are in it: {1} | \
        how many
        """
    case resetShut = """
        tool.reset.shut | \
        these will not open for you any more, unless they have a recovery key of their own: {1} | \
        names of stores
        """
    case resetWaiting = """
        tool.reset.waiting | \
        you have no access to these any more, until another member shares them with you again: {1} | \
        names of stores
        """
    case resetMembers = """
        tool.reset.members | \
        everybody it is shared with loses it, too: {1} | \
        names of people and groups
        """
    case agreeMoveReplace = "tool.agree.replace | what the other store has by these names is lost"
    case agreeHandOn = """
        tool.agree.hand-on | \
        the store will belong to {1}, who can then take it away from you | \
        the name of an account
        """
    case roleOwner = "tool.role.owner | owner"
    case roleWriter = "tool.role.writer | reads and writes"
    case roleReader = "tool.role.reader | reads"
    case memberWaits = "tool.member.waits | has no access yet"
    case memberByGroup = "tool.member.by-group | by a group"
    case memberEverybody = "tool.member.everybody | everybody on this machine"
    case newKeyDue = """
        tool.members.new-key-due | \
        somebody was removed, and the store has no new key yet; it gets one when it is opened
        """
    case agreeTriesClear = """
        tool.agree.tries-clear | \
        the wrong tries will be forgotten; whoever made them can make as many again
        """
    case agreeMend = """
        tool.agree.mend | \
        records that cannot be read will be removed; all others will be kept as they are
        """
    case agreeChown = """
        tool.agree.chown | \
        the store and everything in it will belong to {1} | \
        the name of an account
        """
    case agreeFleetLeave = """
        tool.agree.fleet-leave | the organisation will set no rules on this machine any more
        """
    case fleetNone = "tool.fleet.none | this machine has joined no organisation"
    case fleetOrganisation = "tool.fleet.organisation | organisation: {1} | its name"
    case fleetNothingYet = "tool.fleet.nothing-yet | no bundle was taken yet"
    case fleetPolicy = """
        tool.fleet.policy | \
        policy: version {1}, signed {2}, to be replaced before {3} | a number | a time | a time
        """
    case fleetFinal = """
        tool.fleet.final | \
        policy: version {1}, signed {2}, to be replaced before {3}; this machine's own files change nothing of it | \
        a number | a time | a time
        """
    case fleetOrders = """
        tool.fleet.orders | \
        orders: version {1}, signed {2}, to be replaced before {3} | a number | a time | a time
        """
    case fleetDays = """
        tool.fleet.days | \
        days without news: {1}; the stores are locked after {2} | a number | a number
        """
    case fleetDaysWipe = """
        tool.fleet.days-wipe | \
        days without news: {1}; the stores are locked after {2}, wiped after {3} | \
        a number | a number | a number
        """
    case fleetContact = "tool.fleet.contact | questions: {1} | whom to ask"
    case fleetAsked = "tool.fleet.asked | its server was asked {1}, and all is well | a time"
    case fleetAskedInVain = """
        tool.fleet.asked-in-vain | its server was asked {1}, in vain: {2} | a time | what is wrong
        """
    case fleetProblem = "tool.fleet.problem | trouble: {1} | what is wrong"
    case fleetWhole = """
        tool.fleet.whole | \
        {1}, version {2}: whole, and signed by {3}; it needs {4} of the keys | \
        an organisation | a number | names | a number
        """
    case fleetPacked = """
        tool.fleet.packed | \
        packed; {1} of {2} signatures by keys that it names itself | a number | a number
        """
    case fleetOrdersCount = """
        tool.fleet.orders-count | \
        orders: {1} to lock, {2} to wipe, {3} to reset | a number | a number | a number
        """
    case fleetOrderedLock = "tool.fleet.ordered.lock | {1}: locked | a person or a machine"
    case fleetOrderedWipe = """
        tool.fleet.ordered.wipe | \
        {1}: stores are wiped that were made before version {2} | a person or a machine | a number
        """
    case fleetOrderedReset = """
        tool.fleet.ordered.reset | \
        {1}: the passcodes of stores are reset that were made before version {2} | \
        a person or a machine | a number
        """
    case fleetOrderedNothing = """
        tool.fleet.ordered.nothing | {1}: nothing is ordered | a person or a machine
        """
    case fleetLockAfter = """
        tool.fleet.offline.lock | a machine locks after so many days without news: {1} | a number
        """
    case fleetWipeAfter = """
        tool.fleet.offline.wipe | a machine wipes after so many days without news: {1} | a number
        """
    case fleetLockNever = """
        tool.fleet.offline.none | no machine locks because it hears nothing
        """
    case fleetNotOrdered = """
        tool.fleet.not-ordered | nothing of that is ordered for {1} | a person or a machine
        """
    case fleetNotOrderedHint = """
        tool.fleet.not-ordered.hint | \
        nothing was changed; an order for NAME is another one than for NAME@ID or machine:ID
        """
    case fleetNotWritten = """
        tool.fleet.not-written | {1} cannot be written: {2} | a file | what went wrong
        """
    case fleetListLine = """
        tool.fleet.list-line | line {2} of {1} names nobody that an order can be for | a file | a line
        """
    case fleetListHint = """
        tool.fleet.list-line.hint | \
        each line begins with NAME, machine:ID or NAME@ID, with ID as in /etc/machine-id
        """
    case titleMachine = "tool.title.machine | machine"
    case titleReported = "tool.title.reported | reported"
    case titlePolicyVersion = "tool.title.policy-version | policy"
    case titleOrdersVersion = "tool.title.orders-version | orders"
    case titleStores = "tool.title.stores | stores"
    case titleStoresDue = "tool.title.stores-due | due"
    case titleRetryLocked = "tool.title.retry-locked | limit"
    case titleLocked = "tool.title.locked | locked"
    case titleWiped = "tool.title.wiped | wiped"
    case titleMachineState = "tool.title.machine-state | state"
    case reportFine = "tool.report.fine | well"
    case reportMissing = "tool.report.missing | missing: it has never reported"
    case reportBehind = "tool.report.behind | behind: an older version is in force"
    case reportAbsent = "tool.report.absent | absent: it has not reported for long"
    case reportAhead = "tool.report.ahead | its clock is ahead"
    case reportNonsense = "tool.report.nonsense | what it sends is no report of ours"
    case reportProblem = "tool.report.problem | something does not go well there"
    case reportSummary = """
        tool.report.summary | \
        machines: {1}; behind: {2}; absent: {3}; missing: {4}; well: {5} | \
        a number | a number | a number | a number | a number
        """
    case reportStrays = """
        tool.report.strays | reports that are of none of these: {1} | a number
        """
    case reportNoMachine = "tool.report.no-machine | {1} is no machine | what was typed"
    case reportNoFolder = "tool.report.no-folder | {1} is no folder | what was typed"
    case reportNoTool = """
        tool.report.no-tool | journalctl is not installed, which reads a journal
        """
    case reportUnread = """
        tool.report.unread | journalctl cannot read the journal in {1} | a folder
        """
    case reportUnreadHint = "tool.report.unread.hint | may you read it? root may"
    case agreeExport = "tool.agree.export | {1} exists and will be replaced | a file"
    case agreeImport = """
        tool.agree.import | \
        records that have the same names as those in the file will be replaced
        """
    case agreeFingersDelete = "tool.agree.fingers-delete | all enrolled fingers will be forgotten"
    case agreeFingersOff = """
        tool.agree.fingers-off | \
        no finger will open the store, and all enrolled fingers will be forgotten
        """
    case fingersNoneHint = "tool.fingers.none.hint | `appvault fingerprint enroll` enrols one"

    // MARK: A conversation

    case answerTooLong = "tool.answer.too-long | that answer is too long"
    case limitBytes = "tool.limit.bytes | at most {1} bytes | a number"
    case consentsNone = "tool.consents.none | nobody asks you to agree to anything"
    case consentsOpen = "tool.consents.open | not answered yet: `appvault consents answer`"
    case consentsYes = "tool.consents.yes | agreed {1} | a time"
    case consentsNo = "tool.consents.no | not agreed {1} | a time"
    case invitePlace = """
        tool.invite.place | put {1} at {2} and nowhere else | a file | an address
        """
    case joinAsRoot = "tool.join.as-root | as root: {1} | a command"
    case joinedAlready = """
        tool.join.already | this machine has joined an organisation already
        """
    case scanNone = "tool.scan.none | no QR code was found in {1} | a picture"
    case scanNoneHint = "tool.scan.none.hint | take the picture from nearer, or type the link"
    case scanSeveral = "tool.scan.several | {1} has more than one QR code | a picture"
    case scanSeveralHint = "tool.scan.several.hint | cut out the one that you mean"
    case scanLarge = """
        tool.scan.large | {1} is larger than 64 million pixels or 16 MiB | a picture
        """
    case scanPicture = "tool.scan.picture | {1} is no PNG or JPEG, or is damaged | a file"
    case scanStranger = """
        tool.scan.stranger | the QR code in {1} is no invitation to join an organisation | a picture
        """
    case scanProgram = "tool.scan.program | the program that reads pictures does not run"
    case scanProgramHint = """
        tool.scan.program.hint | install libzbar0, libpng16-16 and libjpeg62-turbo, or type the link
        """
    case cameraNone = "tool.camera.none | no camera was found"
    case cameraNoneHint = """
        tool.camera.none.hint | connect one, or take a picture of the code: `appvault join PICTURE`
        """
    case cameraMissing = "tool.camera.missing | there is no {1} | a device"
    case cameraIsNone = "tool.camera.is-none | {1} is no camera | a device"
    case cameraFormat = """
        tool.camera.format | {1} makes pictures of a kind that AppVault cannot read | a device
        """
    case cameraBusy = "tool.camera.busy | another program uses {1} | a device"
    case cameraBusyHint = "tool.camera.busy.hint | close that program, and try again"
    case cameraBroken = "tool.camera.broken | {1} has stopped sending pictures | a device"
    case cameraLate = "tool.camera.late | no invitation was seen for a minute"
    case cameraLateHint = """
        tool.camera.late.hint | hold the code nearer and in good light, or type the link
        """
    case cameraStranger = """
        tool.camera.stranger | This code is no invitation to join an organisation. Show another one.
        """
    case cameraLeave = "tool.camera.leave | Press Ctrl-C to stop."
    case screenStep = "tool.screen.step | Step {1} of {2} | a number | how many there are"
    case demoBegins = """
        tool.demo.begins | \
        This only shows it: nothing is made, and nothing that you type is kept.
        """
    case demoEnds = """
        tool.demo.ends | \
        That was all. Nothing was kept. `appvault welcome` makes your store.
        """
    case screenNext = "tool.screen.next | Next page [Enter]"
    case screenGoOn = "tool.screen.go-on | {1} [Enter] | what a screen has to press: button.*"
    case screenPrefilled = """
        tool.screen.prefilled | {1}[{2}]\u{20} | what is asked | what Enter takes
        """
    case screenInstead = """
        tool.screen.instead | \
        Press Enter without typing to see what else you can do.
        """
    case screenChoose = "tool.screen.choose | Your choice [{1}] | the number that Enter takes"
    case screenChooseOne = "tool.screen.choose.one | Your choice, 1 to {1} | a number"
    case screenChooseNumber = "tool.screen.choose.number | type a number from 1 to {1} | a number"
    case screenWhich = """
        tool.screen.which | \
        {1}: which one, 1 to {2} | what a screen has to press: button.* | a number
        """
    case screenSearch = "tool.screen.search | To see fewer, type a part of a name."
    case screenFoundNone = "tool.screen.found.none | none has that in its name"
    case answerNobody = """
        tool.answer.nobody | \
        this needs an answer, but there is no terminal to ask on: {1} | \
        the question
        """
    case answerExhausted = """
        tool.answer.exhausted | \
        --passcode-fd has no line left for this question: {1} | \
        the question
        """
    case answerExhaustedHint = """
        tool.answer.exhausted.hint | \
        give --passcode-fd one line for each question, in their order
        """
    case answerNotTaken = "tool.answer.not-taken | the answer from --passcode-fd was not accepted"
    case dialogAsks = """
        tool.dialog.asks | \
        Asked by: appvault {1} | \
        a verb, as it is typed
        """
    case dialogPasscode = "tool.dialog.passcode | Passcode:"
    case dialogAnswer = "tool.dialog.answer | Answer:"
    case dialogYes = "tool.dialog.yes | Yes"
    case dialogNo = "tool.dialog.no | No"
    case dialogGoOn = "tool.dialog.go-on | Continue"
    case dialogCancel = "tool.dialog.cancel | Cancel"
    case dialogFailed = """
        tool.dialog.failed | \
        this needs an answer, but pinentry could not show a dialog: {1} | \
        the question
        """
    case dialogHint = """
        tool.dialog.hint | \
        install pinentry-gnome3, pinentry-qt or pinentry-gtk2, run it on a terminal, or give \
        passcodes with --passcode-fd
        """
    case dialogBusy = "tool.dialog.busy | another dialog of AppVault waits for an answer"
    case dialogBusyHint = "tool.dialog.busy.hint | answer that one, then try again"
    case cancelled = "tool.cancelled | cancelled; nothing was changed"
    case loginWrong = "tool.login.wrong | that is not your login password"
    case loginNoService = """
        tool.login.no-service | \
        your login password cannot be checked here (there is no PAM service appvault); type \
        it twice
        """
    case loginFailed = """
        tool.login.failed | \
        your login password could not be checked: {1} | \
        what went wrong
        """
    case loginFailedHint = "tool.login.failed.hint | is /etc/pam.d/appvault as it was installed?"
    case loginThrice = """
        tool.login.thrice | \
        that was not your login password, three times; nothing was changed
        """
    case loginThriceHint = """
        tool.login.thrice.hint | \
        `appvault create --own-passcode` makes a store with a passcode of its own
        """
    case loginAgain = "tool.login.again | once more: "
    case loginDiffer = "tool.login.differ | the two do not match"
    case loginDifferEnd = "tool.login.differ.end | the two do not match; nothing was changed"

    // MARK: Stores

    case createCollection = """
        tool.create.collection | \
        A program wants a new collection, {1}. Give it a passcode of its own, or leave this empty: then it opens with the \
        other secrets of your desktop. | \
        the name of the collection
        """
    case createExists = "tool.create.exists | there is a store already"
    case createExistsHint = """
        tool.create.exists.hint | \
        `appvault unlock` opens it; `appvault create --open-existing` opens or creates one
        """
    case createNotShared = """
        tool.create.not-shared | \
        {1} does not exist, or is not shared with you | \
        a store, as OWNER/NAME
        """
    case createNotSharedHint = """
        tool.create.not-shared.hint | \
        {1} shares it by `appvault share {2} {3}` | \
        its owner | its name | the name of your account
        """
    case createOtherKind = """
        tool.create.other-kind | \
        {1} exists, and is of another kind | \
        a store, as OWNER/NAME
        """
    case createOtherKindHint = """
        tool.create.other-kind.hint | \
        `appvault stores` lists them; --no-passcode is for shared configuration
        """
    case createNoOwn = """
        tool.create.no-own | \
        {1} opens with a store of your own, and you have none | \
        a store, as OWNER/NAME
        """
    case createFollows = """
        tool.create.follows | \
        logins here open stores with the login password, so yours will open this one
        """
    case createOwn = """
        tool.create.own | \
        logins here ask for a separate AppVault passcode; choose one
        """
    case createPlain = """
        tool.create.plain | \
        logins here do not open stores, so this one gets its own passcode
        """
    case resetHint = "tool.reset.hint | `appvault create` makes a new store"
    case accountNone = "tool.account.none | there is no account {1} | the name of an account"
    case accountNoneHint = "tool.account.none.hint | `getent passwd` lists them"
    case accountUnknown = """
        tool.account.unknown | \
        the account {1} cannot be looked up: {2} | \
        the name of an account | what went wrong
        """

    case storeNone = "tool.store.none | there is no store {1} | the name of a store"
    case storeNoneHint = "tool.store.none.hint | `appvault stores` lists yours"

    // MARK: `watch`

    case watchOpened = "tool.watch.opened | {1} is open | the name of a store"
    case watchLocked = "tool.watch.locked | {1} is locked | the name of a store"
    case watchChanged = """
        tool.watch.changed | \
        something about {1} has changed; `appvault status` shows what | \
        the name of a store
        """
    case watchFinger = """
        tool.watch.finger | \
        a finger was enrolled, and opens {1} from now on | \
        the name of a store
        """
    case watchMembers = """
        tool.watch.members | \
        whom {1} is shared with has changed; `appvault members` lists them | \
        the name of a store
        """
    case watchRecords = "tool.watch.records | values in {1} have changed | the name of a store"
    case watchRemoved = "tool.watch.removed | {1} was removed | the name of a store"
    case watchLeft = "tool.watch.left | you have left this machine, or its screen is locked"
    case watchCameBack = "tool.watch.came-back | you are at this machine again"
    case watchGoesOn = "tool.watch.goes-on | what happens next comes here; Ctrl-C ends this"
    case watchEnded = """
        tool.watch.ended | \
        appvaultd has ended, so it does not tell any more what happens
        """
    case watchEndedHint = """
        tool.watch.ended.hint | \
        `appvault watch` again goes on as soon as it has started anew
        """

    // MARK: The block of `status`

    case titleStore = "tool.title.store | store"
    case titleOwner = "tool.title.owner | owner"
    case peopleOf = "tool.people.of | The account {1}: | the name of an account"
    case peopleOfNamed = """
        tool.people.of.named | \
        The account {1} ({2}): | the name of an account | a person's full name
        """
    case peoplePicture = "tool.people.picture | picture: {1} | a file"
    case pictureChosen = "tool.people.picture.chosen | {1} has another picture now. | a store"
    case pictureNobody = "tool.people.picture.nobody | nobody here has the store {1} | a store"
    case pictureNoFolder = """
        tool.people.picture.no-folder | you have no home folder that a picture could be noted in
        """
    case pictureNotKept = "tool.people.picture.not-kept | {1} cannot be written: {2} | a file | why"
    case peopleNone = "tool.people.none | nobody has a store here"
    case nextSwitch = "tool.next.switch | `appvault switch` opens another one"
    case nextAdd = "tool.next.add | `appvault people add NAME` adds somebody"
    case nextWelcome = "tool.next.welcome | `appvault welcome` makes a store"
    case storesNone = "tool.stores.none | there are no stores"
    case titleWho = "tool.title.who | says who"
    case fingerTellsWho = "tool.finger.tells-who | yes: `appvault switch` asks for a finger first"
    case fingerTellsNobody = "tool.finger.tells-nobody | no: `appvault fingerprint who on` lets it"
    case titleState = "tool.title.state | state"
    case secretsNone = "tool.secrets.none | no program keeps a secret here"
    case titleCollection = "tool.title.collection | collection"
    case titleLabel = "tool.title.label | label"
    case titleAttributes = "tool.title.attributes | attributes"
    case titleOpensWith = "tool.title.opens-with | opens with"
    case titleFinger = "tool.title.finger | finger"
    case titleTries = "tool.title.tries | tries"
    case titleRecovery = "tool.title.recovery | recovery"
    case titleWait = "tool.title.wait | wait"
    case titleRecords = "tool.title.records | records"
    case titleSpace = "tool.title.space | space"
    case titleSessions = "tool.title.sessions | sessions"
    case titleSet = "tool.title.set | set"
    case titleExpires = "tool.title.expires | expires"
    case titleRules = "tool.title.rules | rules"
    case titleLocks = "tool.title.locks | locks"
    case titleRole = "tool.title.role | role"
    case titleMembers = "tool.title.members | members"
    case titlePolicy = "tool.title.policy | policy"
    case titleDue = "tool.title.due | due"
    case titleID = "tool.title.id | id"
    case titleTrouble = "tool.title.trouble | trouble"
    case storeOf = "tool.store.of | {1} of {2} | the name of a store | the name of an account"
    case stateAbsent = "tool.state.absent | there is none"
    case stateLocked = "tool.state.locked | locked"
    case stateLockedFinger = "tool.state.locked.finger | locked; a finger opens it"
    case stateOpen = "tool.state.open | open"
    case stateErased = "tool.state.erased | erased"
    case stateRetryLocked = "tool.state.retry-locked | locked after too many wrong tries"
    case stateBarred = "tool.state.barred | locked by the organisation of this machine"
    case stateDamaged = "tool.state.damaged | damaged"
    case stateOwnerChanged = "tool.state.owner-changed | locked: its owner's account has changed"
    case wayUnknown = "tool.way.unknown | unknown"
    case wayParent = "tool.way.parent | {1}: opens and locks with it | the name of a store"
    case wayParentGone = "tool.way.parent.gone | another store, which is gone"
    case wayShortNone = "tool.way.short.none | nothing is asked"
    case wayShortOwn = "tool.way.short.own | passcode"
    case wayShortFinger = "tool.way.short.finger | passcode or finger"
    case wayShortShared = "tool.way.short.shared | a member's store"
    case wayShared = "tool.way.shared | the stores of its members"
    case wayConfiguration = "tool.way.configuration | nothing is asked: its members read it"
    case wayNone = """
        tool.way.none | \
        no passcode: it is encrypted, but opens for its owner without asking
        """
    case wayFollows = "tool.way.follows | the login password"
    case wayOwn = "tool.way.own | a passcode of its own"
    case fingerOn = "tool.finger.on | a fingerprint opens it as well"
    case fingerOff = "tool.finger.off | not in use"
    case triesLeft = "tool.tries.left | {1} left | a number"
    case triesNone = "tool.tries.none | none left"
    case triesNoLimit = "tool.tries.no-limit | no limit"
    case triesApart = """
        tool.tries.apart | \
        {1} at this machine, {2} from elsewhere | \
        tries that are left: tool.tries.* | the same for elsewhere
        """
    case recoveryYes = "tool.recovery.yes | a recovery key exists"
    case recoveryNo = "tool.recovery.no | no recovery key"
    case waitNext = "tool.wait.next | {1} until the next try | a time: tool.span.*"
    case waitApart = """
        tool.wait.apart | \
        until the next try: {1} at this machine, {2} from elsewhere | \
        a time: tool.span.*, or tool.wait.none | the same for elsewhere
        """
    case waitNone = "tool.wait.none | no wait"
    case ageToday = "tool.age.today | {1} (today) | date and time"
    case ageOne = "tool.age.one | {1} (1 day ago) | date and time"
    case ageDays = "tool.age.days | {1} ({2} days ago) | date and time | a number"
    case expiresPast = "tool.expires.past | {1} (expired) | date and time"
    case rulesUnknown = """
        tool.rules.unknown | \
        the next login shows whether the login password meets them
        """
    case rulesMet = "tool.rules.met | the login password meets them"
    case rulesUnmet = "tool.rules.unmet | the login password does not meet them"
    case spaceAll = "tool.space.all | {1}, all stores together | an amount of bytes"
    case spaceQuota = """
        tool.space.quota | \
        {1} of {2}, all stores together | \
        an amount of bytes | the most that it may be
        """
    case locksHeld = """
        tool.locks.held | \
        not by itself until {1} (`appvault resume` ends that) | \
        date and time
        """
    case locksIdle = "tool.locks.idle | after {1} without a request | a time: tool.span.*"
    case locksMembers = "tool.locks.members | with the last of its members' stores"
    case spanSeconds = "tool.span.seconds | {1} s | a number"
    case spanMinutes = "tool.span.minutes | {1} min | a number"
    case spanHours = "tool.span.hours | {1} h | a number"
    case nextDue = "tool.next.due | `appvault unlock` leads you through what is due"
    case nextCreate = "tool.next.create | `appvault create` makes one"
    case nextUnlock = "tool.next.unlock | `appvault unlock` opens it"
    case nextRecover = "tool.next.recover | `appvault recover` opens it with the recovery key"
    case nextChown = """
        tool.next.chown | \
        root moves it with `appvault chown {1} USER` | \
        the id of a store
        """
    case nextPasswd = "tool.next.passwd | `passwd` sets another login password"
    case nextRecoveryNew = """
        tool.next.recovery-new | \
        `appvault recovery new` makes a way back for a forgotten passcode
        """

    // MARK: The window

    case windowNext = "tool.window.next | Next"
    case windowBack = "tool.window.back | Back"
    case windowPage = "tool.window.page | Page {1} of {2} | a number | how many there are"
    case windowNextScreen = "tool.window.next.screen | Next screen"
    case windowBackScreen = "tool.window.back.screen | Screen before"
    case windowSearch = "tool.window.search | Search"
    case windowItems = "tool.window.items | What you can choose from"
    case windowContinue = "tool.window.continue | Continue"
    case windowCancel = "tool.window.cancel | Cancel"
    case windowYes = "tool.window.yes | Yes"
    case windowNo = "tool.window.no | No"
    case windowWait = "tool.window.wait | One moment"
    case windowWithout = "tool.window.without | Go on without a finger"
    case windowFingerStage = "tool.window.finger.stage | {1} of {2} | a number | how many there are"
    case windowSecret = "tool.window.secret | Your recovery key"
    case windowStores = "tool.window.stores | Your stores"
    case windowState = """
        tool.window.state | \
        {1} \u{00B7} {2} | \
        the state of a store: tool.state.* | what opens it: tool.way.short.*
        """
    case windowFollows = """
        tool.window.follows | \
        {1} \u{00B7} opens and locks with {2} | \
        the state of a store: tool.state.* | the name of a store
        """
    case windowActions = "tool.window.actions | What you can do"
    case windowNone = "tool.window.none | You have no store yet"
    case windowNoneBody = """
        tool.window.none.body | \
        A store keeps your passwords and keys. It opens when you log in. It takes a minute to make one.
        """
    case windowBegin = "tool.window.begin | Make a store"
    case windowUnlock = "tool.window.unlock | Unlock"
    case windowLock = "tool.window.lock | Lock"
    case windowUnlockNamed = "tool.window.unlock.named | Unlock {1} | the name of a store"
    case windowLockNamed = "tool.window.lock.named | Lock {1} | the name of a store"
    case windowRecoverNamed = """
        tool.window.recover.named | Open {1} with the recovery key | the name of a store
        """
    case windowChange = "tool.window.change | Change the passcode"
    case windowFinger = "tool.window.finger | Enrol a finger"
    case windowFingerKnown = "tool.window.finger.known | enrolled already; it is replaced"
    case windowRecovery = "tool.window.recovery | Make a new recovery key"
    case windowRecover = "tool.window.recover | Open it with the recovery key"
    case windowConsents = "tool.window.consents | What your organisation asks of you"
    case windowPeople = "tool.window.people | Somebody else"
    case windowJoin = "tool.window.join | Join an organisation"
    case windowCheck = "tool.window.check | Check this computer"
    case windowCheckGood = "tool.window.check.good | Nothing is wrong"
    case windowCheckBad = "tool.window.check.bad | This should be looked at"
    case windowFailed = "tool.window.failed | That did not work"

    // MARK: What there is in the window besides the stores

    case windowFingers = "tool.window.fingers | Fingers"
    case windowFingerAny = "tool.window.finger.any | Fingerprint"
    case windowFingerFacts = """
        tool.window.finger.facts | enrolled {1} at {2} | a time | the name of a reader
        """
    case windowEnrol = "tool.window.enrol | Enrol"
    case windowDelete = "tool.window.delete | Delete"
    case windowFingerDelete = "tool.window.finger.delete | Delete the finger"
    case windowFingerDeleteNamed = """
        tool.window.finger.delete.named | Delete the {1} | a finger: tool.finger.*
        """
    case windowFingerDeleteBody = """
        tool.window.finger.delete.body | \
        It will not open your store any more. After the last one no finger opens it.
        """
    case windowMembers = "tool.window.members | Who shares {1} | the name of a store"
    case windowMember = """
        tool.window.member | {1}, {2} | a role: tool.role.* | what else there is: tool.member.*
        """
    case windowShareAny = "tool.window.share.any | With somebody else, too"
    case windowShare = "tool.window.share | Share"
    case windowShareNamed =
        "tool.window.share.named | Share {1} with somebody | the name of a store"
    case windowShareBody = """
        tool.window.share.body | \
        They open it with a store of their own, which needs a passcode. Until they have one, they wait.
        """
    case windowShareWhom = "tool.window.share.whom | An account, or @ and the name of a group"
    case windowShareWriter = "tool.window.share.writer | Let them read and write"
    case windowShareReader = "tool.window.share.reader | Let them only read"
    case windowUnshare = "tool.window.unshare | Remove"
    case windowUnshareNamed = """
        tool.window.unshare.named | \
        Share {1} no more with {2} | \
        the name of a store | an account, a group or everybody
        """
    case windowUnshareBody = """
        tool.window.unshare.body | \
        They have no access from then on, and the store gets a new key. They know what they have read.
        """
    case windowLeave = "tool.window.leave | Leave"
    case windowLeaveNamed = "tool.window.leave.named | Leave {1} | the name of a store"
    case windowLeaveBody = """
        tool.window.leave.body | \
        You have no access from then on, until its owner shares it with you again.
        """
    case windowOrganisation = "tool.window.organisation | Your organisation"
    case windowConsent = "tool.window.consent | Answer"
    case windowConsentOpen = "tool.window.consent.open | not answered yet"
    case windowOrganisationLeave = "tool.window.organisation.leave | To leave it"
    case windowOrganisationLeaveBody = """
        tool.window.organisation.leave.body | \
        Only root can end it, with `appvault fleet leave` on a terminal.
        """
    case windowApps = "tool.window.apps | Applications"
    case windowAppAny = "tool.window.app.any | An application"
    case windowAppAnyBody = """
        tool.window.app.any.body | One that is locked asks before it starts.
        """
    case windowAppChoose = "tool.window.app.choose | Choose"
    case windowAppLock = "tool.window.app.lock | Lock an application"
    case windowAppLockBody = """
        tool.window.app.lock.body | \
        It protects against whoever borrows your desk, and not against your own programs.
        """
    case windowAppDo = "tool.window.app.do | Lock it"
    case windowAppNone = "tool.window.app.none | There is none that could be locked."
    case windowAppMore = """
        tool.window.app.more | \
        `appvault app add ID` locks those that are not shown here, of which there are {1} | \
        a number
        """
    case windowAppUnlock = "tool.window.app.unlock | Remove the lock"
    case windowAppUnlockNamed = """
        tool.window.app.unlock.named | Remove the lock of {1} | the id of an application
        """
    case windowAppAgain = "tool.window.app.again | Lock it again"
    case windowAppAgainNamed = """
        tool.window.app.again.named | Lock {1} again | the id of an application
        """
    case windowMore = "tool.window.more | More with stores"
    case windowFurther = "tool.window.further | A further store"
    case windowFurtherBody = """
        tool.window.further.body | For what belongs together, or for what you share with others.
        """
    case windowMake = "tool.window.make | Make"
    case windowCreate = "tool.window.create | Make a further store"
    case windowCreateBody = """
        tool.window.create.body | \
        One that opens with your first store needs no passcode. A shared one opens with the stores of its members.
        """
    case windowCreateName = "tool.window.create.name | What it is called"
    case windowCreateFollow = "tool.window.create.follow | Let it open with the first one"
    case windowCreateOwn = "tool.window.create.own | Give it a passcode of its own"
    case windowCreateShared = "tool.window.create.shared | Make it one to share"
    case windowHold = "tool.window.hold | Keep your store open"
    case windowHoldAny = """
        tool.window.hold.any | For a time, also behind a locked screen.
        """
    case windowHeld = "tool.window.held | It stays open until {1}. | a time"
    case windowHoldBegin = "tool.window.hold.begin | Keep open"
    case windowHoldEnd = "tool.window.hold.end | End"
    case windowHoldBody = """
        tool.window.hold.body | \
        Until then it does not lock by itself, not with the screen and not when the machine sleeps.
        """
    case windowHoldHour = "tool.window.hold.hour | For an hour"
    case windowHoldHours = "tool.window.hold.hours | For four hours"
    case windowHoldLongest = "tool.window.hold.longest | As long as the policy allows"
    case windowNames = "tool.window.names | What is kept in your store"
    case windowShow = "tool.window.show | Show"
    case windowNamesNone = "tool.window.names.none | Nothing is kept in it."
    case windowNamesDamaged = "tool.window.names.damaged | cannot be read: {1} | a number"
    case windowNamesRemove = "tool.window.names.remove | Remove it"
    case windowNamesRemoveBody = """
        tool.window.names.remove.body | \
        {1} is removed, and nothing brings it back. | the name of a secret
        """
    case windowValueLong = """
        tool.window.value.long | \
        It is too long for a window: `appvault get {1}` prints it. | the name of a secret
        """
    case windowInvitedBody = """
        tool.window.invited.body | \
        Your organisation has given you a link, a code, or only its address.
        """
    case windowInvitedTyped = "tool.window.invited.typed | I have a link or an address"
    case windowInvitedPicture = "tool.window.invited.picture | Choose a picture of the code"
    case windowInvitedCamera = "tool.window.invited.camera | Hold the code up to the camera"
    case windowCamera = "tool.window.camera | What the camera sees"
    case windowKeep = "tool.window.keep | Keep a secret"
    case windowKeepBody = """
        tool.window.keep.body | \
        While your store is open, your programs can read it. While it is locked, nobody can.
        """
    case windowKeepName = "tool.window.keep.name | Its name"
    case windowKeepValue = "tool.window.keep.value | The secret"
    case windowKeepDo = "tool.window.keep.do | Keep"
    case windowKeepReplace = "tool.window.keep.replace | Replace it"
    case windowKeepReplaceBody = """
        tool.window.keep.replace.body | \
        Something is kept by the name {1} already. Whoever replaces it loses that. | a name
        """
    case windowLockedMeanwhile = """
        tool.window.locked | The store was locked, so nothing of it is shown any more.
        """
    case windowNamesMore = "tool.window.names.more | Further names"
    case windowClose = "tool.window.close | Back to the overview"
    case windowResume = "tool.window.resume | Let it lock by itself again"

    // MARK: `screen`

    case screenUntold = """
        tool.screen.untold | \
        systemd-logind does not know that the screen is locked: {1}. The store was locked instead. | \
        a reason: tool.screen.*
        """
    case screenNoBus = "tool.screen.no-bus | systemd's busctl could not be run"
    case screenSilent = "tool.screen.silent | there was no answer"
    case screenNone = "tool.screen.none | this session has no screen"
    case screenStillTold = """
        tool.screen.still-told | \
        systemd-logind could not be told that the screen is not locked any more
        """
    case screenNoLocker = """
        tool.screen.no-locker | \
        the screen is not locked, because {1} could not be run: {2} | \
        a command | \
        a reason
        """
    case screenNoProcess = """
        tool.screen.no-process | \
        the screen is not locked, because no process could be started: {1} | \
        a reason
        """

    // MARK: What a policy demands

    case flowCreate = "tool.flow.create | a passcode has to be created"
    case flowCreateOffering = """
        tool.flow.create-offering-fingerprint | \
        a passcode has to be created; a fingerprint is offered
        """
    case flowChange = "tool.flow.change | a new passcode has to be chosen"
    case flowDropPasscode = "tool.flow.drop-passcode | the passcode is removed"
    case flowAnnounce = """
        tool.flow.announce-fingerprint | \
        the person is told that fingerprints may be used
        """
    case flowDropFingerprint = "tool.flow.drop-fingerprint | the fingerprints are removed"
    case flowDropBoth = "tool.flow.drop-both | passcode and fingerprints are removed"
    case flowUnknown = "tool.flow.unknown | a step that this release does not know ({1}) | a number"
    case flowNothing = "tool.flow.nothing | nothing"
    case flowThen = "tool.flow.then | {1}; then {2} | a step: tool.flow.* | the next one"
    case becausePolicy = "tool.because.policy | {1}: the rules have changed | steps: tool.flow.*"
    case becauseMigration = """
        tool.because.migration | \
        {1}: the store comes from an older release | \
        steps: tool.flow.*
        """
    case becauseRecovery = """
        tool.because.recovery | \
        {1}: the recovery key was used | \
        steps: tool.flow.*
        """
    case becauseExpired = """
        tool.because.expired | \
        {1}: the passcode has expired | \
        steps: tool.flow.*
        """
    case actionRefused = "tool.action.refused | not allowed"

    // MARK: Policies, texts and the checklist

    case policyHeld = """
        tool.policy.held | \
        the store is held open until {1}. Until then nothing of this locks it by itself; \
        `appvault resume` ends that. | \
        date and time
        """
    case policyBroken = """
        tool.policy.broken | \
        a policy file has an error; its last good version stays in force
        """
    case modeAdministrators = "tool.mode.administrators | the administrator's policy"
    case modeStandard = "tool.mode.standard | the default policy"
    case modeNoPasscode = """
        tool.mode.no-passcode | \
        no passcodes: stores open without asking; this is not recommended
        """
    case policyRules = "tool.policy.rules | rules of the administrator"
    case policyBuiltIn = "tool.policy.built-in | built in"
    case policyNotYet = "tool.policy.not-yet | {1}, not acted on yet | where a key stands"
    case policyLarge = "tool.policy.large | {1} is too large for a policy | a file"
    case policyLargeHint = "tool.policy.large.hint | a policy has at most 1 MiB"
    case previewNone = "tool.preview.none | there are no stores"
    case previewIfShort = """
        tool.preview.if-short | \
        {1}, if the present passcode does not meet the rules | \
        steps: tool.flow.*
        """
    case previewMore = """
        tool.preview.more | \
        stores that are not shown: {1}; --user NAME shows one person's | \
        a number
        """
    case textCatalogue = "tool.text.catalogue | catalogue"
    case textAdministrator = "tool.text.administrator | administrator"
    case checkMet = "tool.check.met | it meets the rules"
    case checkUnmetOne = "tool.check.unmet.one | it does not meet one of the rules"
    case checkUnmet = "tool.check.unmet | it does not meet {1} of the rules | a number"
    case checkUnfit = "tool.check.unfit | it cannot be a passcode"
    case checkPrompt = "tool.check.prompt | candidate (does not show): "
    case checkLive = "tool.check.live | candidate: "
    case checkMore = "tool.check.more | and {1} more | a number"
    case checkCancelled = "tool.check.cancelled | cancelled"
    case checkNone = "tool.check.none | there is no candidate to check"
    case checkNoneHint = """
        tool.check.none.hint | \
        run it on a terminal, or give one line on standard input
        """
    case checkLong = "tool.check.long | that candidate is too long"

    // MARK: Records and files

    case setSeen = """
        tool.set.seen | \
        other users could have seen this value in the list of processes; `appvault set {1}` asks for it | \
        the name of a record
        """
    case setNobody = "tool.set.nobody | the value cannot be asked for: there is no terminal"
    case setPrompt = "tool.set.prompt | value of {1} (does not show):  | the name of a record"
    case setLongTyped = "tool.set.long-typed | that is too long to be typed"
    case setLongTypedHint = """
        tool.set.long-typed.hint | \
        `appvault set NAME - <FILE` takes up to 1 MiB
        """
    case setLong = "tool.set.long | a value has at most 1 MiB"
    case setLongHint = """
        tool.set.long.hint | \
        keep a key to the file in the store, and the file itself encrypted with it elsewhere
        """
    case setDone = "tool.set.done | stored {1} | the name of a record"
    case copied = "tool.copy.done | copied {1} values | a number"
    case copiedOne = "tool.copy.done.one | copied one value"
    case moved = "tool.move.done | moved {1} values | a number"
    case movedOne = "tool.move.done.one | moved one value"
    case carryBar = "tool.carry.bar | carrying over"
    case carrySame = "tool.carry.same | both are the same store"
    case carryExists = """
        tool.carry.exists | \
        the other store has a {1} already, and nothing was stored | \
        the name of a record
        """
    case carryDamaged = "tool.carry.damaged | records of the store are damaged"
    case deleteDone = "tool.delete.done | deleted {1} | the name of a record"
    case standardInput = "tool.standard-input | standard input"
    case importCannotRead = """
        tool.import.cannot-read | \
        cannot read {1}: {2} | \
        a file | what went wrong
        """
    case exportCannotWrite = """
        tool.export.cannot-write | \
        cannot write {1}: {2} | \
        a file | what went wrong
        """
    case cannotRead = "tool.cannot.read | {1} cannot be read: {2} | a file | what went wrong"
    case cannotWrite = """
        tool.cannot.write | \
        standard output cannot be written: {1} | \
        what went wrong
        """
    case exportTerminal = "tool.export.terminal | an export is not written to a terminal"
    case exportTerminalHint = "tool.export.terminal.hint | name a file: `appvault export FILE`"
    case exportNoFile = "tool.export.no-file | {1} is not a file | a file"
    case exportNoFileHint = "tool.export.no-file.hint | name a file, or - for standard output"
    case exportFailed = "tool.export.failed | the export cannot be written: {1} | what went wrong"
    case exportDone = "tool.export.done | exported to {1} | a file"
    case exportDoneWithout = """
        tool.export.done.without | \
        exported to {1}, without what is damaged | \
        a file
        """
    case damagedBroken = """
        tool.damaged.broken | \
        {1} is damaged and cannot be read | \
        the name of a record
        """
    case damagedNameless = """
        tool.damaged.nameless | \
        a record whose name is damaged too cannot be read ({1}) | \
        its number
        """
    case damagedUnproven = """
        tool.damaged.unproven | \
        {1} is held back, because it may be older than what you stored last | \
        the name of a record
        """
    case damagedMissing = """
        tool.damaged.missing | \
        some records are missing, or were replaced by older ones
        """
    case damagedMore = "tool.damaged.more | and {1} more | a number"
    case damagedHint = """
        tool.damaged.hint | \
        a backup may still have it; `appvault set` stores a new value; `appvault mend` goes on without it
        """
    case damagedExportHint = """
        tool.damaged.export.hint | \
        the file is without this; a backup may still have it; `appvault mend` goes on without it
        """
    case exportOver = "tool.export.over | export over a file that exists"
    case exportBar = "tool.export.bar | exporting"
    case importNoFile = "tool.import.no-file | import needs a file"
    case importNoFileHint = "tool.import.no-file.hint | `appvault import FILE`"
    case importExists = """
        tool.import.exists | \
        the store already has some of the names in the file; nothing was imported
        """
    case importExistsHint = "tool.import.exists.hint | `--replace` replaces their values"
    case importCheckBar = "tool.import.check-bar | checking"
    case importBar = "tool.import.bar | importing"

    // MARK: Taking over what other programs keep

    case comingCounts = """
        tool.coming.counts | \
        {1}: came: {2}, there already: {3}, did not come: {4} | \
        the name of a keyring or wallet | a number | a number | a number
        """
    case comingDryCounts = """
        tool.coming.dry-counts | \
        {1}: would come: {2}, there already: {3}, would not come: {4} | \
        the name of a keyring or wallet | a number | a number | a number
        """
    case comingDifferent = """
        tool.coming.different | \
        {1}: {2}: it differs; what is here stays | \
        the name of a keyring or wallet | the label of an item
        """
    case comingDifferentCount = """
        tool.coming.different-count | \
        {1}: differs, kept as it is here: {2} | the name of a keyring or wallet | a number
        """
    case comingPrompt =
        "tool.coming.prompt | Password of {1}:\u{20} | the name of a keyring or wallet"
    case comingNobody = """
        tool.coming.nobody | \
        {1} is sealed with a password, and there is nobody to ask for it | \
        the name of a keyring or wallet
        """
    case comingNobodyHint =
        "tool.coming.nobody.hint | `--passcode-fd N` reads passwords, a line each"
    case comingNothing = "tool.coming.nothing | there is nothing to import in {1} | a folder"
    case comingNoStore = "tool.coming.no-store | there is no store {1} | the name of a store"
    case comingNoStoreHint =
        "tool.coming.no-store.hint | `appvault create {1}` makes it | the name of a store"
    case comingNoGnuPG = "tool.coming.no-gnupg | the entries cannot be decrypted: there is no gpg"
    case comingNoGnuPGHint = "tool.coming.no-gnupg.hint | `apt install gpg` installs it"
    case comingWrong = "tool.coming.wrong | that is not its password"
    case comingSkipped = "tool.coming.skipped | it was left out"
    case comingDamaged = "tool.coming.damaged | it is damaged"
    case comingOtherVersion =
        "tool.coming.other-version | it is not in a form that AppVault can read"
    case comingSealedByGnuPG = """
        tool.coming.sealed-by-gnupg | \
        it is sealed with GnuPG; make a wallet with a password in KWallet and copy the entries into it
        """
    case comingNoSalt = "tool.coming.no-salt | its .salt file is missing"
    case comingLibrary = "tool.coming.library | it could not be decrypted: libgcrypt failed"
    case comingTooLarge = "tool.coming.too-large | it is larger than AppVault allows"
    case comingNoText = "tool.coming.no-text | its label or an attribute is not UTF-8"
    case comingGnuPG = "tool.coming.gnupg | GnuPG does not decrypt it; `gpg --decrypt` says why"

    // MARK: Going back to another keyring

    case goingCounts = """
        tool.going.counts | \
        {1}: went: {2}, there already: {3}, differs, left as it is there: {4}, did not go: {5} | \
        the label of a collection | a number | a number | a number | a number
        """
    case goingDryCounts = """
        tool.going.dry-counts | \
        {1}: would go: {2}, there already: {3}, differs, left as it is there: {4}, would not go: {5} | \
        the label of a collection | a number | a number | a number | a number
        """
    case goingDifferent = """
        tool.going.different | \
        {1}: {2}: it differs there; `--replace` replaces it | \
        the label of a collection | the label of an item
        """
    case goingAsks = "tool.going.asks | {1} asks in a dialog of its own | the name of a program"
    case goingNoBus = "tool.going.no-bus | there is no session bus here"
    case goingNoBusHint =
        "tool.going.no-bus.hint | run it in a session of the desktop, without sudo"
    case goingNobody = "tool.going.nobody | no keyring has org.freedesktop.secrets"
    case goingNobodyHint = "tool.going.nobody.hint | start the keyring that it is to go to"
    case goingOurs = """
        tool.going.ours | AppVault itself keeps the secrets of this session's programs
        """
    case goingOursHint = """
        tool.going.ours.hint | \
        `apt remove appvault-secret-service` gives the name back; log in again, and then run this
        """
    case goingGone = "tool.going.gone | the other keyring has ended"
    case goingSilent = "tool.going.silent | the other keyring does not answer"
    case goingMalformed = """
        tool.going.malformed | the other keyring answers what the specification does not know
        """
    case goingRefused =
        "tool.going.refused | the other keyring refuses it: {1} | what it says of it"
    case goingDismissed = "tool.going.dismissed | its dialog was closed"
    case goingLibrary = "tool.going.library | it could not be encrypted: libgcrypt failed"

    // MARK: Applications

    case appAdded = """
        tool.app.added | \
        {1} is locked: it asks before it starts. If it is running, it keeps running until you close it. | \
        the id of an application
        """
    case appAddedService = """
        tool.app.added.service | \
        It can also be started by D-Bus, which may know of the lock only after your next login.
        """
    case appRemoved = """
        tool.app.removed | \
        {1} is not locked any more: it starts without asking | \
        the id of an application
        """
    case appNotLocked = "tool.app.not-locked | {1} is not locked | the id of an application"
    case appNotLockedHint = "tool.app.not-locked.hint | `appvault app list` shows what is locked"
    case appMissing = "tool.app.missing | there is no application {1} | the id of an application"
    case appMissingHint = """
        tool.app.missing.hint | \
        the id is the name of the application's file in /usr/share/applications, without .desktop
        """
    case appNoHome = "tool.app.no-home | your home folder is not known, because HOME is not set"
    case appNoHomeHint = "tool.app.no-home.hint | set HOME to the path of your home folder"
    case appFlatpak = """
        tool.app.flatpak | \
        {1} cannot be locked: it is a Flatpak, and Flatpak starts it where AppVault cannot stop it | \
        the id of an application
        """
    case appSnap = """
        tool.app.snap | \
        {1} cannot be locked: it is a snap, and snapd starts it where AppVault cannot stop it | \
        the id of an application
        """
    case appPackageHint = """
        tool.app.package.hint | \
        install it as a package of your system instead, or lock the screen when you leave
        """
    case appServer = """
        tool.app.server | \
        {1} cannot be locked: its windows belong to {2}, which starts where AppVault cannot stop it | \
        the id of an application | a program
        """
    case appServerHint = """
        tool.app.server.hint | \
        use a similar program that opens its windows itself, or lock the screen when you leave
        """
    case appTooLarge = """
        tool.app.too-large | \
        {1} cannot be locked: its entry is larger than 1 MiB | \
        the id of an application
        """
    case appNotOne = """
        tool.app.not-one | \
        {1} cannot be locked: its entry is not that of an application | \
        the id of an application
        """
    case appHidden = """
        tool.app.hidden | \
        {1} cannot be locked: its entry says that it is deleted (Hidden=true) | \
        the id of an application
        """
    case appNoCommand = """
        tool.app.no-command | \
        {1} cannot be locked: its entry has no command (Exec=) | \
        the id of an application
        """
    case appBadCommand = """
        tool.app.bad-command | \
        {1} cannot be locked: the command in its entry (Exec=) is not valid | \
        the id of an application
        """
    case appEntryHint = "tool.app.entry.hint | `desktop-file-validate` says what is wrong with it"
    case appInTheWay = """
        tool.app.in-the-way | \
        {1} is your own entry from before, and there is a newer one beside it | \
        a file
        """
    case appInTheWayHint = """
        tool.app.in-the-way.hint | \
        move away the one that you do not need, and try again
        """
    case appNone = "tool.app.none | no application is locked"
    case appNoneHint = "tool.app.none.hint | `appvault app add ID` locks one"
    case appStandingLocked = "tool.app.standing.locked | locked: it asks before it starts"
    case appStandingChanged = """
        tool.app.standing.changed | \
        not locked any more: its entry was changed, and it starts without asking
        """
    case appStandingToolMissing = """
        tool.app.standing.tool-missing | \
        it does not start: its entry needs an appvault that is not there any more
        """
    case appAgainHint = "tool.app.again.hint | `appvault app add ID` repairs it"

    // MARK: What to do about a refusal that came without advice

    case adviceInvalidPasscode = """
        tool.advice.InvalidPasscode | \
        `appvault status` shows how many tries are left
        """
    case adviceLocked = "tool.advice.Locked | `appvault unlock` opens it"
    case advicePasscodeRequired = """
        tool.advice.PasscodeRequired | \
        run it on a terminal, or give passcodes with --passcode-fd
        """
    case adviceDeleted = "tool.advice.Deleted | `appvault create` makes a new one"
    case adviceRetryLimitReached = """
        tool.advice.RetryLimitReached | \
        `appvault recover` opens it with the recovery key
        """
    case adviceThrottled = "tool.advice.Throttled | `appvault status` shows for how long"
    case adviceNotPermitted = "tool.advice.NotPermitted | only the owner and root may do that"
    case adviceServiceUnavailable = """
        tool.advice.ServiceUnavailable | \
        `systemctl status appvaultd.socket` says why
        """
    case adviceStoreDamaged = "tool.advice.StoreDamaged | `appvault status` says what can be done"
    case adviceTooLarge = "tool.advice.TooLarge | a value has at most 1 MiB"
    case adviceBusy = "tool.advice.Busy | try again in a moment"
    case adviceRecoveryKeyInvalid = """
        tool.advice.RecoveryKeyInvalid | \
        it was shown once, in groups, when it was made
        """
    case advicePasscodeExpired = "tool.advice.PasscodeExpired | `appvault passwd` sets a new one"
    case adviceFingerprint = "tool.advice.Fingerprint | the passcode works as before"
    case adviceChangeRequired = """
        tool.advice.ChangeRequired | \
        `appvault unlock` says why and goes on
        """
    case adviceStorageFailed = """
        tool.advice.StorageFailed | \
        is the disk full? the journal of appvaultd says more
        """

    // MARK: Fingerprints

    case titleFailures = "tool.title.failures | failures"
    case titleReader = "tool.title.reader | reader"
    case titleChip = "tool.title.chip | chip"
    case titleKeyring = "tool.title.keyring | keyring"
    case fingerStandingOff = "tool.finger.standing.off | opens nothing: it is off"
    case fingerStandingOn = "tool.finger.standing.on | opens the store"
    case fingerStandingAfter = """
        tool.finger.standing.after | \
        opens the store after the next passcode
        """
    case fingerStandingNone = "tool.finger.standing.none | opens nothing now: no finger is usable"
    case fingerFailures = "tool.finger.failures | {1} left, then the passcode is needed | a number"
    case fingerReader = """
        tool.finger.reader | \
        {1} ({2}, {3}) | \
        the name of a reader | how it scans: tool.reader.* | where it is: tool.reader.*
        """
    case fingerReaderStores = """
        tool.finger.reader.stores | \
        {1} ({2}, {3}, keeps prints itself) | \
        the name of a reader | how it scans: tool.reader.* | where it is: tool.reader.*
        """
    case readerPress = "tool.reader.press | press"
    case readerSwipe = "tool.reader.swipe | swipe"
    case readerInternal = "tool.reader.internal | internal"
    case readerExternal = "tool.reader.external | external"
    case fingerForeign = """
        tool.finger.foreign | \
        not AppVault's, and left alone: {1} of the fingerprints on it | \
        a number
        """
    case fingerKeepsPassword = """
        tool.finger.keeps-password | \
        the login password is kept, so that a login by finger opens the keyring too
        """
    case fingerAway = "tool.finger.away | {1} (not connected) | the name of a reader"
    case fingerMoved = """
        tool.finger.moved | \
        {1} (at another port: enrol it again) | \
        the name of a reader
        """
    case fingerGone = """
        tool.finger.gone | \
        {1} (gone from its chip: enrol it again) | \
        the name of a reader
        """
    case scanStage = "tool.scan.stage | {1} of {2} | scans that are done | all that it takes"
    case fingerUnnamed = "tool.finger.unnamed | a finger"
    case fingerLeftThumb = "tool.finger.left-thumb | left thumb"
    case fingerLeftIndex = "tool.finger.left-index | left index finger"
    case fingerLeftMiddle = "tool.finger.left-middle | left middle finger"
    case fingerLeftRing = "tool.finger.left-ring | left ring finger"
    case fingerLeftLittle = "tool.finger.left-little | left little finger"
    case fingerRightThumb = "tool.finger.right-thumb | right thumb"
    case fingerRightIndex = "tool.finger.right-index | right index finger"
    case fingerRightMiddle = "tool.finger.right-middle | right middle finger"
    case fingerRightRing = "tool.finger.right-ring | right ring finger"
    case fingerRightLittle = "tool.finger.right-little | right little finger"

    // MARK: `doctor`

    case doctorSocket = "tool.doctor.socket | socket"
    case doctorDaemon = "tool.doctor.daemon | daemon"
    case doctorUsers = "tool.doctor.users | users"
    case doctorState = "tool.doctor.state | state folder"
    case doctorKey = "tool.doctor.key | machine key"
    case doctorPolicy = "tool.doctor.policy | policy"
    case doctorPam = "tool.doctor.pam | PAM"
    case doctorPresence = "tool.doctor.presence | who is here"
    case doctorScreen = "tool.doctor.screen | screen lock"
    case doctorReader = "tool.doctor.reader | reader"
    case doctorRules = "tool.doctor.rules | rules worker"
    case doctorSandbox = "tool.doctor.sandbox | sandbox"
    case doctorMemory = "tool.doctor.memory | memory"
    case doctorClock = "tool.doctor.clock | clock"
    case doctorStore = "tool.doctor.store | your store"
    case doctorStores = "tool.doctor.stores | stores"
    case doctorSecrets = "tool.doctor.secrets | secrets"
    case doctorWell = "tool.doctor.well | everything is in order"
    case doctorBroken = "tool.doctor.broken | broken: {1} | a number"
    case doctorWarnings = "tool.doctor.warnings | warnings: {1} | a number"
    case doctorRoot = "tool.doctor.root | `sudo appvault doctor` checks the rest as well"
    case doctorPaste = "tool.doctor.paste | add by hand:"
}

extension ToolText {
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
