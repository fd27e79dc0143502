// The only place where spans become pointers for libsodium. An empty span needs an address too:
// libsodium wants a pointer even with a count of zero, and does not follow it then.

@safe func reading<R>(
    _ first: Span<UInt8>, _ body: (UnsafePointer<UInt8>) -> R
) -> R {
    // SAFETY: the pointer is valid inside the closure; every caller passes the span's own count.
    unsafe first.withUnsafeBufferPointer { buffer in
        unsafe body(buffer.baseAddress ?? UnsafePointer(nowhere))
    }
}

@safe func reading<R>(
    _ first: Span<UInt8>, _ second: Span<UInt8>,
    _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>) -> R
) -> R {
    reading(first) { first in
        reading(second) { second in
            // SAFETY: as above.
            unsafe body(first, second)
        }
    }
}

@safe func reading<R>(
    _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>,
    _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>) -> R
) -> R {
    reading(first, second) { first, second in
        reading(third) { third in
            // SAFETY: as above.
            unsafe body(first, second, third)
        }
    }
}

@safe func writing<R>(
    _ bytes: inout MutableSpan<UInt8>, _ body: (UnsafeMutablePointer<UInt8>) -> R
) -> R {
    // SAFETY: as above; the span is held exclusively.
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in
        unsafe body(buffer.baseAddress ?? nowhere)
    }
}

private var nowhere: UnsafeMutablePointer<UInt8> {
    // SAFETY: never dereferenced.
    unsafe UnsafeMutablePointer(bitPattern: 64)!
}
