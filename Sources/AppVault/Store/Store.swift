internal import Wire

/// A store of AppVault: records that are sealed on the disk, and can be read while it is open.
///
/// A value of this type is a name and a connection. It may be copied and used from everywhere, and
/// says nothing of whether the store exists or is open now; ``state()`` does.
public struct Store: KeyValueStore {
    /// The connection that it uses.
    public let vault: Vault
    /// The store's name.
    public let name: StoreName
    let wireName: [UInt8]

    init(vault: Vault, name: StoreName) {
        self.vault = vault
        self.name = name
        wireName = name == .default ? [] : name.bytes
    }

    var target: Target { Target(store: wireName) }

    // MARK: Records

    /// The value of the record; nil if there is no such record.
    ///
    /// Read again over a new connection if the daemon went away meanwhile. A task that is cancelled
    /// does not wait for the answer.
    ///
    /// - Throws: ``VaultError/Code/locked`` while the store is locked,
    ///   ``VaultError/Code/doesNotExist`` if there is no store.
    public func get(_ name: RecordName) async throws(VaultError) -> [UInt8]? {
        try name.check()
        do throws(VaultError) {
            return try await vault.link.request(
                Outgoing(.get, Record(store: wireName, name: name.bytes)), .reads,
                from: { [UInt8]() }
            ) { (result, type, bytes) throws(WireError) in
                guard type == .value else { return .unexpected }
                var reader = Reader()
                let slice = try reader.payload(bytes, limit: Limits.value)
                try reader.end(bytes)
                result = copied(bytes.extracting(slice.start..<slice.start + slice.count))
                return .done
            }
        } catch {
            try await isMissingRecord(error)
            return nil
        }
    }

    /// Stores the value, in place of one that is there. When the call returns, it is on the disk.
    ///
    /// A task that is cancelled before the value was sent stores nothing. After that the outcome is
    /// waited for, cancelled or not. If the daemon goes away before it has taken the value, the value
    /// is sent again over a new connection.
    ///
    /// - Throws: ``VaultError/Code/outcomeUnknown`` if the daemon went away after it may have taken
    ///   the value: it is stored, or the former one still is.
    public func set(_ value: [UInt8], for name: RecordName) async throws(VaultError) {
        try name.check()
        try checkValue(value)
        try await vault.link.act(
            Outgoing(.set, Record(store: wireName, name: name.bytes), payload: value.span))
        vault.watch.hub.post(StoreEvent(.recordSet, record: name), self.name)
    }

    /// Removes the record; returns whether there was one. Cancelled and repeated like
    /// ``set(_:for:)``.
    @discardableResult
    public func delete(_ name: RecordName) async throws(VaultError) -> Bool {
        try name.check()
        do throws(VaultError) {
            try await vault.link.act(
                Outgoing(.delete, Record(store: wireName, name: name.bytes)))
        } catch {
            try await isMissingRecord(error)
            return false
        }
        vault.watch.hub.post(StoreEvent(.recordDeleted, record: name), self.name)
        return true
    }

    /// The names of all records that begin so and can be read. What is damaged is left out:
    /// ``listing(beginningWith:)`` says what that is.
    public func names(beginningWith prefix: [UInt8]) async throws(VaultError) -> [RecordName] {
        try await listing(beginningWith: prefix).names
    }

    /// What a listing found.
    public struct Listing: Sendable {
        /// The names of the records that can be read.
        public var names: [RecordName] = []
        /// How many records are damaged or missing.
        public var damaged = 0
    }

    /// The names of all records that begin so, and how many are damaged.
    public func listing(
        beginningWith prefix: [UInt8] = []
    ) async throws(VaultError) -> Listing {
        guard prefix.count <= RecordName.longest else { return Listing() }
        var listing = Listing()
        var cursor: UInt64 = 0
        repeat {
            let page = try await vault.link.request(
                Outgoing(.list, List(store: wireName, prefix: prefix, cursor: cursor)), .reads,
                from: { Page() }
            ) { (page, type, bytes) throws(WireError) in
                if type == .damaged {
                    page.damaged += try Incoming.decode(DamagedRecords.self, bytes).records.count
                    return .more
                }
                guard type == .names else { return .unexpected }
                page.names = try Incoming.decode(Names.self, bytes)
                return .done
            }
            listing.names += page.names.names.map(RecordName.init(bytes:))
            listing.damaged += page.damaged
            cursor = page.names.cursor
        } while cursor != 0
        return listing
    }

