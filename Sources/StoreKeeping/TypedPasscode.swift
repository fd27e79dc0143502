import KeySlots
import Policy
import Secrets
import Words

/// What a person typed where a passcode is asked for, or the token that a stack brought. It is normalised once, when it
/// comes, and read as often as it is needed; the last who lets it go wipes it.
package final class TypedPasscode: Sendable, Redacted {
    /// As it came, byte for byte: a login password goes on to other modules, and its token is known again by these.
    package let bytes: SecretBytes
    package let source: PasscodeSource
    private let form: Form

    private enum Form: ~Copyable {
        case asItCame
        case changed(SecretBytes)
        case refused(PasscodeRefusal)
    }

    package init(
        _ bytes: consuming SecretBytes, from source: PasscodeSource = .user
    ) throws(Refusal) {
        do throws(SecretsError) { form = try Self.form(of: bytes) } catch { throw .outOfMemory }
        self.bytes = bytes
        self.source = source
    }

    /// What was in the box goes.
    package convenience init(
        _ answer: SecretBox, from source: PasscodeSource = .user
    ) throws(Refusal) {
        guard let bytes = answer.take() else { throw .unknown }
        try self.init(bytes, from: source)
    }

    package var isEmpty: Bool { bytes.count == 0 }

    /// In scalars, as rules count.
    package var length: Int {
        withNormal { $0.withBytes { text in text.indices.count { text[$0] & 0xC0 != 0x80 } } }
    }

    /// Why it cannot become a passcode. It may be tried all the same: a login password may be any bytes.
    package var refusal: PasscodeRefusal? {
        switch form {
        case .asItCame: nil
        case .changed: nil
        case .refused(let reason): reason
        }
    }

    /// What keys are derived from and rules judge: normalised, or as it came where it cannot be.
    package func withNormal<R: ~Copyable, E: Error>(
        _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R {
        switch form {
        case .changed(let normal): try body(normal)
        case .asItCame: try body(bytes)
        case .refused: try body(bytes)
        }
    }

    /// The same passcode, in a time that depends on the lengths only.
    package func matches(_ other: TypedPasscode) -> Bool {
        withNormal { one in other.withNormal { one.matches($0) } }
    }

    /// Before any rule looks at one that is to be set.
    package func requireFit() throws(Refusal) {
        if let refusal { throw Refusal(refusal) }
    }

    private static func form(of typed: borrowing SecretBytes) throws(SecretsError) -> Form {
        var output = try SecretBytes(count: PasscodeText.maximum)
        var scratch = try SecretBytes(count: PasscodeText.scratchSize)
        let result = typed.withBytes { text in
            output.withMutableBytes { into in
                scratch.withMutableBytes { room in
                    PasscodeText.normalise(text, into: &into, scratch: &room)
                }
            }
        }
        switch result {
        case .count(let count):
            output.shorten(to: count)
            // Nearly always: then one of the two is enough.
            if output.matches(typed) { return .asItCame }
            return .changed(output)
        case .refused(let reason):
            return .refused(reason)
        }
    }
}
