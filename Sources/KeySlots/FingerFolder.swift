import Posix
import Secrets

/// An enrolled finger: on which reader, when, and the print by which the reader recognizes it.
public struct EnrolledFinger: Sendable {
    public static let fingers: ClosedRange<UInt8> = 1...10
    public static let textLimit = 255
    public static let printLimit = 65_536

    public var finger: UInt8
    /// Seconds since 1970.
    public var enrolledAt: UInt64
    public var reader: [UInt8]
    public var port: [UInt8]
    /// The reader's name, to show to people.
    public var readerName: [UInt8]
    /// The reader also stores the print on its own chip.
    public var isOnChip: Bool
    public var print: SecretBox

    public init(
        finger: UInt8, enrolledAt: UInt64, reader: [UInt8], port: [UInt8], readerName: [UInt8],
        isOnChip: Bool, print: SecretBox
    ) {
        self.finger = finger
        self.enrolledAt = enrolledAt
        self.reader = reader
        self.port = port
        self.readerName = readerName
        self.isOnChip = isOnChip
        self.print = print
    }

    /// Whether it is the same enrolment, and not a later one of the same finger.
    public func isSame(as other: EnrolledFinger) -> Bool {
        guard
            (finger, enrolledAt, isOnChip) == (other.finger, other.enrolledAt, other.isOnChip),
            (reader, port, readerName) == (other.reader, other.port, other.readerName)
        else { return false }
        if print === other.print { return true }
        let isEqual = try? print.read { (own) throws(SecretsError) in
            try other.print.read { (others) throws(SecretsError) in own.matches(others) }
        }
        return isEqual == true
    }
}

/// The fingers of one store, one file each in `fingers/STORE`, sealed under the machine key and
/// bound to the store, its owner and the finger. A file whose seal does not open is never handed to
/// code that would parse the print.
public struct FingerFolder: Sendable {
    public static let name = "fingers"

    private let state: Folder
    private let store: StoreID
    private let machine: MachineKey
    private let owner: [UInt8]

    /// `state` is the daemon's state folder.
    public init(
        in state: Folder, store: StoreID, owner: Identity, machine: MachineKey
    ) throws(KeyError) {
        self.state = state
        self.store = store
        self.machine = machine
        var writer = FieldWriter()
        writer.put(owner.uid)
        try writer.put(text: owner.account, limit: Identity.accountLimit)
        self.owner = writer.bytes
    }

    public struct Found: Sendable {
        /// In the order of their numbers.
        public var fingers: [EnrolledFinger] = []
        /// Fingers whose files do not open: they belong to another owner or another machine, or
        /// were changed.
        public var damaged: [UInt8] = []

        public init() {}
    }

    public func all() throws(KeyError) -> Found {
        var found = Found()
        guard let folder = try existing() else { return found }
        for finger in EnrolledFinger.fingers where folder.exists("\(finger)") {
            let bytes = try? TextFile.read(at: "\(folder.path)/\(finger)", limit: Self.fileLimit)
            if let bytes, let opened = try open(bytes, finger) {
                found.fingers.append(opened)
            } else {
                found.damaged.append(finger)
            }
        }
        return found
    }

    /// Nil where it has no file, or one that does not open.
    public func one(_ finger: UInt8) throws(KeyError) -> EnrolledFinger? {
        guard let folder = try existing(),
            let bytes = try? TextFile.read(at: "\(folder.path)/\(finger)", limit: Self.fileLimit)
        else { return nil }
        return try open(bytes, finger)
    }

    /// Whether its fingers were removed one by one, and none is left: there is a folder without a
    /// file, be it a damaged one.
    public func isEmptied() throws(KeyError) -> Bool {
        guard let folder = try existing() else { return false }
        return !EnrolledFinger.fingers.contains { folder.exists("\($0)") }
    }

