import Fleet
import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Words

/// What the organisation that this machine has joined wants of its stores. Orders are a state: this
/// says what holds now, and `Upkeep` brings the stores there.
@LoopActor
final class OrdersInForce: StandingOrders {
    let folder: FleetFolder
    let pool = WorkerPool(name: "orders", threads: 1)
    /// Empty where it has none.
    let machineID: [UInt8]
    private(set) var organisation: OrganisationOrders?
    /// By the uid.
    var agreements: [UInt32: Agreements] = [:]
    private(set) var days = OfflineDays(contact: 0, at: .never)
    /// Why what was kept is not obeyed; nil where all is well.
    private(set) var problem: String?

    init(_ options: Options) {
        folder = FleetFolder(stateFolder: options.stateFolder)
        machineID = Self.machineID(options.machineID)
    }

    private static func machineID(_ path: String) -> [UInt8] {
        let text = (try? TextFile.read(at: path, limit: 64)) ?? []
        return Array(text.prefix { $0 != 0x0A })
    }

    // MARK: what was taken

    private struct Found: Sendable {
        var organisation: OrganisationOrders?
        var days: OfflineDays?
        var agreements: [UInt32: Agreements] = [:]
        var problem: String?
    }

    private nonisolated static func read(_ folder: FleetFolder) -> Found {
        do throws(FleetFolder.Fault) {
            return Found(
                organisation: try folder.orders(), days: folder.contact(at: StoreHost.now()),
                agreements: folder.agreements())
        } catch {
            return Found(problem: error.description)
        }
    }

    /// Before any store is opened.
    func start() {
        take(Self.read(folder))
    }

    /// A bundle was taken, or the machine has left.
    func reread() async {
        let folder = folder
        take(await pool.run { Self.read(folder) })
        await keep()
    }

    /// What cannot be read orders nothing: a damaged file keeps nobody out.
    private func take(_ found: Found) {
        (organisation, problem) = (found.organisation, found.problem)
        agreements = found.agreements
        let signed = found.organisation?.signed ?? 0
        let now = StoreHost.now()
        days = found.days ?? OfflineDays(contact: signed, at: now)
        days.hear(signed: signed, at: now)
    }

    // MARK: days without contact

    private var rule: OfflineRule { organisation?.orders.offline ?? OfflineRule() }
    var countsDays: Bool { rule != OfflineRule() }
    var lockAfter: UInt32 { rule.lockAfter ?? 0 }
    var wipeAfter: UInt32 { rule.wipeAfter ?? 0 }

    private var offline: OfflineDays.Standing { days.standing(rule) }

    func countDays() {
        days.pass(to: StoreHost.now())
    }

    /// Somebody has read that the machine is locked.
    func wasShown() async {
        guard days.shownOn == nil, offline == .locked else { return }
        days.show()
        await keep()
    }

    /// So that the days count on after the daemon, or the machine, has ended. Where the disk refuses
    /// it, some are not counted.
    func keep() async {
        guard countsDays else { return }
        countDays()
        let (folder, days) = (folder, days)
        await pool.run { try? folder.keep(days) }
    }

    // MARK: what holds for whom

    var mark: OrdersMark { organisation?.mark ?? .none }
    /// 0: none.
    var policyVersion: UInt64 { organisation?.policyVersion ?? 0 }
    var signed: UInt64 { organisation?.signed ?? 0 }
    var orderer: Refusal.Orderer? { organisation?.orderer }

    func bar(_ host: StoreHost) -> Refusal.Bar? {
        guard let organisation else { return nil }
        // It is shut from the order on, and not when its turn comes to be wiped.
        if end(of: host) != nil { return .ordered(organisation.orderer) }
        return host.isShared || host.isConfiguration ? nil : bar(of: host.owner)
    }

    func bar(of person: Person) -> Refusal.Bar? {
        guard let organisation else { return nil }
        if order(for: person, organisation).locks { return .ordered(organisation.orderer) }
        switch offline {
        case .inContact: break
        case .locked, .wiped: return .offline(days: days.days, organisation.orderer)
        }
        guard let item = agreements(of: person).denied(organisation.consents) else { return nil }
        return .denied(Array(item.paper(for: []).title.utf8), organisation.orderer)
    }

    func end(of host: StoreHost) -> StoreEnd? {
        guard let organisation, host.health != .erased || isDueForReset(host, organisation)
        else { return nil }
        if offline == .wiped, host.health != .erased { return .wiped }
        // What follows a store opens with it alone.
        if host.isFollower, let parent = host.parent, let end = end(of: parent) { return end }
        let order = order(on: host, organisation)
        if host.health != .erased, isOlder(host, than: order.wipesBefore, organisation) {
            return .wiped
        }
        return isOlder(host, than: order.resetsBefore, organisation) ? .reset : nil
    }

    private func isDueForReset(_ host: StoreHost, _ organisation: OrganisationOrders) -> Bool {
        isOlder(host, than: order(on: host, organisation).resetsBefore, organisation)
    }

    private func isOlder(
        _ host: StoreHost, than version: UInt64, _ organisation: OrganisationOrders
    ) -> Bool {
        version > 0
            && host.identity.madeUnder.isBefore(
                OrdersMark(organisation: organisation.mark.organisation, version: version))
    }

    private func order(for person: Person, _ organisation: OrganisationOrders) -> Orders.Order {
        organisation.order(for: person, onMachine: machineID)
    }

    /// A store that others share is not one person's: only an order for the machine ends it.
    private func order(on host: StoreHost, _ organisation: OrganisationOrders) -> Orders.Order {
        let owner = Member.Who.person(uid: host.owner.uid, name: host.owner.name)
        let isOthers =
            host.isConfiguration
            || host.isShared && host.sharedWith.contains { $0.who != owner }
        return isOthers
            ? organisation.order(onMachine: machineID) : order(for: host.owner, organisation)
    }
}
