import Policy
import Posix
import StoreKeeping

/// Whether a first login makes a store: only for people, not for system accounts.
enum Eligibility: Equatable {
    case person
    /// Root, a system account, the overflow uid, or a uid without an account.
    case systemAccount
    case noHome
    case noLoginShell
    /// The directory service knows the uid under another name.
    case otherName

    static func of(uid: UInt32) -> Eligibility {
        uid >= 1000 && uid != 65534 && uid != UInt32.max ? .person : .systemAccount
    }

    /// `shells` is what /etc/shells lists; nil where there is no such file.
    static func of(_ account: LoginAccount, as person: Person, shells: [[UInt8]]?) -> Eligibility {
        guard account.uid == person.uid, account.name == person.name else { return .otherName }
        let byUID = of(uid: account.uid)
        guard byUID == .person else { return byUID }
        guard isHome(account.home) else { return .noHome }
        let shell = account.shell.isEmpty ? Array("/bin/sh".utf8) : account.shell
        guard !refuses(shell), shells?.contains(shell) ?? true else { return .noLoginShell }
        return .person
    }

    private static func isHome(_ path: [UInt8]) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        // The slash may be written several times.
        let parts = path.split(separator: UInt8(ascii: "/"))
        return !parts.isEmpty && parts != [Array("nonexistent".utf8)[...]]
    }

    private static func refuses(_ shell: [UInt8]) -> Bool {
        let name = shell.split(separator: UInt8(ascii: "/")).last ?? []
        return name.elementsEqual("nologin".utf8) || name.elementsEqual("false".utf8)
    }
}

extension Directory {
    /// Without an answer in time the account does not count as a person's. A person will log in
    /// again.
    func eligibility(of person: Person) async -> Eligibility {
        let byUID = Eligibility.of(uid: person.uid)
        guard byUID == .person else { return byUID }
        return await accounts.ask(otherwise: .systemAccount) { [account = edges.loginAccount] in
            switch account(person.uid) {
            case .none, .unknown: .systemAccount
            case .found(let account):
                Eligibility.of(account, as: person, shells: LoginShells.listed())
            }
        }
    }
}
