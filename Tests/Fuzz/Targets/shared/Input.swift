/// What libFuzzer hands over, copied, so that a read past its end is a trap of ours and a finding
/// of the sanitizer's.
func input(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    guard let data = unsafe data else { return [] }
    // SAFETY: libFuzzer hands over `count` bytes that live as long as this call.
    return unsafe Array(UnsafeBufferPointer(start: data, count: count))
}

/// What must never be, whatever the bytes: a finding.
func must(_ condition: Bool, _ what: StaticString) {
    if !condition { fatalError("\(what)") }
}
