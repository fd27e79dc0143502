import Wire

extension Refused {
    init(_ code: Code, _ message: String, hint: String = "", parameters: [Parameter] = []) {
        self.init(code, Array(message.utf8), hint: Array(hint.utf8), parameters: parameters)
    }

    init(_ code: Code, _ message: [UInt8], hint: [UInt8] = [], parameters: [Parameter] = []) {
        self.init(code: code.rawValue, parameters: parameters, message: message, hint: hint)
    }

    /// A code that only a newer daemon knows counts as `unknown`.
    var known: Code { Code(rawValue: code) ?? .unknown }

    var exitStatus: ExitStatus { known.exitStatus }

    /// Adds our own text and advice if the daemon gave none.
    func complete(_ words: OwnWords) -> Refused {
        var refused = self
        if refused.message.isEmpty { refused.message = Array(known.words.utf8) }
        if refused.hint.isEmpty, let advice = known.advice { refused.hint = words(advice) }
        return refused
    }
}
