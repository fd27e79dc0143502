import Posix

/// A session may end without its program saying so: killed, or its terminal gone. logind has a file
/// for each session, and takes it away however it ended.
extension Service {
    func begin(_ id: [UInt8], of uid: UInt32) {
        let isListed = isListed(id)
        sessions.add(id, of: uid, isListed: isListed)
        guard isListed, !isWatchingSessions else { return }
        isWatchingSessions = true
        EventLoop.shared.task {
            await self.watchSessions()
            self.isWatchingSessions = false
        }
    }

    /// Where logind's files are not to be seen, only what PAM says counts.
    private func isListed(_ id: [UInt8]) -> Bool {
        let isName =
            !id.isEmpty
            && id.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        let path = options.sessionFolder + "/" + String(decoding: id, as: UTF8.self)
        return isName && (try? FileFacts(of: path)) != nil
    }

    /// As long as there are any.
    private func watchSessions() async {
        guard let watch = try? FileWatch(), watch.watch([(options.sessionFolder, .all)]) == nil
        else { return }
        while !sessions.isEmpty {
            for uid in sessions.forget(where: { !isListed($0) }) {
                await lastSessionEnded(of: uid, nil, [])
                startIdling()
            }
            guard await watch.wait(until: nil) == .ready else { return }
            _ = watch.take()
        }
    }
}
