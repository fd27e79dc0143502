import Bus
import Posix

/// What a client waits for until the person has been asked.
@LoopActor
final class Prompt {
    /// What comes of it once the store is open; nil where it cannot be done any more.
    typealias Work = @LoopActor () async -> BusValue?
    /// Hears whether it was dismissed.
    typealias Hearer = @LoopActor (Bool) -> Void

    let id = SecretID.random()
    let client: BusClient
    /// What a prompt that was dismissed gives: of the same type as the result.
    let dismissedResult: BusValue
    let work: Work
    /// How many objects it keeps in mind.
    let objects: Int
    /// Is told how it ended, instead of the client.
    let heard: Hearer?
    /// What has to be open for it, each by a dialog of its own unless another one opens it too.
    let needs: [any Keeper]
    /// What is open by then is something, also where the person refuses the rest.
    let isPartial: Bool
    /// The work itself asks the person; this ends its dialog.
    let withdraw: (@LoopActor () -> Void)?

    /// What the person is asked in a dialog that opens nothing.
    struct Question {
        let ask: Work
        let withdraw: @LoopActor () -> Void
    }
    fileprivate(set) var state = State.made

    enum State {
        /// The client has not called it yet.
        case made
        case waits
        case completes
        case over
    }

    fileprivate init(
        _ client: BusClient, _ dismissedResult: BusValue, objects: Int, _ heard: Hearer?,
        _ needs: [any Keeper], _ isPartial: Bool, _ withdraw: (@LoopActor () -> Void)?,
        _ work: @escaping Work
    ) {
        self.objects = objects
        self.heard = heard
        (self.needs, self.isPartial, self.withdraw) = (needs, isPartial, withdraw)
        self.client = client
        self.dismissedResult = dismissedResult
        self.work = work
    }

    fileprivate var isOpen: Bool { needs.allSatisfy(\.isOpen) }
    /// The next one that the person has to be asked for.
    fileprivate var need: (any Keeper)? { needs.first { !$0.isOpen } }

    fileprivate func needs(_ keeper: any Keeper) -> Bool {
        needs.contains { $0 === keeper }
    }
}

/// Asks the person in a dialog.
@LoopActor
protocol Asker: AnyObject {
    /// How it ended; the store's own event says whether it is open.
    func unlock(_ store: String) async -> PromptEnd
    /// Whether the store goes, with everything in it. The dialog says what that is.
    func erase(_ store: String) async -> PromptEnd
    /// Whether a new collection gets a passcode of its own, and so is a store with that id.
    func make(_ store: String, id: SecretID) async -> CollectionEnd
    /// Nobody waits for the answer any more.
    func withdraw(_ store: String)
}

enum CollectionEnd: Equatable, Sendable {
    case store
    /// The person wants no passcode for it, or none can be had: it lives among the others.
    case among
    case refused
}

enum PromptEnd: Equatable, Sendable {
    /// What was asked for is done.
    case opened
    case refused
    /// Nobody can be asked here.
    case unavailable(String)
}

/// The prompts of all clients. There is one dialog for all that wait for the same store, and none
/// while the person is not in front of the machine: whoever comes back opens the store at the
/// screen's lock.
@LoopActor
final class Prompts {
    /// Of one client; one that it never called makes room for another.
    static let mostOfClient = 64
    /// Of all prompts of one client together: as many as one call may name.
    static let mostObjects = 16_384

    private let keeper: any Keeper
    private let asker: any Asker
    private let completed: @LoopActor (Prompt, Bool, BusValue) -> Void
    private var all: [SecretID: Prompt] = [:]
    /// In the order in which they were made.
    private var order: [SecretID] = []
    private var asking: (any Keeper)?
    private var askedFor: String?
    private var isAsking = false
    /// Nobody waited for the dialog any more. Whoever came later gets another one.
    private var isWithdrawn = false
    private var change: First<Bool>?
    /// Milliseconds for the daemon's event after the dialog has opened the store.
    private static let patience: UInt64 = 20_000
    /// Whoever has come back has mostly opened the store at the locker, and the daemon is at it.
    private static let comingBack: UInt64 = 1_000

    init(
        _ keeper: any Keeper, _ asker: any Asker,
        completed: @escaping @LoopActor (Prompt, Bool, BusValue) -> Void
    ) {
        (self.keeper, self.asker, self.completed) = (keeper, asker, completed)
    }

    var ids: [SecretID] { order }

    func make(
        for client: BusClient, dismissedResult: BusValue, needs: [any Keeper] = [],
        question: Prompt.Question
    ) throws(BusRefusal) -> Prompt {
        try make(
            for: client, dismissedResult: dismissedResult, needs: needs,
            withdraw: question.withdraw, question.ask)
    }

    func make(
        for client: BusClient, dismissedResult: BusValue, objects: Int = 1, needs: [any Keeper],
        isPartial: Bool = false, heard: Prompt.Hearer? = nil,
        withdraw: (@LoopActor () -> Void)? = nil, _ work: @escaping Prompt.Work
    ) throws(BusRefusal) -> Prompt {
        // While the call waited for the daemon. Nobody would ever take the prompt away.
        guard !client.hasLeft else { throw .failed("the program has left the bus") }
        var own = order.compactMap { all[$0] }.filter { $0.client === client }
        while own.count >= Self.mostOfClient
            || own.reduce(objects, { $0 + $1.objects }) > Self.mostObjects
        {
            guard let old = own.firstIndex(where: { $0.state == .made }) else {
                throw .limitsExceeded("too many prompts; answer some first")
            }
            forget(own.remove(at: old))
        }
        let prompt = Prompt(
            client, dismissedResult, objects: objects, heard, needs, isPartial, withdraw, work)
        all[prompt.id] = prompt
        order.append(prompt.id)
        return prompt
    }

