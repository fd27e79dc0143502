import Posix

/// `manpages PAGES COMPLETIONS` writes the manual pages into one folder and the shells' completions
/// into another. It is a tool of the build and is not installed.
package enum Writer {
    package static func run() -> Never {
        guard CommandLine.arguments.count == 3 else {
            complain("usage: manpages PAGES COMPLETIONS")
            ToolIO.exit(2)
        }
        let files =
            Manual.pages.map { (1, $0.fileName, $0.text) }
            + Completions.all.map { (2, $0.name, $0.text) }
        for (folder, name, text) in files {
            let path = CommandLine.arguments[folder] + "/" + name
            do {
                try TextFile.replace(at: path, with: Array(text.utf8))
            } catch {
                complain("manpages: \(error)")
                ToolIO.exit(1)
            }
        }
        ToolIO.exit(0)
    }

    private static func complain(_ line: String) {
        try? ToolIO.write(2, Array((line + "\n").utf8).span)
    }
}
