import Fleet
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// Has people say to their organisation who they are, where it wants to know. What they type goes to
/// its server and nowhere else, and that they have done it is kept. A login never waits for it, and
/// neither does a store that is there already: only whoever makes one needs it.
@LoopActor
final class SigningIn {
    private let desk: Desk
    private let asks: ServerAsks
    private let connect: () -> any ServerLink
    /// How often somebody is asked again in one go.
    private static let rounds = 10

    init(desk: Desk, asks: ServerAsks, connect: @escaping () -> any ServerLink) {
        (self.desk, self.asks, self.connect) = (desk, asks, connect)
    }

    /// Where it is asked, and by whom. Another bundle may come meanwhile, or another organisation.
    private struct Due: Equatable {
        let signIn: SignIn
        let organisation: String

        var host: String { JoinHost.host(of: signIn.url) }
    }

    private func due(_ person: Person) -> Due? {
        guard let signIn = desk.orders.signIn, let organisation = desk.orders.orderer?.name,
            desk.orders.agreements(of: person).signedIn(signIn) == nil
        else { return nil }
        return Due(signIn: signIn, organisation: organisation)
    }

    func settle(
        _ person: Person, languages: [String], _ exchange: any Conversation
    ) async throws(Interruption) {
        var wrong: [Message] = []
        var typed: [[UInt8]]?
        var asked: Due?
        let code = try Self.code()
        for _ in 0..<Self.rounds {
            guard let due = due(person) else { return }
            if due != asked { (asked, wrong, typed) = (due, [], nil) }
            var screen = Sheet.SigningIn(
                organisation: due.organisation, languages: languages,
                mayLater: try desk.ownStore(of: person) != nil)
            screen.wrong = wrong
            let form = Form(due.signIn, person, typed, code)
            let answer = try await exchange.present(form.sheet(due.host, screen))
            guard answer.button != .later else { return }
            guard let said = try form.read(answer) else {
                throw .gone(.notUnderstood(.unknownValue))
            }
            typed = said.shown
            if let missing = said.missing {
                wrong = [missing]
                continue
            }
            guard self.due(person) == due else { continue }
            let result = try await hand(said.fields, due, person, exchange)
            guard self.due(person) == due else { continue }
            switch result {
            case .accepted:
                try await refusingAsync { () async throws(Refusal) in
                    try await desk.orders.haveSignedIn(due.signIn, person)
                }
                desk.audit.note(
                    .policy,
                    "\(due.organisation): signed in, version \(due.signIn.version)",
                    person: person, uid: exchange.caller.credentials.uid)
                return
            case .not(let why): wrong = why
            }
        }
        throw .refused(.cancelled)
    }

    // MARK: the server

    private enum Result {
        case accepted
        case not([Message])
    }

    private func hand(
        _ fields: WipedBuffer, _ due: Due, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Result {
        guard let names = desk.orders.organisation?.names(person, desk.orders.machineID) else {
            throw .refused(.outOfMemory)
        }
        // Others are asking; what was typed stands there still.
        guard let ask = asks.begin(exchange.caller) else { return .not([.refused(.busy)]) }
        defer { asks.end(ask) }
        try await exchange.show(.joinAsks(host: due.host))
        let body = WipedBuffer(capacity: FetchLink.report)
        body.append(#"{"version":"#)
        body.append("\(due.signIn.version),")
        for (key, value) in names { body.append("\"\(key)\":\"\(value)\",") }
        fields.withBytes { body.append($0) }
        body.append("}\n")
        let link = connect()
        defer { link.end() }
        let fetched = await link.signIn(body, at: Array(due.signIn.url.utf8))
        await ask.wait()
        return Self.result(fetched, due)
    }

    private static func result(_ fetched: Fetched, _ due: Due) -> Result {
        let trouble: Refusal.FetchReason
        switch fetched {
        case .answered(200, _, _), .answered(204, _, _): return .accepted
        case .answered(202, _, _): return .not([.signInNotYet])
        case .answered(400, _, let said), .answered(401, _, let said),
            .answered(403, _, let said), .answered(422, _, let said):
            let line = Text.argument(
                String(decoding: said.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self))
            let refused = Message.signInRefused(organisation: due.organisation)
            return .not(line.isEmpty ? [refused] : [refused, .signInSays(line)])
        case .answered(let status, _, _): trouble = .status(host: due.host, status)
        case .failed(let outcome):
            trouble = .init(outcome, host: due.host) ?? .failed(host: due.host)
        case .lost(let lost): trouble = .init(lost, host: due.host)
        }
        return .not([.refused(.fetchFailed(trouble))])
    }

    /// For a page of the organisation's. Without vowels, so that it makes no word, and without what
    /// looks alike.
    private static func code() throws(Interruption) -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        var text = ""
        do throws(SecretsError) {
            while text.count < 9 {
                let byte = Int(try Random.bytes(1)[0])
                // Each letter as often as any other.
                guard byte < 256 / letters.count * letters.count else { continue }
                text.append(letters[byte % letters.count])
                if text.count == 4 { text.append("-") }
            }
        } catch {
            throw .refused(.outOfMemory)
        }
        return text
    }
}

/// What is asked on the screen, and what is handed in of it.
@LoopActor
private struct Form {
    private let signIn: SignIn
    private let code: String
    /// What stands in the fields; a secret is typed anew each time.
    private let typed: [[UInt8]]

