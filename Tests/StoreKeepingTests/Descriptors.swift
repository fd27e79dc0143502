import Glibc

enum Descriptors {
    static func copy(_ number: Int32) -> Int32 { dup(number) }

    // SAFETY: open reads a terminated path.
    static func open(_ path: String) -> Int32 { unsafe Glibc.open(path, O_RDONLY) }
}
