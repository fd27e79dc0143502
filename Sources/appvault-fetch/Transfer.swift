internal import CCurl
import Posix
import Wire

/// libcurl, and what of this machine it may use.
@safe
final class Transfers {
    private let handle: UnsafeMutableRawPointer
    private let files: Credentials

    /// What systemd has put there for this process; nil where a file is missing, or blank as the unit has
    /// it where there is none.
    @safe
    struct Credentials {
        let authorities: UnsafePointer<CChar>?
        let certificate: UnsafePointer<CChar>?
        let key: UnsafePointer<CChar>?

        init(folder: String?) {
            func file(_ name: String) -> UnsafePointer<CChar>? {
                guard let path = folder.map({ "\($0)/\(name)" }),
                    let text = try? TextFile.read(at: path, limit: 1 << 20),
                    text.contains(where: { $0 > 0x20 })
                else { return nil }
                // SAFETY: a copy that lives as long as this process.
                return unsafe UnsafePointer(strdup(path))
            }
            unsafe authorities = file("ca.pem")
            unsafe certificate = file("client.pem")
            unsafe key = file("client.key")
        }
    }

    init?(_ files: Credentials) {
        guard let made = unsafe appvault_curl_begin() else { return nil }
        // SAFETY: libcurl's handle lives until this process ends.
        unsafe handle = made
        self.files = files
    }

    /// One of them at a time; it ends when the asker's connection does.
    func run(
        _ question: FetchQuestion, report: [UInt8], asker: Int32
    ) -> (answer: FetchAnswer, content: [UInt8]) {
        var transfer = unsafe appvault_transfer()
        unsafe transfer.seconds = Int(question.seconds)
        unsafe transfer.asker = asker
        unsafe transfer.authorities = files.authorities
        unsafe transfer.most = FetchLink.content
        switch question.method {
        case .get, .post: break
        case .find:
            unsafe transfer.most = FetchLink.found
            unsafe transfer.follows_none = 1
        case .signIn:
            unsafe transfer.most = FetchLink.said
            unsafe transfer.is_said = 1
        }
        // Whoever an invitation leads to is nobody yet who may know this machine.
        if question.method != .find {
            unsafe transfer.certificate = files.certificate
            unsafe transfer.key = files.key
        }
        let (url, tag) = (Self.text(question.url), Self.text(question.tag))
        // SAFETY: the texts end with a NUL, and they and the report live as long as the call; libcurl
        // has done with them then.
        unsafe url.withUnsafeBufferPointer { url in
            unsafe tag.withUnsafeBufferPointer { tag in
                unsafe report.withUnsafeBytes { report in
                    unsafe transfer.url = url.baseAddress
                    if !question.tag.isEmpty { unsafe transfer.tag = tag.baseAddress }
                    switch question.method {
                    case .get, .find: break
                    case .post, .signIn:
                        unsafe transfer.report = report.baseAddress
                        unsafe transfer.report_count = report.count
                    }
                    unsafe appvault_curl_transfer(handle, &transfer)
                }
            }
        }
        defer { unsafe free(transfer.content) }
        var answer = FetchAnswer(
            nonce: question.nonce, outcome: unsafe Self.outcome(transfer),
            status: 0, tag: [])
        guard answer.outcome == .answered else { return (answer, []) }
        answer.status = unsafe UInt16(clamping: transfer.status)
        answer.tag = unsafe withUnsafeBytes(of: transfer.got_tag) { bytes in
            // SAFETY: the array lives in the structure, and is read within it.
            unsafe Array(bytes.prefix(while: { $0 != 0 }))
        }
        if !UTF8Check.isText(answer.tag.span, start: 0, count: answer.tag.count) { answer.tag = [] }
        // Only what was asked for: pages that go with an error are nobody's business.
        switch question.method {
        case .get, .find: if answer.status != 200 { return (answer, []) }
        case .post: return (answer, [])
        case .signIn: break
        }
        // SAFETY: libcurl's bytes, so many as it has counted.
        let content = unsafe UnsafeBufferPointer(start: transfer.content, count: transfer.count)
        return (answer, unsafe Array(content))
    }

    private static func text(_ bytes: [UInt8]) -> [CChar] {
        bytes.map { CChar(bitPattern: $0) } + [0]
    }

    private static func outcome(_ transfer: appvault_transfer) -> FetchAnswer.Outcome {
        if unsafe transfer.is_too_large != 0 { return .tooLarge }
        // SAFETY: fields of a structure that is filled.
        let (code, systemError) = unsafe (
            transfer.code, Int32(truncatingIfNeeded: transfer.system_error)
        )
        let (verified, status) = unsafe (transfer.verified, transfer.status)
        let throughProxy = unsafe transfer.proxy_status
        switch code {
        case CURLE_OK: return .answered
        case CURLE_COULDNT_RESOLVE_HOST: return .noName
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .proxy
        case CURLE_COULDNT_CONNECT: return systemError == ECONNREFUSED ? .refused : .noWay
        case CURLE_PEER_FAILED_VERIFICATION:
            switch verified {
            case X509.notYetValid, X509.expired: return .notValidNow
            case X509.good, X509.unsaid: return .otherName
            default: return .untrusted
            }
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return .ownFiles
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED: return .noTLS
        case CURLE_TOO_MANY_REDIRECTS: return .redirected
        // Where it leads to is not https; or what came was not HTTP.
        case CURLE_UNSUPPORTED_PROTOCOL: return status / 100 == 3 ? .redirected : .failed
        case CURLE_FILESIZE_EXCEEDED: return .tooLarge
        case CURLE_OPERATION_TIMEDOUT: return .tooSlow
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR: return .cut
        // A proxy that does not let through says so before there is a server.
        case CURLE_RECV_ERROR: return throughProxy / 100 > 2 ? .proxy : .cut
        default: return .failed
        }
    }

    /// OpenSSL's numbers.
    private enum X509 {
        static let good = 0
        /// libcurl's, before it has looked at the name.
        static let unsaid = 1
        static let notYetValid = 9
        static let expired = 10
    }
}
