import ForeignStores
import Posix
import ToolTexts
import Wire

/// What comes over from one keyring, wallet or password store, and into which collection.
protocol Cargo: AnyObject {
    /// What the person calls it.
    var name: [UInt8] { get }
    var landing: Landing { get }
    var items: [ForeignItem] { get }
    /// What it is known to hold, and cannot give.
    var unread: [[UInt8]] { get }
    /// False if it cannot be had.
    func secret(of item: ForeignItem, into secret: inout SecretBuffer) -> Bool
    /// Why a secret could not be had.
    var reason: ToolText { get }
}

enum Landing: Equatable {
    /// The collection that is always there.
    case login
    /// The one of this label. It is made if there is none.
    case labelled([UInt8])
}

/// A keyring or a wallet that is open.
final class OpenedCargo: Cargo {
    let name: [UInt8]
    let landing: Landing
    private let store: ForeignStore

    init(_ name: [UInt8], _ landing: Landing, _ store: consuming ForeignStore) {
        self.name = name
        self.landing = landing
        self.store = store
    }

    var items: [ForeignItem] { store.items }
    var unread: [[UInt8]] { store.unread.map(\.label) }
    var reason: ToolText { .comingDamaged }

    func secret(of item: ForeignItem, into secret: inout SecretBuffer) -> Bool {
        let range = item.secret
        store.secrets.withSpan(from: range.lowerBound, count: range.count) { secret.append($0) }
        return true
    }
}

/// The entries of pass, each of which GnuPG decrypts when it is wanted.
final class PasswordCargo: Cargo {
    let name = Array("pass".utf8)
    let landing = Landing.labelled(Array("pass".utf8))
    let items: [ForeignItem]
    let unread: [[UInt8]] = []
    private let folder: [UInt8]
    private let program: [UInt8]
    /// If GnuPG has decrypted nothing and failed this often, it is not asked again: each question
    /// may open a window.
    private var patience = 3
    private var hasDecrypted = false

    init(_ items: [ForeignItem], folder: [UInt8], program: [UInt8]) {
        self.items = items
        self.folder = folder
        self.program = program
    }

    var reason: ToolText { .comingGnuPG }

    func secret(of item: ForeignItem, into secret: inout SecretBuffer) -> Bool {
        guard hasDecrypted || patience > 0 else { return false }
        patience -= 1
        let path = folder + [UInt8(ascii: "/")] + item.label + Array(".gpg".utf8)
        let words = ["--quiet", "--batch", "--decrypt", "--"].map { Array($0.utf8) }
        var text = SecretBuffer()
        guard
            let status = try? ToolIO.output(
                of: [program] + words + [path], into: &text, atMost: Limits.value + 1),
            status == 0
        else { return false }
        hasDecrypted = true
        let range = PasswordFile.secret(text)
        text.withSpan(from: range.lowerBound, count: range.count) { secret.append($0) }
        return true
    }
}
