internal import CLinux
internal import Synchronization

/// All requests are served here: one thread, one epoll, straight-line async code.
@globalActor
public actor LoopActor {
    public static let shared = LoopActor()

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        // SAFETY: the loop lives as long as the process.
        unsafe EventLoop.shared.asUnownedSerialExecutor()
    }

    /// For code that the loop itself calls: timers, and the hook of each pass.
    public static func assumed<R>(_ body: @LoopActor () -> R) -> R {
        EventLoop.shared.checkIsolated()
        return withoutActuallyEscaping(body) { body in
            // SAFETY: it is one function under two types. They differ only in the isolation, which
            // was checked above.
            unsafe unsafeBitCast(body, to: (() -> R).self)()
        }
    }
}

/// The account to which the time of a job on the loop is charged.
public protocol JobAccount: AnyObject {
    /// Called on the loop, right after the job.
    func took(nanoseconds: UInt64)
}

/// The loop is itself the executor, so a request costs no thread switch. It was measured against
/// three other designs.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    public static let shared = EventLoop()

    // Used only on the loop's own thread.
    private var ready: [UnownedJob] = []
    private var firstReady = 0
    private var channels: [Int32: Channel] = [:]
    private var timers: [Timer] = []
    private var timerCount: UInt64 = 0
    private var stopping = false
    private var account: (any JobAccount)?
    /// The number of this pass. A pass runs jobs, then handles descriptors, then timers.
    public private(set) var pass: UInt64 = 0
    /// Called in each pass after its jobs. Its result says after how many milliseconds at most it
    /// must be called again; -1 is no limit.
    public var inEachPass: (() -> Int32)?

    /// The limits of the jobs of one pass; its last job may take longer. So descriptors, timers and
    /// the watchdog never wait for a whole queue.
    private static let passNanoseconds: UInt64 = 2_000_000
    private static let passJobs = 512

    // Guarded by `mutex`.
    private let mutex = Mutex()
    private var incoming: [UnownedJob] = []
    /// Whether `incoming` has jobs; read without the lock in every pass.
    private let signalled = Atomic(false)

    private let poll: Int32
    private let wakeup: Int32
    /// The loop's thread while it runs, else 0. Other threads read it when they hand over work.
    private let thread = Atomic<UInt>(0)

    private init() {
        poll = epoll_create1(Int32(O_CLOEXEC))
        wakeup = appvault_wakeup()
        precondition(poll >= 0 && wakeup >= 0, "no descriptors for the loop")
        precondition(
            appvault_epoll_add(poll, wakeup, EPOLLIN.rawValue) == 0, "no events for the loop")
    }

    private var isLoopThread: Bool {
        thread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        if isLoopThread {
            ready.append(unowned)
            return
        }
        mutex.lock()
        incoming.append(unowned)
        let wake = !signalled.exchange(true, ordering: .acquiringAndReleasing)
        mutex.unlock()
        if wake {
            appvault_wake(wakeup)
        }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        // SAFETY: the loop lives as long as the process.
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    public func checkIsolated() {
        precondition(isLoopThread, "not on the loop")
    }

    /// Serves on the calling thread until `stop`. Returns at once if another thread runs the loop
    /// already.
    public func run() {
        let free = thread.compareExchange(
            expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent)
        guard free.exchanged else { return }
        // The loop's jobs are short and everybody waits for them, so the kernel should let it run
        // before threads that compute for long.
        appvault_slice(100_000)
        let serial = unsafe asUnownedSerialExecutor()
        let task = unsafe asUnownedTaskExecutor()
        let room = Int(APPVAULT_EVENTS)
        var events = [appvault_event](repeating: appvault_event(), count: room)
        while !stopping {
            pass += 1
            takeIncoming()
            var now = ready.isEmpty ? 0 : Clock.monotonicNanoseconds()
            lookAtThread(now)
            let end = now + Self.passNanoseconds
            let last = firstReady + Self.passJobs
            while firstReady < min(ready.count, last), now < end {
                let job = ready[firstReady]
                firstReady += 1
                unsafe job.runSynchronously(isolatedTo: serial, taskExecutor: task)
                let began = now
                now = Clock.monotonicNanoseconds()
                if let account {
                    self.account = nil
                    account.took(nanoseconds: computed(now - began))
                }
            }
            dropDone()
            if stopping { break }
            let rest = inEachPass?() ?? -1
            let wait = ready.isEmpty ? nextWait(atMost: rest) : 0
            // SAFETY: at most APPVAULT_EVENTS are written, which is what `events` holds.
            let count = unsafe events.withUnsafeMutableBufferPointer { buffer in
                unsafe appvault_epoll_wait(poll, buffer.baseAddress!, wait)
            }
            var next = 0
            while next < count {
                let event = events[next]
                next += 1
                if event.fd == wakeup {
                    appvault_woken(wakeup)
                } else {
                    channels[event.fd]?.happened(event.events)
                }
            }
            fireTimers()
        }
        thread.store(0, ordering: .releasing)
    }

    /// Ends `run` after the current job. To be called on the loop.
    public func stop() {
        stopping = true
    }

    /// Charges the whole job that runs now to that account.
    public func charge(to account: any JobAccount) {
        self.account = account
    }

    private var lastComputed: UInt64 = 0
    private var lookedAt: UInt64 = 0
    private static let moment: UInt64 = 100_000
    private static let lookEach: UInt64 = 1_000_000

    /// Else what the thread has computed for others, since the last job that took long, would be
    /// counted as the next one's. Each millisecond is enough, and asking the kernel in each pass
    /// would cost every request.
    private func lookAtThread(_ now: UInt64) {
        guard now > lookedAt + Self.lookEach else { return }
        lookedAt = now
        lastComputed = Clock.threadNanoseconds()
    }

    /// The time that a job took, without the time in which other programs had the processor. A
    /// person whose request runs beside another person's compile job must not pay for that.
    private func computed(_ took: UInt64) -> UInt64 {
        guard took > Self.moment else { return took }
        let before = lastComputed
        lastComputed = Clock.threadNanoseconds()
        return min(took, lastComputed - before)
    }

    private func dropDone() {
        if firstReady == ready.count {
            ready.removeAll(keepingCapacity: true)
            firstReady = 0
        } else if firstReady >= 1024 {
            ready.removeFirst(firstReady)
            firstReady = 0
        }
    }

    private func takeIncoming() {
        guard signalled.load(ordering: .acquiring) else { return }
        mutex.lock()
        if !incoming.isEmpty {
            ready.append(contentsOf: incoming)
            incoming.removeAll(keepingCapacity: true)
        }
        signalled.store(false, ordering: .releasing)
        mutex.unlock()
    }

    // MARK: descriptors

    func add(_ channel: Channel) throws(PosixError) {
        guard appvault_epoll_add(poll, channel.number, APPVAULT_EDGES) == 0 else {
            throw .last("epoll_ctl")
        }
        channels[channel.number] = channel
    }

    /// With or without room for writing, beside what is to be read.
    func watch(_ channel: Channel, forRoom: Bool) -> Bool {
        let events = forRoom ? APPVAULT_BOTH_EDGES : APPVAULT_EDGES
        return appvault_epoll_change(poll, channel.number, events) == 0
    }

    func remove(_ channel: Channel) {
        guard channels[channel.number] === channel else { return }
        channels[channel.number] = nil
        _ = appvault_epoll_remove(poll, channel.number)
    }

    // MARK: timers

    struct Timer {
        let at: UInt64
        let id: UInt64
        let fire: @Sendable () -> Void
    }

    /// Calls `fire` on the loop at that moment of the boot clock, unless the timer is cancelled
    /// before. To be called on the loop.
    public func at(_ moment: UInt64, _ fire: @escaping @Sendable () -> Void) -> UInt64 {
        timerCount += 1
        let timer = Timer(at: moment, id: timerCount, fire: fire)
        // Sorted, with the next timer last. There are few timers, and nearly all of them are
        // cancelled.
        var low = 0
        var high = timers.count
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].at > moment { low = middle + 1 } else { high = middle }
        }
        timers.insert(timer, at: low)
        return timerCount
    }

    public func cancel(_ timer: UInt64) {
        if let index = timers.lastIndex(where: { $0.id == timer }) { timers.remove(at: index) }
    }

    private func nextWait(atMost most: Int32) -> Int32 {
        guard let next = timers.last else { return most }
        let now = Clock.bootMilliseconds()
        // One millisecond more: epoll cuts to whole milliseconds, and a wake before the timer is
        // due would spin.
        let wait = next.at <= now ? 0 : Int32(clamping: next.at - now + 1)
        return most < 0 ? wait : min(wait, most)
    }

    private func fireTimers() {
        guard let next = timers.last else { return }
        let now = Clock.bootMilliseconds()
        guard next.at <= now else { return }
        while let timer = timers.last, timer.at <= now {
            timers.removeLast()
            timer.fire()
        }
    }
}

extension EventLoop {
    /// Runs straight-line code on the loop. The executor preference is needed: without it, a
    /// continuation that resumes goes through one of the runtime's threads before it comes back to
    /// the loop. That costs a futex and two thread switches per request.
    @discardableResult
    public func task(_ body: @escaping @LoopActor @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self, operation: body)
    }

    /// Sleeps until a moment of the boot clock.
    @LoopActor
    public static func sleep(until moment: UInt64) async {
        // SAFETY: the timer fires once and is never cancelled.
        let _: Bool = await unsafe withUnsafeContinuation { continuation in
            _ = shared.at(moment) { unsafe continuation.resume(returning: true) }
        }
    }
}
