internal import CLinux

/// Whether the kernel would give so much memory now: takes it and gives it back.
public enum MemoryReservation {
    public static func succeeds(count: Int) -> Bool {
        guard count > 0 else { return true }
        // SAFETY: a new anonymous mapping that is never accessed.
        let memory = unsafe mmap(
            nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // MAP_FAILED is a cast, which Swift does not import; as a number it has all bits set.
        guard let memory = unsafe memory, UInt(bitPattern: memory) != UInt.max
        else { return false }
        // SAFETY: this is the mapping that was just made.
        return unsafe munmap(memory, count) == 0
    }
}
