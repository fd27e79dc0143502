/// What the manual page says about a key, taken from the table that the parser uses.
package struct PolicyKeyFacts: Sendable {
    package var name: String
    package var bounds: String
    package var builtIn: String
    package var isActedOn: Bool

    package static var all: [PolicyKeyFacts] {
        PolicyKey.all.map { key in
            let isActedOn =
                switch key.use {
                case .rule, .ruleChoice, .setting: true
                case .notActedOn: false
                }
            return PolicyKeyFacts(
                name: key.name, bounds: key.kind.right, builtIn: key.kind.text(.builtIn),
                isActedOn: isActedOn)
        }
    }
}
