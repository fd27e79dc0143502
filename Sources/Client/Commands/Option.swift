import Wire

/// Every option there is. A name means the same wherever it is allowed.
package enum Option: CaseIterable, Sendable {
    case json, store, socket, user, yes, passcodeDescriptor, pamFolder, scanner, help, version
    case followLogin, ownPasscode, noPasscode, openExisting
    case off, on, replace, detach
    case require, onLock, app, variable, file
    case follow, id, policy, to, all
    case shared, readOnly, owner, everybody, records, secrets, dryRun, secretService, collection
    case join, before, bundle, days, demo, camera

    package enum Reach: Equatable, Sendable {
        case everywhere
        /// Only where the verb's entry names it.
        case named
        /// Works everywhere and is not shown: for tests and for private set-ups.
        case hidden
    }

    package struct Entry: Sendable {
        package var flag: String
        package var short: String?
        package var argument: String?
        /// It may be left out; where it is given, it stands behind an equals sign.
        package var argumentIsOptional = false
        package var summary: String
        package var reach: Reach

        package var usage: String {
            guard let argument else { return flag }
            return argumentIsOptional ? "\(flag)[=\(argument)]" : "\(flag) \(argument)"
        }
    }

    package var entry: Entry {
        switch self {
        case .json:
            Entry(flag: "--json", summary: "one JSON object on standard output", reach: .everywhere)
        case .store:
            Entry(
                flag: "--store", argument: "NAME", summary: "this store instead of default",
                reach: .everywhere)
        case .socket:
            Entry(
                flag: "--socket", argument: "PATH", summary: "the daemon's socket",
                reach: .everywhere)
        case .user:
            Entry(
                flag: "--user", argument: "NAME", summary: "for this person (root)", reach: .named)
        case .yes:
            Entry(flag: "--yes", summary: "do not ask before something is lost", reach: .everywhere)
        case .passcodeDescriptor:
            Entry(
                flag: "--passcode-fd", argument: "N",
                summary: "read passcodes from descriptor N, a line each",
                reach: .everywhere)
        case .pamFolder:
            Entry(flag: "--pam-dir", argument: "PATH", summary: "PAM's folder", reach: .hidden)
        case .scanner:
            Entry(
                flag: "--scanner", argument: "PATH", summary: "what reads pictures", reach: .hidden)
        case .help: Entry(flag: "--help", short: "-h", summary: "show help", reach: .everywhere)
        case .version: Entry(flag: "--version", summary: "show the version", reach: .everywhere)
        case .followLogin:
            Entry(
                flag: "--follow-login", summary: "the passcode is the login password", reach: .named
            )
        case .ownPasscode:
            Entry(flag: "--own-passcode", summary: "a passcode of its own", reach: .named)
        case .noPasscode:
            Entry(flag: "--no-passcode", summary: "opens without being asked", reach: .named)
        case .openExisting:
            Entry(
                flag: "--open-existing", summary: "a store that exists is opened instead",
                reach: .named)
        case .collection:
            Entry(
                flag: "--collection",
                summary: "programs of the desktop keep secrets in it, as a collection of its own",
                reach: .named)
        case .off: Entry(flag: "--off", summary: "turn the passcode off", reach: .named)
        case .on: Entry(flag: "--on", summary: "turn the passcode on", reach: .named)
        case .detach:
            Entry(
                flag: "--detach", summary: "return once COMMAND is in the background", reach: .named
            )
        case .require:
            Entry(
                flag: "--require", argument: "passcode|finger|open",
                summary: "what it asks for before it starts; open: nothing, if the store is open",
                reach: .named)
        case .onLock:
            Entry(
                flag: "--on-lock", argument: "freeze|quit|stay",
                summary: "what happens to it when the store locks", reach: .named)
        case .app:
            Entry(
                flag: "--app", argument: "ID", summary: "the application that it is", reach: .named)
        case .variable:
            Entry(
                flag: "--env", argument: "NAME=RECORD",
                summary: "put the record into this variable", reach: .named)
        case .file:
            Entry(
                flag: "--file", argument: "NAME=RECORD",
                summary: "put the record into a file, and its path into this variable",
                reach: .named)
        case .follow:
            Entry(
                flag: "--follow", short: nil, argument: "STORE", argumentIsOptional: true,
                summary: "opens and locks with that store of yours, or with default",
                reach: .named)
        case .id:
            Entry(
                flag: "--id", argument: "UUID", summary: "with this id instead of a new one",
                reach: .named)
        case .policy:
            Entry(
                flag: "--policy", argument: "KEY",
                summary:
                    "under the policy's section [Passcode store:KEY]; none: without a passcode",
                reach: .named)
        case .shared:
            Entry(
                flag: "--shared",
                summary: "to be shared; with --no-passcode: shared configuration, no secret",
                reach: .named)
        case .readOnly: Entry(flag: "--read-only", summary: "they may only read", reach: .named)
        case .owner: Entry(flag: "--owner", summary: "they own it from now on", reach: .named)
        case .everybody:
            Entry(
                flag: "--everybody", summary: "all accounts of this machine (configuration only)",
                reach: .named)
        case .records:
            Entry(flag: "--records", summary: "also each change of values", reach: .named)
        case .secrets:
            Entry(
                flag: "--secrets",
                summary: "the desktop's secrets: what they are for, and no value",
                reach: .named)
        case .dryRun:
            Entry(
                flag: "--dry-run", summary: "say what would happen, and store nothing",
                reach: .named)
        case .secretService:
            Entry(
                flag: "--secret-service",
                summary: "the desktop's secrets, to the keyring that has them now", reach: .named)
        case .join:
            Entry(
                flag: "--join", argument: "FILE",
                summary: "what machines join with: it has the key of targets", reach: .named)
        case .before:
            Entry(
                flag: "--before", argument: "VERSION",
                summary: "stores that were made before this version of the orders", reach: .named)
        case .bundle:
            Entry(
                flag: "--bundle", argument: "FILE",
                summary: "what is published now: older versions are behind", reach: .named)
        case .days:
            Entry(
                flag: "--days", argument: "N",
                summary: "without a report for so long, a machine is absent (7)", reach: .named)
        case .to:
            Entry(flag: "--to", argument: "STORE", summary: "the other store", reach: .named)
        case .demo:
            Entry(
                flag: "--demo", summary: "show it with nothing behind it; nothing is kept",
                reach: .named)
        case .camera:
            Entry(
                flag: "--camera", summary: "look for the code through a camera", reach: .named)
        case .all: Entry(flag: "--all", summary: "all of them", reach: .named)
        case .replace:
            Entry(flag: "--replace", summary: "replace records that exist already", reach: .named)
        }
    }

    var isRepeatable: Bool {
        switch self {
        case .variable, .file, .bundle: true
        case .json, .store, .socket, .user, .yes, .passcodeDescriptor, .pamFolder, .scanner, .help,
            .version,
            .followLogin, .ownPasscode, .noPasscode, .openExisting, .off, .on, .replace, .detach,
            .require, .onLock, .app, .follow, .id, .policy, .to, .all, .shared,
            .readOnly, .owner, .everybody, .records, .secrets, .dryRun, .secretService,
            .collection, .join, .before, .days, .demo, .camera:
            false
        }
    }

    static let ways: KeyValuePairs<Option, Create.Way> = [
        .followLogin: .followLogin, .ownPasscode: .ownPasscode, .noPasscode: .noPasscode,
        .follow: .followStore,
    ]
    static let switches: KeyValuePairs<Option, Passcode.Change> = [
        .off: .turnOff, .on: .turnOn, .followLogin: .followLogin, .ownPasscode: .ownPasscode,
    ]
    static let roles: KeyValuePairs<Option, StoreRole> = [.readOnly: .reader, .owner: .owner]
    /// Of each of these at most one can be given.
    static let exclusive = [ways.map(\.key), switches.map(\.key), roles.map(\.key)]

    static func named(_ flag: String) -> Option? {
        allCases.first { $0.entry.flag == flag || $0.entry.short == flag }
    }
}

extension Option.Entry {
    init(flag: String, summary: String, reach: Option.Reach) {
        self.init(flag: flag, short: nil, argument: nil, summary: summary, reach: reach)
    }

    init(flag: String, short: String, summary: String, reach: Option.Reach) {
        self.init(flag: flag, short: short, argument: nil, summary: summary, reach: reach)
    }

    init(flag: String, argument: String, summary: String, reach: Option.Reach) {
        self.init(flag: flag, short: nil, argument: argument, summary: summary, reach: reach)
    }
}
