import Fleet
import Posix
import Secrets
import Wire
import Words
import WorkerLinks

/// Joins an organisation by an invitation: finds the join file that it means, shows who that is, and
/// joins as `fleet join` does. Until the person has agreed nothing is kept.
@LoopActor
final class JoinFlow {
    private let fleet: FleetFlow
    private let fetchSocket: String
    private let seconds: Int
    /// How often somebody is asked again for what they were given.
    private static let rounds = 10

    init(fleet: FleetFlow, _ options: Options) {
        self.fleet = fleet
        (fetchSocket, seconds) = (options.fetchSocket, options.deadlines.fetch)
    }

    func isOffered(to caller: Caller) async throws(Interruption) -> Bool {
        guard caller.isTrusted else { return false }
        return try await refusingAsync { () async throws(Refusal) in
            try await !fleet.hasJoined()
        }
    }

    func join(_ ask: JoinAsk, _ exchange: any Conversation) async throws(Interruption) -> Message {
        try FleetFlow.requireRoot(exchange.caller)
        guard try await isOffered(to: exchange.caller) else { throw .refused(.alreadyExists) }
        let found =
            ask.invitation.isEmpty
            ? try await asked(exchange) : try await find(ask.invitation, exchange)
        let sheet = Sheet.joinConfirm(found.join, found.link, foundBy: found.domain)
        _ = try await exchange.present(sheet)
        let joined = try await fleet.join(found.text, exchange.caller)
        try await begin(exchange)
        return joined
    }

    /// The first bundle. Where it does not come the machine has joined all the same, as it would have
    /// by `fleet join`.
    private func begin(_ exchange: any Conversation) async throws(Interruption) {
        do throws(Interruption) {
            _ = try await fleet.fetch(exchange.caller)
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
                return try await find(typed ?? [], exchange)
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
        _ typed: [UInt8], _ exchange: any Conversation
    ) async throws(Interruption) -> Found {
        let worker = FetchWorker(path: fetchSocket, seconds: seconds)
        defer { worker.end() }
        let (link, domain): (JoinLink, JoinHost?)
        switch try refusing({ () throws(Refusal) in try Self.invitation(typed) }) {
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
        of domain: JoinHost, _ worker: FetchWorker
    ) async throws(Refusal) -> JoinLink {
        let text = try await content(worker, Invitation.url(of: domain), domain)
        guard let link = try? Invitation.link(in: text) else {
            throw .invitation(.noInvitation(host: domain.text))
        }
        return link
    }

    private func file(of link: JoinLink, _ worker: FetchWorker) async throws(Refusal) -> Found {
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
        _ worker: FetchWorker, _ url: String, _ host: JoinHost
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
