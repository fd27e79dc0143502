internal import Wire

/// Why a request over a connection came to nothing, by what may be done about it.
enum LinkFailure: Error {
    /// The daemon has surely not taken it: it may be sent again over another connection.
    case notTaken(VaultError)
    /// The daemon may have taken it.
    case lost(VaultError)
    /// The connection says nothing that can be used any more.
    case broken(VaultError)
    /// The daemon wants no connection now.
    case turnedAway(VaultError)
    /// The connection is as good as before.
    case answered(VaultError)
}

extension VaultError {
    static func undecodable(_ error: WireError) -> VaultError {
        VaultError(.protocolError, "the daemon has sent what cannot be understood: \(error)")
    }

    static func unexpected(_ type: UInt16) -> VaultError {
        VaultError(.protocolError, "the daemon has sent an answer of type \(type) out of turn")
    }

    static let closed = VaultError(.connectionLost, "the daemon has closed the connection")

    static let silent = VaultError(.noAnswer, "the daemon does not answer")

    static let cancelled = VaultError(.cancelled, "cancelled")

    /// The same for a request that changes something and was sent.
    var withUnknownOutcome: VaultError {
        VaultError(
            .outcomeUnknown, "\(message), after it was asked to change something",
            hint: "look what is there before you ask again", underlying: self)
    }

    init(_ refused: Refused) {
        var parameters: [String: String] = [:]
        for each in refused.parameters {
            parameters[String(decoding: each.name, as: UTF8.self)] =
                String(decoding: each.value, as: UTF8.self)
        }
        self.init(
            Code(rawValue: Int(refused.code)), String(decoding: refused.message, as: UTF8.self),
            hint: String(decoding: refused.hint, as: UTF8.self), parameters: parameters)
    }
}
