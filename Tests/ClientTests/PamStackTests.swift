import Posix
import Testing

@testable import Client

/// One stack of Tests/Vectors/pam-stacks.txt, and what libpam returned for it.
struct StackVector: Sendable, CustomTestStringConvertible {
    var files: [String: String] = ["other": "auth required pam_deny.so"]
    var result = ""
    var testDescription: String { files["main"] ?? "" }

    static func all() throws -> [StackVector] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try TextFile.read(at: "/\(root)/Tests/Vectors/pam-stacks.txt", limit: 1 << 20)
        var vectors: [StackVector] = []
        var vector = StackVector()
        var name = ""
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("== ") {
                name = String(line.dropFirst(3))
                vector.files[name] = ""
            } else if line.hasPrefix("=> ") {
                vector.result = String(line.dropFirst(3))
                vectors.append(vector)
                vector = StackVector()
                name = ""
            } else if !name.isEmpty {
                vector.files[name, default: ""] += line + "\n"
            }
        }
        return vectors
    }
}

struct PamStackTests {
    @Test("a stack comes to what libpam returns for it", arguments: try StackVector.all())
    func asLibpam(vector: StackVector) throws {
        let folder = PamConfiguration { name in
            vector.files[name].map { .init(path: name, text: Array($0.utf8)) }
        }
        let result = folder.stack("main", .auth)?.result { line in
            switch line.name {
            case "pam_debug.so":
                PamResult(rawValue: String(line.arguments[0].dropFirst("auth=".count))) ?? .abort
            case "pam_deny.so": .authError
            case "pam_permit.so": .success
            default: .moduleUnknown
            }
        }
        #expect((result?.rawValue ?? "start") == vector.result)
    }

    @Test("there are enough of them, of every kind")
    func enough() throws {
        let results = Set(try StackVector.all().map(\.result))
        #expect(results.isSuperset(of: ["success", "auth_err", "perm_denied", "start", "ignore"]))
    }
}