    struct Said {
        /// As members of a JSON object.
        let fields: WipedBuffer
        var shown: [[UInt8]] = []
        var missing: Message?
    }

    init(_ signIn: SignIn, _ person: Person, _ typed: [[UInt8]]?, _ code: String) {
        (self.signIn, self.code) = (signIn, code)
        let account = String(decoding: person.name, as: UTF8.self)
        switch signIn.way {
        case .fields(let fields):
            self.typed =
                typed
                ?? fields.map { Text.clean($0.prefill(account: account), limit: Limits.text) }
        case .page: self.typed = []
        }
    }

    func sheet(_ host: String, _ screen: Sheet.SigningIn) -> Sheet {
        switch signIn.way {
        case .fields(let fields):
            .signIn(signIn, fields, host: host, typed: typed, screen)
        case .page(let page): .signInWeb(signIn, page: page, code: code, screen)
        }
    }

    /// Nil where it is no answer to this.
    func read(_ answer: SheetAnswer) throws(Interruption) -> Said? {
        let json = WipedBuffer(capacity: FetchLink.report)
        guard case .fields(let fields) = signIn.way else {
            json.append("\"code\":\"\(code)\"")
            return Said(fields: json)
        }
        guard answer.values.count == fields.count else { return nil }
        var said = Said(fields: json)
        json.append("\"fields\":{")
        for (place, field) in fields.enumerated() {
            if place > 0 { json.append(",") }
            json.append("\"\(field.id)\":")
            guard let value = answer.values[place].take() else { return nil }
            if value.count == 0, field.isRequired { said.missing = .signInMissing }
            let (isText, shown) = value.withBytes { bytes in
                let isText = UTF8Check.isText(bytes, start: 0, count: bytes.count)
                if isText { json.append(quoted: bytes) }
                let isShown = isText && field.kind != .secret && bytes.count <= Limits.text
                return (isText, isShown ? bytes.indices.map { bytes[$0] } : [])
            }
            if !isText { said.missing = .refused(.invalidArgument(.notText)) }
            said.shown.append(shown)
        }
        json.append("}")
        // Control characters are longer there than they were typed.
        if json.count > FetchLink.report - 1024 {
            said.missing = .refused(.invalidArgument(.notText))
        }
        return said
    }
}

extension WipedBuffer {
    fileprivate func append(_ text: String) {
        append(Array(text.utf8).span)
    }

    /// A text as JSON has it. None of it passes through memory that is not wiped.
    fileprivate func append(quoted text: Span<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        append(UInt8(ascii: "\""))
        for place in text.indices {
            let byte = text[place]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case ..<0x20:
                append("\\u00")
                append(digits[Int(byte >> 4)])
                append(digits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}

extension Refusal.FetchReason {
    init(_ lost: FetchLost, host: String) {
        self =
            switch lost {
            case .missing: .noWorker
            case .ended: .workerEnded
            case .tooSlow: .tooSlow(host: host)
            case .nonsense: .workerLied
            }
    }
}
