import Posix

/// The catalogues of this machine: DIR/LL/LC_MESSAGES/appvault.mo, read once at the start.
package enum CatalogueFolder {
    /// Where packages put them.
    package static let usual = "/usr/share/locale"

    package struct Found {
        package var good: [String: Catalogue] = [:]
        /// One line for each problem, for the journal.
        package var problems: [String] = []
    }

    /// Enough for every language that a machine's people speak.
    private static let most = 64

    package static func read(_ folder: String) -> Found {
        var found = Found()
        let names: [String]
        do throws(PosixError) {
            names = try TextFile.names(in: folder)
        } catch {
            found.problems.append("no catalogues: \(error.description)")
            return found
        }
        for name in names where isLanguage(name) && found.good.count < most {
            let path = "\(folder)/\(name)/LC_MESSAGES/appvault.mo"
            let bytes: [UInt8]
            do throws(PosixError) {
                bytes = try TextFile.read(at: path, limit: Catalogue.limit)
            } catch {
                if !error.isMissing { found.problems.append("a catalogue: \(error.description)") }
                continue
            }
            do throws(Catalogue.Problem) {
                found.good[name] = try Catalogue(decoding: bytes)
            } catch {
                found.problems.append("a catalogue is not used: \(path): \(error)")
            }
        }
        return found
    }

    /// `de`, `pt_BR`, `sr@latin`.
    private static func isLanguage(_ name: String) -> Bool {
        let bytes = name.utf8
        return (2...24).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"):
                    true
                default: false
                }
            }
    }
}
