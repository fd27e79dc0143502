import Policy

/// The counters of tries as block 2 keeps them.
extension Tally {
    func payload() -> [UInt8] {
        var writer = FieldWriter()
        for tries in [own, apart, recovery] {
            writer.put(tries.wrong)
            writer.put(tries.unresolved)
            writer.put(tries.last.bootID.bytes)
            writer.put(tries.last.milliseconds)
        }
        writer.put(UInt8(lockedForRecovery ? 1 : 0))
        return writer.bytes
    }

    init(payload: [UInt8]) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let own = Self.tries(&reader), let apart = Self.tries(&reader),
            let recovery = Self.tries(&reader), let locked = reader.number(UInt8.self),
            locked <= 1, reader.restIsZero
        else { throw .damaged(.block(SlotFile.tallyBlock)) }
        self.init(own: own, apart: apart, recovery: recovery, lockedForRecovery: locked == 1)
    }

    private static func tries(_ reader: inout FieldReader) -> Tries? {
        guard let wrong = reader.number(UInt32.self), let unresolved = reader.number(UInt32.self),
            let bootID = reader.bytes(BootID.size).flatMap(BootID.init),
            let milliseconds = reader.number(UInt64.self)
        else { return nil }
        return Tries(
            wrong: wrong, unresolved: unresolved,
            last: Moment(bootID: bootID, milliseconds: milliseconds))
    }
}
