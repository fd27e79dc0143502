internal import CBus
import Posix

/// Who calls the trees of ours, and how much of it waits.
struct TreeClients {
    var all: [String: BusClient] = [:]
    var weight = 0
    /// One more makes the bus forget those for whom nothing is kept.
    static let most = 4_096
    /// Of one program, in any case.
    static let least = 16
}

extension Bus {
    /// Callers of this user find the tree's objects from now on; all others are refused.
    public func serve(_ tree: any BusTree, at path: String) {
        trees[path] = tree
    }

    func tree(over path: String) -> (any BusTree)? {
        for (root, tree) in trees where path == root || path.hasPrefix(root + "/") { return tree }
        return nil
    }

    // MARK: whose turn it is

    func called(_ message: BusMessage, of tree: any BusTree) {
        let name = message.sender
        message.arrived = Clock.bootMilliseconds()
        // Also one that is refused before its secret is read.
        if message.signature.contains("ay") { message.markSensitive() }
        guard let client = clients.all[name] ?? meet(name) else {
            return answer(message, .refused(.tooMany))
        }
        if client.isBusy || !client.waiting.isEmpty {
            let weight = message.weigh() + message.path.utf8.count + BusClient.weightOfCall
            guard client.waiting.count < BusClient.mostCalls,
                client.weight + weight <= BusClient.mostWeight,
                FairShare.hasRoom(
                    for: weight, own: client.weight, all: clients.weight,
                    most: BusClient.mostWeightOfAll, least: BusClient.leastWeight)
            else { return answer(message, .refused(.tooMany)) }
            client.weight += weight
            clients.weight += weight
        }
        client.waiting.append(message)
        guard !client.isBusy else { return }
        client.isBusy = true
        EventLoop.shared.task { await self.serve(client) }
    }

    private func serve(_ client: BusClient) async {
        if !client.isKnown {
            await learn(client)
            if client.isKnown, !hasPlace(client) { return refuseAll(client) }
        }
        var served = 0
        while !client.waiting.isEmpty {
            let turn = client.waiting
            client.waiting = []
            let weight = client.weight
            client.weight = 0
            for message in turn {
                // Nobody reads the answers.
                if client.hasLeft { break }
                guard let tree = tree(over: message.path) else { continue }
                if tree.takesLong(message.member) {
                    answerLater(message, client, tree)
                } else {
                    answer(message, await result(of: message, client, tree))
                }
                served += 1
                if served % Self.callsOfTurn == 0 { await giveWay() }
            }
            clients.weight -= weight
        }
        client.isBusy = false
        if client.hasLeft { forget(client) }
    }

    /// Of one client, in one go.
    private static let callsOfTurn = 16

    /// Others have their turn, and nothing is answered as long as the bus has no room for what is.
    private func giveWay() async {
        await Task.yield()
        while isFull { await EventLoop.sleep(until: Clock.bootMilliseconds() + 1) }
    }

    private func answerLater(_ message: BusMessage, _ client: BusClient, _ tree: any BusTree) {
        guard client.longCalls < BusClient.mostLongCalls else {
            return answer(message, .refused(.tooMany))
        }
        client.longCalls += 1
        EventLoop.shared.task {
            self.answer(message, await self.result(of: message, client, tree))
            client.longCalls -= 1
        }
    }

    /// A program with many connections must leave some for others.
    private func hasPlace(_ client: BusClient) -> Bool {
        for isSecondLook in [false, true] {
            let own = clients.all.values.count { $0 !== client && $0.program == client.program }
            let isFree = FairShare.hasRoom(
                own: own, all: clients.all.count - 1, most: TreeClients.most,
                least: TreeClients.least)
            if isFree || isSecondLook { return isFree }
            forgetIdle { $0.program == client.program }
        }
        return false
    }

    private func refuseAll(_ client: BusClient) {
        clients.weight -= client.weight
        client.weight = 0
        for message in client.waiting { answer(message, .refused(.tooMany)) }
        client.waiting = []
        client.isBusy = false
        forget(client)
    }

    private func forgetIdle(where isMeant: (BusClient) -> Bool) {
        let idle = clients.all.values.filter {
            !$0.isKept && !$0.isBusy && $0.waiting.isEmpty && $0.longCalls == 0 && isMeant($0)
        }
        for each in idle {
            for tree in trees.values { tree.left(each) }
            forget(each)
        }
    }

    private func meet(_ name: String) -> BusClient? {
        if clients.all.count >= TreeClients.most {
            forgetIdle { _ in true }
            guard clients.all.count < TreeClients.most else { return nil }
        }
        let client = BusClient(name: name)
        clients.all[name] = client
        return client
    }

    /// The bus is told to say when it leaves, and then asked who it is: where it has left before,
    /// the answer says so.
    private func learn(_ client: BusClient) async {
        let deadline = Clock.bootMilliseconds() + patienceForCaller
        let followed = FollowedName()
        followed.owner = client.name
        followed.changed.append { [weak self, unowned client] owner in
            if owner == nil { self?.hasLeft(client) }
        }
        names[client.name] = followed
        start(
            Self.driver, "/org/freedesktop/DBus", Self.driver, "AddMatch",
            [.string(Self.rule("NameOwnerChanged", Self.ownerRule(client.name)))], until: deadline
        ) { _ in }
        do throws(BusError) {
            let answer = try await ask(
                "GetConnectionCredentials", [.string(client.name)], until: deadline)
            let facts = try answer.dictionary()
            if case .uint32(let uid)? = facts["UnixUserID"] { client.uid = uid }
            if case .uint32(let pid)? = facts["ProcessID"] { client.pid = pid }
            client.isKnown = true
        } catch {
            // Mostly one that has left meanwhile. Otherwise the next call asks once more.
            if error.isNobody { hasLeft(client) }
        }
    }

