internal import CPam
import Posix

/// Asks PAM whether a typed login password is right, through AppVault's own PAM service.
enum LoginProof {
    enum Verdict: Equatable {
        case proven
        case wrong
        /// The machine does not have this PAM service.
        case notInstalled
        case failed([UInt8])
    }

    static let service = "appvault"

    static func check(user: [UInt8], password: inout SecretBuffer, folder: [UInt8]?) -> Verdict {
        let places =
            folder.map { [$0] } ?? [Array("/etc/pam.d".utf8), Array("/usr/lib/pam.d".utf8)]
        guard
            places.contains(where: { ToolIO.kind(of: $0 + Array("/\(service)".utf8)) == .regular })
        else {
            return .notInstalled
        }
        let name = String(decoding: user, as: UTF8.self)
        let confined = folder.map { String(decoding: $0, as: UTF8.self) }
        // SAFETY: the secret lives longer than the transaction, which ends in `run`. PAM gets only
        // the copy that `answer` makes, and wipes it.
        return unsafe password.withCString { secret in
            unsafe run(user: name, secret: secret, folder: confined)
        }
    }

    private static func run(user: String, secret: UnsafePointer<CChar>, folder: String?) -> Verdict
    {
        var conversation = unsafe pam_conv(
            conv: answer, appdata_ptr: UnsafeMutableRawPointer(mutating: UnsafeRawPointer(secret)))
        var handle: OpaquePointer?
        // SAFETY: the conversation lives until pam_end below.
        let started =
            if let folder {
                unsafe pam_start_confdir(service, user, &conversation, folder, &handle)
            } else {
                unsafe pam_start(service, user, &conversation, &handle)
            }
        guard started == PAM_SUCCESS, let transaction = unsafe handle else {
            return .failed(Array("pam_start".utf8))
        }
        let flags = Int32(PAM_DISALLOW_NULL_AUTHTOK) | Int32(bitPattern: UInt32(PAM_SILENT))
        let result = unsafe pam_authenticate(transaction, flags)
        let words = unsafe pam_strerror(transaction, result).map {
            unsafe Array(String(cString: $0).utf8)
        }
        unsafe _ = pam_end(transaction, result)
        switch result {
        case PAM_SUCCESS: return .proven
        case PAM_AUTH_ERR, PAM_MAXTRIES, PAM_PERM_DENIED: return .wrong
        default: return .failed(words ?? [])
        }
    }

    /// Gives the password to each question without echo. Ignores messages; any other question
    /// fails.
    private static let answer:
        @convention(c) (
            Int32, UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, UnsafeMutableRawPointer?
        ) -> Int32 = { count, messages, responses, secret in
            // SAFETY: libpam passes `count` messages and room for one pointer, and frees what it
            // gets here.
            guard count > 0, count <= PAM_MAX_NUM_MSG, let messages = unsafe messages,
                let responses = unsafe responses, let secret = unsafe secret,
                let answers = unsafe calloc(Int(count), MemoryLayout<pam_response>.stride)
            else { return PAM_CONV_ERR }
            let list = unsafe answers.bindMemory(to: pam_response.self, capacity: Int(count))
            for index in 0..<Int(count) {
                guard let message = unsafe messages[index] else { continue }
                switch unsafe message.pointee.msg_style {
                case PAM_PROMPT_ECHO_OFF:
                    unsafe list[index].resp = strdup(secret.assumingMemoryBound(to: CChar.self))
                case PAM_ERROR_MSG, PAM_TEXT_INFO: continue
                default:
                    unsafe release(list, Int(count))
                    return PAM_CONV_ERR
                }
            }
            unsafe responses.pointee = list
            return PAM_SUCCESS
        }

    private static func release(_ list: UnsafeMutablePointer<pam_response>, _ count: Int) {
        for index in 0..<count {
            // SAFETY: each response is nil or a string that `answer` allocated.
            if let text = unsafe list[index].resp {
                unsafe explicit_bzero(text, strlen(text))
                unsafe free(text)
            }
        }
        unsafe free(list)
    }
}
