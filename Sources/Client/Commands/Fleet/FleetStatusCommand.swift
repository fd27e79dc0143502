import Posix
import ToolTexts
import Wire

struct FleetStatusCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fleet", "status"], group: .fleet, operands: [],
        summary: "show which organisation sets the rules of this machine",
        text: [
            "And which version of its policy is in force, whom to ask, and what came of asking its server last."
        ],
        json: [
            .init("organisation", "its name; missing where the machine has joined none"),
            .init("contact", "whom to ask"),
            .init("final", "true if the machine's own files change nothing of its policy"),
            .init("policyVersion", "0 where no bundle was taken yet"),
            .init("policySigned", "when it was signed, in seconds since 1970"),
            .init("policyExpires", "until when it is to be replaced by another one"),
            .init("policyURL", "where it is fetched; empty where it comes by other ways"),
            .init("ordersVersion", "the same of orders; 0 where they come with the policy"),
            .init("ordersSigned", "when these were signed"),
            .init("ordersExpires", "until when they are to be replaced"),
            .init("ordersURL", "where they are fetched"),
            .init("reportURL", "where this machine's reports go; empty where nobody wants them"),
            .init("fetchedAt", "when its server was asked last, in seconds since 1970; 0: never"),
            .init("fetchProblem", "why nothing came of that; empty where all is well"),
            .init("offlineDays", "whole days in which this machine ran and heard nothing new"),
            .init("lockAfter", "after how many of these its stores are locked; 0 never"),
            .init("wipeAfter", "after how many they are wiped; 0 never"),
            .init("problem", "what is wrong with what is kept of it; empty where all is well"),
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let state = try run.connect().ask(
            .fleetStatus, Empty(), for: .fleetState, FleetState.self)
        switch run.settings.form {
        case .json: run.voice.print(Self.json(state))
        case .plain: run.voice.print(Self.lines(state, run.words))
        }
        return state.problem.isEmpty ? .success : .refused
    }

    private static func json(_ state: FleetState) -> SecretBuffer {
        var json = JSON()
        if !state.organisation.isEmpty {
            json.field("organisation", state.organisation)
            json.field("contact", state.contact)
            json.field("final", state.isFinal)
            for (name, taken) in [("policy", state.policy), ("orders", state.orders)] {
                json.field("\(name)Version", taken.version)
                json.field("\(name)Signed", taken.signed)
                json.field("\(name)Expires", taken.expires)
                json.field("\(name)URL", taken.url)
            }
            json.field("reportURL", state.reportURL)
            json.field("fetchedAt", state.fetchedAt)
            json.field("fetchProblem", state.fetchProblem)
            json.field("offlineDays", UInt64(state.offlineDays))
            json.field("lockAfter", UInt64(state.lockAfter))
            json.field("wipeAfter", UInt64(state.wipeAfter))
        }
        json.field("problem", state.problem)
        return json.finish()
    }

    private static func lines(_ state: FleetState, _ words: OwnWords) -> [UInt8] {
        guard !state.organisation.isEmpty else { return words(.fleetNone) + [0x0A] }
        let name = words(.fleetOrganisation, Printable.escaped(state.organisation))
        return ([name] + facts(state, words)).flatMap { $0 + [0x0A] }
    }

    /// What there is to say of the organisation besides its name.
    static func facts(_ state: FleetState, _ words: OwnWords) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        if state.policy.version == 0 {
            lines.append(words(.fleetNothingYet))
        } else {
            lines.append(taken(state.policy, state.isFinal ? .fleetFinal : .fleetPolicy, words))
        }
        if state.orders.version > 0 { lines.append(taken(state.orders, .fleetOrders, words)) }
        if state.lockAfter > 0 {
            lines.append(
                words(
                    state.wipeAfter > 0 ? .fleetDaysWipe : .fleetDays,
                    Text(UInt64(state.offlineDays)).bytes, Text(UInt64(state.lockAfter)).bytes,
                    Text(UInt64(state.wipeAfter)).bytes))
        }
        if !state.contact.isEmpty {
            lines.append(words(.fleetContact, Printable.escaped(state.contact)))
        }
        if state.fetchedAt > 0 {
            let time = ToolIO.localTime(state.fetchedAt)
            lines.append(
                state.fetchProblem.isEmpty
                    ? words(.fleetAsked, time)
                    : words(.fleetAskedInVain, time, Printable.escaped(state.fetchProblem)))
        }
        if !state.problem.isEmpty {
            lines.append(words(.fleetProblem, Printable.escaped(state.problem)))
        }
        return lines
    }

    private static func taken(
        _ taken: FleetState.Taken, _ text: ToolText, _ words: OwnWords
    ) -> [UInt8] {
        words(
            text, Text(taken.version).bytes, ToolIO.localTime(taken.signed),
            ToolIO.localTime(taken.expires))
    }
}
