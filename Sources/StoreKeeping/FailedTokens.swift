import KeySlots
import Policy
import Posix
import Secrets
import Words

/// What the daemon knows of the token that a login ended with, compared with the token that was
/// wrong at AppVault's prompt.
package enum EndingToken: Sendable {
    /// There was no `unlock` line of AppVault at the end of the stack to see it.
    case unseen
    case same
    case different
}

/// Tokens that did not open a store, remembered as hashes until the machine restarts. If the same
/// token comes again, it is refused without a derivation and without a count. So a login password
/// that is no longer the passcode costs one try. With a runtime folder the hashes outlive the
/// daemon.
@LoopActor
package final class FailedTokens {
    /// What becomes of a wrong own try after its login was confirmed.
    package enum Settlement: Equatable {
        case givenBack
        case moved(Reason)
        /// The login succeeded with another token.
        case stays

        package enum Reason: Equatable {
            /// No `unlock` line saw the token that the login succeeded with.
            case unseen
            /// The store has given back one token in this boot already, and this is another one.
            case spent
            /// It could not be written down that the refund is spent, so a restart would give
            /// another one.
            case notKept
        }
    }

    /// A daemon that cannot write down what it gave back gives nothing back.
    private enum Refunds {
        case possible
        case withheld
    }

    private let folder: TokenFolder?
    private var refunds: Refunds
    private let report: (TokenFolder.Unusable) -> Void
    private var known: [StoreID: StoreTokens] = [:]
    /// Made at random when the first token comes.
    private var key: SecretBox?
    private var isKeyKept = false
    /// Called with a store whose failed tokens were forgotten.
    package var whenForgotten: ((StoreID) -> Void)?

    /// Without a path everything stays in memory. `report` is called once if the folder cannot be
    /// used.
    package init(folderAt path: String?, report: @escaping (TokenFolder.Unusable) -> Void) {
        self.report = report
        refunds = .possible
        guard let path else {
            folder = nil
            return
        }
        do throws(TokenFolder.Unusable) {
            folder = try TokenFolder(path: path, boot: Boot.id)
        } catch {
            folder = nil
            refunds = .withheld
            report(error)
        }
    }

    /// Loads what an earlier daemon of this boot has written.
    package func load(_ hosts: [StoreHost]) {
        guard let folder else { return }
        do throws(TokenFolder.Unusable) {
            known = try folder.load(Set(hosts.map(\.id)))
        } catch {
            fails(error)
        }
        // The earlier daemon may have been killed after the passcode changed, before it forgot what
        // was wrong until then.
        for host in hosts where known[host.id]?.isBound(to: host.newestPasscode) == false {
            forget(host)
        }
        if let found = folder.key() {
            key = found
            isKeyKept = true
        } else {
            forgetAll()
        }
    }

    private func fails(_ trouble: TokenFolder.Unusable) {
        switch refunds {
        case .possible:
            refunds = .withheld
            report(trouble)
        case .withheld: break
        }
    }

    // MARK: when the daemon may leave

    package var hasHashes: Bool { known.values.contains { $0.hasHashes } }

    /// Whether the next daemon will know what this one knows.
    package var outlivesDaemon: Bool {
        switch refunds {
        case .possible: folder != nil
        case .withheld: false
        }
    }

    package var isEmpty: Bool { known.values.allSatisfy { $0 == StoreTokens() } }

    // MARK: what is known

    /// A login password that the login had proven did not open the store, and none has opened it
    /// since: it was probably changed elsewhere.
    package func hasDrifted(_ host: StoreHost) -> Bool {
        known[host.id]?.hasDrifted ?? false
    }

    package func note(hasDrifted: Bool, of host: StoreHost) {
        guard hasDrifted != self.hasDrifted(host) else { return }
        _ = change(host) { $0.hasDrifted = hasDrifted }
        host.tell(.changed)
    }

    /// Whether a try of that kind is refused without a derivation.
    package func recall(_ hash: TokenHash, of host: StoreHost, _ kind: TryKind) -> Bool {
        guard known[host.id] != nil else { return false }
        var isKnown = false
        _ = change(host) { isKnown = $0.recall(hash, kind) }
        return isKnown
    }

    package func isConfirmed(_ hash: TokenHash, of host: StoreHost) -> Bool {
        known[host.id].map { $0.isConfirmed(hash) } ?? false
    }

    package func hash(
        _ token: borrowing SecretBytes, of host: StoreHost
    ) throws(SecretsError) -> TokenHash {
        noticeForgotten()
        let key = try presentKey()
        let hash = try key.read { (key) throws(SecretsError) in
            try TokenHash(token, of: host.id, key: key)
        }
        guard let hash else { throw .wrongSize }
        return hash
    }

    package func hash(_ token: TypedPasscode, of host: StoreHost) throws(Refusal) -> TokenHash {
        do throws(SecretsError) {
            return try hash(token.bytes, of: host)
        } catch {
            throw .outOfMemory
        }
    }

    private func presentKey() throws(SecretsError) -> SecretBox {
        if let key { return key }
        let made = try SecretBytes.random(TokenFolder.keySize)
        if let folder {
            do throws(TokenFolder.Unusable) {
                try folder.write(made)
                isKeyKept = true
            } catch {
                fails(error)
            }
        }
        let box = SecretBox(made)
        key = box
        return box
    }

    // MARK: what comes to be known

    /// Remembers a token that a derivation has shown to be wrong. The caller does this before it
    /// answers.
    package func remember(_ hash: TokenHash, of host: StoreHost, _ kind: TryKind) {
        _ = change(host) { $0.remember(hash, kind) }
    }

    /// Decides what becomes of a wrong own try after its login was confirmed. Some modules succeed
    /// without looking at the token. With them a guesser can win back one try, once in a boot.
    /// Every other try moves to the apart count, as long as that has room.
    package func settle(
        _ hash: TokenHash, _ token: EndingToken, of host: StoreHost
    ) -> Settlement {
        switch token {
        case .different: return .stays
        case .unseen:
            _ = change(host) { $0.confirm(hash) }
            return .moved(.unseen)
        case .same: break
        }
        guard case .possible = refunds else {
            _ = change(host) { $0.confirm(hash) }
            return .moved(.notKept)
        }
        var claim = StoreTokens.Claim.spent
        let kept = change(host) { tokens in
            claim = tokens.claimRefund(for: hash)
            if claim == .spent { tokens.confirm(hash) }
        }
        switch (claim, kept) {
        case (.granted, .kept): return .givenBack
        case (.granted, .notKept): return .moved(.notKept)
        case (.spent, _): return .moved(.spent)
        }
    }

    private enum Kept {
        case kept
        case notKept
    }

    /// A change that cannot be written down still counts in this daemon's memory: a refund stays
    /// spent, even if nothing was given back.
    private func change(_ host: StoreHost, _ body: (inout StoreTokens) -> Void) -> Kept {
        noticeForgotten()
        let before = known[host.id] ?? StoreTokens()
        var tokens = before
        body(&tokens)
        tokens.bind(to: host.newestPasscode)
        known[host.id] = tokens
        guard let folder, tokens != before else { return .kept }
        guard isKeyKept else { return .notKept }
        do throws(TokenFolder.Unusable) {
            try folder.write(tokens, of: host.id)
            return .kept
        } catch {
            fails(error)
            return .notKept
        }
    }

    // MARK: what is forgotten

    /// After the passcode changed: what was wrong may be right now.
    package func forget(_ host: StoreHost) {
        whenForgotten?(host.id)
        guard var tokens = known[host.id] else { return }
        tokens.forgetHashes()
        known[host.id] = tokens
        tell { (folder) throws(TokenFolder.Unusable) in
            try folder.writeForgotten(tokens, of: host.id)
        }
    }

    /// After the store was removed.
    package func remove(_ host: StoreHost) {
        whenForgotten?(host.id)
        known[host.id] = nil
        tell { (folder) throws(TokenFolder.Unusable) in try folder.remove(host.id) }
    }

    /// Before memory goes to a disk: forgets every hash and the key. Which refunds are spent stays
    /// known.
    package func forgetAll() {
        forgetInMemory()
        tell { (folder) throws(TokenFolder.Unusable) in try folder.forgetHashes() }
    }

    private func forgetInMemory() {
        key = nil
        isKeyKept = false
        for store in known.keys {
            known[store]?.forgetHashes()
            whenForgotten?(store)
        }
    }

    /// `appvaultd --forget-tokens` may wipe the folder after this daemon has begun. Then the memory
    /// forgets, too.
    private func noticeForgotten() {
        if let folder, isKeyKept, !folder.hasKey { forgetInMemory() }
    }

    private func tell(_ body: (TokenFolder) throws(TokenFolder.Unusable) -> Void) {
        guard let folder else { return }
        do throws(TokenFolder.Unusable) { try body(folder) } catch { fails(error) }
    }
}

extension StoreHost {
    fileprivate var newestPasscode: PasscodeSlot? { snapshot.passcodes.first }
}
