import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// The plans for people who log in and have no store. A plan is kept until the login is confirmed,
/// because before that it is unknown whether the password was right.
@LoopActor
final class Onboarding {
    enum Plan: Sendable {
        /// The store follows the login password, if that meets the rules.
        case follow(login: TypedPasscode)
        case own(NewPasscode)
        case withoutPasscode(Identity.WithoutPasscode)
        case declined
    }

    @LoopActor
    final class Waiting {
        let person: Person
        let finger: ComingFinger?
        private var plan: Plan?

        init(person: Person, plan: Plan, finger: ComingFinger? = nil) {
            self.person = person
            self.plan = plan
            self.finger = finger
        }

        /// Once: what was typed does not outlast the store that is made with it.
        func takePlan() -> Plan? { plan.take() }
    }

    /// Each plan holds guarded memory. More first logins than this at the same time do not happen.
    nonisolated static let most = 64

    private var entries: [Handle: (waiting: Waiting, timer: UInt64)] = [:]
    private let life: UInt64
    private let declinedPath: String
    /// People about whose weak password there is a line in the journal: the same line at every
    /// login is of no use.
    private var weak: Set<Person> = []

    init(_ options: Options) {
        life = UInt64(options.deadlines.transaction) * 1000
        declinedPath = options.stateFolder + "/declined"
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Keeps one plan for each person. Nil if there is no room for another.
    func keep(_ waiting: Waiting) throws(SecretsError) -> Handle? {
        forget(waiting.person)
        guard entries.count < Self.most else { return nil }
        let handle = Handle(bytes: try Random.bytes(Handle.size))
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + life) {
            EventLoop.shared.task { self.entries[handle] = nil }
        }
        entries[handle] = (waiting, timer)
        return handle
    }

    /// Each plan is confirmed at most once.
    func take(_ handle: Handle) -> Waiting? {
        guard let entry = entries.removeValue(forKey: handle) else { return nil }
        EventLoop.shared.cancel(entry.timer)
        return entry.waiting
    }

    /// A later attempt must not confirm what an earlier one planned.
    func forget(_ person: Person) {
        for handle in entries.keys where entries[handle]?.waiting.person == person {
            _ = take(handle)
        }
    }

    func forgetPlans() {
        for handle in entries.keys { _ = take(handle) }
    }

    func isFirstWeak(_ person: Person) -> Bool { weak.insert(person).inserted }

    // MARK: people who want no store

    private nonisolated static let limit = 1 << 20

    private nonisolated static func line(_ person: Person) -> [UInt8] {
        Array("\(person.uid) ".utf8) + person.name
    }

    /// If the list cannot be read, no person is asked, so that none is asked twice.
    func hasDeclined(_ person: Person, _ workers: Workers) async -> Bool {
        let path = declinedPath
        return await workers.disk.run {
            do throws(PosixError) {
                let text = try TextFile.read(at: path, limit: Self.limit)
                return text.split(separator: 0x0A).contains { $0.elementsEqual(Self.line(person)) }
            } catch {
                return !error.isMissing
            }
        }
    }

    func decline(_ person: Person, _ workers: Workers) async {
        guard await !hasDeclined(person, workers) else { return }
        let path = declinedPath
        // If this cannot be written, the person is asked again, which does no harm.
        await workers.disk.run {
            var text = (try? TextFile.read(at: path, limit: Self.limit)) ?? []
            text += Self.line(person) + [0x0A]
            if text.count <= Self.limit { try? TextFile.replace(at: path, with: text) }
        }
    }
}
