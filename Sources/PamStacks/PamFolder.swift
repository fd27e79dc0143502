/// PAM's files of a machine, and where its modules lie.
package final class PamFolder {
    private let source: PamSource
    private let folders: [String]
    /// The files that this user may not read.
    package private(set) var denied: Set<String> = []

    /// `folder` replaces PAM's own folders; nil means those.
    package init(_ source: PamSource, _ folder: String?) {
        self.source = source
        folders = folder.map { [$0] } ?? ["/etc/pam.d", "/usr/lib/pam.d"]
    }

    package private(set) lazy var configuration = PamConfiguration { [unowned self] name in
        file(name)
    }

    private func file(_ name: String) -> PamConfiguration.File? {
        for path in name.hasPrefix("/") ? [name] : folders.map({ "\($0)/\(name)" }) {
            switch source.contents(path) {
            case .found(let text): return .init(path: path, text: text)
            case .missing: continue
            case .unreadable:
                denied.insert(path)
                return nil
            }
        }
        return nil
    }

    /// The services that programs use, without the files that are only there to be included.
    package var services: [String] {
        let names = Set(folders.flatMap(source.names)).filter { name in
            !name.contains(".") || name.hasSuffix(".service")
        }
        return names.filter { !Self.isFragment($0) }.sorted()
    }

    private static func isFragment(_ name: String) -> Bool {
        name.hasPrefix("common-")
            || [
                "system-auth", "system-login", "system-local-login", "system-remote-login",
                "system-services", "password-auth", "fingerprint-auth", "smartcard-auth",
                "postlogin",
            ].contains(name)
    }

    /// Nil if the line's module is found. Otherwise the first path at which libpam looks for it.
    package func missing(_ line: PamLine) -> String? {
        if line.module.hasPrefix("/") {
            return source.presence(line.module) == .missing ? line.module : nil
        }
        let libraries = ["/usr/lib", "/lib", "/usr/lib64", "/lib64"]
        let triplets = Self.triplets.flatMap { triplet in
            libraries.prefix(2).map { "\($0)/\(triplet)" }
        }
        let places = (triplets + libraries).map { "\($0)/security/\(line.module)" }
        return places.contains { source.presence($0) == .there } ? nil : places[0]
    }

    #if arch(arm64)
        private static let triplets = ["aarch64-linux-gnu"]
    #else
        private static let triplets = ["x86_64-linux-gnu"]
    #endif
}
