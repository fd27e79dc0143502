import Testing

@testable import Client

@Suite("a part of a name finds it in a long list")
struct ItemSearchTests {
    private let titles = ["default", "Änne", "work at home", "homework", "Home"].map {
        Array($0.utf8)
    }

    @Test(
        "in whatever letters it was typed",
        arguments: [
            ("home", [2, 3, 4]), ("HOME", [2, 3, 4]), ("änn", [1]), ("ÄNNE", [1]),
            (" work ", [2, 3]), ("k a", [2]), ("x", []), ("default and more", []),
            ("", [0, 1, 2, 3, 4]), ("  ", [0, 1, 2, 3, 4]),
        ])
    func finds(_ typed: String, _ places: [Int]) {
        #expect(ItemSearch.places(of: Array(typed.utf8), among: titles) == places)
    }

    @Test("what is no text finds nothing, and breaks nothing")
    func nonsense() {
        #expect(ItemSearch.places(of: [0xFF, 0xC3], among: titles) == [])
        #expect(ItemSearch.places(of: Array("a".utf8), among: [[], [0xFF]]) == [])
        #expect(ItemSearch.places(of: Array("a".utf8), among: []) == [])
    }
}