    /// Writes the file whole or not at all, and syncs. It replaces an earlier file of the same
    /// finger.
    public func write(_ finger: EnrolledFinger) throws(KeyError) {
        let sealed = try seal(finger)
        do throws(PosixError) {
            try state.makeFolder(Self.name)
            try state.sync()
            let all = try state.folder(Self.name)
            try all.makeFolder("\(store)")
            try all.sync()
            let folder = try all.folder("\(store)")
            let name = "\(finger.finger)"
            do throws(PosixError) {
                try TextFile.replace(at: "\(folder.path)/\(name)", with: sealed)
            } catch {
                try? Self.destroy(Self.unfinished(name), in: folder)
                throw error
            }
            try folder.sync()
        } catch {
            throw .storage(error)
        }
    }

    /// Removes this very enrolment; false where the finger has no file, or that of another one.
    public func remove(exactly finger: EnrolledFinger) throws(KeyError) -> Bool {
        guard let found = try one(finger.finger), found.isSame(as: finger) else { return false }
        try remove(finger.finger)
        return true
    }

    /// It is not an error if the finger has no file.
    public func remove(_ finger: UInt8) throws(KeyError) {
        guard let folder = try existing() else { return }
        let name = "\(finger)"
        do throws(PosixError) {
            // Renamed first, so that the finger is gone at once: a file that is half overwritten
            // would count as damage.
            if folder.exists(name) { try folder.rename(name, to: Self.unfinished(name)) }
            try Self.destroy(Self.unfinished(name), in: folder)
            try folder.sync()
        } catch {
            throw .storage(error)
        }
    }

    /// The name under which `TextFile.replace` writes a new file, and which a file gets before it
    /// is destroyed.
    private static func unfinished(_ name: String) -> String { name + ".new" }

    /// Overwrites the file, then removes it. A file that cannot be overwritten is still removed.
    private static func destroy(_ name: String, in folder: Folder) throws(PosixError) {
        guard folder.exists(name) else { return }
        do throws(PosixError) {
            let file = try folder.file(name, .readWrite)
            let zeroes = [UInt8](repeating: 0, count: min(max(try file.size(), 0), fileLimit))
            try file.write(zeroes.span, at: 0)
            try file.sync()
        } catch {}
        try folder.remove(name)
    }

    public func removeAll() throws(KeyError) {
        try Self.removeAll(of: store, in: state)
    }

    public static func removeAll(of store: StoreID, in state: Folder) throws(KeyError) {
        do throws(PosixError) {
            guard state.exists(name) else { return }
            let all = try state.folder(name)
            guard all.exists("\(store)") else { return }
            let folder = try all.folder("\(store)")
            for name in try TextFile.names(in: folder.path, dotted: true) {
                try destroy(name, in: folder)
            }
            try all.removeFolder("\(store)")
            try all.sync()
        } catch {
            throw .storage(error)
        }
    }

    /// How many bytes a store's fingers take on the disk.
    public static func bytes(of store: StoreID, in state: Folder) -> Int {
        let folder = "\(state.path)/\(name)/\(store)"
        let names = (try? TextFile.names(in: folder, dotted: true)) ?? []
        return names.reduce(0) { sum, name in
            sum + ((try? FileFacts(of: "\(folder)/\(name)", following: false))?.size ?? 0)
        }
    }

    public var bytes: Int { Self.bytes(of: store, in: state) }

    /// Removes what a crash has left. For stores that are gone or have no fingers: everything. For
    /// the others: the files that were not written to the end.
    public static func sweep(in state: Folder, keeping: Set<StoreID>) throws(KeyError) {
        guard state.exists(name) else { return }
        let all = try stored(try state.folder(name))
        for name in try stored(try all.names()) {
            guard let store = StoreID(text: name) else { continue }
            guard keeping.contains(store) else {
                try removeAll(of: store, in: state)
                continue
            }
            let folder = try stored(try all.folder(name))
            for name in EnrolledFinger.fingers.map({ unfinished("\($0)") }) {
                try stored(try destroy(name, in: folder))
            }
        }
    }

    private func existing() throws(KeyError) -> Folder? {
        guard state.exists(Self.name) else { return nil }
        let all = try stored(try state.folder(Self.name))
        guard all.exists("\(store)") else { return nil }
        return try stored(try all.folder("\(store)"))
    }

    // MARK: one file

