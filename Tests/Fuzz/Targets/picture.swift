import CZbar

/// A stranger's picture: it is none, too large, or so many pixels as it says; and what its code
/// says is no longer than it says. libjpeg's errors end the process, so pictures of its kind are
/// left to `Tests/Integration/cli/scan.py`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data = unsafe data, count > 0 else { return 0 }
    var picture = unsafe appvault_picture()
    defer { unsafe free(picture.pixels) }
    // SAFETY: so many bytes as libFuzzer says; the pixels are as many as the decoder says.
    guard unsafe appvault_read_png(data, count, &picture) == APPVAULT_SCAN_DONE else { return 0 }
    let pixels = unsafe Int(picture.width) * Int(picture.height)
    must(pixels > 0 && pixels <= Int(APPVAULT_MOST_PIXELS), "more pixels than may be")
    guard pixels < 1 << 16 else { return 0 }
    var text = [CChar](repeating: 0, count: 64)
    var length = 0
    let found = unsafe appvault_codes(&picture, &text, text.count, &length)
    must((0...2).contains(found), "so many codes")
    must(found == 0 || length <= 4096, "a code that holds more than one can")
    unsafe appvault_invert(&picture)
    unsafe appvault_halve(&picture)
    must(unsafe Int(picture.width) * Int(picture.height) <= pixels, "larger by half")
    return 0
}
