internal import CPam
internal import WireEmbedded

public typealias Arguments = UnsafeMutablePointer<UnsafePointer<CChar>?>

/// libpam's handle, and everything that the module asks of libpam. The handle outlives every call
/// of the module.
@safe
struct Pam {
    private let raw: OpaquePointer

    @unsafe
    init(_ raw: OpaquePointer) {
        // SAFETY: the caller vouches for the handle.
        unsafe self.raw = raw
    }

    // In all of this type the handle is libpam's own and valid during the call that brought it;
    // libpam's strings end with NUL and live until their item is set again, which we never do while
    // one is used.

    func text(_ item: Int32) -> Text {
        // SAFETY: libpam's string; it is copied.
        unsafe Text(appvault_pam_item(raw, item))
    }

    func token(_ item: Int32) -> Token? {
        // SAFETY: libpam's string; the token only looks at it.
        guard let start = unsafe appvault_pam_item(raw, item) else { return nil }
        return unsafe Token(start)
    }

    /// False where the stack already has a token that cannot be a passcode: too long, or empty.
    var canJudgeToken: Bool {
        // SAFETY: only compared with NULL.
        unsafe appvault_pam_item(raw, PAM_AUTHTOK) == nil || token(PAM_AUTHTOK) != nil
    }

    /// Whether a person is at the conversation, as far as the module can tell.
    func presence() -> Presence {
        // SAFETY: libpam's string, which ends with NUL.
        if let tty = unsafe appvault_pam_item(raw, PAM_TTY), unsafe tty[0] == Pam.display {
            return .inFront
        }
        return switch appvault_pam_presence() {
        case Int32(APPVAULT_PAM_IN_FRONT): .inFront
        case Int32(APPVAULT_PAM_ASIDE): .aside
        default: .unseen
        }
    }

    /// A display's name starts with a colon. Where a greeter asks, there is no terminal.
    private static let display = CChar(0x3A)

    /// A variable of libpam's own environment list, never of the process's.
    func environment(_ name: StaticString) -> Text {
        // SAFETY: a literal, and libpam's string, which is copied.
        unsafe Text(pam_getenv(raw, name.cString))
    }

    /// Makes libpam find the name of the account. The first module of a stack asks the person for
    /// it.
    func askForUser() -> Int32 {
        // SAFETY: the name that is written stays libpam's.
        var user: UnsafePointer<CChar>?
        return unsafe pam_get_user(raw, &user, nil)
    }

    /// The uid of the account that the application names.
    func userID() -> UInt32 {
        // SAFETY: libpam's string.
        guard let name = unsafe appvault_pam_item(raw, PAM_USER) else { return Subject.unknownUID }
        return unsafe appvault_pam_uid(raw, name)
    }

    /// The name in that account's own spelling. A directory may find the account under other
    /// spellings.
    func canonicalUser() -> Text {
        // SAFETY: libpam's string, and the account's, which is copied.
        guard let name = unsafe appvault_pam_item(raw, PAM_USER) else { return .absent }
        return unsafe Text(appvault_pam_canonical(raw, name))
    }

    func userID(of account: StaticString) -> UInt32 {
        // SAFETY: a literal.
        unsafe appvault_pam_uid(raw, account.cString)
    }

    /// libpam keeps a copy, and wipes it when pam_authenticate returns.
    func setToken(_ answer: borrowing Answer) -> Bool {
        // SAFETY: a NUL-terminated string, alive during the call.
        let result = unsafe answer.withCString { start in
            unsafe appvault_pam_set_token(raw, start)
        }
        return result == PAM_SUCCESS
    }

    /// The same for memory that ends with NUL.
    func setToken(_ token: borrowing Memory) {
        // SAFETY: the caller ended it with NUL, and it is alive during the call.
        unsafe token.withCString { start in
            _ = unsafe appvault_pam_set_token(raw, start)
        }
    }

    /// The next module takes it for an answer, and no account's password is empty by that.
    func setEmptyToken() -> Bool {
        let empty: StaticString = ""
        // SAFETY: a literal, which ends with NUL.
        return unsafe appvault_pam_set_token(raw, empty.cString) == PAM_SUCCESS
    }

    /// Lets libpam ask for a new password, which libpam keeps. It does not ask where it has one
    /// already.
    func askForNewToken() -> Bool {
        // SAFETY: the token that is written stays libpam's.
        var token: UnsafePointer<CChar>?
        return unsafe pam_get_authtok(raw, PAM_AUTHTOK, &token, nil) == PAM_SUCCESS
    }

    func converse(_ line: [UInt8], style: Int32) -> Reaction {
        // SAFETY: the text ends with NUL and outlives the call; the answer is ours from then on.
        var text = line
        text.append(0)
        var answer: UnsafeMutablePointer<CChar>?
        let result = unsafe text.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return PAM_BUF_ERR }
            return unsafe appvault_pam_converse(
                raw, style, start.assumingMemoryBound(to: CChar.self), &answer)
        }
        guard result == PAM_SUCCESS else { return .failed }
        guard let answer = unsafe answer else { return .nothing }
        return .answered(unsafe Answer(owning: answer))
    }

    func log(_ priority: Int32, _ text: StaticString) {
        // SAFETY: a literal.
        unsafe appvault_pam_log(raw, priority, text.cString)
    }

    func log(_ priority: Int32, _ text: StaticString, _ number: Int) {
        // SAFETY: a literal.
        unsafe appvault_pam_log_number(raw, priority, text.cString, number)
    }

    @unsafe
    func log(_ priority: Int32, _ text: StaticString, _ detail: UnsafePointer<CChar>) {
        // SAFETY: a literal, and the caller's NUL-terminated string.
        unsafe appvault_pam_log_text(raw, priority, text.cString, detail)
    }

    /// Keeps bytes under this name until the handle ends, then wipes them. With no bytes, what was
    /// kept is removed.
    func keep(_ bytes: [UInt8], as name: StaticString) {
        // SAFETY: the shim copies count bytes, which outlive the call.
        unsafe bytes.withUnsafeBytes { buffer in
            _ = unsafe appvault_pam_keep(raw, name.cString, buffer.baseAddress, buffer.count)
        }
    }

    /// Exactly `count` bytes that an earlier call kept.
    func kept(_ count: Int, as name: StaticString) -> [UInt8]? {
        // SAFETY: the shim writes count bytes or none.
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe appvault_pam_kept(raw, name.cString, buffer.baseAddress, buffer.count)
        }
        return found == count ? bytes : nil
    }
}

/// The result of a message to the person.
enum Reaction: ~Copyable {
    case answered(Answer)
    /// Success without an answer: the person left, or the application's input ended.
    case nothing
    case failed
}

extension StaticString {
    @unsafe
    var cString: UnsafePointer<CChar> {
        // SAFETY: the compiler ends its literals with NUL, and ours are ASCII.
        unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
