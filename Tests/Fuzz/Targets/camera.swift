import CZbar

/// What a camera says of its pictures, and what it puts into them: no byte is read behind its
/// buffer and none written behind the frame, and the preview is as large as it says.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data = unsafe data, count >= 8 else { return 0 }
    var camera = unsafe appvault_camera()
    // SAFETY: so many bytes as libFuzzer says; they are copied into memory of that size.
    let head = (0..<8).map { unsafe data[$0] }
    let formats: [UInt32] = [0x5945_5247, 0x3231_564E, 0x5659_5559, 0x4750_4A4D]
    unsafe camera.format = formats[Int(head[0]) % formats.count]
    unsafe camera.width = 32 + UInt32(head[1])
    unsafe camera.height = 32 + UInt32(head[2])
    unsafe camera.row = Int(camera.width) * (camera.format == formats[2] ? 2 : 1)
    unsafe camera.stride = camera.row + Int(head[3])
    unsafe camera.room = Int(camera.width) * Int(camera.height)
    unsafe camera.frame.pixels = .allocate(capacity: camera.room)
    defer { unsafe camera.frame.pixels.deallocate() }
    let length = count - 8
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, length))
    defer { unsafe buffer.deallocate() }
    unsafe buffer.update(from: data + 8, count: length)
    unsafe camera.buffers.0.bytes = buffer
    unsafe camera.buffers.0.length = length
    unsafe camera.count = 1
    // It may say more than there is.
    let used = length + Int(head[4]) - Int(head[5])
    guard used >= 0, unsafe appvault_camera_copy(&camera, 0, used) == 1 else { return 0 }
    must(used <= length, "a frame that is larger than its buffer")
    must(
        unsafe camera.frame.width == camera.width && camera.frame.height == camera.height,
        "a frame of another size")
    var preview = appvault_preview()
    unsafe appvault_preview_take(&preview, &camera.frame)
    must(
        preview.count > 8 && preview.count <= 8 + 160 * 120, "a preview"
    )
    var text = [CChar](repeating: 0, count: 64)
    var said = 0
    let found = unsafe appvault_codes(&camera.frame, &text, text.count, &said)
    must((0...2).contains(found), "so many codes")
    return 0
}
