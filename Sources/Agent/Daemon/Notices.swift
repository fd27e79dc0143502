import Bus
import Client
import Posix
import Wire

/// Shows what the person should know although they did not ask, by org.freedesktop.Notifications.
@LoopActor
final class Notices {
    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let patience: UInt64 = 20_000

    private let bus: Bus
    private let socket: [UInt8]
    private let language: [UInt8]
    private let pool = WorkerPool(name: "notices", threads: 1)
    /// What was said last of each store.
    private var said: [[UInt8]: StoreNotice?] = [:]
    private var looking: Set<[UInt8]> = []
    private var again: Set<[UInt8]> = []
    private var texts: TextList?
    private var lockedAway = LockedAway()
    /// What the notice of these says, and its number at the server.
    private var stillLocked: (names: [[UInt8]], number: UInt32) = ([], 0)
    private var isRenewing = false
    private var isToBeRenewed = false
    /// The notice of each locked application: its number at the server.
    private var shown: [String: UInt32] = [:]
    /// The person wants a locked application back.
    var wantsOpen: (@LoopActor (String) -> Void)?
    /// Where each notice that stands leads, by its number at the server.
    private var errands: [UInt32: WindowErrand] = [:]
    /// The server says this before a button's press, so that the window may come to the front.
    private var token: (number: UInt32, text: String) = (0, "")
    /// How many notices the server has not given a number yet, and what was pressed meanwhile: its
    /// signal may be read before its answer.
    private var numberless = 0
    private var pressedEarly: Set<UInt32> = []
    private let hasWindow: () -> Bool
    /// The person pressed a notice that leads to the window.
    var wantsWindow: (@LoopActor (WindowPress) -> Void)?

    init(
        _ bus: Bus, socket: [UInt8], language: [UInt8], hasWindow: @escaping () -> Bool
    ) {
        (self.bus, self.socket, self.language) = (bus, socket, language)
        self.hasWindow = hasWindow
    }

    func begin() async throws(BusError) {
        let deadline = Clock.bootMilliseconds() + Self.patience
        try await bus.follow(Self.name, until: deadline) { _ in }
        try await bus.hear(
            "ActivationToken", of: Self.name, from: Self.name, until: deadline
        ) { [unowned self] signal in
            guard let number = try? signal.uint32(), let text = try? signal.string() else { return }
            token = text.utf8.count <= Self.longestToken ? (number, text) : (0, "")
        }
        try await bus.hear(
            "NotificationClosed", of: Self.name, from: Self.name, until: deadline
        ) { [unowned self] signal in
            if let number = try? signal.uint32() { errands[number] = nil }
        }
        try await bus.hear(
            "ActionInvoked", of: Self.name, from: Self.name, until: deadline
        ) { [unowned self] signal in
            if let number = try? signal.uint32() { press(number) }
        }
    }

    private func press(_ number: UInt32) {
        if let app = shown.first(where: { $0.value == number })?.key {
            wantsOpen?(app)
        } else if let errand = errands[number] {
            // Where the screen is locked, whoever pressed it may be somebody else.
            guard !lockedAway.isAway else { return }
            errands[number] = nil
            let text = token.number == number ? token.text : ""
            wantsWindow?(WindowPress(number: number, errand: errand, token: text))
        } else if numberless > 0, pressedEarly.count < Self.mostErrands {
            pressedEarly.insert(number)
        }
    }

    /// From here on it is known where this notice leads.
    private func hasNumber(_ number: UInt32) {
        if pressedEarly.remove(number) != nil { press(number) }
    }

    // MARK: stores

    func hear(_ event: Event) {
        lockedAway.hear(event)
        renewStillLocked()
        switch event.what {
        case .locked, .opened, .changed: look(at: event)
        case .fingerAdded:
            EventLoop.shared.task {
                _ = await self.ask(event.name)
                let lines = AgentWords(self.texts).fingerAdded(event.name)
                await self.show(lines.summary, lines.body, errand: .home)
            }
        case .left, .cameBack, .told, .members, .records, .removed: break
        }
    }

    /// One notice for all of them. It goes when the last of them is opened, and when the person
    /// leaves again.
    private func renewStillLocked() {
        isToBeRenewed = true
        guard !isRenewing else { return }
        isRenewing = true
        EventLoop.shared.task {
            while self.isToBeRenewed {
                self.isToBeRenewed = false
                await self.showStillLocked()
            }
            self.isRenewing = false
        }
    }

