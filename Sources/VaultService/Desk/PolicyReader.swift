import Policy
import Posix

/// Where the policy files are, and how they are read: all of them, or none. Blocking: it runs on a
/// worker, except at the start.
struct PolicyReader: Sendable {
    let configFolder: String
    let standard: String?
    let lastGoodPath: String
    let fleet: FleetFolder

    init(_ options: Options) {
        fleet = FleetFolder(stateFolder: options.stateFolder)
        configFolder = options.configFolder
        standard = options.defaultPolicy
        lastGoodPath = options.stateFolder + "/policy.last"
    }

    private static let fileName = "policy.conf"
    private static let dropInName = "policy.d"
    private static let dropInEnd = ".conf"
    /// More than this is a mistake, not a policy.
    private static let mostDropIns = 1024

    private var file: String { configFolder + "/" + Self.fileName }
    private var dropIns: String { configFolder + "/" + Self.dropInName }

    typealias Found = Result<PolicyFiles, PolicyProblem>

    func found() -> Found {
        Result { () throws(PolicyProblem) in try files() }
    }

    func read(replacing candidate: PolicyFile) throws(PolicyProblem) -> PolicyBook {
        try PolicyBook(try files(replacing: candidate))
    }

    /// The policy as it would be under this bundle.
    func read(under organisation: OrganisationFile?) throws(PolicyProblem) -> PolicyBook {
        var files = try filesOfThisMachine()
        files.organisation = organisation
        return try PolicyBook(files)
    }

    /// The files as they lie there; a candidate stands in for policy.conf.
    func files(replacing candidate: PolicyFile? = nil) throws(PolicyProblem) -> PolicyFiles {
        var files = try filesOfThisMachine(replacing: candidate)
        files.organisation = try fleet.policy()
        return files
    }

    private func filesOfThisMachine(
        replacing candidate: PolicyFile? = nil
    ) throws(PolicyProblem) -> PolicyFiles {
        var files = PolicyFiles()
        if let standard { files.standard = try read(standard) }
        if let candidate {
            files.administrators = candidate
        } else {
            files.administrators = try read(file)
        }
        for name in try dropInNames() {
            guard let file = try read(dropIns + "/" + name) else { continue }
            files.dropIns.append(file)
            guard files.dropIns.count <= Self.mostDropIns else {
                throw PolicyProblem(
                    file: dropIns, line: 0, key: "", wrong: "too many files",
                    right: "at most \(Self.mostDropIns) files")
            }
        }
        return files
    }

    private func dropInNames() throws(PolicyProblem) -> [String] {
        do {
            return try TextFile.names(in: dropIns).filter { $0.hasSuffix(Self.dropInEnd) }
        } catch {
            throw PolicyProblem(
                file: dropIns, line: 0, key: "", wrong: error.description,
                right: "a folder that appvaultd may read")
        }
    }

    /// Nil if there is no such file. A file that cannot be read is broken, and never counts as "no
    /// policy".
    private func read(_ path: String) throws(PolicyProblem) -> PolicyFile? {
        do throws(PosixError) {
            return PolicyFile(
                name: path, text: try TextFile.read(at: path, limit: PolicyBook.mostBytes))
        } catch {
            if error.isMissing { return nil }
            throw PolicyProblem(
                file: path, line: 0, key: "", wrong: error.description,
                right: "a file that appvaultd may read")
        }
    }

    // MARK: the last good one

    func lastGood() -> PolicyBook? {
        guard let text = try? TextFile.read(at: lastGoodPath, limit: PolicyBook.mostLastGoodBytes)
        else {
            return nil
        }
        return try? PolicyBook(lastGood: PolicyFile(name: lastGoodPath, text: text))
    }

    /// If this write fails, the policy in force is only forgotten sooner. Nothing depends on it.
    func save(_ book: PolicyBook) {
        let text = book.render()
        if let present = try? TextFile.read(at: lastGoodPath, limit: PolicyBook.mostLastGoodBytes),
            present == text
        {
            return
        }
        try? TextFile.replace(at: lastGoodPath, with: text)
    }

    // MARK: what to watch

    /// What to watch: the files themselves, because a name may lead elsewhere; their folders,
    /// because most editors put another file in the place of the old one; and the folders above
    /// that exist already, to see missing ones appear.
    func watched() -> [(path: String, interest: FileWatch.Interest)] {
        var paths = watched(file)
        paths.append((configFolder, .coming(Self.dropInName)))
        paths.append((dropIns, .suffix(Self.dropInEnd)))
        for name in (try? dropInNames()) ?? [] { paths.append((dropIns + "/" + name, .all)) }
        if let standard { paths += watched(standard) }
        return paths
    }

    private func watched(_ file: String) -> [(path: String, interest: FileWatch.Interest)] {
        var paths: [(path: String, interest: FileWatch.Interest)] = [(file, .all)]
        var below = file
        while let slash = below.lastIndex(of: "/"), slash != below.startIndex {
            let name = String(below[below.index(after: slash)...])
            below = String(below[..<slash])
            // If a folder is renamed with all that it holds, the folder above shows it. A missing
            // folder is awaited in the nearest one that exists.
            paths.append((below, paths.count == 1 ? .name(name) : .coming(name)))
            if paths.count > 2, (try? Folder(path: below)) != nil { break }
        }
        return paths
    }
}
