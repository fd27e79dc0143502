import ForeignStores
import Posix
import ToolTexts
import Wire

/// `import keyring|kwallet|pass`: what another program keeps comes into a store. Over there nothing
/// changes.
struct ComingOver: Equatable {
    enum Mode: Equatable { case real, dry }

    var origin: Origin
    var mode: Mode

    var verb: String { "import " + origin.rawValue }
    private var isDry: Bool { mode == .dry }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let store = run.settings.store.isEmpty ? Self.usual : run.settings.store
        let isEmpty = try prepare(store, run)
        var report = ImportReport()
        let load = try OriginReader(run, origin).load(&report)
        // Not before: passwords may be asked for minutes, and programs store things meanwhile.
        let arrivals = try Arrivals(try run.connect(), store: store, isEmpty: isEmpty)
        let bar = ProgressBar(.importBar, run.words, run.environment)
        defer { bar.clear() }
        let total = load.reduce(0) { $0 + $1.items.count }
        var done = 0
        do throws(ClientError) {
            for cargo in load {
                try carry(cargo, arrivals, &report, run) {
                    done += 1
                    bar.show(done: UInt64(done), total: UInt64(total))
                }
            }
        } catch {
            // What came is in the store, whatever ends the import.
            bar.clear()
            if run.settings.form == .plain { report.tell(run, isDry: isDry, verb) }
            throw error
        }
        bar.clear()
        report.tell(run, isDry: isDry, verb)
        return report.status
    }

    /// Where the programs of the desktop look.
    private static let usual = Array("secrets".utf8)

    /// Whether the store is still to be made.
    private func prepare(_ store: [UInt8], _ run: Run) throws(ClientError) -> Bool {
        let target = Target(store: store)
        let state = try run.connect().status(target)
        switch state.lock {
        case .absent: break
        case .locked: throw .refused(Refused(.locked, []))
        // The daemon says what is to be done.
        case .unlocked, .retryLocked, .damaged, .erased, .ownerChanged, .barred: return false
        }
        guard store == Self.usual else {
            throw .refused(
                Refused(
                    .doesNotExist, run.words(.comingNoStore, Printable.escaped(store)),
                    hint: run.words(.comingNoStoreHint, Printable.escaped(store))))
        }
        guard !isDry else { return true }
        var request = Create(target: target, way: .followStore, openExisting: true)
        request.policyKey = Self.usual
        run.voice.info(try run.conversation().finish(.create, request))
        return false
    }

    private func carry(
        _ cargo: any Cargo, _ arrivals: Arrivals, _ report: inout ImportReport, _ run: Run,
        step: () -> Void
    ) throws(ClientError) {
        var count = ImportReport.Count(name: cargo.name)
        defer { report.counts.append(count) }
        func leave(_ label: [UInt8], _ why: [UInt8]) {
            count.left += 1
            report.left.append(.init(from: cargo.name, item: label, why: why))
        }
        for label in cargo.unread { leave(label, run.words(.comingDamaged)) }
        let login = try arrivals.collection(.login, isDry: isDry)
        var own: [UInt8]?
        // Of several that are the same, the last one is taken: it comes first.
        for item in cargo.items.sorted(by: { $0.modified > $1.modified }) {
            defer { step() }
            if let why = Self.obstacle(item) {
                leave(item.label, run.words(why))
                continue
            }
            let collection: [UInt8]
            switch item.place {
            case .login: collection = login
            case .own:
                if let made = own {
                    collection = made
                } else {
                    collection = try arrivals.collection(cargo.landing, isDry: isDry)
                    own = collection
                }
            }
            // A dry run does not ask GnuPG for each entry.
            let isUnread = isDry && cargo is PasswordCargo
            if isUnread, arrivals.hasLike(item, in: collection) {
                count.present += 1
                continue
            }
            var secret = SecretBuffer()
            guard isUnread || cargo.secret(of: item, into: &secret) else {
                leave(item.label, run.words(cargo.reason))
                continue
            }
            switch try arrivals.presence(of: item, secret, in: collection) {
            case .absent: break
            case .same:
                count.present += 1
                continue
            case .different:
                count.different += 1
                report.different.append(.init(from: cargo.name, item: item.label))
                continue
            }
            guard secret.count + Self.size(item) <= Limits.value else {
                leave(item.label, run.words(.comingTooLarge))
                continue
            }
            do throws(ClientError) {
                try arrivals.put(item, secret, in: collection, isDry: isDry)
                count.came += 1
            } catch {
                guard let why = Self.ownFault(error) else { throw error }
                leave(item.label, why)
            }
        }
    }

    // MARK: What AppVault does not keep

    private static func obstacle(_ item: ForeignItem) -> ToolText? {
        let texts =
            [item.label, item.contentType] + item.attributes.flatMap { [$0.key, $0.value] }
        guard texts.allSatisfy({ Printable.isUTF8($0) }) else { return .comingNoText }
        let isSmall =
            texts.allSatisfy { $0.count <= Limits.itemText }
            && item.contentType.count <= Limits.text
            && item.attributes.count <= Limits.attributes
        return isSmall ? nil : .comingTooLarge
    }

    /// About what it takes beside its secret.
    private static func size(_ item: ForeignItem) -> Int {
        item.attributes.reduce(256 + item.label.count + item.contentType.count) {
            $0 + $1.key.count + $1.value.count + 4
        }
    }

    /// A refusal that says something about this item alone.
    private static func ownFault(_ error: ClientError) -> [UInt8]? {
        guard case .refused(let refused) = error else { return nil }
        switch refused.known {
        case .tooLarge, .invalidArgument, .dataType: return refused.complete(.english).message
        case .unknown, .alreadyExists, .doesNotExist, .deleted, .locked, .serviceUnavailable,
            .outOfMemory, .busy, .protocolError, .storageFailed, .storeDamaged, .cancelled,
            .invalidPasscode, .passcodeRequired, .underMinLength, .passcodeExpired,
            .requiresDigit, .requiresLower, .requiresSpecial, .requiresUpper,
            .underMinUniqueCharacters, .requiresGroups, .digitsOnly, .sequence, .dictionary,
            .reused, .ruleFailed, .fingerprintUnavailable, .fingerprintNoMatch, .changeRequired,
            .retryLimitReached, .throttled, .policyDenies, .invalidAction, .notPermitted, .noMatch,
            .sameAsCurrent, .resetRequested, .skipped, .addUser, .switchUser, .recoveryKeyInvalid,
            .policyBroken,
            .lockedByAdministrator, .wipedByAdministrator, .bundleBroken, .bundleUntrusted,
            .bundleOlder, .bundleExpired, .fetchFailed:
            return nil
        }
    }
}
