import KeySlots
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Several people may share an account, or one person keeps what does not belong together apart: each
/// has a store with a way in of its own, and one of them is open at a time.
@LoopActor
final class PeopleFlow {
    let desk: Desk
    let stores: StoreFlows
    let owner: OwnerFlows
    let transactions: Transactions
    let scans: FingerScans
    let consenting: Consenting

    init(
        desk: Desk, stores: StoreFlows, owner: OwnerFlows, transactions: Transactions,
        scans: FingerScans, consenting: Consenting
    ) {
        self.desk = desk
        self.stores = stores
        self.owner = owner
        self.transactions = transactions
        self.scans = scans
        self.consenting = consenting
    }

    func run(
        _ request: SwitchStore, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let person = try await desk.person(Subject(), exchange.caller)
        try await consenting.settle(person, exchange)
        try desk.requireNotBarred(person)
        switch request.act {
        case .open:
            let host = try desk.requireStore(
                of: person, Target(subject: Subject(), store: request.store))
            do throws(Interruption) {
                return try await open(host, person, exchange)
            } catch .refused(.switchUser) {
                return try await somebodyElse(person, exchange)
            }
        case .ask:
            guard !listed(of: person, exchange).isEmpty else {
                throw .refused(.doesNotExist(.store))
            }
            if let host = try await byFinger(person, exchange) {
                await lockOthers(than: host, of: person, exchange)
                return .peopleSwitched(store: host.identity.storeName)
            }
            return try await choose(person, exchange)
        case .add: return try await add(request.store, person, exchange)
        case .tell: throw .refused(try await who(person, exchange))
        case .agree: return try await agree(request.store, person, exchange)
        case .disagree:
            let host = try named(request.store, person)
            // No passcode is asked for it: whoever asks over and over fills no journal.
            if host.fingersTellWho {
                try await refusingAsync { () async throws(Refusal) in
                    try await host.letFingersTellWho(false)
                }
                desk.auditChange("a finger no longer says who it is", host, person, exchange)
            }
            return .peopleFingerOff(store: host.identity.storeName)
        case .agreed:
            let host = try desk.requireStore(
                of: person, Target(subject: Subject(), store: request.store))
            return host.fingersTellWho
                ? .peopleFingerOn(store: host.identity.storeName)
                : .peopleFingerOff(store: host.identity.storeName)
        }
    }

    // MARK: which one

    /// What follows another store opens and locks with that one. A number means the same one the next
    /// time: `default` comes first, then they come by their names.
    private func each(of person: Person) -> [StoreHost] {
        desk.vault.stores(of: person.uid).filter {
            $0.identity.kind == .own && $0.owner == person
        }.sorted { one, other in
            let (name, next) = (one.identity.storeName, other.identity.storeName)
            if name == Vault.defaultName || next == Vault.defaultName {
                return name == Vault.defaultName && next != name
            }
            return name.lexicographicallyPrecedes(next)
        }
    }

    /// Where nothing is drawn, nothing can be done with one that does not open.
    private func listed(of person: Person, _ exchange: any Conversation) -> [StoreHost] {
        let all = each(of: person)
        return exchange.drawsScreens ? all : all.filter(\.isUsable)
    }

    /// The list, and what is done with it. At the passcode that comes then it may be somebody else again.
    private func choose(
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        for _ in 1...Self.lists {
            let all = listed(of: person, exchange)
            do throws(Interruption) {
                switch try await choice(of: all, .all, person, exchange) {
                case .open(let host): return try await open(host, person, exchange)
                case .add: return try await add([], person, exchange)
                case .remove(let host): return try await remove(host, person, exchange)
                }
            } catch .refused(.switchUser) {
                continue
            }
        }
        throw .refused(.cancelled)
    }

    private static let lists = 10

