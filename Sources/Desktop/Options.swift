import Client
import Posix

/// What was typed behind `appvault-desktop`.
struct Options {
    enum Errand {
        case window
        case help
        case version
        /// Every screen with made-up contents, from this one on.
        case gallery(String?)
        /// Another program asks somebody something.
        case pinentry
    }

    var task = Errand.window
    var screenshot: String?
    /// What is begun first.
    var errand = WindowErrand.home
    var places = WindowPlaces()
    var look = Look()

    static let help = """
        usage: appvault-desktop [OPTION]... [LINK|EMAIL|PICTURE]

        AppVault in a window: make your store step by step, unlock and lock it, change
        its passcode, enrol a finger. It asks the same as `appvault` on a terminal.
        With an invitation of an organisation's it first asks whether to join that.

          --unlock STORE       unlock this store first
          --recover STORE      begin with the recovery key of this store
          --gallery [SCREEN]   show every screen with made-up contents, without a daemon
          --pinentry           show what the program that started it asks, as a pinentry
          --socket PATH        a private daemon's socket
          --theme FILE         another style sheet than ~/.config/appvault/theme.css
          --right-to-left      as in Arabic or Hebrew
          --light, --dark      whatever the desktop has
          --text FACTOR        text so many times as large, 1 to 4
          --screenshot FILE    write the window's picture to FILE, and end
          --version, --help

        Style sheets are CSS of GTK 4. /etc/appvault/theme.css comes first, then the
        person's own. Each part of a screen has a name, such as #welcome-heading-1.

        """

    struct Mistake: Error {
        let text: String
    }

    static func parse(_ arguments: [String]) throws(Mistake) -> Options {
        var options = Options()
        var rest = arguments[...]
        func value(_ flag: String) throws(Mistake) -> String {
            guard let value = rest.popFirst() else { throw Mistake(text: "\(flag) wants a value") }
            return value
        }
        while let flag = rest.popFirst() {
            switch flag {
            case "--help", "-h": options.task = .help
            case "--version": options.task = .version
            case "--gallery":
                if let name = rest.first, !name.hasPrefix("-") {
                    options.task = .gallery(name)
                    rest.removeFirst()
                } else {
                    options.task = .gallery(nil)
                }
            case "--pinentry": options.task = .pinentry
            case WindowErrand.unlockOption:
                try options.begin(.unlock(store: Array(try value(flag).utf8)))
            case WindowErrand.recoverOption:
                try options.begin(.recover(store: Array(try value(flag).utf8)))
            case "--screenshot":
                options.screenshot = try value(flag)
                options.look.isStill = true
            case "--socket": options.places.socket = Array(try value(flag).utf8)
            case "--pam-dir": options.places.pamFolder = Array(try value(flag).utf8)
            case "--scanner": options.places.scanner = Array(try value(flag).utf8)
            case "--camera": options.places.camera = Array(try value(flag).utf8)
            case "--theme": options.look.theme = try value(flag)
            case "--right-to-left": options.look.isRightToLeft = true
            case "--light": options.look.isDark = false
            case "--dark": options.look.isDark = true
            case "--text":
                guard let factor = Double(try value(flag)), (1...4).contains(factor) else {
                    throw Mistake(text: "--text wants a number from 1 to 4")
                }
                options.look.textScale = factor
            case _ where flag.hasPrefix("-"):
                throw Mistake(text: "\(Shown.text(Array(flag.utf8))) is no option")
            default: try options.begin(.join(invitation: Array(flag.utf8)))
            }
        }
        return options
    }

    private mutating func begin(_ errand: WindowErrand) throws(Mistake) {
        guard self.errand == .home else { throw Mistake(text: "it begins with one thing") }
        self.errand = errand
    }
}
