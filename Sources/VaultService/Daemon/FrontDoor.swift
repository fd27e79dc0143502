import Posix
import Wire
import Words

/// Accepts connections at the two doors, if there is a place for them.
@LoopActor
final class FrontDoor {
    private let desk: Desk
    private let crowd: Crowd
    private let curfew: Curfew
    private let serve: @LoopActor (Connection) async -> Void
    private let slabs = Slabs()
    var whenSomebodyComes: () -> Void = {}
    var whenSomebodyLeaves: () -> Void = {}

    init(
        desk: Desk, crowd: Crowd, curfew: Curfew,
        serve: @escaping @LoopActor (Connection) async -> Void
    ) {
        self.desk = desk
        self.crowd = crowd
        self.curfew = curfew
        self.serve = serve
    }

    /// Where connections come in. Root has a door of its own. At everybody's door, a program that
    /// connects and leaves all the time keeps the line full, and the kernel keeps the order of a
    /// line.
    enum Door {
        case everybodys
        case roots
    }

    private var doors: [Channel] = []

    func listen(on descriptor: consuming FileDescriptor, _ door: Door) throws(PosixError) {
        let channel = try Channel(owning: descriptor)
        doors.append(channel)
        EventLoop.shared.task { await self.acceptAll(channel, door) }
    }

    /// Nobody is let in any more. At a socket of systemd's those who come wait for the next daemon.
    func close() {
        for channel in doors { channel.close() }
        doors = []
    }

    /// Connections accepted in one go; then other work gets its turn.
    private static let accepts = 32
    /// The cost of accepting itself, in nanoseconds: it comes before what can be measured here.
    private static let acceptCost: UInt64 = 4_000
    /// At everybody's door, accepting takes a quarter of a processor at most, and a tenth while a
    /// derivation is waited for. Without this limit a program that connects and leaves all the time
    /// would take a whole one. Logins come in by root's door.
    private var coming = Allowance(
        percent: FrontDoor.comingPercent, most: 2_000_000, at: Clock.monotonicNanoseconds())
    private static let comingPercent: Int64 = 25
    private static let comingPercentBeside: Int64 = 10

    private func acceptAll(_ channel: Channel, _ door: Door) async {
        var accepted = 0
        while true {
            switch channel.accept() {
            case .connection(let number): admit(FileDescriptor(owning: number), door)
            case .again: break
            case .wouldBlock:
                guard await channel.readable(until: nil) == .ready else { return }
            case .failed where channel.isClosed: return
            case .failed:
                // No descriptors are left. Connections that hold some will end in time.
                await EventLoop.sleep(until: Clock.bootMilliseconds() + 50)
            }
            accepted += 1
            guard accepted % Self.accepts == 0 else { continue }
            await Task.yield()
            switch door {
            case .roots: break
            case .everybodys: await waitToAccept()
            }
        }
    }

    private func waitToAccept() async {
        while true {
            coming.percent =
                desk.vault.workers.isDeriving ? Self.comingPercentBeside : Self.comingPercent
            coming.refresh(Clock.monotonicNanoseconds())
            if coming.isLeft { return }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + coming.wait)
        }
    }

    /// Must be cheap where there is no place, because anybody can connect again and again.
    private func admit(_ descriptor: consuming FileDescriptor, _ door: Door) {
        let began = Clock.monotonicNanoseconds()
        defer {
            switch door {
            case .roots: break
            case .everybodys: coming.spend(Clock.monotonicNanoseconds() - began + Self.acceptCost)
            }
        }
        // Know the peer before reading its first byte.
        guard let peer = try? PeerCredentials.of(descriptor.raw), !peer.isNobody else { return }
        switch crowd.place(for: peer.uid) {
        case .none(tells: true): SocketEnd.write(busy(), to: descriptor)
        case .none(tells: false): return
        case .taken(let share, let place):
            guard let channel = try? Channel(accepted: descriptor) else { return }
            let connection = Connection(
                channel: channel, credentials: peer, share: share, place: place,
                turns: crowd.turns, rooms: crowd.rooms, curfew: curfew, slabs: slabs)
            crowd.add(connection)
            whenSomebodyComes()
            EventLoop.shared.task {
                await self.serve(connection)
                self.left(connection)
            }
        }
    }

    /// The answer to a peer that finds no place, as a whole frame.
    private func busy() -> [UInt8] {
        if let made = busyFrame, made.reading == desk.policies.reading { return made.bytes }
        var bytes: [UInt8] = []
        Frame.write(
            desk.speech.voice.refused(.busy), type: AnswerType.refused.rawValue, tag: 0, to: &bytes)
        busyFrame = (desk.policies.reading, bytes)
        return bytes
    }

    private var busyFrame: (reading: Int, bytes: [UInt8])?

    private func left(_ connection: Connection) {
        crowd.remove(connection)
        whenSomebodyLeaves()
        rest()
    }

    private var restedAt: UInt64 = 0

    private static let restEach: UInt64 = 10_000

    /// When no connection and no open store is left, memory goes back to the system, but not after
    /// every single call.
    private func rest() {
        tidyLater()
        let now = Clock.bootMilliseconds()
        guard crowd.isEmpty, !desk.vault.hasOpenStores, now - restedAt > Self.restEach
        else { return }
        restedAt = now
        ThisProcess.giveBackMemory()
    }

    private var isTidyPlanned = false

    /// Somebody may keep derivations going for ever.
    private static let tidyAtLatest: UInt64 = 180_000

    /// Large frames and answers leave holes in the heap: what lies below something that is in use
    /// is not given back by itself.
    private func tidyLater() {
        guard slabs.wereExceeded, !isTidyPlanned else { return }
        isTidyPlanned = true
        slabs.wereExceeded = false
        let workers = desk.vault.workers
        let latest = Clock.bootMilliseconds() + Self.tidyAtLatest
        EventLoop.shared.task {
            repeat {
                await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.restEach)
            } while !workers.cores.isIdle && Clock.bootMilliseconds() < latest
            self.isTidyPlanned = false
            // It gives back what is free in the heaps of all threads, but takes new room for the
            // heap of the thread that calls it, which is to be this one. It takes a few
            // milliseconds, or longer where a derivation holds the memory map.
            ThisProcess.giveBackHeap()
        }
    }
}