    /// What a program hears that asks who it is: nothing is opened.
    private func who(
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Refusal {
        switch try await choice(of: listed(of: person, exchange), .choosing, person, exchange) {
        case .open(let host), .remove(let host): .switchUser(to: host.identity.storeName)
        case .add: .addUser
        }
    }

    private enum Deed {
        case open(StoreHost)
        case add
        case remove(StoreHost)
    }

    private func choice(
        of all: [StoreHost], _ ways: Sheet.PeopleWays, _ person: Person,
        _ exchange: any Conversation
    ) async throws(Interruption) -> Deed {
        var items: [Sheet.Item] = []
        for host in all {
            items.append(
                Sheet.Item(
                    title: host.identity.storeName, subtitle: await standing(of: host, person),
                    isCurrent: host.isOpen))
        }
        let answer = try await exchange.present(.people(items, ways))
        if answer.button == .addPerson { return .add }
        guard let place = answer.item, all.indices.contains(place) else {
            throw .refused(.cancelled)
        }
        return answer.button == .remove ? .remove(all[place]) : .open(all[place])
    }

    private func standing(of host: StoreHost, _ person: Person) async -> Message {
        switch host.health {
        case .damaged: return .peopleDamaged
        case .erased: return .peopleErased
        case .barred: return .peopleBarred
        case .live: break
        }
        if host.isOpen { return .peopleOpen }
        if host.hasPasscode,
            host.isRetryLocked(await desk.policyAnswer(for: person, host).policy.policy)
        {
            return .peopleNoTries
        }
        return host.followsLogin ? .peopleLogin : .peopleLocked
    }

    // MARK: a finger that says who

    private func named(_ name: [UInt8], _ person: Person) throws(Interruption) -> StoreHost {
        let host = try desk.requireStore(
            of: person, Target(subject: Subject(), store: name))
        try refusing { () throws(Refusal) in
            try host.requireUsable()
            guard host.fingerprintIsOn else { throw .fingerprintUnavailable(.notEnrolled) }
        }
        return host
    }

    /// It makes a finger do more than it did, so its passcode is typed first.
    private func agree(
        _ name: [UInt8], _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let host = try named(name, person)
        let opening = try await stores.proving.admit(
            try await desk.visit(host, person, exchange), .change)
        try await refusingAsync { () async throws(Refusal) in
            try await host.letFingersTellWho(true, opening.ground)
            guard host.fingersTellWho else { throw .fingerprintUnavailable(.notEnrolled) }
        }
        desk.auditChange("a finger says who it is from now on", host, person, exchange)
        return .peopleFingerOn(store: host.identity.storeName)
    }

    /// Nil: the list comes.
    private func byFinger(
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> StoreHost? {
        guard exchange.caller.hasPerson, !exchange.caller.hello.oneSecret else { return nil }
        var visits: [Visit] = []
        for host in each(of: person) where host.isUsable && host.fingersTellWho {
            visits.append(try await desk.visit(host, person, exchange))
        }
        return try await scans.scanWho(visits) { (visit, opening) throws(Interruption) in
            let host = visit.host
            guard !host.isOpen else { return }
            try await refusingAsync { () async throws(Refusal) in
                try await host.open(opening)
                guard host.isOpen else { throw .locked }
            }
            self.stores.proving.noteOpened(visit)
            await visit.tellLog()
        }?.host
    }

    // MARK: somebody else

    /// A store is opened. Where others share the account, whoever is asked for its passcode may say that
    /// they are somebody else: that is no try, and the list comes.
    func openStore(
        _ target: Target, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let person = try await desk.person(target.subject, exchange.caller)
        let host = try? desk.ownStore(of: person, named: target.store)
        do throws(Interruption) {
            return try await stores.openStore(
                target, exchange, occasion(of: host, person, exchange))
        } catch .refused(.switchUser) {
            return try await somebodyElse(person, exchange)
        }
    }

    /// An application that draws screens of its own has asked for one store: it hears who is there, and
    /// does with that what it wants.
    private func somebodyElse(
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        guard exchange.caller.isTerminal else { throw .refused(try await who(person, exchange)) }
        return try await choose(person, exchange)
    }

    /// Where nothing is drawn there is no third answer, and who asks about another account learns
    /// nothing of its people.
    private func occasion(
        of host: StoreHost?, _ person: Person, _ exchange: any Conversation
    ) -> Sheet.Occasion {
        guard let host, host.identity.kind == .own, exchange.drawsScreens,
            exchange.audience == .person, exchange.caller.credentials.uid == person.uid,
            each(of: person).contains(where: { $0 !== host && $0.isUsable })
        else { return .opening }
        return .openingOneOfSeveral
    }

    // MARK: what is done with it

    private func open(
        _ host: StoreHost, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        guard host.identity.kind == .own || host.isFollower else {
            throw .refused(.invalidArgument(.switchShared))
        }
        // Whoever cannot open it locks nothing.
        _ = try await stores.open(
            try await desk.visit(host, person, exchange), occasion(of: host, person, exchange))
        await lockOthers(than: host, of: person, exchange)
        return .peopleSwitched(store: host.identity.storeName)
    }

    private func lockOthers(
        than host: StoreHost, of person: Person, _ exchange: any Conversation
    ) async {
        for other in each(of: person) where other !== host && other !== host.parent {
            guard other.isOpen else { continue }
            await other.lock()
            transactions.forgetKeys(of: other.id)
            desk.audit.note(
                .lock, "a store was locked: its owner switched to another one",
                store: other.id.description, person: person,
                uid: exchange.caller.credentials.uid)
        }
    }

    /// The new one is made as `create` makes it.
    private func add(
        _ name: [UInt8], _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let name = name.isEmpty ? try await newName(person, exchange) : name
        guard let id = try? StoreID.random() else { throw .refused(.unknown) }
        var request = Create(
            target: Target(subject: Subject(), store: name), way: .ownPasscode,
            openExisting: false)
        request.id = id.bytes
        let made: Message
        do throws(Interruption) {
            // A passcode left empty would make a store that opens for everybody here.
            made = try await stores.create(request, exchange, offersNone: false)
        } catch {
            await leave(id, person)
            throw error
        }
        guard let host = desk.vault.host(id) else { throw .refused(.doesNotExist(.store)) }
        await lockOthers(than: host, of: person, exchange)
        try await exchange.show(made)
        return .peopleSwitched(store: host.identity.storeName)
    }

    /// Somebody went behind their passcode. Whoever was there before still has theirs open.
    private func leave(_ id: StoreID, _ person: Person) async {
        guard let host = desk.vault.host(id), host.isOpen,
            each(of: person).contains(where: { $0 !== host && $0.isOpen })
        else { return }
        await host.lock()
        transactions.forgetKeys(of: id)
    }

    private static let rounds = 3

    private func newName(
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> [UInt8] {
        var wrong: Message?
        for _ in 1...Self.rounds {
            let name = try await exchange.present(.peopleAdd(wrong: wrong)).text
            guard !name.isEmpty else { throw .refused(.cancelled) }
            do throws(Refusal) {
                guard name.count <= Limits.name else { throw .invalidArgument(.storeName) }
                try NamingFlow.requireName(name)
                guard desk.vault.ownStore(of: person, named: name) == nil else {
                    throw .alreadyExists
                }
                return name
            } catch {
                wrong = error == .alreadyExists ? .peopleAddTaken : .peopleAddWrong
            }
        }
        throw .refused(.cancelled)
    }

    /// By the very flow of `reset`, once its name was typed.
    private func remove(
        _ host: StoreHost, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let name = host.identity.storeName
        try await agree(to: host, person, exchange)
        // The store itself: another one may have got its name meanwhile.
        _ = try await owner.reset(try await desk.visit(host, person, exchange))
        return each(of: person).isEmpty
            ? .peopleRemovedLast(store: name) : .peopleRemoved(store: name)
    }

    private func agree(
        to host: StoreHost, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) {
        let name = host.identity.storeName
        var opensShared = false
        if name == Vault.defaultName {
            opensShared = await desk.allShared(with: person).contains { $0.host.isShared }
        }
        let loss = Sheet.Loss(
            followers: host.followers().map(\.identity.storeName), opensShared: opensShared)
        var wrong: Message?
        for _ in 1...Self.rounds {
            let typed = try await exchange.present(.peopleRemove(name, loss, wrong: wrong)).text
            guard !typed.isEmpty else { throw .refused(.cancelled) }
            if typed == name { return }
            wrong = .peopleRemoveWrong
        }
        throw .refused(.cancelled)
    }
}

extension SheetAnswer {
    /// What was typed into the only field, which holds no secret.
    fileprivate var text: [UInt8] {
        guard let typed = values.first?.take() else { return [] }
        var text = typed.withBytes { bytes in
            Array(bytes.indices.map { bytes[$0] }.drop { $0 == 0x20 })
        }
        while text.last == 0x20 { text.removeLast() }
        return text
    }
}
