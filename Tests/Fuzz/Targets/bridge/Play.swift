@testable import AppVault
@testable import Posix
@testable import SecretService

/// Plays what the bytes say, and follows what comes of it.
@LoopActor
final class Play {
    private var spoken: Spoken
    private let desk: Desk
    private let bus: PlayedBus
    private var seen = Seen()
    private var clients: [String] = []
    private var count = 0
    private var last: PlayedBus.Call?
    private var isShut = false
    private var sent = 0

    /// One of them is another user's.
    private static let stranger = 3
    /// Asks whether the bridge has come so far.
    private static let pinger = ":1.1"
    /// An input is to be over soon.
    private static let mostCalls = 2_000
    private static let peer = "org.freedesktop.DBus.Peer"

    init(_ bytes: [UInt8], _ desk: Desk, _ bus: PlayedBus) {
        spoken = Spoken(bytes[...])
        self.desk = desk
        self.bus = bus
        for place in 0...Self.stranger { clients.append(newName(place)) }
        bus.users[Self.pinger] = ThisProcess.uid
        bus.portal = clients[0]
    }

    private func newName(_ place: Int) -> String {
        count += 1
        let name = ":2.\(count)"
        bus.users[name] = ThisProcess.uid + (place == Self.stranger ? 1 : 0)
        return name
    }

    func run() async {
        must(await bus.take { $0.isOwned }, "the bridge does not take its name")
        while !desk.hasBegun { await PlayedBus.onePass() }
        while !spoken.isOver, sent < Self.mostCalls { await step() }
        // Whatever waits is let go on, and everything has to come to its end.
        await settle()
        desk.keeper.open()
        desk.person.answer(.refused)
        isShut = false
        await settle()
        desk.keeper.inner.isAway = false
        desk.keeper.inner.isOpen = true
        // Some prompts ask by themselves as soon as it is open.
        for _ in 0..<1_000 where !desk.isIdle {
            desk.person.answer(.opened)
            await PlayedBus.onePass()
        }
        must(desk.isIdle, "a prompt waits for an open store")
        await settle()
        for prompt in seen.begun where !seen.left.contains(seen.prompts[prompt] ?? "") {
            must(seen.completed.contains(prompt), "a prompt that never ends")
        }
        desk.check(seen)
        await desk.checkSecrets()
        desk.end()
        bus.close()
    }

    private func step() async {
        let what = spoken.byte()
        let place = what >> 4 & 3
        switch what & 15 {
        case 0...6: await send(spoken.typedCall(from: clients[place]))
        case 7, 8: await send(spoken.rawCall(from: clients[place]))
        case 9:
            await settle()
            await leave(place)
        case 10:
            await settle()
            let answer: Asked = [.opened, .refused, .unavailable("nobody")][place % 3]
            if answer == .opened, spoken.byte() % 4 != 0 { desk.keeper.inner.isOpen = true }
            desk.person.answer(answer)
        case 11:
            await settle()
            switch place {
            case 0: desk.keeper.inner.isOpen = true
            case 1: desk.keeper.inner.isOpen = false
            case 2: desk.keeper.inner.isAway = true
            default: desk.keeper.inner.isAway = false
            }
        case 12:
            await settle()
            if place < 2 { isShut = place == 0 }
            switch place {
            case 0: desk.keeper.isShut = true
            case 1: desk.keeper.open()
            default: desk.keeper.letIn(spoken.byte() % 4)
            }
        case 13:
            // Large ones take long, and one of them shows as much.
            guard let last, !seen.left.contains(last.sender), last.body.count < 1 << 16 else {
                return
            }
            for _ in 0..<spoken.byte() % 80 { await send(last) }
        // Without a wait, so that it comes between calls that are under way.
        case 14: await leave(place)
        default: await settle()
        }
    }

    private func send(_ call: PlayedBus.Call) async {
        guard sent < Self.mostCalls else { return }
        sent += 1
        last = call
        _ = await bus.send(call)
    }

    private func leave(_ place: Int) async {
        let name = clients[place]
        hear()
        await bus.leaves(name)
        seen.left.insert(name)
        seen.sessions = seen.sessions.filter { $0.value != name }
        clients[place] = newName(place)
    }

    /// Until everything that can be answered is, and what follows from it has happened.
    private func settle() async {
        let ping = PlayedBus.Call(
            sender: Self.pinger, path: "/", interface: Self.peer, member: "Ping", signature: "",
            body: [])
        let isShut = isShut
        for _ in 0..<2 {
            let number = await bus.send(ping)
            let isThere = await bus.take { bus in
                isShut ? bus.waiting[number] == nil : bus.waiting.isEmpty
            }
            must(isThere, "a call is not answered")
            await PlayedBus.onePass()
        }
        hear()
        if !isShut { desk.check(seen) }
    }

    // MARK: what comes of it

    private func hear() {
        for (message, call) in bus.heard {
            spoken.met(message.body)
            if message.replyTo != nil {
                if let call, message.kind == .reply { succeeded(call, message) }
            } else if message.member == "Completed" {
                completed(message)
            }
        }
        bus.forgetHeard()
    }

    private func succeeded(_ call: PlayedBus.Call, _ answer: BusMessage) {
        let client = call.sender
        guard client != Self.pinger, !seen.left.contains(client) else { return }
        if bus.users[client] != ThisProcess.uid {
            // libsystemd itself answers this.
            must(call.interface == Self.peer, "another user is served")
        }
        if let session = Spoken.session(of: call) {
            must(seen.sessions[session] == client, "a session of another client")
        }
        for session in Spoken.sessions(in: answer) {
            must(seen.sessions[session] == client, "a secret for another client")
        }
        switch call.member {
        case "OpenSession":
            guard let path = Spoken.opened(answer) else { return must(false, "no session") }
            must(seen.sessions.updateValue(client, forKey: path) == nil, "a session twice")
        case "Close" where call.path.hasPrefix(Spoken.root):
            must(seen.sessions.removeValue(forKey: call.path) == client, "another's session")
        case "Prompt", "Dismiss":
            must(seen.prompts[call.path] == client, "a prompt of another client")
            seen.begun.insert(call.path)
        default: break
        }
        if let prompt = Spoken.prompt(in: answer) {
            must(seen.prompts.updateValue(client, forKey: prompt) == nil, "a prompt twice")
        }
    }

    private func completed(_ message: BusMessage) {
        guard let path = message.path, let client = message.destination else {
            return must(false, "the end of a prompt is told to everybody")
        }
        guard !seen.left.contains(client) else { return }
        must(seen.prompts[path] == client, "the end of another client's prompt")
        must(seen.begun.contains(path), "the end of a prompt that nobody has called")
        must(seen.completed.insert(path).inserted, "a second end of a prompt")
    }
}
