import Testing

@testable import Posix

@Suite("Watches", .serialized)
struct FileWatchTests {
    @Test("a name is covered by what was asked for, and the folder itself by all of it")
    func interests() {
        // An event of the folder itself has no name.
        for interest in [
            FileWatch.Interest.all, .name("policy.conf"), .suffix(".conf"), .coming("policy.d"),
        ] {
            #expect(interest.covers(""))
        }
        #expect(FileWatch.Interest.all.covers("anything"))
        #expect(FileWatch.Interest.name("policy.conf").covers("policy.conf"))
        #expect(!FileWatch.Interest.name("policy.conf").covers("policy.conf~"))
        #expect(FileWatch.Interest.suffix(".conf").covers("10-more.conf"))
        #expect(!FileWatch.Interest.suffix(".conf").covers("10-more.conf.dpkg-new"))
        #expect(!FileWatch.Interest.coming("policy.d").covers("policy.conf"))
    }

    @Test("groups of an account that there is none of are none, and root's are known")
    func groups() {
        #expect(Groups.of(Array("no such account here".utf8)) == .none)
        switch Groups.of(Array("root".utf8)) {
        case .found(let names): #expect(names.contains(Array("root".utf8)))
        case .none, .unknown: Issue.record("root has no groups")
        }
    }
}
