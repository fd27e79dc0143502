/// Something that has happened while a person was asked: for a program that wants to know of it,
/// and never for the secret itself.
public struct PromptEvent: Hashable, Sendable {
    /// What has happened. There may be further ones in a later version.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public var rawValue: String

        /// The kind of that name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the kind.
        public var description: String { rawValue }

        /// A passcode to be was judged, or compared with what was typed the second time.
        public static let validate = Kind(rawValue: "validate")
        /// A passcode was tried.
        public static let tried = Kind(rawValue: "tried")
        /// The person has given up, or answered with nothing, which is the same.
        public static let cancel = Kind(rawValue: "cancel")
        /// The person goes on without a passcode.
        public static let skip = Kind(rawValue: "skip")
        /// The store was removed.
        public static let reset = Kind(rawValue: "reset")
        /// Fingers open the store from now on.
        public static let fingerOn = Kind(rawValue: "fingerOn")
        /// No finger opens the store any more.
        public static let fingerOff = Kind(rawValue: "fingerOff")
    }

    /// What has happened.
    public var kind: Kind
    /// The store that it happened to.
    public var store: StoreName
    /// The id of the question's text; empty where nothing was asked.
    public var id: String
    /// What the entry was for.
    public var mode: Question.Mode?
    /// Why it was refused; nil where it was taken, or where nothing was tried.
    ///
    /// A wrong passcode is ``VaultError/Code/invalidPasscode``, one that was typed differently the
    /// second time ``VaultError/Code/noMatch``, and one that does not meet a rule has the code of
    /// that rule, such as ``VaultError/Code/underMinLength`` or ``VaultError/Code/sameAsCurrent``.
    /// If it does not meet several rules and is asked for again, the daemon does not tell programs
    /// which these are: the code is ``VaultError/Code/invalidArgument``. If it is not asked for
    /// again, the code is that of the first of them, as in the error that is thrown. An answer that
    /// came to nothing because of something else, such as a disk that is full, has the code of that.
    public var code: VaultError.Code?
}

/// What a program wants to be told of while a person is asked.
public struct PromptHooks: Sendable {
    let told: @Sendable (PromptEvent) async -> Void

    /// The closure is called for each event, and the exchange goes on when it returns.
    public init(_ told: @escaping @Sendable (PromptEvent) async -> Void) { self.told = told }

    /// Nobody is told.
    public static let none = PromptHooks { _ in }
}
