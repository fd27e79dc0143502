import Client
import Policy
import Posix
import Testing
import VaultService

@testable import Manual

private func page(_ name: String) throws -> String {
    try #require(Manual.pages.first { $0.name == name }).text
}

/// A term as a page writes it.
private func term(_ code: String) -> String { #"\fB\#(Page.escaped(code, isCode: true))\fR"# }

struct ManualTests {
    @Test("every key of the policy has a meaning, and nothing else has one")
    func meanings() {
        #expect(KeyMeanings.all.map(\.key) == PolicyKeyFacts.all.map(\.name))
        #expect(KeyMeanings.ofApps.map(\.key) == PolicyKeyFacts.ofApps.map(\.name))
        for (key, meaning) in KeyMeanings.all + KeyMeanings.ofApps {
            #expect(meaning.hasSuffix("."), "\(key)")
        }
    }

    @Test(
        "every key stands in its part of the page with its bounds and what is built in",
        arguments: [("KEYS", PolicyKeyFacts.all), ("APPLICATIONS", PolicyKeyFacts.ofApps)])
    func keys(heading: String, facts: [PolicyKeyFacts]) throws {
        // Some keys have the same name in both.
        let page = try page("appvault-policy.conf").behind("\n.SH \(heading)").before("\n.SH ")
        for key in facts {
            let head = "\n.TP\n\(term(key.name))=\n"
            #expect(page.components(of: head) == 1, "\(key.name)")
            let item = words(page.behind(head).before("\n.TP\n").before("\n.SH "))
            let builtIn =
                key.builtIn.isEmpty
                ? "Built in: nothing." : "Built in: \(term(key.builtIn))\\&."
            #expect(!key.bounds.isEmpty)
            #expect(item.contains("Value: \(words(Page.marked(key.bounds)))."), "\(key.name)")
            #expect(item.contains(builtIn), "\(key.name)")
            #expect(item.contains("not acted on yet") != key.isActedOn, "\(key.name)")
        }
    }

    /// The text, wherever its lines were broken.
    private func words(_ troff: String) -> String {
        troff.split { $0 == "\n" || $0 == " " }.joined(separator: " ")
    }

    @Test("every verb and its options are completed in each shell", arguments: Completions.all)
    func completions(_ file: Completions.File) {
        for entry in VerbEntry.all {
            for word in entry.words {
                #expect(file.text.components(of: word) > 0, "\(entry.name)")
            }
            for option in entry.options {
                let flag = option.entry.flag
                // fish names an option without its dashes.
                let isThere =
                    file.text.contains(flag) || file.text.contains(" -l \(flag.dropFirst(2))")
                #expect(isThere, "\(flag)")
            }
        }
    }

    @Test("every verb, option, exit status and code stands in the page")
    func verbs() throws {
        let page = try page("appvault")
        for verb in VerbEntry.all {
            #expect(page.contains(term(verb.synopsis)), "\(verb.name)")
            for field in verb.json {
                #expect(page.contains(term(field.name)), "\(field.name)")
            }
        }
        for option in Option.allCases {
            let isShown = option.entry.reach != .hidden
            #expect(page.contains(term(option.entry.flag)) == isShown, "\(option.entry.flag)")
        }
        for status: Client.ExitStatus in [
            .success, .refused, .usage, .missing, .locked, .unavailable, .damaged, .cancelled,
        ] {
            #expect(page.contains(".TP\n\(term("\(status.rawValue)"))\n"))
        }
    }

    @Test("every option of the daemon stands in its page")
    func daemon() throws {
        let page = try page("appvaultd")
        for option in OptionEntry.all {
            #expect(page.contains(term(option.flag)), "\(option.flag)")
        }
    }

    @Test("the module reads the options that its page lists, and no others")
    func module() throws {
        let source = String(
            decoding: try TextFile.read(at: moduleSource, limit: 1 << 20), as: UTF8.self)
        var read: [String] = []
        for line in source.split(separator: "\n") {
            for mark in [#"if word == ""#, #"word.starts(""#] {
                let parts = line.split(separator: mark, omittingEmptySubsequences: false)
                guard parts.count > 1, let name = parts[1].split(separator: "\"").first else {
                    continue
                }
                read.append(String(name))
            }
        }
        #expect(read.count > 5)
        #expect(Set(read) == Set(ModuleOptions.all.map(\.name)))
        #expect(read.count == ModuleOptions.all.count)
    }

    private var moduleSource: String {
        // Tests/ManualTests/ManualTests.swift lies three below the package.
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/pam/Sources/Options.swift"
    }

    @Test("a page is ASCII, and no line of prose looks like a request", arguments: [0, 1, 2, 3])
    func form(index: Int) {
        let requests: Set = [
            ".TH", ".SH", ".SS", ".PP", ".TP", ".IP", ".RS", ".RE", ".nf", ".fi", ".in", ".ad",
            ".hy", ".PD",
        ]
        for line in Manual.pages[index].text.split(separator: "\n") {
            #expect(line.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "\(line)")
            #expect(!line.hasPrefix("'"))
            if line.hasPrefix("."), !line.hasPrefix(#".\""#) {
                let request = line.split(separator: " ").first.map(String.init) ?? ""
                #expect(requests.contains(request), "\(line)")
            }
        }
    }

    static let marked: [(text: String, troff: String)] = [
        ("plain words", "plain words"),
        ("a `code-word` here", #"a \fBcode\-word\fR here"#),
        ("see passwd(1).", #"see \fBpasswd\fR(1)."#),
        ("give --yes or -", #"give \-\-yes or -"#),
        (".conf", #"\&.conf"#),
        ("it's \\ ^ ~", #"it\(aqs \e \(ha \(ti"#),
        ("(yes)", "(yes)"),
    ]

    @Test("text becomes troff", arguments: marked)
    func escapes(text: String, troff: String) {
        #expect(Page.marked(text) == troff)
    }
}

extension String {
    fileprivate func components(of part: String) -> Int {
        split(separator: part, omittingEmptySubsequences: false).count - 1
    }

    fileprivate func before(_ part: String) -> String {
        split(separator: part, maxSplits: 1, omittingEmptySubsequences: false).first.map(
            String.init) ?? self
    }

    fileprivate func behind(_ part: String) -> String {
        let parts = split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count > 1 ? String(parts[1]) : ""
    }
}
