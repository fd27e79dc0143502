/// The mark of a window that we have hidden, on the window itself: it goes with the window. So an id
/// that has become another window's shows nothing.
///
/// A window manager takes a window that is unmapped for one that is withdrawn, and forgets where it
/// was. What it has to know is written down beside the mark, and given to it as a program that is
/// just starting would: by the Extended Window Manager Hints.
struct HiddenMark {
    private let server: Server
    private let mark: UInt32
    private let hints: UInt32
    private let hintsType: UInt32
    /// What the window manager deletes: the property, and where it is kept.
    private let kept: [(original: UInt32, copy: UInt32)]

    init(_ server: Server) {
        self.server = server
        mark = server.atom("_APPVAULT_HIDDEN")
        hints = server.atom("WM_NORMAL_HINTS")
        hintsType = server.atom("WM_SIZE_HINTS")
        kept = ["_NET_WM_STATE", "_NET_WM_DESKTOP"].map {
            (server.atom($0), server.atom("_APPVAULT\($0)"))
        }
    }

    private static let cardinal: UInt32 = 6

    func set(on window: Server.Window) {
        if !window.isUnmanaged {
            for (original, copy) in kept {
                if let property = server.property(original, of: window.id) {
                    server.set(copy, of: window.id, to: property)
                }
            }
        }
        let kind = window.isUnmanaged ? 0 : 1
        server.set(
            mark, of: window.id,
            to: .init(type: Self.cardinal, format: 8, bytes: [UInt8(kind)]))
    }

    func isSet(on window: UInt32) -> Bool { server.property(mark, of: window) != nil }

    /// Returns false if the window does not have the mark, or is gone.
    func take(from window: UInt32) -> Bool {
        guard let kind = server.property(mark, of: window) else { return false }
        server.delete(mark, of: window)
        guard kind.bytes == [1] else { return true }
        for (original, copy) in kept {
            guard let property = server.property(copy, of: window) else { continue }
            server.set(original, of: window, to: property)
            server.delete(copy, of: window)
        }
        keepPlace(of: window)
        return true
    }

    /// The window is where the window manager left it; it shall not look for another place. In
    /// the flags, the first word of the hints, the lowest bit says that the person chose it.
    private func keepPlace(of window: UInt32) {
        let count = 18 * 4
        var property =
            server.property(hints, of: window)
            ?? .init(type: hintsType, format: 32, bytes: [UInt8](repeating: 0, count: count))
        guard property.type == hintsType, property.format == 32, property.bytes.count >= 4 else {
            return
        }
        property.bytes[UInt32(1).littleEndian == 1 ? 0 : 3] |= 1
        server.set(hints, of: window, to: property)
    }
}
