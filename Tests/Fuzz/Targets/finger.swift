import Wire

/// What the daemon and the fingerprint worker send each other. Whatever is accepted is encoded to
/// the bytes that it came from, and templates lie within what was sent.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let header = try? FrameHeader.decode(bytes.span, limit: FingerprintLink.requestFrame)
    else { return 0 }
    let body = Array(bytes.dropFirst(FrameHeader.size))
    switch header.type {
    case FingerprintLink.list, FingerprintLink.cancel, FingerprintLink.done,
        FingerprintLink.noMatch:
        check(FingerprintNonce.self, body)
    case FingerprintLink.enroll, FingerprintLink.clear: check(ReaderRequest.self, body)
    case FingerprintLink.delete: check(ReaderRequest.self, body, payload: true)
    case FingerprintLink.match, FingerprintLink.stored: templates(body)
    case FingerprintLink.readers: check(FingerprintReaders.self, body)
    case FingerprintLink.enrolled: check(FingerprintNonce.self, body, payload: true)
    case FingerprintLink.matched: check(FingerprintMatched.self, body)
    case FingerprintLink.storedPrints: check(FingerprintStored.self, body)
    case FingerprintLink.scan: check(FingerprintScan.self, body)
    case FingerprintLink.failed: check(FingerprintFailed.self, body)
    default: break
    }
    return 0
}

func check<B: Body>(_ type: B.Type, _ body: [UInt8], payload: Bool = false) {
    var reader = Reader()
    guard let message = try? B(&reader, body.span) else { return }
    var again: [UInt8] = []
    message.write(to: &again)
    if payload {
        guard let slice = try? reader.payload(body.span, limit: FingerprintLink.template) else {
            return
        }
        must(slice.count <= FingerprintLink.template, "a template over the limit was taken")
        again.put(payload: body.span.extracting(slice.start..<slice.start + slice.count))
    }
    guard (try? reader.end(body.span)) != nil else { return }
    must(again == body, "a message is not written as it was read")
}

func templates(_ body: [UInt8]) {
    var reader = Reader()
    guard let request = try? TemplatesRequest(&reader, body.span),
        let slices = try? request.templates(&reader, body.span),
        (try? reader.end(body.span)) != nil
    else { return }
    must(slices.count <= FingerprintLink.templatesMost, "too many templates were taken")
    var again: [UInt8] = []
    request.write(to: &again)
    var whole: [UInt8] = []
    for slice in slices {
        must(slice.count > 0 && slice.count <= FingerprintLink.template, "a template's length")
        whole += body[slice.start..<slice.start + slice.count]
    }
    again.put(payload: whole.span)
    must(again == body, "a request is not written as it was read")
}
