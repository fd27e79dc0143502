import Bus
import Testing

@testable import Agent

/// What becomes of a locker that was not there before.
private func state(_ events: LockerState.Event...) -> LockerState {
    events.reduce(.absent) { $0.after($1).state }
}

private let on = LockerState.Event.says(isActive: true)
private let off = LockerState.Event.says(isActive: false)

@Test("a locker that comes is asked, and one that becomes blank has its settings read")
func steps() {
    #expect(LockerState.absent.after(.came) == (.inUse, .ask))
    #expect(LockerState.inUse.after(on) == (.blank(sinceUnknown: false), .readSettings))
    #expect(state(.came, on, .rule(.after(0))) == .locked)
    #expect(state(.came, on, .rule(.never)) == .blankOnly)
    #expect(LockerState.blank(sinceUnknown: false).after(.rule(.after(9))) == (.delayed, .wait(9)))
    #expect(state(.came, on, .rule(.after(9)), .delayOver) == .locked)
}

@Test("only a locked screen is shown as locked")
func shown() {
    #expect(!state(.came, on).isLocked)
    #expect(!state(.came, on, .rule(.never)).isLocked)
    #expect(!state(.came, on, .rule(.after(9))).isLocked)
    #expect(!state(.came, on, .rule(.after(9)), off, .delayOver).isLocked)
    #expect(!state(.came, on, .rule(.after(0)), off).isLocked)
}

@Test("a locker that was active before we looked may have been for longer than its delay")
func unknownBeginning() {
    #expect(state(.came, .answers(isActive: true), .rule(.after(9))) == .locked)
    #expect(state(.came, .answers(isActive: true), .rule(.never)) == .blankOnly)
    #expect(state(.came, .answers(isActive: false)) == .inUse)
}

@Test("a locker that crashes while it locks leaves the session locked, until one says otherwise")
func lost() {
    let gone = state(.came, on, .rule(.after(0)), .left)
    #expect(gone == .lost && gone.isLocked)
    #expect(gone.after(.came) == (.lost, .ask))
    #expect(state(.came, on, .rule(.after(0)), .came) == .lost)
    #expect(gone.after(.answers(isActive: false)).state == .inUse)
    #expect(gone.after(.answers(isActive: true)).state == .locked)
    #expect(gone.after(on).state == .locked)
    #expect(gone.after(off).state == .inUse)
    // It may have locked before its settings were read.
    #expect(state(.came, on, .left) == .lost)
    #expect(state(.came, on, .rule(.never), .left) == .absent)
    #expect(state(.came, on, .rule(.after(9)), .left) == .absent)
    #expect(state(.came, .left) == .absent)
}

@Test("only a locker's own word is a person's return")
func returns() {
    #expect(LockerState.isReturn(off))
    for event in [on, .came, .left, .answers(isActive: false), .rule(.never), .delayOver] {
        #expect(!LockerState.isReturn(event))
    }
}

@Test(
    "gsettings: whether and when a locker locks",
    arguments: [
        (["true", "0"], LockRule.after(0)), (["true", "2"], .after(120_000)),
        (["true", "uint32 2"], .after(120_000)), (["false", "2"], .never),
        (["false", "0"], .never),
        (["true", "-1"], .after(0)), (["what", "what"], .after(0)),
        (["true", "18446744073709551615"], .after(604_800_000)),
    ])
func gsettings(_ values: [String], _ rule: LockRule) {
    let lines = [
        "org.mate.screensaver mode 'blank-only'", "org.mate.screensaver lock-enabled \(values[0])",
        "org.mate.screensaver lock-delay \(values[1])", "org.other lock-enabled false", "", "x",
    ]
    let read = LockRule(
        gsettings: lines.map { Array($0.utf8) }, schema: "org.mate.screensaver", delayUnit: 60_000)
    #expect(read == rule)
    #expect(LockRule(gsettings: [], schema: "x", delayUnit: 1) == .usual)
}

@Test(
    "xfconf: whether and when xfce4-screensaver locks",
    arguments: [
        ([:], LockRule.after(0)), (["/lock/enabled": .bool(false)], .never),
        (["/lock/saver-activation/enabled": .bool(false)], .never),
        (
            ["/lock/enabled": .bool(true), "/lock/saver-activation/delay": .int32(3)],
            .after(180_000)
        ),
        (["/lock/saver-activation/delay": .int32(-3)], .after(0)),
        (["/lock/saver-activation/delay": .string("3")], .after(0)),
    ] as [([String: BusValue], LockRule)])
func xfconf(_ values: [String: BusValue], _ rule: LockRule) {
    #expect(LockRule(xfconf: values) == rule)
}
