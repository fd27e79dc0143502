/// AppVault as a place for stores.
public struct VaultStorage: StoreProvider {
    private let vault: Vault
    private let new: NewStore
    private var context = StoreContext()

    /// The stores of this person, and what opens those that are made here.
    public init(_ vault: Vault, creating new: NewStore = .usual) {
        self.vault = vault
        self.new = new
    }

    /// The same place within a context, whose labels stand before each store's name.
    public func applying(_ context: StoreContext) -> VaultStorage {
        var other = self
        other.context = context
        return other
    }

    private func store(_ name: StoreName) throws(VaultError) -> Store {
        try vault.store(context.name(name))
    }

    /// Whether there is a store of that name.
    public func exists(_ name: StoreName) async throws(VaultError) -> Bool {
        try await store(name).state().exists
    }

    /// Makes a store.
    public func create(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> Store {
        try await vault.createStore(context.name(name), new, with: prompter)
    }

    /// Opens a store. If it is open already, nobody is asked.
    public func open(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> Store {
        let store = try self.store(name)
        try await store.unlock(with: prompter)
        return store
    }

    /// Removes a store. The passcode is asked for, if it has one.
    public func remove(_ name: StoreName, with prompter: some Prompter) async throws(VaultError) {
        try await store(name).reset(with: prompter)
    }

    /// Changes the passcode: the present one is asked for, then a new one.
    public func changePasscode(
        of name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) {
        try await store(name).perform(.changePasscode, with: prompter)
    }

    /// Locks the store where the policy's `LockOnBackground` is `immediate`. Where it is `timeout`,
    /// the daemon locks it `LockTimeout` after the person has left.
    @discardableResult
    public func background(_ name: StoreName) async throws(VaultError) -> Bool {
        let store = try self.store(name)
        guard try await store.policy().values["LockOnBackground"] == "immediate" else {
            return false
        }
        try await store.lock()
        return true
    }
}
