import Posix
import ToolTexts
import Wire

/// A link, an address, or a picture that has a link.
enum InvitationOperand: Equatable {
    case text([UInt8])
    case picture(FileOperand)
    /// Nil: the first one.
    case camera([UInt8]?)

    /// A file whose name has an @ is named with its folder.
    init(_ text: [UInt8]) throws(UsageError) {
        guard !text.isEmpty, text.count <= Limits.url else {
            throw UsageError(
                Text(Printable.escaped(Array(text.prefix(40))), " is no invitation"),
                hint: Text("a link begins with appvault:join?"))
        }
        let isText =
            text.starts(with: Array("appvault:".utf8))
            || text.contains(UInt8(ascii: "@")) && !text.contains(UInt8(ascii: "/"))
        self = isText ? .text(text) : .picture(FileOperand(text))
    }
}

extension Run {
    func text(of invitation: InvitationOperand) throws(ClientError) -> [UInt8] {
        switch invitation {
        case .text(let text): text
        case .picture(let file): try scanned(file)
        case .camera(let device): try seen(through: device)
        }
    }

    /// Where only root may do it, it says what root types.
    func join(_ invitation: [UInt8]?, _ verb: String) throws(ClientError) -> ExitStatus {
        let agent = polkitAgent()
        defer { extendLifetime(agent) }
        do throws(ClientError) {
            return try act(verb, .joinAsk, JoinAsk(invitation: invitation ?? []))
        } catch .refused(var refused) where refused.known == .notPermitted {
            let command = Array("sudo appvault join".utf8) + (invitation.map(Self.quoted) ?? [])
            refused.hint = words(.joinAsRoot, Printable.escaped(command))
            throw .refused(refused)
        }
    }

    /// For whoever is not root: polkit asks at this terminal, where no desktop has an agent that goes
    /// before this one.
    func polkitAgent() -> PolkitAgent? {
        isAtTerminal && environment.uid != 0 ? PolkitAgent() : nil
    }

    /// Before something else; where the machine has joined already there is nothing to do.
    func join(first invitation: InvitationOperand) throws(ClientError) {
        do throws(ClientError) {
            _ = try join(try text(of: invitation), "join")
        } catch .refused(let refused) where refused.known == .alreadyExists {
            voice.info(words(.joinedAlready))
        }
    }

    /// A link has characters that a shell takes for its own.
    private static func quoted(_ text: [UInt8]) -> [UInt8] {
        let quote = Array("'".utf8)
        return [0x20] + quote
            + text.flatMap { $0 == 0x27 ? Array("'\\''".utf8) : [$0] } + quote
    }
}
