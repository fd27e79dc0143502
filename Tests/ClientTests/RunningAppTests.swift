import Testing
import Wire

@testable import Client

@Suite("the file of an application that runs locked")
struct RunningAppTests {
    private func app(store: String, windows: [String] = []) -> RunningApp {
        var app = RunningApp(
            scope: "app-appvault-mail-7.scope", id: "mail", store: store, demand: .finger,
            onLock: .freeze, background: .timeout, timeout: 300)
        app.isLocked = true
        app.windows = windows
        return app
    }

    @Test(
        "what is written is read",
        arguments: ["", "work", "a=b", "\u{301}joined", "\u{1F468}\u{200D}", "ends\u{FE0F}"])
    func both(store: String) {
        let app = app(store: store, windows: ["12", "4294967295"])
        #expect(app.isSound)
        #expect(RunningApp(scope: app.scope, bytes: app.bytes) == app)
    }

    @Test(
        "a name that would be more than its line is none",
        arguments: ["a\nlocked=0", "a\r\n", "\0", String(repeating: "x", count: 256)])
    func unsound(store: String) {
        #expect(!app(store: store).isSound)
    }

    @Test("with very many windows the file is still read, without some of them")
    func windows() {
        let numbers = (0..<5_000).map { "\(4_294_960_000 + $0)" }
        let app = app(store: String(repeating: "x", count: 255), windows: numbers)
        let read = RunningApp(scope: app.scope, bytes: app.bytes)
        #expect(read?.windows == Array(numbers.prefix(2_000)))
        #expect(app.bytes.count < 65_536)
    }
}
