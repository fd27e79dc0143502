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

@Suite("what a camera sees, as it is drawn")
struct CameraPicturesTests {
    private func picture(_ width: Int, _ height: Int, _ point: UInt8) -> [UInt8] {
        Array("AVG1".utf8) + [UInt8(width), 0, UInt8(height), 0]
            + [UInt8](repeating: point, count: width * height)
    }

    @Test("of several that have come the last whole one counts, in whatever parts they come")
    func parts() {
        let bytes = picture(3, 2, 1) + picture(160, 120, 2) + picture(1, 1, 3)
        for size in [1, 7, 8, 13, 100, bytes.count] {
            var (pictures, last): (CameraPictures, CameraPicture?) = (CameraPictures(), nil)
            var count = 0
            for start in stride(from: 0, to: bytes.count, by: size) {
                guard let got = pictures.add(Array(bytes[start..<min(start + size, bytes.count)]))
                else { continue }
                (last, count) = (got, count + 1)
                #expect(got.points.count == got.width * got.height)
            }
            #expect(last == CameraPicture(width: 1, height: 1, points: [3]))
            #expect((1...3).contains(count))
        }
    }

    @Test(
        "after what cannot be a picture nothing more is one",
        arguments: [
            [0x41, 0x56, 0x47, 0x32, 1, 0, 1, 0, 7], Array("AVG1".utf8) + [0, 0, 1, 0],
            Array("AVG1".utf8) + [161, 0, 1, 0], Array("AVG1".utf8) + [1, 0, 121, 0],
            Array("AVG1".utf8) + [0xFF, 0xFF, 0xFF, 0xFF],
        ])
    func broken(_ bytes: [UInt8]) {
        var pictures = CameraPictures()
        #expect(pictures.add(picture(1, 1, 5) + bytes)?.points == [5])
        #expect(pictures.add(picture(1, 1, 6)) == nil)
    }
}
