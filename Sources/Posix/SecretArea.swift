internal import CLinux

/// Memory that one process can leave to another by a descriptor, and that nobody else reads: the
/// kernel takes it out of its own map, so it is in no core, in no swap, and not in /proc/PID/mem.
/// While one exists, the kernel refuses to hibernate. It is wiped when the last holder lets it go,
/// unless it was left to somebody.
@safe
public struct SecretArea: ~Copyable {
    public enum Refusal: Error, Equatable {
        /// The descriptor is not of such memory, or another user has made it, or its size is wrong.
        case foreign
        case posix(PosixError)
    }

    /// More than every store of a large machine needs.
    public static let most = 16 << 20

    public let count: Int
    private let file: FileDescriptor
    private let start: UnsafeMutablePointer<UInt8>
    private var isLeft = false

    /// Whether the kernel has such memory to give.
    public static var isAvailable: Bool {
        let number = appvault_secret_file(0)
        guard number >= 0 else { return false }
        _ = close(number)
        return true
    }

    /// All bytes are zero.
    public init(count: Int) throws(Refusal) {
        precondition(count > 0 && count <= Self.most)
        let number = appvault_secret_file(count)
        guard number >= 0 else { throw .posix(.last("memfd_secret")) }
        try self.init(mapping: FileDescriptor(owning: number), count)
    }

    /// What was left to this process.
    public init(taking descriptor: consuming FileDescriptor) throws(Refusal) {
        let size = appvault_secret_file_size(descriptor.raw)
        guard size > 0, size <= Int64(Self.most) else { throw .foreign }
        try self.init(mapping: descriptor, Int(size))
    }

    private init(mapping file: consuming FileDescriptor, _ count: Int) throws(Refusal) {
        // SAFETY: new pages of this size; the size of such a file does not change, so each of them
        // stays behind its address.
        guard let start = unsafe appvault_secret_file_map(file.raw, count) else {
            throw .posix(.last("mmap"))
        }
        unsafe self.start = start.assumingMemoryBound(to: UInt8.self)
        self.count = count
        self.file = file
    }

    deinit {
        // SAFETY: mapped by init with this size, and no reference to it is left.
        if !isLeft { unsafe appvault_wipe(start, count) }
        _ = unsafe munmap(start, count)
    }

    /// To be sent to whoever keeps it.
    public var descriptor: Int32 { file.raw }

    /// Somebody else has it now: what it holds stays.
    public mutating func leave() { isLeft = true }

    public borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: `count` bytes that live as long as self, which is borrowed here.
        let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
        return try body(unsafe bytes.span)
    }

    public mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: `count` bytes; self is held exclusively here.
        let bytes = unsafe UnsafeMutableBufferPointer(start: start, count: count)
        var span = unsafe bytes.mutableSpan
        return try body(&span)
    }
}
