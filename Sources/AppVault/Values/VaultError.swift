/// Why a call did not do what was asked.
///
/// Every error of the library is one of these. ``code-swift.property`` says for programs what has
/// happened, and never changes its meaning; ``message`` and ``hint`` say it for people, in the
/// language of the process. Compare codes, never texts:
///
/// ```swift
/// do {
///     try await store.set([1, 2, 3], for: "token")
/// } catch where error.code == .locked {
///     try await store.unlock(with: .terminal)
/// }
/// ```
public struct VaultError: Error, Sendable {
    /// What has happened.
    public var code: Code
    /// What has happened, for people.
    public var message: String
    /// What a person can do about it; empty where nothing helps.
    public var hint: String
    /// What belongs to the code, by name: `triesRemaining`, `seconds`, `minimum`, and others. No
    /// language changes them.
    public var parameters: [String: String]
    /// The error of somebody else's that caused this one, such as a coder's.
    public var underlying: (any Error)?

    /// An error of that code.
    public init(
        _ code: Code, _ message: String = "", hint: String = "",
        parameters: [String: String] = [:], underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.parameters = parameters
        self.underlying = underlying
    }
}

extension VaultError {
    /// What a closure of the program's has thrown: an error of ours as it is, a cancelled task, or
    /// another one as what is ``underlying``.
    init(_ error: any Error) {
        if let own = error as? VaultError {
            self = own
        } else if error is CancellationError {
            self = .cancelled
        } else {
            self.init(.unknown, "\(error)", underlying: error)
        }
    }
}

/// Runs a closure of the program's, which may throw anything.
func wrapped<R: ~Copyable>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> sending R
) async throws(VaultError) -> sending R {
    do {
        return try await work()
    } catch {
        throw VaultError(error)
    }
}

extension VaultError: CustomStringConvertible {
    /// The message and the hint in one line.
    public var description: String {
        let what = message.isEmpty ? "\(code)" : message
        return hint.isEmpty ? what : "\(what) (\(hint))"
    }
}

extension VaultError: Equatable {
    /// Whether both say the same; what is ``underlying`` is not compared.
    public static func == (a: VaultError, b: VaultError) -> Bool {
        a.code == b.code && a.message == b.message && a.hint == b.hint
            && a.parameters == b.parameters
    }
}
