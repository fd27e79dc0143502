import Fleet
import Posix
import Secrets
import Wire
import Words
import WorkerLinks

/// Joins an organisation by an invitation: finds the join file that it means, shows who that is, and
/// joins as `fleet join` does. Until the person has agreed nothing is kept. Whoever is not root is let
/// by polkit, once they have agreed: before that nobody is asked for a password.
@LoopActor
final class JoinFlow {
    private let fleet: FleetFlow
    private let authority: Authority
    private let connect: () -> any ServerLink
    private let asks: ServerAsks
    /// How often somebody is asked again for what they were given.
    private static let rounds = 10

    init(
        fleet: FleetFlow, authority: Authority, asks: ServerAsks,
        connect: @escaping () -> any ServerLink
    ) {
        (self.fleet, self.authority) = (fleet, authority)
        (self.asks, self.connect) = (asks, connect)
    }

    func isOffered(to caller: Caller) async throws(Interruption) -> Bool {
        guard caller.mayAskToJoin else { return false }
        return try await refusingAsync { () async throws(Refusal) in
            try await !fleet.hasJoined()
        }
    }

    func join(_ ask: JoinAsk, _ exchange: any Conversation) async throws(Interruption) -> Message {
        let caller = exchange.caller
        guard caller.mayAskToJoin else { throw .refused(.notPermitted(.rootOnly)) }
        // A uid that no account has is nobody who sits here.
        if !caller.isTrusted { _ = try await fleet.desk.person(Subject(), caller) }
        guard try await isOffered(to: caller) else { throw .refused(.alreadyExists) }
        let found = try await found(ask, exchange)
        // Who sends a link has said what it is for.
        if ask.invitation.isEmpty || found.domain != nil {
            _ = try await exchange.present(.joinAbout())
        }
        let sheet = Sheet.joinConfirm(found.join, found.link, foundBy: found.domain)
        _ = try await exchange.present(sheet)
        let leave = try await leave(exchange)
        let joined = try await fleet.join(found.text, leave)
        try await begin(leave, exchange)
        return joined
    }

    /// The last question. What is joined then is what the person saw, byte for byte.
    private func leave(_ exchange: any Conversation) async throws(Interruption) -> FleetLeave {
        if let leave = FleetLeave(root: exchange.caller) { return leave }
        // polkit's window is for nobody whose machine belongs to an organisation by now.
        guard try await isOffered(to: exchange.caller) else { throw .refused(.alreadyExists) }
        switch try await FleetLeave.askingPolkit(authority, exchange.caller) {
        case .given(let leave): return leave
        case .denied: try await exchange.show(.joinNotAllowed, .error)
        case .notAsked: try await exchange.show(.joinNotAsked, .error)
        }
        throw .refused(.notPermitted(.rootOnly))
    }

    /// The first bundle. Where it does not come the machine has joined all the same, as it would have
    /// by `fleet join`.
    private func begin(
        _ leave: FleetLeave, _ exchange: any Conversation
    ) async throws(Interruption) {
        do throws(Interruption) {
            _ = try await fleet.fetch(leave)
        } catch {
            switch error {
            case .refused(.fetchFailed(.nowhere)), .refused(.busy): return
            case .refused(let why):
                try await exchange.show(.joinLater, .error)
                try await exchange.show(.refused(why), .error)
            case .gone: throw error
            }
        }
    }

    // MARK: what is meant

    private struct Found {
        var join: Join
        /// As it came.
        var text: [UInt8]
        var link: JoinLink
        var domain: JoinHost?
    }

    private func found(
        _ ask: JoinAsk, _ exchange: any Conversation
    ) async throws(Interruption) -> Found {
        guard !ask.invitation.isEmpty else { return try await asked(exchange) }
        let invitation = try refusing { () throws(Refusal) in try Self.invitation(ask.invitation) }
        return try await find(invitation, exchange)
    }

