/// A line of a service file, and where it stands.
package struct PamLine: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case auth, account, password, session
    }

    var kind: Kind
    var control: PamControl
    /// As it is written: a name, or a path.
    var module: String
    var arguments: [String]
    /// The path.
    var file: String
    var number: Int

    var place: String { "\(file):\(number)" }
    /// The module without its folder, such as `pam_unix.so`.
    var name: String { module.split(separator: "/").last.map(String.init) ?? module }
    var isOurs: Bool { name == "pam_appvault.so" }
    func has(_ argument: String) -> Bool { arguments.contains(argument) }
}
