import Posix
import Wire

/// Why something could not be done with what is kept.
enum KeeperError: Error, Equatable, Sendable {
    case locked
    case notFound
    /// The person may not do that with what somebody else shares.
    case notPermitted(String)
    case tooLarge
    /// There is no more room: for secrets of the person, or on the disk.
    case full(String)
    /// What was asked for makes no sense to the daemon.
    case invalid(String)
    /// The daemon is not there, or does not answer. Nothing has changed.
    case unavailable
    /// The daemon has ended, or has hung, while it was at it: it may have happened or not.
    case unknown
}

/// A secret with what it says it is. Wiped when nothing holds it any more.
struct KeptSecret: Sendable {
    let contentType: [UInt8]
    let bytes: WipedBuffer
}

/// What a keeper's collections are.
enum Standing: Equatable, Sendable {
    /// Labels within one store.
    case inside
    /// The store itself, which is the person's: alone, or shared with others.
    case own
    case ownShared
    /// The store itself, which somebody else shares.
    case others

    /// In which order they are searched: what others may have written comes last.
    var rank: Int {
        switch self {
        case .inside: 0
        case .own: 1
        case .ownShared: 2
        case .others: 3
        }
    }
}

/// Who keeps items and their secrets: the daemon, or this process for what ends with the session.
/// Whatever is done is in the mirror, and was told, before the caller hears of it.
@LoopActor
protocol Keeper: AnyObject {
    var mirror: Mirror { get }
    var isOpen: Bool { get }
    /// Before the first opening it is not known what there is.
    var wasOpen: Bool { get }
    /// Something could be there, or be made, if it were open.
    var exists: Bool { get }
    /// The person is not in front of the machine: nobody would see a dialog.
    var isAway: Bool { get }
    /// The store whose opening opens this.
    var opener: String { get }
    /// What opens it, too, has been opened: until this moment its own opening is on its way, and
    /// the person need not be asked.
    var comesBy: UInt64 { get }
    var standing: Standing { get }
    var told: (@LoopActor (Mirror.Changes) -> Void)? { get set }
    /// It has been opened or locked, or the person has left or come back.
    var turned: (@LoopActor () -> Void)? { get set }

    /// Waits until it is known how things are, and what there is where it is open; false if that
    /// takes too long.
    func ready(until deadline: UInt64) async -> Bool
    /// Waits until the mirror has what others had stored when this was called; false if it is not
    /// known.
    func follow() async -> Bool
    func put(
        _ item: Item, _ secret: WipedBuffer, replace: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> Item
    func change(_ change: ChangedItem, until deadline: UInt64) async throws(KeeperError)
    func delete(_ item: SecretID, until deadline: UInt64) async throws(KeeperError)
    /// Those that are not there are left out.
    func secrets(
        _ items: [SecretID], until deadline: UInt64
    ) async throws(KeeperError) -> [SecretID: KeptSecret]
    /// A new one; its id does not count.
    func put(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection
    func relabel(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection
    func delete(collection: SecretID, until deadline: UInt64) async throws(KeeperError)
    func setAlias(
        _ name: [UInt8], _ collection: SecretID?, until deadline: UInt64
    ) async throws(KeeperError)
    func lock(until deadline: UInt64) async throws(KeeperError)
    /// The person has just been asked, and has opened it.
    func hasBeenOpened()
}

/// What of an item becomes different; nil stays.
struct ChangedItem: Sendable {
    let id: SecretID
    var label: [UInt8]?
    var attributes: [Item.Attribute]?
    var secret: KeptSecret?
}
