import Posix
import ToolTexts
import Wire

/// Asks a person in dialogs, where there is a display and no terminal. What is shown between two
/// questions is put into the next dialog.
final class Dialogs {
    /// Our own window where it is installed; then the program of Debian's alternative, and of most
    /// other systems.
    static let usual = [
        DialogProgram(Array("/usr/bin/appvault-desktop".utf8), "--pinentry"),
        DialogProgram(Array("/usr/bin/pinentry".utf8)),
    ]

    enum Place: Equatable {
        /// No display, or the person wants no dialogs.
        case nowhere
        /// A display, and no program that could use it.
        case withoutProgram
        /// The first of them that can show a window does.
        case programs([DialogProgram])
    }

    static func place(_ variable: (String) -> [UInt8]?) -> Place {
        let named = variable("APPVAULT_PINENTRY")
        guard named != [], displays.contains(where: { variable($0)?.isEmpty == false }) else {
            return .nowhere
        }
        let programs = (named.map { [DialogProgram($0)] } ?? usual).filter {
            $0.path.first == 0x2F && ToolIO.isExecutable($0.path)
        }
        return programs.isEmpty ? .withoutProgram : .programs(programs)
    }

    private let surroundings: Dialog.Surroundings
    private let words: OwnWords
    private let verb: String
    private var lines: [[UInt8]] = []
    private var error: [UInt8] = []
    /// Ends a dialog when the daemon goes on without its answer.
    weak var connection: Connection?

    init(
        _ programs: [DialogProgram], _ variable: (String) -> [UInt8]?, _ words: OwnWords,
        verb: String
    ) {
        self.words = words
        self.verb = verb
        let folder = variable("XDG_RUNTIME_DIR").flatMap { $0.first == 0x2F ? $0 : nil }
        surroundings = Dialog.Surroundings(
            programs: programs, environment: Self.environment(variable),
            turn: folder.map { $0 + Array("/appvault-dialog".utf8) })
    }

    private static let displays = ["DISPLAY", "WAYLAND_DISPLAY"]

    /// What a program with windows needs to find its display, its looks and its language. Nothing
    /// else goes along: an environment may hold secrets.
    private static let needed =
        displays + [
            "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "GDK_BACKEND", "GDK_DPI_SCALE",
            "GDK_SCALE", "GTK_IM_MODULE", "GTK_THEME", "HOME", "LANG", "LANGUAGE", "LC_ALL",
            "LC_CTYPE", "LC_MESSAGES", "LOGNAME", "PATH", "PINENTRY_USER_DATA",
            "QT_AUTO_SCREEN_SCALE_FACTOR", "QT_FONT_DPI", "QT_IM_MODULE", "QT_QPA_PLATFORM",
            "QT_QPA_PLATFORMTHEME", "QT_SCALE_FACTOR", "QT_STYLE_OVERRIDE", "USER", "XAUTHORITY",
            "XCURSOR_SIZE", "XCURSOR_THEME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME",
            "XDG_CURRENT_DESKTOP", "XDG_DATA_DIRS", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
            "XDG_SESSION_TYPE", "XMODIFIERS",
        ]

    static func environment(_ variable: (String) -> [UInt8]?) -> [[UInt8]] {
        needed.compactMap { name in variable(name).map { Text(name, "=", $0).bytes } }
    }

    // MARK: What is shown

    func note(_ line: [UInt8], _ style: Show.Style) {
        guard !line.isEmpty else { return }
        switch style {
        case .info: lines.append(DialogScript.shown(line))
        case .error: error = DialogScript.shown(line)
        }
    }

    // MARK: What is asked

    func answer(
        _ purpose: Ask.Purpose, prompt: [UInt8], into answer: inout SecretBuffer
    ) -> Answers.Outcome {
        let prompt = Self.trimmed(prompt)
        switch purpose {
        case .choice:
            note(Self.withoutKeys(prompt), .info)
            return choice(into: &answer)
        case .acknowledge:
            // The button says what the prompt says, if there are lines.
            if lines.isEmpty { note(Self.withoutKeys(prompt), .info) }
            return Self.outcome(ask(.message(button: words(.dialogGoOn))))
        case .passcode, .newPasscode, .confirmPasscode, .loginPassword, .passphrase,
            .newPassphrase, .confirmPassphrase, .recoveryKey, .former:
            return finish(secret(prompt), into: &answer)
        }
    }

