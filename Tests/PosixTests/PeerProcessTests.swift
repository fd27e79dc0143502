import Testing

@testable import Posix

@Suite struct PeerProcessTests {
    private let me = PeerCredentials(pid: ThisProcess.pid, uid: ThisProcess.uid, gid: 0)

    @Test("where the kernel holds no reference to it, a process is known again by when it began")
    func beginning() {
        // No socket: as on kernels before 6.5, which cannot be asked.
        let process = PeerProcess(of: me, socket: -1)
        #expect(!process.isHeld)
        #expect(process.during { $0 } == me.pid)
        #expect(process.during { _ in nil as Int? } == nil)
    }

    @Test("one that is not there is looked at by nobody")
    func missing() {
        for pid in [0, -1, Int32.max] as [Int32] {
            let none = PeerProcess(of: PeerCredentials(pid: pid, uid: 0, gid: 0), socket: -1)
            var looked = false
            let found = none.during { _ in
                looked = true
                return 1
            }
            #expect(found == nil && !looked)
        }
    }

    @Test("who started this process, and when, is what /proc says")
    func facts() throws {
        #expect(ProcessFacts.realUID(of: me.pid) == me.uid)
        let began = try #require(ProcessFacts.beginning(of: me.pid))
        let first = try #require(ProcessFacts.beginning(of: 1))
        #expect(first <= began)
        #expect(ProcessFacts.realUID(of: 0) == nil && ProcessFacts.beginning(of: 0) == nil)
    }
}
