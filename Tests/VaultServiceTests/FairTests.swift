import Posix
import Testing

@testable import VaultService

/// A loop whose time and passes the test controls.
@LoopActor
private final class Bench {
    var nanoseconds: UInt64 = 1_000_000_000
    var pass: UInt64 = 1
    var isDeriving = false
    private(set) lazy var turns = Turns(
        now: { [unowned self] in nanoseconds }, pass: { [unowned self] in pass },
        isDeriving: { [unowned self] in isDeriving })

    func share(_ party: Party) -> Share { Share(party, turns) }

    /// A turn that has to wait, because the connection already had one in this pass.
    func waiting(_ share: Share) -> Wait? { turns.take(share, last: pass) }

    /// Runs so many passes, one millisecond apart, in which every turn takes `cost`. Returns how
    /// many turns each share had.
    func run(_ passes: Int, cost: UInt64, _ shares: [Share]) -> [Int] {
        var had = shares.map { _ in 0 }
        var waits = shares.map { waiting($0) }
        for _ in 0..<passes {
            pass += 1
            nanoseconds += 1_000_000
            _ = turns.grant()
            for index in shares.indices where waits[index]?.isOver == true {
                had[index] += 1
                turns.took(cost, shares[index])
                waits[index] = waiting(shares[index])
            }
        }
        return had
    }
}

@Test("a connection has one turn in a pass, also where nobody else wants one")
func oneTurnInAPass() async {
    let seen = await TestLoop.run { () -> [Bool] in
        let bench = Bench()
        let person = bench.share(.person(1000))
        let root = bench.share(.root)
        let first = [person, root].map { bench.turns.take($0, last: 0) == nil }
        let second = [person, root].map { bench.turns.take($0, last: bench.pass) == nil }
        return first + second
    }
    #expect(seen == [true, true, false, false])
}

@Test("who was answered is read once more in the same pass, for 200 us and while nobody waits")
func again() async {
    let seen = await TestLoop.run { () -> [[Bool]] in
        [Party.root, .person(1000)].map { party in
            let bench = Bench()
            let share = bench.share(party)
            @LoopActor func takeAgain(_ last: UInt64) -> Bool {
                bench.turns.takeAgain(share, last: last)
            }
            let former = takeAgain(bench.pass - 1)
            let at = ([0, 199_999, 1] as [UInt64]).map { later -> Bool in
                bench.nanoseconds += later
                return takeAgain(bench.pass)
            }
            bench.pass += 1
            let inNext = takeAgain(bench.pass)
            let waits = bench.waiting(bench.share(.person(1001)))
            return [former] + at + [inNext, takeAgain(bench.pass), waits?.isOver == false]
        }
    }
    #expect(seen == Array(repeating: [false, true, true, false, true, false, true], count: 2))
}

@Test("a party that has used up its time is not read once more")
func againWithinTime() async {
    let seen = await TestLoop.run { () -> [Bool] in
        let bench = Bench()
        let share = bench.share(.person(1000))
        let before = bench.turns.takeAgain(share, last: bench.pass)
        bench.turns.took(300_000_000, share)
        return [before, bench.turns.takeAgain(share, last: bench.pass)]
    }
    #expect(seen == [true, false])
}

@Test("parties have turns one after the other, however many wait of one")
func roundRobin() async {
    let order = await TestLoop.run { () -> [Int] in
        let bench = Bench()
        let crowded = bench.share(.person(1000))
        let lone = bench.share(.person(1001))
        let many = (0..<100).compactMap { _ in bench.waiting(crowded) }
        let one = bench.waiting(lone)
        _ = bench.turns.grant()
        return [many.count(where: \.isOver), one?.isOver == true ? 1 : 0]
    }
    #expect(order[1] == 1)
    #expect((1...4).contains(order[0]))
}

@Test("all that wait of root go on in the next pass, and never behind more than four others")
func rootFirst() async {
    let seen = await TestLoop.run { () -> [Int] in
        let bench = Bench()
        let people = (0..<50).map { bench.share(.person($0)) }
        let others = people.compactMap { bench.waiting($0) }
        let root = bench.share(.root)
        let waits = (0..<100).compactMap { _ in bench.waiting(root) }
        _ = bench.turns.grant()
        return [waits.count(where: \.isOver), others.count(where: \.isOver)]
    }
    #expect(seen == [100, 4])
}

