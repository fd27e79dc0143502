import Testing

@testable import Secrets

/// Only tests may look at a secret.
func reveal(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    try SecretBytes(copying: bytes.span)
}

@Suite struct SecretBytesTests {
    @Test("a secret never prints its bytes or its length")
    func redacted() throws {
        let one = try secret(Array("hunter2".utf8))
        #expect(one.description == "[REDACTED]")
        #expect(one.debugDescription == "[REDACTED]")
        let box = SecretBox(one)
        var dumped = ""
        dump(box, to: &dumped)
        #expect("\(box)" == "[REDACTED]")
        #expect(String(reflecting: box) == "[REDACTED]")
        #expect(dumped == "- [REDACTED] #0\n")
        #expect(try WipedSlab(count: 8).description == "[REDACTED]")
    }

    @Test("a new secret is all zeroes", arguments: [0, 1, 32, 5000])
    func zeroed(count: Int) throws {
        #expect(reveal(try SecretBytes(count: count)) == [UInt8](repeating: 0, count: count))
    }

    @Test("two random secrets differ")
    func random() throws {
        let one = try SecretBytes.random(32)
        let other = try SecretBytes.random(32)
        let same = one.matches(other)
        #expect(!same)
    }

    @Test("secrets match only where every byte and the length do")
    func matching() throws {
        let bytes: [UInt8] = [1, 2, 3]
        let one = try secret(bytes)
        // In a list, because the macro wants to copy what it is given.
        let equal = [one.matches(try one.copy()), one.matches(bytes.span)]
        let unequal = [
            one.matches(try secret([1, 2, 4])), one.matches(try secret([1, 2])),
            one.matches(Span()),
        ]
        #expect(equal == [true, true])
        #expect(unequal == [false, false, false])
    }

    @Test("a shortened secret keeps its start, and the rest is wiped")
    func shortened() throws {
        var one = try secret([1, 2, 3, 4])
        one.shorten(to: 2)
        #expect(reveal(one) == [1, 2])
        one.shorten(to: 9)
        #expect(one.count == 2)
        let slice = try secret([1, 2, 3, 4]).slice(1..<3)
        #expect(reveal(slice) == [2, 3])
    }

    @Test("a box gives its secret away once")
    func box() throws {
        let box = SecretBox(try secret([7]))
        guard let first = box.take() else {
            Issue.record("the box was empty")
            return
        }
        #expect(reveal(first) == [7])
        if box.take() != nil { Issue.record("the box gave its secret twice") }
    }

    @Test("a slab wipes the range it is told and no more")
    func slab() throws {
        var slab = try WipedSlab(count: 8)
        slab.withMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = 9 }
        }
        slab.wipe(2..<100)
        let left = slab.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        #expect(left == [9, 9, 0, 0, 0, 0, 0, 0])
    }
}

@Suite("secrets in reserved cells")
struct CellTests {
    @Test("more secrets than cells: each has bytes of its own, zeroes at first, wiped in between")
    func many() throws {
        #expect(try SecretBytes.reserve(rows: 2))
        for _ in 0..<2 {
            let boxes = try (0..<40).map { number in
                let new = try SecretBytes(count: 100)
                #expect(reveal(new) == [UInt8](repeating: 0, count: 100))
                return SecretBox(try secret([UInt8](repeating: UInt8(number), count: 100)))
            }
            for (number, box) in boxes.enumerated() {
                guard let one = box.take() else {
                    Issue.record("a box was empty")
                    return
                }
                #expect(reveal(one) == [UInt8](repeating: UInt8(number), count: 100))
            }
        }
    }

    @Test("a secret may fill its cell, and a larger one lies elsewhere", arguments: [2016, 2017])
    func full(count: Int) throws {
        #expect(try SecretBytes.reserve(rows: 2))
        let one = try SecretBytes.random(count)
        let same = one.matches(try one.copy())
        #expect(same && one.count == count)
    }

    @Test("the process ends where the memory around a secret was written over")
    func written() async {
        await #expect(processExitsWith: .failure) {
            _ = try SecretBytes.reserve(rows: 1)
            let block = try #require(GuardedBlocks.take(32))
            unsafe block.start.storeBytes(of: 1, toByteOffset: block.room, as: UInt8.self)
            GuardedBlocks.giveBack(block)
        }
        await #expect(processExitsWith: .success) {
            _ = try SecretBytes.reserve(rows: 1)
            let block = try #require(GuardedBlocks.take(32))
            unsafe block.start.storeBytes(of: 1, toByteOffset: block.room - 1, as: UInt8.self)
            GuardedBlocks.giveBack(block)
        }
    }
}
