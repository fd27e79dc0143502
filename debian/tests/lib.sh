# What the tests share: a person with a login password, and the ways in.

set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
person=avtest
password=otter-login-27
wrong=badger-login-3
# Longer than any of the module's deadlines: whoever hangs is seen.
patience=20

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

said() {
    echo "ok: $* ($(cut -d. -f1 /proc/uptime) s)"
}

have_person() {
    id "$person" >/dev/null 2>&1 || useradd --create-home --shell /bin/sh "$person"
    printf '%s:%s\n' "$person" "$password" | chpasswd
    # A sudo that asks.
    echo "$person ALL=(ALL:ALL) ALL" >/etc/sudoers.d/avtest
    chmod 440 /etc/sudoers.d/avtest
}

no_person() {
    pkill -KILL -u "$person" || true
    userdel --remove --force "$person" >/dev/null 2>&1 || true
    rm -f /etc/sudoers.d/avtest
}

# A whole transaction of the service login. Without a terminal logind would not take it for a person's session.
pam_login() {
    printf '%s\n' "$1" |
        timeout "$patience" pamtester -I tty=/dev/pts/99 login "$person" authenticate acct_mgmt 'setcred(PAM_ESTABLISH_CRED)' \
            open_session close_session >/dev/null 2>&1
}

as_person() {
    timeout "$patience" runuser -u "$person" -- "$@"
}

by_sudo() {
    test "$(printf '%s\n' "$1" | as_person sudo -S -k -p '' id -u 2>/dev/null)" = 0
}

# nobody becomes the person.
by_su() {
    test "$(printf '%s\n' "$1" | timeout "$patience" runuser -u nobody -- su -c 'id -un' "$person" 2>/dev/null | tail -n 1)" = "$person"
}

# The right password is let in by each way, and a wrong one by none; $2 are the ways that try it, for pam_unix waits.
as_before() {
    for way in pam_login by_sudo by_su; do
        "$way" "$password" || fail "$1: $way with the right password"
    done
    for way in ${2:-pam_login}; do
        if "$way" "$wrong"; then fail "$1: $way with a wrong password"; fi
    done
    said "$1: login, sudo and su as before"
}

# No line in /etc/pam.d names a module that is not there.
no_dangling_module() {
    # A line that begins with - may name one that is missing.
    for module in $(sed -n 's/^[^#-].*[[:space:]]\(pam_[a-z0-9_]*\.so\).*/\1/p' /etc/pam.d/* | sort -u); do
        find /usr/lib/*/security /lib/*/security -name "$module" 2>/dev/null | grep -q . ||
            fail "/etc/pam.d names $module, which is not there"
    done
}
