/// A place that stores can be made in: what a program needs of it over the life of a store.
///
/// ``VaultStorage`` is AppVault, ``MemoryStorage`` keeps stores in memory, ``FileStorage`` in plain
/// files, ``SecretServiceStorage`` in the desktop's keyring.
public protocol StoreProvider: Sendable {
    /// A store that is open.
    associatedtype Storage: KeyValueStore

    /// The same place within a context: each call of what is returned happens in it.
    func applying(_ context: StoreContext) -> Self

    /// Whether there is a store of that name.
    func exists(_ name: StoreName) async throws(VaultError) -> Bool

    /// Makes a store; it is open then.
    ///
    /// - Throws: ``VaultError/Code/alreadyExists`` if there is one of that name.
    func create(_ name: StoreName, with prompter: some Prompter) async throws(VaultError) -> Storage

    /// Opens a store. One that cannot be opened stays as it is.
    ///
    /// - Throws: ``VaultError/Code/doesNotExist`` if there is none.
    func open(_ name: StoreName, with prompter: some Prompter) async throws(VaultError) -> Storage

    /// Removes a store and all in it.
    ///
    /// - Throws: ``VaultError/Code/doesNotExist`` if there is none.
    func remove(_ name: StoreName, with prompter: some Prompter) async throws(VaultError)

    /// Gives a store another passcode.
    ///
    /// - Throws: ``VaultError/Code/notSupported`` where stores have none.
    func changePasscode(
        of name: StoreName, with prompter: some Prompter
    ) async throws(VaultError)

    /// The program is in the background from now on: locks the store if that is what its policy
    /// wants, and returns whether it did.
    @discardableResult
    func background(_ name: StoreName) async throws(VaultError) -> Bool
}

extension StoreProvider {
    /// Stores have no passcode here.
    public func changePasscode(
        of name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) {
        throw VaultError(.notSupported, "stores have no passcode here")
    }

    /// Stores are not locked here.
    public func background(_ name: StoreName) async throws(VaultError) -> Bool { false }

    /// Opens the store, which is made first if there is none. Of two programs that call this at the
    /// same time, one makes the store, and both get it.
    public func openOrCreate(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> Storage {
        if try await exists(name) { return try await open(name, with: prompter) }
        do throws(VaultError) {
            return try await create(name, with: prompter)
        } catch {
            // Somebody else has made it meanwhile.
            guard error.code == .alreadyExists else { throw error }
            return try await open(name, with: prompter)
        }
    }
}

/// What is applied before a store is made or opened.
///
/// Among programs of one person these are labels: they keep two programs from using the same store
/// by accident, and no program from using another one's on purpose. In a sandbox, which keeps a
/// program from all but its own, they hold.
public struct StoreContext: Hashable, Sendable {
    /// Programs that name the same group use the same stores; nil: none.
    public var accessGroup: String?
    /// Stores in one folder are apart from those in another; nil: none.
    public var folder: String?

    /// A context; without arguments, the one that a place has at first.
    public init(accessGroup: String? = nil, folder: String? = nil) {
        self.accessGroup = accessGroup
        self.folder = folder
    }

    /// The labels from the outside to the inside, and the name.
    func path(_ name: StoreName) -> [String] { [accessGroup, folder, name.text].compactMap { $0 } }

    /// The name with its labels before it. AppVault's names have no slash.
    func name(_ name: StoreName) -> StoreName { StoreName(path(name).joined(separator: ".")) }
}

func missing(_ name: StoreName) -> VaultError {
    VaultError(.doesNotExist, "there is no store \(name)")
}

func exists(_ name: StoreName) -> VaultError {
    VaultError(.alreadyExists, "there is a store \(name) already")
}
