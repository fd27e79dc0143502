import Policy
import Posix
import Secrets

@testable import KeySlots

func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    try SecretBytes(copying: bytes.span)
}

func reveal(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
        decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Where a block's content is in the file.
func content(_ block: Int) -> Range<Int> {
    (block * 4096)..<(block * 4096 + 512)
}

/// A store on a disk of the test's own. Nothing is derived: the tests give the results of
/// derivations.
struct Fixture {
    static let storeKey: [UInt8] = (0..<32).map { UInt8($0 * 3) }
    static let first: [UInt8] = [UInt8](repeating: 1, count: 32)
    static let second: [UInt8] = [UInt8](repeating: 2, count: 32)
    static let third: [UInt8] = [UInt8](repeating: 3, count: 32)
    static let recovery: [UInt8] = Array(100..<116)

    let store: StoreID
    let machine: MachineKey

    init(machine seed: UInt8 = 7) throws {
        store = try StoreID.random()
        machine = try MachineKey(try secret([UInt8](repeating: seed, count: 32)))
    }

    init(store: StoreID, machine seed: UInt8) throws {
        self.store = store
        machine = try MachineKey(try secret([UInt8](repeating: seed, count: 32)))
    }

    static let identity = Identity(
        uid: 1000, account: Array("alice".utf8), createdAt: 1_700_000_000, way: .own,
        storeName: Array("default".utf8), policyKey: Array("default".utf8))

    static func details(setAt: UInt64 = 1) throws -> PasscodeDetails {
        try PasscodeDetails(cost: .standard, setAt: setAt, way: .own)
    }

    func empty() throws -> [UInt8] {
        let folder = try TemporaryFolder()
        _ = try SlotFile.create(
            in: folder.folder, store: store, identity: Self.identity, machine: machine)
        return try TextFile.read(at: "\(folder.path)/slots", limit: 100_000)
    }

    /// With the passcode whose derivation gives `first`, and a recovery key if wanted.
    func bytes(recovery: Bool = false) throws -> [UInt8] {
        let disk = PowerDisk(try empty())
        let file = try unverified(disk)
        try file.replacePasscode(
            try Self.details(), derived: try secret(Self.first),
            storeKey: try secret(Self.storeKey), proven: nil)
        if recovery {
            try file.replaceRecovery(
                try RecoveryKey(try secret(Self.recovery)), setAt: 2,
                storeKey: try secret(Self.storeKey))
        }
        return disk.bytes
    }

    /// As `SlotFile.create` returns it: without a slot, which `checked` would report as damage.
    private func unverified(_ disk: PowerDisk) throws -> SlotFile {
        let bytes = try disk.read()
        var blocks: [Block?] = []
        for number in 0..<16 {
            blocks.append(
                try Block.checked(
                    try Page.block(number, of: bytes), number: number, store: store,
                    .machine(machine)))
        }
        return SlotFile(
            BlockFile(store: store, machine: machine, disk: disk, blocks: blocks),
            CommitNote(store: store, machine: machine, disk: disk, bytes),
            identity: Self.identity, tally: Tally())
    }

    func open(_ disk: PowerDisk) throws -> SlotFile {
        try UncheckedSlotFile(store: store, disk: disk).checked(with: machine)
    }

    func open(_ bytes: [UInt8]) throws -> SlotFile {
        try open(PowerDisk(bytes))
    }

    /// Whether this derivation opens the store, trying slot after slot as a daemon does.
    func opens(_ file: SlotFile, _ derived: [UInt8]) throws -> Bool {
        for slot in try file.passcodeSlots {
            do {
                let key = try file.openPasscode(slot, derived: try secret(derived))
                return reveal(key) == Self.storeKey
            } catch KeyError.wrongSecret {
                continue
            }
        }
        return false
    }

    func opensWithRecovery(_ bytes: [UInt8]) throws -> Bool {
        let key = try UncheckedSlotFile(store: store, disk: PowerDisk(bytes)).openRecovery(
            try RecoveryKey(try secret(Self.recovery)))
        return reveal(key) == Self.storeKey
    }
}
