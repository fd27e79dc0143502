internal import Posix

/// What is in an open wallet: folders, and in each folder entries with a name, a kind and a value,
/// as Qt's QDataStream writes them. An entry becomes what KDE itself makes of it when it moves a
/// wallet into the Secret Service (secretserviceclient.cpp of kwallet), so that KDE's programs find
/// it there.
enum WalletEntries {
    private enum Kind: UInt32 {
        case password = 1
        case stream
        case map
    }

    static func read(
        _ bytes: Span<UInt8>, _ notes: WalletNotes, into store: inout ForeignStore
    ) throws(ForeignProblem) {
        var walk = Walk(to: bytes.count)
        while !walk.isAtEnd {
            let folder = try text(bytes, &walk)
            for _ in 0..<(try walk.count(bytes, ofAtLeast: 8)) {
                let name = try text(bytes, &walk)
                // What is of no kind has no value either.
                guard let kind = Kind(rawValue: try walk.uint32(bytes)) else { continue }
                let value = try walk.counted(bytes) ?? 0..<0
                do throws(ForeignProblem) {
                    let item = try item(
                        Entry(folder: folder, name: name, kind: kind, value: value), bytes, notes,
                        &store.secrets)
                    store.items.append(item)
                } catch {
                    store.unread.append(.init(label: folder + [UInt8(ascii: "/")] + name))
                }
            }
        }
    }

    private struct Entry {
        var folder: [UInt8]
        var name: [UInt8]
        var kind: Kind
        var value: Range<Int>

        var path: [UInt8] { folder + [UInt8(ascii: "/")] + name }
    }

    private static func item(
        _ entry: Entry, _ bytes: Span<UInt8>, _ notes: WalletNotes,
        _ secrets: inout SecretBuffer
    ) throws(ForeignProblem) -> ForeignItem {
        let start = secrets.count
        var item = ForeignItem()
        var type = "plaintext"
        // An item that has come by the Secret Service, and is to go on as it was there.
        let note = notes.note(of: entry.path)
        let isForeign =
            entry.folder == secretService
            || note?.attributes.keys.contains { !ours.contains($0) } == true
        switch entry.kind {
        case .password:
            var walk = Walk(entry.value.lowerBound, to: entry.value.upperBound)
            if let text = try walk.counted(bytes) { try QtText.append(bytes, text, &secrets) }
        case .map:
            type = "map"
            try appendMap(bytes, entry.value, &secrets)
        case .stream:
            type = "base64"
            if isForeign || entry.folder == portal {
                secrets.append(bytes.extracting(entry.value))
                item.contentType = Array("application/octet-stream".utf8)
            } else {
                appendBase64(bytes, entry.value, &secrets)
            }
        }
        item.secret = start..<secrets.count
        if entry.folder == portal, entry.kind == .stream {
            item.bePortalKey(of: entry.name)
            return item
        }
        if isForeign {
            item.label = foreignLabel(entry)
            item.attributes = note?.attributes ?? [:]
            if let type = note?.contentType { item.contentType = type }
        } else {
            item.label = entry.path
            item.attributes = [
                Array("server".utf8): entry.folder, Array("user".utf8): entry.name,
                Array("type".utf8): Array(type.utf8),
                ForeignItem.schema: Array("org.qt.keychain".utf8),
            ]
        }
        item.created = note?.created ?? 0
        item.modified = note?.modified ?? 0
        return item
    }

    /// Where KWallet puts what has no folder.
    private static let secretService = Array("Secret Service".utf8)
    /// Where it keeps the keys of programs in a sandbox.
    private static let portal = Array("xdg-desktop-portal".utf8)
    /// What KWallet itself notes of an entry that a program of KDE's has made.
    private static let ours = ["server", "user", "type"].map { Array($0.utf8) }

