import Posix
import Wire

/// Where passcodes come from: a person at the terminal or in dialogs, a descriptor, or nowhere. They never come
/// from standard input, which is for values.
final class Answers {
    enum Outcome: Equatable {
        case answered
        case cancelled
        case tooLong
        /// There is neither a terminal nor a descriptor.
        case nobody
        /// The descriptor has no further line.
        case exhausted
        /// The daemon asked the same again: it did not accept the descriptor's answer.
        case notTaken
        /// The daemon has ended the question by itself.
        case overtaken
        /// Another dialog was open for too long.
        case busy
        /// There is a display, and no dialog could be shown on it.
        case notShown
    }

    private enum Source: ~Copyable {
        case terminal(Terminal)
        case descriptor(Int32)
        case dialogs(Dialogs)
        case nobody
    }

    private let source: Source
    /// nil if questions do not come in dialogs.
    let dialogs: Dialogs?
    /// There is a display, but not what shows dialogs.
    let lacksPinentry: Bool
    private var pending = SecretBuffer()
    private var newest = SecretBuffer()
    private var asked: Set<Ask.Purpose> = []

    /// A descriptor is preferred to the terminal: the caller who names one has the answers there.
    /// Dialogs come last: whoever has a terminal looks at it.
    init(
        descriptor: Int32?, _ place: Dialogs.Place = .nowhere,
        dialogs: (_ programs: [DialogProgram]) -> Dialogs
    ) {
        var asking: Dialogs?
        var isLacking = false
        if let descriptor {
            source = .descriptor(descriptor)
        } else if let terminal = Terminal() {
            source = .terminal(terminal)
        } else {
            switch place {
            case .nowhere: source = .nobody
            case .withoutProgram:
                source = .nobody
                isLacking = true
            case .programs(let programs):
                let made = dialogs(programs)
                source = .dialogs(made)
                asking = made
            }
        }
        self.dialogs = asking
        lacksPinentry = isLacking
    }

    enum Kind: Equatable { case terminal, descriptor, dialogs, nobody }

    var kind: Kind {
        switch source {
        case .terminal: .terminal
        case .descriptor: .descriptor
        case .dialogs: .dialogs
        case .nobody: .nobody
        }
    }

    /// Somebody who can be asked again.
    var isPerson: Bool {
        switch kind {
        case .terminal, .dialogs: true
        case .descriptor, .nobody: false
        }
    }

    func answer(
        _ purpose: Ask.Purpose, prompt: [UInt8], echo: Bool, limit: Int = Limits.secret,
        into answer: inout SecretBuffer
    ) -> Outcome {
        switch source {
        case .nobody: return .nobody
        case .dialogs(let dialogs):
            return dialogs.answer(purpose, prompt: Answers.shaped(prompt), into: &answer)
        case .terminal(let terminal):
            switch terminal.ask(
                Text(Answers.shaped(prompt)).bytes, echo: echo, limit: limit, into: &answer)
            {
            case .line: return .answered
            case .endOfInput, .interrupted: return .cancelled
            case .tooLong: return .tooLong
            }
        case .descriptor(let descriptor): return fromDescriptor(descriptor, purpose, into: &answer)
        }
    }

    /// For what the tool itself asks, and may ask about several things: each time the descriptor's
    /// next line.
    func next(_ prompt: [UInt8], _ answer: inout SecretBuffer) -> Outcome {
        switch source {
        case .descriptor(let descriptor): return line(descriptor, into: &answer)
        case .terminal: break
        case .dialogs: break
        case .nobody: break
        }
        return self.answer(.passphrase, prompt: prompt, echo: false, into: &answer)
    }

    private func fromDescriptor(
        _ descriptor: Int32, _ purpose: Ask.Purpose, into answer: inout SecretBuffer
    ) -> Outcome {
        switch purpose {
        // An empty answer: without a person, nobody has said yes.
        case .acknowledge, .choice: return .answered
        case .confirmPasscode, .confirmPassphrase:
            answer.append(newest)
            return .answered
        case .passcode, .newPasscode, .loginPassword, .passphrase, .newPassphrase, .recoveryKey,
            .former:
            break
        }
        guard asked.insert(purpose).inserted else { return .notTaken }
        let outcome = line(descriptor, into: &answer)
        if outcome == .answered, purpose == .newPasscode || purpose == .newPassphrase {
            newest.removeAll()
            newest.append(answer)
        }
        return outcome
    }

    private func line(_ descriptor: Int32, into answer: inout SecretBuffer) -> Outcome {
        while true {
            var end: Int?
            for index in 0..<pending.count where end == nil && pending[index] == 0x0A {
                end = index
            }
            if let end {
                return take(end, through: end + 1, into: &answer)
            }
            guard pending.count <= Limits.secret else { return .tooLong }
            guard let got = try? pending.read(from: descriptor, atMost: 1024), got > 0 else {
                return pending.isEmpty
                    ? .exhausted : take(pending.count, through: pending.count, into: &answer)
            }
        }
    }

    private func take(_ length: Int, through end: Int, into answer: inout SecretBuffer) -> Outcome {
        pending.withSpan(from: 0, count: length) { answer.append($0) }
        pending.dropFirst(end)
        return length > Limits.secret ? .tooLong : .answered
    }

    /// Shows it to the person at the terminal, wherever the output goes. Does nothing without a
    /// terminal.
    func show(_ bytes: [UInt8]) {
        switch source {
        case .terminal(let terminal): terminal.write(bytes)
        case .descriptor: break
        case .dialogs: break
        case .nobody: break
        }
    }

    func show(_ secret: borrowing SecretBuffer) {
        switch source {
        case .terminal(let terminal): terminal.write(secret)
        case .descriptor: break
        case .dialogs: break
        case .nobody: break
        }
    }

    /// Makes each prompt end with a colon and a space. One that ends with a question mark or a
    /// bracket gets no colon.
    private static func shaped(_ prompt: [UInt8]) -> [UInt8] {
        var text = Printable.escaped(prompt)
        while text.last == 0x20 { text.removeLast() }
        switch text.last {
        case 0x3A?, 0x3F?, 0x5D?: break
        default: text.append(0x3A)
        }
        return text + [0x20]
    }
}
