internal import Wire

/// A connection to AppVault, for one person: the one whose program this is.
///
/// ```swift
/// let vault = try await Vault.connect()
/// try await vault.openStore(orCreate: .usual, with: .terminal)
/// let store = try await vault.openStore("mail", orCreate: .following(.default))
/// ```
///
/// A vault may be used by any number of tasks at the same time. Their requests go to the daemon one
/// after the other, in the order in which they were made; a question to a person holds up no other
/// request. If the daemon is restarted, the next call connects anew.
public final class Vault: Sendable {
    /// How a program connects.
    public struct Configuration: Sendable {
        /// Where the daemon listens. A private daemon has a socket of its own.
        public var socket: String
        /// The language of texts, as in `LANG`; nil: the process's.
        public var language: String?
        /// What is told of the entries of passcodes.
        public var hooks: PromptHooks

        /// The machine's own daemon.
        public init(
            socket: String = "/run/appvault/socket", language: String? = nil,
            hooks: PromptHooks = .none
        ) {
            self.socket = socket
            self.language = language
            self.hooks = hooks
        }
    }

    let greeting: Greeting
    let waits: Waits
    let hooks: PromptHooks
    /// For all requests that ask nobody.
    let link: Link
    let watch: EventWatch

    init(_ greeting: Greeting, waits: Waits = Waits(), hooks: PromptHooks = .none) {
        self.greeting = greeting
        self.waits = waits
        self.hooks = hooks
        link = Link(greeting, waits)
        watch = EventWatch(greeting, waits)
    }

    /// Connects to the daemon, and makes sure that it is AppVault's.
    ///
    /// - Throws: ``VaultError/Code/notRunning`` where there is none, ``VaultError/Code/busy`` where
    ///   it takes no connection now, ``VaultError/Code/notTrusted`` where somebody else listens.
    public static func connect(
        _ configuration: Configuration = Configuration()
    ) async throws(VaultError) -> Vault {
        try checkCancelled()
        let vault = Vault(
            Greeting(
                path: configuration.socket, frontEnd: .program,
                language: configuration.language ?? ThisProcess.language),
            hooks: configuration.hooks)
        try await vault.link.open()
        return vault
    }

    // MARK: Stores

    /// The store of that name, which is made first if there is none.
    ///
    /// A store that exists is neither opened nor asked about: ``Store/unlock(with:)`` does that. One
    /// that is made here is open. Of two programs that call this at the same time, one makes the
    /// store, and both get it.
    ///
    /// - Parameters:
    ///   - name: The store's name; `OWNER/NAME` for one that another person shares.
    ///   - new: What opens the store, if it is made here. Without this, nothing is made.
    ///   - prompter: Who asks the person, where making the store needs an answer.
    /// - Throws: ``VaultError/Code/doesNotExist`` if there is none and none is to be made, or if
    ///   it is to follow a store that the person does not have yet (the message names that one);
    ///   what ``createStore(_:_:with:)`` throws.
    @discardableResult
    public func openStore(
        _ name: StoreName = .default, orCreate new: NewStore? = nil,
        with prompter: some Prompter = .silent
    ) async throws(VaultError) -> Store {
        let store = try self.store(name)
        if try await store.state().exists { return store }
        guard let new else {
            throw VaultError(.doesNotExist, "there is no store \(name)")
        }
        do throws(VaultError) {
            return try await createStore(name, new, with: prompter)
        } catch {
            // Somebody else has made it meanwhile.
            guard error.code == .alreadyExists, try await store.state().exists else { throw error }
            return store
        }
    }

