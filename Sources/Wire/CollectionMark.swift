// For programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// Programs of the desktop see some stores as collections of their own. Whoever makes one for
    /// that chooses an id that begins like this: so everybody knows it who knows the store, also
    /// while it is locked or empty, and nothing more has to be stored.
    public enum CollectionMark {
        /// A UUID of version 8, whose other bits mean what its maker wants.
        public static let prefix: [UInt8] = [0xC0, 0x11, 0xEC, 0x71, 0x0A, 0x5E]
        public static let randomBytes = 10

        public static func isOn(_ id: [UInt8]) -> Bool {
            id.count == 16 && id.starts(with: prefix) && id[6] >> 4 == 8 && id[8] >> 6 == 2
        }

        /// Nil unless the random part has its size.
        public static func id(random: [UInt8]) -> [UInt8]? {
            guard random.count == randomBytes else { return nil }
            var id = prefix + random
            id[6] = id[6] & 0x0F | 0x80
            id[8] = id[8] & 0x3F | 0x80
            return id
        }
    }

#endif
