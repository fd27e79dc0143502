import Posix

@testable import ForeignStores

/// A keyring of gnome-keyring's: as a whole, and what is in a sealed one once it is open. Each is
/// refused, or its items lie within it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    var file = SecretBuffer()
    file.append(bytes)
    if let store = try? KeyringFile.open(file, password: SecretBuffer()) {
        for item in store.items {
            must(item.secret.upperBound <= store.secrets.count, "a secret from elsewhere")
        }
    }
    // The first byte says how many items there are: otherwise the digest stops almost everything.
    let types = [UInt32](repeating: 1, count: Int(bytes.first ?? 0))
    if let items = try? KeyringFile.items(bytes.span, types) {
        must(items.count == types.count, "not all items")
        must(items.allSatisfy { $0.secret.upperBound <= bytes.count }, "a secret from elsewhere")
    }
    return 0
}
