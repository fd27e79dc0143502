import ToolTexts
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

    /// As a person reads it.
    var text: ToolText {
        switch self {
        case .unnamed: .fingerUnnamed
        case .leftThumb: .fingerLeftThumb
        case .leftIndex: .fingerLeftIndex
        case .leftMiddle: .fingerLeftMiddle
        case .leftRing: .fingerLeftRing
        case .leftLittle: .fingerLeftLittle
        case .rightThumb: .fingerRightThumb
        case .rightIndex: .fingerRightIndex
        case .rightMiddle: .fingerRightMiddle
        case .rightRing: .fingerRightRing
        case .rightLittle: .fingerRightLittle
        }
    }

    /// fprintd's names, which end with `-finger`, are taken as well.
    static func named(_ word: String) -> Finger? {
        let plain = word.hasSuffix("-finger") ? String(word.dropLast("-finger".count)) : word
        return named.first { $0.name == plain || $0.name == word }
    }
}
