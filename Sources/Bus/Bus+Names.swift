internal import CBus
import Posix

/// A name on the bus, and who owns it.
@LoopActor
final class FollowedName {
    var owner: String?
    var changed: [@LoopActor (String?) -> Void] = []

    func becomes(_ owner: String?) {
        guard owner != self.owner else { return }
        self.owner = owner
        for each in changed { each(owner) }
    }
}

/// A signal of the owner of a name.
struct HeardSignal {
    let name: String
    let interface: String
    let member: String
    let heard: @LoopActor (BusMessage) -> Void
}

extension Bus {
    public enum Ownership: Equatable, Sendable {
        case owner
        case taken
    }

    /// Takes a name, unless another connection has it.
    public func own(_ name: String, until deadline: UInt64) async throws(BusError) -> Ownership {
        // Not in the queue for it.
        let answer = try await ask(
            "RequestName", [.string(name), .uint32(4)], until: deadline)
        switch try answer.uint32() {
        case 1, 4: return .owner
        case 3: return .taken
        default: throw .malformed
        }
    }

    public enum Standing: Equatable, Sendable {
        case owner
        case waiting
    }

    /// Takes a name, or waits in line for it. Nobody may take it away. `follow` tells when it is
    /// ours.
    public func lineUp(for name: String, until deadline: UInt64) async throws(BusError) -> Standing
    {
        let answer = try await ask("RequestName", [.string(name), .uint32(0)], until: deadline)
        switch try answer.uint32() {
        case 1, 4: return .owner
        case 2: return .waiting
        default: throw .malformed
        }
    }

    /// The name that the bus has given this connection.
    public var ownName: String {
        guard !isOver else { return "" }
        var name: UnsafePointer<CChar>?
        // SAFETY: the text is the connection's, and is copied at once.
        guard unsafe sd_bus_get_unique_name(raw, &name) >= 0, let name = unsafe name else {
            return ""
        }
        return unsafe String(cString: name)
    }

    public func release(_ name: String, until deadline: UInt64) async throws(BusError) {
        _ = try await ask("ReleaseName", [.string(name)], until: deadline)
    }

    /// The user of a connection, by the bus's word.
    public func uid(of sender: String, until deadline: UInt64) async throws(BusError) -> UInt32 {
        try await ask("GetConnectionUnixUser", [.string(sender)], until: deadline).uint32()
    }

    /// The owner of a name that is followed.
    public func owner(of name: String) -> String? { names[name]?.owner }

    /// From now on it is known who owns this name, a unique name or nobody. `changed` is told the
    /// first owner as well, before this returns, and each owner before that owner's signals.
    public func follow(
        _ name: String, until deadline: UInt64,
        _ changed: @escaping @LoopActor (String?) -> Void
    ) async throws(BusError) {
        if let followed = names[name] {
            followed.changed.append(changed)
            if let owner = followed.owner { changed(owner) }
            return
        }
        let followed = FollowedName()
        followed.changed.append(changed)
        names[name] = followed
        try await match("NameOwnerChanged", Self.ownerRule(name), deadline)
        // SAFETY: `start` calls its closure exactly once.
        let failure: BusError? = await unsafe withUnsafeContinuation { waiter in
            start(
                Self.driver, "/org/freedesktop/DBus", Self.driver, "GetNameOwner", [.string(name)],
                until: deadline
            ) { answer in
                // Here and not after the wait: the next message may say that it has changed.
                let failure = Self.take(answer, into: followed)
                unsafe waiter.resume(returning: failure)
            }
        }
        if let failure { throw failure }
    }

    /// Follows it no more, for all who did.
    public func leave(_ name: String) {
        guard names.removeValue(forKey: name) != nil else { return }
        start(
            Self.driver, "/org/freedesktop/DBus", Self.driver, "RemoveMatch",
            [.string(Self.rule("NameOwnerChanged", Self.ownerRule(name)))],
            until: Clock.bootMilliseconds() + patienceForCaller
        ) { _ in }
    }

    static func ownerRule(_ name: String) -> String {
        ",sender='\(driver)',arg0='\(name)'"
    }

    private static func take(
        _ answer: Result<BusMessage, BusError>, into followed: FollowedName
    ) -> BusError? {
        do throws(BusError) {
            followed.becomes(try answer.get().string())
            return nil
        } catch {
            guard error.isNobody else { return error }
            followed.becomes(nil)
            return nil
        }
    }

    /// Hears a signal that the owner of this name sends, from whichever object. Anybody may send us
    /// a signal: what others send is not heard. The name has to be followed.
    public func hear(
        _ member: String, of interface: String, from name: String, until deadline: UInt64,
        _ heard: @escaping @LoopActor (BusMessage) -> Void
    ) async throws(BusError) {
        signals.append(
            HeardSignal(name: name, interface: interface, member: member, heard: heard))
        try await match(member, ",sender='\(name)',interface='\(interface)'", deadline)
    }

    /// The texts are ours and have no quote in them.
    private func match(
        _ member: String, _ rest: String, _ deadline: UInt64
    ) async throws(BusError) {
        _ = try await ask("AddMatch", [.string(Self.rule(member, rest))], until: deadline)
    }

    static func rule(_ member: String, _ rest: String) -> String {
        "type='signal',member='\(member)'" + rest
    }

    func heard(_ signal: BusMessage) {
        let (sender, interface, member) = (signal.sender, signal.interface, signal.member)
        if sender == Self.driver {
            guard interface == Self.driver, member == "NameOwnerChanged" else { return }
            renamed(signal)
            return
        }
        guard !sender.isEmpty else { return }
        for each in signals
        where each.member == member && each.interface == interface
            && names[each.name]?.owner == sender
        {
            each.heard(signal)
            // One message is read once.
            return
        }
    }

    private func renamed(_ signal: BusMessage) {
        guard let name = try? signal.string(), let followed = names[name],
            (try? signal.string()) != nil, let owner = try? signal.string()
        else { return }
        followed.becomes(owner.isEmpty ? nil : owner)
    }
}
