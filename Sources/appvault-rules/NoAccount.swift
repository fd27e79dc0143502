internal import CPwquality

/// cracklib asks libc for the account that it runs as, and refuses every word if there is none. The
/// throw-away user of this process is in no file, and the process cannot reach a directory service.
/// Public, so that the libraries find this function before libc's.
@_cdecl("getpwuid_r")
public func noAccount(
    _ uid: UInt32, _ entry: UnsafeMutableRawPointer?, _ room: UnsafeMutablePointer<CChar>?,
    _ size: Int, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
    let name: [CChar] = Array("appvault-rules".utf8CString)
    // SAFETY: the pointers are only compared with null.
    guard let entry = unsafe entry, let room = unsafe room, let result = unsafe result else {
        return EINVAL
    }
    guard size >= name.count else { return ERANGE }
    // SAFETY: libc's contract: `size` bytes of room, one entry, one result; the size was checked.
    for (index, char) in name.enumerated() { unsafe room[index] = char }
    let empty = unsafe room + (name.count - 1)
    let account = unsafe passwd(
        pw_name: room, pw_passwd: empty, pw_uid: uid, pw_gid: uid, pw_gecos: empty, pw_dir: empty,
        pw_shell: empty)
    unsafe entry.storeBytes(of: account, as: passwd.self)
    unsafe result.pointee = entry
    return 0
}
