import Bus
import Posix
import SessionCrypto
import Wire

/// What a client and this process have agreed on, so that secrets can cross the bus.
@LoopActor
final class Session {
    let client: BusClient
    private let protection: Protection

    private enum Protection: ~Copyable {
        case plain
        case encrypted(SessionKey)
    }

    init(plainFor client: BusClient) {
        self.client = client
        protection = .plain
    }

    init(_ key: consuming SessionKey, for client: BusClient) {
        self.client = client
        protection = .encrypted(key)
    }

    /// The structure in which a secret crosses.
    func wrap(_ secret: KeptSecret, path: String) throws(BusRefusal) -> BusValue {
        let vector: [UInt8]
        let bytes: WipedBuffer
        switch protection {
        case .plain: (vector, bytes) = ([], secret.bytes)
        case .encrypted(let key):
            do throws(CryptoError) {
                (vector, bytes) = try secret.bytes.withBytes { (bytes) throws(CryptoError) in
                    try key.encrypt(bytes)
                }
            } catch {
                throw .failed("the secret could not be encrypted")
            }
        }
        return .structure([
            .path(path), .bytes(vector), .secret(BusSecret(bytes)),
            .string(String(decoding: secret.contentType, as: UTF8.self)),
        ])
    }

    func unwrap(_ secret: CrossingSecret) throws(BusRefusal) -> WipedBuffer {
        switch protection {
        case .plain:
            guard secret.vector.isEmpty else {
                throw .invalidArguments("a plain session has no parameters")
            }
            return secret.bytes
        case .encrypted(let key):
            do throws(CryptoError) {
                return try key.decrypt(secret.bytes, vector: secret.vector)
            } catch {
                throw .invalidArguments("the secret is not encrypted for this session")
            }
        }
    }
}

/// A secret as a client has sent it.
struct CrossingSecret {
    static let signature = "oayays"

    let session: String
    let vector: [UInt8]
    let bytes: WipedBuffer
    let contentType: [UInt8]

    @LoopActor
    init(_ message: BusMessage) throws(BusError) {
        (session, vector, bytes, contentType) = try message.structure(Self.signature) {
            () throws(BusError) in
            (
                try message.objectPath(), try message.bytes(atMost: 64),
                // One block more than what may be stored, and the padding.
                try message.secret(atMost: Limits.value + 64), Array(try message.string().utf8)
            )
        }
    }
}

/// All sessions, each its client's alone.
@LoopActor
final class Sessions {
    /// A program needs one or two. One that opens thousands must not fill memory.
    static let mostOfClient = 256
    static let most = 16_384
    /// Of one program, with all its connections, in any case.
    static let leastOfProgram = 16

    static let plain = "plain"
    static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    private var all: [SecretID: Session] = [:]
    private var count: [String: Int] = [:]
    private var countOfProgram: [String: Int] = [:]
    /// For the next session: half of what an agreement takes needs nothing of the peer's.
    private var exchange: KeyExchange?

    var ids: [SecretID] { Array(all.keys) }

    func open(
        _ algorithm: String, _ input: BusValue?, for client: BusClient
    ) throws(BusRefusal) -> (output: BusValue, session: SecretID) {
        guard count[client.name, default: 0] < Self.mostOfClient,
            FairShare.hasRoom(
                own: countOfProgram[client.program, default: 0], all: all.count, most: Self.most,
                least: Self.leastOfProgram)
        else {
            throw .limitsExceeded("too many sessions; close some first")
        }
        let session: Session
        let output: BusValue
        switch algorithm {
        case Self.plain:
            guard case .string(_)? = input else {
                throw .invalidArguments("the input is a text")
            }
            session = Session(plainFor: client)
            output = .string("")
        case Self.encrypted:
            guard case .bytes(let peer)? = input else {
                throw .invalidArguments("the input is a public key")
            }
            do throws(CryptoError) {
                let exchange =
                    if let ready = self.exchange.take() { ready } else { try KeyExchange() }
                output = .bytes(exchange.publicKey)
                session = Session(try exchange.key(with: peer), for: client)
                prepare()
            } catch {
                switch error {
                case .badPublicKey: throw .invalidArguments("this is no public key")
                case .badSecret, .library: throw .failed("the key could not be agreed on")
                }
            }
        default: throw .notSupported("the algorithm is not known")
        }
        let id = SecretID.random()
        all[id] = session
        count[client.name, default: 0] += 1
        countOfProgram[client.program, default: 0] += 1
        return (output, id)
    }

    /// Once this one is answered. Never twice the same: whoever takes it has taken it away.
    private func prepare() {
        EventLoop.shared.task {
            await Task.yield()
            // Where it cannot be made now, the next session says so.
            if self.exchange == nil { self.exchange = try? KeyExchange() }
        }
    }

    /// Another client's session is none.
    func session(_ path: String, of client: BusClient) throws(BusRefusal) -> Session {
        guard case .session(let id)? = ObjectPath(path), let session = session(id, of: client)
        else { throw .noSession }
        return session
    }

    func session(_ id: SecretID, of client: BusClient) -> Session? {
        guard let session = all[id], session.client === client else { return nil }
        return session
    }

    func close(_ id: SecretID, of client: BusClient) {
        guard session(id, of: client) != nil else { return }
        all[id] = nil
        drop(client, 1)
    }

    func closeAll(of client: BusClient) {
        guard let number = count[client.name] else { return }
        all = all.filter { $0.value.client !== client }
        drop(client, number)
    }

    func has(_ client: BusClient) -> Bool { count[client.name] != nil }

    private func drop(_ client: BusClient, _ number: Int) {
        let rest = count[client.name, default: 0] - number
        count[client.name] = rest > 0 ? rest : nil
        let ofProgram = countOfProgram[client.program, default: 0] - number
        countOfProgram[client.program] = ofProgram > 0 ? ofProgram : nil
    }
}
