import Fleet
import Policy
import Posix
import Secrets
import Wire
import Words

/// What the state folder keeps of an organisation: what the machine joined with, and each bundle
/// that was taken last, as it came. Blocking: it runs on a worker, except at the start.
struct FleetFolder: Sendable {
    let path: String

    init(stateFolder: String) {
        path = stateFolder + "/fleet"
    }

    enum Fault: Error, Equatable {
        case file(PosixError)
        /// A file that was written whole is not as it was written.
        case damaged(String)
        case secrets(SecretsError)
    }

    private func file(_ kind: Manifest.Kind) -> String { "\(path)/\(kind.rawValue).bundle" }
    private var joinFile: String { path + "/join" }
    private func tagFile(_ kind: Manifest.Kind) -> String { "\(path)/\(kind.rawValue).tag" }
    private var lastFetchFile: String { path + "/fetched" }
    private var contactFile: String { path + "/contact" }

    /// Of what the organisation says here: whether it is the same as the last time.
    func versions() -> [FileVersion?] {
        ([joinFile] + Manifest.Kind.allCases.map(file)).map { try? FileVersion(of: $0) }
    }

    /// Nil where the machine has joined none.
    func join() throws(Fault) -> Join? {
        guard let text = try read(joinFile, limit: Join.mostBytes) else { return nil }
        do throws(PlainSections.Fault) {
            return try Join(text)
        } catch {
            throw .damaged(joinFile)
        }
    }

    func bundle(_ kind: Manifest.Kind) throws(Fault) -> Bundle? {
        guard let bytes = try read(file(kind), limit: Bundle.mostBytes) else { return nil }
        guard let bundle = try? Bundle(bytes) else { throw .damaged(file(kind)) }
        let isAsSigned: Bool
        do throws(SecretsError) {
            isAsSigned = try bundle.isAsSigned()
        } catch {
            throw .secrets(error)
        }
        guard isAsSigned else { throw .damaged(file(kind)) }
        return bundle
    }

    /// Whom the machine believes now. Nobody, where one of the files is damaged: an older one may name
    /// somebody who is not believed any more, and which version was taken last is not known.
    func trust() throws(Fault) -> Trust? {
        guard var trust = try join()?.trust else { return nil }
        for kind in Manifest.Kind.allCases {
            guard let bundle = try bundle(kind) else { continue }
            do throws(SecretsError) {
                try trust.resume(from: bundle, keptAs: kind)
            } catch {
                throw .secrets(error)
            }
        }
        return trust
    }

