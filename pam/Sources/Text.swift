internal import CPam
internal import WireEmbedded

/// A C string that may come from anybody: too long or not UTF-8 is an answer of its own.
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
        // SAFETY: the caller's string ends with NUL; one byte more than allowed is all that is looked at.
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

    /// For what narrows a try when it is there, as PAM_RHOST does: what is unfit must not look absent.
    var claim: [UInt8] {
        switch self {
        case .absent: []
        case .unfit: [UInt8(ascii: "?")]
        case .fits(let bytes): bytes
        }
    }

    /// For what only helps.
    var orEmpty: [UInt8] {
        switch self {
        case .absent, .unfit: []
        case .fits(let bytes): bytes
        }
    }
}
