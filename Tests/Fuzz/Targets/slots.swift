import Policy
import Posix
import Secrets

@testable import KeySlots

/// A slots file as an attacker may leave it, and one whose blocks are authentic but have any
/// content. Whatever passes the check can be read to its end, and nothing in it opens with a wrong
/// secret.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let kind = bytes.first, let lab = try? Lab() else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: lab.look(at: rest)
    case 1:
        lab.look(
            at: Array(rest.prefix(SlotFile.size))
                + [UInt8](repeating: 0, count: max(0, SlotFile.size - rest.count)))
    case 2: recoveryText(rest)
    default: if let file = try? lab.authentic(rest) { lab.look(at: file) }
    }
    return 0
}

final class MemoryDisk: BlockDisk {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func read() throws(PosixError) -> [UInt8] { bytes }
    func readBack() throws(PosixError) -> [UInt8] { bytes }
    func write(_ block: [UInt8], block number: Int) throws(PosixError) {
        must(
            (block.count == Block.size || block.count == Page.size)
                && (number + 1) * Page.size <= SlotFile.size,
            "a write outside the file")
        let start = number * Page.size
        let missing = max(0, start + block.count - bytes.count)
        bytes += [UInt8](repeating: 0, count: missing)
        bytes.replaceSubrange(start..<start + block.count, with: block)
    }
    func trim() throws(PosixError) {
        bytes = Array(bytes.prefix(SlotFile.size))
    }
    func sync() throws(PosixError) {}
}

struct Lab {
    struct Unusable: Error {}

    let store: StoreID
    let machine: MachineKey

    init() throws {
        let key = [UInt8](repeating: 7, count: MachineKey.size)
        guard let store = StoreID(bytes: [UInt8](repeating: 9, count: StoreID.size)) else {
            throw Unusable()
        }
        self.store = store
        machine = try MachineKey(try SecretBytes(copying: key.span))
    }

    /// Each record of the input is a block's number, a length, and what its payload begins with.
    func authentic(_ input: [UInt8]) throws -> [UInt8] {
        var file = [UInt8](repeating: 0, count: SlotFile.size)
        let identity = Identity(
            uid: 1, account: [0x61], createdAt: 2, way: .own, storeName: [], policyKey: [0x64])
        try place(Identity.ownerBlock, try identity.ownerPayload(), in: &file)
        try place(Identity.labelBlock, try identity.labelPayload(), in: &file)
        try place(Tally.block, Tally().payload(), in: &file)
        var at = 0
        while at + 3 <= input.count {
            let number = Int(input[at]) % (KeyringPassword.block + 1)
            let length = (Int(input[at + 1]) | Int(input[at + 2]) << 8) % (Block.payloadSize + 1)
            let payload = Array(input.dropFirst(at + 3).prefix(length))
            try place(number, payload, in: &file)
            at += 3 + payload.count
        }
        return file
    }

    private func place(_ number: Int, _ payload: [UInt8], in file: inout [UInt8]) throws {
        let block = Block(number: number, sequence: UInt64(number) + 1, payload: payload)
        let bytes = try block.encoded(store, BlockTable.guardian(of: number, machine))
        file.replaceSubrange(number * Page.size..<number * Page.size + Block.size, with: bytes)
    }

    func look(at bytes: [UInt8]) {
        let disk = MemoryDisk(bytes)
        guard let unchecked = try? UncheckedSlotFile(store: store, disk: disk) else { return }
        if let key = try? RecoveryKey.random() {
            must(
                (try? unchecked.openRecovery(key)) == nil,
                "a recovery key that is none opened a store")
        }
        guard let file = try? unchecked.checked(with: machine) else { return }
        must(disk.bytes == bytes, "a check wrote")
        guard file.identity.condition == .live else {
            must((try? file.openDevice()) == nil, "an erased store opened")
            return
        }
        guard let slots = try? file.passcodeSlots,
            let derived = try? SecretBytes.random(KeyDerivation.keySize)
        else { return }
        for slot in slots {
            must(
                (try? file.openPasscode(slot, derived: derived)) == nil,
                "a passcode that is none opened a store")
        }
        if let key = try? SecretBytes.random(WrappedKey.keySize),
            let history = try? file.history(storeKey: key)
        {
            must(history.former.isEmpty, "a key that is none opened a history")
        }
        if let key = try? SecretBytes.random(WrappedKey.keySize),
            let password = try? file.keyringPassword(storeKey: key)
        {
            must(password.count == 0, "a key that is none opened the login password")
        }
        _ = file.terms.pending(on: slots.first)
        must((try? file.write(file.terms)) != nil, "terms cannot be written")
        _ = try? file.recoverySlots
        _ = try? file.openDevice()
        must(
            (try? file.write(file.tally)) != nil
                && disk.bytes.count <= max(bytes.count, SlotFile.size),
            "tries cannot be written")
        guard let again = try? UncheckedSlotFile(store: store, disk: disk).checked(with: machine)
        else {
            return must(false, "a file that was whole is damaged after a write")
        }
        must(
            again.tally == file.tally && again.identity == file.identity
                && again.terms == file.terms,
            "what was written is not what is read")
        must((try? again.mend()) != nil && again.isWhole, "what opened cannot be mended")
        guard let mended = try? UncheckedSlotFile(store: store, disk: disk).checked(with: machine)
        else {
            return must(false, "a file that was mended is damaged")
        }
        must(
            mended.isWhole && disk.bytes.count == SlotFile.size && mended.tally == file.tally
                && mended.identity == file.identity,
            "a file that was mended is not whole")
    }
}

func recoveryText(_ bytes: [UInt8]) {
    guard let text = try? SecretBytes(copying: bytes.span), let key = try? RecoveryKey(text: text)
    else { return }
    guard let shown = try? key.text(), let again = try? RecoveryKey(text: shown) else {
        return must(false, "a recovery key cannot be shown")
    }
    must(again.bytes.matches(key.bytes), "a recovery key is not read as it was shown")
}
