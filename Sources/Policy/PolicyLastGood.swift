/// The file of the last good policy. It contains the files that the policy was read from, word by
/// word, so that after a restart the daemon still knows what holds for whom, and where it was
/// written.
extension PolicyBook {
    private static let head = "appvault policy 2"
    private static let mostFiles = 10_000

    /// The most bytes that the file of the last good policy can have.
    public static let mostLastGoodBytes = mostBytes + mostFiles * 64

    private enum Kind: String {
        case standard
        case organisation
        case finalOrganisation = "final"
        case administrators
        case dropIn = "drop-in"
    }

    public func render() -> [UInt8] {
        let parts: [(Kind, PolicyFile)] =
            [
                (.standard, files.standard),
                (
                    files.organisation?.isFinal == true ? .finalOrganisation : .organisation,
                    files.organisation?.file
                ),
                (.administrators, files.administrators),
            ]
            .compactMap { kind, file in file.map { (kind, $0) } }
            + files.dropIns.map { (.dropIn, $0) }
        return PartedFile.render(
            head: Self.head,
            parts.map { kind, file in
                .init(kind: kind.rawValue, name: Array(file.name.utf8), text: file.text)
            })
    }

    /// Reads what `render` wrote. A file of another release is refused, and so is an incomplete
    /// one.
    public init(lastGood file: PolicyFile) throws(PolicyProblem) {
        let parts: [PartedFile.Part]
        do throws(PartedFile.Fault) {
            parts = try PartedFile.read(file.text, head: Self.head)
        } catch {
            throw switch error {
            case .head: Self.notWhole(file, 1, "the file is not of this release")
            case .notWhole(let line): Self.notWhole(file, line, "the file is not whole")
            }
        }
        var files = PolicyFiles()
        for part in parts {
            let read = PolicyFile(
                name: String(decoding: part.name, as: UTF8.self), text: part.text)
            switch Kind(rawValue: part.kind) {
            case .standard: files.standard = read
            case .organisation: files.organisation = OrganisationFile(file: read, isFinal: false)
            case .finalOrganisation:
                files.organisation = OrganisationFile(file: read, isFinal: true)
            case .administrators: files.administrators = read
            case .dropIn: files.dropIns.append(read)
            case nil: throw Self.notWhole(file, 1, "the file is not whole")
            }
        }
        try self.init(files)
    }

    private static func notWhole(
        _ file: PolicyFile, _ line: Int, _ wrong: String
    ) -> PolicyProblem {
        PolicyProblem(
            file: file.name, line: line, key: "", wrong: wrong, right: "the file as it was written")
    }
}
