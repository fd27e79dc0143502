import Posix

/// Reads the policy anew when its files change. No timer runs while nothing happens.
extension Upkeep {
    /// After this much quiet the writer is taken to be done.
    private static let quiet: UInt64 = 100
    /// The longest wait under a flood of changes.
    private static let longest: UInt64 = 1_000

    /// Ends only with the daemon. Where nothing can be watched, SIGHUP still makes the daemon read
    /// the policy.
    func watchPolicy() async {
        let watch: FileWatch
        do throws(PosixError) {
            watch = try FileWatch()
        } catch {
            return cannotWatch(error)
        }
        var told: PosixError?
        while true {
            let paths = await desk.policies.aside { $0.watched() }
            if let failure = watch.watch(paths), failure != told {
                told = failure
                cannotWatch(failure)
            }
            // Read after the watches are set, so that nothing written meanwhile is missed.
            await readPolicy(isAsked: false)
            await waitForChange(watch)
        }
    }

    private func waitForChange(_ watch: FileWatch) async {
        while true {
            guard await watch.wait(until: nil) == .ready else { return }
            if case .changed = watch.take() { break }
        }
        let first = Clock.bootMilliseconds()
        while true {
            let now = Clock.bootMilliseconds()
            let end = min(now + Self.quiet, first + Self.longest)
            guard now < end, await watch.wait(until: end) == .ready else { return }
            _ = watch.take()
        }
    }

    private func cannotWatch(_ error: PosixError) {
        desk.audit.note(.policy, "\(error): the policy is read anew on SIGHUP only", code: .unknown)
    }

    /// Reads the policy. It holds for everybody from here on, and open stores obey it at once.
    func readPolicy(isAsked: Bool) async {
        let change = await desk.policies.reload()
        if isAsked { desk.policies.forgetAnswers() }
        if change == .policy {
            followTimesAgain()
            followResidentsAgain()
            watchers.noteAll()
        }
        switch (change, desk.policies.standing) {
        case (.nothing, _) where !isAsked: return
        case (_, .good): desk.audit.note(.policy, "the policy was read")
        case (_, .lastGood(let problem)), (_, .broken(let problem)):
            desk.audit.note(
                .policy, "\(problem); the policy that was in force stays", code: .policyBroken)
        }
    }
}
