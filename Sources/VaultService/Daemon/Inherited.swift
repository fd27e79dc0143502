internal import CSystemd
import Posix
import StoreKeeping

/// What systemd has handed over at the start: the sockets, and what the daemon before this one has
/// left.
struct Inherited {
    enum Left {
        case nothing
        case taken(HandOver)
        case refused(String)
    }

    private(set) var sockets: [Int32] = []
    private(set) var left = Left.nothing

    /// Each descriptor is used here or closed; what was left is wiped and taken out of systemd's
    /// store, whether it is any good or not.
    static func look() -> Inherited {
        var found = Inherited()
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        // SAFETY: libsystemd makes a list of as many names as it returns, and a null at its end.
        let count = unsafe sd_listen_fds_with_names(1, &names)
        defer { unsafe appvault_free_words(names) }
        guard count > 0 else { return found }
        for index in 0..<count {
            let number = 3 + index
            if sd_is_socket(number, 0, 0, 1) > 0 {
                found.sockets.append(number)
                continue
            }
            // SAFETY: the list has a name for each of them.
            let name = unsafe String(cString: names![Int(index)]!)
            // First: whatever happens next, no later daemon finds it.
            // SAFETY: sd_notify reads a terminated text.
            _ = unsafe sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
            found.take(FileDescriptor(owning: number), name)
        }
        return found
    }

    private mutating func take(_ descriptor: consuming FileDescriptor, _ name: String) {
        guard name == Succession.name else {
            return left = .refused("it is called \(name)")
        }
        do throws(SecretArea.Refusal) {
            // It is wiped when this is over, also where it is one too many.
            let area = try SecretArea(taking: descriptor)
            guard case .nothing = left else { return left = .refused("there is more than one") }
            do throws(HandOver.Fault) {
                left = .taken(
                    try area.withBytes { (bytes) throws(HandOver.Fault) in
                        try HandOver(decoding: bytes, boot: Boot.id)
                    })
            } catch {
                left = .refused(Self.words(error))
            }
        } catch {
            switch error {
            case .foreign: left = .refused("it is not in memory that this user has made for it")
            case .posix(let error): left = .refused(error.description)
            }
        }
    }

    private static func words(_ fault: HandOver.Fault) -> String {
        switch fault {
        case .unknown: "it is not an AppVault's"
        case .otherVersion: "another version of AppVault has left it"
        case .otherBoot: "it is from another start of the machine"
        case .cut: "it is cut short"
        }
    }
}
