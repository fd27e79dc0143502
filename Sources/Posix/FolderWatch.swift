/// Says when something in a folder may have changed. A user has only so many watches, which other
/// programs of theirs may have taken: without one the caller is sent to look every few seconds.
@LoopActor
public final class FolderWatch {
    private static let betweenLooks: UInt64 = 3_000

    private let path: String
    private var watch: FileWatch?
    /// Why the kernel tells nothing.
    public private(set) var failure: PosixError?

    public init(_ path: String) {
        self.path = path
        renew()
    }

    /// The folder may be another one than before.
    public func renew() {
        if let watch {
            failure = watch.watch([(path, .all)])
            return
        }
        do throws(PosixError) {
            let made = try FileWatch()
            failure = made.watch([(path, .all)])
            if failure == nil { watch = made }
        } catch {
            failure = error
        }
    }

    /// Waits until the caller has to look; what comes so many milliseconds later is a part of it.
    /// False if there will be nothing more.
    public func change(settling: UInt64 = 0) async -> Bool {
        guard let watch else {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.betweenLooks)
            renew()
            return true
        }
        guard await watch.wait(until: nil) == .ready else { return false }
        if settling > 0 {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + settling)
        }
        _ = watch.take()
        return true
    }
}
