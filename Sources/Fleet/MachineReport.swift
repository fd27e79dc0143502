/// What a machine has told of itself. It proves nothing: whoever is root there sends what they like.
public struct MachineReport: Equatable, Sendable {
    /// As orders call it.
    public var machine: OrderTarget
    public var organisation: [UInt8]
    /// When it came, in seconds since 1970.
    public var at: UInt64
    /// As it says; nil where that is no number.
    public var numbers: [Number: UInt64]
    /// What does not go well there.
    public var problem: [UInt8]
    public var release: [UInt8]

    public enum Number: String, CaseIterable, Sendable {
        case policyVersion = "APPVAULT_POLICY_VERSION"
        case ordersVersion = "APPVAULT_ORDERS_VERSION"
        case signed = "APPVAULT_SIGNED"
        case stores = "APPVAULT_STORES"
        case due = "APPVAULT_DUE"
        case retryLocked = "APPVAULT_RETRY_LOCKED"
        case locked = "APPVAULT_LOCKED"
        case wiped = "APPVAULT_WIPED"
        case offlineDays = "APPVAULT_OFFLINE_DAYS"
        case consentsDue = "APPVAULT_CONSENTS_DUE"
    }

    /// What people have answered, for whoever has to show it; nobody counts it. For each of them and each
    /// answer `TARGET ID VERSION yes|no SECONDS`, with semicolons between them.
    public static let agreed = "APPVAULT_AGREED"
    public static let mostAgreed = 8 << 10

    public enum Words: String, CaseIterable, Sendable {
        case machine = "APPVAULT_MACHINE"
        case organisation = "APPVAULT_ORGANISATION"
        case problem = "APPVAULT_PROBLEM"
        case release = "APPVAULT_RELEASE"
    }

    /// Each report has it, so that a journal is searched for it.
    public static let messageID = "6b1fae4e0c7c4f6f9d1f0d6c55b1a7f3"
    private static let timeField = "__REALTIME_TIMESTAMP"
    public static let fields =
        [timeField] + Words.allCases.map(\.rawValue) + Number.allCases.map(\.rawValue)
    private static let mostText = 256

    /// Nil where it does not say of which machine it is.
    public init?(_ fields: JournalExport.Fields) {
        guard let machine = OrderTarget(digits: (fields[Words.machine.rawValue] ?? [])[...]),
            let microseconds = Self.number(fields[Self.timeField] ?? [])
        else { return nil }
        self.machine = machine
        at = microseconds / 1_000_000
        numbers = [:]
        for number in Number.allCases {
            numbers[number] = fields[number.rawValue].flatMap(Self.number)
        }
        organisation = Self.text(fields[Words.organisation.rawValue])
        problem = Self.text(fields[Words.problem.rawValue])
        release = Self.text(fields[Words.release.rawValue])
    }

    private static func text(_ value: [UInt8]?) -> [UInt8] {
        Array((value ?? []).prefix(mostText))
    }

    private static func number(_ digits: [UInt8]) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    public subscript(_ number: Number) -> UInt64? { numbers[number] }

    /// A release sends only numbers there.
    public var isNonsense: Bool {
        [.policyVersion, .ordersVersion, .signed].contains { numbers[$0] == nil }
    }
}

/// The last that each machine has told.
public struct MachineReports {
    public private(set) var last: [OrderTarget: MachineReport] = [:]
    /// They are of another organisation, or say of no machine that they are its.
    public private(set) var strays = 0
    /// From somebody who invents machines.
    public private(set) var tooMany = 0

    private let organisation: [UInt8]?
    private let now: UInt64
    private let mostMachines: Int
    /// Clocks differ by so much without anybody's doing.
    private static let slack: UInt64 = 600

    /// Nil instead of an organisation takes all.
    public init(of organisation: String?, now: UInt64, mostMachines: Int = 1_000_000) {
        self.organisation = organisation.map { Array($0.utf8) }
        (self.now, self.mostMachines) = (now, mostMachines)
    }

    public mutating func take(_ fields: JournalExport.Fields) {
        guard let report = MachineReport(fields),
            organisation.map({ $0 == report.organisation }) ?? true
        else {
            strays += 1
            return
        }
        if let former = last[report.machine] {
            // One from the future would stay the last one for good.
            guard rank(report) >= rank(former) else { return }
        } else if last.count >= mostMachines {
            tooMany += 1
            return
        }
        last[report.machine] = report
    }

    private func rank(_ report: MachineReport) -> UInt64 { isAhead(report) ? 0 : report.at }

    public func isAhead(_ report: MachineReport) -> Bool { report.at > now + Self.slack }
}
