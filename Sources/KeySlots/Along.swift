/// What is written together with a change of slots.
public struct Along: Sendable {
    public var history: HistoryChange?
    public var terms: Terms?
    public var identity: Identity?

    public init(history: HistoryChange? = nil, terms: Terms? = nil, identity: Identity? = nil) {
        self.history = history
        self.terms = terms
        self.identity = identity
    }
}

/// How a change of slots changes the history.
public struct HistoryChange: Sendable {
    /// The passcode that is replaced. Nil where the person did not type it. Then it has an entry
    /// only if one was written earlier, while it was known.
    public var former: HistoryHash?
    /// The new passcode. It is remembered at once, because the person may have forgotten it by the
    /// time it is replaced.
    public var present: HistoryHash?
    /// How many former passcodes are kept; with 0 nothing is remembered at all.
    public var keep: Int

    public init(former: HistoryHash?, present: HistoryHash?, keep: Int) {
        self.former = former
        self.present = present
        self.keep = keep
    }
}
