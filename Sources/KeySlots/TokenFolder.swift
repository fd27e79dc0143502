import Policy
import Posix
import Secrets

/// Where failed tokens are remembered if the daemon ends before the machine does: one file for each
/// store, and the key of all hashes. The folder is in memory (a tmpfs), so no call here waits for a
/// disk, and none syncs.
public struct TokenFolder: Sendable {
    public enum Unusable: Error, Equatable, Sendable, CustomStringConvertible {
        case storage(PosixError)
        case notPrivate
        case bootUnknown

        public var description: String {
            switch self {
            case .storage(let error): error.description
            case .notPrivate: "it is not this user's own, or others may look into it"
            case .bootUnknown: "nothing says which boot this is"
            }
        }
    }

    static let keyName = "key"
    public static let keySize = 32
    static let keyMagic = Array("AVBK".utf8)
    static let keyHeaderSize = 24

    private let folder: Folder
    private let boot: BootID

    /// Opens an existing folder and never makes one.
    public init(path: String, boot: BootID) throws(Unusable) {
        guard boot != .none else { throw .bootUnknown }
        self.boot = boot
        folder = try Self.usable { () throws(PosixError) in try Folder(path: path) }
        let folder = folder
        let isPrivate = try Self.usable { () throws(PosixError) in try folder.isPrivate() }
        guard isPrivate else { throw .notPrivate }
    }

    // MARK: the key

    /// Whether the key exists. Before a hibernation `appvaultd --forget-tokens` removes it, and a
    /// daemon that has just started may be running then.
    public var hasKey: Bool { folder.exists(Self.keyName) }

    /// The key of this boot, where it can be read.
    public func key() -> SecretBox? {
        guard let file = try? folder.file(Self.keyName, .read),
            (try? file.size()) == Self.keyHeaderSize + Self.keySize,
            let header = Self.read(file, Self.keyHeaderSize), header == keyHeader,
            var key = try? SecretBytes(count: Self.keySize)
        else { return nil }
        let count = key.withMutableBytes { bytes in
            try? file.read(into: &bytes, at: Self.keyHeaderSize)
        }
        guard count == Self.keySize else { return nil }
        return SecretBox(key)
    }

    public func write(_ key: borrowing SecretBytes) throws(Unusable) {
        let header = keyHeader
        try replace(Self.keyName) { (file) throws(PosixError) in
            try file.write(header.span, at: 0)
            try key.withBytes { (bytes) throws(PosixError) in
                try file.write(bytes, at: header.count)
            }
        }
    }

    private var keyHeader: [UInt8] {
        var writer = FieldWriter()
        writer.put(Self.keyMagic)
        writer.put(StoreTokens.version)
        writer.put(UInt16(0))
        writer.put(boot.bytes)
        return writer.bytes
    }

    // MARK: the stores

    /// What is known of these stores. Removes the files of other stores and of other boots.
    public func load(_ stores: Set<StoreID>) throws(Unusable) -> [StoreID: StoreTokens] {
        var known: [StoreID: StoreTokens] = [:]
        for name in try names() {
            guard let store = StoreID(text: name), stores.contains(store) else {
                if Self.isOurs(name), name != Self.keyName { try? destroy(name) }
                continue
            }
            switch tokens(of: store) {
            case .tokens(let tokens): known[store] = tokens
            case .ofAnotherBoot: try? destroy(name)
            case .unreadable:
                known[store] = StoreTokens(refund: .spent)
                // A file that cannot be replaced stays unreadable, which also counts as a spent
                // refund.
                try? write(StoreTokens(refund: .spent), of: store)
            }
        }
        return known
    }

    private func tokens(of store: StoreID) -> StoreTokens.Parsed {
        guard let file = try? folder.file("\(store)", .read), let size = try? file.size(),
            (1...StoreTokens.fileLimit).contains(size), let bytes = Self.read(file, size)
        else { return .unreadable }
        return StoreTokens.parse(bytes, of: store, boot)
    }

    /// Writes the file whole, or leaves it as it was.
    public func write(_ tokens: StoreTokens, of store: StoreID) throws(Unusable) {
        let bytes = tokens.file(of: store, boot)
        try replace("\(store)") { (file) throws(PosixError) in try file.write(bytes.span, at: 0) }
    }

    /// Writes what is left after tokens were forgotten. A file that cannot be replaced, because the
    /// folder is full, is overwritten, and then counts as unreadable: its refund is spent.
    public func writeForgotten(_ tokens: StoreTokens, of store: StoreID) throws(Unusable) {
        guard folder.exists("\(store)") else { return }
        if tokens == StoreTokens() { return try remove(store) }
        do throws(Unusable) {
            try write(tokens, of: store)
        } catch {
            try overwrite("\(store)")
            throw error
        }
    }

    /// Removes the file of a store that is gone.
    public func remove(_ store: StoreID) throws(Unusable) {
        try destroy("\(store)")
    }

    /// Before a hibernation writes memory to a disk: overwrites the key and every hash. It stays
    /// known which stores' refunds are spent.
    public func forgetHashes() throws(Unusable) {
        var trouble: Unusable?
        for name in try names() where Self.isOurs(name) {
            do throws(Unusable) {
                try forgetHashes(in: name)
            } catch {
                trouble = error
            }
        }
        if let trouble { throw trouble }
    }

    private func forgetHashes(in name: String) throws(Unusable) {
        guard let store = StoreID(text: name) else { return try destroy(name) }
        switch tokens(of: store) {
        case .ofAnotherBoot: try destroy(name)
        case .tokens(var tokens):
            tokens.forgetHashes()
            try? overwrite(name)
            try writeForgotten(tokens, of: store)
        case .unreadable:
            try? overwrite(name)
            try writeForgotten(StoreTokens(refund: .spent), of: store)
        }
    }

    // MARK: files

    private static func unfinished(_ name: String) -> String { name + ".new" }

    /// Files with other names were put here by somebody else and are not ours to remove.
    private static func isOurs(_ name: String) -> Bool {
        let whole = name.hasSuffix(".new") ? String(name.dropLast(4)) : name
        return whole == keyName || StoreID(text: whole) != nil
    }

    private func names() throws(Unusable) -> [String] {
        try Self.usable { () throws(PosixError) in try folder.names() }
    }

    private func replace(
        _ name: String, _ body: (borrowing File) throws(PosixError) -> Void
    ) throws(Unusable) {
        let new = Self.unfinished(name)
        do throws(PosixError) {
            try folder.remove(new)
            try body(try folder.file(new, .createNew(mode: 0o600)))
            try folder.rename(new, to: name)
        } catch {
            try? folder.remove(new)
            throw .storage(error)
        }
    }

    private func overwrite(_ name: String) throws(Unusable) {
        try Self.usable { () throws(PosixError) in
            let file = try folder.file(name, .readWrite)
            // No file of ours is longer, and a long file that somebody else made must not fill the
            // folder.
            let count = min(max(try file.size(), 0), StoreTokens.fileLimit)
            try file.write([UInt8](repeating: 0, count: count).span, at: 0)
        }
    }

    /// Overwrites the file, then removes it. A file that cannot be overwritten is still removed.
    private func destroy(_ name: String) throws(Unusable) {
        try? overwrite(name)
        try Self.usable { () throws(PosixError) in try folder.remove(name) }
    }

    private static func read(_ file: borrowing File, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        guard (try? file.read(into: &span, at: 0)) == count else { return nil }
        return bytes
    }

    private static func usable<R>(_ body: () throws(PosixError) -> R) throws(Unusable) -> R {
        do throws(PosixError) { return try body() } catch { throw .storage(error) }
    }
}
