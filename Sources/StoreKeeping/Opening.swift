import SealedStore

/// The key that a shared store has at present. It gets another one, of the next generation, when
/// somebody is removed from it.
package struct SharedKey: Sendable {
    package let key: StoreKey
    package let generation: UInt32

    package init(_ key: StoreKey, generation: UInt32 = Records.firstKeyGeneration) {
        self.key = key
        self.generation = generation
    }
}

/// A passcode that the person typed in this exchange, and the key that it gave.
package struct Proof: Sendable {
    package let key: StoreKey
    /// For what is judged only where the person has just typed it.
    package let typed: TypedPasscode
}

/// The store key as it was obtained in this exchange, and what it rests on.
package struct Opening: Sendable {
    package let key: StoreKey
    package let ground: Ground
    /// The passcode, where the person typed it in this exchange.
    package let typed: TypedPasscode?
    /// How often the owner had left the machine when this was begun.
    package let departures: UInt64
    /// Of the store key. Only shared stores get new ones.
    package let generation: UInt32

    package init(
        key: StoreKey, ground: Ground, typed: TypedPasscode? = nil, departures: UInt64,
        generation: UInt32 = Records.firstKeyGeneration
    ) {
        self.key = key
        self.generation = generation
        self.ground = ground
        self.typed = typed
        self.departures = departures
    }

    package var shared: SharedKey { SharedKey(key, generation: generation) }
    package var proof: Proof? { typed.map { Proof(key: key, typed: $0) } }
}