    /// Without the number that tells items of the same label apart: `__2_` at the end.
    private static func foreignLabel(_ entry: Entry) -> [UInt8] {
        var name = entry.name[...]
        if name.last == UInt8(ascii: "_") {
            let number = name.dropLast().reversed().prefix { (0x30...0x39).contains($0) }
            let rest = name.dropLast(1 + number.count)
            if !number.isEmpty, rest.suffix(2).elementsEqual(Array("__".utf8)) {
                name = rest.dropLast(2)
            }
        }
        let folder = entry.folder == secretService ? [] : entry.folder + [UInt8(ascii: "/")]
        return folder + name
    }

    // MARK: Qt's texts

    private static func text(
        _ bytes: Span<UInt8>, _ walk: inout Walk
    ) throws(ForeignProblem) -> [UInt8] {
        guard let range = try walk.counted(bytes) else { return [] }
        return try QtText.text(bytes, range)
    }

    // MARK: Values

    /// One object of JSON, its names in order, as Qt writes it.
    private static func appendMap(
        _ bytes: Span<UInt8>, _ value: Range<Int>, _ secrets: inout SecretBuffer
    ) throws(ForeignProblem) {
        var walk = Walk(value.lowerBound, to: value.upperBound)
        var pairs: [(name: Range<Int>, value: Range<Int>)] = []
        if !walk.isAtEnd {
            for _ in 0..<(try walk.count(bytes, ofAtLeast: 8)) {
                let name = try walk.counted(bytes) ?? 0..<0
                pairs.append((name, try walk.counted(bytes) ?? 0..<0))
            }
        }
        pairs.sort { first, second in
            for (one, other) in zip(first.name, second.name) where bytes[one] != bytes[other] {
                return bytes[one] < bytes[other]
            }
            return first.name.count < second.name.count
        }
        secrets.append(UInt8(ascii: "{"))
        for (index, pair) in pairs.enumerated() {
            if index > 0 { secrets.append(UInt8(ascii: ",")) }
            try appendJSON(bytes, pair.name, &secrets)
            secrets.append(UInt8(ascii: ":"))
            try appendJSON(bytes, pair.value, &secrets)
        }
        secrets.append(UInt8(ascii: "}"))
    }

    private static func appendJSON(
        _ bytes: Span<UInt8>, _ text: Range<Int>, _ secrets: inout SecretBuffer
    ) throws(ForeignProblem) {
        secrets.append(UInt8(ascii: "\""))
        try QtText.each(bytes, text) { scalar in
            switch scalar {
            case "\"", "\\":
                secrets.append(UInt8(ascii: "\\"))
                secrets.append(UInt8(scalar.value))
            case "\u{8}": secrets.append(Array("\\b".utf8))
            case "\u{C}": secrets.append(Array("\\f".utf8))
            case "\n": secrets.append(Array("\\n".utf8))
            case "\r": secrets.append(Array("\\r".utf8))
            case "\t": secrets.append(Array("\\t".utf8))
            case "\0"..<" ":
                secrets.append(Array("\\u00".utf8))
                for digit in [scalar.value >> 4, scalar.value & 15] {
                    secrets.append(Array("0123456789abcdef".utf8)[Int(digit)])
                }
            default: QtText.append(scalar, &secrets)
            }
        }
        secrets.append(UInt8(ascii: "\""))
    }

    private static func appendBase64(
        _ bytes: Span<UInt8>, _ value: Range<Int>, _ secrets: inout SecretBuffer
    ) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        secrets.reserve((value.count + 2) / 3 * 4)
        for start in stride(from: value.lowerBound, to: value.upperBound, by: 3) {
            let count = min(3, value.upperBound - start)
            let group = (0..<3).reduce(0) {
                $0 << 8 | ($1 < count ? Int(bytes[start + $1]) : 0)
            }
            for index in 0..<4 {
                secrets.append(
                    index <= count ? digits[group >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
    }
}

extension ForeignItem {
    /// As gnome-keyring keeps it, and AppVault: the key of one program in a sandbox.
    fileprivate mutating func bePortalKey(of application: [UInt8]) {
        label = Array("Application key for ".utf8) + application
        attributes = [
            Array("app_id".utf8): application,
            Self.schema: Array("org.freedesktop.portal.Secret".utf8),
        ]
        place = .login
    }
}
