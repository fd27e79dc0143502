/// The command line of appvault-windows.
enum Arguments: Equatable {
    case hide(ControlGroup)
    case show([UInt32])
    case say(String)
    case wrong(String)

    static let version = "0.1.0"
    static let help = """
        usage: appvault-windows hide CGROUP
               appvault-windows show ID...

        Hides the X11 windows of all processes in a control group, and prints the id of each, one
        on a line; shows them again. A frozen program can neither redraw its windows nor let go
        of the pointer: a menu that is open would keep a screen locker from locking.

          CGROUP    as /proc/PID/cgroup names it behind 0::, without those above it
          ID        as hide printed it; a window that is gone, or was not hidden, is left alone

        Exit status: 0 done, 2 a mistake in the command line, 3 no X server, or one that does not
        tell whose a window is. After 2 seconds SIGALRM ends it: what it has printed until then may
        be hidden.

        """

    init(_ words: [String]) {
        switch words.first {
        case "-h", "--help": self = .say(Self.help)
        case "--version": self = .say("appvault-windows \(Self.version)\n")
        case "hide":
            guard words.count == 2, let group = ControlGroup(words[1]) else {
                self = .wrong("hide needs one control group, such as /user.slice/app.scope")
                return
            }
            self = .hide(group)
        case "show":
            let windows = words.dropFirst().map { UInt32($0) ?? 0 }
            guard !windows.isEmpty, !windows.contains(0) else {
                self = .wrong("show needs the ids that hide printed")
                return
            }
            self = .show(windows)
        default: self = .wrong("write hide or show; --help says more")
        }
    }
}
