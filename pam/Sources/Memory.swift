internal import CPam
internal import WireEmbedded

/// Bytes on the heap that are wiped before they are freed. A Swift array is never used for what may
/// be a secret, because Swift copies it without notice.
@safe
struct Memory: ~Copyable {
    private let start: UnsafeMutablePointer<UInt8>
    let capacity: Int
    private(set) var count = 0
    /// Something did not fit and was left out. Such a message must not be sent.
    private(set) var overflowed = false

    /// Nil where there is no memory. If Swift itself allocated it, that would trap.
    init?(capacity: Int) {
        // SAFETY: the result is checked, and the memory is written before it is read.
        guard capacity > 0, let memory = unsafe malloc(capacity) else { return nil }
        // SAFETY: malloc aligns for every type, and bytes are all that is ever stored here.
        unsafe start = memory.bindMemory(to: UInt8.self, capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        // SAFETY: start is ours, capacity bytes long, and not used after this.
        unsafe appvault_pam_wipe(start, capacity)
        // SAFETY: it came from malloc.
        unsafe free(start)
    }

    mutating func clear() {
        // SAFETY: start is capacity bytes long.
        unsafe appvault_pam_wipe(start, capacity)
        count = 0
        overflowed = false
    }

    func withBytes<R, E: Error>(
        from first: Int, to end: Int, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let low = max(0, min(first, count))
        let high = max(low, min(end, count))
        // SAFETY: low and high lie within what was written.
        let bytes = unsafe UnsafeBufferPointer(start: start + low, count: high - low)
        return try body(unsafe bytes.span)
    }

    /// For memory that ends with NUL.
    @unsafe
    func withCString(_ body: (UnsafePointer<CChar>) -> Void) {
        // SAFETY: CChar and UInt8 have one layout, and the memory is alive as long as self.
        unsafe body(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
    }

    /// Sends the bytes from `first` on. Returns the kernel's answer.
    func send(from first: Int, over socket: Int32) -> Int32 {
        guard first >= 0, first < count else { return 0 }
        // SAFETY: first up to count was written.
        return unsafe appvault_pam_send(socket, start + first, count - first)
    }

    /// Receives at most `wanted` bytes and appends them. Returns the kernel's answer.
    mutating func receive(_ wanted: Int, over socket: Int32) -> Int32 {
        let room = min(wanted, capacity - count)
        guard room > 0 else { return 0 }
        // SAFETY: the `room` bytes after `count` are within the memory.
        let received = unsafe appvault_pam_receive(socket, start + count, room)
        if received > 0 { count += min(Int(received), room) }
        return received
    }

    /// Appends what was typed at the terminal, as far as there is room. Returns the kernel's
    /// answer.
    mutating func read(from terminal: borrowing Terminal) -> Int32 {
        let room = capacity - count
        guard room > 0 else { return 0 }
        // SAFETY: the `room` bytes after `count` are within the memory.
        let typed = unsafe terminal.read(start + count, room)
        if typed > 0 { count += min(Int(typed), room) }
        return typed
    }
}

extension Memory: Sink {
    mutating func put(_ byte: UInt8) {
        guard count < capacity else {
            overflowed = true
            return
        }
        // SAFETY: count is within the memory.
        unsafe start[count] = byte
        count += 1
    }

    mutating func put(_ bytes: Span<UInt8>) {
        var index = 0
        while index < bytes.count {
            put(bytes[index])
            index += 1
        }
    }
}

extension Memory {
    mutating func put<B: Body>(_ body: B, _ type: RequestType) {
        Frame.write(body, type: type.rawValue, tag: Exchange.requestTag, to: &self)
    }

    mutating func put<B: Body>(_ body: B, _ type: RequestType, _ payload: Span<UInt8>) {
        Frame.write(
            body, type: type.rawValue, tag: Exchange.requestTag, payload: payload, to: &self)
    }

    mutating func put<B: Body>(
        _ body: B, _ type: RequestType, _ payload: Span<UInt8>, _ second: Span<UInt8>
    ) {
        Frame.write(
            body, type: type.rawValue, tag: Exchange.requestTag, payload: payload, second: second,
            to: &self)
    }
}