    /// A scan that the passcode may be typed during.
    func beginSecret(_ line: [UInt8]) -> Dialog {
        note(line, .info)
        return secret(words(.dialogPasscode))
    }

    /// A scan that can only be cancelled.
    func beginWait(_ line: [UInt8]) -> Dialog {
        note(line, .info)
        return dialog(.message(button: words(.dialogCancel)))
    }

    /// What the person has answered in a dialog that was begun before.
    func finish(_ dialog: Dialog, into answer: inout SecretBuffer) -> Answers.Outcome {
        let ending = wait(for: dialog)
        if ending == .answered { dialog.take(into: &answer) }
        return Self.outcome(ending)
    }

    /// Asks whether something that cannot be undone is meant.
    func agree(to consequence: [UInt8]) -> Answers.Outcome {
        note(consequence, .info)
        return Self.outcome(ask(.choice(yes: words(.dialogGoOn), no: words(.dialogCancel))))
    }

    private func choice(into answer: inout SecretBuffer) -> Answers.Outcome {
        switch ask(.choice(yes: words(.dialogYes), no: words(.dialogNo))) {
        case .answered: answer.append(Array("yes".utf8))
        case .declined: answer.append(Array("no".utf8))
        case let other: return Self.outcome(other)
        }
        return .answered
    }

    private func secret(_ prompt: [UInt8]) -> Dialog {
        // Beside the field there is little room.
        if Layout.width(prompt) > 32 {
            note(prompt, .info)
            return dialog(.secret(prompt: words(.dialogAnswer), cancel: words(.dialogCancel)))
        }
        return dialog(
            .secret(
                prompt: DialogScript.shown(prompt), cancel: words(.dialogCancel)))
    }

    private func ask(_ form: DialogScript.Form) -> Dialog.Ending {
        wait(for: dialog(form))
    }

    /// Takes the lines that were noted. Those that do not fit come in dialogs before, and whoever leaves one of
    /// these has left them all.
    private func dialog(_ form: DialogScript.Form) -> Dialog {
        if lines.isEmpty { note(words(.dialogAsks, verb), .info) }
        var pages = DialogScript.pages(lines)
        let dialog = opened(form, pages.removeLast(), error: error)
        lines = []
        error = []
        for page in pages {
            let ending = wait(for: opened(.message(button: words(.dialogGoOn)), page))
            guard ending == .answered else {
                dialog.end(ending)
                break
            }
        }
        return dialog
    }

    private func opened(
        _ form: DialogScript.Form, _ text: [UInt8], error: [UInt8] = []
    ) -> Dialog {
        let script = DialogScript(form: form, text: text, error: error)
        return Dialog(script.lines, takesPasscode: script.takesPasscode, surroundings)
    }

    private func wait(for dialog: Dialog) -> Dialog.Ending {
        if let connection { return connection.wait(for: dialog) }
        while true {
            if case .ended(let ending) = dialog.wait(beside: -1, -1) { return ending }
        }
    }

    private static func outcome(_ ending: Dialog.Ending) -> Answers.Outcome {
        switch ending {
        case .answered: .answered
        case .declined, .lost: .cancelled
        case .overtaken: .overtaken
        case .tooLong: .tooLong
        case .busy: .busy
        case .notShown: .notShown
        }
    }

    private static func trimmed(_ prompt: [UInt8]) -> [UInt8] {
        var prompt = prompt
        while prompt.last == 0x20 { prompt.removeLast() }
        return prompt
    }

    /// Without the keys that a terminal names at the end: `[y/n]`.
    private static func withoutKeys(_ prompt: [UInt8]) -> [UInt8] {
        guard prompt.last == UInt8(ascii: "]"),
            let start = prompt.lastIndex(of: UInt8(ascii: "["))
        else { return prompt }
        return trimmed(Array(prompt[..<start]))
    }
}
