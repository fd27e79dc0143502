import Testing
import Wire

@testable import Client

/// What pinentry may send, and what it is told.
@Suite struct DialogTests {
    /// Each line, or the fault that ended it; then the answer.
    private func heard(_ bytes: [UInt8], piece: Int = 1 << 20) -> ([String], [UInt8]) {
        var replies = AssuanReplies()
        var told: [String] = []
        var start = 0
        do throws(AssuanReplies.Fault) {
            while start < bytes.count {
                let end = min(start + piece, bytes.count)
                replies.add(Array(bytes[start..<end]))
                start = end
                while let reply = try replies.next() { told.append("\(reply)") }
            }
        } catch {
            told.append("\(error)")
        }
        return (told, replies.data.withSpan { span in span.indices.map { span[$0] } })
    }

    private func heard(_ text: String) -> ([String], [UInt8]) { heard(Array(text.utf8)) }

    @Test("an answer comes decoded, however it was cut into reads", arguments: [1, 2, 3, 7, 1000])
    func pieces(_ piece: Int) {
        let text = "OK Pleased to meet you\nS PASSPHRASE\n# a remark\nD a%25b%0Ac d%c3%A9\nOK\n"
        let (told, data) = heard(Array(text.utf8), piece: piece)
        #expect(told == ["ok", "remark", "remark", "data", "ok"])
        #expect(data == Array("a%b\nc d\u{E9}".utf8))
    }

    @Test("several pieces of an answer are one")
    func joined() {
        let (told, data) = heard("D one\nD  two\nD \nOK\n")
        #expect(told == ["data", "data", "data", "ok"])
        #expect(data == Array("one two".utf8))
    }

    @Test("an error's number is told without the part that says whose it is")
    func errors() {
        #expect(heard("ERR 83886179 Operation cancelled <Pinentry>\n").0 == ["error(99)"])
        #expect(heard("ERR 99\n").0 == ["error(99)"])
        #expect(heard("ERR 83886194 not confirmed\n").0 == ["error(114)"])
    }

    @Test(
        "a line that is none ends it",
        arguments: [
            "", "OKAY", "ok", "ERR", "ERR ", "ERR x", "ERR -1", "ERR 99999999999999999999", "D",
            "INQUIRE QUALITY x", "D %", "D a%4", "D %G1", "D %4G", "D %%25", "\u{0}", "\u{FF}",
            " OK", "SETPIN", "OK\r",
        ])
    func nonsense(_ line: String) {
        #expect(heard(line + "\nOK\n").0 == ["notUnderstood"])
    }

    @Test("half an escape is no part of an answer, and what is cut short is no line")
    func cut() {
        #expect(heard("D a%4").0 == [])
        #expect(heard("OK").0 == [])
        #expect(heard("D secret").1 == [])
        #expect(heard("D abc%4\nOK\n") == (["notUnderstood"], Array("abc".utf8)))
    }

    @Test("a line may be a thousand bytes long, and not one longer")
    func longLines() {
        let most = "D " + String(repeating: "x", count: 998)
        #expect(heard(most + "\n").0 == ["data"])
        #expect(heard(most + "x\n").0 == ["tooLong"])
        #expect(heard([UInt8](repeating: 0x41, count: 5000), piece: 100).0 == ["tooLong"])
    }

    @Test("no more is kept than tells that an answer is too long")
    func longAnswers() {
        let lines = String(repeating: "D " + String(repeating: "x", count: 500) + "\n", count: 100)
        let (told, data) = heard(lines)
        #expect(told.count == 100)
        #expect(data.count == Limits.secret + 1)
    }

    @Test("a program that does not stop talking is not listened to for ever")
    func endless() {
        let (told, _) = heard(String(repeating: "S x\n", count: 300))
        #expect(told.count == AssuanReplies.mostLines + 1)
        #expect(told.last == "tooLong")
    }

    // MARK: What it is told

