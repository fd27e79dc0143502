import DesktopEntries

/// An entry of the menu, and a D-Bus service: each is refused, or its command begins with our words
/// and goes on as before.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    let ours = ["/a b/%", "run", "--"].map { Array($0.utf8) }
    for form in [LaunchFile.Form.entry, .service] {
        guard let file = try? LaunchFile(bytes, form), let led = try? file.led(through: ours),
            let again = try? LaunchFile(led, form)
        else { continue }
        let before = ours.map { CommandLine.literal($0, form.dialect) }
        must(again.command.words == before + file.command.words, "another command")
        must(LaunchFile.isOurs(led, form), "not known as ours")
    }
    if let file = try? KeyFile(bytes) { must(file.bytes == bytes, "a byte was lost") }
    return 0
}
