// modules: Posix Secrets SealedStore
import Posix

@testable import SealedStore

/// The write-ahead log that a kill has left behind. It is not sealed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    let isComplete = try? LogCheck.isComplete(size: bytes.count) { position, count in
        must(position >= 0 && count >= 0, "a read outside")
        return Array(bytes.dropFirst(position).prefix(count))
    }
    must(isComplete != nil, "an error where none can be")
    // Less than a header counts as no log. A header that is not SQLite's is never accepted.
    if bytes.count < 32 { must(isComplete == true, "an empty log is none") }
    if bytes.count >= 32, bytes[0] != 0x37, bytes[..<32].contains(where: { $0 != 0 }) {
        must(isComplete == false, "a foreign header was taken")
    }
    return 0
}
