import Posix

@testable import ForeignStores

/// A wallet of KWallet's: its head, the entries of an open one, and the notes beside it. Each is
/// refused, or its items lie within it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    if let head = try? WalletFile.Head(bytes.span) {
        must(head.sealed.upperBound == bytes.count, "a head that ends elsewhere")
    }
    let notes = WalletNotes(bytes) ?? .none
    var store = ForeignStore()
    _ = try? WalletEntries.read(bytes.span, notes, into: &store)
    for item in store.items {
        must(item.secret.upperBound <= store.secrets.count, "a secret from elsewhere")
    }
    return 0
}
