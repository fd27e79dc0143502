import Posix
import Testing
import Wire

@testable import VaultService

/// PROTOCOL.md's table of codes: the names of the parameters, by number.
private func parametersInDocument() throws -> [UInt16: [String]] {
    var all: [UInt16: [String]] = [:]
    for line in try Checkout.text("PROTOCOL.md").split(separator: "\n") {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
            String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard cells.count == 7, cells[3] == "yes", let number = UInt16(cells[1]) else { continue }
        all[number] =
            cells[4].isEmpty
            ? []
            : cells[4].split(separator: ",").map { name in
                String(name.drop { $0 == " " })
            }
    }
    return all
}

@Test("every code has a refusal, and each sends the parameters that PROTOCOL.md names")
func parametersOfCodes() throws {
    let document = try parametersInDocument()
    for refusal in Wording.refusals {
        #expect(refusal.parameters.map(\.name) == document[refusal.code.rawValue], "\(refusal)")
        #expect(refusal.parameters.count <= Limits.parameters)
    }
    #expect(Set(Wording.refusals.map(\.code)) == Set(Code.allCases))
    #expect(Set(document.keys) == Set(Code.allCases.map(\.rawValue)))
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
