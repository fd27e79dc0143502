import Secrets

@testable import SealedStore

/// An export file with any bytes, and one whose chunks are authentic but have any content; both are
/// cut into pieces anywhere.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 3 {
    case 0: header(rest)
    case 1: raw(rest)
    default: authentic(rest)
    }
    return 0
}

func header(_ bytes: [UInt8]) {
    guard let header = try? ExportHeader(decoding: bytes.span) else { return }
    must(header.bytes == bytes, "a header is not written as it was read")
}

func key() -> SecretBytes? {
    let bytes = [UInt8](repeating: 3, count: SecretStream.keySize)
    return try? SecretBytes(copying: bytes.span)
}

func raw(_ bytes: [UInt8]) {
    let head = Array(bytes.prefix(ExportHeader.size))
    guard let header = try? ExportHeader(decoding: head.span), let key = key(),
        let reader = try? ExportReader(header: header, key: key)
    else { return }
    let rest = Array(bytes.dropFirst(ExportHeader.size))
    // It was never sealed, so nothing may come out of it.
    if let changes = try? reader.push(rest.span) { must(changes.isEmpty, "records out of nothing") }
}

/// The first byte says how the file is cut into pieces, the second how the text is cut into chunks.
func authentic(_ bytes: [UInt8]) {
    guard bytes.count >= 2, let key = key(),
        let cost = try? KeyDerivation.Cost(memoryKiB: 65536, passes: 3),
        var stream = try? SecretStream.Writer(key: key)
    else { return }
    let head = ExportHeader(
        cost: cost, salt: [UInt8](repeating: 1, count: KeyDerivation.saltSize),
        stream: stream.header)
    let text = Array(bytes.dropFirst(2))
    let step = Int(bytes[1]) + 1
    var file: [UInt8] = []
    var at = 0
    repeat {
        let part = Array(text.dropFirst(at).prefix(step))
        at += step
        let size = part.count + SecretStream.overhead
        var sealed = [UInt8](repeating: 0, count: size)
        let aad = head.bytes
        var target = sealed.mutableSpan
        guard
            (try? stream.push(
                part.span, aad: aad.span, tag: at >= text.count ? .final : .message, into: &target))
                != nil
        else { return must(false, "a chunk cannot be sealed") }
        for shift in [0, 8, 16, 24] { file.append(UInt8(truncatingIfNeeded: size >> shift)) }
        file += sealed
    } while at < text.count

    guard let reader = try? ExportReader(header: head, key: key) else {
        return must(false, "no reader")
    }
    var changes: [Change] = []
    let cut = Int(bytes[0]) + 1
    var start = 0
    while start < file.count {
        let piece = Array(file.dropFirst(start).prefix(cut))
        start += cut
        guard let more = try? reader.push(piece.span) else { return }
        changes += more
    }
    must((try? reader.finish()) != nil, "a whole file counts as cut short")
    must(reader.done == UInt64(changes.count), "records are counted wrongly")
    var again: [UInt8] = []
    for change in changes {
        guard case .set(let name, let value) = change else {
            return must(false, "an import that deletes")
        }
        must((1...RecordBody.largestName).contains(name.count), "a name of no or too many bytes")
        again.append(UInt8(name.count))
        again += name
        value.withBytes { value in
            for shift in [0, 8, 16, 24] {
                again.append(UInt8(truncatingIfNeeded: value.count >> shift))
            }
            for index in value.indices { again.append(value[index]) }
        }
    }
    // Notes of what the file is without leave nothing behind.
    must(reader.missing > 0 || again == text, "records are not read as they were written")
}
