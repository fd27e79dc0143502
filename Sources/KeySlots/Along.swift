/// What goes with a change of slots, in one change with it.
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

/// What becomes of the history.
public struct HistoryChange: Sendable {
    /// The passcode that goes. Nil where nobody typed it: then it has its entry since it was set, if ever.
    public var former: HistoryHash?
    /// The passcode that comes: remembered at once, because nobody may know it any more when it goes.
    public var present: HistoryHash?
    /// How many former passcodes stay; with 0 nothing is remembered at all.
    public var keep: Int

    public init(former: HistoryHash?, present: HistoryHash?, keep: Int) {
        self.former = former
        self.present = present
        self.keep = keep
    }
}
