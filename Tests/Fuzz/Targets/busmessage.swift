import Wire

@testable import AppVault

/// What another program on the session bus may send. A message that was read is written and read
/// again as it was, and it makes no difference whether it comes in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let (read, length) = try? BusMessage.decode(bytes.span), let read else { return 0 }
    must(length <= bytes.count, "longer than what has come")
    let short = try? BusMessage.decode(Array(bytes.prefix(length - 1)).span)
    must(short == nil, "a message that is cut short")
    // What another implementation may write in more than one way is written in ours.
    let ours = read.encoded().withSpan { copied($0) }
    guard let (again, all) = try? BusMessage.decode(ours.span) else {
        must(ours.count > BusMessage.longest, "what was written cannot be read")
        return 0
    }
    must(all == ours.count, "something is left over")
    must(again == read, "another message than was written")
    return 0
}