    private func hasLeft(_ client: BusClient) {
        guard !client.hasLeft else { return }
        client.hasLeft = true
        clients.weight -= client.isBusy ? 0 : client.weight
        for tree in trees.values { tree.left(client) }
        if !client.isBusy { forget(client) }
    }

    private func forget(_ client: BusClient) {
        guard clients.all[client.name] === client else { return }
        clients.all[client.name] = nil
        leave(client.name)
    }

    // MARK: what is called

    private func result(
        of message: BusMessage, _ client: BusClient, _ tree: any BusTree
    ) async -> BusAnswer {
        guard client.isKnown else { return .refused(.failed("the bus has not said who calls")) }
        guard client.uid == ThisProcess.uid else {
            return .refused(.accessDenied("only for the user of this session"))
        }
        let call = BusTreeCall(message: message, client: client)
        do throws(BusRefusal) {
            return .values(try await values(call, tree))
        } catch {
            return .refused(error)
        }
    }

    private func values(
        _ call: BusTreeCall, _ tree: any BusTree
    ) async throws(BusRefusal) -> [BusValue] {
        let (path, wanted, member) = (call.path, call.message.interface, call.message.member)
        guard let own = await tree.interfaces(for: call) else { throw unknownObject }
        for interface in own + BusInterface.standard
        where wanted.isEmpty || wanted == interface.name {
            guard let method = interface.methods.first(where: { $0.name == member }) else {
                continue
            }
            guard call.message.signature == method.signature else {
                throw .invalidArguments("it takes the signature '\(method.signature)'")
            }
            switch interface.name {
            case BusInterface.introspectableName:
                return [.string(introspection(own, below: tree.children(of: path)))]
            case BusInterface.propertiesName:
                return try await properties(member, own, call, tree)
            // libsystemd answers those that name this interface, and not those that leave it out.
            case BusInterface.peerName:
                guard member == "Ping" else { throw .unknownMethod }
                return []
            default: return try await tree.call(member, of: interface.name, call)
            }
        }
        let isThere = (own + BusInterface.standard).contains { $0.name == wanted }
        throw isThere || wanted.isEmpty ? .unknownMethod : .unknownInterface
    }

    private func properties(
        _ member: String, _ own: [BusInterface], _ call: BusTreeCall, _ tree: any BusTree
    ) async throws(BusRefusal) -> [BusValue] {
        let name: String
        var property = ""
        var value: BusValue?
        do throws(BusError) {
            name = try call.message.string()
            if member != "GetAll" { property = try call.message.string() }
            if member == "Set" { value = try call.message.variant() }
        } catch {
            throw .invalidArguments("the call is not understood")
        }
        let interfaces = own.filter { name.isEmpty || $0.name == name }
        guard !interfaces.isEmpty else {
            // Those that every object has, have no properties.
            guard member == "GetAll", BusInterface.standard.contains(where: { $0.name == name })
            else { throw .unknownInterface }
            return [.dictionary([:])]
        }
        if member == "GetAll" {
            var values: [String: BusValue] = [:]
            for interface in interfaces {
                for each in interface.properties {
                    values[each.name] = try await tree.value(
                        of: each.name, in: interface.name, call)
                }
            }
            return [.dictionary(values)]
        }
        for interface in interfaces {
            guard let found = interface.properties.first(where: { $0.name == property }) else {
                continue
            }
            guard member == "Set" else {
                return [.variant(try await tree.value(of: property, in: interface.name, call))]
            }
            guard found.isWritable else { throw .propertyReadOnly("it cannot be set") }
            guard let value, value.signature == found.type else {
                throw .invalidArguments("it has the type '\(found.type)'")
            }
            try await tree.set(property, in: interface.name, to: value, call)
            return []
        }
        throw .unknownProperty
    }

    private func introspection(_ own: [BusInterface], below children: [String]) -> String {
        let interfaces = own.isEmpty ? [] : own + BusInterface.standard
        return Self.node(interfaces.map { $0.introspection() }.joined(), children)
    }

    // MARK: signals

    /// Tells all who listen, or one client alone.
    public func emit(
        _ member: String, of interface: String, at path: String, _ values: [BusValue],
        to client: String? = nil
    ) throws(BusError) {
        guard !isOver else { throw .gone }
        var made: OpaquePointer?
        // SAFETY: libsystemd copies the texts; the message is ours from then on.
        let result = unsafe sd_bus_message_new_signal(raw, &made, path, interface, member)
        guard result >= 0, let made = unsafe made else { throw BusError(sending: result) }
        let message = unsafe BusMessage(owning: made)
        if let client {
            let result = unsafe sd_bus_message_set_destination(message.raw, client)
            guard result >= 0 else { throw BusError(sending: result) }
        }
        try unsafe BusWriter(message.raw).append(values)
        try send(message)
    }

    /// The standard signal about properties that have other values now.
    public func emitChanged(
        _ properties: [String: BusValue], of interface: String, at path: String,
        to client: String? = nil
    ) throws(BusError) {
        try emit(
            "PropertiesChanged", of: BusInterface.propertiesName, at: path,
            [.string(interface), .dictionary(properties), .strings([])], to: client)
    }
}
