import Testing

@testable import Client

@Suite("what the program says that looks through a camera")
struct CameraOutputTests {
    private func all(_ text: String) -> [CameraOutput.Said] {
        var output = CameraOutput(Array(text.utf8))
        var said: [CameraOutput.Said] = []
        while let next = output.next() { said.append(next) }
        return said
    }

    @Test("each thing is taken as it is, and a code with all of its bytes")
    func whole() {
        let lines = "device\nformat\nbusy\nbroken\nlate\n"
        #expect(all(lines) == [.device, .format, .busy, .broken, .late])
        #expect(
            all("looking\ncode 5\na\nb\ncode 0\nlate\n")
                == [.looking, .code(Array("a\nb\nc".utf8))])
        #expect(all("code 0\nlate\n") == [.code([]), .late])
    }

    @Test(
        "what is cut short, or is something else, is nothing, and nothing behind it counts",
        arguments: [
            "", "looking", "code 5\nabcd", "code 5", "code\nlate\n", "code -1\nlate\n",
            "code 99999999999999999999\nlate\n",
            "code 5000\n" + String(repeating: "x", count: 5000),
            "code 1 \nx", "Looking\nlate\n", "\nlate\n", "code 0x1\nx",
        ])
    func broken(_ text: String) {
        #expect(all(text) == [])
    }
}
