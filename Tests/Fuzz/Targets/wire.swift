import Glibc

@testable import Wire

/// A frame as a peer sends it: the header, then the body of the type that it names. Whatever is
/// accepted must be encoded to the bytes that it came from.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    checkText(bytes)
    guard let header = try? FrameHeader.decode(bytes.span, limit: Limits.frame) else { return 0 }
    must(header.length <= Limits.frame, "a length over the limit was taken")
    let body = Array(bytes.dropFirst(FrameHeader.size))
    guard let content = content(of: header.type) else { return 0 }
    check(content.body, body, content.payloads)
    return 0
}

func checkText(_ bytes: [UInt8]) {
    let expected = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains(0)
    must(
        UTF8Check.isText(bytes.span, start: 0, count: bytes.count) == expected,
        "UTF-8 is judged wrongly")
}

func content(of type: UInt16) -> Content? {
    RequestType(rawValue: type)?.content ?? AnswerType(rawValue: type)?.content
}

func check<B: Body>(_ kind: B.Type, _ body: [UInt8], _ payloads: [Int]) {
    var reader = Reader()
    guard let message = try? B(&reader, body.span) else { return }
    var again: [UInt8] = []
    message.write(to: &again)
    for limit in payloads {
        guard let slice = try? reader.payload(body.span, limit: limit) else { return }
        must(
            slice.start >= 0 && slice.count <= limit && slice.start + slice.count <= body.count,
            "a payload outside")
        again.put(payload: Array(body[slice.start..<slice.start + slice.count]).span)
    }
    guard (try? reader.end(body.span)) != nil else { return }
    must(again == body, "a message is not written as it was read")
}

/// What the run begins with: every message with every field at each of its ends, one after the
/// other, in the folder that the run says.
@_cdecl("LLVMFuzzerInitialize")
public func seeds(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
    guard let folder = unsafe getenv("FUZZ_SEEDS") else { return 0 }
    let path = unsafe String(cString: folder)
    for type in RequestType.allCases {
        save(type.content, type.rawValue, "\(path)/\(type)")
    }
    for type in AnswerType.allCases {
        save(type.content, type.rawValue, "\(path)/\(type)")
    }
    return 0
}

func save(_ content: Content, _ type: UInt16, _ path: String) {
    func save<B: Body & Fields>(_ kind: B.Type) {
        for (place, extreme) in Extremes.all(of: kind).enumerated() {
            var body = extreme.written.bytes
            for _ in content.payloads { body.put(payload: [0x70, 0x00, 0xFF].span) }
            var frame: [UInt8] = []
            FrameHeader(length: body.count, type: type, tag: 1).write(to: &frame)
            write(frame + body, to: "\(path)-\(place)")
        }
    }
    save(content.body)
}

func write(_ bytes: [UInt8], to path: String) {
    guard let file = unsafe fopen(path, "w") else { fatalError("\(path): not written") }
    let wrote = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
    must(unsafe fclose(file) == 0 && wrote == bytes.count, "a seed is not written")
}
