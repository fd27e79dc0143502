import DesktopEntries
import Wire

/// How an application is locked; what is nil is left to the policy.
struct AppLock: Equatable {
    enum Opener: String, CaseIterable {
        case passcode, finger
        /// It is enough that the store is open.
        case open
    }

    enum OnLock: String, CaseIterable {
        case freeze, quit, stay
    }

    var require: Opener?
    var store: [UInt8] = []
    var onLock: OnLock?

    /// The words that stand before the application's own command.
    func words(_ tool: [UInt8], _ id: ApplicationID) -> [[UInt8]] {
        var words = [tool, Array("run".utf8), Array("--app".utf8), Array(id.name.utf8)]
        func add(_ flag: String, _ value: some Sequence<UInt8>) {
            words += [Array(flag.utf8), Array(value)]
        }
        if let require { add("--require", require.rawValue.utf8) }
        if !store.isEmpty { add("--store", store) }
        if let onLock { add("--on-lock", onLock.rawValue.utf8) }
        return words + [Array("--".utf8)]
    }

    /// From a command that we have written; nil if it is not one of ours. `tool` gets the program.
    init?(of command: CommandLine, _ id: ApplicationID, tool: inout [UInt8]) {
        let words = command.words.map(CommandLine.unescapedCodes)
        guard words.count > 4, words[1] == Array("run".utf8), words[2] == Array("--app".utf8),
            words[3] == Array(id.name.utf8),
            let end = words.firstIndex(of: Array("--".utf8)), end > 3, end.isMultiple(of: 2)
        else { return nil }
        for index in stride(from: 4, to: end, by: 2) {
            let value = words[index + 1]
            let text = String(decoding: value, as: UTF8.self)
            switch String(decoding: words[index], as: UTF8.self) {
            case "--require": require = Opener(rawValue: text)
            case "--store": store = value
            case "--on-lock": onLock = OnLock(rawValue: text)
            default: return nil
            }
        }
        tool = words[0]
    }

    init(require: Opener? = nil, store: [UInt8] = [], onLock: OnLock? = nil) {
        self.require = require
        self.store = store
        self.onLock = onLock
    }
}
