/// What the manual page says about a key, taken from the table that the parser uses.
package struct PolicyKeyFacts: Sendable {
    package var name: String
    package var bounds: String
    package var builtIn: String
    package var isActedOn: Bool

    /// The keys of `[Passcode]`.
    package static var all: [PolicyKeyFacts] { PolicyKey.all.map(PolicyKeyFacts.init) }

    /// The keys of `[App ID]`.
    package static var ofApps: [PolicyKeyFacts] { PolicyKey.ofApps.map(PolicyKeyFacts.init) }

    private init(_ key: PolicyKey) {
        name = key.name
        bounds = key.kind.right
        builtIn = key.kind.text(.builtIn)
        isActedOn =
            switch key.use {
            case .rule, .ruleChoice, .setting: true
            case .notActedOn: false
            }
    }
}
