import Posix

/// A program that has called an object of a tree of ours, until it leaves the bus.
@LoopActor
public final class BusClient {
    /// Its unique name: no other program ever gets it.
    public nonisolated let name: String
    public internal(set) var uid: UInt32 = .max
    /// 0 where the bus does not say it.
    public internal(set) var pid: UInt32 = 0
    public internal(set) var hasLeft = false
    /// The same for all connections of one process, where the bus tells which it is.
    public var program: String { pid == 0 ? name : String(pid) }
    /// Whether the tree keeps something for it. Then it is not forgotten while it is on the bus.
    public var isKept = false

    var isKnown = false
    var isBusy = false
    var waiting: [BusMessage] = []
    var weight = 0
    /// Calls under way that take long.
    var longCalls = 0

    nonisolated init(name: String) {
        self.name = name
    }

    /// Calls that wait for their turn, and their bytes, of one client and of all. A client that reads
    /// the properties of thousands of objects may ask for all of them at once.
    static let mostCalls = 8_192
    static let mostLongCalls = 64
    static let mostWeight = 8 << 20
    /// What a call that waits takes beside its body.
    static let weightOfCall = 256
    static let mostWeightOfAll = 64 << 20
    /// What each client may have in any case, as long as there is room.
    static let leastWeight = 256 << 10
}
