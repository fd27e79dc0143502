import Testing

@testable import Policy

/// What happens to a store, as an observer would write it down.
private enum Event: CaseIterable {
    case ownWrong, ownRight, ownLost, ownNotDerived
    case apartWrong, apartRight, apartLost
    case strangerWrong, strangerRight, strangerLost
    case recoveryWrong, recoveryRight
    case givenBack, movedToApart, cleared
}

/// The observer's own book: what was really guessed since the counts were last cleared.
private struct Book: Hashable {
    var ownWrong: UInt32 = 0
    var ownLost: UInt32 = 0
    var apart: UInt32 = 0
    var stranger: UInt32 = 0
    var isErased = false
}

private struct Place: Hashable {
    var book: Book
    var own: [UInt32]
    var apart: [UInt32]
    var stranger: [UInt32]
    var isLocked: Bool

    init(_ book: Book, _ tally: Tally) {
        self.book = book
        own = [tally.own.wrong, tally.own.unresolved]
        apart = [tally.apart.wrong, tally.apart.unresolved]
        stranger = [tally.stranger.wrong, tally.stranger.unresolved]
        isLocked = tally.lockedForRecovery
    }
}

@Suite struct TallyModelTests {
    @Test(
        "in every state that can be reached the limits hold",
        arguments: 0...4 as ClosedRange<UInt32>,
        OnRetryLimit.allCases)
    func everyState(limit: UInt32, action: OnRetryLimit) {
        let rules = policy(limit: limit, action)
        var seen: Set<Place> = []
        var open = [(Book(), Tally())]
        while let (book, tally) = open.popLast() {
            // Without a limit the counts would grow for ever. Strangers' tries behave like the
            // apart ones, so both share a bound.
            guard tally.own.count <= 4, tally.apart.count + tally.stranger.count <= 4,
                seen.insert(Place(book, tally)).inserted
            else { continue }
            check(book, tally, rules)
            for event in Event.allCases {
                var (nextBook, nextTally) = (book, tally)
                if happen(event, &nextBook, &nextTally, rules), !nextBook.isErased {
                    nextTally.recovery = Tries()
                    open.append((nextBook, nextTally))
                }
            }
        }
        #expect(seen.count > (limit == 1 ? 5 : 20))
    }

    private func check(_ book: Book, _ tally: Tally, _ rules: Policy) {
        let limit = rules.retryLimit
        #expect(tally.own.wrong == book.ownWrong)
        #expect(tally.own.unresolved == book.ownLost)
        #expect(tally.apart.count == book.apart)
        #expect(tally.stranger.count == book.stranger)
        guard limit > 0 else {
            #expect(!tally.isRetryLocked(rules))
            return
        }
        #expect(book.ownWrong + book.ownLost <= limit)
        // All tries happen at one moment. Over time, a full apart count would let one try through
        // in each ThrottleMax.
        #expect(book.apart <= limit)
        #expect(book.stranger <= limit)
        #expect(tally.isRetryLocked(rules) == (book.ownWrong + book.ownLost == limit))
        #expect(tally.triesLeft(.own, rules) == Int(limit - book.ownWrong - book.ownLost))
    }

    /// False where the event cannot happen.
    private func happen(
        _ event: Event, _ book: inout Book, _ tally: inout Tally, _ rules: Policy
    ) -> Bool {
        switch event {
        case .ownWrong:
            guard begin(.own, &tally, rules) else { return false }
            book.ownWrong += 1
            let reached = rules.retryLimit > 0 && book.ownWrong + book.ownLost == rules.retryLimit
            switch tally.wrong(.own, rules) {
            case .erase:
                #expect(reached && book.ownLost == 0 && rules.onRetryLimit == .erase)
                book.isErased = true
            case .lock:
                #expect(reached && (book.ownLost > 0 || rules.onRetryLimit == .lock))
                #expect(tally.lockedForRecovery)
            case .left(let left):
                #expect(!reached)
                #expect(left == tally.triesLeft(.own, rules))
            }
        case .ownRight:
            guard begin(.own, &tally, rules) else { return false }
            tally.right(.own)
            book = Book()
            #expect(tally == Tally())
        case .ownLost:
            guard begin(.own, &tally, rules) else { return false }
            book.ownLost += 1
        case .ownNotDerived:
            guard begin(.own, &tally, rules) else { return false }
            tally.notDerived(.own)
        case .apartWrong:
            let own = tally.own
            guard begin(.apart, &tally, rules) else { return false }
            book.apart += 1
            let aftermath = tally.wrong(.apart, rules)
            let left = tally.triesLeft(.apart, rules)
            #expect(aftermath == .left(left == 0 ? nil : left))
            #expect(tally.own == own)
        case .apartRight:
            guard begin(.apart, &tally, rules) else { return false }
            tally.right(.apart)
            book = Book()
        case .apartLost:
            guard begin(.apart, &tally, rules) else { return false }
            book.apart += 1
        case .strangerWrong:
            let (own, apart) = (tally.own, tally.apart)
            guard begin(.stranger, &tally, rules) else { return false }
            book.stranger += 1
            #expect(tally.wrong(.stranger, rules) == .left(tally.triesLeft(.stranger, rules)))
            #expect(tally.own == own && tally.apart == apart)
        case .strangerRight:
            guard begin(.stranger, &tally, rules) else { return false }
            tally.right(.stranger)
            book = Book()
        case .strangerLost:
            guard begin(.stranger, &tally, rules) else { return false }
            book.stranger += 1
        case .recoveryWrong:
            let before = tally
            guard begin(.recovery, &tally, rules) else { return false }
            #expect(tally.wrong(.recovery, rules) == .left(nil))
            #expect(tally.own == before.own && tally.apart == before.apart)
            #expect(tally.lockedForRecovery == before.lockedForRecovery)
        case .recoveryRight:
            guard begin(.recovery, &tally, rules) else { return false }
            tally.right(.recovery)
            book = Book()
            #expect(tally == Tally())
        case .givenBack:
            guard tally.givenBack(rules) == .givenBack else { return false }
            book.ownWrong -= 1
        case .movedToApart:
            guard tally.movedToApart(rules) == .movedToApart else { return false }
            book.ownWrong -= 1
            book.apart += 1
        case .cleared:
            tally.cleared()
            book = Book()
        }
        return true
    }

    private func begin(_ kind: TryKind, _ tally: inout Tally, _ rules: Policy) -> Bool {
        switch tally.verdict(kind, rules, at(0)) {
        case .allowed:
            tally.began(kind, at(0))
            return true
        case .throttled, .limitReached:
            return false
        }
    }
}
