import Policy

/// The counters of tries as block 2 stores them.
extension Tally {
    static let block = 2

    func payload() -> [UInt8] {
        var writer = FieldWriter()
        for tries in [own, apart, recovery] { Self.put(tries, in: &writer) }
        writer.put(UInt8(lockedForRecovery ? 1 : 0))
        // After the fields of earlier releases: their files have zeroes here, which reads as no
        // such tries.
        Self.put(stranger, in: &writer)
        return writer.bytes
    }

    init(payload: [UInt8]) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let own = Self.tries(&reader), let apart = Self.tries(&reader),
            let recovery = Self.tries(&reader), let locked = reader.number(UInt8.self),
            locked <= 1, let stranger = Self.tries(&reader), reader.restIsZero
        else { throw .damaged(.block(Self.block)) }
        self.init(
            own: own, apart: apart, stranger: stranger, recovery: recovery,
            lockedForRecovery: locked == 1)
    }

    private static func put(_ tries: Tries, in writer: inout FieldWriter) {
        writer.put(tries.wrong)
        writer.put(tries.unresolved)
        writer.put(tries.last.bootID.bytes)
        writer.put(tries.last.milliseconds)
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
