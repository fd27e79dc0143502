import Posix
import SealedStore
import Secrets
import Words

/// The threads that block so that the loop does not, and the gates in front of them.
@LoopActor
package final class Workers {
    /// Syncs and SQLite.
    package let disk = WorkerPool(name: "disk", threads: 2)
    /// Argon2id: one thread for each core. They are never niced, because a niced login would wait
    /// for everybody's compile jobs.
    package let derivation = WorkerPool(
        name: "derivation", threads: Workers.derivations, slice: .long)
    /// Together, derivations have at most the memory that one of them may have. The unit's
    /// MemoryMax rests on it.
    package let cores = Gate(
        width: Workers.derivations, ownLimit: 1024, apartLimit: 512,
        strength: Int(KeyDerivation.Cost.memoryRange.upperBound))
    /// More would not fit in memory, even at the lowest cost. The unit's TasksMax counts them.
    private static let derivations = min(ThisProcess.cores, 64)
    /// For tries that are counted on disk already: a few more than there are cores, so that no core
    /// waits for a disk, and few enough that a kill leaves few of them without an outcome.
    package let tries = Gate(width: Workers.derivations + 2, ownLimit: 1024, apartLimit: 512)

    package static let queueWait: UInt64 = 60_000

    /// A derivation runs or is waited for.
    package var isDeriving: Bool { !cores.isIdle }

    /// For work that takes long and is not urgent: overwriting a store, making the reserve.
    package let slow = WorkerPool(name: "slow", threads: 1)

    package let reserve: DiskReserve

    package init(reserve: DiskReserve) {
        self.reserve = reserve
    }

    /// Memory that opened records pass through. What was used of it is wiped each time.
    package let recordSlab = WipedBuffer(lockedCapacity: Records.slabSize)

    /// Derives when a core is free. `person` is the uid whose turn this takes.
    package func derive<R: Sendable>(
        _ kind: Gate.Class, of person: UInt32, _ cost: KeyDerivation.Cost,
        _ body: @escaping @Sendable () -> R
    ) async throws(Refusal) -> R {
        let memory = Int(cost.memoryKiB)
        try await cores.enter(
            kind, of: person, weighing: memory, until: Clock.bootMilliseconds() + Self.queueWait)
        defer { cores.leave(weighing: memory) }
        return await derivation.run(body)
    }
}

extension Workers {
    /// Asks on a thread that may wait, because the memory map is busy while others derive.
    package func requireMemory(for cost: KeyDerivation.Cost) async throws(Refusal) {
        guard await disk.run({ KeyDerivation.memoryIsAvailable(for: cost) }) else {
            throw .outOfMemory
        }
    }

    /// Argon2id of what somebody typed.
    package func deriveKey(
        _ typed: TypedPasscode, _ salt: [UInt8], _ cost: KeyDerivation.Cost, _ kind: Gate.Class,
        of person: UInt32
    ) async throws(Refusal) -> SecretBox {
        guard !typed.isEmpty else { throw .cancelled }
        try await requireMemory(for: cost)
        let key = try await derive(kind, of: person, cost) { () -> SecretBox? in
            typed.withNormal { secret in
                guard let key = try? KeyDerivation.derive(secret, salt: salt, cost: cost) else {
                    return nil
                }
                return SecretBox(key)
            }
        }
        guard let key else { throw .outOfMemory }
        return key
    }
}

extension SecretBox {
    /// Nothing was typed, or the secret was taken out already.
    package var isEmpty: Bool {
        (try? read { (secret) throws(SecretsError) in secret.count == 0 }) ?? true
    }
}
