import Testing
import Wire

@testable import Client

@Suite struct FingerTests {
    @Test("every finger has a name of its own, which is understood, as fprintd's is")
    func names() {
        #expect(Finger.named.count == 10)
        #expect(Set(Finger.named.map(\.name)).count == 10)
        #expect(Set(Finger.named.map(\.text)).count == 10)
        for finger in Finger.named {
            #expect(Finger.named(finger.name) == finger)
            #expect(Finger.named(finger.name + "-finger") == finger)
        }
        #expect(Finger.named("") == nil)
        #expect(Finger.named("right") == nil)
    }

    @Test(
        "the line of a scan fits its terminal, whatever the daemon counts",
        arguments: [8, 20, 24, 59, 60, 80], [(0, 0), (1, 5), (7, 5), (3, 0), (5, 255), (255, 255)])
    func line(columns: Int, stages: (Int, Int)) {
        let text = Array("Place your finger on the reader, \u{4E2D}\u{6587} and once more".utf8)
        let line = ScanView.line(text, stages.0, stages.1, columns: columns)
        #expect(Layout.width(line) < columns)
    }

    @Test("the bar shows what is done of all, and goes where the words need its room")
    func bar() {
        func line(_ text: String, _ columns: Int) -> String {
            String(
                decoding: ScanView.line(Array(text.utf8), 2, 5, columns: columns), as: UTF8.self)
        }
        let text = "2 of 5. Lift the finger, move it a little, and place it again."
        #expect(line(text, 80) == "[##...] \(text)")
        #expect(line(text, 70) == text)
        #expect(line(text, 40) == "2 of 5. Lift the finger, move it a...")
    }
}
