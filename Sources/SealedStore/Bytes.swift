/// Reads little-endian numbers from bytes that may be too short.
struct ByteReader: ~Copyable {
    private(set) var position = 0

    mutating func bytes(_ source: Span<UInt8>, _ count: Int) throws(FormatError) -> Range<Int> {
        guard count >= 0, count <= source.count - position else { throw .tooShort }
        defer { position += count }
        return position..<position + count
    }

    mutating func number<N: FixedWidthInteger & UnsignedInteger>(
        _ source: Span<UInt8>, _ type: N.Type
    ) throws(FormatError) -> N {
        let range = try bytes(source, N.bitWidth / 8)
        var value: N = 0
        for index in range.reversed() { value = value << 8 | N(source[index]) }
        return value
    }
}

/// The counterpart of ByteReader. The caller's buffer always has the right size.
struct ByteWriter: ~Copyable {
    private(set) var position = 0

    mutating func put<N: FixedWidthInteger & UnsignedInteger>(
        _ value: N, _ target: inout MutableSpan<UInt8>
    ) {
        var rest = value
        for _ in 0..<N.bitWidth / 8 {
            target[position] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            position += 1
        }
    }

    @_lifetime(target: copy target)
    mutating func put(_ bytes: Span<UInt8>, _ target: inout MutableSpan<UInt8>) {
        copy(bytes, to: &target, at: position)
        position += bytes.count
    }
}

/// One checked copy. Copying 1 MiB byte by byte would be noticeably slow.
@_lifetime(target: copy target)
func copy(_ bytes: Span<UInt8>, to target: inout MutableSpan<UInt8>, at position: Int) {
    precondition(position >= 0 && bytes.count <= target.count - position, "the target is too small")
    // SAFETY: the precondition above; the two buffers are different ones.
    unsafe bytes.withUnsafeBufferPointer { source in
        unsafe target.withUnsafeMutableBufferPointer { target in
            guard let from = source.baseAddress, let to = target.baseAddress else { return }
            unsafe (to + position).update(from: from, count: source.count)
        }
    }
}

/// Bytes that do not follow the format. If the seal did open, this means that another program wrote
/// them; it counts as damage too.
public enum FormatError: Error, Equatable, Sendable {
    case tooShort
    case wrongSize
    case outOfBounds
    case notCanonical
    case foreign
}
