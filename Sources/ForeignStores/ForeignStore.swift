package import Posix

/// What another program keeps for the desktop's programs, taken out of its file.
package struct ForeignStore: ~Copyable {
    /// What the person calls it; empty where the file does not say.
    package var label: [UInt8]
    package var items: [ForeignItem]
    /// The secrets of all items.
    package var secrets: SecretBuffer
    /// What is in the file and could not be read.
    package var unread: [Unread]

    package struct Unread: Equatable, Sendable {
        package var label: [UInt8]

        package init(label: [UInt8]) { self.label = label }
    }

    package init(
        label: [UInt8] = [], items: [ForeignItem] = [],
        secrets: consuming SecretBuffer = SecretBuffer(), unread: [Unread] = []
    ) {
        self.label = label
        self.items = items
        self.secrets = secrets
        self.unread = unread
    }
}

package struct ForeignItem: Equatable, Sendable {
    /// Where it belongs.
    package enum Place: Equatable, Sendable {
        /// With the others of its store.
        case own
        /// In the collection where programs in a sandbox have their keys, whatever store it was in.
        case login
    }

    package var label: [UInt8] = []
    /// Each name once.
    package var attributes: [[UInt8]: [UInt8]] = [:]
    package var contentType: [UInt8] = Array("text/plain".utf8)
    /// Seconds since 1970; zero where the file does not say.
    package var created: UInt64 = 0
    package var modified: UInt64 = 0
    /// Where its secret lies among those of its store.
    package var secret: Range<Int> = 0..<0
    package var place = Place.own

    package init() {}

    /// The attribute that says what kind of item it is.
    package static let schema = Array("xdg:schema".utf8)
    /// Of no kind. To leave the attribute out says the same.
    package static let generic = Array("org.freedesktop.Secret.Generic".utf8)
}

/// Why nothing was taken out of a file.
package enum ForeignProblem: Error, Equatable, Sendable {
    /// It is no file of this kind.
    case otherKind
    /// It is one, of a version or with a cipher that AppVault cannot read.
    case otherVersion
    /// The wallet is sealed for a key of GnuPG's.
    case sealedByGnuPG
    /// The file of the salt is missing, without which no password opens the wallet.
    case noSalt
    case wrongPassword
    case damaged
    case tooLarge
    /// libgcrypt could not do it.
    case library
}
