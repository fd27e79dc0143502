import Secrets

/// What a passcode leaves in the history: Argon2id of it, with the salt of the slot it has or had. By the salt the two
/// are known to be one passcode, so that nothing is remembered twice.
public struct HistoryHash: Sendable {
    public let salt: [UInt8]
    let hash: SecretBox

    /// `hash` is the passcode derived at `PasscodeHistory.cost`.
    package init(of details: PasscodeDetails, hash: SecretBox) {
        salt = details.salt
        self.hash = hash
    }
}

/// The passcodes that a store had, and the present one: hashes, in guarded memory.
public final class PasscodeHistory: Sendable {
    /// The lower bound of what a policy may ask for: what is sealed under the store key needs no more.
    public static let cost = KeyDerivation.Cost.lowest
    /// Former passcodes; the present one's place comes on top.
    public static let limit = 24

    public struct Entry: Equatable, Sendable {
        /// The later one has the higher.
        let serial: UInt32
        let place: Int
        public let salt: [UInt8]
    }

    /// What a candidate is held against; the present passcode's entry where nobody has typed it.
    public enum Among: Sendable { case former, formerAndPresent }

    /// Former passcodes, the latest first.
    public let former: [Entry]
    private let present: [Entry]
    private let book: SecretBytes

    init(_ book: consuming HistoryBook, present salts: [[UInt8]]) {
        let entries = book.entries.sorted { $0.serial > $1.serial }
        former = entries.filter { !salts.contains($0.salt) }
        present = entries.filter { salts.contains($0.salt) }
        self.book = book.release()
    }

    /// Whether the passcode of this slot has its entry.
    package func has(_ slot: PasscodeSlot) -> Bool {
        (present + former).contains { $0.salt == slot.details.salt }
    }

    /// `derived` is the candidate with the entry's salt, at `cost`.
    public func matches(_ entry: Entry, _ derived: borrowing SecretBytes) -> Bool {
        book.withBytes { bytes in
            derived.matches(bytes.extracting(HistoryBook.hash(entry.place)))
        }
    }

    /// Whether a candidate is one of the latest former passcodes. The closure derives it with the salt that it is
    /// given, at `cost`: on threads of its caller's.
    public func isReused<E: Error>(
        latest count: Int, _ among: Among = .former, isolation: isolated (any Actor)? = #isolation,
        derive: (_ salt: [UInt8]) async throws(E) -> SecretBox
    ) async throws(E) -> Bool {
        let latest = Array(former.prefix(max(count, 0)))
        let entries =
            switch among {
            case .former: latest
            case .formerAndPresent: present + latest
            }
        for entry in entries {
            guard let derived = try await derive(entry.salt).take() else { continue }
            if matches(entry, derived) { return true }
        }
        return false
    }
}
