import Client
import Wire

/// What the Tab key completes after `appvault`, for three shells: only the tool's own words, accounts
/// and files. Names of records are never completed, because they stay in the store.
package enum Completions {
    package struct File: Sendable {
        package let name: String
        package let text: String
    }

    package static let all = [
        File(name: "appvault.bash", text: bash), File(name: "_appvault", text: zsh),
        File(name: "appvault.fish", text: fish),
    ]

    private static let entries = VerbEntry.all

    private static func options(_ reach: Option.Reach) -> [Option.Entry] {
        Option.allCases.map(\.entry).filter { $0.reach == reach }
    }

    private static let everywhere = options(.everywhere)
    private static let withValue = (everywhere + options(.named) + options(.hidden))
        .filter { $0.argument != nil }.map(\.flag)

    /// The words that begin a verb, each once, in the order of the help.
    private static let firstWords = entries.reduce(into: [String]()) { words, entry in
        if !words.contains(entry.words[0]) { words.append(entry.words[0]) }
    }

    private static func second(_ word: String) -> [VerbEntry] {
        entries.filter { $0.words.count > 1 && $0.words[0] == word }
    }

    private static func takesFile(_ entry: VerbEntry) -> Bool {
        entry.operands.contains { $0.contains("FILE") }
    }

    /// The words that a verb takes one of, where they are known.
    private static func words(of entry: VerbEntry) -> [String] {
        if entry.operands.contains("[FINGER]") { return Finger.named.map(\.name) }
        return entry.operands.contains("[VERB]") ? firstWords : []
    }

    /// The options that take an account.
    private static let withAccount = (everywhere + options(.named))
        .filter { $0.argument == Option.user.entry.argument }.map(\.flag)

    private static let note = "# Made by `make` from the table of verbs: change that."

    // MARK: bash

    private static var bash: String {
        var cases: [String] = []
        for word in firstWords {
            let more = second(word)
            if !more.isEmpty {
                cases.append(
                    "        \(word)) offers=\"\(more.map { $0.words[1] }.joined(separator: " "))\" ;;"
                )
            }
        }
        for entry in entries {
            let own = entry.options.map(\.entry.flag).joined(separator: " ")
            let files = takesFile(entry) ? " files=yes" : ""
            if !own.isEmpty || !files.isEmpty {
                let second = entry.words.count > 1 || !self.second(entry.name).isEmpty
                let pattern =
                    second ? "\"\(entry.name)\"*" : "\(entry.name) | \"\(entry.name) \"*"
                cases.append("        \(pattern)) flags+=\" \(own)\"\(files) ;;")
            }
        }
        let operands = entries.filter { !words(of: $0).isEmpty }.map { entry in
            "        \"\(entry.name)\") offers=\"\(words(of: entry).joined(separator: " "))\" ;;"
        }
        return """
            \(note)
            _appvault() {
                local current=${COMP_WORDS[COMP_CWORD]} given= word value= offers= files=
                local flags="\(everywhere.map(\.flag).joined(separator: " "))"
                COMPREPLY=()
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    if [[ $value ]]; then value=; continue; fi
                    case $word in
                    \(withValue.joined(separator: " | "))) value=$word ;;
                    -*) ;;
                    *) given+="${given:+ }$word" ;;
                    esac
                done
                case $value in
                "") ;;
                \(withAccount.joined(separator: " | "))) COMPREPLY=($(compgen -u -- "$current")); return ;;
                *) COMPREPLY=($(compgen -f -- "$current")); return ;;
                esac
                case $given in
                    "") offers="\(firstWords.joined(separator: " "))" ;;
            \(cases.joined(separator: "\n"))
                esac
                case $given in
            \(operands.joined(separator: "\n"))
                esac
                if [[ $current == -* ]]; then
                    COMPREPLY=($(compgen -W "$flags" -- "$current"))
                elif [[ $files ]]; then
                    compopt -o filenames
                    COMPREPLY=($(compgen -f -- "$current"))
                else
                    COMPREPLY=($(compgen -W "$offers" -- "$current"))
                fi
            }
            complete -F _appvault appvault

            """
    }

    // MARK: zsh

    /// A word and what it means, for _describe.
    private static func described(_ word: String, _ meaning: String) -> String {
        "'\(word):" + quoted(meaning).replacing(":", with: "\\:") + "'"
    }

    private static func flagged(_ option: Option.Entry) -> String {
        let values = withAccount.contains(option.flag) ? "_users" : "_files"
        let value = option.argument.map { ":\($0):\(values)" } ?? ""
        return "'\(option.flag)[\(quoted(option.summary))]\(value)'"
    }

    /// Inside of single quotes.
    private static func quoted(_ text: String) -> String {
        text.replacing("'", with: "'\\''")
    }

    private static func meaning(_ word: String) -> String {
        entries.first { $0.words == [word] }?.summary
            ?? second(word).map { $0.words[1] }.joined(separator: ", ")
    }

    private static var zsh: String {
        var cases: [String] = []
        for word in firstWords where !second(word).isEmpty {
            let more = second(word).map { described($0.words[1], $0.summary) }
            cases.append("    \(word)) offers=(\(more.joined(separator: " "))) ;;")
        }
        for entry in entries {
            let own = entry.options.map { flagged($0.entry) }.joined(separator: " ")
            let files = takesFile(entry) ? " files=yes" : ""
            if !own.isEmpty || !files.isEmpty {
                cases.append(
                    "    (\(entry.name.replacing(" ", with: "\\ "))(| *)) flags+=(\(own))\(files) ;;"
                )
            }
        }
        let operands = entries.filter { !words(of: $0).isEmpty }.map { entry in
            "    (\(entry.name.replacing(" ", with: "\\ "))) offers=(\(words(of: entry).joined(separator: " "))) ;;"
        }
        return """
            #compdef appvault
            \(note)
            _appvault() {
                local word value given files
                local -a offers flags
                flags=(\(everywhere.map(flagged).joined(separator: " ")))
                for word in ${words[2,CURRENT-1]}; do
                    if [[ -n $value ]]; then value=; continue; fi
                    case $word in
                    (\(withValue.joined(separator: "|"))) value=$word ;;
                    (-*) ;;
                    (*) given+="${given:+ }$word" ;;
                    esac
                done
                case $value in
                ('') ;;
                (\(withAccount.joined(separator: "|"))) _users; return ;;
                (*) _files; return ;;
                esac
                case $given in
                ('') offers=(\(firstWords.map { described($0, meaning($0)) }.joined(separator: " "))) ;;
                esac
                case $given in
            \(cases.joined(separator: "\n"))
                esac
                case $given in
            \(operands.joined(separator: "\n"))
                esac
                if [[ $PREFIX == -* ]]; then _arguments $flags; return; fi
                if [[ -n $files ]]; then _files; return; fi
                (( $#offers )) && _describe 'verb' offers
            }
            _appvault "$@"

            """
    }

    // MARK: fish

    private static func fishLine(_ condition: String, _ rest: String, _ meaning: String) -> String {
        let escaped = meaning.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "complete -c appvault -n '\(condition)' \(rest) -d '\(escaped)'"
    }

    private static var fish: String {
        var lines = [note, "complete -c appvault -f"]
        for word in firstWords {
            lines.append(fishLine("__fish_use_subcommand", "-a \(word)", meaning(word)))
            let more = second(word)
            let names = more.map { $0.words[1] }.joined(separator: " ")
            let isOpen =
                "__fish_seen_subcommand_from \(word); and not __fish_seen_subcommand_from \(names)"
            for entry in more {
                lines.append(fishLine(isOpen, "-a \(entry.words[1])", entry.summary))
            }
        }
        for option in everywhere {
            let value = option.argument == nil ? "" : " -r -F"
            lines.append(fishLine("true", "-l \(option.flag.dropFirst(2))\(value)", option.summary))
        }
        for entry in entries {
            let given = entry.words.map { "__fish_seen_subcommand_from \($0)" }
                .joined(separator: "; and ")
            for option in entry.options {
                let accounts = withAccount.contains(option.entry.flag)
                let value =
                    option.entry.argument == nil
                    ? "" : accounts ? " -x -a '(__fish_complete_users)'" : " -r"
                lines.append(
                    fishLine(
                        given, "-l \(option.entry.flag.dropFirst(2))\(value)", option.entry.summary)
                )
            }
            for word in words(of: entry) {
                lines.append("complete -c appvault -n '\(given)' -a \(word)")
            }
            if takesFile(entry) { lines.append("complete -c appvault -n '\(given)' -F") }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
