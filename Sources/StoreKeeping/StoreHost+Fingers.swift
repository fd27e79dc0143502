import KeySlots
import Policy
import Posix
import Secrets
import Words

/// Fingers: those that are enrolled, and the resident slot that a match opens.
extension StoreHost {
    /// The store key, in guarded memory alone, from the moment at which a passcode has opened the store.
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
        // As it is now that the disk is done.
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

    /// Before a scan: whoever ends the daemon in the middle of it has failed.
    package func countFingerFailure() async throws(Refusal) {
        try await writeTerms(.count) { terms, _ in
            terms.fingerFailures = terms.fingerFailures.addingSaturating(1)
        }
    }

    /// Nothing was compared.
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

    /// The finger's file first, then the word that fingers are on: between the two there is only a file too many,
    /// which the next start removes.
    package func keepFinger(_ finger: EnrolledFinger, _ ground: Ground) async throws(Refusal) {
        try require(ground)
        // What an earlier time has left must not come to life again.
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
            // What is refused opens nothing.
            try? await forgetFinger(finger.finger)
            throw error
        }
    }

    package func forgetFinger(_ number: UInt8) async throws(Refusal) {
        try await onFingers(.finger) { (folder) throws(KeyError) in try folder.remove(number) }
    }

    /// First the word, then the resident slot, then what is on disk and on chips.
    package func turnFingerprintOff() async throws(Refusal) {
        let chips = await fingersOnChips()
        try await writeTerms(.finger) { terms, _ in
            terms.fingerprintIsOn = false
            terms.fingerFailures = 0
        }
        await forgetFingers(chips)
    }

    /// Nobody's fingers open this store any more, and nothing is left of them. What cannot be removed now is removed
    /// at the next start.
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
