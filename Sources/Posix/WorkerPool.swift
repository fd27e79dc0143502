internal import CLinux

/// Threads for work that blocks: derivations in one pool, syncs and SQLite in another, the
/// directory service in a third. A thread starts when there is work for it, and ends after some
/// time without work, so an idle daemon has one thread, which sleeps.
@safe
public final class WorkerPool: @unchecked Sendable {
    // All variables below are guarded by `mutex`.
    private let mutex = Mutex()
    private var waiting: [@Sendable () -> Void] = []
    private var head = 0
    private var threads = 0
    private var idle = 0
    private let limit: Int
    private let name: String
    private let slice: Slice

    /// As nscd has it for the same libraries.
    private static let stackSize = 2 << 20
    /// Stacks are mapped once, because a thread that starts must change nothing in the process's
    /// memory map: such a change waits for every derivation that is filling its memory. Empty where
    /// there was no room for them; then threads bring their own.
    private var stacks: [UnsafeMutableRawPointer] = unsafe []
    /// Threads that had no more work. A thread's stack is free as soon as it was joined.
    private var ended: [Post] = []

    @safe
    private final class Post: @unchecked Sendable {
        // Unchecked because of what is guarded by the pool's mutex.
        let stack: UnsafeMutableRawPointer?
        var thread = pthread_t()

        init(_ stack: UnsafeMutableRawPointer?) {
            // SAFETY: out of the pool's list, so it is this thread's alone.
            unsafe self.stack = stack
        }
    }

    /// How the kernel shares a core between this pool's threads and others.
    public enum Slice: Sendable {
        case usual
        /// Computes for long: the kernel runs threads with short work first. Over time the pool
        /// gets no less of the core.
        case long
    }

    public init(name: String, threads: Int, slice: Slice = .usual) {
        self.name = name
        self.slice = slice
        limit = max(threads, 1)
        // SAFETY: the memory lives as long as the process, and a stack is in this list, in one of
        // `ended`, or a thread's.
        guard let lowest = unsafe appvault_stacks(Self.stackSize, limit) else { return }
        for number in 0..<limit {
            unsafe stacks.append(lowest + number * (Self.stackSize + 4096))
        }
    }

    /// Runs `work` on a thread of the pool; the caller is resumed on its own executor.
    @LoopActor
    public func run<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
        // SAFETY: the closure resumes exactly once: a queued job is always run.
        await unsafe withUnsafeContinuation { continuation in
            submit {
                let result = work()
                unsafe continuation.resume(returning: result)
            }
        }
    }

    public func submit(_ job: @escaping @Sendable () -> Void) {
        mutex.lock()
        waiting.append(job)
        // Threads that were woken a moment ago still count as idle, so there must be one idle
        // thread for every waiting job.
        let start = waiting.count - head > idle && threads < limit
        if start { threads += 1 }
        mutex.unlock()
        if start {
            spawn()
        } else {
            mutex.signal()
        }
    }

    private func spawn() {
        mutex.lock()
        let former = ended.popLast()
        let stack = unsafe former?.stack ?? stacks.popLast()
        mutex.unlock()
        // It has nothing left to do but to end.
        if let former { pthread_join(former.thread, nil) }
        let post = unsafe Post(stack)
        // SAFETY: the new thread takes over the one retained reference.
        let held = unsafe Unmanaged.passRetained(Start(pool: self, post: post))
        let failed = unsafe appvault_start_thread(
            stack, Self.stackSize,
            { pointer in
                let start = unsafe Unmanaged<Start>.fromOpaque(pointer!).takeRetainedValue()
                start.pool.work(start.post)
                return nil
            }, held.toOpaque())
        guard failed != 0 else { return }
        // No thread could be started. If the pool has no other thread either, the job runs here:
        // late is better than never.
        unsafe held.release()
        mutex.lock()
        if let stack = unsafe stack { unsafe stacks.append(stack) }
        threads -= 1
        let job = threads == 0 ? next() : nil
        mutex.unlock()
        job?()
    }

    private final class Start {
        let pool: WorkerPool
        let post: Post

        init(pool: WorkerPool, post: Post) {
            (self.pool, self.post) = (pool, post)
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        guard head < waiting.count else { return nil }
        let job = waiting[head]
        head += 1
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 1024 {
            waiting.removeFirst(head)
            head = 0
        }
        return job
    }

    private func work(_ post: Post) {
        unsafe name.withCString { _ = unsafe appvault_thread_name($0) }
        switch slice {
        case .usual: break
        case .long: appvault_slice(20_000_000)
        }
        mutex.lock()
        while true {
            if let job = next() {
                mutex.unlock()
                job()
                mutex.lock()
                continue
            }
            idle += 1
            let woken = mutex.wait(milliseconds: 10_000)
            idle -= 1
            if !woken && head >= waiting.count { break }
        }
        // SAFETY: nothing below this frame is used any more.
        if let stack = unsafe post.stack { unsafe appvault_clear_stack(stack) }
        threads -= 1
        post.thread = pthread_self()
        ended.append(post)
        mutex.unlock()
    }
}

/// A pthread mutex with a condition, at an address that does not move.
@safe
package final class Mutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        // SAFETY: both are initialised before use, live as long as self, and are destroyed once.
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    package func lock() { unsafe pthread_mutex_lock(mutex) }
    package func unlock() { unsafe pthread_mutex_unlock(mutex) }
    func signal() { unsafe pthread_cond_signal(condition) }

    /// False if the time ran out.
    func wait(milliseconds: UInt64) -> Bool {
        let end = appvault_clock_ms(CLOCK_MONOTONIC) + milliseconds
        var until = timespec(tv_sec: Int(end / 1000), tv_nsec: Int(end % 1000) * 1_000_000)
        return unsafe pthread_cond_timedwait(condition, mutex, &until) == 0
    }
}