    /// What is left of a damaged one goes.
    func begin(_ join: Join) throws(Fault) {
        do throws(PosixError) {
            let state = try Folder(
                path: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
            if !state.exists("fleet") { try state.makeFolder("fleet") }
            try state.sync()
            let folder = try Folder(path: path)
            try Self.removeBundles(folder)
            try TextFile.replace(at: joinFile, with: join.render())
            try folder.sync()
        } catch {
            throw .file(error)
        }
    }

    private static func removeBundles(_ folder: borrowing Folder) throws(PosixError) {
        for kind in Manifest.Kind.allCases { try remove(kind, folder) }
        if folder.exists("fetched") { try folder.remove("fetched") }
        if folder.exists("contact") { try folder.remove("contact") }
        try folder.sync()
    }

    private static func remove(
        _ kind: Manifest.Kind, _ folder: borrowing Folder
    ) throws(PosixError) {
        for name in ["\(kind.rawValue).tag", "\(kind.rawValue).bundle"]
        where folder.exists(name) {
            try folder.remove(name)
        }
    }

    /// From here on it is the one that was taken last, also after a power cut. Where others sign orders
    /// from now on, the last ones that came with the policy hold until the first bundle of orders comes.
    func keep(
        _ bytes: [UInt8], _ kind: Manifest.Kind, from present: Trust, to next: Trust
    ) throws(Fault) {
        let former = try read(file(.policy), limit: Bundle.mostBytes)
        do throws(PosixError) {
            let folder = try Folder(path: path)
            switch (present.ordersKind, next.ordersKind) {
            case (.policy, .orders):
                if let former { try TextFile.replace(at: file(.orders), with: former) }
            // Nobody reads it while orders come with the policy.
            case (.policy, .policy): try Self.remove(.orders, folder)
            case (.orders, .orders), (.orders, .policy): break
            }
            try TextFile.replace(at: file(kind), with: bytes)
            try folder.sync()
        } catch {
            throw .file(error)
        }
    }

    // MARK: what was fetched

    /// What the server calls the bundle that is here. A bundle that is not whole has none, so that the
    /// server sends it again.
    func tag(of kind: Manifest.Kind) -> [UInt8]? {
        guard let tag = try? TextFile.read(at: tagFile(kind), limit: FetchLink.tag), !tag.isEmpty,
            let bundle = try? bundle(kind), bundle.manifest.bundle.kind == kind
        else { return nil }
        return tag
    }

    func keep(tag: [UInt8], of kind: Manifest.Kind) throws(Fault) {
        do throws(PosixError) {
            if let present = try? TextFile.read(at: tagFile(kind), limit: FetchLink.tag),
                present == tag
            {
                return
            }
            try TextFile.replace(at: tagFile(kind), with: tag)
        } catch {
            throw .file(error)
        }
    }

    func lastFetch() -> LastFetch? {
        guard let text = try? TextFile.read(at: lastFetchFile, limit: LastFetch.mostBytes) else {
            return nil
        }
        return LastFetch(text)
    }

    /// Nothing depends on it.
    func keep(_ last: LastFetch) {
        try? TextFile.replace(at: lastFetchFile, with: last.render(), outlasts: .processes)
    }

    /// The bundles go before what they are believed by, so that a machine that is cut off in the
    /// middle has joined still, and can leave again.
    func leave() throws(Fault) {
        do throws(PosixError) {
            let folder = try Folder(path: path)
            try Self.removeBundles(folder)
            for name in agreementNames() { try folder.remove(name) }
            try folder.remove("join")
            try folder.sync()
        } catch {
            throw .file(error)
        }
    }

    /// The policy that is laid between the packaged file and the machine's own.
    func policy() throws(PolicyProblem) -> OrganisationFile? {
        do throws(Fault) {
            guard try join() != nil, let bundle = try bundle(.policy) else { return nil }
            return Self.policy(bundle)
        } catch {
            throw PolicyProblem(
                file: file(.policy), line: 0, key: "", wrong: error.description,
                right: Fault.mending)
        }
    }

    /// What the organisation wants of the stores here; nil where it has said nothing yet.
    func orders() throws(Fault) -> OrganisationOrders? {
        guard let join = try join() else { return nil }
        let policy = try bundle(.policy)
        var charter = join.charter
        if case .policy(let newer) = policy?.manifest.bundle { charter = newer }
        let ordering = charter.ordersSigners == nil ? policy : try bundle(.orders)
        guard policy != nil || ordering != nil else { return nil }
        do throws(SecretsError) {
            return try OrganisationOrders(
                of: join, policy: policy?.manifest, orders: ordering,
                consents: (try? policy?.consents()) ?? .none,
                signIn: (try? policy?.signIn()) ?? nil)
        } catch {
            throw .secrets(error)
        }
    }

    /// Since when the machine has heard nothing; nil where that was never noted, or nobody can read
    /// it any more.
    func contact(at now: Moment) -> OfflineDays? {
        guard let text = try? read(contactFile, limit: 1024) else { return nil }
        return try? OfflineDays(text, at: now)
    }

    func keep(_ days: OfflineDays) throws(Fault) {
        do throws(PosixError) {
            guard try Folder(path: path).exists("join") else { return }
            try TextFile.replace(at: contactFile, with: days.render())
        } catch {
            throw .file(error)
        }
    }

    // MARK: what people have agreed to

    private static let agreementBegin = "agreed."

    private func agreementNames() -> [String] {
        ((try? TextFile.names(in: path)) ?? []).filter { $0.hasPrefix(Self.agreementBegin) }
    }

    /// Of each person, by their uid. One that cannot be read says nothing: they are asked again.
    func agreements() -> [UInt32: Agreements] {
        var found: [UInt32: Agreements] = [:]
        for name in agreementNames() {
            guard let uid = UInt32(name.dropFirst(Self.agreementBegin.count)),
                let text = try? read("\(path)/\(name)", limit: Agreements.mostBytes)
            else { continue }
            found[uid] = Agreements(text)
        }
        return found
    }

    func keep(_ agreements: Agreements, of uid: UInt32) throws(Fault) {
        do throws(PosixError) {
            try TextFile.replace(
                at: "\(path)/\(Self.agreementBegin)\(uid)", with: agreements.render())
        } catch {
            throw .file(error)
        }
    }

    static func policy(_ bundle: Bundle) -> OrganisationFile? {
        guard case .policy(let charter) = bundle.manifest.bundle,
            let text = bundle.parts[.policy]
        else { return nil }
        let name = "\(bundle.manifest.organisation), version \(bundle.manifest.version)"
        return OrganisationFile(
            file: PolicyFile(name: name, text: text), isFinal: charter.isFinal)
    }

    private func read(_ path: String, limit: Int) throws(Fault) -> [UInt8]? {
        do throws(PosixError) {
            return try TextFile.read(at: path, limit: limit)
        } catch {
            if error.isMissing { return nil }
            throw error.isTooLarge ? .damaged(path) : .file(error)
        }
    }
}

extension FleetFolder.Fault {
    static let mending = "`appvault fleet join` and then `appvault fleet import` bring it anew"

    var whatToDo: String {
        switch self {
        case .damaged: "\(description): \(Self.mending)"
        case .file, .secrets: description
        }
    }

    var refusal: Refusal {
        switch self {
        case .damaged(let file): .bundle(.kept(file))
        case .file, .secrets: .storageFailed(.organisation, .system(description))
        }
    }

    var description: String {
        switch self {
        case .file(let error): error.description
        case .damaged(let file): "\(file) is damaged"
        case .secrets(let error): "\(error)"
        }
    }
}
