import CZbar

/// A picture that is close to a code: the bits of its squares, each drawn three to six pixels wide,
/// the other way round or with noise over it. However it is damaged, it is so many codes as may be,
/// its text is no longer than it says, and turned round twice it says the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data = unsafe data, count > 4 else { return 0 }
    // SAFETY: so many bytes as libFuzzer says; the pixels are as many as the picture says.
    let head = (0..<4).map { unsafe data[$0] }
    let side = 21 + 4 * Int(head[0] % 10)
    let scale = 3 + Int(head[1] % 4)
    let border = 4 * scale
    let width = side * scale + 2 * border
    var picture = unsafe appvault_picture()
    unsafe picture.width = UInt32(width)
    unsafe picture.height = UInt32(width)
    unsafe picture.pixels = .allocate(capacity: width * width)
    defer { unsafe picture.pixels.deallocate() }
    let bits = 8 * (count - 4)
    var noise = UInt32(head[3]) &* 2_654_435_761 | 1
    for y in 0..<width {
        for x in 0..<width {
            let (row, column) = ((y - border) / scale, (x - border) / scale)
            let place = row * side + column
            let isInside = y >= border && x >= border && row < side && column < side
            var isDark = false
            if isInside, place < bits {
                isDark = unsafe data[4 + place / 8] >> UInt8(7 - place % 8) & 1 == 1
            }
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let speck = head[3] == 0 ? 0 : UInt8(truncatingIfNeeded: noise >> 24) % 96
            unsafe picture.pixels[y * width + x] = isDark ? speck : 255 - speck
        }
    }
    if head[2] & 1 == 1 { unsafe appvault_invert(&picture) }
    var before = [CChar](repeating: 0, count: 64)
    var length = 0
    let found = unsafe appvault_codes(&picture, &before, before.count, &length)
    must((0...2).contains(found), "so many codes")
    must(found == 0 || length <= 4096, "a code that holds more than one can")
    unsafe appvault_invert(&picture)
    unsafe appvault_invert(&picture)
    var after = [CChar](repeating: 0, count: 64)
    var again = 0
    must(
        unsafe appvault_codes(&picture, &after, after.count, &again) == found && again == length
            && before == after,
        "turned round twice, it says something else")
    return 0
}
