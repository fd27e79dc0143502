/// Which passcodes a rule's pattern allows, as far as its text shows: never fewer than it really
/// allows.
struct PatternReach {
    /// Little is kept of each rule, because a person who sends a file to be looked at may name one
    /// rule a thousand times.
    private static let mostPlaces = 8
    private static let mostNeeds = 16

    /// Each character is one of these.
    private(set) var letters = PatternLetters.any
    /// In characters as a regular expression counts them. A person counts the same text as that
    /// many characters or fewer.
    private(set) var shortest = 0
    private(set) var longest: Int?
    /// The passcode has at least one character of each of these.
    private(set) var needs: [PatternLetters] = []
    /// What the first characters may be, and the last ones, counted from the end.
    private(set) var first: [PatternLetters] = []
    private(set) var last: [PatternLetters] = []
    private(set) var isImpossible = false

    /// Which passcodes of these characters are allowed; nil where the pattern is not of the simple
    /// kind.
    init?(_ test: CustomRule.Test, of alphabet: PatternLetters) {
        switch test {
        case .dictionary: return nil
        case .matches(let pattern):
            guard let form = PatternForm(pattern) else { return nil }
            match(form, alphabet)
        case .rejects(let pattern):
            guard let form = PatternForm(pattern) else { return nil }
            reject(form, alphabet)
        }
    }

    private mutating func match(_ form: PatternForm, _ alphabet: PatternLetters) {
        let parts = form.parts.map { part in
            var within = part
            within.letters = part.letters.intersection(alphabet)
            if within.letters.isEmpty { within.most = 0 }
            return within
        }
        for part in parts where part.least > 0 {
            if part.letters.isEmpty { isImpossible = true }
            if needs.count < Self.mostNeeds, !needs.contains(part.letters) {
                needs.append(part.letters)
            }
            shortest += part.least
        }
        if form.fromStart { first = Self.places(parts) }
        if form.toEnd { last = Self.places(parts.reversed()) }
        guard form.fromStart, form.toEnd else { return letters = alphabet }
        letters = parts.reduce(.none) { $1.most == 0 ? $0 : $0.union($1.letters) }
        longest = parts.reduce(0) { sum, part in
            guard let sum, let most = part.most else { return nil }
            return sum + most
        }
        if longest == 0 { isImpossible = true }
    }

    private static func places(_ parts: [PatternForm.Part]) -> [PatternLetters] {
        var places: [PatternLetters] = []
        for part in parts {
            let room = mostPlaces - places.count
            places += Array(repeating: part.letters, count: min(part.least, room))
            if part.most != part.least || places.count == mostPlaces { break }
        }
        return places
    }

    private mutating func reject(_ form: PatternForm, _ alphabet: PatternLetters) {
        letters = alphabet
        // A pattern that matches the empty text is found in every passcode.
        if form.parts.allSatisfy({ $0.least == 0 }), !(form.fromStart && form.toEnd) {
            isImpossible = true
        }
        guard form.parts.count == 1, let part = form.parts.first, part.least == 1 else { return }
        let rest = part.letters.complement.intersection(alphabet)
        switch (form.fromStart, form.toEnd) {
        case (false, false):
            letters = rest
            isImpossible = rest.isEmpty
        case (true, false): first = [rest]
        case (false, true): last = [rest]
        // Such a pattern refuses only a passcode that is this one character; every longer one
        // passes.
        case (true, true): break
        }
    }
}
