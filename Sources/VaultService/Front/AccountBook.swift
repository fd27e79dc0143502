import Posix

/// Which uids have an account, as far as this is known without waiting for the directory service.
@LoopActor
final class AccountBook {
    enum Answer {
        case person, accountless
        case unknown
    }

    private let directory: Directory
    private let hasStore: @LoopActor (UInt32) -> Bool
    private let path: String
    private var local: Set<UInt32> = []
    private var version: FileVersion?
    private var lookedAt: UInt64?
    private var people: Set<UInt32> = []
    /// Uids without an account, and until when the directory is not asked about them again.
    private var without: [UInt32: UInt64] = [:]
    /// Questions to the directory: twenty a second, and some more at once.
    private var questions = Allowance(
        percent: 100, most: 64 * AccountBook.question, at: Clock.monotonicNanoseconds())

    private static let question: Int64 = 50_000_000
    private static let most = 4096
    private static let negative: UInt64 = 60_000
    private static let pause: UInt64 = 1_000

    init(
        _ directory: Directory, path: String = "/etc/passwd",
        hasStore: @escaping @LoopActor (UInt32) -> Bool
    ) {
        self.directory = directory
        self.path = path
        self.hasStore = hasStore
    }

    func look(_ uid: UInt32) -> Answer {
        if hasStore(uid) || people.contains(uid) || local.contains(uid) { return .person }
        let now = Clock.bootMilliseconds()
        readLocal(now)
        if local.contains(uid) { return .person }
        guard let end = without[uid] else { return .unknown }
        if now < end { return .accountless }
        without[uid] = nil
        return .unknown
    }

    /// Reads the machine's own accounts if their file has changed. Looks once a second at most.
    private func readLocal(_ now: UInt64) {
        if let lookedAt, now - lookedAt < Self.pause { return }
        lookedAt = now
        let seen = try? FileVersion(of: path)
        guard seen != version else { return }
        version = seen
        local = Self.uids(in: (try? TextFile.read(at: path, limit: 4 << 20)) ?? [])
    }

    /// The third field of each line.
    nonisolated static func uids(in text: [UInt8]) -> Set<UInt32> {
        var uids: Set<UInt32> = []
        for line in text.split(separator: 0x0A) {
            let fields = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
            guard fields.count == 4, !fields[0].isEmpty, fields[0].first != UInt8(ascii: "+"),
                let uid = UInt32(String(decoding: fields[2], as: UTF8.self))
            else { continue }
            uids.insert(uid)
        }
        return uids
    }

    /// Asks the directory service; nil if it has been asked too often already. A service that does
    /// not answer counts as one that knows no such account, until it is asked again.
    func ask(_ uid: UInt32) async -> Answer? {
        questions.refresh(Clock.monotonicNanoseconds())
        guard questions.isLeft else { return nil }
        questions.spend(UInt64(Self.question))
        switch await directory.owner(of: uid) {
        case .found:
            if people.count >= Self.most, let one = people.first { people.remove(one) }
            people.insert(uid)
            return .person
        case .none:
            if without.count >= Self.most { without.removeAll() }
            without[uid] = Clock.bootMilliseconds() + Self.negative
            return .accountless
        case .unknown: return .unknown
        }
    }
}
