import DesktopEntries
import Posix

/// Our file in the person's own folder, which the desktop reads instead of the system's.
///
/// If the person has a file of that name already, it keeps existing under a second name beside ours
/// and gets its own name back in the end: the same file, whatever it is. Both steps are one call of
/// the kernel each, so whenever we die, the person's file has at least one of the two names.
struct Override {
    enum Failure: Error {
        case problem(EntryProblem)
        /// A file that we did not write, and one of the person's that we have kept before.
        case inTheWay(String)
        case cannotRead(String, PosixError)
        case cannotWrite(String, PosixError)
    }

    /// What stands in the person's folder.
    enum Present: Equatable {
        case nothing
        case ours
        case persons
    }

    let place: EntryFolders.Place
    let form: LaunchFile.Form
    let present: Present
    /// What the file is made from: the person's own file or, if there is none, the system's.
    let source: LaunchFile

    /// Nil if neither the person nor the system has such a file.
    init?(_ id: ApplicationID, _ folders: EntryFolders) throws(Failure) {
        place = folders.ownPlace(of: id)
        form = folders.kind.form
        present = try Self.present(place, form)
        let from: String
        switch present {
        case .persons: from = place.path
        case .ours, .nothing:
            if ToolIO.kind(of: Array(place.keptPlace.path.utf8)) == .regular {
                from = place.keptPlace.path
            } else if let system = folders.systemPlace(of: id) {
                from = system.path
            } else {
                return nil
            }
        }
        let bytes = try Self.read(from)
        do throws(EntryProblem) {
            source = try LaunchFile(bytes, form)
        } catch {
            throw .problem(error)
        }
    }

    private static func present(
        _ place: EntryFolders.Place, _ form: LaunchFile.Form
    ) throws(Failure) -> Present {
        guard (try? FileFacts(of: place.path, following: false)) != nil else { return .nothing }
        return LaunchFile.isOurs(try read(place.path), form) ? .ours : .persons
    }

    static func read(_ path: String) throws(Failure) -> [UInt8] {
        do throws(PosixError) {
            return try TextFile.read(at: path, limit: KeyFile.limit)
        } catch {
            if error.isTooLarge { throw .problem(.tooLarge) }
            throw .cannotRead(path, error)
        }
    }

    /// Puts our file in place.
    func write(_ bytes: [UInt8]) throws(Failure) {
        try Self.changing(place) { () throws(PosixError) in try ToolIO.makeFolders(place.folder) }
        switch present {
        case .nothing, .ours: break
        case .persons: try keepPersons()
        }
        try Self.changing(place) { () throws(PosixError) in
            let file = try ReplacementFile(path: Array(place.path.utf8))
            try file.write(bytes.span)
            try file.commit(present == .nothing ? .keep : .replace)
        }
    }

    private func keepPersons() throws(Failure) {
        switch try Self.changing(place, place.kept) {
        case .same: return
        case .another: throw .inTheWay(place.keptPlace.path)
        case .no:
            try Self.changing(place) { () throws(PosixError) in
                let folder = try Folder(resolving: place.folder)
                try folder.link(place.name, to: place.keptPlace.name)
                try folder.sync()
            }
        }
    }

    private static func changing<Result>(
        _ place: EntryFolders.Place, _ body: () throws(PosixError) -> Result
    ) throws(Failure) -> Result {
        do throws(PosixError) {
            return try body()
        } catch {
            throw .cannotWrite(place.path, error)
        }
    }

    /// Takes our file away and gives the person's own one its name back. Returns false if there was
    /// nothing of ours.
    static func remove(_ id: ApplicationID, _ folders: EntryFolders) throws(Failure) -> Bool {
        let place = folders.ownPlace(of: id)
        let present = try present(place, folders.kind.form)
        return try changing(place) { () throws(PosixError) in
            let kept = try place.kept()
            if (present, kept) == (.persons, .another) { return false }
            if kept == .no, present != .ours { return false }
            let folder = try Folder(resolving: place.folder)
            switch kept {
            case .no: try folder.remove(place.name)
            // We have died before our file was there, so both names are the person's file.
            case .same: try folder.remove(place.keptPlace.name)
            case .another: try folder.rename(place.keptPlace.name, to: place.name)
            }
            try folder.sync()
            return true
        }
    }
}

extension EntryFolders.Place {
    fileprivate enum Kept { case no, same, another }

    /// No desktop reads a name that ends like this.
    fileprivate var keptPlace: EntryFolders.Place {
        EntryFolders.Place(folder: folder, name: name + ".before-appvault")
    }

    /// Whether a file of the person's has the second name, and whether it is the same as that with
    /// the first one.
    fileprivate func kept() throws(PosixError) -> Kept {
        guard let kept = try FileIdentity(of: keptPlace.path) else { return .no }
        return try FileIdentity(of: path) == kept ? .same : .another
    }
}
