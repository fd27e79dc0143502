internal import CFprint
import Posix
import Wire

/// One finger as libfprint has it. No person and no finger is ever written into one.
@safe
final class Print {
    let pointer: OpaquePointer

    /// Takes a reference over.
    init(owning pointer: OpaquePointer) {
        // SAFETY: the caller's reference is ours, until deinit.
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// Nil where the bytes are none; some bytes end the process.
    static func parse(_ bytes: Span<UInt8>) -> Print? {
        // SAFETY: libfprint copies what it keeps, and gets the length.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard
                let pointer = unsafe fp_print_deserialize(
                    buffer.baseAddress, gsize(buffer.count), nil)
            else { return nil }
            return unsafe Print(owning: pointer)
        }
    }

    func serialized() -> SecretBuffer? {
        var data: UnsafeMutablePointer<UInt8>?
        var length: gsize = 0
        // SAFETY: on success `data` is `length` bytes, ours to free.
        guard unsafe fp_print_serialize(pointer, &data, &length, nil) != 0,
            let data = unsafe data
        else { return nil }
        defer { unsafe g_free(data) }
        guard length <= FingerprintLink.template else { return nil }
        var bytes = SecretBuffer(capacity: Int(length))
        bytes.append(unsafe UnsafeBufferPointer(start: data, count: Int(length)).span)
        return bytes
    }

    func isEqual(to other: Print) -> Bool {
        unsafe fp_print_equal(pointer, other.pointer) != 0
    }

    /// The driver's words, or whoever wrote there; as much as is text.
    var description: [UInt8] {
        // SAFETY: either is NULL or a string of the print's own.
        if let words = unsafe fp_print_get_description(pointer) { return unsafe Text.of(words) }
        if let words = unsafe fp_print_get_username(pointer) { return unsafe Text.of(words) }
        return []
    }
}
