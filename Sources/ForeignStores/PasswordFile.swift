package import Posix

/// An entry of pass, the standard Unix password manager: a file that GnuPG has sealed, and its path
/// below the password store.
package enum PasswordFile {
    /// What the person calls it; nil if a file of this path is no entry.
    package static func name(_ path: [UInt8]) -> [UInt8]? {
        let ending = Array(".gpg".utf8)
        guard path.count > ending.count, path.suffix(ending.count).elementsEqual(ending),
            path[path.count - ending.count - 1] != UInt8(ascii: "/")
        else { return nil }
        return Array(path.dropLast(ending.count))
    }

    /// By pass's convention the first line is the password. Where there is more, all of it is kept:
    /// it may be a second secret as well. The end of the last line belongs to no secret.
    package static func secret(_ text: borrowing SecretBuffer) -> Range<Int> {
        text.withSpan { bytes in
            var end = bytes.count
            while end > 0, [0x0A, 0x0D].contains(bytes[end - 1]) { end -= 1 }
            return 0..<end
        }
    }

    /// The item, of which only the secret is missing.
    package static func item(_ name: [UInt8]) -> ForeignItem {
        var item = ForeignItem()
        item.label = name
        item.attributes[Array("path".utf8)] = name
        item.attributes[ForeignItem.schema] = Array("org.freedesktop.Secret.Generic".utf8)
        return item
    }
}
