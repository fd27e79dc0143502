/// common-* as pam-auth-update writes them. ClientTests has a link to this file, because doctor
/// looks at the same files.
enum CommonFiles {
    /// common-TYPE and what pam-auth-update saves about it.
    static func managed(_ additional: [String], _ type: String = "auth") -> (
        text: String, saved: String
    ) {
        let kind = type.replacing("-noninteractive", with: "")
        let text =
            "# /etc/pam.d/common-\(type)\n\n"
            + "# here are the per-package modules (the \"Primary\" block)\n"
            + "\(kind)\t[success=1 default=ignore]\tpam_unix.so nullok\n"
            + "# here's the fallback if no module succeeds\n"
            + "\(kind)\trequisite\tpam_deny.so\n# prime the stack\n"
            + "\(kind)\trequired\tpam_permit.so\n"
            + "# and here are more per-package modules (the \"Additional\" block)\n"
            + additional.map { "\(kind)\t\($0) \n" }.joined()
            + "# end of pam-auth-update config\n"
        let saved =
            "Module: unix\n[success=end default=ignore]\tpam_unix.so nullok\n"
            + additional.map { "Module: x\n\($0)\n" }.joined()
        return (text, saved)
    }
}
