import Posix

/// `manpages FOLDER` writes the pages there; it is a tool of the build and is not installed.
package enum Writer {
    package static func run() -> Never {
        guard CommandLine.arguments.count == 2 else {
            complain("usage: manpages FOLDER")
            ToolIO.exit(2)
        }
        for page in Manual.pages {
            let path = CommandLine.arguments[1] + "/" + page.fileName
            do {
                try TextFile.replace(at: path, with: Array(page.text.utf8))
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
