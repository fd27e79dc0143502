import Testing

@testable import PamStacks

struct PamAuthUpdateTests {
    private func standing(_ change: (inout [String: String]) -> Void) -> PamAuthUpdate.Standing {
        var files = ["/usr/sbin/pam-auth-update": ""]
        for type in PamAuthUpdate.types {
            let lines = type == "auth" ? ["optional pam_appvault.so unlock"] : []
            let managed = CommonFiles.managed(lines, type)
            files["/etc/pam.d/common-\(type)"] = managed.text
            files["/var/lib/pam/\(type)"] = managed.saved
        }
        change(&files)
        let present = files
        return PamAuthUpdate.standing(
            PamSource(
                contents: { path in present[path].map { .found(Array($0.utf8)) } ?? .missing },
                presence: { path in present[path] == nil ? .missing : .there }, names: { _ in [] }))
    }

    @Test("files that it wrote it writes again, other options and a line taken out included")
    func writes() {
        #expect(standing { _ in } == .writes)
        #expect(
            standing {
                $0["/etc/pam.d/common-auth"]!.replace("nullok", with: "nullok try_first_pass")
            } == .writes)
        #expect(
            standing {
                $0["/etc/pam.d/common-auth"]!.replace(
                    "auth\toptional pam_appvault.so unlock \n", with: "")
            } == .writes)
        #expect(standing { $0["/usr/sbin/pam-auth-update"] = nil } == .absent)
    }

    @Test(
        "a line of one's own in its blocks, another control, a mark gone: edited by hand"
    )
    func edited() {
        let path = "/etc/pam.d/common-auth"
        for (old, new) in [
            ("# here's the fallback", "auth optional pam_mine.so\n# here's the fallback"),
            ("[success=1 default=ignore]", "sufficient"),
            ("# here are the per-package modules", "# here were the modules"),
            ("# end of pam-auth", "auth optional pam_mine.so\n# end of pam-auth"),
        ] {
            #expect(
                standing { $0[path]!.replace(old, with: new) } == .handEdited(path), "\(old)")
        }
        #expect(
            standing { $0["/var/lib/pam/session"] = nil }
                == .handEdited("/etc/pam.d/common-session"))
        #expect(
            standing { $0["/etc/pam.d/common-account"] = nil }
                == .handEdited("/etc/pam.d/common-account"))
    }
}

extension String {
    fileprivate mutating func replace(_ old: String, with new: String) {
        self = replacing(old, with: new)
    }
}