    private static let magic = Array("AVFP".utf8)
    private static let version: UInt16 = 1
    private static let headerSize = 40
    private static let bodyOffset = headerSize + Sealing.nonceSize
    /// What precedes the print: time, chip, and three texts.
    private static let factsSize = 8 + 1 + 3 * (1 + EnrolledFinger.textLimit)
    private static let fileLimit =
        bodyOffset + factsSize + EnrolledFinger.printLimit + Sealing.tagSize

    private func header(_ finger: UInt8) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(Self.magic)
        writer.put(Self.version)
        writer.put(UInt16(finger))
        writer.put(store.bytes)
        writer.put(machine.id)
        return writer.bytes
    }

    private func key() throws(KeyError) -> SecretBytes {
        let message = store.bytes
        return try secrets(
            try Hash.subkey(of: machine.slotKey, purpose: .finger, message: message.span))
    }

    private func seal(_ finger: EnrolledFinger) throws(KeyError) -> [UInt8] {
        var facts = FieldWriter()
        facts.put(finger.enrolledAt)
        facts.put(UInt8(finger.isOnChip ? 1 : 0))
        for text in [finger.reader, finger.port, finger.readerName] {
            try facts.put(text: text, limit: EnrolledFinger.textLimit)
        }
        let header = header(finger.finger)
        let bound = header + owner
        let key = try key()
        do throws(SecretsError) {
            let plain = try finger.print.read { (print) throws(SecretsError) in
                SecretBox(try Self.joined(facts.bytes, print))
            }
            guard let plain, let text = plain.take(), text.count > Self.factsSize,
                text.count <= Self.factsSize + EnrolledFinger.printLimit
            else { throw .wrongSize }
            let nonce = try Random.bytes(Sealing.nonceSize)
            var sealed = [UInt8](repeating: 0, count: text.count + Sealing.tagSize)
            var span = sealed.mutableSpan
            try text.withBytes { (bytes) throws(SecretsError) in
                try Sealing.sealCombined(
                    bytes, aad: bound.span, nonce: nonce.span, key: key, into: &span)
            }
            return header + nonce + sealed
        } catch {
            throw .secrets(error)
        }
    }

    private static func joined(
        _ facts: [UInt8], _ print: borrowing SecretBytes
    ) throws(SecretsError) -> SecretBytes {
        var text = try SecretBytes(count: facts.count + print.count)
        text.withMutableBytes { into in
            for index in facts.indices { into[index] = facts[index] }
            print.withBytes { bytes in
                for index in bytes.indices { into[facts.count + index] = bytes[index] }
            }
        }
        return text
    }

    /// Nil where the seal does not open.
    private func open(_ bytes: [UInt8], _ finger: UInt8) throws(KeyError) -> EnrolledFinger? {
        let header = header(finger)
        guard bytes.count > Self.bodyOffset + Self.factsSize + Sealing.tagSize,
            bytes.prefix(Self.headerSize).elementsEqual(header)
        else { return nil }
        let bound = header + owner
        let key = try key()
        do throws(SecretsError) {
            var text = try SecretBytes(count: bytes.count - Self.bodyOffset - Sealing.tagSize)
            try text.withMutableBytes { (plain) throws(SecretsError) in
                try Sealing.openCombined(
                    bytes.span.extracting(Self.bodyOffset...), aad: bound.span,
                    nonce: bytes.span.extracting(Self.headerSize..<Self.bodyOffset), key: key,
                    into: &plain)
            }
            var reader = FieldReader(
                text.withBytes { plain in (0..<Self.factsSize).map { plain[$0] } })
            guard let at = reader.number(UInt64.self), let isOnChip = reader.flag(),
                let id = reader.text(limit: EnrolledFinger.textLimit),
                let port = reader.text(limit: EnrolledFinger.textLimit),
                let name = reader.text(limit: EnrolledFinger.textLimit)
            else { return nil }
            return EnrolledFinger(
                finger: finger, enrolledAt: at, reader: id, port: port, readerName: name,
                isOnChip: isOnChip, print: SecretBox(try text.slice(Self.factsSize..<text.count)))
        } catch {
            if error == .notAuthentic { return nil }
            throw .secrets(error)
        }
    }
}
