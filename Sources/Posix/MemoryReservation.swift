internal import CLinux

/// Whether the kernel would give so much memory now, by taking it and giving it back.
public enum MemoryReservation {
    public static func succeeds(count: Int) -> Bool {
        guard count > 0 else { return true }
        // SAFETY: an anonymous mapping of our own that nobody looks at.
        let memory = unsafe mmap(
            nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // MAP_FAILED is a cast that is not imported; as a number it is all ones.
        guard let memory = unsafe memory, UInt(bitPattern: memory) != UInt.max
        else { return false }
        // SAFETY: the mapping just made.
        return unsafe munmap(memory, count) == 0
    }
}
