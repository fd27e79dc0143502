import Posix

/// Hides the windows of a control group's processes, and shows them again.
enum Windows {
    /// Whoever locks a screen waits for us, and a server that hangs would never answer.
    private static let seconds: UInt32 = 2

    static func main() -> Never {
        let words = ToolIO.arguments().map { String(decoding: $0, as: UTF8.self) }
        switch Arguments(words) {
        case .say(let text): end(0, text)
        case .wrong(let reason): end(2, complaint: reason)
        case .hide(let group): run { server throws(Server.Failure) in try hide(group, server) }
        case .show(let windows): run { server throws(Server.Failure) in try show(windows, server) }
        }
    }

    private static func run(_ body: (Server) throws(Server.Failure) -> Void) -> Never {
        Server.limitTime(seconds)
        do throws(Server.Failure) {
            try body(Server())
            end(0)
        } catch {
            switch error {
            case .unreachable: end(3, complaint: "no X server can be reached")
            case .noClients: end(3, complaint: "this X server does not tell whose a window is")
            case .lost: end(3, complaint: "the X server has closed the connection")
            }
        }
    }

    private static func end(_ status: Int32, _ text: String = "", complaint: String = "") -> Never {
        try? ToolIO.write(1, Array(text.utf8).span)
        if !complaint.isEmpty {
            try? ToolIO.write(2, Array("appvault-windows: \(complaint)\n".utf8).span)
        }
        ToolIO.exit(status)
    }

    // MARK: Hiding

    /// Frames stand between a window and the root, and some window managers use several. A window
    /// that is part of another program's, such as an icon in a panel, is as deep at most.
    private static let deepest = 6

    private static func hide(_ group: ControlGroup, _ server: Server) throws(Server.Failure) {
        let memory = HiddenMark(server)
        server.grab()
        let clients = try server.processes().clients(where: group.contains)
        var windows: [Server.Window] = []
        // Of these nobody may have heard: whoever hid them was killed over it.
        var hidden: [Server.Window] = []
        var level = server.roots
        for _ in 0..<deepest where !level.isEmpty {
            let all = try server.children(of: level)
            hidden += all.filter {
                $0.mapping == .hidden && clients.own($0.id) && memory.isSet(on: $0.id)
            }
            let children = all.filter { $0.mapping == .shown }
            windows += children.filter { clients.own($0.id) }
            // With its window everything inside of it disappears.
            level = children.filter { !clients.own($0.id) }.map(\.id)
        }
        // What has a grab goes first: menus. Told before it is done: who reads it may show what is
        // not hidden, but cannot show what it has never heard of.
        windows = windows.filter(\.isUnmanaged) + windows.filter { !$0.isUnmanaged }
        let told = (hidden + windows).map { "\($0.id)\n" }.joined()
        guard (try? ToolIO.write(1, Array(told.utf8).span)) != nil else { return }
        for window in windows {
            memory.set(on: window)
            server.unmap(window.id)
        }
        server.release()
        try server.finish()
    }

    // MARK: Showing

    private static func show(_ windows: [UInt32], _ server: Server) throws(Server.Failure) {
        let memory = HiddenMark(server)
        // The lowest was printed first among its like, and what is mapped last is on top.
        for window in windows where memory.take(from: window) { server.map(window) }
        try server.finish()
    }
}
