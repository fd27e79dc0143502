internal import CPam
internal import WireEmbedded

/// What a person answered, in memory from the application that the module must wipe and free.
@safe
struct Answer: ~Copyable {
    private let start: UnsafeMutablePointer<CChar>
    let count: Int

    @unsafe
    init(owning start: UnsafeMutablePointer<CChar>) {
        // SAFETY: the caller gives it away. A conversation answers with NUL-terminated strings;
        // that is PAM's contract.
        unsafe self.start = start
        count = unsafe strlen(start)
    }

    deinit {
        // SAFETY: count bytes are ours, and not used after this.
        unsafe appvault_pam_wipe(start, count)
        // SAFETY: PAM's contract: the answer came from malloc.
        unsafe free(start)
    }

    func withBytes<R>(_ body: (Span<UInt8>) -> R) -> R {
        // SAFETY: count bytes, alive as long as self.
        unsafe withBytesOf(UnsafePointer(start), count, body)
    }

    @unsafe
    func withCString<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
        // SAFETY: alive as long as self.
        unsafe body(start)
    }
}

/// A token of the stack: libpam's memory, which is only read.
@safe
struct Token {
    private let start: UnsafePointer<CChar>
    let count: Int

    /// Nil where the token is empty, or too long to be a passcode.
    @unsafe
    init?(_ start: UnsafePointer<CChar>) {
        // SAFETY: a NUL-terminated string of libpam's, which lives until its item is set again. The
        // module does not set it while this value is used.
        let count = unsafe strnlen(start, Limits.secret + 1)
        guard count > 0, count <= Limits.secret else { return nil }
        unsafe self.start = start
        self.count = count
    }

    func withBytes<R>(_ body: (Span<UInt8>) -> R) -> R {
        // SAFETY: count bytes of libpam's string.
        unsafe withBytesOf(start, count, body)
    }

    /// The bytes of a token, or no bytes where there is none.
    static func withBytes<R>(of token: Token?, _ body: (Span<UInt8>) -> R) -> R {
        if let token { return token.withBytes(body) }
        let nothing: [UInt8] = []
        return body(nothing.span)
    }
}

/// The bytes of a C string as a span.
@unsafe
func withBytesOf<R>(_ start: UnsafePointer<CChar>, _ count: Int, _ body: (Span<UInt8>) -> R) -> R {
    // SAFETY: CChar and UInt8 have one layout, and the caller measured count.
    let bytes = unsafe UnsafeBufferPointer(
        start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
    return body(unsafe bytes.span)
}
