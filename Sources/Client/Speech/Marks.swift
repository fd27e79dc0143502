import Wire

/// The marks of rules that are met and of rules that are not.
enum Marks: Equatable {
    case unicode
    case ascii

    func mark(_ finding: Checklist.Entry.Finding) -> String {
        switch (self, finding) {
        case (.unicode, .satisfied): "\u{2713}"
        case (.unicode, .unmet): "\u{2717}"
        case (.unicode, .notChecked): "\u{00B7}"
        case (.ascii, .satisfied): "ok"
        case (.ascii, .unmet): "no"
        case (.ascii, .notChecked): "--"
        }
    }

    var neutral: String { mark(.notChecked) }
    var dot: String { self == .unicode ? "\u{2022}" : "*" }
}

extension Environment {
    /// What the terminal can show, as setlocale would find it.
    var marks: Marks {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { name in
            variable(name).flatMap { $0.isEmpty ? nil : $0 }
        }.first
        let name = String(decoding: locale ?? [], as: UTF8.self).lowercased()
        return name.contains("utf-8") || name.contains("utf8") ? .unicode : .ascii
    }
}
