import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// What the owner shows before one of their applications starts.
@LoopActor
final class AppFlow {
    let desk: Desk
    let stores: StoreFlows
    let proving: Proving
    let scans: FingerScans

    init(desk: Desk, stores: StoreFlows, proving: Proving, scans: FingerScans) {
        self.desk = desk
        self.stores = stores
        self.proving = proving
        self.scans = scans
    }

    /// What the policy says of the application. Only its owner asks: it runs as them.
    func policy(_ app: App, _ caller: Caller) async throws(Interruption) -> AppPolicy {
        let (rules, store) = try await rules(app, caller)
        var policy = AppPolicy(
            demand: max(rules.require, Requirement(app.demand)).wire,
            onLock: rules.onLock.wire)
        policy.onLockIsWritten = rules.isOnLockWritten
        policy.background = rules.lockOnBackground.wire
        policy.timeout = rules.lockTimeout
        policy.store = store
        return policy
    }

    func open(_ app: App, _ exchange: any Conversation) async throws(Interruption) -> Message {
        let (rules, store) = try await rules(app, exchange.caller)
        let person = try await desk.person(app.target.subject, exchange.caller)
        // It locks when others lock theirs: nothing that an application could go with.
        guard try await desk.shared(with: person, named: store) == nil else {
            throw .refused(.invalidAction(action: .unlock, reason: .shared))
        }
        let target = Target(subject: app.target.subject, store: store)
        switch max(rules.require, Requirement(app.demand)) {
        case .open: return try await stores.openStore(target, exchange)
        case .finger: return try await byFinger(target, exchange)
        case .passcode: return try await byPasscode(target, exchange)
        }
    }

    private func byPasscode(
        _ target: Target, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        _ = try await proving.openOwn(target, exchange)
        return .opened
    }

    /// The passcode does as well: a finger is for convenience, and a reader may be absent. The finger
    /// is asked for where the passcode could be, as at an opening.
    private func byFinger(
        _ target: Target, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let visit = try await desk.visit(target, exchange)
        guard visit.host.isOpen else { return try await stores.open(visit) }
        let shown = visit.host.isFollower ? try await proving.parentVisit(visit) : visit
        let outcome = try await scans.scanFinger(
            .verify, shown, isSwitchedOff: !visit.caller.hasPerson || visit.caller.hello.oneSecret
        ) { _ throws(Interruption) in }
        switch outcome {
        case .matched:
            // A lock may have come meanwhile.
            guard visit.host.isOpen else { throw .refused(.locked) }
            return .fingerVerified
        case .notAsked, .ended: return try await byPasscode(target, exchange)
        }
    }

    /// With the name of the store that the application goes with.
    private func rules(
        _ app: App, _ caller: Caller
    ) async throws(Interruption) -> (AppRules, store: [UInt8]) {
        let person = try await desk.person(app.target.subject, caller)
        guard person.uid == caller.credentials.uid else {
            throw .refused(.notPermitted(.notYours))
        }
        guard AppRules.isID(app.id) else { throw .refused(.invalidArgument(.appID)) }
        let answer = await desk.policyAnswer(for: person, nil)
        // Otherwise what a group's section demands would be left out.
        guard answer.isKnown else { throw .refused(.serviceUnavailable(.groups)) }
        var rules = answer.book.rules(ofApp: app.id, for: answer.subject)
        // Nobody knows what it demands. A locked application is not lost for that.
        if case .broken = desk.policies.standing { rules.require = .passcode }
        let written = rules.store.bytes
        guard !written.isEmpty else { return (rules, app.target.store) }
        guard app.target.store.isEmpty || app.target.store == written else {
            throw .refused(.policyDenies(key: "Store"))
        }
        return (rules, written)
    }
}

extension Requirement {
    init(_ demand: AppDemand) {
        self =
            switch demand {
            case .open: .open
            case .finger: .finger
            case .passcode: .passcode
            }
    }

    var wire: AppDemand {
        switch self {
        case .open: .open
        case .finger: .finger
        case .passcode: .passcode
        }
    }
}

extension OnLock {
    var wire: AppPolicy.OnLock {
        switch self {
        case .freeze: .freeze
        case .quit: .quit
        case .stay: .stay
        }
    }
}

extension LockOnBackground {
    var wire: AppPolicy.Background {
        switch self {
        case .never: .never
        case .immediate: .immediate
        case .timeout: .timeout
        }
    }
}
