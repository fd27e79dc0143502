import Wire

// A span may not pass through #expect.

func header(_ bytes: [UInt8]) throws(WireError) -> FrameHeader? {
    try FrameHeader.decode(bytes.span, limit: Limits.frame)
}

func isText(_ bytes: [UInt8]) -> Bool {
    isText(bytes, start: 0, count: bytes.count)
}

func isText(_ bytes: [UInt8], start: Int, count: Int) -> Bool {
    UTF8Check.isText(bytes.span, start: start, count: count)
}
