import Policy
import ToolTexts

/// What flows are called, by their numbers, for people and for programs.
enum FlowWords {
    static func name(_ number: UInt8) -> String {
        switch Flow(rawValue: number) {
        case .create?: "create"
        case .createOfferingFingerprint?: "create-offering-fingerprint"
        case .change?: "change"
        case .dropPasscode?: "drop-passcode"
        case .announceFingerprint?: "announce-fingerprint"
        case .dropFingerprint?: "drop-fingerprint"
        case .dropBoth?: "drop-both"
        case nil: "unknown"
        }
    }

    static func words(_ number: UInt8, _ words: OwnWords) -> [UInt8] {
        switch Flow(rawValue: number) {
        case .create?: words(.flowCreate)
        case .createOfferingFingerprint?: words(.flowCreateOffering)
        case .change?: words(.flowChange)
        case .dropPasscode?: words(.flowDropPasscode)
        case .announceFingerprint?: words(.flowAnnounce)
        case .dropFingerprint?: words(.flowDropFingerprint)
        case .dropBoth?: words(.flowDropBoth)
        case nil: words(.flowUnknown, Int(number))
        }
    }

    static func words(_ numbers: [UInt8], _ words: OwnWords) -> [UInt8] {
        guard let first = numbers.first else { return words(.flowNothing) }
        return numbers.dropFirst().reduce(self.words(first, words)) { before, next in
            words(.flowThen, before, self.words(next, words))
        }
    }
}
