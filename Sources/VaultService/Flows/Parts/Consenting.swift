import Fleet
import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// Asks people what their organisation wants them to agree to, where they can read it, and then who they
/// are. A login never waits for it: whoever has not been asked is asked at the next screen that they see.
@LoopActor
final class Consenting {
    let desk: Desk
    let proving: Proving
    private let signingIn: SigningIn
    /// Shuts and lets open what the answers want.
    var obey: () async -> Void = {}

    init(desk: Desk, proving: Proving, signingIn: SigningIn) {
        (self.desk, self.proving, self.signingIn) = (desk, proving, signingIn)
    }

    /// Before a store is made or opened.
    func settle(_ person: Person, _ exchange: any Conversation) async throws(Interruption) {
        guard exchange.drawsScreens, exchange.caller.credentials.uid == person.uid else { return }
        try await ask(
            desk.orders.agreements(of: person).due(desk.orders.consents), person, exchange)
        try await signingIn.settle(person, languages: exchange.caller.languages, exchange)
    }

    func answer(_ request: ConsentAsk, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let person = try await desk.person(Subject(), exchange.caller)
        let said = desk.orders.agreements(of: person)
        var items = said.due(desk.orders.consents)
        if request.again, items.count < desk.orders.consents.items.count {
            try await prove(person, exchange)
            items = desk.orders.consents.items
        }
        guard !items.isEmpty else { return .consentsNone }
        try await ask(items, person, exchange)
        return .consentsDone
    }

    /// What somebody has agreed to, nobody else takes back.
    private func prove(_ person: Person, _ exchange: any Conversation) async throws(Interruption) {
        guard let host = try desk.ownStore(of: person) else { return }
        let visit = try await desk.visit(host, person, exchange)
        guard host.hasPasscode else { return }
        _ = try await proving.admit(visit, .change)
    }

    private func ask(
        _ items: [Consents.Item], _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) {
        for (number, item) in items.enumerated() {
            // It is theirs to answer only while the organisation asks it.
            guard let organisation = desk.orders.orderer?.name,
                desk.orders.consents.items.contains(item)
            else { return }
            var sheet = Sheet.paper(
                item, of: organisation, languages: exchange.caller.languages)
            if items.count > 1 { sheet.step = (UInt8(number + 1), UInt8(items.count)) }
            let agrees = try await exchange.present(sheet).button == .agree
            // What was read is not what the next organisation asks.
            guard desk.orders.orderer?.name == organisation else { return }
            try await refusingAsync { () async throws(Refusal) in
                try await desk.orders.say(agrees, to: item, person)
            }
            desk.audit.note(
                .policy,
                "\(organisation): \(item.id), version \(item.version): "
                    + (agrees ? "agreed" : "not agreed"),
                person: person, uid: exchange.caller.credentials.uid)
            guard agrees || item.kind == .optional else {
                await obey()
                guard let bar = desk.orders.bar(of: person) else { throw .refused(.cancelled) }
                throw .refused(.barred(bar))
            }
        }
        await obey()
    }

    // MARK: what was answered

    func list(_ caller: Caller) async throws(Interruption) -> ConsentList {
        let person = try await desk.person(Subject(), caller)
        let said = desk.orders.agreements(of: person)
        let names = caller.languages
        return ConsentList(
            organisation: Array((desk.orders.orderer?.name ?? "").utf8),
            items: desk.orders.consents.items.map { item in
                let answer = said.answer(to: item)
                return ConsentList.Item(
                    id: Array(item.id.utf8), kind: .init(item.kind),
                    title: Text.clean(item.paper(for: names).title),
                    version: item.version,
                    answer: answer.map { $0.agrees ? .yes : .no } ?? .open,
                    answeredAt: answer?.at ?? 0)
            })
    }
}

extension Caller {
    /// As an organisation's papers name them: `de` of `de_AT.UTF-8`.
    fileprivate var languages: [String] {
        let name = hello.language.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        return name.isEmpty ? [] : [String(decoding: name, as: UTF8.self)]
    }
}

extension ConsentList.Item.Kind {
    fileprivate init(_ kind: Consents.Kind) {
        self =
            switch kind {
            case .licence: .licence
            case .required: .required
            case .optional: .optional
            }
    }
}
