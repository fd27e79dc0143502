import Fleet
import KeySlots
import Policy
import Secrets
import StoreKeeping
import Words

/// The orders of an organisation as they were taken last, and what is needed to know whom they mean.
struct OrganisationOrders: Sendable {
    let orders: Orders
    let mark: OrdersMark
    let orderer: Refusal.Orderer
    private let naming: Naming
    let policyVersion: UInt64
    /// When the newest manifest was signed.
    let signed: UInt64
    /// What people are asked to agree to.
    let consents: Consents
    /// How they say who they are; nil where nobody wants to know.
    let signIn: SignIn?

    init(
        of join: Join, policy: Manifest?, orders bundle: Bundle?, consents: Consents,
        signIn: SignIn?
    ) throws(SecretsError) {
        (self.consents, self.signIn) = (consents, signIn)
        orders = bundle?.orders ?? .none
        policyVersion = policy?.version ?? 0
        signed = max(policy?.signed ?? 0, bundle?.manifest.signed ?? 0)
        let contact = (policy ?? bundle?.manifest)?.contact ?? ""
        naming = try Naming(join.targetKey)
        orderer = Refusal.Orderer(name: join.organisation, contact: contact)
        let name = try Hash.blake2b(
            Array(join.organisation.utf8).span, purpose: Purpose("AV organisation"))
        let number = name.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        mark = OrdersMark(organisation: number, version: bundle?.manifest.version ?? 0)
    }

    /// What holds for a person who is on this machine.
    func order(for person: Person, onMachine id: [UInt8]) -> Orders.Order {
        guard !orders.orders.isEmpty else { return Orders.Order() }
        return orders.order(
            for: naming.targets(person, onMachine: id) + naming.targets(onMachine: id))
    }

    /// What the organisation calls a person and this machine; nil where there is no memory for it.
    func names(_ person: Person, _ id: [UInt8]) -> [(key: String, value: String)]? {
        naming.names(person, onMachine: id)
    }

    /// What holds for everybody on this machine.
    func order(onMachine id: [UInt8]) -> Orders.Order {
        orders.order(for: naming.targets(onMachine: id))
    }

    /// Nobody on a server can work out whom an order means without its key.
    private final class Naming: Sendable {
        private let key: TargetKey

        init(_ key: [UInt8]) throws(SecretsError) {
            self.key = TargetKey(try SecretBytes(copying: key.span))
        }

        func targets(_ person: Person, onMachine id: [UInt8]) -> [OrderTarget] {
            [try? key.person(person.name), try? key.person(person.name, atMachine: id)]
                .compactMap { $0 }
        }

        func names(
            _ person: Person, onMachine id: [UInt8]
        ) -> [(key: String, value: String)]? {
            guard let name = try? key.person(person.name) else { return nil }
            return [("person", name.text)] + targets(onMachine: id).map { ("machine", $0.text) }
        }

        func targets(onMachine id: [UInt8]) -> [OrderTarget] {
            id.isEmpty ? [] : [try? key.machine(id)].compactMap { $0 }
        }
    }
}
