import KeySlots
import Posix
import StoreKeeping
import Wire
import Words

/// What stores are called. A name has to be fit to be typed and to be shown, and must not look like
/// an id, or like another person's store.
@LoopActor
final class NamingFlow {
    let desk: Desk

    init(desk: Desk) {
        self.desk = desk
    }

    /// Needs no passcode: it opens nothing and loses nothing.
    func rename(_ request: Rename, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let person = try await desk.person(request.target.subject, exchange.caller)
        let host = try desk.requireStore(of: person, request.target)
        try refusing { () throws(Refusal) in
            try host.requireUsable()
            try Self.requireName(request.name)
            guard
                request.name != Vault.defaultName || host.identity.kind == .own
                    || desk.vault.ownStore(of: person, named: request.name) != nil
            else { throw .invalidArgument(.defaultKind) }
            // A login would make another one.
            guard host.identity.storeName != Vault.defaultName else {
                throw .invalidAction(action: .rename, reason: .isDefault)
            }
        }
        try await refusingAsync { () async throws(Refusal) in
            try await self.desk.vault.rename(host, to: request.name)
        }
        desk.auditChange("a store was renamed", host, person, exchange)
        return .renamed
    }

    static func requireName(_ name: [UInt8]) throws(Refusal) {
        let text = String(decoding: name, as: UTF8.self)
        guard !name.isEmpty, !name.contains(UInt8(ascii: "/")), StoreID(text: text) == nil,
            Text.clean(text) == name
        else { throw .invalidArgument(.storeName) }
    }

    /// A section of the policy file must be able to name it.
    static func requirePolicyKey(_ key: [UInt8]) throws(Refusal) {
        let text = String(decoding: key, as: UTF8.self)
        guard !key.isEmpty, key.count <= Identity.policyKeyLimit, Text.clean(text) == key,
            !key.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") })
        else { throw .invalidArgument(.policyKey) }
    }
}
