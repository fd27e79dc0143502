import Posix

@testable import ForeignStores

/// Tests/Vectors/foreign: files that gnome-keyring 42 and kwalletd 5.103 have written. The contents
/// were invented for it. The files old-*.kwl were made from the description of the format, because
/// no program that still runs writes them.
enum Samples {
    static let password = "invented for a test"

    static func file(_ name: String) throws -> SecretBuffer {
        let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
        return secret(try TextFile.read(at: "\(folder)/Vectors/foreign/\(name)", limit: 1 << 20))
    }

    static func bytes(_ name: String) throws -> [UInt8] { copy(try file(name)) }
}

func secret(_ bytes: [UInt8]) -> SecretBuffer {
    var buffer = SecretBuffer()
    buffer.append(bytes)
    return buffer
}

func secret(_ text: String) -> SecretBuffer { secret(Array(text.utf8)) }

func copy(_ buffer: borrowing SecretBuffer) -> [UInt8] {
    buffer.withSpan { span in span.indices.map { span[$0] } }
}

/// An item as a test shows it.
struct Shown: Equatable {
    var label: String
    var attributes: [String: String]
    var secret: [UInt8]
    var type = "text/plain"
    var place = ForeignItem.Place.own

    init(
        _ label: String, _ attributes: [String: String], _ secret: [UInt8],
        type: String = "text/plain", place: ForeignItem.Place = .own
    ) {
        self.label = label
        self.attributes = attributes
        self.secret = secret
        self.type = type
        self.place = place
    }

    static func all(_ store: borrowing ForeignStore) -> [Shown] {
        let secrets = copy(store.secrets)
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        return store.items.map { item in
            let attributes = item.attributes.map { (text($0.key), text($0.value)) }
            return Shown(
                text(item.label), Dictionary(uniqueKeysWithValues: attributes),
                Array(secrets[item.secret]), type: text(item.contentType), place: item.place)
        }.sorted { ($0.label, $0.secret.count) < ($1.label, $1.secret.count) }
    }
}

func problem(_ body: () throws -> Void) -> ForeignProblem? {
    do {
        try body()
        return nil
    } catch {
        return error as? ForeignProblem
    }
}
