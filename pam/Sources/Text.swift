internal import CPam
internal import WireEmbedded

/// A C string that may come from anybody. A text that is too long or not UTF-8 is `unfit`.
enum Text {
    case absent
    case unfit
    case fits([UInt8])

    @unsafe
    init(_ start: UnsafePointer<CChar>?) {
        // SAFETY: only compared with NULL.
        guard let start = unsafe start else {
            self = .absent
            return
        }
        // SAFETY: the caller's string ends with NUL, and at most one byte more than is allowed is
        // read.
        let count = unsafe strnlen(start, Limits.text + 1)
        guard count <= Limits.text else {
            self = .unfit
            return
        }
        // SAFETY: count bytes were measured.
        self = unsafe withBytesOf(start, count) { bytes in
            guard UTF8Check.isText(bytes, start: 0, count: bytes.count) else { return .unfit }
            var copy: [UInt8] = []
            copy.reserveCapacity(bytes.count)
            copy.put(bytes)
            return .fits(copy)
        }
    }

    /// For items that make a try count for less when they are there, such as PAM_RHOST: an unfit
    /// one must not look like a missing one.
    var claim: [UInt8] {
        switch self {
        case .absent: []
        case .unfit: [UInt8(ascii: "?")]
        case .fits(let bytes): bytes
        }
    }

    /// For items that are only a help.
    var orEmpty: [UInt8] {
        switch self {
        case .absent, .unfit: []
        case .fits(let bytes): bytes
        }
    }
}
