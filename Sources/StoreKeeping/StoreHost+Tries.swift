import KeySlots
import Policy
import Posix
import Secrets
import Words

/// One try after the other, each counted on disk before it is made.
extension StoreHost {
    /// One try with a passcode, which what it opens remembers: counted and synced before the derivation, its outcome
    /// recorded before anybody hears of it. `wrong` hears that the derivation ended so, before that is
    /// written; `counted` hears of a wrong one on the count.
    package func attempt(
        _ kind: TryKind, _ passcode: TypedPasscode, _ policy: Policy, wrong: () -> Void = {},
        counted: () -> Void = {}
    ) async throws(Refusal) -> Opening {
        try mayTry(kind, policy)
        let queue = Gate.Class(kind)
        let departures = departures
        return try await inTurn(queue) { () async throws(Refusal) in
            let deadline = Clock.bootMilliseconds() + Workers.queueWait
            try await workers.tries.enter(queue, of: identity.uid, until: deadline)
            defer { workers.tries.leave() }
            return try await attemptAlone(
                kind, queue, passcode, policy, departures, wrong, counted)
        }
    }

    package enum Trial: Sendable {
        case opened(StoreKey, PasscodeSlot)
        case wrong
        case notDerived
        case failed(KeyError)
    }

    package func attemptAlone(
        _ kind: TryKind, _ queue: Gate.Class, _ passcode: TypedPasscode, _ policy: Policy,
        _ departures: UInt64, _ wrong: () -> Void, _ counted: () -> Void
    ) async throws(Refusal) -> Opening {
        // Checked again: while this try waited for its turn, another one may have used up the
        // tries.
        try mayTry(kind, policy)
        let file = try requireLive()
        let slots = snapshot.passcodes
        // There must be memory for the most expensive slot, before anything is counted.
        guard let cost = slots.map(\.details.cost).max(by: { $0.memoryKiB < $1.memoryKiB }) else {
            throw .doesNotExist(.passcode)
        }
        try await workers.requireMemory(for: cost)

        let wasDamaged = snapshot.isDamaged
        // Tries that were lost lock the store, and never erase it.
        var policy = policy
        if snapshot.triesAreLost { policy.onRetryLimit = .lock }
        let present = tally(policy)
        try await noteBefore(kind, policy)
        try await count(file, .count, from: present) { tally in
            tally.began(kind, Self.now())
        }
        let trial: Trial
        do throws(Refusal) {
            trial = try await workers.derive(queue, of: identity.uid, cost) {
                passcode.withNormal { Self.tryAll(slots, $0, file) }
            }
        } catch {
            try await count(file, .uncount) { tally in tally.notDerived(kind) }
            throw error
        }
        switch trial {
        case .opened(let key, let slot):
            // A count that cannot be cleared is no reason to keep the owner out: it stays and is
            // cleared later.
            try? await count(file, .clearCount) { tally in tally.right(kind) }
            await noteCleared()
            if slots.count > 1 || snapshot.hasDevice || snapshot.hasUnprovenRecovery {
                try? await onDisk(file, .unlock) { (file) throws(KeyError) in
                    try file.settle(on: slot)
                }
            }
            await mend(file, wasDamaged)
            proven = slot
            return Opening(
                key: key, ground: .passcode(salt: slot.details.salt), typed: passcode,
                departures: departures)
        case .wrong:
            wrong()
            return try await wasWrong(kind, file, policy, counted)
        case .notDerived:
            try await count(file, .uncount) { tally in tally.notDerived(kind) }
            throw .outOfMemory
        case .failed(let error):
            throw Self.refusal(error, .unlock)
        }
    }

    /// Tries the newest slot first. There is a second one only between a change of the login
    /// password and the next unlock.
    package nonisolated static func tryAll(
        _ slots: [PasscodeSlot], _ passcode: borrowing SecretBytes, _ file: SlotFile
    ) -> Trial {
        var hasEnded = false
        for slot in slots {
            do throws(SecretsError) {
                let derived = try KeyDerivation.derive(
                    passcode, salt: slot.details.salt, cost: slot.details.cost)
                do throws(KeyError) {
                    return .opened(StoreKey(try file.openPasscode(slot, derived: derived)), slot)
                } catch {
                    if error != .wrongSecret { return .failed(error) }
                    hasEnded = true
                }
            } catch {
                // A derivation that ended wrong has told something, so the try stays counted.
                return hasEnded ? .failed(.secrets(error)) : .notDerived
            }
        }
        return .wrong
    }

    package func wasWrong(
        _ kind: TryKind, _ file: SlotFile, _ policy: Policy, _ counted: () -> Void
    ) async throws(Refusal) -> Opening {
        var tally = snapshot.tally
        let aftermath = tally.wrong(kind, policy)
        if aftermath == .erase {
            try await erase(file)
            throw .retryLimitReached(.erased)
        }
        // If the outcome cannot be written, the try stays counted as unresolved.
        do throws(Refusal) {
            let outcome = tally
            try await onDisk(file, .count) { (file) throws(KeyError) in
                try file.write(outcome)
            }
        } catch {
            throw .invalidPasscode(
                left: snapshot.tally.triesLeft(kind, policy), forgotten(policy))
        }
        counted()
        switch aftermath {
        case .left(0): throw limitReached(policy)
        case .left(let left): throw .invalidPasscode(left: left, forgotten(policy))
        case .lock:
            // Whoever is there has tried too often: it does not stay open for them either.
            await lock()
            throw limitReached(policy)
        case .erase: throw limitReached(policy)
        }
    }

