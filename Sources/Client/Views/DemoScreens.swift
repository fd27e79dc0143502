import Fleet
import Posix
import Wire
import Words

/// Each screen that there is, with made-up contents.
package struct DemoScreens {
    package let all: [Screen]

    private static let organisation = "Example"
    private static let work = Array("work".utf8)
    private static let terms = """
        [Licence]
        Version=1
        Title=Terms of use

        # What this machine is for
        It belongs to Example. What you keep in your store stays yours: nobody there can read it.

        - Tell the help desk at once if it is lost.
        https://example.org/terms
        ---
        # What Example may do
        It may lock and wipe your store, where the machine is lost.

        [Consent inventory]
        Version=1
        Required=yes
        Title=Inventory

        Example counts its machines: once a day this one says which policy is in force.

        [Consent diagnostics]
        Version=1
        Required=no
        LearnMore=https://example.org/diagnostics
        Title=Diagnostics

        When something goes wrong, this machine may say what it was.
        """

    package init(_ voice: Words.Voice) {
        let rules = Self.rules(voice, [.notChecked, .notChecked])
        let papers = (try? Consents(Array(Self.terms.utf8)))?.items ?? []
        let sheets =
            Message.Notice.allCases.map { Sheet.notice($0) }
            + [
                .newPasscode(rules, maySkip: false),
                .newPasscode(rules, maySkip: true, wrong: .differ),
                .passcode(.opening, offersReset: true),
                .passcode(.openingOneOfSeveral, offersReset: false),
                .passcode(.change, offersReset: false),
                .recoveryKey(), .loginPassword(), .former(.former),
                .newPassphrase(least: 8), .passphrase(), .fingerprintOffer(), .fingerprintWho(),
                .recoveryOffer(),
                .fingerprintClear(), .changesLost(),
            ] + papers.map { .paper($0, of: Self.organisation, languages: []) } + [
                .welcome(organisation: Self.organisation),
                .welcome(organisation: nil, mayJoin: true),
                .welcomeWay(.ownPasscode, allowsNone: true), .welcomeReady(),
                .people(
                    [
                        Sheet.Item(
                            title: Array("default".utf8), subtitle: .peopleOpen, isCurrent: true),
                        Sheet.Item(
                            title: Self.work, subtitle: .peopleLocked, isCurrent: false),
                    ], .all),
                .peopleAdd(),
                .peopleRemove(
                    Self.work,
                    Sheet.Loss(followers: [Array("mail".utf8)], opensShared: false),
                    wrong: .peopleRemoveWrong),
            ]
            + Self.joining
        all = sheets.map { $0.screen(1, voice) }
    }

    private static var joining: [Sheet] {
        guard let host = JoinHost(Array("fleet.example.org".utf8)),
            let domain = JoinHost(Array("example.org".utf8))
        else { return [] }
        let join = Join(
            organisation: organisation,
            charter: Charter(signers: Signers(threshold: 1, keys: []), wipeThreshold: 1),
            targetKey: [])
        let fingerprint = (0..<JoinLink.fingerprintSize).map { UInt8($0) &* 37 }
        let link = JoinLink(host: host, fingerprint: fingerprint, token: "")
        return [
            .join(), .join(wrong: .refused(.invalidArgument(.joinWhat))), .joinScan(),
            .joinConfirm(join, link, foundBy: nil), .joinConfirm(join, link, foundBy: domain),
            .joinAbout(),
        ]
            + signingIn
    }

    private static let signIn = """
        [Sign-in]
        Version=1
        URL=https://id.example.org/appvault
        Title=Sign in with your staff account
        [Field mail]
        Label=E-mail
        Kind=email
        Prefill={account}@example.org
        [Field password]
        Label=Password
        Kind=secret
        """

    private static var signingIn: [Sheet] {
        guard let signIn = try? SignIn(Array(signIn.utf8)), case .fields(let fields) = signIn.way
        else { return [] }
        var person = Sheet.SigningIn(organisation: organisation, languages: [], mayLater: false)
        let typed = fields.map { Array($0.prefill(account: "alice").utf8) }
        let host = "id.example.org"
        let first = Sheet.signIn(signIn, fields, host: host, typed: typed, person)
        person.mayLater = true
        person.wrong = [
            .signInRefused(organisation: organisation),
            .signInSays("the password has expired; choose another one on the intranet"),
        ]
        let again = Sheet.signIn(signIn, fields, host: host, typed: typed, person)
        person.wrong = []
        let web = Sheet.signInWeb(
            signIn, page: "https://id.example.org/device", code: "WDJB-MJHT", person)
        return [first, again, web]
    }

    static let way = Array(Sheet.Name.welcomeWay.rawValue.utf8)
    static let own = Array(Button.ownPasscode.rawValue.utf8)

    /// What somebody sees who makes their store with `appvault welcome`.
    static func welcome(_ voice: Words.Voice, _ way: Create.Way) -> [Screen] {
        let usual: Sheet.UsualWay = way == .guidedFollowLogin ? .loginPassword : .ownPasscode
        return [
            .welcome(organisation: nil), .welcomeWay(usual, allowsNone: false),
            .newPasscode(rules(voice, [.notChecked, .notChecked]), maySkip: false),
            .welcomeReady(),
        ].map { (sheet: Sheet) in sheet.screen(1, voice) }
    }

    private static func rules(
        _ voice: Words.Voice, _ findings: [Checklist.Entry.Finding]
    ) -> [Checklist.Entry] {
        zip([Words.Refusal.Rule.minLength(10), .digit], findings).map { rule, finding in
            Checklist.Entry(id: [], finding: finding, wants: voice.bytes(rule.wish))
        }
    }

    /// Ten characters or more, and a digit.
    static func judge(
        _ answer: borrowing SecretBuffer, _ voice: Words.Voice
    ) -> [Checklist.Entry] {
        var hasDigit = false
        for index in 0..<answer.count where 0x30...0x39 ~= answer[index] { hasDigit = true }
        return rules(
            voice, [answer.count >= 10 ? .satisfied : .unmet, hasDigit ? .satisfied : .unmet])
    }
}

extension Words.Voice {
    /// In the person's language, if its texts are installed.
    package static func installed(for locale: [UInt8]) -> Words.Voice {
        let texts = Texts(catalogues: CatalogueFolder.read(CatalogueFolder.usual).good)
        return Words.Voice(texts: texts, language: texts.language(locale))
    }
}
