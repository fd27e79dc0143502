/// A time as manifests write it: `2026-11-26T03:00:00Z`, always UTC, to the second.
enum UTCTime {
    private static let monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    private static let secondsADay: UInt64 = 86_400

    /// Seconds since 1970.
    static func seconds(_ text: [UInt8]) -> UInt64? {
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard text.count == pattern.count else { return nil }
        var numbers: [Int] = []
        var number = 0
        for (byte, sample) in zip(text, pattern) {
            if sample == UInt8(ascii: "0") {
                guard 0x30...0x39 ~= byte else { return nil }
                number = number * 10 + Int(byte - 0x30)
            } else {
                guard byte == sample else { return nil }
                numbers.append(number)
                number = 0
            }
        }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard year >= 1970, (1...12).contains(month),
            (1...length(of: month, year)).contains(day),
            numbers[3] < 24, numbers[4] < 60, numbers[5] < 60
        else { return nil }
        let days = self.days(before: year) + (1..<month).reduce(0) { $0 + length(of: $1, year) }
        return UInt64(days + day - 1) * secondsADay
            + UInt64(numbers[3] * 3600 + numbers[4] * 60 + numbers[5])
    }

    static func text(_ seconds: UInt64) -> String {
        var days = Int(seconds / secondsADay)
        var year = 1970 + days / 366
        while self.days(before: year + 1) <= days { year += 1 }
        days -= self.days(before: year)
        var month = 1
        while days >= length(of: month, year) {
            days -= length(of: month, year)
            month += 1
        }
        let time = Int(seconds % secondsADay)
        let parts = [month, days + 1, time / 3600, time / 60 % 60, time % 60].map { part in
            part < 10 ? "0\(part)" : "\(part)"
        }
        return "\(year)-\(parts[0])-\(parts[1])T\(parts[2]):\(parts[3]):\(parts[4])Z"
    }

    /// Since 1970.
    private static func days(before year: Int) -> Int {
        func leaps(_ year: Int) -> Int { year / 4 - year / 100 + year / 400 }
        return (year - 1970) * 365 + leaps(year - 1) - leaps(1969)
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 && isLeap ? 29 : monthLengths[month - 1]
    }
}
