import Policy

/// What one or more blocks of the file are for.
struct BlockRow: Sendable {
    let blocks: [Int]
    /// The number that FORMAT.md gives to this kind of slot; nil where the blocks hold no slots.
    var slotKind: UInt16?
    /// Whether the block can be checked without the machine key.
    var opensOnAnyMachine = false
    /// An erase keeps these blocks, so that it stays known whose store it was.
    var outlivesErase = false
    /// Throws if such a block cannot have this content, so that the damage is found when the file
    /// is opened and not during a try.
    let check: @Sendable (Block) throws(KeyError) -> Void

    static func slots<Details: SlotDetails>(_: Details.Type) -> BlockRow {
        BlockRow(
            blocks: Details.blocks, slotKind: Details.kind,
            opensOnAnyMachine: Details.opensOnAnyMachine
        ) { (block) throws(KeyError) in
            _ = try Slot<Details>(block)
        }
    }
}

/// The blocks, as FORMAT.md lists them. A block that is in no row must be zero.
enum BlockTable {
    static let rows: [BlockRow] = [
        .slots(PasscodeDetails.self),
        .slots(DeviceDetails.self),
        .slots(RecoveryDetails.self),
        // Not checked here: `UncheckedSlotFile.checked` reads both together, before any other
        // block.
        BlockRow(blocks: [Identity.ownerBlock, Identity.labelBlock], outlivesErase: true) { _ in },
        BlockRow(blocks: [Tally.block]) { (block) throws(KeyError) in
            _ = try Tally(payload: block.payload)
        },
        BlockRow(blocks: [Terms.block]) { (block) throws(KeyError) in
            _ = try Terms(payload: block.payload)
        },
        BlockRow(blocks: HistoryBook.blocks) { (block) throws(KeyError) in
            _ = try SealedBlock<HistoryBook>(block.payload, at: block.number)
        },
        BlockRow(blocks: [KeyringPassword.block]) { (block) throws(KeyError) in
            _ = try SealedBlock<KeyringPassword>(block.payload, at: block.number)
        },
        BlockRow(blocks: [MemberKey.block]) { (block) throws(KeyError) in
            _ = try MemberKey(block.payload)
        },
        // Not checked here: nothing depends on it, and `CommitNote` alone reads and writes it.
        BlockRow(blocks: [CommitNote.block]) { _ in },
    ]

    /// A live store has at least one of these.
    static let slots = rows.filter { $0.slotKind != nil }.flatMap(\.blocks)
    /// In the order in which they are erased: the slots first, because they hold the keys.
    static let erased = rows.filter { !$0.outlivesErase }.flatMap(\.blocks)

    static func row(of number: Int) -> BlockRow? {
        rows.first { $0.blocks.contains(number) }
    }

    static func guardian(of number: Int, _ machine: MachineKey) -> Block.Guardian {
        row(of: number)?.opensOnAnyMachine == true ? .anybody : .machine(machine)
    }
}
