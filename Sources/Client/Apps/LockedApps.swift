import DesktopEntries
import Posix

/// The applications that the person has locked.
struct LockedApps {
    enum Failure: Error {
        case noHome
        case missing
        case departs(Departure)
        case override(Override.Failure)
    }

    /// What is known of an application while it does not run.
    enum Standing: Equatable {
        /// It asks before it starts.
        case locked
        /// Its entry starts it without AppVault: somebody has changed the entry.
        case changed
        /// Its entry starts an AppVault that is not there any more, so the application cannot start.
        case toolMissing
    }

    struct App {
        var id: ApplicationID
        var name: [UInt8]
        var lock: AppLock
        var standing: Standing
    }

    /// One that the menu shows, and that asks nothing before it starts.
    struct Candidate: Equatable {
        var id: ApplicationID
        var name: [UInt8]
    }

    /// Which program asks before an application starts.
    enum Asker {
        case thisProgram
        /// The command line's, in the folder of the one that runs.
        case beside(String)
    }

    /// What an application starts by, beside its entry in the menu.
    enum Service { case none, some }

    private let folders: [EntryFolders]

    init(_ environment: Environment) throws(Failure) {
        folders = EntryKind.allCases.compactMap { EntryFolders($0, environment.variable) }
        guard folders.count == EntryKind.allCases.count else { throw .noHome }
    }

    /// Locks an application. Nothing is written before all of it is known to be right.
    func add(_ id: ApplicationID, _ lock: AppLock, by asker: Asker) throws(Failure) -> Service {
        let words = lock.words(try Self.path(of: asker), id)
        var found: [EntryKind: Override] = [:]
        for folders in folders { found[folders.kind] = try override(id, folders) }
        guard let entry = found[.menu] else { throw .missing }
        if let departure = entry.source.departure(with: found[.service]?.source) {
            throw .departs(departure)
        }
        var files: [(Override, [UInt8])] = []
        for kind in EntryKind.allCases {
            guard let override = found[kind] else { continue }
            do throws(EntryProblem) {
                files.append((override, try override.source.led(through: words)))
            } catch {
                throw .override(.problem(error))
            }
        }
        for (override, bytes) in files {
            do throws(Override.Failure) {
                try override.write(bytes)
            } catch {
                throw .override(error)
            }
        }
        return found[.service] == nil ? .none : .some
    }

    /// One that holds whatever folder the application is started in.
    private static func path(of asker: Asker) throws(Failure) -> [UInt8] {
        func real(_ path: String) throws(Failure) -> String {
            do throws(PosixError) {
                return try Folder.realPath(path)
            } catch {
                throw .override(.cannotRead(path, error))
            }
        }
        let own = try real("/proc/self/exe")
        switch asker {
        case .thisProgram: return Array(own.utf8)
        case .beside(let name):
            let folder = own[..<(own.lastIndex(of: "/") ?? own.endIndex)]
            return Array(try real("\(folder)/\(name)").utf8)
        }
    }

    private func override(
        _ id: ApplicationID, _ folders: EntryFolders
    ) throws(Failure) -> Override? {
        do throws(Override.Failure) {
            return try Override(id, folders)
        } catch {
            // What is hidden does not start with the session.
            if case .problem(.hidden) = error, folders.kind == .autostart { return nil }
            throw .override(error)
        }
    }

    /// Undoes `add`, also one that was never finished. Returns false if there was nothing to undo.
    func remove(_ id: ApplicationID) throws(Failure) -> Bool {
        var wasThere = false
        for folders in folders {
            do throws(Override.Failure) {
                if try Override.remove(id, folders) { wasThere = true }
            } catch {
                throw .override(error)
            }
        }
        return wasThere
    }

    /// What is locked, sorted by id. A file that cannot be read is none of ours.
    func list() -> [App] {
        var apps: [App] = []
        for folders in folders where folders.kind == .menu {
            for (id, place) in folders.ownFiles() {
                guard let bytes = try? Override.read(place.path),
                    LaunchFile.isOurs(bytes, folders.kind.form)
                else { continue }
                apps.append(app(id, bytes))
            }
        }
        return apps.sorted { $0.id.name < $1.id.name }
    }

    /// What the menu shows and is not locked yet, by its name. What by its own entry cannot be locked
    /// is left out.
    func candidates() -> [Candidate] {
        var known: Set<String> = []
        var found: [Candidate] = []
        for folders in folders where folders.kind == .menu {
            for (id, place) in folders.allFiles() where known.insert(id.name).inserted {
                guard AppName.isID(id.name), let bytes = try? Override.read(place.path),
                    let file = try? LaunchFile(bytes, .entry), file.isInMenu,
                    !LaunchFile.isOurs(bytes, .entry), file.departure(with: nil) == nil
                else { continue }
                found.append(
                    Candidate(id: id, name: file.name.isEmpty ? Array(id.name.utf8) : file.name))
            }
        }
        return found.sorted { one, other in
            func key(_ each: Candidate) -> (String, String) {
                (String(decoding: each.name, as: UTF8.self).lowercased(), each.id.name)
            }
            return key(one) < key(other)
        }
    }

    private func app(_ id: ApplicationID, _ bytes: [UInt8]) -> App {
        var app = App(id: id, name: [], lock: AppLock(), standing: .changed)
        guard let file = try? LaunchFile(bytes, .entry) else { return app }
        app.name = file.name
        var tool: [UInt8] = []
        guard let lock = AppLock(of: file.command, id, tool: &tool) else { return app }
        app.lock = lock
        app.standing = ToolIO.kind(of: tool) == .regular ? .locked : .toolMissing
        return app
    }
}
