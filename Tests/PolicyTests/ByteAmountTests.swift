import Policy
import Testing

@Test(
    "bytes are told in whole units, rounded up",
    arguments: [
        (0, "0 KiB"), (1, "1 KiB"), (4096, "4 KiB"), (1 << 20, "1 MiB"),
        ((1 << 20) + 1, "1025 KiB"), (10 << 20, "10 MiB"), ((10 << 20) + 1, "11 MiB"),
        (256 << 20, "256 MiB"), (1 << 30, "1 GiB"),
        (3 << 29, "1536 MiB"), (1 << 40, "1 TiB"), ((1 << 40) + 1, "1025 GiB"),
    ] as [(UInt64, String)])
func amounts(bytes: UInt64, text: String) {
    #expect(ByteAmount.text(bytes) == text)
}
