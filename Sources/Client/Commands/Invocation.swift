import Wire

/// What one run of the tool was asked to do, understood and checked.
struct Invocation: Equatable {
    var command: Command
    var settings: Settings
}

/// What goes with every verb.
struct Settings: Equatable {
    enum Form: Equatable { case plain, json }
    enum Agreement: Equatable { case ask, given }

    var form = Form.plain
    var store: [UInt8] = []
    var socket = Connection.defaultPath
    var user: [UInt8] = []
    var agreement = Agreement.ask
    var passcodeDescriptor: Int32?
    var pamFolder: [UInt8]?
}

enum Command: Equatable {
    /// Without a way the machine decides.
    case create(way: Create.Way?, existing: Existing)
    case status
    case unlock
    case lock
    case passwd(Passcode.Change)
    case recoveryNew
    case recover
    case actions
    case fingerprintEnroll(Finger)
    case fingerprintList
    case fingerprintVerify
    /// With none named: all.
    case fingerprintDelete(Finger)
    case fingerprintSwitch(Switch)
    case keyringForget
    case set(name: [UInt8], value: ValueSource)
    case get(name: [UInt8])
    case list(prefix: [UInt8])
    case delete(name: [UInt8])
    case export(File?)
    case `import`(File?, Clash)
    case policyShow
    case policyCheck(CandidateSource)
    case policyLint([File])
    case policyPreview(File)
    case texts
    case reset
    case resync
    case triesClear
    case chown(store: [UInt8], user: [UInt8])
    case doctor
    case version
    /// Without a verb: all of them.
    case help([Verb])

    enum Switch: Equatable { case on, off }
    enum Existing: Equatable { case refuse, open }
    enum Clash: Equatable { case refuse, replace }

    enum ValueSource: Equatable {
        case argument([UInt8])
        /// `-`
        case input
        /// A terminal asks, a pipe is read.
        case whateverIsThere
    }

    enum CandidateSource: Equatable {
        /// `-`
        case input
        /// A terminal asks, a pipe is read.
        case whateverIsThere
    }

    enum File: Equatable {
        case path([UInt8])
        case standardStream
    }
}
