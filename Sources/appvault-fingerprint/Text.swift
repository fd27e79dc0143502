import Wire

enum Text {
    /// What another program or a device calls something: as UTF-8, without control characters,
    /// no longer than a frame takes.
    // SAFETY: the caller has a string that ends with a NUL.
    static func of(_ words: UnsafePointer<CChar>) -> [UInt8] {
        let clean = unsafe String(cString: words).unicodeScalars.filter {
            $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value)
        }
        var bytes: [UInt8] = []
        for scalar in clean {
            let more = Array(String(scalar).utf8)
            guard bytes.count + more.count <= FingerprintLink.text else { break }
            bytes += more
        }
        return bytes
    }
}
