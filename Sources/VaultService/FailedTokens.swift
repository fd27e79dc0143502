import KeySlots
import Posix

/// Tokens of other modules that did not open a store, remembered as hashes as long as the daemon
/// lives: the same token again is refused without a derivation and without a count, so that a login
/// password that has drifted away costs one try.
@LoopActor
final class FailedTokens {
    private struct Known {
        var failed: [TokenHash] = []
        /// Those that a confirmed login showed to be the login password.
        var confirmed: [TokenHash] = []
    }

    private var known: [StoreID: Known] = [:]
    /// A guesser's tokens push each other out, which costs nobody but him a try.
    private static let limit = 16

    var isEmpty: Bool { known.isEmpty }

    /// A login password has failed here that no later one has mended.
    func hasDrifted(_ host: StoreHost) -> Bool {
        known[host.id].map { !$0.failed.isEmpty } ?? false
    }

    func contains(_ hash: TokenHash, of host: StoreHost) -> Bool {
        known[host.id].map { $0.failed.contains(hash) || $0.confirmed.contains(hash) } ?? false
    }

    func isConfirmed(_ hash: TokenHash, of host: StoreHost) -> Bool {
        known[host.id].map { $0.confirmed.contains(hash) } ?? false
    }

    func remember(_ hash: TokenHash, of host: StoreHost) {
        Self.add(hash, to: &known[host.id, default: Known()].failed)
    }

    func confirm(_ hash: TokenHash, of host: StoreHost) {
        Self.add(hash, to: &known[host.id, default: Known()].confirmed)
    }

    /// The passcode changed: what was wrong may be right now.
    func forget(_ host: StoreHost) {
        known[host.id] = nil
    }

    private static func add(_ hash: TokenHash, to list: inout [TokenHash]) {
        guard !list.contains(hash) else { return }
        if list.count == limit { list.removeFirst() }
        list.append(hash)
    }
}
