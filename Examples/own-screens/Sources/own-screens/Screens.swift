import AppVault
import Glibc

/// The screens of an application that looks like no other: each question is a page of its own.
struct Screens: Prompter {
    // What is typed comes from the input, so that a test can type it.
    let kind = PrompterKind.windows

    func answer(_ question: Question) async -> Answer {
        say("+--------------------------------------------")
        say("| \(title(question))")
        if !question.text.isEmpty { say("| \(question.text)") }
        for rule in question.checklist { say("|   \(mark(rule.finding)) \(rule.wants)") }
        say("+--------------------------------------------")
        switch question.purpose {
        case .acknowledge: return .yes
        case .choice: return readLine() == "yes" ? .yes : .no
        default:
            guard let typed = readLine() else { return .cancel }
            let secret = SecretBytes(copying: typed)
            if question.purpose == .newPasscode, let rules = try? await question.judge(secret) {
                for rule in rules where rule.finding == .unmet {
                    say("|   missing: \(rule.wants)")
                }
            }
            return .secret(secret)
        }
    }

    func show(_ notice: Notice) async {
        say(notice.isError ? "| !! \(notice.text)" : "| \(notice.text)")
    }

    private func title(_ question: Question) -> String {
        switch question.mode {
        case .create: "CHOOSE A PASSCODE FOR \(question.store)"
        case .match: "OPEN \(question.store)"
        case .matchForChange: "FIRST YOUR PRESENT PASSCODE"
        case .change: "NOW A NEW ONE"
        }
    }

    private func mark(_ finding: PasscodeRule.Finding) -> String {
        switch finding {
        case .satisfied: "[x]"
        case .unmet: "[ ]"
        case .notChecked: "[?]"
        }
    }
}

/// own-screens onboard, open, change, or reset
@main
struct Application {
    static func main() async {
        do {
            try await run(CommandLine.arguments.dropFirst().first ?? "open")
        } catch {
            say("own-screens: \(error)")
            Glibc.exit(1)
        }
    }

    static func run(_ verb: String) async throws {
        var configuration = Vault.Configuration()
        if let socket = getenv("SCREENS_SOCKET") { configuration.socket = String(cString: socket) }
        // Told of what happens, and never of a secret.
        configuration.hooks = PromptHooks { event in
            say("(\(event.kind) \(event.code.map { "refused: \($0)" } ?? "taken"))")
        }
        let vault = try await Vault.connect(configuration)
        let storage = VaultStorage(vault, creating: .ownPasscode)
        let life = Lifecycle(storage, prompter: Screens())
        switch verb {
        case "onboard":
            try await life.onboard(
                "screens", runRestoreIfStoreExists: true,
                steps: [.storing(["greeting": Array("hello".utf8)])])
        case "change":
            try await storage.changePasscode(of: "screens", with: Screens())
        case "reset":
            try await life.reset("screens")
        default:
            let store = try await life.restore("screens")
            let greeting = try await store.get("greeting") ?? []
            say("it says: \(String(decoding: greeting, as: UTF8.self))")
            try await store.lock()
        }
    }
}

/// Shown at once, also to whoever reads it from a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
