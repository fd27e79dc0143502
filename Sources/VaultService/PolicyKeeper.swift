import Policy
import Posix

/// The policy in force, read from the real files; the last good one outlives a broken file and the
/// daemon.
@LoopActor
final class PolicyKeeper {
    enum Standing: Equatable {
        case good
        /// The file is broken; the last good policy is in force.
        case lastGood(PolicyProblem)
        /// The file is broken and there never was a good one: stores open, creating and changing is
        /// refused.
        case broken(PolicyProblem)
    }

    private(set) var book = PolicyBook.builtIn
    private(set) var standing = Standing.good
    private let options: Options
    /// A good policy was read since the start: a broken file later changes nothing of it.
    private var hasGood = false
    private static let limit = 1 << 20

    init(_ options: Options) {
        self.options = options
    }

    /// What holds for everybody.
    var inForce: PolicyInForce { book.inForce(for: PolicySubject()) }
    var policy: Policy { inForce.policy }
    /// `[Texts]`, by id.
    var texts: [String: String] { book.texts }

    private var lastGoodPath: String { options.stateFolder + "/policy.last" }

    /// Reads everything anew. Blocking, but these are a few small local files, at start and on
    /// SIGHUP.
    func load() {
        do throws(PolicyProblem) {
            book = try PolicyBook(try readFiles())
            standing = .good
            hasGood = true
            save()
        } catch {
            guard !hasGood else {
                standing = .lastGood(error)
                return
            }
            if let last = lastGood() {
                book = last
                standing = .lastGood(error)
            } else {
                book = .builtIn
                standing = .broken(error)
            }
        }
    }

    func requireUsable() throws(Refusal) {
        if case .broken(let problem) = standing { throw Self.refusal(problem) }
    }

    static func refusal(_ problem: PolicyProblem) -> Refusal {
        .policyBroken(
            file: problem.file, line: problem.line, key: problem.key, wrong: problem.wrong,
            right: problem.right)
    }

    private func readFiles() throws(PolicyProblem) -> PolicyFiles {
        var files = PolicyFiles()
        if let path = options.defaultPolicy { files.standard = try read(path) }
        files.administrators = try read(options.configFolder + "/policy.conf")
        let folder = options.configFolder + "/policy.d"
        let names: [String]
        do {
            names = try TextFile.names(in: folder)
        } catch {
            throw PolicyProblem(
                file: folder, line: 0, key: "", wrong: error.description,
                right: "a folder that appvaultd may read")
        }
        for name in names where name.hasSuffix(".conf") {
            if let file = try read(folder + "/" + name) { files.dropIns.append(file) }
        }
        return files
    }

    /// nil where there is no such file; a file that cannot be read is broken, never "no policy".
    private func read(_ path: String) throws(PolicyProblem) -> PolicyFile? {
        do throws(PosixError) {
            return PolicyFile(name: path, text: try TextFile.read(at: path, limit: Self.limit))
        } catch {
            if error.isMissing { return nil }
            throw PolicyProblem(
                file: path, line: 0, key: "", wrong: error.description,
                right: "a file that appvaultd may read")
        }
    }

    private func save() {
        // Without the file the policy in force is only forgotten sooner; nothing rests on this
        // write.
        try? TextFile.replace(at: lastGoodPath, with: book.render())
    }

    private func lastGood() -> PolicyBook? {
        let limit = PolicyBook.mostLastGoodBytes
        guard let text = try? TextFile.read(at: lastGoodPath, limit: limit) else { return nil }
        return try? PolicyBook(lastGood: PolicyFile(name: lastGoodPath, text: text))
    }
}
