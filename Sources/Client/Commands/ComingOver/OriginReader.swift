import ForeignStores
import Posix
import ToolTexts
import Wire

/// Finds what another program keeps, and opens it.
struct OriginReader {
    private let run: Run
    private let origin: Origin
    private let folders: OriginFolders
    private let unsealing: Unsealing

    init(_ run: Run, _ origin: Origin) {
        self.run = run
        self.origin = origin
        folders = OriginFolders(variable: run.environment.variable)
        unsealing = Unsealing(run)
    }

    /// What cannot be opened goes into the report.
    func load(_ report: inout ImportReport) throws(ClientError) -> [any Cargo] {
        switch origin {
        case .keyring: try keyrings(&report)
        case .kwallet: try wallets(&report)
        case .pass: try passwords()
        }
    }

    private func files(_ folder: String?, _ ending: String) throws(ClientError) -> [String] {
        guard let folder else { throw .refused(nothing("~")) }
        let names = ((try? TextFile.names(in: folder)) ?? []).filter { $0.hasSuffix(ending) }
        guard !names.isEmpty else { throw .refused(nothing(folder)) }
        return names.map { String($0.dropLast(ending.utf8.count)) }
    }

    private func nothing(_ folder: String) -> Refused {
        Refused(.doesNotExist, run.words(.comingNothing, Printable.escaped(Array(folder.utf8))))
    }

    private func read(_ path: String, into file: inout SecretBuffer) throws(PosixError) {
        // A pipe of that name would never end.
        guard ToolIO.kind(of: Array(path.utf8)) == .regular else {
            throw PosixError.noRegularFile("open")
        }
        let source = try SourceFile(path: Array(path.utf8))
        try source.read(into: &file, upTo: KeyringFile.limit + 1)
    }

    private func leave(_ report: inout ImportReport, _ name: [UInt8], _ why: [UInt8]) {
        report.left.append(.init(from: name, why: why))
    }

    // MARK: gnome-keyring

    private func keyrings(_ report: inout ImportReport) throws(ClientError) -> [any Cargo] {
        var names = try files(folders.keyrings, ".keyring")
        // It may hold the passwords of the others.
        if let login = names.firstIndex(of: "login") {
            names.swapAt(login, 0)
        }
        var load: [any Cargo] = []
        for name in names {
            let shown = Array(name.utf8)
            var file = SecretBuffer()
            do throws(PosixError) {
                try read("\(folders.keyrings ?? "")/\(name).keyring", into: &file)
            } catch {
                leave(&report, shown, ToolIO.reason(error))
                continue
            }
            let result = try unsealing.store(shown, guess: password(of: name, load)) {
                password throws(ForeignProblem) in
                try KeyringFile.open(file, password: password)
            }
            switch consume result {
            case .shut(let why): leave(&report, shown, run.words(why))
            case .opened(let store):
                let label = Self.isLabel(store.label) ? store.label : shown
                load.append(
                    OpenedCargo(label, name == "login" ? .login : .labelled(label), store))
            }
        }
        return load
    }

    private static func isLabel(_ text: [UInt8]) -> Bool {
        !text.isEmpty && text.count <= Limits.collectionText && Printable.isUTF8(text)
    }

    /// gnome-keyring may have noted it in the login keyring, when the person wanted it so.
    private func password(of keyring: String, _ load: [any Cargo]) -> SecretBuffer {
        var secret = SecretBuffer()
        let wanted = Array("LOCAL:/keyrings/\(keyring).keyring".utf8)
        guard let login = load.first, login.landing == .login,
            let item = login.items.first(where: { $0.attributes.values.contains(wanted) })
        else { return secret }
        _ = login.secret(of: item, into: &secret)
        return secret
    }

    // MARK: KWallet

    private func wallets(_ report: inout ImportReport) throws(ClientError) -> [any Cargo] {
        let names = try files(folders.wallets, ".kwl")
        let usual = usualWallet()
        var load: [any Cargo] = []
        for name in names {
            let path = "\(folders.wallets ?? "")/\(name)"
            let decoded = Self.decoded(Array(name.utf8))
            let shown = Self.isLabel(decoded) ? decoded : Array(name.utf8)
            var file = SecretBuffer()
            do throws(PosixError) {
                try read(path + ".kwl", into: &file)
            } catch {
                leave(&report, shown, ToolIO.reason(error))
                continue
            }
            let salt = try? TextFile.read(at: path + ".salt", limit: WalletFile.saltSize)
            let noted = try? TextFile.read(
                at: path + "_attributes.json", limit: WalletNotes.limit)
            let notes = noted.flatMap { WalletNotes($0) } ?? .none
            let result = try unsealing.store(shown, guess: SecretBuffer()) {
                password throws(ForeignProblem) in
                try WalletFile.open(file, salt: salt, password: password, notes: notes)
            }
            switch consume result {
            case .shut(let why): leave(&report, shown, run.words(why))
            case .opened(let store):
                // As KDE's own migration does it.
                load.append(
                    OpenedCargo(shown, shown == usual ? .login : .labelled(shown), store))
            }
        }
        return load
    }

    private func usualWallet() -> [UInt8] {
        let settings = folders.walletSettings.flatMap { try? TextFile.read(at: $0, limit: 65_536) }
        let key = Array("Default Wallet=".utf8)
        let line = (settings ?? []).split(separator: 0x0A).first { $0.starts(with: key) }
        return line.map { Array($0.dropFirst(key.count)) } ?? Array("kdewallet".utf8)
    }

    /// KWallet writes bytes that a file's name cannot have as two digits behind a semicolon.
    static func decoded(_ name: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = name[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: ";"), digits.utf8.count == 2,
                let code = UInt8(digits, radix: 16)
            {
                result.append(code)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    // MARK: pass

    private static let deepest = 32

    private func passwords() throws(ClientError) -> [any Cargo] {
        guard let folder = folders.passwords else { throw .refused(nothing("~")) }
        var names: [[UInt8]] = []
        collect(folder, below: "", depth: 0, &names)
        guard !names.isEmpty else { throw .refused(nothing(folder)) }
        guard let program = ToolIO.program("gpg") else {
            throw .refused(
                Refused(
                    .doesNotExist, run.words(.comingNoGnuPG), hint: run.words(.comingNoGnuPGHint)))
        }
        return [
            PasswordCargo(
                names.map { PasswordFile.item($0) }, folder: Array(folder.utf8), program: program)
        ]
    }

    /// Links are left out: they would lead to the same entry twice, or anywhere.
    private func collect(
        _ folder: String, below: String, depth: Int, _ names: inout [[UInt8]]
    ) {
        guard depth < Self.deepest else { return }
        for name in (try? TextFile.names(in: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            let entry = below.isEmpty ? name : "\(below)/\(name)"
            switch ToolIO.kind(ofLinkOr: Array(path.utf8)) {
            case .folder: collect(path, below: entry, depth: depth + 1, &names)
            case .regular:
                if let name = PasswordFile.name(Array(entry.utf8)) { names.append(name) }
            case .other, .missing: break
            }
        }
    }
}
