import Foundation

@testable import AppVault

/// Opened once, by a task or a thread, for whoever waits.
final class Gate: Sendable {
    private let state = Locked<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>(
        (false, []))

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for each in waiting { each.resume() }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func waitOnThread() {
        let end = Date().addingTimeInterval(1_200)
        while !state.withLock({ $0.isOpen }), Date() < end { usleep(1_000) }
    }
}

/// Of a thread of a scripted daemon's.
func pause(_ microseconds: UInt32) { usleep(microseconds) }

final class Counter: Sendable {
    private let number = Locked(0)

    var value: Int { number.withLock { $0 } }

    @discardableResult
    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}

/// What hooks were told.
final class Told: Sendable {
    private let events = Locked<[PromptEvent]>([])

    func append(_ event: PromptEvent) { events.withLock { $0.append(event) } }

    var all: [PromptEvent] { events.withLock { $0 } }
}
