import PamStacks
import Posix

/// The machine as `doctor` sees it. Tests provide one of their own.
struct Machine {
    enum Seen<Value> {
        case found(Value)
        case missing
        /// Only root may look.
        case denied
        case failed(PosixError)

        var value: Value? {
            if case .found(let value) = self { value } else { nil }
        }
    }

    var uid: UInt32
    var now: UInt64
    var facts: (String) -> Seen<FileFacts>
    var contents: (String) -> Seen<[UInt8]>
    var names: (_ folder: String) -> [String]
    var space: (String) -> FreeSpace?
    var account: (String) -> ToolIO.Account

    /// No file that doctor reads is larger than this.
    private static let most = 2 << 20

    static func this(_ environment: Environment) -> Machine {
        func seen<Value>(_ look: () throws(PosixError) -> Value) -> Seen<Value> {
            do throws(PosixError) { return .found(try look()) } catch {
                return error.isMissing ? .missing : error.isDenied ? .denied : .failed(error)
            }
        }
        return Machine(
            uid: environment.uid, now: ToolIO.now,
            facts: { path in seen { () throws(PosixError) in try FileFacts(of: path) } },
            contents: { path in
                seen { () throws(PosixError) in try TextFile.read(at: path, limit: most) }
            },
            names: { (try? TextFile.names(in: $0)) ?? [] },
            space: { try? FreeSpace(at: $0) },
            account: { environment.account(Array($0.utf8)) })
    }

    /// Gives PamStacks access to PAM's files.
    var pamSource: PamSource {
        PamSource(
            contents: { path in
                switch contents(path) {
                case .found(let text): .found(text)
                case .missing: .missing
                case .denied, .failed: .unreadable
                }
            },
            presence: { path in
                switch facts(path) {
                case .found: .there
                case .missing: .missing
                case .denied, .failed: .unknown
                }
            }, names: names)
    }

    func text(_ path: String) -> String? {
        contents(path).value.map { String(decoding: $0, as: UTF8.self) }
    }

    func exists(_ path: String) -> Bool {
        switch facts(path) {
        case .found: true
        case .missing, .denied, .failed: false
        }
    }
}
