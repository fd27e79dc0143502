/// Which of a program's stores a step is about.
///
/// ```swift
/// try await StoreSelection.with("work") {
///     try await lifecycle.restore()              // opens the store "work"
/// }
/// ```
public enum StoreSelection {
    /// The store of this task; outside of ``with(_:isolation:_:)`` it is ``StoreName/default``.
    @TaskLocal public static var current: StoreName = .default

    /// Runs the step, and all that it calls, with another store.
    public static func with<R, E: Error>(
        _ store: StoreName, isolation: isolated (any Actor)? = #isolation,
        _ step: () async throws(E) -> R
    ) async throws(E) -> R {
        let result: Result<R, E> = await $current.withValue(
            store,
            operation: {
                do throws(E) {
                    return .success(try await step())
                } catch {
                    return .failure(error)
                }
            }, isolation: isolation)
        return try result.get()
    }
}
