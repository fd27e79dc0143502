import Wire

/// Fingers as people name them, at the command line and in sentences.
extension Finger {
    package static var named: [Finger] { allCases.filter { $0 != .unnamed } }

    /// `right-index`
    package var name: String {
        switch self {
        case .unnamed: ""
        case .leftThumb: "left-thumb"
        case .leftIndex: "left-index"
        case .leftMiddle: "left-middle"
        case .leftRing: "left-ring"
        case .leftLittle: "left-little"
        case .rightThumb: "right-thumb"
        case .rightIndex: "right-index"
        case .rightMiddle: "right-middle"
        case .rightRing: "right-ring"
        case .rightLittle: "right-little"
        }
    }

    var words: String {
        switch self {
        case .unnamed: "a finger"
        case .leftThumb: "left thumb"
        case .leftIndex: "left index finger"
        case .leftMiddle: "left middle finger"
        case .leftRing: "left ring finger"
        case .leftLittle: "left little finger"
        case .rightThumb: "right thumb"
        case .rightIndex: "right index finger"
        case .rightMiddle: "right middle finger"
        case .rightRing: "right ring finger"
        case .rightLittle: "right little finger"
        }
    }

    /// fprintd's names, which end with `-finger`, are taken as well.
    static func named(_ word: String) -> Finger? {
        let plain = word.hasSuffix("-finger") ? String(word.dropLast("-finger".count)) : word
        return named.first { $0.name == plain || $0.name == word }
    }
}
