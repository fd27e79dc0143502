import Policy
import Secrets
import Words

/// A passcode on its way from the person to the derivation.
package enum PasscodeEntry {
    /// One that is to be tried. What cannot be normalised is taken as it came: no store of its own
    /// passcode was made with such bytes, but a login password may be any.
    package static func prepared(_ typed: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        do throws(SecretsError) {
            let result = try normalised(typed)
            switch consume result {
            case .normal(let secret): return secret
            case .refused: return try typed.copy()
            }
        } catch {
            throw .outOfMemory
        }
    }

    /// What was in the box goes.
    package static func prepared(_ typed: SecretBox) throws(Refusal) -> SecretBox {
        guard let secret = typed.take() else { throw .unknown }
        return SecretBox(try prepared(secret))
    }

    /// One that is to be set, before any rule has looked at it.
    package static func normal(_ typed: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        let result: Normalised
        do throws(SecretsError) {
            result = try normalised(typed)
        } catch {
            throw .outOfMemory
        }
        switch consume result {
        case .refused(let reason): throw Refusal(reason)
        case .normal(let secret): return secret
        }
    }

    package enum Normalised: ~Copyable {
        case normal(SecretBytes)
        case refused(PasscodeRefusal)
    }

    package static func normalised(_ typed: borrowing SecretBytes) throws(SecretsError)
        -> Normalised
    {
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
            return .normal(output)
        case .refused(let reason):
            return .refused(reason)
        }
    }
}