    private func showStillLocked() async {
        var names: [[UInt8]] = []
        for name in lockedAway.stores.values.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            // Of one that was erased another notice tells.
            if await ask(name)?.lock == .locked { names.append(name) }
        }
        guard names != stillLocked.names, !isToBeRenewed else { return }
        let former = stillLocked.number
        stillLocked.names = names
        guard !names.isEmpty else {
            stillLocked.number = 0
            return await close(former)
        }
        let lines = AgentWords(texts).stillLocked(names)
        stillLocked.number = await show(
            lines.summary, lines.body, errand: names.count == 1 ? .unlock(store: names[0]) : .home,
            insteadOf: former)
    }

    /// `status` says what has changed. One question at a time for each store.
    private func look(at event: Event) {
        guard looking.insert(event.store).inserted else {
            again.insert(event.store)
            return
        }
        EventLoop.shared.task {
            repeat {
                self.again.remove(event.store)
                if let state = await self.ask(event.name) { await self.tell(state, event) }
            } while self.again.contains(event.store)
            self.looking.remove(event.store)
        }
    }

    private func ask(_ store: [UInt8]) async -> State? {
        let (socket, language) = (socket, language)
        let needsTexts = texts == nil
        let answer: (State, TextList?)? = await pool.run {
            var hello = Hello(frontEnd: .program, realUID: ToolIO.realUID)
            hello.service = Array("appvault".utf8)
            hello.language = language
            guard let connection = try? Connection(path: socket, hello: hello),
                let state = try? connection.status(Target(store: store))
            else { return nil }
            return (state, needsTexts ? try? connection.allTexts() : nil)
        }
        if let texts = answer?.1 { self.texts = texts }
        return answer?.0
    }

    private func tell(_ state: State, _ event: Event) async {
        guard let texts else { return }
        let store = event.store
        let notice = StoreNotice.of(state, texts)
        let isFirst = said[store] == nil
        guard said[store] != .some(notice) else { return }
        said[store] = .some(notice)
        guard let notice else { return }
        // What was so before is known to the person; a change that is due waits for them.
        if isFirst {
            switch notice.kind {
            case .due: break
            case .erased, .retryLocked, .barred, .trouble: return
            }
        }
        await show(notice.summary, notice.body, errand: notice.kind.errand(of: event.name))
    }

    // MARK: applications

    /// One notice for each that is locked; it goes when the application goes on.
    func show(locked apps: [String]) {
        for app in apps where shown[app] == nil {
            shown[app] = 0
            EventLoop.shared.task {
                let lines = AgentWords(self.texts).appLocked(app)
                let number = await self.show(
                    lines.summary, lines.body,
                    actions: ["open", String(decoding: lines.open, as: UTF8.self)])
                // It may have gone on meanwhile.
                guard self.shown[app] != nil else { return await self.close(number) }
                self.shown[app] = number
                self.hasNumber(number)
            }
        }
        for (app, number) in shown where !apps.contains(app) {
            shown[app] = nil
            if number != 0 { EventLoop.shared.task { await self.close(number) } }
        }
    }

    // MARK: the server

    @discardableResult
    private func show(
        _ summary: [UInt8], _ body: [UInt8], actions: [String] = [], errand: WindowErrand? = nil,
        insteadOf former: UInt32 = 0
    ) async -> UInt32 {
        let errand = hasWindow() ? errand : nil
        var actions = actions
        if errand != nil {
            // To press the notice itself is the first, to press its button the second.
            let label = String(decoding: AgentWords(texts).window, as: UTF8.self)
            actions = ["default", label, "window", label]
        }
        if numberless == 0 { pressedEarly = [] }
        numberless += 1
        let answer = try? await bus.call(
            Self.name, Self.path, Self.name, "Notify",
            [
                .string("AppVault"), .uint32(former), .string("dialog-password"),
                .string(String(decoding: summary, as: UTF8.self)),
                .string(Self.plain(body)), .strings(actions),
                .dictionary([:]), .int32(-1),
            ], until: Clock.bootMilliseconds() + Self.patience)
        numberless -= 1
        let number = (try? answer?.uint32()) ?? 0
        errands[former] = nil
        if number != 0, let errand, errands.count < Self.mostErrands {
            errands[number] = errand
            hasNumber(number)
        }
        return number
    }

    /// Some servers never say that a notice is gone.
    private static let mostErrands = 100
    private static let longestToken = 256

    private func close(_ number: UInt32) async {
        guard number != 0 else { return }
        errands[number] = nil
        _ = try? await bus.call(
            Self.name, Self.path, Self.name, "CloseNotification", [.uint32(number)],
            until: Clock.bootMilliseconds() + Self.patience)
    }

    /// Some servers take the body for markup.
    private static func plain(_ text: [UInt8]) -> String {
        var plain: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): plain += Array("&amp;".utf8)
            case UInt8(ascii: "<"): plain += Array("&lt;".utf8)
            case UInt8(ascii: ">"): plain += Array("&gt;".utf8)
            default: plain.append(byte)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

/// A notice that leads to the window was pressed.
struct WindowPress {
    /// Of the notice.
    let number: UInt32
    let errand: WindowErrand
    /// For the compositor; empty where the server gave none.
    let token: String
}
