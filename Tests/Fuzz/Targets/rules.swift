import Policy
import Wire

/// A policy in the first six bytes, a passcode after them: the report must be what a slow version
/// of the rules says, which uses Strings and sets; the product never makes these of a passcode.
/// After that the question to the rules worker, as the worker would read it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    question(bytes)
    guard bytes.count > 6 else { return 0 }
    let policy = policy(bytes)
    let text = Array(bytes.dropFirst(6).prefix(PasscodeText.maximum))
    let custom: [Finding] = policy.customRules.map { _ in bytes[5] & 1 == 0 ? .satisfied : .unmet }
    let judgement = PasscodeRules.judge(
        text.span, policy, custom: custom, same: .satisfied, history: .unmet)
    must(judgement.entries.map(\.rule) == PasscodeRules.rules(policy), "an entry without its rule")
    must(judgement.unmet.isEmpty == (judgement.obstacle == nil), "unmet, and no obstacle")
    guard let string = String(validating: text, as: UTF8.self) else { return 0 }
    var expected: [(String, Bool)] = [("minLength", string.count >= Int(policy.minLength))]
    expected += policy.customRules.map { ("rule." + $0.name, bytes[5] & 1 == 0) }
    expected += oracle(string, policy)
    must(judgement.entries.count == expected.count, "rules are missing, or too many")
    for (entry, (id, isMet)) in zip(judgement.entries, expected) {
        must(entry.rule.id == id, "the order of the report")
        must(entry.finding == (isMet ? .satisfied : .unmet), "a rule is judged wrongly")
    }
    return 0
}

func policy(_ bytes: [UInt8]) -> Policy {
    var policy = Policy.builtIn
    policy.minLength = UInt32(max(1, bytes[0]))
    policy.requireDigit = bytes[1] & 1 != 0
    policy.requireUpper = bytes[1] & 2 != 0
    policy.requireLower = bytes[1] & 4 != 0
    policy.requireSpecial = bytes[1] & 8 != 0
    policy.digitsOnly = bytes[1] & 16 != 0
    if bytes[1] & 32 != 0 { policy.forbidSequences = bytes[1] & 64 != 0 }
    policy.minCharacterGroups = UInt32(bytes[2] % 5)
    policy.minUniqueCharacters = UInt32(bytes[3])
    policy.historyCount = UInt32(bytes[4] % 25)
    policy.customRules = (0..<bytes[5] / 64).map {
        CustomRule(
            name: "r\($0)", display: "", show: true, test: .dictionary, file: "fuzz", line: 1)
    }
    return policy
}

/// BEHAVIOURS.md 1, word by word.
func oracle(_ text: String, _ policy: Policy) -> [(String, Bool)] {
    let categories = text.unicodeScalars.map(\.properties.generalCategory)
    let isDigit = categories.contains(.decimalNumber)
    let isLower = categories.contains(.lowercaseLetter)
    let isUpper = categories.contains { $0 == .uppercaseLetter || $0 == .titlecaseLetter }
    let isSpecial = categories.contains { !lettersMarksNumbers.contains($0) }
    var found: [(String, Bool)] = []
    if policy.digitsOnly {
        found.append(("digitsOnly", categories.allSatisfy { $0 == .decimalNumber }))
    } else {
        if policy.requireDigit { found.append(("digit", isDigit)) }
        if policy.requireUpper { found.append(("upper", isUpper)) }
        if policy.requireLower { found.append(("lower", isLower)) }
        if policy.requireSpecial { found.append(("special", isSpecial)) }
        if policy.minCharacterGroups > 0 {
            let groups = [isDigit, isLower, isUpper, isSpecial].count { $0 }
            found.append(("groups", groups >= Int(policy.minCharacterGroups)))
        }
    }
    if policy.minUniqueCharacters > 0 {
        let different = Set(text.unicodeScalars).count
        found.append(("unique", different >= Int(policy.minUniqueCharacters)))
    }
    if policy.forbidSequences {
        found.append(("sequence", !isSequence(Array(text.unicodeScalars))))
    }
    found.append(("same", true))
    if policy.historyCount > 0 { found.append(("history", false)) }
    return found
}

let lettersMarksNumbers: Set<Unicode.GeneralCategory> = [
    .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
    .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber,
]

func isSequence(_ scalars: [Unicode.Scalar]) -> Bool {
    guard scalars.count >= 3,
        scalars.allSatisfy({ $0.properties.generalCategory == .decimalNumber })
    else { return false }
    // The ten digits of a script are in a row, the zero first.
    let digits = scalars.map { scalar in
        (0...9).first { scalar.properties.numericValue == Double($0) } ?? 0
    }
    let steps = zip(digits, digits.dropFirst()).map { (($1 - $0) % 10 + 10) % 10 }
    return Set(steps).count == 1
}

/// The worker's side: whatever is accepted is within its bounds, and is encoded to the bytes that
/// it came from.
func question(_ bytes: [UInt8]) {
    let body = bytes.span
    var reader = Reader()
    guard let question = try? RuleQuestion(&reader, body),
        let candidate = try? reader.payload(body, limit: Limits.secret),
        (try? reader.end(body)) != nil
    else { return }
    must(1...RuleLink.rules ~= question.rules.count, "too few rules, or too many")
    must(question.rules.allSatisfy { $0.pattern.count <= RuleLink.pattern }, "a long pattern")
    must(bytes.count <= RuleLink.questionFrame, "a question over its limit")
    var again: [UInt8] = []
    question.write(to: &again)
    again.put(payload: Array(bytes[candidate.start..<candidate.start + candidate.count]).span)
    must(again == bytes, "a question is not written as it was read")
}
