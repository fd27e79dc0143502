import Testing

@testable import Policy

func policy(
    limit: UInt32, _ action: OnRetryLimit = .erase, after: UInt32 = 0, max: UInt32 = 900
) -> Policy {
    var policy = Policy.builtIn
    policy.retryLimit = limit
    policy.onRetryLimit = action
    policy.throttleAfter = after
    policy.throttleMax = max
    return policy
}

let thisBoot = BootID([UInt8](repeating: 1, count: 16))!
let otherBoot = BootID([UInt8](repeating: 2, count: 16))!

func at(_ milliseconds: UInt64, _ boot: BootID = thisBoot) -> Moment {
    Moment(bootID: boot, milliseconds: milliseconds)
}

extension Tally {
    /// One wrong try from beginning to end.
    mutating func miss(_ kind: TryKind, _ policy: Policy, _ now: Moment = at(0)) -> Aftermath {
        began(kind, now)
        return wrong(kind, policy)
    }
}

@Suite struct TallyTests {
    @Test("ten wrong own tries are ten, the tenth erases, and each hears what is left")
    func erases() {
        let rules = policy(limit: 10)
        var tally = Tally()
        for left in stride(from: 9, through: 1, by: -1) {
            #expect(tally.verdict(.own, rules, at(0)) == .allowed(.nothing))
            #expect(tally.miss(.own, rules) == .left(left))
        }
        #expect(tally.triesLeft(.own, rules) == 1)
        #expect(tally.verdict(.own, rules, at(0)) == .allowed(.erase))
        #expect(tally.miss(.own, rules) == .erase)
        #expect(tally.verdict(.own, rules, at(0)) == .limitReached(.own))
    }

    @Test("with lock the limit locks, against tries apart as well, until the recovery key or root")
    func locks() {
        let rules = policy(limit: 2, .lock)
        var tally = Tally()
        #expect(tally.miss(.own, rules) == .left(1))
        #expect(tally.verdict(.own, rules, at(0)) == .allowed(.lock))
        #expect(tally.miss(.own, rules) == .lock)
        #expect(tally.lockedForRecovery)
        #expect(tally.verdict(.own, rules, at(0)) == .limitReached(.own))
        #expect(tally.verdict(.apart, rules, at(0)) == .limitReached(.own))
        #expect(tally.verdict(.recovery, rules, at(0)) == .allowed(.nothing))
        // A limit that is raised later does not open what was locked.
        #expect(tally.verdict(.own, policy(limit: 0), at(0)) == .limitReached(.own))
        var byKey = tally
        byKey.right(.recovery)
        #expect(byKey == Tally())
        var byRoot = tally
        byRoot.cleared()
        #expect(byRoot == Tally())
    }

