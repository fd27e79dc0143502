/// Something that has happened to a store.
public struct StoreEvent: Hashable, Sendable {
    /// What has happened. There may be further ones in a later version.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public var rawValue: String

        /// The kind of that name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the kind.
        public var description: String { rawValue }

        /// The store is open.
        public static let opened = Kind(rawValue: "opened")
        /// The store is locked.
        public static let locked = Kind(rawValue: "locked")
        /// Its state is another one: tries were used up, or a change is due.
        public static let changed = Kind(rawValue: "changed")
        /// Whom it is shared with has changed.
        public static let members = Kind(rawValue: "members")
        /// From now on a further finger opens it.
        public static let fingerAdded = Kind(rawValue: "fingerAdded")
        /// A record was stored by this program. ``StoreEvent/record`` is its name.
        public static let recordSet = Kind(rawValue: "recordSet")
        /// A record was removed by this program. ``StoreEvent/record`` is its name.
        public static let recordDeleted = Kind(rawValue: "recordDeleted")
        /// Records were stored or removed, by this program or another one; AppVault does not say
        /// which.
        public static let recordsChanged = Kind(rawValue: "recordsChanged")
        /// The store is no more.
        public static let removed = Kind(rawValue: "removed")
        /// The person has left this machine, or locked its screen.
        public static let personLeft = Kind(rawValue: "personLeft")
        /// The person is back.
        public static let personCameBack = Kind(rawValue: "personCameBack")
        /// A value in memory has taken the place of one in the store that was made persistent:
        /// see ``CompositeStorage``. ``StoreEvent/record`` is its name.
        public static let collided = Kind(rawValue: "collided")
        /// Events were lost: this caller was too slow, or nobody could be heard for a while. Look at
        /// the state anew.
        public static let missed = Kind(rawValue: "missed")
    }

    /// What has happened.
    public var kind: Kind
    /// The record that it happened to, where it is one.
    public var record: RecordName?

    /// An event, for back ends of your own.
    public init(_ kind: Kind, record: RecordName? = nil) {
        self.kind = kind
        self.record = record
    }
}