    private func asked(_ exchange: any Conversation) async throws(Interruption) -> Found {
        // In a dialog there are two buttons, and nothing to type.
        guard exchange.drawsScreens || exchange.caller.isTerminal else {
            throw .refused(.invalidArgument(.joinWhat))
        }
        var wrong: Message?
        for _ in 0..<Self.rounds {
            let answer = try await exchange.present(.join(wrong: wrong))
            let typed = answer.values.first?.take()?.withBytes { bytes in
                bytes.indices.map { bytes[$0] }
            }
            do throws(Interruption) {
                let invitation = try refusing { () throws(Refusal) in
                    try Self.invitation(typed ?? [])
                }
                return try await find(invitation, exchange)
            } catch {
                switch error {
                case .refused(let why): wrong = .refused(why)
                case .gone: throw error
                }
            }
        }
        throw .refused(.cancelled)
    }

    private func find(
        _ invitation: Invitation, _ exchange: any Conversation
    ) async throws(Interruption) -> Found {
        guard let ask = asks.begin(exchange.caller) else { throw .refused(.busy) }
        defer { asks.end(ask) }
        let worker = connect()
        defer { worker.end() }
        let found: Result<Found, Interruption>
        do throws(Interruption) {
            found = .success(try await find(invitation, worker, exchange))
        } catch {
            found = .failure(error)
        }
        await ask.wait()
        return try found.get()
    }

    private func find(
        _ invitation: Invitation, _ worker: any ServerLink, _ exchange: any Conversation
    ) async throws(Interruption) -> Found {
        let (link, domain): (JoinLink, JoinHost?)
        switch invitation {
        case .link(let given): (link, domain) = (given, nil)
        case .email(let host):
            try await exchange.show(.joinAsks(host: host.text))
            let named = try await refusingAsync { () async throws(Refusal) in
                try await Self.link(of: host, worker)
            }
            (link, domain) = (named, host)
        }
        try await exchange.show(.joinAsks(host: link.host.text))
        return try await refusingAsync { () async throws(Refusal) in
            var found = try await file(of: link, worker)
            found.domain = domain
            return found
        }
    }

    private static func link(
        of domain: JoinHost, _ worker: any ServerLink
    ) async throws(Refusal) -> JoinLink {
        let text = try await content(worker, Invitation.url(of: domain), domain)
        guard let link = try? Invitation.link(in: text) else {
            throw .invitation(.noInvitation(host: domain.text))
        }
        return link
    }

    private func file(of link: JoinLink, _ worker: any ServerLink) async throws(Refusal) -> Found {
        let text = try await Self.content(worker, link.url, link.host)
        let isMeant: Bool
        do throws(SecretsError) {
            isMeant = try link.names(text)
        } catch {
            throw .outOfMemory
        }
        guard isMeant else { throw .bundle(.joinOther(host: link.host.text)) }
        do throws(PlainSections.Fault) {
            return Found(join: try Join(text), text: text, link: link)
        } catch {
            throw .bundle(.join(line: error.line, wrong: error.wrong))
        }
    }

    private static func content(
        _ worker: any ServerLink, _ url: String, _ host: JoinHost
    ) async throws(Refusal) -> [UInt8] {
        switch await worker.find(Array(url.utf8)) {
        case .answered(200, _, let content): return content
        case .answered(300..<400, _, _): throw .invitation(.elsewhere(host: host.text))
        case .answered(let status, _, _):
            throw .invitation(.status(host: host.text, status))
        case .failed(.tooLarge): throw .invitation(.noInvitation(host: host.text))
        case .failed(let outcome):
            throw .invitation(
                .init(outcome, host: host.text) ?? .failed(host: host.text))
        case .lost(let lost): throw .invitation(.init(lost, host: host.text))
        }
    }

    private static func invitation(_ typed: [UInt8]) throws(Refusal) -> Invitation {
        do throws(Invitation.Fault) {
            return try Invitation(typed)
        } catch {
            switch error {
            case .neither: throw .invalidArgument(.joinWhat)
            case .link(.version): throw .invalidArgument(.joinVersion)
            case .link(.host): throw .invalidArgument(.joinHost)
            case .link(.noLink), .link(.parts), .link(.fingerprint), .link(.token):
                throw .invalidArgument(.joinLink)
            }
        }
    }
}

extension Caller {
    /// Root, and a person who can be shown what would be joined.
    fileprivate var mayAskToJoin: Bool { isTrusted || isTerminal }
}
