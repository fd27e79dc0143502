import Bus

/// What the specification promises: "Secret Storage Specification", version 0.2.
enum Interfaces {
    static let service = BusInterface(
        "org.freedesktop.Secret.Service",
        methods: [
            .init(
                "OpenSession", takes: [.init("algorithm", "s"), .init("input", "v")],
                gives: [.init("output", "v"), .init("result", "o")]),
            .init(
                "CreateCollection", takes: [.init("properties", "a{sv}"), .init("alias", "s")],
                gives: [.init("collection", "o"), .init("prompt", "o")]),
            .init(
                "SearchItems", takes: [.init("attributes", "a{ss}")],
                gives: [.init("unlocked", "ao"), .init("locked", "ao")]),
            .init(
                "Unlock", takes: [.init("objects", "ao")],
                gives: [.init("unlocked", "ao"), .init("prompt", "o")]),
            .init(
                "Lock", takes: [.init("objects", "ao")],
                gives: [.init("locked", "ao"), .init("prompt", "o")]),
            .init(
                "GetSecrets", takes: [.init("items", "ao"), .init("session", "o")],
                gives: [.init("secrets", "a{o(oayays)}")]),
            .init(
                "ReadAlias", takes: [.init("name", "s")], gives: [.init("collection", "o")]),
            .init("SetAlias", takes: [.init("name", "s"), .init("collection", "o")]),
        ],
        properties: [.init("Collections", "ao")],
        signals: [
            .init("CollectionCreated", [.init("collection", "o")]),
            .init("CollectionDeleted", [.init("collection", "o")]),
            .init("CollectionChanged", [.init("collection", "o")]),
        ])

    static let collection = BusInterface(
        "org.freedesktop.Secret.Collection",
        methods: [
            .init("Delete", gives: [.init("prompt", "o")]),
            .init(
                "SearchItems", takes: [.init("attributes", "a{ss}")],
                gives: [.init("results", "ao")]),
            .init(
                "CreateItem",
                takes: [
                    .init("properties", "a{sv}"), .init("secret", "(oayays)"),
                    .init("replace", "b"),
                ],
                gives: [.init("item", "o"), .init("prompt", "o")]),
        ],
        properties: [
            .init("Items", "ao"), .init("Label", "s", isWritable: true), .init("Locked", "b"),
            .init("Created", "t"), .init("Modified", "t"),
        ],
        signals: [
            .init("ItemCreated", [.init("item", "o")]),
            .init("ItemDeleted", [.init("item", "o")]),
            .init("ItemChanged", [.init("item", "o")]),
        ])

    static let item = BusInterface(
        "org.freedesktop.Secret.Item",
        methods: [
            .init("Delete", gives: [.init("prompt", "o")]),
            .init(
                "GetSecret", takes: [.init("session", "o")], gives: [.init("secret", "(oayays)")]),
            .init("SetSecret", takes: [.init("secret", "(oayays)")]),
        ],
        properties: [
            .init("Locked", "b"), .init("Attributes", "a{ss}", isWritable: true),
            .init("Label", "s", isWritable: true), .init("Type", "s", isWritable: true),
            .init("Created", "t"), .init("Modified", "t"),
        ])

    static let session = BusInterface(
        "org.freedesktop.Secret.Session", methods: [.init("Close")])

    static let prompt = BusInterface(
        "org.freedesktop.Secret.Prompt",
        methods: [.init("Prompt", takes: [.init("window-id", "s")]), .init("Dismiss")],
        signals: [.init("Completed", [.init("dismissed", "b"), .init("result", "v")])])

    static let itemLabel = "org.freedesktop.Secret.Item.Label"
    static let itemAttributes = "org.freedesktop.Secret.Item.Attributes"
    static let itemType = "org.freedesktop.Secret.Item.Type"
    static let collectionLabel = "org.freedesktop.Secret.Collection.Label"
}

extension BusRefusal {
    private static let prefix = "org.freedesktop.Secret.Error."

    static let isLocked = BusRefusal(
        name: prefix + "IsLocked", text: "the collection is locked; unlock it first")
    static let noSession = BusRefusal(
        name: prefix + "NoSession", text: "the session is not there, or is another program's")
    static let noSuchObject = BusRefusal(
        name: prefix + "NoSuchObject", text: "there is no such object")
    static func notSupported(_ text: String) -> BusRefusal {
        BusRefusal(name: "org.freedesktop.DBus.Error.NotSupported", text: text)
    }
}
