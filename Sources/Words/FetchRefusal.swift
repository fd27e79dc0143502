import Wire

extension Refusal {
    /// Why nothing was fetched, or no report was handed in; `host` is the server.
    package enum FetchReason: Equatable, Sendable {
        /// The organisation names no place.
        case nowhere
        // The way to the server.
        case noName(host: String)
        case noWay(host: String)
        case refused(host: String)
        case proxy(host: String)
        case tooSlow(host: String)
        case cut(host: String)
        case failed(host: String)
        // Whether it is the server.
        case untrusted(host: String)
        case notValidNow(host: String)
        case otherName(host: String)
        case noTLS(host: String)
        case ownFiles(host: String)
        // What it says.
        case status(host: String, Int)
        case redirected(host: String)
        case tooLarge(host: String)
        case noBundle(host: String)
        // Of an invitation.
        case noInvitation(host: String)
        case elsewhere(host: String)
        // The worker.
        case noWorker
        case workerEnded
        case workerLied

        package init?(_ outcome: FetchAnswer.Outcome, host: String) {
            switch outcome {
            case .answered: return nil
            case .noName: self = .noName(host: host)
            case .noWay: self = .noWay(host: host)
            case .refused: self = .refused(host: host)
            case .untrusted: self = .untrusted(host: host)
            case .notValidNow: self = .notValidNow(host: host)
            case .otherName: self = .otherName(host: host)
            case .noTLS: self = .noTLS(host: host)
            case .ownFiles: self = .ownFiles(host: host)
            case .proxy: self = .proxy(host: host)
            case .redirected: self = .redirected(host: host)
            case .tooLarge: self = .tooLarge(host: host)
            case .tooSlow: self = .tooSlow(host: host)
            case .cut: self = .cut(host: host)
            case .failed: self = .failed(host: host)
            }
        }
    }
}

extension Refusal.FetchReason {
    var phrase: Phrase {
        switch self {
        case .nowhere: Phrase(.fetchNowhere)
        case .noName(let host): Phrase(.fetchNoName, .text(host))
        case .noWay(let host): Phrase(.fetchNoWay, .text(host))
        case .refused(let host): Phrase(.fetchRefused, .text(host))
        case .proxy(let host): Phrase(.fetchProxy, .text(host))
        case .tooSlow(let host): Phrase(.fetchTooSlow, .text(host))
        case .cut(let host): Phrase(.fetchCut, .text(host))
        case .failed(let host): Phrase(.fetchBroken, .text(host))
        case .untrusted(let host): Phrase(.fetchUntrusted, .text(host))
        case .notValidNow(let host): Phrase(.fetchNotValidNow, .text(host))
        case .otherName(let host): Phrase(.fetchOtherName, .text(host))
        case .noTLS(let host): Phrase(.fetchNoTLS, .text(host))
        case .ownFiles(let host): Phrase(.fetchOwnFiles, .text(host))
        case .status(let host, let status): Phrase(.fetchStatus, .text(host), .count(status))
        case .redirected(let host): Phrase(.fetchRedirected, .text(host))
        case .tooLarge(let host): Phrase(.fetchTooLarge, .text(host))
        case .noBundle(let host): Phrase(.fetchNoBundle, .text(host))
        case .noInvitation(let host): Phrase(.fetchNoInvitation, .text(host))
        case .elsewhere(let host): Phrase(.fetchElsewhere, .text(host))
        case .noWorker: Phrase(.fetchNoWorker)
        case .workerEnded: Phrase(.fetchWorkerEnded)
        case .workerLied: Phrase(.fetchWorkerLied)
        }
    }

    var hint: Phrase {
        switch self {
        case .nowhere: Phrase(.hintFetchNowhere)
        case .noName, .noWay, .refused, .tooSlow, .cut, .failed: Phrase(.hintFetchAgain)
        case .proxy: Phrase(.hintFetchProxy)
        case .untrusted, .otherName, .noTLS: Phrase(.hintFetchTrust)
        case .notValidNow: Phrase(.hintFetchClock)
        case .ownFiles: Phrase(.hintFetchOwnFiles)
        case .status, .tooLarge: Phrase(.hintFetchServer)
        case .redirected, .noBundle, .noInvitation, .elsewhere: Phrase(.hintFetchPortal)
        case .noWorker, .workerEnded, .workerLied: Phrase(.hintFetchWorker)
        }
    }

    /// Where nothing was joined, and nothing is tried again.
    var hintToJoin: Phrase {
        switch self {
        case .noName, .noWay, .refused, .tooSlow, .cut, .failed: Phrase(.hintJoinAgain)
        case .status, .tooLarge, .noInvitation, .elsewhere, .redirected: Phrase(.hintJoinServer)
        case .nowhere, .proxy, .untrusted, .otherName, .noTLS, .notValidNow, .ownFiles, .noBundle,
            .noWorker, .workerEnded, .workerLied:
            hint
        }
    }
}
