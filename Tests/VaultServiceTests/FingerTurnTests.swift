import Testing
import Wire

@testable import VaultService

@Suite struct FingerTurnTests {
    /// Turns at: a person in front, a terminal aside, nobody seen.
    private static func turns(_ asked: FingerUse, at service: String) -> [FingerTurn] {
        [Presence.inFront, .aside, .unseen].map {
            FingerTurn(asked, at: Array(service.utf8), $0)
        }
    }

    @Test(
        "what reads its input has the finger first at a terminal, and none where it is a pipe",
        arguments: ["login", "su", "su-l"])
    func input(service: String) {
        #expect(Self.turns(.byService, at: service) == [.first, .never, .never])
        #expect(Self.turns(.onEmpty, at: service) == [.onEmpty, .never, .never])
    }

    @Test(
        "sudo may ask at a terminal beside a pipe, where only an empty answer starts the reader",
        arguments: ["sudo", "sudo-i"])
    func terminal(service: String) {
        #expect(Self.turns(.byService, at: service) == [.first, .onEmpty, .never])
        #expect(Self.turns(.onEmpty, at: service) == [.onEmpty, .onEmpty, .never])
    }

    @Test("a greeter with a display has the finger first")
    func greeter() {
        #expect(Self.turns(.byService, at: "lightdm") == [.first, .onEmpty, .onEmpty])
        #expect(Self.turns(.onEmpty, at: "lightdm") == [.onEmpty, .onEmpty, .onEmpty])
    }

    @Test(
        "everywhere else an empty answer starts the reader, terminal or not",
        arguments: ["swaylock", "gdm-password", "polkit-1", "login2", ""])
    func other(service: String) {
        #expect(Self.turns(.byService, at: service) == [.onEmpty, .onEmpty, .onEmpty])
        #expect(Self.turns(.onEmpty, at: service) == [.onEmpty, .onEmpty, .onEmpty])
    }

    @Test(
        "the other options are the administrator's word",
        arguments: ["login", "sudo", "lightdm", "x"])
    func told(service: String) {
        #expect(Self.turns(.first, at: service) == [.first, .first, .first])
        #expect(Self.turns(.only, at: service) == [.only, .only, .only])
        #expect(Self.turns(.off, at: service) == [.never, .never, .never])
    }
}