    private struct Page: Sendable {
        var names = Names(cursor: 0, names: [])
        var damaged = 0
    }

    /// The daemon has one code for a record and for a store that do not exist.
    private func isMissingRecord(_ error: VaultError) async throws(VaultError) {
        guard error.code == .doesNotExist, try await state().exists else { throw error }
    }

    /// What happens to the store from now on. Where nobody has listened before,
    /// ``StoreEvent/Kind/opened`` or ``StoreEvent/Kind/locked`` comes first, as it is now.
    ///
    /// Which records this very ``vault`` stores and removes is told one by one; of those of other
    /// programs, that there were some: ``StoreEvent/Kind/recordsChanged``.
    public func events() -> StoreEvents {
        let own = name
        return vault.watch.hub.events(keeping: vault.watch) { _, name in name == nil || name == own
        }
    }

    // MARK: Open and locked

    /// How the store is now.
    public func state() async throws(VaultError) -> StoreState {
        StoreState(try await vault.link.ask(.status, target, for: .state, State.self))
    }

    /// Opens the store. If it is open already, nobody is asked.
    ///
    /// - Throws: ``VaultError/Code/cancelled`` if the person gives up or the task is cancelled while
    ///   they are asked; ``VaultError/Code/invalidPasscode``, ``VaultError/Code/throttled``,
    ///   ``VaultError/Code/changeRequired`` and others by what the daemon says.
    /// - Returns: What was done, as a finished sentence for people; empty where the prompter has
    ///   opened it by itself.
    @discardableResult
    public func unlock(with prompter: some Prompter = .silent) async throws(VaultError) -> String {
        try checkCancelled()
        if try await prompter.opensByItself(name) { return "" }
        return try await vault.converse(
            self, .opening, Outgoing(.openStore, target), with: prompter)
    }

    /// Locks the store, for every program of this person.
    public func lock() async throws(VaultError) {
        try await vault.link.act(Outgoing(.lock, target))
    }

    /// For so many seconds the store does not lock by itself; nil: as long as the policy allows. The
    /// passcode is asked for, if the store has one.
    ///
    /// - Returns: What was done, as a finished sentence for people.
    @discardableResult
    public func hold(
        seconds: Int? = nil, with prompter: some Prompter = .silent
    ) async throws(VaultError) -> String {
        guard seconds.map({ $0 > 0 && $0 < Int(Hold.longest) }) ?? true else {
            throw VaultError(.invalidArgument, "a store is held for at least a second")
        }
        let hold = Hold(target: target, seconds: seconds.map { UInt32($0) } ?? Hold.longest)
        return try await vault.converse(self, .opening, Outgoing(.hold, hold), with: prompter)
    }

    /// The store locks by itself again.
    public func resume() async throws(VaultError) {
        _ = try await vault.converse(
            self, .opening, Outgoing(.hold, Hold(target: target, seconds: 0)), with: .silent)
    }

    // MARK: As a whole

    /// Gives the store another name; returns a handle with that name. Nothing is asked.
    public func rename(to name: StoreName) async throws(VaultError) -> Store {
        let renamed = try vault.store(name)
        try await vault.link.act(Outgoing(.rename, Rename(target: target, name: name.bytes)))
        return renamed
    }

    /// Removes the store and all in it. The passcode is asked for, if it has one.
    public func reset(with prompter: some Prompter = .silent) async throws(VaultError) {
        _ = try await vault.converse(self, .changing, Outgoing(.reset, target), with: prompter)
        await vault.hooks.told(
            PromptEvent(kind: .reset, store: name, id: "", mode: nil, code: nil))
    }

    /// Judges passcodes to be by this store's policy.
    public var judge: PasscodeJudge {
        let (link, target) = (vault.link, self.target)
        return PasscodeJudge { candidate in
            guard candidate.count <= Limits.secret else {
                throw VaultError(.tooLarge, parameters: ["limit": "\(Limits.secret)"])
            }
            let request = candidate.withBytes { bytes in
                Outgoing(
                    .policyCheck, PolicyCheck(target: target, custom: false), payload: bytes)
            }
            let list = try await link.request(request, .reads, from: { [PasscodeRule]() }) {
                (result, type, bytes) throws(WireError) in
                guard type == .checklist else { return .unexpected }
                result = try Incoming.decode(Checklist.self, bytes).entries.map(PasscodeRule.init)
                return .done
            }
            return list
        }
    }
}
