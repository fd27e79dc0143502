import Posix
import Testing

@testable import PamStacks

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

    @Test("no file makes it stumble, whatever stands in it", arguments: 0..<40)
    func anyBytes(seed: Int) throws {
        var chance = Chance(state: UInt64(seed) &* 2_654_435_761 &+ 1)
        let pieces = [
            "[", "]", "\\", "\n", "#", "=", " ", "@include ", "auth", "substack ",
            "99999999999999999999", "\u{0}", "\u{FC}",
            "-", "pam_appvault.so unlock", "[success=9 default=die]",
        ]
        for vector in try StackVector.all().shuffled(using: &chance).prefix(20) {
            var files = vector.files.mapValues { Array($0.utf8) }
            for name in files.keys.sorted() {
                for _ in 0..<Int.random(in: 0...6, using: &chance) {
                    let place = Int.random(in: 0...files[name]!.count, using: &chance)
                    if Bool.random(using: &chance) {
                        files[name]!.insert(
                            contentsOf: pieces.randomElement(using: &chance)!.utf8, at: place)
                    } else if place < files[name]!.count {
                        files[name]![place] = UInt8.random(in: 0...255, using: &chance)
                    }
                }
            }
            let configuration = PamConfiguration { name in
                files[name].map { .init(path: name, text: $0) }
            }
            let service = PamService(
                name: "main", configuration: configuration,
                surroundings: .init(passcodeServices: ["main"], unlockServices: ["main"]))
            let judgement = service.judge()
            #expect(judgement?.faults.allSatisfy { !$0.text.isEmpty } != false)
        }
    }
}

/// The same numbers at every run.
private struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
