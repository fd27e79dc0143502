import Fleet
import Policy
import Secrets
import Testing

private func target(_ number: UInt64) -> OrderTarget {
    OrderTarget(
        [UInt8](repeating: 0, count: 8)
            + (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) })!
}

private func fault(_ text: String) -> PlainSections.Fault? {
    do {
        _ = try Orders(bytes(text))
        return nil
    } catch {
        return error
    }
}

@Suite struct OrdersTests {
    @Test("orders are read as they were written, and hold for those whom they name")
    func roundTrip() throws {
        var orders = Orders.none
        orders.give(.init(locks: true), to: target(1))
        orders.give(.init(wipesBefore: 9), to: target(2))
        orders.give(.init(locks: true, resetsBefore: 4), to: target(3))
        #expect(try Orders(orders.render()) == orders)
        #expect(orders.order(for: [target(4)]) == .init())
        #expect(orders.order(for: [target(4), target(1)]) == .init(locks: true))
        #expect(
            orders.order(for: [target(2), target(3)])
                == .init(locks: true, wipesBefore: 9, resetsBefore: 4))
        orders.give(.init(), to: target(1))
        #expect(orders.order(for: [target(1)]) == .init())
    }

    @Test(
        "a line that is no order makes the whole no orders",
        arguments: [
            "lock", "lock x", "lock 00", "Lock \(target(1).text)", "lock \(target(1).text) 1",
            "lock \(target(1).text)\nlock \(target(1).text)", "wipe \(target(1).text)",
            "wipe \(target(1).text) 0", "wipe \(target(1).text) 1\nwipe \(target(1).text) 2",
            "reset \(target(1).text) x", " lock \(target(1).text)", "offline lock 0",
            "offline lock 3\noffline lock 4", "offline wipe 9", "offline lock 9\noffline wipe 9",
            "offline close 3",
        ])
    func nothing(text: String) {
        #expect(fault("# a comment\n\n\(text)\n") != nil)
    }

    @Test("twenty thousand are enough")
    func most() throws {
        func lines(_ count: UInt64) -> String {
            (1...count).map { "lock \(target($0).text)\n" }.joined()
        }
        #expect(try Orders(bytes(lines(20_000))).orders.count == 20_000)
        #expect(fault(lines(20_001))?.wrong == "there are too many orders")
    }

    @Test("a target is another one for each person, machine and key")
    func targets() throws {
        let key = TargetKey(try SecretBytes(copying: [UInt8](repeating: 1, count: 32).span))
        let other = TargetKey(try SecretBytes(copying: [UInt8](repeating: 2, count: 32).span))
        let all = [
            try key.machine(bytes("a")), try key.person(bytes("a")),
            try key.person(bytes("a"), atMachine: bytes("b")), try key.person(bytes("b")),
            try key.person(bytes("b"), atMachine: bytes("a")), try other.person(bytes("a")),
        ]
        #expect(Set(all).count == all.count)
        #expect(try key.person(bytes("a")) == all[1])
        #expect(OrderTarget(all[0].bytes) == all[0])
    }
}

private let hour: UInt64 = 3_600_000
private let first = BootID([UInt8](repeating: 1, count: 16))!
private let second = BootID([UInt8](repeating: 2, count: 16))!

@Suite struct OfflineTests {
    private let rule: OfflineRule

    init() throws {
        rule = try Orders(bytes("offline lock 3\noffline wipe 10\n")).offline
    }

    private func at(_ hours: UInt64, _ boot: BootID = first) -> Moment {
        Moment(bootID: boot, milliseconds: hours * hour)
    }

    @Test("only days in which the machine ran count, over restarts")
    func counting() {
        var days = OfflineDays(contact: 100, at: at(5))
        days.pass(to: at(28))
        #expect(days.days == 0)
        days.pass(to: at(29))
        #expect(days.days == 1)
        // It was off for whatever time, and has run for 12 hours since.
        days.pass(to: at(12, second))
        days.pass(to: at(24, second))
        #expect(days.days == 2)
        // A clock of the kernel that went back counts nothing.
        days.pass(to: at(20, second))
        #expect(days.days == 2)
        let kept = OfflineDays(
            contact: days.contact, days: days.days, milliseconds: days.milliseconds,
            shownOn: days.shownOn, at: at(20, second))
        #expect(kept == days)
    }

    @Test("what was kept comes back, and time of the same boot counts since")
    func kept() throws {
        var days = OfflineDays(contact: 100, at: at(0))
        days.pass(to: at(50))
        days.show()
        let back = try OfflineDays(days.render(), at: at(50))
        #expect(back == days)
        let later = try OfflineDays(days.render(), at: at(72))
        #expect((later.days, later.shownOn) == (3, 2))
        // Of another boot nothing is known but how long it has run.
        #expect(try OfflineDays(days.render(), at: at(23, second)).days == 3)
    }

    @Test("a file that says the largest numbers, or nonsense, ends nothing but itself")
    func extremes() throws {
        func text(_ lines: String...) -> [UInt8] {
            let boot = String(repeating: "0", count: 31) + "1"
            let kept = ["[Contact]", "Signed=2026-11-27T00:00:00Z", "Boot=\(boot)"] + lines
            return bytes(kept.joined(separator: "\n") + "\n")
        }
        let most = String(UInt64.max)
        var days = try OfflineDays(
            text("Days=4294967295", "Milliseconds=86399999", "Counted=\(most)"), at: at(30))
        days.pass(to: Moment(bootID: second, milliseconds: .max))
        #expect(days.days == .max)
        #expect(days.nextDay == .max)
        for lines in [
            ["Days=4294967296", "Milliseconds=0"], ["Days=1", "Milliseconds=86400000"],
            ["Days=1", "Milliseconds=\(most)"], ["Days=-1", "Milliseconds=0"],
            ["Days=1", "Milliseconds=0", "Shown=x"], ["Days=1"],
        ] {
            #expect(throws: PlainSections.Fault.self) {
                let rest = lines.dropFirst().joined(separator: "\n")
                _ = try OfflineDays(text(lines[0], rest, "Counted=0"), at: at(0))
            }
        }
    }

    @Test("a manifest that was signed later is a contact, and nothing else is")
    func contact() {
        var days = OfflineDays(contact: 100, at: at(0))
        days.pass(to: at(90))
        days.hear(signed: 100, at: at(90))
        #expect(days.standing(rule) == .locked)
        days.hear(signed: 101, at: at(90))
        #expect(days.standing(rule) == .inContact)
        #expect(days.contact == 101)
    }

    @Test("it wipes only after the lock was shown, and the days between have passed since")
    func wiping() {
        var days = OfflineDays(contact: 100, at: at(0))
        days.pass(to: at(24 * 30))
        #expect(days.standing(rule) == .locked)
        days.show()
        #expect(days.standing(rule) == .locked)
        days.pass(to: at(24 * 37 - 1))
        days.show()
        #expect(days.standing(rule) == .locked)
        days.pass(to: at(24 * 37))
        #expect(days.standing(rule) == .wiped)
        #expect(days.standing(OfflineRule()) == .inContact)
    }
}
