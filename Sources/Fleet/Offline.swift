import Policy

/// When a machine that hears nothing of its organisation locks, and wipes, by itself.
public struct OfflineRule: Equatable, Sendable {
    public var lockAfter: UInt32?
    public var wipeAfter: UInt32?

    public init(lockAfter: UInt32? = nil, wipeAfter: UInt32? = nil) {
        (self.lockAfter, self.wipeAfter) = (lockAfter, wipeAfter)
    }

    /// Before anything is wiped, the lock has been seen for a while.
    var isMeant: Bool {
        guard let wipeAfter else { return true }
        return lockAfter.map { $0 < wipeAfter } ?? false
    }
}

/// How long this machine has heard nothing: whole days in which it ran. A clock that somebody sets
/// changes nothing of it, and neither does a machine that lies in a drawer.
public struct OfflineDays: Equatable, Sendable {
    private static let day: UInt64 = 24 * 3600 * 1000

    /// When the newest manifest was signed that came in; only a newer one is a contact. An answer
    /// of a server is none, because anybody can answer.
    public private(set) var contact: UInt64
    public private(set) var days: UInt32
    private var sinceDay: UInt64
    private var counted: Moment
    /// On which day a person was first shown that the machine is locked for being offline.
    public private(set) var shownOn: UInt32?

    public init(contact: UInt64, at now: Moment) {
        (self.contact, days, sinceDay, counted) = (contact, 0, 0, now)
    }

    /// From what was kept.
    public init(
        contact: UInt64, days: UInt32, milliseconds: UInt64, shownOn: UInt32?, at now: Moment
    ) {
        self.init(contact: contact, at: now)
        self.days = days
        sinceDay = milliseconds
        self.shownOn = shownOn
    }

    /// From what `render` wrote. Time that has passed in the same boot of the machine counts, also
    /// where nobody counted it.
    public init(_ text: [UInt8], at now: Moment) throws(PlainSections.Fault) {
        var file = try PlainSections(text)
        var section = try file.section("Contact")
        let boot = try section.require("Boot", "32 digits") { Hex.bytes($0).flatMap(BootID.init) }
        let counted = try section.require("Counted", "milliseconds", Value.whole)
        self.init(
            contact: try section.require("Signed", Value.time, UTCTime.seconds),
            days: try section.require("Days", "a number") {
                Value.whole($0).flatMap(UInt32.init(exactly:))
            },
            milliseconds: try section.require("Milliseconds", "less than a day") {
                Value.whole($0).flatMap { $0 < Self.day ? $0 : nil }
            },
            shownOn: try section.read("Shown", "a number") {
                Value.whole($0).flatMap(UInt32.init(exactly:))
            }, at: Moment(bootID: boot, milliseconds: counted))
        try section.requireEnd()
        try file.requireEnd()
        pass(to: now)
    }

    public func render() -> [UInt8] {
        var lines = [
            "[Contact]", "Signed=\(UTCTime.text(contact))", "Days=\(days)",
            "Milliseconds=\(sinceDay)", "Boot=\(Hex.text(counted.bootID.bytes))",
            "Counted=\(counted.milliseconds)",
        ]
        if let shownOn { lines.append("Shown=\(shownOn)") }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// When the day that has begun is over, by the clock of this boot.
    public var nextDay: UInt64 { counted.milliseconds.addingOrMost(Self.day - sinceDay) }

    /// Of the day that has begun.
    public var milliseconds: UInt64 { sinceDay }

    /// Time has passed, in this boot of the machine.
    public mutating func pass(to now: Moment) {
        // In another boot, only what has passed since it began is known.
        let passed =
            now.bootID == counted.bootID
            ? now.milliseconds.subtractingOrZero(counted.milliseconds) : now.milliseconds
        counted = now
        // Whatever a damaged file says, and whatever a clock, nothing here goes beyond its end.
        let total = sinceDay.addingOrMost(passed)
        days = UInt32(clamping: UInt64(days).addingOrMost(total / Self.day))
        sinceDay = total % Self.day
    }

    /// A manifest was taken. Nothing, if it was signed no later than the last.
    public mutating func hear(signed: UInt64, at now: Moment) {
        guard signed > contact else { return }
        self = OfflineDays(contact: signed, at: now)
    }

    public enum Standing: Equatable, Sendable {
        case inContact
        case locked
        case wiped
    }

    public func standing(_ rule: OfflineRule) -> Standing {
        guard let lockAfter = rule.lockAfter, days >= lockAfter else { return .inContact }
        guard let wipeAfter = rule.wipeAfter, let shownOn,
            UInt64(days) >= UInt64(max(shownOn, lockAfter)) + UInt64(wipeAfter - lockAfter)
        else { return .locked }
        return .wiped
    }

    /// A person has read that it is locked.
    public mutating func show() {
        if shownOn == nil { shownOn = days }
    }
}

extension UInt64 {
    fileprivate func addingOrMost(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }

    fileprivate func subtractingOrZero(_ other: UInt64) -> UInt64 {
        self > other ? self - other : 0
    }
}
