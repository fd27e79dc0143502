import Posix
import Testing
import Wire

@testable import Words

private struct Row {
    var isSent: Bool
    var parameters: [String]
}

/// PROTOCOL.md's table of codes, by number.
private func document() throws -> [UInt16: Row] {
    var all: [UInt16: Row] = [:]
    for line in try Checkout.text("PROTOCOL.md").split(separator: "\n") {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
            String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard cells.count == 7, let number = UInt16(cells[1]), ["yes", "no"].contains(cells[3])
        else { continue }
        let names = cells[4].split(separator: ",").map { name in String(name.drop { $0 == " " }) }
        all[number] = Row(isSent: cells[3] == "yes", parameters: names)
    }
    return all
}

@Test("every code has a refusal, and each sends the parameters that PROTOCOL.md names")
func parametersOfCodes() throws {
    let document = try document()
    for refusal in Wording.refusals {
        #expect(
            refusal.parameters.map(\.name) == document[refusal.code.rawValue]?.parameters,
            "\(refusal)")
        #expect(refusal.parameters.count <= Limits.parameters)
    }
    #expect(Set(Wording.refusals.map(\.code)) == Set(Code.allCases))
    #expect(Set(document.keys) == Set(Code.allCases.map(\.rawValue)))
}

@Test("PROTOCOL.md marks the codes that something sends, and no others")
func codesThatAreSent() throws {
    let used = try Sources.names { !$0.hasPrefix("Refusal") && !$0.hasPrefix("Text") }
    // A skipped passcode is a step of `create` and is not sent.
    let unsent = Set(
        Wording.refusals.filter { !used.contains(Sources.name(of: $0)) || $0 == .skipped }
            .map(\.code))
    #expect(!unsent.contains(.cancelled))
    #expect(unsent == Set(try document().compactMap { $1.isSent ? nil : Code(rawValue: $0) }))
}

@Test("what a program reads of a refusal is the same in every language")
func parametersAreNotTranslated() throws {
    let german = try German.voice()
    for refusal in Wording.refusals {
        let (english, other) = (Voice.english.refused(refusal), german.refused(refusal))
        #expect(english.parameters == other.parameters)
        #expect(english.code == other.code)
    }
}
