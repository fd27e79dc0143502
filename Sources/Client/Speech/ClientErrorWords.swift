import Posix
public import Wire

extension ClientError {
    /// The refusal that a front end shows. An error on the client's side has a code too.
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
                Text("appvaultd sent something that is not a valid message (", error.words, ")")
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
