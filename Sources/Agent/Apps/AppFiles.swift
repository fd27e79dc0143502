import Client
import Posix

/// The files of the applications that are kept: see `RunningApp`.
struct AppFiles: Sendable {
    private let folder: String

    /// Nil if the person has no runtime folder.
    init?() {
        guard let runtime = ToolIO.variable("XDG_RUNTIME_DIR"), runtime.first == 0x2F else {
            return nil
        }
        folder = RunningApp.folder(in: String(decoding: runtime, as: UTF8.self))
    }

    func all() -> [RunningApp] { RunningApp.all(in: folder) }

    func write(_ app: RunningApp) throws(PosixError) {
        try ToolIO.makeFolders(folder)
        try TextFile.replace(at: folder + "/" + app.scope, with: app.bytes)
    }

    func remove(_ scope: String) {
        try? Folder(path: folder).remove(scope)
    }
}
