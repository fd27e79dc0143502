/// A row of a table of texts: `id | English | what {1} is | what {2} is`.
package struct TextRow: ExpressibleByStringLiteral, Equatable, Sendable {
    package let id: String
    package let english: String
    /// What each position stands for; translators and administrators read it.
    package let positions: [String]

    package init(stringLiteral row: String) {
        let fields = Self.fields(of: Array(row.utf8))
        id = fields[0]
        english = fields.count > 1 ? fields[1] : ""
        positions = Array(fields.dropFirst(2))
    }

    /// A text may end with a space; then two spaces stand before the bar.
    private static func fields(of row: [UInt8]) -> [String] {
        var fields: [String] = []
        var start = 0
        var index = 0
        while index + 2 < row.count {
            if row[index + 1] == UInt8(ascii: "|"), row[index] == UInt8(ascii: " "),
                row[index + 2] == UInt8(ascii: " ")
            {
                fields.append(String(decoding: row[start..<index], as: UTF8.self))
                start = index + 3
                index = start
            } else {
                index += 1
            }
        }
        return fields + [String(decoding: row[start...], as: UTF8.self)]
    }
}
