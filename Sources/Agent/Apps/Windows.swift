import Posix

/// The windows of an application on X11. A program of its own takes them off the screen, because it
/// speaks with the X server, which may hang.
@LoopActor
final class Windows {
    private let runner: ToolRunner
    private let program: String
    /// Milliseconds. It has a limit of its own, which is shorter.
    private static let patience: Int32 = 3_000
    private static let noServer: Int32 = 3

    init(_ runner: ToolRunner, program: String) {
        self.runner = runner
        self.program = program
    }

    /// Returns the numbers of those that it took away; none where there is no X server. It says each
    /// before it takes it away, so they count also where it did not come to its end.
    func hide(_ group: String?) async -> [String] {
        guard let group else { return [] }
        let result = await runner.run([program, "hide", group], milliseconds: Self.patience)
        return (result?.lines ?? []).map { String(decoding: $0, as: UTF8.self) }
            .filter { UInt32($0) != nil }
    }

    /// False if the X server was too slow; one that is gone has no windows any more.
    func show(_ windows: [String]) async -> Bool {
        let result = await runner.run([program, "show"] + windows, milliseconds: Self.patience)
        return result?.status == 0 || result?.status == Self.noServer
    }
}
