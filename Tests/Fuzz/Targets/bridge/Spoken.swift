@testable import AppVault

/// What the other programs say: made from the bytes of the fuzzer, mostly with the types that the
/// bridge takes, and with the objects that it has told of.
struct Spoken {
    struct Method {
        let interface: String
        let member: String
        let takes: [String]
    }

    private static let secret = "org.freedesktop.Secret."
    private static let standard = "org.freedesktop.DBus."
    static let root = "/org/freedesktop/secrets"

    static let methods: [Method] = [
        .init(interface: secret + "Service", member: "OpenSession", takes: ["s", "v"]),
        .init(interface: secret + "Service", member: "CreateCollection", takes: ["a{sv}", "s"]),
        .init(interface: secret + "Service", member: "SearchItems", takes: ["a{ss}"]),
        .init(interface: secret + "Service", member: "Unlock", takes: ["ao"]),
        .init(interface: secret + "Service", member: "Lock", takes: ["ao"]),
        .init(interface: secret + "Service", member: "GetSecrets", takes: ["ao", "o"]),
        .init(interface: secret + "Service", member: "ReadAlias", takes: ["s"]),
        .init(interface: secret + "Service", member: "SetAlias", takes: ["s", "o"]),
        .init(interface: secret + "Collection", member: "Delete", takes: []),
        .init(interface: secret + "Collection", member: "SearchItems", takes: ["a{ss}"]),
        .init(
            interface: secret + "Collection", member: "CreateItem",
            takes: ["a{sv}", "(oayays)", "b"]),
        .init(interface: secret + "Item", member: "Delete", takes: []),
        .init(interface: secret + "Item", member: "GetSecret", takes: ["o"]),
        .init(interface: secret + "Item", member: "SetSecret", takes: ["(oayays)"]),
        .init(interface: secret + "Session", member: "Close", takes: []),
        .init(interface: secret + "Prompt", member: "Prompt", takes: ["s"]),
        .init(interface: secret + "Prompt", member: "Dismiss", takes: []),
        .init(interface: standard + "Properties", member: "Get", takes: ["s", "s"]),
        .init(interface: standard + "Properties", member: "GetAll", takes: ["s"]),
        .init(interface: standard + "Properties", member: "Set", takes: ["s", "s", "v"]),
        .init(interface: standard + "Introspectable", member: "Introspect", takes: []),
        .init(interface: standard + "Peer", member: "Ping", takes: []),
        .init(
            interface: "org.freedesktop.impl.portal.Secret", member: "RetrieveSecret",
            takes: ["o", "s", "h", "a{sv}"]),
        .init(interface: "org.freedesktop.impl.portal.Request", member: "Close", takes: []),
    ]
    private static let signatures =
        [
            "", "s", "v", "o", "b", "u", "ao", "as", "ay", "a{ss}", "a{sv}", "(oayays)",
            "a{sv}(oayays)b", "oo", "aoo", "sv", "ssv", "so", "a{sv}s", "osha{sv}", "aav", "a(sv)",
            "(((((s)))))", "vvvv", "aaaaaay", "a{sa{sv}}", "d", "x", "h", "g", "y", "n", "t",
        ] + methods.map { $0.takes.joined() }

    private static let words = [
        "", "plain", "dh-ietf1024-sha256-aes128-cbc-pkcs7", "default", "login", "session", "work",
        "a", "b", "xdg:schema", "org.freedesktop.Secret.Generic", secret + "Service",
        secret + "Collection", secret + "Item", secret + "Session", secret + "Prompt",
        secret + "Item.Label", secret + "Item.Attributes", secret + "Item.Type",
        secret + "Collection.Label", "Items", "Label", "Locked", "Created", "Modified",
        "Attributes", "Type", "Collections", "version", "text/plain", "org.example.App", "ä☃",
    ]

    private var rest: ArraySlice<UInt8>
    /// Objects that were told of, and some more.
    private(set) var paths = [
        root, root + "/collection", root + "/collection/login", root + "/collection/session",
        root + "/aliases/default", root + "/aliases/work", root + "/session", root + "/prompt",
        "/", "/org/freedesktop/portal/desktop", "/org/freedesktop/portal/desktop/request/1",
        root + "/collection/login/00000000000000000000000000000000", "/elsewhere",
    ]
    private static let mostPaths = 96

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isOver: Bool { rest.isEmpty }

    mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

