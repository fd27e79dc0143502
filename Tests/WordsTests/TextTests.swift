import Policy
import Testing
import ToolTexts
import Wire

@testable import Words

/// Texts that no message and no refusal reaches.
private let others: [Phrase] =
    [
        Phrase(.answerYes), Phrase(.answerNo), Phrase(.fingerprintEnable),
        Phrase(.fingerprintNotNow),
        Phrase(.adviceMend), Phrase(.troubleRecordsMarked),
        Phrase(.adviceRecover), Phrase(.adviceRestore), Phrase(.adviceLostChanges),
        Phrase(.adviceDrift),
        Phrase(.troubleNoPasscodeMode), Phrase(.adviceNoPasscodeMode),
        Phrase(.troubleRecoveryOff), Phrase(.troubleDrift), Phrase(.adviceConsents),
        Phrase(.troubleConsents, .text("example.org")),
        Phrase(.adviceOwnerChanged, .text("id")),
        Phrase(
            .previewApps,
            .phrases([Phrase(.previewApp, .text("mail"), .text("Require=passcode"))])),
        Phrase(
            .previewAppsMore,
            .phrases([Phrase(.previewApp, .text("mail"), .text("Require=passcode"))]), .count(3)),
        Phrase(.troubleOwnerChanged, .count(1000), .text("alice")),
    ] + findings.map(\.phrase)

private let findings: [NotChecked] = [
    .notAPasscode(.empty), .notAPasscode(.tooLong), .notAPasscode(.notUTF8),
    .notAPasscode(.controlCharacter), .outsideAChange, .tooManyCandidates, .notRun,
]

private let phrases: [Phrase] =
    Wording.messages.map(\.phrase) + Wording.refusals.map(\.message)
    + Wording.refusals.compactMap(\.hint) + others

private func ids(_ phrase: Phrase) -> [TextID] {
    [phrase.id]
        + phrase.arguments.flatMap { argument in
            switch argument {
            case .text, .written: [] as [TextID]
            case .phrases(let inner): inner.flatMap(ids)
            }
        }
}

