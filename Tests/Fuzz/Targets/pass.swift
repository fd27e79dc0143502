import Posix

@testable import ForeignStores

/// An entry of pass, decrypted, and its path.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    var text = SecretBuffer()
    text.append(bytes)
    let secret = PasswordFile.secret(text)
    must(secret.lowerBound == 0 && secret.upperBound <= bytes.count, "a secret from elsewhere")
    must(
        bytes[secret.upperBound...].allSatisfy { $0 == 0x0A || $0 == 0x0D }, "a part is missing")
    if let name = PasswordFile.name(bytes) {
        must(name + Array(".gpg".utf8) == bytes, "another name")
        must(PasswordFile.item(name).label == name, "another label")
    }
    return 0
}
