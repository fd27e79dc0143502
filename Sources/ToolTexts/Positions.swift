/// The places of arguments in a text: {1} to {9}.
package enum Positions {
    /// Replaces the positions in the template with the arguments. A position without an argument
    /// stays as it is written, because the administrator may have meant the braces.
    package static func filled(_ template: [UInt8], _ arguments: [[UInt8]]) -> [UInt8] {
        guard !arguments.isEmpty else { return template }
        var filled: [UInt8] = []
        var index = 0
        while index < template.count {
            if let number = position(in: template, at: index), number <= arguments.count {
                filled += arguments[number - 1]
                index += 3
            } else {
                filled.append(template[index])
                index += 1
            }
        }
        return filled
    }

    /// The positions that occur in a text.
    package static func of(_ template: String) -> Set<Int> {
        let bytes = Array(template.utf8)
        return Set(bytes.indices.compactMap { position(in: bytes, at: $0) })
    }

    private static func position(in bytes: [UInt8], at index: Int) -> Int? {
        guard index + 2 < bytes.count, bytes[index] == UInt8(ascii: "{"),
            bytes[index + 2] == UInt8(ascii: "}"),
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[index + 1])
        else { return nil }
        return Int(bytes[index + 1] - UInt8(ascii: "0"))
    }
}
