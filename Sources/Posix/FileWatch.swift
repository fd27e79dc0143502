internal import CLinux

/// Reports when files may have changed, in whichever way an editor or an installer writes them, and
/// when folders appear or disappear. It costs nothing while nothing happens.
@LoopActor
public final class FileWatch {
    /// What to watch at one path.
    public enum Interest: Equatable, Sendable {
        /// The file or folder itself, and everything in it.
        case all
        /// Of a folder, only the entry with this name.
        case name(String)
        /// Of a folder, only entries with this suffix.
        case suffix(String)
        /// Of a folder, only whether this name appears or disappears, not what is written in it.
        case coming(String)

        var mask: UInt32 {
            switch self {
            case .all, .name, .suffix: APPVAULT_WATCHED
            case .coming: APPVAULT_COMING
            }
        }

        func covers(_ name: String) -> Bool {
            switch self {
            case .all: true
            case .name(let only), .coming(let only): name.isEmpty || name == only
            case .suffix(let end): name.isEmpty || name.hasSuffix(end)
            }
        }
    }

    /// What a look at the events found.
    public enum Found: Sendable {
        case nothing
        /// A program is writing and has not finished.
        case writing
        case changed
    }

    private let channel: Channel
    private var interests: [Int32: [Interest]] = [:]

    public init() throws(PosixError) {
        let number = appvault_inotify()
        guard number >= 0 else { throw .last("inotify_init1") }
        channel = try Channel(owning: FileDescriptor(owning: number))
    }

    /// Watches exactly these paths. Skips paths that are missing. Returns the first error of a path
    /// that could not be watched for another reason.
    public func watch(_ paths: [(path: String, interest: Interest)]) -> PosixError? {
        var present: [Int32: [Interest]] = [:]
        var failure: PosixError?
        for (path, interest) in paths {
            // SAFETY: the path is a terminated copy for the length of the call.
            let number = unsafe inotify_add_watch(channel.number, path, interest.mask)
            if number >= 0 {
                let others = present[number, default: []]
                // Two paths may lead to the same folder, which has only one watch.
                let mask = others.reduce(interest.mask) { $0 | $1.mask }
                if mask != interest.mask {
                    _ = unsafe inotify_add_watch(channel.number, path, mask)
                }
                present[number] = others + [interest]
            } else if appvault_errno() != ENOENT, appvault_errno() != ENOTDIR, failure == nil {
                failure = .last("watch \(path)")
            }
        }
        for number in interests.keys where present[number] == nil {
            _ = inotify_rm_watch(channel.number, number)
        }
        interests = present
        return failure
    }

    /// Waits for events; `timedOut` at the deadline.
    public func wait(until deadline: UInt64?) async -> Channel.Wake {
        await channel.readable(until: deadline)
    }

    /// Takes all pending events.
    public func take() -> Found {
        var found = Found.nothing
        // SAFETY: only the part of the memory that the kernel filled is read.
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { room in
            while case .bytes(let count) = unsafe channel.read(into: room), count > 0 {
                let taken = unsafe UnsafeRawBufferPointer(rebasing: room[..<count])
                switch unsafe look(at: taken) {
                case .nothing: break
                case .writing: if case .nothing = found { found = .writing }
                case .changed: found = .changed
                }
            }
        }
        return found
    }

    private func look(at bytes: UnsafeRawBufferPointer) -> Found {
        var found = Found.nothing
        var place = 0
        let head = 16
        while place + head <= bytes.count {
            // SAFETY: the fixed part of an event is 16 bytes, and the loop's condition says that
            // they are there.
            let watch = unsafe bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
            let mask = unsafe bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            let length = Int(
                unsafe bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            let end = min(place + head + length, bytes.count)
            let name = unsafe bytes[(place + head)..<end].prefix { $0 != 0 }
            place = end
            // Too many events at once: one of the lost ones may have been about our files.
            if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                found = .changed
                continue
            }
            let text = unsafe String(decoding: name, as: UTF8.self)
            guard let wanted = interests[watch], wanted.contains(where: { $0.covers(text) }) else {
                continue
            }
            if mask & UInt32(IN_MODIFY) == 0 {
                found = .changed
            } else if case .nothing = found {
                found = .writing
            }
        }
        return found
    }
}
