/// The name of an application's entry, without `.desktop`. It becomes the name of a file and an
/// argument of a command, so it says nothing else there.
package struct ApplicationID: Equatable, Hashable, Sendable {
    package let name: String

    /// Nil if no entry can be called so.
    package init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let suffix = ".desktop"
        let name = text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : text
        // A file's name has 255 bytes at most, and ours have endings.
        guard !name.isEmpty, name.utf8.count <= 200, !name.contains("/"), !name.contains(".."),
            !name.hasPrefix("."), !name.hasPrefix("-"),
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        self.name = name
    }
}
