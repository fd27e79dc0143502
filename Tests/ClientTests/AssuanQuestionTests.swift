import Foundation
import Posix
import Testing
import Wire

@testable import Client

@Suite("A question as a program hears it that shows dialogs")
struct AssuanQuestionTests {
    private func told(_ script: DialogScript) -> (AssuanQuestion, AssuanQuestion.Step?) {
        var question = AssuanQuestion()
        let steps = script.lines.map { question.take($0) }
        #expect(steps.dropLast().allSatisfy { $0 == .taken })
        return (question, steps.last)
    }

    @Test("what one end tells is what the other end hears")
    func bothEnds() {
        let text = Array("50% of it\nand __more__\r".utf8)
        let (secret, asks) = told(
            DialogScript(
                form: .secret(prompt: Array("Passcode:".utf8), cancel: Array("_No_".utf8)),
                text: text, error: Array("wrong: 1%".utf8)))
        #expect(asks == .asks(.secret))
        #expect(secret.text == text)
        #expect(secret.error == Array("wrong: 1%".utf8))
        #expect(secret.prompt == Array("Passcode:".utf8))
        #expect(secret.no == Array("_No_".utf8))
        let (choice, chooses) = told(
            DialogScript(form: .choice(yes: Array("Yes".utf8), no: Array("No".utf8)), text: text))
        #expect(chooses == .asks(.choice))
        #expect((choice.yes, choice.no) == (Array("Yes".utf8), Array("No".utf8)))
        let (_, message) = told(DialogScript(form: .message(button: []), text: text))
        #expect(message == .asks(.message))
    }

    @Test("a letter that presses a button is no part of its label, and a half escape is itself")
    func others() {
        var question = AssuanQuestion()
        #expect(question.take(Array("SETOK _OK__".utf8)) == .taken)
        #expect(question.yes == Array("OK_".utf8))
        _ = question.take(Array("SETDESC 100%4".utf8))
        #expect(question.text == Array("100%4".utf8))
        _ = question.take(Array("SETERROR no".utf8))
        question.isAnswered()
        #expect(question.error.isEmpty)
        #expect(question.take(Array("OPTION ttyname=x".utf8)) == .taken)
        #expect(question.take(Array("MESSAGE".utf8)) == .asks(.message))
        #expect(question.take(Array("BYE".utf8)) == .over)
        _ = question.take(Array("RESET".utf8))
        #expect(question == AssuanQuestion())
    }

    @Test("a long line is one for our own window, whatever the others need")
    func breaks() {
        let long = Array(String(repeating: "word ", count: 40).utf8) + Array("end".utf8)
        let text = DialogScript.shown(long) + [0x0A] + DialogScript.shown(Array("next".utf8))
        #expect(text.count(where: { $0 == 0x0A }) > 2)
        var question = AssuanQuestion()
        _ = question.take(Array("SETDESC ".utf8) + DialogScript.escaped(text))
        #expect(question.lines == [long, Array("next".utf8)])
    }

    @Test(
        "an answer goes back in lines that are short enough, whatever it is made of",
        arguments: [0, 1, 300, 997, 998, 999, Limits.secret], [UInt8(ascii: "a"), 0x25, 0x0A, 0xFF])
    func answers(_ count: Int, _ byte: UInt8) throws {
        let secret = Typed(capacity: Limits.secret)
        secret.append([UInt8](repeating: byte, count: count))
        var replies = AssuanReplies()
        AssuanQuestion.answer(secret).withSpan { bytes in
            replies.add(bytes.indices.map { bytes[$0] })
        }
        var last: AssuanReplies.Reply?
        while let reply = try replies.next() { last = reply }
        #expect(last == .ok)
        let heard = replies.data.withSpan { bytes in bytes.indices.map { bytes[$0] } }
        #expect(heard == [UInt8](repeating: byte, count: count))
    }
}

@Suite("Programs that show dialogs, one instead of the other")
struct DialogProgramTests {
    private func ending(_ programs: [String]) -> Dialog.Ending? {
        ending(programs.map { DialogProgram(Array($0.utf8)) })
    }

    private func ending(
        _ programs: [DialogProgram], readiness: UInt64 = 60_000
    ) -> Dialog.Ending? {
        let dialog = Dialog(
            [Array("GETPIN".utf8)], takesPasscode: true,
            Dialog.Surroundings(
                programs: programs, environment: [], turn: nil, readiness: readiness))
        guard case .ended(let ending) = dialog.wait(beside: -1, 120_000) else { return nil }
        return ending
    }

    /// A program of the shell's, which another process writes: what this one has open, a child of
    /// another test's has as well until it executes something. The kernel executes no file that
    /// somebody has open to write to it.
    private func script(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "appvault-dialog-\(UUID().uuidString)"
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/bin/sh")
        writer.arguments = [
            "-c", #"printf '%s\n' '#!/bin/sh' "$1" >"$0" && chmod 755 "$0""#, path, text,
        ]
        try writer.run()
        writer.waitUntilExit()
        try #require(writer.terminationStatus == 0)
        return path
    }

    @Test("one that ends before it has shown anything, or is not there, makes way for the next")
    func instead() throws {
        let answers = try script("echo OK; read -r line; echo 'D yes'; echo OK; sleep 60")
        defer { try? FileManager.default.removeItem(atPath: answers) }
        #expect(ending(["/bin/false", "/no/such", answers]) == .answered)
        #expect(ending([answers]) == .answered)
        #expect(ending(["/bin/false", "/bin/true"]) == .notShown)
        #expect(ending([]) == .notShown)
    }

    @Test("one that dies under its question is not tried again, nor is another")
    func died() throws {
        let dies = try script("echo OK; read -r line; exit 1")
        let answers = try script("echo OK; read -r line; echo OK; sleep 60")
        defer {
            for path in [dies, answers] { try? FileManager.default.removeItem(atPath: path) }
        }
        #expect(ending([dies, answers]) == .lost)
    }

    @Test("our own window makes way until it stands on the screen, and not any more then")
    func shown() throws {
        let programs = try [
            "echo OK; read -r line; exit 1", "echo OK; read -r line; exec sleep 60",
            "echo OK; read -r line; echo '# shown'; exit 1",
            "echo OK; read -r line; echo OK; exec sleep 60",
        ].map(script)
        defer { for path in programs { try? FileManager.default.removeItem(atPath: path) } }
        func ours(_ number: Int) -> DialogProgram {
            DialogProgram(Array(programs[number].utf8), "--pinentry")
        }
        let answers = DialogProgram(Array(programs[3].utf8))
        #expect(ending([ours(0), answers]) == .answered)
        #expect(ending([ours(1), answers], readiness: 5_000) == .answered)
        #expect(ending([ours(2), answers]) == .lost)
        #expect(ending([ours(1)], readiness: 5_000) == .notShown)
    }

    @Test("our own window is asked first, as a pinentry")
    func usual() {
        #expect(
            Dialogs.usual.first
                == DialogProgram(Array("/usr/bin/appvault-desktop".utf8), "--pinentry"))
        #expect(
            DialogProgram([0x61]) != DialogProgram([0x61], "--pinentry"))
    }
}
