import Wire

/// Makes a text fit to be shown to a person: no control or bidi character, no newline, and no
/// longer than its place allows.
package enum Text {
    /// How many characters one argument of a message may have.
    package static let argument = 200

    package static func clean(
        _ text: String, characters: Int = .max, limit: Int = Limits.line
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < characters else { break }
            let shown: Unicode.Scalar
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
                shown = "?"
            default: shown = scalar  // lint: allow: the runtime's enum, and all others are shown
            }
            let encoded = Array(String(shown).utf8)
            if bytes.count + encoded.count > limit { break }
            bytes += encoded
            count += 1
        }
        return bytes
    }

    /// Bytes from a peer, to be shown as a part of one of our lines.
    package static func clean(_ bytes: [UInt8]) -> String {
        argument(String(decoding: bytes, as: UTF8.self))
    }

    package static func argument(_ text: String) -> String {
        String(decoding: clean(text, characters: argument), as: UTF8.self)
    }
}
