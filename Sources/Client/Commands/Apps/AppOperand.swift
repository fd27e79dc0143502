import DesktopEntries
import Policy
import Posix
import ToolTexts
import Wire

extension Arguments {
    func applicationID() throws(UsageError) -> ApplicationID {
        guard let id = ApplicationID(operands[0]), AppRules.isID(Array(id.name.utf8)) else {
            throw UsageError(
                Text(Printable.escaped(operands[0]), " is not the id of an application"),
                hint: Text("it is the name of a file in /usr/share/applications: firefox-esr"))
        }
        return id
    }

    /// What the option says, which has to be one of the words of the enum.
    func word<Word: RawRepresentable & CaseIterable>(
        _ option: Option, _: Word.Type
    ) throws(UsageError) -> Word? where Word.RawValue == String {
        guard let given = options[option] else { return nil }
        guard let word = Word(rawValue: String(decoding: given, as: UTF8.self)) else {
            throw UsageError(
                Text(option.entry.flag, " ", Printable.escaped(given), " cannot be"),
                hint: Text("one of ", Word.allCases.map(\.rawValue).joined(separator: ", ")))
        }
        return word
    }
}

extension LockedApps.Failure {
    func refusal(_ id: ApplicationID, _ words: OwnWords) -> Refused {
        let name = id.name
        switch self {
        case .noHome:
            return Refused(.doesNotExist, words(.appNoHome), hint: words(.appNoHomeHint))
        case .missing:
            return Refused(.doesNotExist, words(.appMissing, name), hint: words(.appMissingHint))
        case .departs(let departure):
            let reason =
                switch departure {
                case .flatpak: words(.appFlatpak, name)
                case .snap: words(.appSnap, name)
                case .server(let server):
                    words(.appServer, name, Printable.escaped(server))
                }
            let hint =
                switch departure {
                case .flatpak, .snap: words(.appPackageHint)
                case .server: words(.appServerHint)
                }
            return Refused(.invalidAction, reason, hint: hint)
        case .override(let failure): return failure.refusal(name, words)
        }
    }
}

extension Override.Failure {
    fileprivate func refusal(_ name: String, _ words: OwnWords) -> Refused {
        switch self {
        case .problem(let problem):
            let reason =
                switch problem {
                case .tooLarge: words(.appTooLarge, name)
                case .notAnApplication: words(.appNotOne, name)
                case .hidden: words(.appHidden, name)
                case .noCommand: words(.appNoCommand, name)
                case .badCommand: words(.appBadCommand, name)
                }
            return Refused(.dataType, reason, hint: words(.appEntryHint))
        case .inTheWay(let path):
            return Refused(.alreadyExists, words(.appInTheWay, path), hint: words(.appInTheWayHint))
        case .cannotRead(let path, let error):
            return Refused(.storageFailed, words(.cannotRead, path, ToolIO.reason(error)))
        case .cannotWrite(let path, let error):
            return Refused(
                .storageFailed, words(.exportCannotWrite, path, ToolIO.reason(error)))
        }
    }
}
