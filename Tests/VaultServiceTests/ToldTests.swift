import Fleet
import Testing

@testable import VaultService

@Suite struct ToldTests {
    private static let join =
        """
        [Join]
        Organisation=example.org
        TargetKey=\(String(repeating: "A", count: 43))=
        Threshold=1
        [Keys]
        anna=RWQ\(String(repeating: "A", count: 53))
        """

    private func told(_ stores: UInt64 = 1, url: String = "https://a/", at: UInt64) throws -> Told {
        let join = try Join(Array((Self.join + "\n").utf8))
        return Told(
            report: FleetReport(of: join, machine: nil, [.stores: stores]), url: url, at: at)
    }

    @Test func whatChangesIsNews() throws {
        let last = try told(at: 1000)
        #expect(try !told(at: 2000).isNews(after: last))
        #expect(try told(2, at: 2000).isNews(after: last))
        #expect(try told(url: "https://b/", at: 2000).isNews(after: last))
    }

    @Test func onceADayItIsSaidAgain() throws {
        let day: UInt64 = 24 * 60 * 60 * 1000
        let last = try told(at: 1000)
        #expect(try !told(at: 1000 + day - 1).isNews(after: last))
        #expect(try told(at: 1000 + day).isNews(after: last))
    }
}
