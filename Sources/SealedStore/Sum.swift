internal import Secrets

/// Two lanes of 64 bits, added modulo 2^64, so that a bucket's sum does not depend on the order of
/// its records.
struct Sum: Hashable, Sendable {
    var first: UInt64 = 0
    var second: UInt64 = 0

    static let zero = Sum()

    static func += (left: inout Sum, right: Sum) {
        left.first &+= right.first
        left.second &+= right.second
    }

    static func - (left: Sum, right: Sum) -> Sum {
        var sum = left
        sum -= right
        return sum
    }

    static func -= (left: inout Sum, right: Sum) {
        left.first &-= right.first
        left.second &-= right.second
    }
}