@Suite("texts")
struct TextTests {
    @Test("each is said by something")
    func used() {
        let reached = Set(phrases.flatMap(ids))
        for id in TextID.allCases { #expect(reached.contains(id), "\(id.id)") }
    }

    @Test("each message is said in some flow")
    func said() throws {
        let used = try Sources.names { !$0.hasPrefix("Message") && !$0.hasPrefix("Text") }
        let unsaid = Set(Wording.messages.map(Sources.name)).subtracting(used)
        #expect(unsaid.isEmpty, "\(unsaid)")
    }

    @Test("each has as many arguments as it has positions, from {1} on")
    func positions() {
        for phrase in phrases {
            let wanted = phrase.arguments.isEmpty ? [] : Set(1...phrase.arguments.count)
            #expect(Positions.of(phrase.id.english) == wanted, "\(phrase.id.id)")
        }
    }

    @Test("each row says what its positions stand for, and nothing else")
    func rows() {
        for id in TextID.allCases {
            #expect(Positions.of(id.english).count == id.row.positions.count, "\(id.id)")
            #expect(id.row.positions.allSatisfy { !$0.isEmpty }, "\(id.id)")
            #expect(TextID(id: id.id) == id)
        }
    }

    @Test("no finished line has a position left, in English and in German")
    func filled() throws {
        for voice in [Voice.english, try German.voice()] {
            for phrase in phrases {
                let text = voice.text(phrase)
                #expect(!text.isEmpty)
                #expect(Positions.of(text).isEmpty, "\(text)")
                #expect(text.utf8.count < Limits.line, "\(text)")
            }
        }
    }

    @Test("an id fits its field on the wire")
    func lengths() {
        let all = ListedText.all
        for text in all { #expect(text.id.utf8.count <= Limits.messageID) }
        #expect(all.count <= Limits.texts)
        #expect(Set(all.map(\.id)).count == all.count)
    }

    @Test("those that the specification names are there")
    func specified() {
        let kinds = ["title", "headline", "body", "button"]
        var wanted = ["cancel.change.title", "cancel.open.title", "migration.headline"]
        wanted += ["migration.body", "migration.button", "passcode.off.with-fingerprint.body"]
        for family in ["policy.changed", "biometric.fingerprint.off", "passcode.off"] {
            wanted += kinds.map { "\(family).\($0)" }
        }
        wanted += ["create.choose", "create.confirm", "create.rules", "match.prompt"]
        wanted += ["match.retry", "match.reset", "fingerprint.place", "fingerprint.learn-more"]
        for id in wanted { #expect(TextID(id: id) != nil, "\(id)") }
    }

    @Test("the template for translators is the one that `make pot` makes")
    func template() throws {
        #expect(try Checkout.text("po/appvault.pot") == TextTemplate.pot)
    }

    @Test("German is complete and up to date")
    func german() throws {
        let entries = try Translations("po/de.po").entries
        #expect(entries.map(\.id) == ListedText.all.map(\.id))
        let voice = try German.voice()
        for listed in ListedText.all {
            let (text, origin) = voice.texts.template(listed, voice.language)
            // An entry with any mistake would not be taken from the catalogue.
            #expect(origin == .catalogue, "\(listed.id)")
            #expect(text.hasSuffix(" ") == listed.english.hasSuffix(" "), "\(listed.id)")
            #expect(text.hasSuffix(".") == listed.english.hasSuffix("."), "\(listed.id)")
        }
        for entry in entries { #expect(entry.text.hasSuffix(" ") == entry.english.hasSuffix(" ")) }
    }

    @Test("a refusal in German is one line without a full stop, too")
    func germanRefusals() throws {
        let voice = try German.voice()
        for refusal in Wording.refusals {
            let body = voice.refused(refusal)
            #expect(body.message.last != UInt8(ascii: "."))
            #expect(body.hint.last != UInt8(ascii: "."))
            #expect(body.hint.isEmpty == Voice.english.refused(refusal).hint.isEmpty)
        }
    }

    /// What services that do not converse show, at most two lines of 80 columns.
    private static let oneLine: [Message] =
        [
            .prompt, .promptOrPassword, .promptPlain, .retry(left: nil), .retry(left: 1),
            .retry(left: 99),
            .retryOrPassword(left: nil), .retryOrPassword(left: 99), .lastErases, .lastLocks,
            .erased, .retryLocked(.recover), .retryLocked(.nothing), .throttled(seconds: 900),
            .forgotten, .forgottenRecoverable,
            .fingerprintAllowed, .opened, .drift,
            .former, .driftElsewhere, .present, .differ, .unmet(.minLength(256)),
            .unmet(.groups(4)), .unmet(.unique(256)), .unmet(.history(24)), .unmet(.same),
            .fingerNoMatchAgain(left: 20), .fingerNoMatch(left: 3), .fingerNoMatch(left: 0),
            .fingerWaitOver, .fingerprintLearnMore, .recoveryRevoked,
            .storeMended(withoutRecovery: true), .storeMended(withoutRecovery: false),
        ] + Message.Due.allCases.map { .due($0) } + notices + Wording.scans

    private static let notices: [Message] = Message.Notice.allCases.flatMap { notice in
        notice.parts.map { .notice(notice, $0) } + [.noticeEnd(notice)]
    }

    @Test("what PAM shows fits 80 columns", arguments: oneLine)
    func columns(_ message: Message) throws {
        for voice in [Voice.english, try German.voice()] {
            let text = voice.text(message.phrase)
            #expect(text.count <= 80, "\(text.count): \(text)")
        }
    }

    @Test(
        "a wait is rounded up, in units that a person counts in",
        arguments: [
            (0, "1 s"), (119, "119 s"), (120, "2 min"), (121, "3 min"), (7199, "120 min"),
            (7200, "2 h"), (172_799, "48 h"), (172_800, "2 d"), (172_801, "3 d"),
        ])
    func spans(_ seconds: Int, _ text: String) {
        #expect(Voice.english.text(.span(seconds)) == text)
    }
}

@Suite("the language of a front end")
struct LanguageTests {
    private let texts = Texts(catalogues: [
        "de": Catalogue(), "pt_BR": Catalogue(), "sr": Catalogue(), "sr@latin": Catalogue(),
    ])

    @Test(
        "is one of those that were loaded, or English",
        arguments: [
            ("de_DE.UTF-8", "de"), ("de", "de"), ("de_AT@euro", "de"), ("de.UTF-8", "de"),
            ("pt_BR.UTF-8", "pt_BR"), ("pt_PT", nil), ("sr_RS@latin", "sr@latin"),
            ("sr_RS.UTF-8@latin", "sr@latin"), ("sr_RS", "sr"), ("C", nil), ("C.UTF-8", nil),
            ("POSIX", nil), ("", nil), ("en_US.UTF-8", nil), ("DE", nil), ("d", nil),
            ("../de", nil), ("/usr/share/locale/de", nil), ("de/../../etc", nil), ("_", nil),
            ("@", nil), (".", nil), ("@latin", nil), ("de\0", nil), ("de\n", nil), ("%s%n", nil),
            (String(repeating: "de_", count: 85), "de"), (String(repeating: "x", count: 255), nil),
        ])
    func matched(_ locale: String, _ name: String?) {
        #expect(texts.language(Array(locale.utf8)).name == name)
    }

    @Test("bytes that are no text are English")
    func garbage() {
        #expect(texts.language([0xFF, 0xFE, 0x64, 0x65]) == .english)
        #expect(texts.language([0x64, 0x65, 0x5F, 0xFF]).name == "de")
    }

    @Test(
        "knows a yes and a no when it reads one",
        arguments: [
            ("y", Choice.yes, Choice.yes), ("yes", .yes, .yes), ("YES", .yes, .yes),
            ("j", .neither, .yes), ("Ja", .neither, .yes), ("n", .no, .no), ("No", .no, .no),
            ("nein", .neither, .no), ("", .neither, .neither), (" ", .neither, .neither),
            ("y yes", .neither, .neither), ("yess", .neither, .neither),
            ("1", .neither, .neither), ("später", .neither, .neither),
        ])
    func choice(_ answer: String, _ english: Choice, _ german: Choice) throws {
        #expect(Voice.english.choice(Array(answer.utf8).span) == english)
        #expect(try German.voice().choice(Array(answer.utf8).span) == german)
    }
}

@Suite("[Texts] of the policy")
struct OverrideTests {
    private func voice(_ id: String, _ text: String) -> Voice {
        Voice(texts: Texts(overrides: [id: text]), language: .english)
    }

    @Test("replaces a text by its id, in every language")
    func applies() throws {
        let own = ["match.prompt": "Vault code:", "hint.Locked": "ask Bob", "no.such.id": "x"]
        for voice in [
            Voice(texts: Texts(overrides: own), language: .english), try German.voice(own),
        ] {
            let line = voice.line(.prompt)
            #expect(String(decoding: line.text, as: UTF8.self) == "Vault code: ")
            #expect(String(decoding: line.id, as: UTF8.self) == "match.prompt")
            #expect(String(decoding: voice.refused(.locked).hint, as: UTF8.self) == "ask Bob")
            let listed = voice.list.texts.first { $0.id == Array("match.prompt".utf8) }
            #expect(listed?.origin == .administrator)
        }
    }

    @Test("an empty one replaces nothing")
    func empty() {
        #expect(voice("match.prompt", "").line(.prompt) == Voice.english.line(.prompt))
    }

    @Test(
        "does no harm, whatever it holds",
        arguments: [
            ("no position", "no position"), ("{1}{1}{1}", "555"), ("{2} of {1}", "{2} of 5"),
            ("{0}{10}{}{x}{", "{0}{10}{}{x}{"), ("%s %n %1$s", "%s %n %1$s"),
            ("a\u{1B}[2Jb\r\n\u{7}", "a?[2Jb???"), ("\u{202E}{1}\u{2066}", "?5?"),
            ("{\u{200B}1}", "{?1}"), ("{1", "{1"), ("{1}}", "5}"), ("{{1}}", "{5}"),
        ])
    func hostile(_ text: String, _ shown: String) {
        let line = voice("match.retry.left", text).line(.retry(left: 5))
        #expect(String(decoding: line.text, as: UTF8.self) == shown)
    }

    @Test("is cut where a line ends")
    func long() {
        let line = voice("match.retry", String(repeating: "\u{1F600}", count: 5000)).line(
            .retry(left: nil))
        #expect(line.text.count == Limits.line)
    }

    @Test("an argument is never taken for a text with positions")
    func arguments() {
        let refusal = Refusal.policyBroken(
            file: "{2}", line: 7, key: "", wrong: "{1}\u{1B}", right: "{4}")
        #expect(Voice.english.text(refusal.message) == "{2}:7: {1}?: {4}")
        let long = Refusal.policyDenies(key: String(repeating: "k", count: 500))
        let shown = String(repeating: "k", count: Text.argument)
        let line = Voice.english.text(long.message)
        #expect(line == "the policy does not allow it (\(shown))")
    }
}
