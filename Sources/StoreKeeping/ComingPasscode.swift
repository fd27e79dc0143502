import KeySlots
import Posix
import Secrets
import Words

/// The passcode that a store will open with.
package enum ComingPasscode: Sendable {
    /// One of its own, and the digest of the rules that it was judged by.
    case own(TypedPasscode, digest: [UInt8])
    /// The login password, whose rules are not ours.
    case login(TypedPasscode)

    package var typed: TypedPasscode {
        switch self {
        case .own(let typed, _), .login(let typed): typed
        }
    }

    /// Details for a new slot, with a new salt.
    package func details(_ cost: KeyDerivation.Cost) throws(Refusal) -> PasscodeDetails {
        do throws(SecretsError) {
            switch self {
            case .own(_, let digest):
                return try PasscodeDetails(
                    cost: cost, setAt: Clock.wallSeconds(), policyDigest: digest, way: .own,
                    source: typed.source)
            case .login:
                return try PasscodeDetails(
                    cost: cost, setAt: Clock.wallSeconds(), way: .followsLogin,
                    source: typed.source)
            }
        } catch {
            throw .outOfMemory
        }
    }
}

/// How a new store begins.
package enum StoreStart: Sendable {
    case with(ComingPasscode)
    case without(Identity.WithoutPasscode)
    /// The store that it follows opens it, by this.
    case following(Ring)
    /// Its members' stores open it, its owner's first: theirs is this public key.
    case shared(publicKey: [UInt8])
    case configuration

    package var kind: Identity.Kind {
        switch self {
        case .with, .without: .own
        case .following(let ring): .follows(ring.store)
        case .shared: .shared
        case .configuration: .configuration
        }
    }

    var ring: Ring? {
        switch self {
        case .following(let ring): ring
        case .with, .without, .shared, .configuration: nil
        }
    }

    var publicKey: [UInt8]? {
        switch self {
        case .shared(let publicKey): publicKey
        case .with, .without, .following, .configuration: nil
        }
    }

    package var way: Identity.Way {
        switch self {
        case .with(.login): .followsLogin
        case .with(.own), .without, .following, .shared, .configuration: .own
        }
    }

    package var withoutPasscode: Identity.WithoutPasscode {
        switch self {
        case .with, .following, .shared, .configuration: .hasPasscode
        case .without(let why): why
        }
    }

    package var login: TypedPasscode? {
        switch self {
        case .with(.login(let password)): password
        case .with(.own), .without, .following, .shared, .configuration: nil
        }
    }

    package var coming: ComingPasscode? {
        switch self {
        case .with(let coming): coming
        case .without, .following, .shared, .configuration: nil
        }
    }
}
