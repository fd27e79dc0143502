internal import WireEmbedded

/// What one PAM transaction keeps for its later calls, in pam_data. libpam wipes and frees it.
struct Transaction {
    /// Which kind of line began the transaction at the daemon. Only an authenticator's handle is
    /// sent with a later `unlock`.
    enum Origin: UInt8 {
        case none = 0
        case authenticate = 1
        case unlock = 2
    }

    enum Proof: UInt8 {
        case none = 0
        /// Our authenticate answered PAM_SUCCESS.
        case success = 1
    }

    enum Confirmation: UInt8 {
        case due = 0
        case done = 1
    }

    var handle = Handle.none
    var origin = Origin.none
    var proof = Proof.none
    var confirmation = Confirmation.due

    private static let size = Handle.size + 3
    private static let name: StaticString = "appvault.transaction"

    init() {}

    /// What earlier calls kept; nil where none did.
    static func kept(by pam: Pam) -> Transaction? {
        guard let bytes = pam.kept(size, as: name), bytes.count == size else { return nil }
        var transaction = Transaction()
        transaction.handle = Handle(bytes: Array(bytes.prefix(Handle.size)))
        transaction.origin = Origin(rawValue: bytes[Handle.size]) ?? .none
        transaction.proof = Proof(rawValue: bytes[Handle.size + 1]) ?? .none
        transaction.confirmation = Confirmation(rawValue: bytes[Handle.size + 2]) ?? .due
        return transaction
    }

    /// Replaces what was kept.
    func keep(in pam: Pam) {
        var bytes = handle.bytes
        guard bytes.count == Handle.size else { return }
        bytes.append(origin.rawValue)
        bytes.append(proof.rawValue)
        bytes.append(confirmation.rawValue)
        pam.keep(bytes, as: Transaction.name)
    }

    static func forget(in pam: Pam) {
        pam.keep([], as: name)
    }
}
