import Secrets

/// What the history keeps of a passcode: its Argon2id hash, with the salt of the slot that the
/// passcode has or had. The salt shows that an entry and a slot belong to the same passcode, so
/// that none is remembered twice.
public struct HistoryHash: Sendable {
    public let salt: [UInt8]
    let hash: SecretBox

    /// `hash` is the passcode derived at `PasscodeHistory.cost`.
    package init(of details: PasscodeDetails, hash: SecretBox) {
        salt = details.salt
        self.hash = hash
    }
}

/// The former passcodes of a store and the present one, as hashes in guarded memory.
public final class PasscodeHistory: Sendable {
    /// The lowest cost that a policy may ask for. It is enough here, because the hashes are sealed
    /// under the store key.
    public static let cost = KeyDerivation.Cost.lowest
    /// The most former passcodes that are kept; the present one has a place in addition.
    public static let limit = 24

    public struct Entry: Equatable, Sendable {
        /// A later entry has a higher serial number.
        let serial: UInt32
        let place: Int
        public let salt: [UInt8]
    }

    /// Which passcodes a candidate is compared with. The present one is among them where the person
    /// has not typed it: otherwise the caller compares the candidate with what was typed.
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

    /// Whether the passcode of this slot has an entry.
    package func has(_ slot: PasscodeSlot) -> Bool {
        (present + former).contains { $0.salt == slot.details.salt }
    }

    /// `derived` is the candidate, derived with the entry's salt at `cost`.
    public func matches(_ entry: Entry, _ derived: borrowing SecretBytes) -> Bool {
        book.withBytes { bytes in
            derived.matches(bytes.extracting(HistoryBook.hash(entry.place)))
        }
    }

    /// Whether a candidate is one of the latest former passcodes. The closure derives the candidate
    /// with the salt that it is given, at `cost`, on threads of the caller's.
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
