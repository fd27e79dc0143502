import Policy

@testable import KeySlots

/// A file of failed tokens. What is accepted is encoded to the bytes that it came from.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let store = StoreID(bytes: [UInt8](repeating: 9, count: StoreID.size)),
        let boot = BootID([UInt8](repeating: 7, count: BootID.size))
    else { return 0 }
    switch StoreTokens.parse(bytes, of: store, boot) {
    case .unreadable: break
    case .ofAnotherBoot: must(bytes[16..<32] != boot.bytes[...], "this boot's is another's")
    case .tokens(let tokens):
        must(tokens.file(of: store, boot) == bytes, "a file is not written as it was read")
        must(
            [tokens.failed, tokens.strangers, tokens.confirmed].allSatisfy {
                $0.count <= StoreTokens.limit
            },
            "more tokens than there is room for")
    }
    return 0
}
