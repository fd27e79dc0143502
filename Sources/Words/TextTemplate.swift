/// po/appvault.pot: what translators start from.
package enum TextTemplate {
    package static var pot: String {
        let header = """
            # The texts of AppVault, by id. Made by `make pot`; do not edit.
            msgid ""
            msgstr ""
            "Project-Id-Version: appvault\\n"
            "MIME-Version: 1.0\\n"
            "Content-Type: text/plain; charset=UTF-8\\n"
            "Content-Transfer-Encoding: 8bit\\n"

            """
        return ListedText.all.reduce(into: header) { pot, text in
            pot += "\n"
            for (number, position) in text.positions.enumerated() {
                pot += "#. {\(number + 1)}: \(position)\n"
            }
            pot += "msgctxt \(quoted(text.id))\nmsgid \(quoted(text.english))\nmsgstr \"\"\n"
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
        }
        return "\"\(escaped.joined())\""
    }
}