    package func count(
        _ file: SlotFile, _ during: Refusal.During, from present: Tally? = nil,
        _ change: (inout Tally) -> Void
    ) async throws(Refusal) {
        var tally = present ?? snapshot.tally
        change(&tally)
        let changed = tally
        do throws(Refusal) {
            try await onDisk(file, during) { (file) throws(KeyError) in try file.write(changed) }
        } catch {
            // A try that cannot be counted is not made: nothing is derived.
            if case .storageFailed(let during, let reason) = error {
                throw .serviceUnavailable(.failed(during, reason))
            }
            throw error
        }
    }

    package func updateTally<R: Sendable>(
        clears: Bool = false, _ change: @escaping @Sendable (inout Tally) -> R
    ) async throws(Refusal) -> R {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            var tally = snapshot.tally
            let result = change(&tally)
            let changed = tally
            // Of a count that cannot be read, nothing can be given back.
            guard !snapshot.triesAreLost || clears else { return result }
            try await onDisk(file, .writeCount) { (file) throws(KeyError) in
                try file.write(changed)
            }
            await noteCleared()
            return result
        }
    }

    /// A try with the recovery key, which is never a guess worth making: throttled, and never
    /// erasing.
    package func attemptRecovery(_ key: RecoveryKeyBox, _ policy: Policy) async throws(Refusal)
        -> Opening
    {
        try mayTry(.recovery, policy)
        let departures = departures
        return try await inTurn(.apart) { () async throws(Refusal) in
            try mayTry(.recovery, policy)
            if let foreign { return try await attemptForeign(foreign, key, departures) }
            let file = try requireLive()
            let wasDamaged = snapshot.isDamaged
            try await count(file, .count, from: tally(policy)) { tally in
                tally.began(.recovery, Self.now())
            }
            let unwrapping = unwrapping
            let opened = await workers.disk.run {
                Result { () throws(KeyError) in
                    try Self.tryAll(key, file, departures, unwrapping)
                }
            }
            switch opened {
            case .success(let opening):
                try await count(file, .clearCount) { tally in tally.right(.recovery) }
                await noteCleared()
                await mend(file, wasDamaged)
                return opening
            case .failure(.wrongSecret):
                try await count(file, .count) { tally in
                    _ = tally.wrong(.recovery, policy)
                }
                throw .recoveryKeyInvalid(.wrong)
            case .failure(let error):
                throw Self.refusal(error, .recover)
            }
        }
    }

    private nonisolated static func tryAll(
        _ key: RecoveryKeyBox, _ file: SlotFile, _ departures: UInt64, _ unwrapping: Unwrapping
    ) throws(KeyError) -> Opening {
        let slots = try file.recoverySlots
        guard !slots.isEmpty else { throw .noSuchSlot }
        for slot in slots {
            do throws(KeyError) {
                let found = try unwrapping.key(StoreKey(try file.openRecovery(slot, key.key)))
                return Opening(
                    key: found.key, ground: .recovery(slot.sequence), departures: departures,
                    generation: found.generation)
            } catch {
                guard error == .wrongSecret else { throw error }
            }
        }
        throw .wrongSecret
    }

    package func attemptForeign(
        _ foreign: Foreign, _ key: RecoveryKeyBox, _ departures: UInt64
    ) async throws(Refusal) -> Opening {
        foreign.tally.began(.recovery, Self.now())
        let file = foreign.file
        let unwrapping = unwrapping
        let opened = await workers.disk.run {
            Result { () throws(KeyError) in
                try unwrapping.key(StoreKey(try file.openRecovery(key.key)))
            }
        }
        switch opened {
        case .success(let found):
            foreign.tally.right(.recovery)
            return Opening(
                key: found.key, ground: .foreign, departures: departures,
                generation: found.generation)
        case .failure(.wrongSecret):
            _ = foreign.tally.wrong(.recovery, .builtIn)
            throw .recoveryKeyInvalid(.wrong)
        case .failure(let error):
            throw Self.refusal(error, .recover)
        }
    }

    /// What was in the box goes.
    package static func recoveryKey(_ answer: SecretBox) throws(Refusal) -> RecoveryKeyBox {
        guard let text = answer.take() else { throw .unknown }
        return try recoveryKey(text)
    }

    package nonisolated static func recoveryKey(_ text: borrowing SecretBytes) throws(Refusal)
        -> RecoveryKeyBox
    {
        guard text.count > 0 else { throw .cancelled }
        do throws(RecoveryKey.TextError) {
            return RecoveryKeyBox(try RecoveryKey(text: text))
        } catch {
            switch error {
            case .length:
                throw .recoveryKeyInvalid(.length)
            case .character(let group), .group(let group):
                throw .recoveryKeyInvalid(.group(group))
            case .whole: throw .recoveryKeyInvalid(.whole)
            case .secrets: throw .outOfMemory
            }
        }
    }
}
