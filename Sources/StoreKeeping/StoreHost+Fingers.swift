import KeySlots
import Policy
import Posix
import Secrets
import Words

/// The enrolled fingers, and the resident slot that a match opens.
extension StoreHost {
    /// The store key, kept in guarded memory only, from the moment at which a passcode has opened
    /// the store.
    package struct Resident {
        package let key: StoreKey
        package let made: ResidentTime

        package static func now() -> ResidentTime {
            ResidentTime(boot: Clock.bootMilliseconds() / 1000, wall: Clock.wallSeconds())
        }
    }

    package var fingerprintIsOn: Bool { snapshot.terms.fingerprintIsOn }

    package func residentAge(_ policy: Policy) -> ResidentAge {
        guard let resident else { return .none }
        return policy.residentAge(since: resident.made, now: Resident.now())
    }

    /// The passcode was typed, or the login password: a finger opens the store from now on, and failed ones are
    /// forgotten. Nobody is kept out where this fails.
    package func keepResident(_ key: StoreKey, _ ground: Ground, _ policy: Policy) async {
        if fingerprintIsOn { try? await clearFingerFailures() }
        // Look at the state only now: it may have changed during the wait for the disk.
        guard fingerprintIsOn, hasPasscode, isUsable, policy.allowFingerprint,
            (try? require(ground)) != nil
        else { return wipeResident() }
        resident = Resident(key: key, made: Resident.now())
        whenResident?(self)
    }

    package func wipeResident() {
        guard resident != nil else { return }
        resident = nil
        whenResident?(self)
    }

    /// The store key, for a match that was seen just now.
    package func residentKey(_ policy: Policy) throws(Refusal) -> Opening {
        guard fingerprintIsOn, let resident, residentAge(policy) == .good else {
            throw .fingerprintUnavailable(.notOpened)
        }
        return Opening(key: resident.key, ground: .finger)
    }

    // MARK: failed matches

    package func fingerFailuresLeft(_ policy: Policy) -> Int {
        Int(
            policy.fingerprintMaxFailures.subtractingSaturating(
                UInt32(snapshot.terms.fingerFailures)))
    }

    /// Counted before the scan, so a scan during which the daemon is ended counts as a failure.
    package func countFingerFailure() async throws(Refusal) {
        try await writeTerms(.count) { terms, _ in
            terms.fingerFailures = terms.fingerFailures.addingSaturating(1)
        }
    }

    /// For a scan that compared nothing.
    package func giveBackFingerFailure() async throws(Refusal) {
        try await writeTerms(.count) { terms, _ in
            terms.fingerFailures = terms.fingerFailures.subtractingSaturating(1)
        }
    }

    package func clearFingerFailures() async throws(Refusal) {
        guard snapshot.terms.fingerFailures != 0 else { return }
        try await writeTerms(.count) { terms, _ in terms.fingerFailures = 0 }
    }

    // MARK: on disk

    private func fingerFolder() throws(KeyError) -> FingerFolder {
        guard let machine = machineForAdoption else { throw .missing }
        let state: Folder
        do throws(PosixError) { state = try Folder(path: stateFolder) } catch {
            throw .storage(error)
        }
        return try FingerFolder(in: state, store: id, owner: identity, machine: machine)
    }

    private func onFingers<R: Sendable>(
        _ during: Refusal.During,
        _ body: @escaping @Sendable (FingerFolder) throws(KeyError) -> R
    ) async throws(Refusal) -> R {
        let result: Result<R, KeyError>
        do throws(KeyError) {
            let folder = try fingerFolder()
            let fingers: Int
            (result, fingers) = await workers.disk.run {
                (Result { () throws(KeyError) in try body(folder) }, folder.bytes)
            }
            records.takeBesides(SlotFile.size + fingers)
        } catch {
            throw Self.refusal(error, during)
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw Self.refusal(error, during)
        }
    }

    package func enrolledFingers() async throws(Refusal) -> FingerFolder.Found {
        guard fingerprintIsOn else { return FingerFolder.Found() }
        return try await onFingers(.read) { (folder) throws(KeyError) in try folder.all() }
    }

    /// Writes the finger's file first, and then that fingers are on. After a crash in between there
    /// is only a file too many, which the next start removes.
    package func keepFinger(_ finger: EnrolledFinger, _ ground: Ground) async throws(Refusal) {
        try require(ground)
        // Files that are left from an earlier enrolment must not become valid again.
        if !fingerprintIsOn {
            try await onFingers(.finger) { (folder) throws(KeyError) in try folder.removeAll() }
        }
        try await onFingers(.finger) { (folder) throws(KeyError) in try folder.write(finger) }
        do throws(Refusal) {
            try await writeTerms(.finger, ground) { terms, _ in
                terms.fingerprintIsOn = true
                terms.fingerprintWasAllowed = true
            }
        } catch {
            // A finger whose enrolment is refused must open nothing.
            try? await forgetFinger(finger.finger)
            throw error
        }
    }

    package func forgetFinger(_ number: UInt8) async throws(Refusal) {
        try await onFingers(.finger) { (folder) throws(KeyError) in try folder.remove(number) }
    }

    /// First writes that fingers are off, then wipes the resident slot, then removes the files and
    /// the prints on chips.
    package func turnFingerprintOff() async throws(Refusal) {
        let chips = await fingersOnChips()
        try await writeTerms(.finger) { terms, _ in
            terms.fingerprintIsOn = false
            terms.fingerFailures = 0
        }
        await forgetFingers(chips)
    }

    /// From now on no finger opens this store, and nothing of the fingers is left. What cannot be
    /// removed now is removed at the next start.
    package func forgetFingers(_ onChips: [EnrolledFinger]? = nil) async {
        wipeResident()
        whenFingersGo?()
        let chips: [EnrolledFinger]
        if let onChips { chips = onChips } else { chips = await fingersOnChips() }
        try? await onFingers(.finger) { (folder) throws(KeyError) in try folder.removeAll() }
        if !chips.isEmpty { forgetOnChips?(chips) }
    }

    private func fingersOnChips() async -> [EnrolledFinger] {
        let found = try? await onFingers(.read) { (folder) throws(KeyError) in try folder.all() }
        return (found?.fingers ?? []).filter(\.isOnChip)
    }
}

extension UInt8 {
    fileprivate func addingSaturating(_ other: UInt8) -> UInt8 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    fileprivate func subtractingSaturating(_ other: UInt8) -> UInt8 {
        self > other ? self - other : 0
    }
}

extension UInt32 {
    fileprivate func subtractingSaturating(_ other: UInt32) -> UInt32 {
        self > other ? self - other : 0
    }
}
