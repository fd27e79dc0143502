internal import CPam

// The six functions that libpam looks for. Each restores errno before it returns.

@_cdecl("pam_sm_authenticate")
public func authenticate(
    _ pam: OpaquePointer?, _ flags: Int32, _ count: Int32, _ arguments: Arguments?
) -> Int32 {
    // SAFETY: libpam brings its own handle and as many arguments as it counts.
    guard let pam = unsafe pam else { return PAM_SYSTEM_ERR }
    let errno = appvault_pam_errno()
    defer { appvault_pam_set_errno(errno) }
    let call = unsafe Call(Pam(pam), flags, count, arguments)
    switch call.options.role {
    case .authenticator: return call.authenticate()
    case .unlocker:
        call.unlock()
        return PAM_IGNORE
    // This option is for a `password` stack and has no meaning in `auth`.
    case .passwordRules: return PAM_IGNORE
    }
}

@_cdecl("pam_sm_setcred")
public func setCredentials(
    _ pam: OpaquePointer?, _ flags: Int32, _ count: Int32, _ arguments: Arguments?
) -> Int32 {
    // SAFETY: libpam brings its own handle and as many arguments as it counts.
    guard let pam = unsafe pam else { return PAM_IGNORE }
    let errno = appvault_pam_errno()
    defer { appvault_pam_set_errno(errno) }
    return unsafe Call(Pam(pam), flags, count, arguments).setCredentials(flags)
}

@_cdecl("pam_sm_acct_mgmt")
public func account(
    _ pam: OpaquePointer?, _ flags: Int32, _ count: Int32, _ arguments: Arguments?
) -> Int32 {
    PAM_IGNORE
}

@_cdecl("pam_sm_open_session")
public func openSession(
    _ pam: OpaquePointer?, _ flags: Int32, _ count: Int32, _ arguments: Arguments?
) -> Int32 {
    // SAFETY: libpam brings its own handle and as many arguments as it counts.
    guard let pam = unsafe pam else { return PAM_IGNORE }
    let errno = appvault_pam_errno()
    defer { appvault_pam_set_errno(errno) }
    unsafe Call(Pam(pam), flags, count, arguments).openSession()
    return PAM_IGNORE
}

@_cdecl("pam_sm_close_session")
public func closeSession(
    _ pam: OpaquePointer?, _ flags: Int32, _ count: Int32, _ arguments: Arguments?
) -> Int32 {
    // SAFETY: libpam brings its own handle and as many arguments as it counts.
    guard let pam = unsafe pam else { return PAM_IGNORE }
    let errno = appvault_pam_errno()
    defer { appvault_pam_set_errno(errno) }
    unsafe Call(Pam(pam), flags, count, arguments).closeSession()
    return PAM_IGNORE
}

@_cdecl("pam_sm_chauthtok")
public func changePassword(
    _ pam: OpaquePointer?, _ flags: Int32, _ count: Int32, _ arguments: Arguments?
) -> Int32 {
    // SAFETY: libpam brings its own handle and as many arguments as it counts.
    guard let pam = unsafe pam, flags & Int32(PAM_UPDATE_AUTHTOK) != 0 else { return PAM_IGNORE }
    let errno = appvault_pam_errno()
    defer { appvault_pam_set_errno(errno) }
    let call = unsafe Call(Pam(pam), flags, count, arguments)
    switch call.options.role {
    case .passwordRules: return call.newPassword()
    case .authenticator, .unlocker:
        call.changePassword()
        return PAM_IGNORE
    }
}
