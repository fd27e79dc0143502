import Posix
import StoreKeeping
import Testing

@testable import VaultService

/// Days since 1970-01-01.
private func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let years = month > 2 ? year : year - 1
    let months = (month + 9) % 12
    return years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1
        - 719_468
}

@Test("the build date is that of the newest heading in the changelog")
func buildDate() throws {
    #expect(day(1970, 1, 1) == 0)
    #expect(day(2026, 11, 1) == 1_793_491_200 / 86_400)
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let changelog = try TextFile.read(at: "\(root)/CHANGELOG.md", limit: 1 << 20)
    let dates = String(decoding: changelog, as: UTF8.self).split(separator: "\n").compactMap {
        (line) -> Int? in
        guard line.hasPrefix("## ") else { return nil }
        let numbers = line.suffix(10).split(separator: "-").compactMap { Int($0) }
        return numbers.count == 3 ? day(numbers[0], numbers[1], numbers[2]) : nil
    }
    // If this fails, run `make build-date`.
    #expect(dates.max().map { UInt64($0) * 86_400 } == BuildDate.seconds)
}
