import KeySlots
import Policy
import Posix
import Secrets
internal import Synchronization
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
        if let end = fingerEnd, Clock.bootMilliseconds() >= end { return .none }
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
        return Opening(key: resident.key, ground: .finger, departures: departures)
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

    /// A finger of this store may be looked for among those of its owner's other stores.
    package var fingersTellWho: Bool { fingerprintIsOn && snapshot.terms.fingersTellWho }

    /// `ground` is what has just been shown, where it is agreed to.
    package func letFingersTellWho(_ may: Bool, _ ground: Ground? = nil) async throws(Refusal) {
        try await writeTerms(.finger, ground) { terms, _ in
            terms.fingersTellWho = may && terms.fingerprintIsOn
        }
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
            let turn = fingerTurn
            let fingers: Int
            (result, fingers) = await workers.disk.run {
                turn.run {
                    (Result { () throws(KeyError) in try body(folder) }, folder.bytes)
                }
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
    /// is only a file too many, which the next start removes. Returns the enrolment that it
    /// replaced.
    @discardableResult
    package func keepFinger(
        _ finger: EnrolledFinger, _ ground: Ground
    ) async throws(Refusal) -> EnrolledFinger? {
        try require(ground)
        fingersBeingKept += 1
        defer { fingersBeingKept -= 1 }
        // Files that are left from an earlier enrolment must not become valid again.
        if !fingerprintIsOn {
            try await onFingers(.finger) { (folder) throws(KeyError) in try folder.removeAll() }
        }
        let former = try await onFingers(.finger) { (folder) throws(KeyError) in
            let former = try folder.one(finger.finger)
            try folder.write(finger)
            return former
        }
        do throws(Refusal) {
            try await writeTerms(.finger, ground) { terms, _ in
                terms.fingerprintIsOn = true
                terms.fingerprintWasAllowed = true
            }
        } catch {
            // A finger whose enrolment is refused must open nothing, and the one that it was to
            // replace still does.
            _ = try? await onFingers(.finger) { (folder) throws(KeyError) in
                guard try folder.remove(exactly: finger), let former else { return }
                try folder.write(former)
            }
            throw error
        }
        tell(.fingerAdded)
        return former
    }

    /// Returns the enrolment that is gone.
    @discardableResult
    package func forgetFinger(_ number: UInt8) async throws(Refusal) -> EnrolledFinger? {
        try await onFingers(.finger) { (folder) throws(KeyError) in
            let former = try folder.one(number)
            try folder.remove(number)
            return former
        }
    }

    /// This very enrolment: the same finger may have been enrolled anew meanwhile.
    @discardableResult
    package func forgetFinger(exactly finger: EnrolledFinger) async throws(Refusal) -> Bool {
        try await onFingers(.finger) { (folder) throws(KeyError) in
            try folder.remove(exactly: finger)
        }
    }

    /// Fingers are on, but none is left: its print was deleted from a chip for one that never came.
    /// Returns whether they are off now.
    package func turnOffWithoutFingers() async throws(Refusal) -> Bool {
        guard fingerprintIsOn, fingersBeingKept == 0,
            try await onFingers(.read, { (folder) throws(KeyError) in try folder.isEmptied() }),
            fingerprintIsOn, fingersBeingKept == 0
        else { return false }
        // A finger that is kept from here on is on after this.
        try await writeTerms(.finger) { terms, _ in
            terms.fingerprintIsOn = false
            terms.fingerFailures = 0
        }
        guard !fingerprintIsOn else { return false }
        wipeResident()
        whenFingersGo?()
        return true
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

/// Lets one disk thread after the other at the files of one store's fingers.
final class FingerTurnstile: Sendable {
    private let lock = Mutex(())

    func run<R: Sendable>(_ body: () -> R) -> R {
        lock.withLock { _ in body() }
    }
}
