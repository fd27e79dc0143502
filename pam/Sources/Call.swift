internal import CPam
internal import WireEmbedded

/// One call by libpam: its handle, the options of the service file, and the conversation of the
/// application.
struct Call {
    let pam: Pam
    let options: Options
    let face: Face

    init(_ pam: Pam, _ flags: Int32, _ count: Int32, _ arguments: Arguments?) {
        self.pam = pam
        // SAFETY: libpam brings as many arguments as it counts.
        options = unsafe Options(pam, count, arguments)
        face = Face(pam, flags: flags)
    }

    /// A message that starts with the greeting; the request follows.
    func greeting(_ frontEnd: FrontEnd) -> Memory? {
        guard var message = Memory(capacity: 2 * (Limits.smallFrame + FrameHeader.size)) else {
            return nil
        }
        Frame.write(
            hello(frontEnd), type: RequestType.hello.rawValue, tag: Exchange.helloTag, to: &message)
        return message
    }

    /// Who is asking, according to PAM's items. The daemon believes root. From others these items
    /// can only make a try count for less.
    private func hello(_ frontEnd: FrontEnd) -> Hello {
        var hello = Hello(frontEnd: frontEnd, realUID: getuid())
        hello.silent = face.silent
        hello.service = pam.text(PAM_SERVICE).claim
        hello.tty = pam.text(PAM_TTY).claim
        hello.remoteHost = pam.text(PAM_RHOST).claim
        hello.remoteUser = pam.text(PAM_RUSER).claim
        // SAFETY: setlocale answers a NUL-terminated string or NULL.
        hello.language = unsafe Text(appvault_pam_language()).orEmpty
        return hello
    }

    /// The account that the application names; nil where no account can have such a name. Asks the
    /// person nothing.
    func userName() -> [UInt8]? {
        guard case .fits(let bytes) = pam.text(PAM_USER) else { return nil }
        // An empty name would mean the peer itself: root.
        return bytes.isEmpty ? nil : bytes
    }

    /// The account with its uid. The look-up in the directory may take long.
    func subject(_ name: [UInt8]) -> Subject {
        let uid = pam.userID()
        guard case .fits(let own) = pam.canonicalUser(), !own.isEmpty else {
            return Subject(name: name, uid: uid)
        }
        return Subject(name: own, uid: uid)
    }

    func debug(_ text: StaticString, _ number: Int) {
        switch options.speech {
        case .quiet: break
        case .debug: pam.log(LOG_DEBUG, text, number)
        }
    }
}
