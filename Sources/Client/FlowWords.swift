import Policy

/// The flows by their numbers, for people and for programs.
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

    static func words(_ number: UInt8) -> String {
        switch Flow(rawValue: number) {
        case .create?: "a passcode has to be created"
        case .createOfferingFingerprint?: "a passcode has to be created; a fingerprint is offered"
        case .change?: "a new passcode has to be chosen"
        case .dropPasscode?: "the passcode goes"
        case .announceFingerprint?: "it is told that a fingerprint may be used"
        case .dropFingerprint?: "the fingerprint goes"
        case .dropBoth?: "passcode and fingerprint go"
        case nil: "a step that this release does not know (\(number))"
        }
    }

    static func words(_ numbers: [UInt8]) -> String {
        numbers.isEmpty ? "nothing" : numbers.map { words($0) }.joined(separator: "; then ")
    }
}
