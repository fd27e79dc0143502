/// The bytes from libFuzzer, copied, so that a read past their end traps here and is a finding of
/// the sanitizer's.
func input(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    guard let data = unsafe data else { return [] }
    // SAFETY: libFuzzer hands over `count` bytes that live as long as this call.
    return unsafe Array(UnsafeBufferPointer(start: data, count: count))
}

/// The condition must hold for all bytes; if it does not, that is a finding.
func must(_ condition: Bool, _ what: StaticString) {
    if !condition { fatalError("\(what)") }
}
