import Bus
import Posix
import Wire

/// What clients give, checked before anything is done with it.
@LoopActor
enum Given {
    /// Reads arguments of a call.
    static func read<R>(_ body: () throws(BusError) -> R) throws(BusRefusal) -> R {
        do throws(BusError) {
            return try body()
        } catch {
            throw .invalidArguments("the call is not understood")
        }
    }

    static func attributes(_ message: BusMessage) throws(BusRefusal) -> [Item.Attribute] {
        try attributes(read { () throws(BusError) in try message.texts(atMost: 4_096) })
    }

    static func attributes(_ texts: [String: String]) throws(BusRefusal) -> [Item.Attribute] {
        guard texts.count <= Limits.attributes else {
            throw .limitsExceeded("an item has at most \(Limits.attributes) attributes")
        }
        var attributes: [Item.Attribute] = []
        for (name, value) in texts.sorted(by: { $0.key < $1.key }) {
            attributes.append(Item.Attribute(name: try text(name), value: try text(value)))
        }
        return attributes
    }

    static func text(_ text: String, atMost most: Int = Limits.itemText) throws(BusRefusal)
        -> [UInt8]
    {
        let bytes = Array(text.utf8)
        guard bytes.count <= most else {
            throw .limitsExceeded("a text here may have \(most) bytes")
        }
        return bytes
    }

    /// The schema's name is an attribute, and the type of an item says the same.
    static let schema = Array("xdg:schema".utf8)
    static let genericType = "org.freedesktop.Secret.Generic"

    static func type(of attributes: [Item.Attribute]) -> String {
        attributes.first { $0.name == schema }.map { String(decoding: $0.value, as: UTF8.self) }
            ?? genericType
    }

    /// What has no name of a schema is generic, and needs no attribute to say it.
    static func attributes(
        _ attributes: [Item.Attribute], ofType type: String
    ) throws(BusRefusal) -> [Item.Attribute] {
        var others = attributes.filter { $0.name != schema }
        if !type.isEmpty, type != genericType {
            others.append(Item.Attribute(name: schema, value: try text(type)))
        }
        return others
    }

    static func item(_ properties: [String: BusValue]) throws(BusRefusal) -> Item {
        var item = Item()
        if let label = properties[Interfaces.itemLabel] {
            guard case .string(let label) = label else {
                throw .invalidArguments("the label is a text")
            }
            item.label = try text(label)
        }
        if let attributes = properties[Interfaces.itemAttributes] {
            guard case .texts(let texts) = attributes else {
                // An empty dictionary may come with any type.
                guard attributes == .dictionary([:]) else {
                    throw .invalidArguments("the attributes are texts")
                }
                return item
            }
            item.attributes = try self.attributes(texts)
        }
        if case .string(let type)? = properties[Interfaces.itemType],
            !item.attributes.contains(where: { $0.name == schema })
        {
            item.attributes = try self.attributes(item.attributes, ofType: type)
        }
        return item
    }
}
