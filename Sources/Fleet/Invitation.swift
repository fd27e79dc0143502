/// What a person has in their hands who is to join an organisation.
public enum Invitation: Equatable, Sendable {
    case link(JoinLink)
    /// The organisation that has this domain says where its link is.
    case email(domain: JoinHost)

    public enum Fault: Error, Equatable, Sendable {
        case link(JoinLink.Fault)
        /// It is not an e-mail address of a domain either.
        case neither
    }

    private static let mostEmail = 254

    /// As somebody typed it, or a file or a code has it: spaces and line ends around it do not count.
    public init(_ text: [UInt8]) throws(Fault) {
        let blank: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        let typed = Array(
            text.drop(while: blank).reversed().drop(while: blank).reversed())
        if typed.starts(with: Array("appvault:".utf8)) {
            do throws(JoinLink.Fault) {
                self = .link(try JoinLink(typed))
            } catch {
                throw .link(error)
            }
            return
        }
        // What stands before the last @ is nobody's business; it is sent nowhere.
        guard typed.count <= Self.mostEmail, !typed.contains(where: blank),
            let at = typed.lastIndex(of: UInt8(ascii: "@")), at > typed.startIndex
        else { throw .neither }
        let domain = typed[(at + 1)...].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        guard !domain.contains(UInt8(ascii: ":")), let host = JoinHost(domain) else {
            throw .neither
        }
        self = .email(domain: host)
    }

    /// Where a domain's link is.
    public static func url(of domain: JoinHost) -> String {
        "https://\(domain.text)/.well-known/appvault"
    }

    public static let mostFile = 16 * 1024

    /// What lies there: one link, and lines of # that say something to people.
    public static func link(in file: [UInt8]) throws(JoinLink.Fault) -> JoinLink {
        guard file.count <= mostFile else { throw .noLink }
        var found: [UInt8]?
        for line in file.split(separator: 0x0A) {
            let text = Array(line.last == 0x0D ? line.dropLast() : line)
            guard !text.isEmpty, text.first != UInt8(ascii: "#") else { continue }
            guard found == nil else { throw .noLink }
            found = text
        }
        guard let found else { throw .noLink }
        return try JoinLink(found)
    }
}
