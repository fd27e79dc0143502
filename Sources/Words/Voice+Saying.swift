import Wire

/// What is said to a person, as it goes to a front end.
extension Voice {
    package func line(_ message: Message) -> Line {
        let phrase = message.phrase
        return Line(
            id: Array(phrase.id.id.utf8),
            arguments: arguments(phrase).map { Text.clean($0) }, text: bytes(phrase))
    }

    package func refused(_ refusal: Refusal) -> Refused {
        Refused(
            code: refusal.code.rawValue,
            parameters: refusal.parameters.map {
                Refused.Parameter(name: Array($0.name.utf8), value: Text.clean($0.value))
            },
            message: bytes(refusal.message), hint: refusal.hint.map { bytes($0) } ?? [])
    }
}