    mutating func run(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func met(_ path: String) {
        guard !paths.contains(path), path.utf8.count < 4_096 else { return }
        // The first ones stay, the others make room.
        if paths.count >= Self.mostPaths { paths.remove(at: 13) }
        paths.append(path)
    }

    mutating func met(_ values: [BusValue]) {
        for value in values {
            switch value {
            case .path(let path): met(path)
            case .array(_, let elements), .structure(let elements): met(elements)
            case .entry(let key, let value): met([key, value])
            case .variant(let value): met([value])
            case .byte, .boolean, .int32, .uint32, .uint64, .number, .string, .signature, .bytes:
                break
            }
        }
    }

    mutating func path() -> String {
        let choice = byte()
        // What was told of last is the most interesting.
        return choice < 128
            ? paths[paths.count - 1 - choice % paths.count] : paths[choice % paths.count]
    }

    // MARK: calls

    mutating func typedCall(from sender: String) -> PlayedBus.Call {
        let method = Self.methods[byte() % Self.methods.count]
        let path = path()
        var body = BusWriter()
        for type in method.takes { body.put(value(type)) }
        return PlayedBus.Call(
            sender: sender, path: path,
            // It may be left out.
            interface: byte() % 8 == 0 ? "" : method.interface, member: method.member,
            signature: method.takes.joined(), body: body.bytes.withSpan { copied($0) })
    }

    mutating func rawCall(from sender: String) -> PlayedBus.Call {
        let method = Self.methods[byte() % Self.methods.count]
        let path = path()
        let choice = byte()
        let signature =
            choice < 128 ? method.takes.joined() : Self.signatures[choice % Self.signatures.count]
        let body = signature.isEmpty ? [] : run(byte() + 4 * byte())
        return PlayedBus.Call(
            sender: sender, path: path, interface: method.interface, member: method.member,
            // libsystemd and the bus do not take a body of no type.
            signature: body.isEmpty && !signature.isEmpty ? "" : signature, body: body)
    }

    private mutating func text() -> String {
        let choice = byte()
        guard choice >= 224 else { return Self.words[choice % Self.words.count] }
        if choice >= 252 { return String(repeating: "x", count: 1 << (choice - 240)) }
        return String(decoding: run(choice - 224).map { $0 == 0 ? 1 : $0 }, as: UTF8.self)
    }

    private mutating func value(_ type: String) -> BusValue {
        switch type {
        case "s": return .string(text())
        case "o": return .path(path())
        case "b": return .boolean(byte() % 2 == 1)
        case "u": return .uint32(UInt32(byte()))
        case "h": return .number(UInt8(ascii: "h"), UInt64(byte()))
        case "ao":
            let choice = byte()
            guard choice < 250 else {
                return .array("o", [BusValue](repeating: .path(path()), count: 20_000))
            }
            return .array("o", (0..<choice % 5).map { _ in .path(path()) })
        case "a{ss}": return texts()
        case "a{sv}":
            return .array(
                "{sv}",
                (0..<byte() % 4).map { _ in .entry(.string(text()), .variant(anything())) })
        case "(oayays)":
            return .structure([
                .path(path()), .bytes(run(byte() % 24)), .bytes(secret()), .string(text()),
            ])
        default: return .variant(anything())
        }
    }

    private mutating func secret() -> [UInt8] {
        let choice = byte()
        return choice < 254 ? run(choice) : [UInt8](repeating: 7, count: 1 << (20 + choice - 254))
    }

    private mutating func texts() -> BusValue {
        let choice = byte()
        let count = choice < 250 ? choice % 4 : 130
        return .array(
            "{ss}",
            (0..<count).map { .entry(.string(count > 4 ? "\($0)" : text()), .string(text())) })
    }

    private mutating func anything() -> BusValue {
        switch byte() % 10 {
        case 0, 1, 2: .string(text())
        case 3, 4: texts()
        case 5: .bytes(run(128))
        case 6: .boolean(true)
        case 7: .path(path())
        case 8: .array("(sv)", [.structure([.string(text()), .variant(.uint32(7))])])
        default: .variant(.variant(.uint64(1)))
        }
    }

    // MARK: what a call was about

    /// The session that a call names, if its body can be read at all.
    static func session(of call: PlayedBus.Call) -> String? {
        var reader = BusReader()
        guard let values = try? reader.values(call.signature, call.body.span) else { return nil }
        switch (call.member, call.signature) {
        case ("GetSecret", "o"): return values[0].text
        case ("GetSecrets", "aoo"): return values[1].text
        case ("SetSecret", "(oayays)"): return values[0].elements?.first?.text
        case ("CreateItem", "a{sv}(oayays)b"): return values[1].elements?.first?.text
        default: return nil
        }
    }

    /// What a session was opened as.
    static func opened(_ message: BusMessage) -> String? {
        message.body.count == 2 ? message.body[1].text : nil
    }

    /// The prompt that an answer names.
    static func prompt(in message: BusMessage) -> String? {
        message.body.compactMap(\.text).last { $0.hasPrefix(root + "/prompt/") }
    }

    /// The sessions with which the answer's secrets cross.
    static func sessions(in message: BusMessage) -> [String] {
        message.body.flatMap { value -> [String] in
            if value.signature == "(oayays)" { return [value.elements?.first?.text ?? ""] }
            guard value.signature == "a{o(oayays)}" else { return [] }
            return (value.elements ?? []).compactMap {
                guard case .entry(_, let secret) = $0 else { return nil }
                return secret.elements?.first?.text
            }
        }
    }
}
