/// The life of a store as an application leads it: one function for each verb.
///
/// | verb | what it does |
/// |---|---|
/// | ``onboard(_:runRestoreIfStoreExists:steps:)`` | makes the store |
/// | ``restore(_:steps:)`` | opens it |
/// | ``reset(_:)`` | removes it |
/// | ``resetPasscode(_:steps:)`` | removes it, and makes it anew under the same name |
/// | ``background(_:)`` | locks it, if its policy wants that |
///
/// Without a name each is about the store that ``StoreSelection`` names. A row of steps may follow;
/// where one fails, all before it are undone, and a store that was made here is removed again. A
/// store that was there before is never removed because something failed.
public struct Lifecycle<Provider: StoreProvider, P: Prompter>: Sendable {
    private let provider: Provider
    private let prompter: P

    /// The life of stores in that place, with whoever asks the person.
    public init(_ provider: Provider, prompter: P) {
        self.provider = provider
        self.prompter = prompter
    }

    /// Makes the store, and runs the steps with it.
    ///
    /// - Parameters:
    ///   - name: The store; nil: the selected one.
    ///   - runRestoreIfStoreExists: Opens a store that exists, instead of failing with
    ///     ``VaultError/Code/alreadyExists``. The steps run in both cases.
    ///   - steps: What is done with the store that is open now.
    @discardableResult
    public func onboard(
        _ name: StoreName? = nil, runRestoreIfStoreExists: Bool = false,
        steps: [Step<Provider.Storage>] = []
    ) async throws(VaultError) -> Provider.Storage {
        let name = name ?? StoreSelection.current
        if runRestoreIfStoreExists, try await provider.exists(name) {
            return try await restore(name, steps: steps)
        }
        let remembering = RememberingPrompter(prompter)
        let storage: Provider.Storage
        do throws(VaultError) {
            storage = try await provider.create(name, with: remembering)
        } catch {
            // Somebody else has made it meanwhile.
            guard runRestoreIfStoreExists, error.code == .alreadyExists else { throw error }
            return try await restore(name, steps: steps)
        }
        do throws(VaultError) {
            try await Step.run(steps, in: storage)
        } catch {
            // The person has just chosen the passcode, and is not asked for it again.
            let provider = self.provider
            remembering.answersPasscode()
            await Task { try? await provider.remove(name, with: remembering) }.value
            throw error
        }
        return storage
    }

    /// Opens the store, and runs the steps with it.
    @discardableResult
    public func restore(
        _ name: StoreName? = nil, steps: [Step<Provider.Storage>] = []
    ) async throws(VaultError) -> Provider.Storage {
        let storage = try await provider.open(name ?? StoreSelection.current, with: prompter)
        try await Step.run(steps, in: storage)
        return storage
    }

    /// Removes the store and all in it.
    public func reset(_ name: StoreName? = nil) async throws(VaultError) {
        try await provider.remove(name ?? StoreSelection.current, with: prompter)
    }

    /// Removes the store, and makes it anew under the same name: for a person who has forgotten the
    /// passcode. What was in it is lost.
    @discardableResult
    public func resetPasscode(
        _ name: StoreName? = nil, steps: [Step<Provider.Storage>] = []
    ) async throws(VaultError) -> Provider.Storage {
        let name = name ?? StoreSelection.current
        if try await provider.exists(name) { try await reset(name) }
        return try await onboard(name, steps: steps)
    }

    /// The program is in the background from now on: locks the store if that is what its policy
    /// wants, and returns whether it did.
    @discardableResult
    public func background(_ name: StoreName? = nil) async throws(VaultError) -> Bool {
        try await provider.background(name ?? StoreSelection.current)
    }
}