    @Test("strangers' tries end at the limit, harm no other, and an own unlock clears them")
    func strangers() {
        let rules = policy(limit: 10)
        var tally = Tally()
        for left in stride(from: 9, through: 0, by: -1) {
            #expect(
                tally.verdict(.stranger, rules, at(0)) == .allowed(left == 0 ? .refusal : .nothing))
            #expect(tally.miss(.stranger, rules) == .left(left))
        }
        #expect(tally.verdict(.stranger, rules, at(0)) == .limitReached(.stranger))
        #expect(tally.verdict(.own, rules, at(0)) == .allowed(.nothing))
        #expect(tally.verdict(.apart, rules, at(0)) == .allowed(.nothing))
        #expect(tally.triesLeft(.own, rules) == 10)
        tally.began(.own, at(0))
        tally.right(.own)
        #expect(tally == Tally())
    }

    @Test("a power cut at every last try locks, and never erases")
    func unresolved() {
        let rules = policy(limit: 3)
        for lost in 1...2 {
            var tally = Tally()
            for _ in 0..<lost { tally.began(.own, at(0)) }
            for _ in lost..<2 { #expect(tally.miss(.own, rules) != .erase) }
            #expect(tally.verdict(.own, rules, at(0)) == .allowed(.lock))
            #expect(tally.miss(.own, rules) == .lock)
            #expect(tally.lockedForRecovery)
        }
        var allLost = Tally()
        for _ in 0..<3 { allLost.began(.own, at(0)) }
        #expect(allLost.verdict(.own, rules, at(0)) == .limitReached(.own))
        #expect(allLost.isRetryLocked(rules))
    }

    @Test("a derivation that did not take place takes its count back")
    func notDerived() {
        for kind in TryKind.allCases {
            var tally = Tally()
            tally.began(kind, at(7))
            #expect(tally[kind].count == 1)
            tally.notDerived(kind)
            #expect(tally[kind].count == 0)
            tally.notDerived(kind)
            #expect(tally[kind].count == 0)
        }
    }

    @Test("without a limit nothing is ever the last try")
    func unlimited() {
        let rules = policy(limit: 0)
        var tally = Tally()
        for _ in 0..<500 {
            for kind in TryKind.allCases {
                #expect(tally.verdict(kind, rules, at(0)) == .allowed(.nothing))
                #expect(tally.miss(kind, rules) == .left(nil))
            }
        }
    }

    @Test("a lowered limit that is passed already locks, and does not erase")
    func lowered() {
        var tally = Tally()
        for _ in 0..<5 { _ = tally.miss(.own, policy(limit: 10)) }
        #expect(tally.verdict(.own, policy(limit: 3), at(0)) == .limitReached(.own))
        #expect(!tally.lockedForRecovery)
        #expect(tally.verdict(.own, policy(limit: 6), at(0)) == .allowed(.erase))
    }

    @Test("a confirmed login gives its try back, and a lock that it brought")
    func givenBack() {
        let rules = policy(limit: 2, .lock)
        var tally = Tally()
        #expect(tally.givenBack(rules) == .nothingCounted)
        _ = tally.miss(.own, rules)
        #expect(tally.givenBack(rules) == .givenBack)
        #expect(tally.own.count == 0)
        _ = tally.miss(.own, rules)
        #expect(tally.miss(.own, rules) == .lock)
        #expect(tally.givenBack(rules) == .givenBack)
        #expect(!tally.lockedForRecovery)
        #expect(tally.verdict(.own, rules, at(0)) == .allowed(.lock))
        // If the policy has no limit any more, it is not known what the lock was for, so the lock
        // stays.
        var kept = Tally(own: Tries(wrong: 2), lockedForRecovery: true)
        #expect(kept.givenBack(policy(limit: 0)) == .givenBack)
        #expect(kept.lockedForRecovery)
    }

    @Test("a try that nobody can compare moves to the count apart, as long as that has room")
    func moved() {
        let rules = policy(limit: 2, .lock)
        var tally = Tally()
        #expect(tally.movedToApart(rules) == .nothingCounted)
        _ = tally.miss(.own, rules, at(500))
        #expect(tally.movedToApart(rules) == .movedToApart)
        #expect(tally.own.count == 0)
        #expect(tally.apart == Tries(wrong: 1, last: at(500)))
        _ = tally.miss(.own, rules, at(600))
        #expect(tally.miss(.own, rules, at(700)) == .lock)
        #expect(tally.movedToApart(rules) == .movedToApart)
        #expect(tally.own.count == 1)
        #expect(!tally.lockedForRecovery)
        #expect(tally.movedToApart(rules) == .stays)
        #expect(tally.own.count == 1)
        #expect(tally.apart.count == 2)
        // The time of a later apart try is kept.
        var later = Tally()
        _ = later.miss(.own, rules, at(100))
        _ = later.miss(.apart, rules, at(200))
        #expect(later.movedToApart(policy(limit: 9)) == .movedToApart)
        #expect(later.apart.last == at(200))
    }

    @Test("whatever is read from a disk, nothing traps, and no count runs over")
    func anyValue() {
        let numbers: [UInt32] = [0, 1, 2, 100, .max - 1, .max]
        let moments = [at(0), at(1000), at(.max), at(0, otherBoot), at(.max, otherBoot), .never]
        for wrong in numbers {
            for unresolved in numbers {
                for last in moments {
                    let tries = Tries(wrong: wrong, unresolved: unresolved, last: last)
                    for rules in [
                        policy(limit: 0, after: 3), policy(limit: 100, after: 100, max: .max),
                    ] {
                        for kind in TryKind.allCases {
                            for now in moments {
                                var tally = Tally(
                                    own: tries, apart: tries, stranger: tries, recovery: tries)
                                _ = tally.verdict(kind, rules, now)
                                _ = tally.miss(kind, rules, now)
                                #expect(tally[kind].count >= tries.count)
                                _ = tally.givenBack(rules)
                                _ = tally.movedToApart(rules)
                                tally.notDerived(kind)
                                tally.right(kind)
                                #expect(tally == Tally(lockedForRecovery: tally.lockedForRecovery))
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("boot ids keep their bytes, and only sixteen of them are one")
    func bootIDs() {
        let bytes = [UInt8](0..<16)
        #expect(BootID(bytes)?.bytes == bytes)
        #expect(BootID.none.bytes == [UInt8](repeating: 0, count: 16))
        #expect(BootID([UInt8](0..<15)) == nil)
        #expect(BootID([UInt8](0..<17)) == nil)
        #expect(BootID([]) == nil)
    }
}
