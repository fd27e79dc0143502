import Policy

/// What one or more blocks of the file are for.
struct BlockRow: Sendable {
    let blocks: [Int]
    /// FORMAT.md's number of the slots that lie here, nil where no slots do.
    var slotKind: UInt16?
    /// Whether it can be checked without the machine's key.
    var opensOnAnyMachine = false
    /// Whose store it was stays known when all else is erased.
    var outlivesErase = false
    /// Throws where such a block cannot have this content: that is damage now, not at the try.
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

/// FORMAT.md's table of blocks. A block that is in no row is kept for later and must be zero.
enum BlockTable {
    static let rows: [BlockRow] = [
        .slots(PasscodeDetails.self),
        .slots(DeviceDetails.self),
        .slots(RecoveryDetails.self),
        // The two are read together, before anything else.
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
    ]

    /// A living store has at least one of these.
    static let slots = rows.filter { $0.slotKind != nil }.flatMap(\.blocks)
    /// The keys go first.
    static let erased = rows.filter { !$0.outlivesErase }.flatMap(\.blocks)

    static func row(of number: Int) -> BlockRow? {
        rows.first { $0.blocks.contains(number) }
    }

    static func guardian(of number: Int, _ machine: MachineKey) -> Block.Guardian {
        row(of: number)?.opensOnAnyMachine == true ? .anybody : .machine(machine)
    }
}
