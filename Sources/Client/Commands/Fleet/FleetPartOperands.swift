import Fleet
import Wire
import Words

/// `policy=FILE`, `orders=FILE`, `terms=FILE`, `signin=FILE`: a part of a bundle; any other operand is a signature.
enum FleetPart: Equatable {
    case part(Manifest.Part, FileOperand)
    case signature(FileOperand)

    init(_ operand: [UInt8]) {
        if let equals = operand.firstIndex(of: UInt8(ascii: "=")),
            let part = Manifest.Part(
                rawValue: String(decoding: operand[..<equals], as: UTF8.self))
        {
            self = .part(part, FileOperand(Array(operand[(equals + 1)...])))
        } else {
            self = .signature(FileOperand(operand))
        }
    }
}

extension Run {
    func parts(of operands: [FleetPart]) throws(ClientError) -> [Manifest.Part: [UInt8]] {
        var parts: [Manifest.Part: [UInt8]] = [:]
        for case .part(let part, let file) in operands { parts[part] = try text(of: file).1 }
        return parts
    }

    func signatures(of operands: [FleetPart]) throws(ClientError) -> [[UInt8]] {
        var signatures: [[UInt8]] = []
        for case .signature(let file) in operands { signatures.append(try text(of: file).1) }
        return signatures
    }
}

extension ClientError {
    /// What is wrong with an organisation's file, in the words that the daemon has for it. An
    /// administrator's machine need not have one, so they are English.
    init(_ refusal: Words.Refusal) {
        self = .refused(Words.Voice.english.refused(refusal))
    }

    init(_ fault: PlainSections.Fault) {
        self.init(.bundle(.manifest(line: fault.line, wrong: fault.wrong)))
    }
}
