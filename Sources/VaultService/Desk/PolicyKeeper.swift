import Policy
import Posix
import Words

/// The machine's policy, read from the real files. If a file breaks, the last good policy stays in
/// force, also after a restart of the daemon.
@LoopActor
final class PolicyKeeper {
    enum Standing: Equatable {
        case good
        /// A file is broken; the last good policy is in force.
        case lastGood(PolicyProblem)
        /// A file is broken and there never was a good policy: stores open, but creating and
        /// changing are refused.
        case broken(PolicyProblem)
    }

    /// What a reading changed.
    enum Change: Equatable {
        case nothing
        case policy
        /// The same policy, but a file broke, was mended, or is broken elsewhere.
        case standing
    }

    /// `[Texts]`, by id.
    var texts: [String: String] { book.texts }
    private(set) var book = PolicyBook.builtIn
    private(set) var standing = Standing.good
    /// Counts policies. An answer that was kept under another number is asked for anew.
    private(set) var reading = 0
    let reader: PolicyReader
    /// One thread, so that what was read first is taken first.
    private let pool = WorkerPool(name: "policy", threads: 1)
    /// For policies that are only asked about: they do not delay the reading of the real one.
    private let candidates = WorkerPool(name: "candidate", threads: 1)
    /// A good policy was read since the start: a broken file later changes nothing of it.
    private var hasGood = false

    init(_ options: Options) {
        reader = PolicyReader(options)
    }

    private struct Outcome: Sendable {
        let book: Result<PolicyBook, PolicyProblem>
        /// Read only if it is needed.
        var lastGood: PolicyBook?
    }

    private nonisolated static func read(
        _ found: PolicyReader.Found, _ reader: PolicyReader, needsLastGood: Bool
    ) -> Outcome {
        do throws(PolicyProblem) {
            let book = try PolicyBook(try found.get())
            reader.save(book)
            return Outcome(book: .success(book))
        } catch {
            return Outcome(
                book: .failure(error), lastGood: needsLastGood ? reader.lastGood() : nil)
        }
    }

    /// Called before any connection is served.
    func start() {
        _ = take(Self.read(reader.found(), reader, needsLastGood: true))
    }

    private static let settling: UInt64 = 20
    private static let mostReadings = 25

    /// A program that writes a file in place empties it first, and may be interrupted before it
    /// goes on.
    private static func isBegun(_ found: PolicyReader.Found) -> Bool {
        guard case .success(let files) = found else { return false }
        return files.administrators?.text.isEmpty == true
            || files.dropIns.contains { $0.text.isEmpty }
    }

    /// Reads everything anew, on a thread that may wait. No request waits for it.
    func reload() async -> Change {
        let reader = reader
        var found = await pool.run { reader.found() }
        // A file that is being written may have no end yet, or be empty, and half a policy must not
        // come into force. So read until nothing changes any more.
        for _ in 0..<Self.mostReadings {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.settling)
            let again = await pool.run { reader.found() }
            if again == found, !Self.isBegun(again) { break }
            found = again
        }
        let settled = found
        let needsLastGood = !hasGood
        return take(
            await pool.run { Self.read(settled, reader, needsLastGood: needsLastGood) })
    }

    /// For a reading that an administrator asked for: groups are asked for anew, too.
    func forgetAnswers() {
        reading += 1
    }

    private func take(_ read: Outcome) -> Change {
        let before = (book, standing)
        switch read.book {
        case .success(let found):
            book = found
            standing = .good
            hasGood = true
        case .failure(let problem):
            if hasGood {
                standing = .lastGood(problem)
            } else if let last = read.lastGood {
                book = last
                standing = .lastGood(problem)
                hasGood = true
            } else {
                book = .builtIn
                standing = .broken(problem)
            }
        }
        if book != before.0 {
            reading += 1
            return .policy
        }
        return standing != before.1 ? .standing : .nothing
    }

    /// For work on policies that takes longer than a moment.
    func aside<R: Sendable>(_ work: @escaping @Sendable (PolicyReader) -> R) async -> R {
        let reader = reader
        return await pool.run { work(reader) }
    }

    /// The policy as it would be with another policy.conf; the drop-ins stay.
    func read(candidate: PolicyFile) async throws(PolicyProblem) -> PolicyBook {
        let reader = reader
        let result = await candidates.run {
            Result { () throws(PolicyProblem) in try reader.read(replacing: candidate) }
        }
        return try result.get()
    }

    func requireUsable() throws(Refusal) {
        if case .broken(let problem) = standing { throw Self.refusal(problem) }
    }

    /// For what concerns no particular person.
    var inForce: PolicyInForce {
        book.inForce(for: PolicySubject())
    }

    var policy: Policy { inForce.policy }

    nonisolated static func refusal(_ problem: PolicyProblem) -> Refusal {
        .policyBroken(
            file: problem.file, line: problem.line, key: problem.key, wrong: problem.wrong,
            right: problem.right)
    }
}