@Test("whoever has used up a tenth waits for what others leave, and those within it do not")
func budget() async {
    let turns = await TestLoop.run { () -> [[Int]] in
        let bench = Bench()
        let hungry = bench.share(.person(1000))
        // Ten seconds of turns that take a millisecond each: far more than the party has a right
        // to.
        let alone = bench.run(10_000, cost: 1_000_000, [hungry])
        let modest = bench.share(.person(1001))
        let both = bench.run(1000, cost: 1_000_000, [hungry, modest])
        return [alone, both]
    }
    // Of 10,000 ms: a tenth by right, and three tenths because nobody else wants them.
    #expect((3500...4700).contains(turns[0][0]))
    // In its first second the other party gets a turn in nearly every pass in which it has a right
    // to one.
    #expect(turns[1][1] >= 250)
}

@Test("beside a derivation all together have a tenth of a processor, and else six tenths")
func besideDerivations() async {
    let turns = await TestLoop.run { () -> [Int] in
        [true, false].map { isDeriving in
            let bench = Bench()
            bench.isDeriving = isDeriving
            let people = (0..<50).map { bench.share(.person($0)) }
            return bench.run(10_000, cost: 1_000_000, people).reduce(0, +)
        }
    }
    #expect((450...1250).contains(turns[0]))
    #expect((2900...6300).contains(turns[1]))
}

@Test("root's time is not counted")
func rootUnlimited() async {
    let had = await TestLoop.run { () -> [Int] in
        let bench = Bench()
        return bench.run(1000, cost: 5_000_000, [bench.share(.root)])
    }
    #expect(had == [1000])
}

@Test("a connection that is gone has no turn, and another one of its party has it")
func goneWait() async {
    let seen = await TestLoop.run { () -> [Channel.Wake?] in
        let bench = Bench()
        let share = bench.share(.person(1000))
        let gone = bench.waiting(share)
        let next = bench.waiting(share)
        gone?.end(.closed)
        _ = bench.turns.grant()
        return [gone?.outcome, next?.outcome]
    }
    #expect(seen == [.closed, .ready])
}

@Test("a debt is not forgotten by leaving, and nothing else is kept")
func forgettable() async {
    let seen = await TestLoop.run { () -> [Bool] in
        let bench = Bench()
        let share = bench.share(.person(1000))
        let fresh = share.isForgettable(bench.nanoseconds)
        bench.turns.took(500_000_000, share)
        let indebted = share.isForgettable(bench.nanoseconds)
        bench.nanoseconds += 6_000_000_000
        return [fresh, indebted, share.isForgettable(bench.nanoseconds)]
    }
    #expect(seen == [true, false, true])
}

@Test("the machine's accounts are the third field of each line that is one")
func passwdFile() {
    let text = """
        root:x:0:0:root:/root:/bin/bash
        +nis:x:7:::
        short:x
        :x:9:9::/:
        alice:x:1000:1000::/home/alice:/bin/sh
        bad:x:10o0:1::/:
        """
    #expect(AccountBook.uids(in: Array(text.utf8)) == [0, 1000])
}

@Test("whose lines are being limited stays limited, also when the table of them is full")
func auditTable() async {
    let seen = await TestLoop.run { () -> [Bool] in
        let audit = Audit(toStandardError: false)
        while audit.admit(.person(1)) != nil {}
        // Each of these has written a line that is not forgotten yet.
        for uid in UInt32(2)..<10_000 { _ = audit.admit(.person(uid)) }
        let limited = audit.admit(.person(1)) == nil
        // Parties for which the table has no room share one limit.
        let crowd = (UInt32(20_000)..<20_100).count { audit.admit(.person($0)) != nil }
        return [limited, crowd <= 41]
    }
    #expect(seen == [true, true])
}

@Test("all uids without an account are one for the journal")
func auditAccountless() async {
    let admitted = await TestLoop.run { () -> Int in
        let audit = Audit(toStandardError: false)
        return (0..<200).count { _ in audit.admit(.accountless) != nil }
    }
    #expect((40...42).contains(admitted))
}
