import Posix
import Wire

/// What the tool sees of its surroundings. Tests provide their own.
struct Environment {
    struct Stream {
        var descriptor: Int32
        var isTerminal: Bool
    }

    var arguments: [[UInt8]]
    var input: Stream
    var output: Stream
    var errors: Stream
    var variable: (String) -> [UInt8]?
    var uid: UInt32
    var account: (_ named: [UInt8]) -> ToolIO.Account
    var accountName: (_ uid: UInt32) -> [UInt8]?
    /// What a command that is started here gets back.
    var core: ToolIO.CoreLimit

    static func ofThisProcess(core: ToolIO.CoreLimit) -> Environment {
        func stream(_ descriptor: Int32) -> Stream {
            Stream(descriptor: descriptor, isTerminal: ToolIO.isTerminal(descriptor))
        }
        return Environment(
            arguments: ToolIO.arguments(), input: stream(0), output: stream(1), errors: stream(2),
            variable: ToolIO.variable, uid: ToolIO.effectiveUID, account: ToolIO.account,
            accountName: ToolIO.accountName, core: core)
    }

    /// The language of messages, as setlocale would find it.
    var language: [UInt8] {
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = variable(name), !value.isEmpty, value.count <= Limits.text,
                Printable.isUTF8(value)
            {
                return value
            }
        }
        return []
    }
}
