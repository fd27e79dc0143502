import Secrets

/// A store key, for as long as somebody holds it; the last who lets it go wipes it. Whoever goes on to ask the person
/// something and needs it no more gives it away (`consume`).
package final class StoreKey: Sendable, Redacted {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }
}
