// `get` through the library against the same frames written and read by hand, in turn.
import AppVault
import Glibc

let words = CommandLine.arguments
guard words.count == 6, let records = Int(words[2]), let rounds = Int(words[3]),
    let batch = Int(words[4])
else {
    print("library SOCKET RECORDS ROUNDS BATCH WHAT")
    exit(2)
}

func nowMicroseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) / 1e3
}

/// The protocol by hand: blocking calls, and as few of them as can be.
struct Raw {
    let socket: Int32
    var tag: UInt32 = 0
    var room = [UInt8](repeating: 0, count: 4096)

    init(_ path: String) {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(connected == 0)
        // Version 1, a program, nothing said of itself.
        exchange(0x02, [1, 0, 5, 0, 0] + Array(repeating: 0, count: 14), 0x03)
    }

    mutating func get(_ name: String) {
        exchange(0x40, [0, 0, UInt8(name.utf8.count), 0] + Array(name.utf8), 0x41)
    }

    private mutating func exchange(_ type: UInt8, _ body: [UInt8], _ wanted: UInt8) {
        tag += 1
        var frame: [UInt8] = [UInt8(body.count), 0, 0, 0, type, 0]
        for shift in 0..<4 { frame.append(UInt8(truncatingIfNeeded: tag >> (8 * UInt32(shift)))) }
        frame += body
        precondition(write(socket, frame, frame.count) == frame.count)
        var got = 0
        var whole = 10
        while got < whole {
            let count = read(socket, &room[got], room.count - got)
            precondition(count > 0)
            got += count
            if got >= 10 { whole = 10 + Int(room[0]) + Int(room[1]) << 8 }
        }
        precondition(room[4] == wanted)
    }
}

func measured(
    isolation: isolated (any Actor)? = #isolation, _ rounds: Int, _ store: Store
) async throws {
    let names = (0..<records).map { "\($0)" }
    let typed = names.map { RecordName($0) }
    for name in typed { try await store.set(Array(repeating: 7, count: 64), for: name) }
    var raw = Raw(words[1])
    var series: [[Double]] = [[], [], []]
    for round in 0...rounds {
        var took: [Double] = []
        var began = nowMicroseconds()
        for index in 0..<batch { _ = try await store.get(typed[index % records]) }
        took.append(nowMicroseconds() - began)
        for _ in 0..<2 {
            began = nowMicroseconds()
            for index in 0..<batch { raw.get(names[index % records]) }
            took.append(nowMicroseconds() - began)
        }
        // The first round warms up.
        if round > 0 { for index in 0..<3 { series[index].append(took[index] / Double(batch)) } }
    }
    print("{\"ours\": \(series[0]), \"against\": \(series[1]), \"control\": \(series[2])}")
}

/// Does nothing until it is ended.
func idle() async {
    print("{}")
    fflush(nil)
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
}

// Tasks, and nothing of the library: what the runtime itself does in a program that is idle.
if words[5] == "bare" {
    await Task.detached {}.value
    await idle()
}
var configuration = Vault.Configuration()
configuration.socket = words[1]
let vault = try await Vault.connect(configuration)
let store = try await vault.openStore(orCreate: .noPasscode)
switch words[5] {
case "idle":
    _ = try await store.get("0")
    await idle()
// From the main actor, as a program with a window would.
case "main": try await measured(rounds, store)
default: try await Task.detached { try await measured(rounds, store) }.value
}
