/// One step of a row: what it does, and how that is undone.
public struct Step<Storage: KeyValueStore>: Sendable {
    /// What the step is called.
    public var name: String
    let run: @Sendable (Storage) async throws -> Void
    let undo: @Sendable (Storage) async -> Void

    /// A step.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - run: What it does. If it throws, it has undone itself. Another error than a
    ///     ``VaultError`` is thrown as what is ``VaultError/underlying`` in one.
    ///   - undo: Undoes what it did, where a later step fails.
    public init(
        _ name: String, run: @escaping @Sendable (Storage) async throws -> Void,
        undo: @escaping @Sendable (Storage) async -> Void = { _ in }
    ) {
        self.name = name
        self.run = run
        self.undo = undo
    }

    /// Stores these records, and puts back what was there before.
    public static func storing(_ records: [RecordName: [UInt8]]) -> Step {
        let former = Former()
        return Step(
            "store records",
            run: { storage in
                for (name, value) in records {
                    do {
                        await former.keep(name, try await storage.get(name))
                        try await storage.set(value, for: name)
                    } catch {
                        await former.putBack(in: storage)
                        throw error
                    }
                }
            },
            undo: { storage in await former.putBack(in: storage) })
    }

    /// Runs the steps one after the other. The first that fails ends the row: those before it are
    /// undone, the last one first, and its error is thrown.
    public static func run(
        _ steps: [Step], in storage: Storage
    ) async throws(VaultError) {
        var done: [Step] = []
        for step in steps {
            do throws(VaultError) {
                try checkCancelled()
                try await wrapped { try await step.run(storage) }
            } catch {
                // Also where the task was cancelled: what is half done is worse.
                let rest = Array(done.reversed())
                await Task { for step in rest { await step.undo(storage) } }.value
                throw error
            }
            done.append(step)
        }
    }
}

/// What was in a store before a step.
private actor Former {
    private var values: [(RecordName, [UInt8]?)] = []

    func keep(_ name: RecordName, _ value: [UInt8]?) { values.append((name, value)) }

    func putBack(in storage: some KeyValueStore) async {
        while let (name, value) = values.popLast() {
            if let value {
                try? await storage.set(value, for: name)
            } else {
                _ = try? await storage.delete(name)
            }
        }
    }
}