    /// Another client's prompt is none.
    func prompt(_ id: SecretID, of client: BusClient) -> Prompt? {
        guard let prompt = all[id], prompt.client === client else { return nil }
        return prompt
    }

    func has(_ client: BusClient) -> Bool { all.values.contains { $0.client === client } }

    /// The client wants the person to be asked. A second call changes nothing.
    func begin(_ prompt: Prompt) {
        guard prompt.state == .made else { return }
        prompt.state = .waits
        // The answer of the call goes first.
        EventLoop.shared.task { self.look() }
    }

    func dismiss(_ prompt: Prompt) {
        switch prompt.state {
        case .made, .waits:
            // It makes no room for another one any more.
            prompt.state = .waits
            EventLoop.shared.task { self.end(prompt, dismissed: true, prompt.dismissedResult) }
        // The person has answered, or is being asked by the work.
        case .completes: prompt.withdraw?()
        case .over: break
        }
    }

    func left(_ client: BusClient) {
        for prompt in all.values where prompt.client === client {
            if prompt.state == .completes { prompt.withdraw?() }
            forget(prompt)
        }
        withdrawIfIdle()
    }

    /// The store was opened or locked, or the person left or came back.
    func look() {
        change?.settle(true)
        change = nil
        for prompt in waiting where prompt.isOpen && (prompt.withdraw == nil || !keeper.isAway) {
            complete(prompt)
        }
        withdrawIfIdle()
        if waiting.contains(where: { $0.need != nil }), !isAsking {
            isAsking = true
            EventLoop.shared.task { await self.ask() }
        }
    }

    private var waiting: [Prompt] {
        order.compactMap { all[$0] }.filter { $0.state == .waits }
    }

    private func complete(_ prompt: Prompt) {
        prompt.state = .completes
        EventLoop.shared.task {
            let result = await prompt.work()
            self.end(prompt, dismissed: result == nil, result ?? prompt.dismissedResult)
        }
    }

    /// Exactly once for each prompt.
    private func end(_ prompt: Prompt, dismissed: Bool, _ result: BusValue) {
        guard prompt.state != .over else { return }
        forget(prompt)
        if prompt.heard == nil { completed(prompt, dismissed, result) }
        withdrawIfIdle()
    }

    private func forget(_ prompt: Prompt) {
        let isDismissed = prompt.state != .completes
        prompt.state = .over
        // Whoever waits for it hears of each end, also of the client's.
        prompt.heard?(isDismissed)
        all[prompt.id] = nil
        order.removeAll { $0 == prompt.id }
    }

    private func withdrawIfIdle() {
        guard let asking, let askedFor, !isWithdrawn,
            asking.isOpen || !waiting.contains(where: { $0.needs(asking) })
        else { return }
        isWithdrawn = true
        asker.withdraw(askedFor)
    }

    /// In the order in which programs have called, and what opens by itself after the others.
    private var nextNeed: (any Keeper)? {
        let now = Clock.bootMilliseconds()
        return waiting.compactMap(\.need).min { max($0.comesBy, now) < max($1.comesBy, now) }
    }

    /// As long as somebody waits.
    private func ask() async {
        defer { isAsking = false }
        while let keeper = nextNeed {
            guard keeper.exists else {
                Complaint.say(
                    "there is no store `default` to keep secrets with; `appvault create` makes one")
                refuse(keeper)
                continue
            }
            if keeper.isAway {
                await untilChanged()
                if !keeper.isAway { await opens(keeper, within: Self.comingBack) }
                continue
            }
            if keeper.comesBy > Clock.bootMilliseconds() {
                await untilChanged(until: keeper.comesBy)
                continue
            }
            let store = keeper.opener
            (asking, askedFor) = (keeper, store)
            isWithdrawn = false
            let asked = await asker.unlock(store)
            (asking, askedFor) = (nil, nil)
            switch asked {
            case .opened:
                keeper.hasBeenOpened()
                await opens(keeper, within: Self.patience)
                if !keeper.isOpen { refuse(keeper) }
            case .refused where isWithdrawn: break
            case .refused:
                // The person has gone meanwhile, or the locker has opened it.
                if !keeper.isAway, !keeper.isOpen { refuse(keeper) }
            case .unavailable(let reason):
                Complaint.say("the person cannot be asked: \(reason)")
                if !keeper.isOpen { refuse(keeper) }
            }
        }
    }

    /// All who wait for it have waited for nothing, but for what is open by now.
    private func refuse(_ keeper: any Keeper) {
        for prompt in waiting where prompt.needs(keeper) {
            if prompt.isPartial, prompt.needs.contains(where: \.isOpen) {
                complete(prompt)
            } else {
                end(prompt, dismissed: true, prompt.dismissedResult)
            }
        }
    }

    private func untilChanged(until deadline: UInt64? = nil) async {
        let change = self.change ?? First<Bool>()
        self.change = change
        let timer = deadline.map { moment in
            EventLoop.shared.at(moment) { EventLoop.shared.task { change.settle(false) } }
        }
        _ = await change.value()
        if let timer { EventLoop.shared.cancel(timer) }
        if self.change === change { self.change = nil }
    }

    private func opens(_ keeper: any Keeper, within milliseconds: UInt64) async {
        let deadline = Clock.bootMilliseconds() + milliseconds
        while !keeper.isOpen, Clock.bootMilliseconds() < deadline {
            await untilChanged(until: deadline)
        }
    }
}
