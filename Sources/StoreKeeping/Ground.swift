/// What a store key rests on. If another exchange removes that, the key no longer allows anything.
package indirect enum Ground: Equatable, Sendable {
    /// The store has no passcode, so no person was asked.
    case device
    /// The passcode slot with this salt.
    case passcode(salt: [UInt8])
    /// The recovery slot with this sequence number.
    case recovery(UInt64)
    /// A finger, and the key that a passcode has left in memory for the finger.
    case finger
    /// The store that it follows is open, or this was shown for that one in this exchange.
    case parent(proven: Ground?)
    /// The store of a member is open, or this was shown for it in this exchange.
    case member(proven: Ground?)
    /// A recovery key, for a store that is not under this machine's key.
    case foreign
}
