/// Under which orders of an organisation a store was made. An order to wipe names a version, and only
/// stores that are older obey it: so nobody's clock decides, and an order that is read again wipes
/// nothing that was made after it.
public struct OrdersMark: Equatable, Sendable {
    /// What stands for the organisation's name; 0 where the machine had joined none.
    public var organisation: UInt64
    public var version: UInt64

    public static let none = OrdersMark(organisation: 0, version: 0)

    public init(organisation: UInt64, version: UInt64) {
        (self.organisation, self.version) = (organisation, version)
    }

    /// Whether orders of this organisation with that version came after the store.
    public func isBefore(_ orders: OrdersMark) -> Bool {
        organisation != orders.organisation || version < orders.version
    }

    func write(to writer: inout FieldWriter) {
        writer.put(organisation)
        writer.put(version)
    }

    /// Stores of earlier releases have zeroes here.
    init?(_ reader: inout FieldReader) {
        guard let organisation = reader.number(UInt64.self),
            let version = reader.number(UInt64.self)
        else { return nil }
        self.init(organisation: organisation, version: version)
    }
}
