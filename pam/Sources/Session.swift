internal import WireEmbedded

extension Call {
    /// After pam_systemd: tells the daemon which logind session now belongs to this person.
    func openSession() {
        let id = pam.environment("XDG_SESSION_ID")
        if case .fits(let bytes) = id { rememberSession(bytes) }
        tell(.sessionOpen, id.orEmpty)
    }

    /// Tells the daemon that the same session has ended. This often runs in another process than
    /// the one that opened it.
    func closeSession() {
        tell(.sessionClose, rememberedSession() ?? pam.environment("XDG_SESSION_ID").orEmpty)
    }

    private func tell(_ type: RequestType, _ id: [UInt8]) {
        guard let name = userName() else { return }
        var exchange = Exchange(self, questions: .aborted)
        if exchange.open() != nil { return }
        let session = WireEmbedded.Session(
            subject: subject(name), id: id,
            sessionClass: pam.environment("XDG_SESSION_CLASS").orEmpty)
        var message = greeting(.pamSession)
        message?.put(session, type)
        switch exchange.run(message) {
        case .verdict(let verdict): debug("session: code", Int(verdict.code))
        case .refused(let code): debug("session: refused with code", Int(code))
        case .fault: break
        }
    }

    private func rememberSession(_ id: [UInt8]) {
        // Of a fixed size, so that `kept` can check it. The first byte is the length.
        var bytes = [UInt8(truncatingIfNeeded: id.count)]
        bytes.append(contentsOf: id)
        while bytes.count < Call.sessionSize { bytes.append(0) }
        pam.keep(bytes, as: Call.sessionName)
    }

    private func rememberedSession() -> [UInt8]? {
        guard let bytes = pam.kept(Call.sessionSize, as: Call.sessionName), let count = bytes.first
        else { return nil }
        return Array(bytes.dropFirst().prefix(Int(count)))
    }

    private static let sessionSize = Limits.text + 1
    private static let sessionName: StaticString = "appvault.session"
}
