import CLinux

@testable import Posix

/// Two ends of one connection.
enum SocketPair {
    static func make() throws(PosixError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel writes two descriptors.
        let failed = unsafe ends.withUnsafeMutableBufferPointer { buffer in
            // Other tests start programs meanwhile, which must not keep these open.
            unsafe socketpair(
                AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0,
                buffer.baseAddress!)
        }
        guard failed == 0 else { throw .last("socketpair") }
        return (ends[0], ends[1])
    }

    static func send(_ descriptor: Int32, _ bytes: [UInt8]) {
        // SAFETY: exactly the array.
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe write(descriptor, buffer.baseAddress, buffer.count)
        }
    }

    /// All that has come, without waiting for more.
    static func readAll(_ descriptor: Int32) {
        var room = [UInt8](repeating: 0, count: 65_536)
        // SAFETY: at most the array's bytes are written.
        let count = room.count
        while unsafe room.withUnsafeMutableBytes({ bytes in
            unsafe recv(descriptor, bytes.baseAddress, count, Int32(MSG_DONTWAIT))
        }) > 0 {}
    }

    static func close(_ descriptor: Int32) {
        _ = CLinux.close(descriptor)
    }

    static func unlink(_ path: String) {
        _ = unsafe CLinux.unlink(path)
    }
}
