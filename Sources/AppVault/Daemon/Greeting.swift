internal import Wire

/// Where the daemon listens, and what this program says of itself.
struct Greeting: Sendable {
    var path: String
    var frontEnd: FrontEnd
    var language: String
    /// Whether the daemon may send screens.
    var drawsScreens = false
    /// Whether who listens may be told anything: systemd, the daemon's own user, or this very user.
    var isTrusted: @Sendable (UInt32) -> Bool = Greeting.isOurs

    static let standardPath = "/run/appvault/socket"
    /// Root's own socket, where only root waits in line. A machine may be without it.
    static let rootPath = "/run/appvault/root.socket"

    static func isOurs(_ uid: UInt32) -> Bool {
        uid == 0 || uid == ThisProcess.effectiveUID || uid == ThisProcess.uid(of: "_appvault")
    }

    func with(_ frontEnd: FrontEnd, drawsScreens: Bool = false) -> Greeting {
        var other = self
        other.frontEnd = frontEnd
        other.drawsScreens = drawsScreens
        return other
    }

    func hello(_ version: UInt16) -> Hello {
        var hello = Hello(frontEnd: frontEnd, realUID: ThisProcess.realUID)
        hello.version = version
        hello.service = Array("appvault".utf8)
        hello.language = Array(language.utf8)
        return hello
    }
}