    /// Makes a store, which is open then.
    ///
    /// - Throws: ``VaultError/Code/alreadyExists`` if there is one of that name;
    ///   ``VaultError/Code/doesNotExist`` if the store that opens it is not there: that which it is
    ///   to follow, or the person's own for a shared one; ``VaultError/Code/passcodeRequired`` if
    ///   somebody has to be asked and the prompter has nobody;
    ///   ``VaultError/Code/busy`` if another program has been making it for some seconds, perhaps
    ///   because a person has not chosen a passcode yet.
    @discardableResult
    public func createStore(
        _ name: StoreName = .default, _ new: NewStore, with prompter: some Prompter = .silent
    ) async throws(VaultError) -> Store {
        let store = try self.store(name)
        let deadline = Clock.milliseconds() + waits.making
        while true {
            do throws(VaultError) {
                _ = try await converse(
                    store, .creating, Outgoing(.create, new.request(store.target)), with: prompter)
                return store
            } catch {
                // It may be another program's that is not there yet, and may never be.
                guard error.code == .alreadyExists, try await !store.state().exists else {
                    throw await naming(error, new)
                }
            }
            guard Clock.milliseconds() < deadline else {
                throw VaultError(.busy, "another program is making the store \(name)")
            }
            try await wrapped { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    /// The daemon does not say which of the two stores is missing.
    private func naming(_ error: VaultError, _ new: NewStore) async -> VaultError {
        guard error.code == .doesNotExist, let opener = new.opener,
            let state = try? await store(opener).state(), !state.exists
        else { return error }
        var named = error
        named.message = "there is no store \(opener)"
        return named
    }

    /// A handle of a store, whether it exists or not; nothing is asked of the daemon.
    public func store(_ name: StoreName = .default) throws(VaultError) -> Store {
        try name.check()
        return Store(vault: self, name: name)
    }

    /// All stores of this person, and those that are shared with them.
    public func stores() async throws(VaultError) -> [StoreListing] {
        var all: [StoreListing] = []
        var cursor: UInt32 = 0
        repeat {
            let page = try await link.ask(
                .stores, Stores(subject: Subject(), all: false, cursor: cursor),
                for: .storeList, StoreList.self)
            all += page.stores.map(StoreListing.init)
            cursor = page.cursor
        } while cursor != 0
        return all
    }

    /// A request in which a person may be asked.
    func converse<P: Prompter>(
        _ store: Store, _ intent: Conversation<P>.Intent, _ request: consuming Outgoing,
        with prompter: P
    ) async throws(VaultError) -> String {
        let conversation = Conversation(
            link: Link(
                greeting.with(prompter.kind.frontEnd, drawsScreens: prompter.drawsScreens), waits),
            prompter: prompter,
            store: store.name, intent: intent, hooks: hooks, waits: waits, judge: store.judge)
        return try await conversation.run(request)
    }
}

/// What opens a store that is made.
public struct NewStore: Sendable {
    enum Way: Sendable {
        case usual
        case followLogin
        case ownPasscode
        case noPasscode
        case following(StoreName)
        case shared
        case configuration
    }

    var way: Way
    /// Its UUID, where that is fixed or agreed with somebody; nil: a new one.
    public var id: StoreID?
    /// The section `[Passcode store:KEY]` of the policy that it is under; empty: that of the store
    /// that it follows, or `default`.
    public var policyKey = ""

    /// A passcode of its own, unless the policy has new stores begin without one.
    public static let usual = NewStore(way: .usual)
    /// The login password.
    public static let followingLogin = NewStore(way: .followLogin)
    /// A passcode of its own.
    public static let ownPasscode = NewStore(way: .ownPasscode)
    /// Nothing has to be shown; the policy may forbid it.
    public static let noPasscode = NewStore(way: .noPasscode)
    /// It opens and locks with another store of the same person, which has to be there: otherwise
    /// making it throws ``VaultError/Code/doesNotExist``. If that one is locked, its passcode is
    /// asked for.
    public static func following(_ store: StoreName) -> NewStore {
        NewStore(way: .following(store))
    }
    /// Each of its members opens it with their own store, `default`; the first of them is this
    /// person. Making it throws ``VaultError/Code/doesNotExist`` where they have no `default` with a
    /// passcode, and ``VaultError/Code/locked`` where that was never open.
    public static let shared = NewStore(way: .shared)
    /// Nothing has to be shown: for settings that several people read. It holds no secret.
    public static let configuration = NewStore(way: .configuration)

    /// The same with that UUID.
    public func withID(_ id: StoreID) -> NewStore {
        var other = self
        other.id = id
        return other
    }

    /// The same under another section of the policy.
    public func withPolicyKey(_ key: String) -> NewStore {
        var other = self
        other.policyKey = key
        return other
    }

    /// The store that opens it.
    var opener: StoreName? {
        switch way {
        case .following(let parent): parent
        case .shared: .default
        case .usual, .followLogin, .ownPasscode, .noPasscode, .configuration: nil
        }
    }

    func request(_ target: Target) -> Create {
        let (way, parent): (Create.Way, StoreName?) =
            switch self.way {
            case .usual: (.usuallyOwnPasscode, nil)
            case .followLogin: (.followLogin, nil)
            case .ownPasscode: (.ownPasscode, nil)
            case .noPasscode: (.noPasscode, nil)
            case .following(let parent): (.followStore, parent)
            case .shared: (.shared, nil)
            case .configuration: (.configuration, nil)
            }
        var request = Create(target: target, way: way, openExisting: false)
        if let parent, parent != .default { request.parent = parent.bytes }
        if let id { request.id = id.bytes }
        request.policyKey = Array(policyKey.utf8)
        return request
    }
}

/// One of the stores that there are.
public struct StoreListing: Sendable {
    /// Its name; `OWNER/NAME` where another person shares it.
    public var name: StoreName
    /// Its UUID.
    public var id: StoreID?
    /// The account that it belongs to.
    public var owner: String
    /// Where its key comes from.
    public var kind: StoreState.Kind
    /// Whether it is open, and why not.
    public var lock: StoreState.Lock
    /// How many records it has; 0 while it is locked.
    public var records: Int
    /// What this person may do with it; nil where that is nothing, which no
    /// store in such a list has now.
    public var role: Role?
    /// How many it is shared with, its owner among them; 0 where it is not shared.
    public var members: Int

    init(_ entry: StoreList.Entry) {
        let owner = String(decoding: entry.owner.name, as: UTF8.self)
        let name = String(decoding: entry.name, as: UTF8.self)
        let isOurs = entry.owner.uid == ThisProcess.realUID
        self.name = StoreName(isOurs ? name : "\(owner)/\(name)")
        id = StoreID(bytes: entry.store)
        self.owner = owner
        kind = StoreState.Kind(entry.kind)
        lock = StoreState.Lock(entry.lock)
        records = Int(clamping: entry.records)
        role = Role(entry.role)
        members = Int(entry.members)
    }
}