    private func script(_ form: DialogScript.Form, _ text: String, error: String = "") -> [String] {
        DialogScript(
            form: form, text: Array(text.utf8), error: Array(error.utf8)
        ).lines.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a question is told line by line, and the last line opens it")
    func scripts() {
        #expect(
            script(
                .secret(prompt: Array("Passcode:".utf8), cancel: Array("Cancel".utf8)),
                "50%\nof it", error: "wrong") == [
                    "SETTITLE AppVault", "SETDESC 50%25%0Aof it", "SETERROR wrong",
                    "SETPROMPT Passcode:", "SETCANCEL Cancel", "GETPIN",
                ])
        #expect(
            script(.choice(yes: Array("Yes_".utf8), no: Array("No".utf8)), "Sure?") == [
                "SETTITLE AppVault", "SETDESC Sure?", "SETPROMPT AppVault", "SETOK Yes__",
                "SETCANCEL No", "CONFIRM",
            ])
        #expect(
            script(.message(button: Array("Continue".utf8)), "Read this.").suffix(2) == [
                "SETOK Continue", "CONFIRM --one-button",
            ])
    }

    @Test("no text becomes a second line, an escape, a tag or a line that is too long")
    func texts() {
        let hostile = Array("a\r\nGETPIN\n%00<b>\u{202E}\u{1B}[0m".utf8) + [0xFF]
        let shown = DialogScript.shown(hostile)
        let line = DialogScript.escaped(shown)
        #expect(!line.contains(0x0A) && !line.contains(0x0D) && !line.contains(0x1B))
        #expect(!shown.contains(UInt8(ascii: "<")))
        #expect(String(decoding: line, as: UTF8.self).contains("%2500\u{2039}b>"))
        let long = script(.message(button: []), String(repeating: "\u{E9}%", count: 2000))
        #expect(long.allSatisfy { $0.utf8.count <= AssuanReplies.longestLine })
    }

    @Test("lines that do not fit one dialog come on more pages, and none is lost")
    func pages() {
        let lines = (0..<40).map { Array("\($0): \(String(repeating: "x", count: 60))".utf8) }
        let pages = DialogScript.pages(lines)
        #expect(pages.count > 1)
        #expect(
            pages.allSatisfy {
                DialogScript.escaped($0, limit: .max).count <= DialogScript.longestText
            })
        #expect(Array(pages.joined(separator: [0x0A])) == Array(lines.joined(separator: [0x0A])))
    }

    // MARK: Where dialogs come

    @Test(
        "dialogs come where there is a display and a program, and a person wants them",
        arguments: [
            ([:], Dialogs.Place.nowhere), (["DISPLAY": ""], .nowhere),
            (["APPVAULT_PINENTRY": "/bin/sh"], .nowhere),
            (["DISPLAY": ":0", "APPVAULT_PINENTRY": ""], .nowhere),
            (["DISPLAY": ":0", "APPVAULT_PINENTRY": "sh"], .withoutProgram),
            (["DISPLAY": ":0", "APPVAULT_PINENTRY": "/"], .withoutProgram),
            (["DISPLAY": ":0", "APPVAULT_PINENTRY": "/no/such"], .withoutProgram),
            (
                ["DISPLAY": ":0", "APPVAULT_PINENTRY": "/bin/sh"],
                .programs([DialogProgram(Array("/bin/sh".utf8))])
            ),
            (
                ["WAYLAND_DISPLAY": "wayland-0", "APPVAULT_PINENTRY": "/bin/sh"],
                .programs([DialogProgram(Array("/bin/sh".utf8))])
            ),
        ] as [([String: String], Dialogs.Place)])
    func places(_ variables: [String: String], _ place: Dialogs.Place) {
        #expect(Dialogs.place { variables[$0].map { Array($0.utf8) } } == place)
    }

    @Test("the program gets only what it needs of the environment")
    func environment() {
        let variables = ["DISPLAY": ":1", "HOME": "/h", "TOKEN": "secret", "LD_PRELOAD": "/x"]
        let given = Dialogs.environment { variables[$0].map { Array($0.utf8) } }
        #expect(given.map { String(decoding: $0, as: UTF8.self) } == ["DISPLAY=:1", "HOME=/h"])
    }
}
