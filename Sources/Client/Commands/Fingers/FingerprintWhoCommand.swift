import Posix
import Wire

struct FingerprintWhoCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "who"], group: .fingers, operands: ["on|off"],
        summary: "let your finger say who you are",
        text: [
            "Among those who share this account: `on` asks for the passcode. Where two or more have agreed, `appvault switch` asks for a finger first, and opens the store "
                + "whose finger it is. A finger that matches none is a failed try for each of them.",
            "It works where the reader tells several fingers apart, and for up to ten fingers together. Turning the fingerprint off takes it "
                + "back.",
        ],
        examples: [
            .init(command: "appvault fingerprint who on --store Ben", meaning: "for the store Ben")
        ])
    static let offer = RecoveryOffer.hinted

    var act: SwitchStore.Act

    static func parse(_ arguments: Arguments) throws(UsageError) -> FingerprintWhoCommand {
        switch String(decoding: arguments.operands.first ?? [], as: UTF8.self) {
        case "on": FingerprintWhoCommand(act: .agree)
        case "off": FingerprintWhoCommand(act: .disagree)
        case _:
            throw UsageError(
                Text("`on` or `off` is needed"), hint: Text("`on` asks for the passcode"))
        }
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(
            Self.entry.name, .switchStore, SwitchStore(store: run.settings.store, act: act))
    }
}
