import Client
import Posix

/// The window.
public enum Desktop {
    public static func main() -> Never {
        ToolIO.occupyStandardDescriptors()
        _ = ToolIO.leaveNoCore()
        let options: Options
        do throws(Options.Mistake) {
            options = try Options.parse(
                ToolIO.arguments().map { String(decoding: $0, as: UTF8.self) })
        } catch {
            say(2, "appvault-desktop: \(error.text)\nhint: `appvault-desktop --help`\n")
            ToolIO.exit(2)
        }
        switch options.task {
        case .help:
            say(1, Options.help)
            ToolIO.exit(0)
        case .version:
            say(1, "appvault-desktop \(ThisRelease.text)\n")
            ToolIO.exit(0)
        case .window, .gallery, .pinentry: break
        }
        guard Application.hasDisplay else {
            say(
                2,
                "appvault-desktop: there is no display\nhint: `appvault` does the same on a terminal\n"
            )
            ToolIO.exit(1)
        }
        ToolIO.exit(
            Application.run { window in
                switch options.task {
                case .gallery(let name): Gallery.start(window, options, name)
                case .pinentry: Pinentry.start(window)
                case .window, .help, .version: Front.start(window, options)
                }
            } prepare: {
                Application.prepare(options.look)
            })
    }

    private static func say(_ descriptor: Int32, _ text: String) {
        try? ToolIO.write(descriptor, Array(text.utf8).span)
    }

    /// As setlocale would find it.
    static var locale: [UInt8] {
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = ToolIO.variable(name), !value.isEmpty { return value }
        }
        return []
    }
}
