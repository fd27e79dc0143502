/// Whom a section of keys is for.
enum Scope: Hashable, Sendable {
    case everybody
    case group([UInt8])
    case user([UInt8])
    case store([UInt8])
}

/// One line KEY=VALUE of a section of keys.
struct Setting: Sendable {
    /// The key's place in the table.
    let key: Int
    let change: ValueChange
    let file: String
    let line: Int
    /// Settings of later files and later lines have a higher order.
    var order: UInt64 = 0
}

/// The title of a section, between its brackets.
enum SectionTitle: Equatable {
    case keys(Scope)
    case app(AppScope)
    case rule(String)
    case texts

    static let right =
        "[Passcode], [Passcode group:NAME], [Passcode user:NAME], [Passcode store:KEY], "
        + "[App ID], [App ID group:NAME], [App ID user:NAME], [Rule NAME] or [Texts]"

    private static let scopes:
        [(prefix: String, longest: Int, scope: @Sendable ([UInt8]) -> Scope)] =
            [
                ("Passcode group:", 255, Scope.group), ("Passcode user:", 255, Scope.user),
                ("Passcode store:", 128, Scope.store),
            ]

    static func read(_ line: [UInt8]) throws(BadTitle) -> SectionTitle {
        guard line.last == UInt8(ascii: "]") else {
            throw BadTitle(wrong: "the section has no closing bracket", right: right)
        }
        let title = line[1..<(line.count - 1)]
        if title.elementsEqual("Passcode".utf8) { return .keys(.everybody) }
        if title.elementsEqual("Texts".utf8) { return .texts }
        for (prefix, longest, scope) in scopes where title.starts(with: prefix.utf8) {
            let name = title.dropFirst(prefix.utf8.count)
            guard isName(name, longest) else {
                throw BadTitle(
                    wrong: "\(quoted(Array(name))) is not a valid name",
                    right: "1 to \(longest) bytes, no blanks around them, without : [ and ]")
            }
            return .keys(scope(Array(name)))
        }
        if title.starts(with: "App ".utf8) { return .app(try app(title.dropFirst(4))) }
        let rule = "Rule "
        guard title.starts(with: rule.utf8) else {
            throw BadTitle(wrong: "unknown section", right: right)
        }
        guard let name = ruleName(title.dropFirst(rule.utf8.count)) else {
            throw BadTitle(
                wrong:
                    "\(quoted(Array(title.dropFirst(rule.utf8.count)))) is not a name for a rule",
                right: "1 to 58 letters, digits, points, hyphens and underscores, and not 'all'")
        }
        return .rule(name)
    }

    private static func app(_ words: ArraySlice<UInt8>) throws(BadTitle) -> AppScope {
        let id = words.prefix { $0 != 0x20 }
        guard AppScope.isID(id) else {
            throw BadTitle(
                wrong: "\(quoted(Array(id))) is not the id of an application",
                right: "the name of its desktop entry without .desktop: 1 to "
                    + "\(AppScope.longestID) letters, digits, points, hyphens and underscores")
        }
        let rest = words.dropFirst(id.count)
        if rest.isEmpty { return AppScope(app: Array(id), whom: .everybody) }
        let kinds: [(prefix: String, whom: @Sendable ([UInt8]) -> AppScope.Whom)] = [
            (" group:", AppScope.Whom.group), (" user:", AppScope.Whom.user),
        ]
        for (prefix, whom) in kinds where rest.starts(with: prefix.utf8) {
            let name = rest.dropFirst(prefix.utf8.count)
            guard isName(name, 255) else {
                throw BadTitle(
                    wrong: "\(quoted(Array(name))) is not a valid name",
                    right: "1 to 255 bytes, no blanks around them, without : [ and ]")
            }
            return AppScope(app: Array(id), whom: whom(Array(name)))
        }
        throw BadTitle(wrong: "unknown section", right: right)
    }

    // Names in directory services may contain blanks, backslashes and letters of all scripts.
    private static func isName(_ name: ArraySlice<UInt8>, _ longest: Int) -> Bool {
        1...longest ~= name.count && trimmed(name).count == name.count
            && !name.contains { $0 == 0x3A || $0 == 0x5B || $0 == 0x5D }
    }
}

struct BadTitle: Error {
    let wrong: String
    let right: String
}

/// The bytes without the blanks around them.
func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return [] }
    return bytes[...last].drop(while: isBlank)
}
