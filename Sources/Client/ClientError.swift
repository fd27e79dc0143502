public import Posix
public import Wire

/// Why a request has no answer that can be used.
public enum ClientError: Error, Equatable {
    /// The daemon answered, and said no.
    case refused(Refused)
    /// There is nobody to ask.
    case unavailable(Unavailable)
    /// What came is no message of this protocol.
    case protocolBroken(Broken)

    public enum Unavailable: Equatable, Sendable {
        /// The socket is not there, or nobody listens at it.
        case notRunning
        case notReachable(PosixError)
        /// Somebody listens who is neither root, nor AppVault, nor ourselves.
        case stranger(uid: UInt32)
        /// Nothing came for five seconds, not even a sign of life.
        case silent
        /// The connection ended in the middle of an exchange.
        case closed
    }

    public enum Broken: Equatable, Sendable {
        case undecodable(WireError)
        /// An answer of this type does not belong here.
        case unexpected(type: UInt16)
        case wrongTag
        case otherVersion(UInt16)
    }
}

extension ClientError {
    /// The refusal that a front end shows; what happened on our side has a code as well.
    public var refusal: Refused {
        switch self {
        case .refused(let refused): refused
        case .unavailable(let reason): reason.refusal
        case .protocolBroken(let broken): broken.refusal
        }
    }
}

extension ClientError.Unavailable {
    var refusal: Refused {
        switch self {
        case .notRunning:
            Refused(
                .serviceUnavailable, "appvaultd is not running",
                hint:
                    "`systemctl start appvaultd.socket` starts it; `appvault doctor` says why it did not"
            )
        case .notReachable(let error):
            Refused(
                .serviceUnavailable,
                Text("appvaultd cannot be reached: ", ToolIO.reason(error)).bytes,
                hint: Text("`systemctl status appvaultd.socket` says more").bytes)
        case .stranger(let uid):
            Refused(
                .serviceUnavailable,
                Text("the socket belongs to uid ", Int(uid), ", not to appvault; nothing was sent")
                    .bytes,
                hint: Text(
                    "is --socket right? `systemctl status appvaultd.socket` shows the real one"
                ).bytes)
        case .silent:
            Refused(
                .serviceUnavailable, "appvaultd does not answer",
                hint: "`systemctl restart appvaultd` and `journalctl -u appvaultd` help")
        case .closed:
            Refused(
                .serviceUnavailable, "appvaultd closed the connection",
                hint: "try again; `journalctl -u appvaultd` says why it did")
        }
    }
}

extension ClientError.Broken {
    var refusal: Refused {
        let what: Text =
            switch self {
            case .undecodable(let error):
                Text("appvaultd sent what is no message (", error.words, ")")
            case .unexpected(let type):
                Text("appvaultd sent an answer that was not asked for (type ", Int(type), ")")
            case .wrongTag: Text("appvaultd answered another request")
            case .otherVersion(let version):
                Text("appvaultd speaks version ", Int(version), " of the protocol")
            }
        return Refused(
            .protocolError, what.bytes,
            hint: Text("appvault and appvaultd should be of one release: `appvault version`").bytes)
    }
}

extension WireError {
    var words: String {
        switch self {
        case .tooLong: "too long"
        case .cutShort: "cut short"
        case .trailingBytes: "trailing bytes"
        case .fieldTooLong: "a field too long"
        case .notText: "not text"
        case .unknownValue: "an unknown value"
        }
    }
}

extension Refused {
    init(_ code: Code, _ message: String, hint: String = "", parameters: [Parameter] = []) {
        self.init(code, Array(message.utf8), hint: Array(hint.utf8), parameters: parameters)
    }

    init(_ code: Code, _ message: [UInt8], hint: [UInt8] = [], parameters: [Parameter] = []) {
        self.init(code: code.rawValue, parameters: parameters, message: message, hint: hint)
    }
}
