import Fleet

/// What somebody types, what a domain says, or a code has in it. It is refused, or read as it can
/// be written again; and what is asked for then is on that host and nowhere else.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    if let link = try? JoinLink(bytes) { check(link) }
    if let link = try? Invitation.link(in: bytes) { check(link) }
    switch try? Invitation(bytes) {
    case .link(let link)?: check(link)
    case .email(let domain)?: must(isHost(domain.text), "a domain that is none")
    case nil: break
    }
    return 0
}

private func check(_ link: JoinLink) {
    must((try? JoinLink(Array(link.text.utf8))) == link, "a link is not written as it was read")
    must(isHost(link.host.text), "a host that is none")
    must(link.url.split(separator: "/").count == 5, "a token that leads elsewhere")
    must(link.groups.count == 2 && link.text.utf8.count <= JoinLink.mostBytes, "too much of it")
}

private func isHost(_ text: String) -> Bool {
    text.utf8.allSatisfy {
        0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2D || $0 == 0x2E || $0 == 0x3A
    }
}
