import Secrets
import Words

/// A passcode that the person typed in this exchange, and the key that it gave.
package struct Proof: Sendable {
    package let key: SecretBox
    /// Normalised: for what is judged only where the person has just typed it.
    package let typed: SecretBox
}

/// The store key as it was given in this exchange, and what gave it.
package struct Opening: Sendable {
    package let key: SecretBox
    package let ground: Ground
    /// The passcode, normalised, where the person typed it in this exchange.
    package var typed: SecretBox?

    package init(key: SecretBox, ground: Ground, typed: SecretBox? = nil) {
        self.key = key
        self.ground = ground
        self.typed = typed
    }

    package var proof: Proof? { typed.map { Proof(key: key, typed: $0) } }

    package func with(typed: SecretBox) -> Opening {
        Opening(key: key, ground: ground, typed: typed)
    }

    /// One to open with and one to keep.
    package func doubled() throws(Refusal) -> (Opening, Opening) {
        let (one, other) = try key.doubled()
        return (
            Opening(key: one, ground: ground, typed: typed),
            Opening(key: other, ground: ground, typed: typed)
        )
    }
}
