"""A booted Debian in a container of systemd-nspawn, with a network of its own that leads nowhere.

    with Machine("base") as machine:                     # booted, at its login prompt
        code, output = machine.run("id alice")           # as root; user="alice" for somebody else
        machine.console.send("alice")                    # a Terminal: what a person sees and types
        machine.console.expect("Password:")
        with machine.terminal("su - bob") as terminal:   # another terminal, with a tty in the machine
            terminal.expect("Password:")
        machine.reboot()                                 # what was written is still there
        machine.cut()                                    # as the power does

An image is debootstrapped once and kept in .build/e2e/. A machine writes into an overlay in
memory, in a mount namespace that ends with this process. So no mount, no process and no file
stays behind in any case. Machine() raises unittest.SkipTest with a plain reason where none can
run.

alice, bob and carol have passwords (PASSWORDS); alice and bob may use sudo, carol may not.

Packages are built on this computer's Debian, and install there and on later ones. A machine is of the oldest of them,
unless APPVAULT_DEBIAN (`make e2e DEBIAN=trixie`) or its `release` says otherwise.
"""

import ctypes
import dataclasses
import fcntl
import functools
import glob
import hashlib
import itertools
import os
import platform
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from places import ROOT

CACHE = os.path.join(ROOT, ".build", "e2e")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSWORDS = {"root": "root-otter-1", "alice": "alice-otter-2", "bob": "bob-otter-3", "carol": "carol-otter-4"}
BOOT_TIMEOUT = 90
# The Debians that the packages are for, the oldest first.
RELEASES = ("bookworm", "trixie")


def installs_on(built):
    """The releases on which packages install that were built on this one: nothing is built against a later library
    than it has. All of them, if it is no Debian that is known here."""
    return RELEASES[RELEASES.index(built) :] if built in RELEASES else RELEASES


def _this_release():
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""


# Every suite runs on RELEASE; those of the packages on LATER, too.
RELEASE = os.environ.get("APPVAULT_DEBIAN") or installs_on(_this_release())[0]
if RELEASE not in RELEASES:
    raise ValueError(f"{RELEASE} is none of {', '.join(RELEASES)}")
LATER = RELEASES[RELEASES.index(RELEASE) + 1 :]

HOLDER = """
mount -t tmpfs -o mode=755 none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" machine "$1/root"
# Nothing can be fetched from in there, and apt would read all of Debian each time: a second of a processor.
rm -f "$1/root"/var/lib/apt/lists/*_*
echo ready
leader=
while read -r pid; do leader=$pid; done
[ -z "$leader" ] || kill -KILL "$leader" || true
umount --lazy "$1/root" "$1"
rmdir "$1"
# The last of its processes may still be ending. systemd of that age has groups of two kinds side by side.
for tree in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
    for _ in $(seq 100); do
        [ -d "$tree/$3" ] && ! find "$tree/$3" -depth -type d -exec rmdir {} + 2>/dev/null || break
        sleep 0.1
    done
done
"""
# systemd-nspawn makes its control groups below the one that it is in: each machine has one of its
# own.
IN_GROUP = """
for tree in /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [ -w "$tree/cgroup.procs" ] || continue
    mkdir -p "$tree/$1"
    echo $$ > "$tree/$1/cgroup.procs"
    break
done
shift
exec "$@"
"""


@dataclasses.dataclass(frozen=True)
class Image:
    """A Debian: these packages over its parent, or over the smallest that there is; then `prepare`, a script run
    inside."""

    packages: str = ""
    prepare: str = ""
    parent: str | None = None


_USERS = "\n".join(
    [f"useradd --create-home --shell /bin/bash {name}" for name in PASSWORDS if name != "root"]
    + [f"echo {name}:{password} | chpasswd" for name, password in PASSWORDS.items()]
)

IMAGES = {
    # The slow part, separate from the part that changes.
    "debian": Image(
        "systemd systemd-sysv dbus libpam-systemd udev kmod procps psmisc iproute2 sudo login passwd adduser debconf"
        " openssh-server openssh-client sshpass cron at polkitd pkexec dovecot-core pamtester python3 libpam-modules"
        " libsodium23 libsqlite3-0 libgcrypt20 libpwquality1 cracklib-runtime libfprint-2-2 libcurl4"
        " ca-certificates"),
    "base": Image(
        "dbus-user-session",
        parent="debian",
        prepare=_USERS + r"""
usermod --append --groups sudo alice
usermod --append --groups sudo bob
echo machine > /etc/hostname
printf '127.0.0.1 localhost machine\n' > /etc/hosts
# A container's console belongs to no seat. Here it is the one that a person sits at.
printf 'XDG_SEAT DEFAULT=seat0\nXDG_VTNR DEFAULT=0\n' > /etc/security/seat.conf
sed -i '0,/^session/s||session required pam_env.so readenv=0 conffile=/etc/security/seat.conf\nsession|' \
    /etc/pam.d/login
# What a test does in a second is no attack, and a prompt comes back at once.
sed -i 's/^auth.*pam_faildelay.*$//' /etc/pam.d/login
printf 'PasswordAuthentication yes\nKbdInteractiveAuthentication yes\nMaxStartups 100\nUseDNS no\n' \
    > /etc/ssh/sshd_config.d/test.conf
systemctl mask --quiet e2scrub_reap.service e2scrub_all.timer apt-daily.timer apt-daily-upgrade.timer \
    dpkg-db-backup.timer fstrim.timer systemd-networkd.service dovecot.service
: > /etc/motd
rm -f /etc/update-motd.d/*
""",
    ),
    # With what a toolchain of Swift needs.
    "swift": Image("git g++ libcurl4 libedit2 libncurses6 libuuid1 libxml2 zlib1g libz3-4", parent="debian"),
}


# What nobody in a machine reads is left out, and nothing is synced: an image is whole or it is made again. The lists
# are those of the parent, unless they have become too old.
_INSTALL = """install() {{
    apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io \\
        -o Dpkg::Options::=--path-exclude=/usr/share/doc/* -o Dpkg::Options::=--path-exclude=/usr/share/man/* \\
        -o Dpkg::Options::=--path-exclude=/usr/share/locale/* {}
}}
install || {{ apt-get update -q && install; }}
"""


class Unavailable(unittest.SkipTest):
    """No machine can run here; the reason is one line."""


# Images


def _last_line(text):
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no output"


def _recipe(name, release):
    image = IMAGES[name]
    parent = _recipe(image.parent, release) if image.parent else release
    return hashlib.sha256("\0".join((parent, image.packages, image.prepare)).encode()).hexdigest()


def _inside(folder, script):
    """Runs a script in an image that is not booted, with the host's network, so that apt works."""
    return subprocess.run(
        ["systemd-nspawn", "-q", "--register=no", "--keep-unit", "--as-pid2", "--pipe", "-D", folder,
         "--setenv=DEBIAN_FRONTEND=noninteractive", f"--setenv=PATH={PATH}", "/bin/sh", "-e"],
        input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), check=False)


def environment():
    """For systemd-nspawn."""
    return {**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}


def image(name, release=RELEASE):
    """The folder of an image, which is made if it is missing; that takes half a minute or more."""
    os.makedirs(CACHE, exist_ok=True)
    path = os.path.join(CACHE, name if release == RELEASES[0] else f"{release}-{name}")
    folder = f"{path}-{_recipe(name, release)[:12]}"
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder):
            _make(name, release, folder)
            # After a change of the recipe the former image, a gigabyte, is still there: remove it.
            for former in glob.glob(f"{path}-*"):
                if former != folder:
                    shutil.rmtree(former, ignore_errors=True)
    return folder


def _make(name, release, folder):
    recipe, fresh = IMAGES[name], folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    print(f"  making the image {name} of {release}", flush=True)
    if recipe.parent:
        subprocess.run(["cp", "-a", "--reflink=auto", image(recipe.parent, release), fresh], check=True)
        done = _inside(fresh, _INSTALL.format(recipe.packages))
    else:
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", release, fresh],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode == 0:
            done = _inside(fresh, "apt-get update -q\n" + _INSTALL.format(recipe.packages))
    if done.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        raise Unavailable(f"the image {name} of {release} cannot be made: {_last_line(done.stdout)}")
    done = _inside(fresh, "apt-get clean\n" + recipe.prepare)
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace")
        raise AssertionError(f"the image {name} of {release} cannot be prepared: {said}")
    os.rename(fresh, folder)


@functools.cache
def why_not():
    """Why no machine can run here, in one line; None where one can."""
    if os.getuid() != 0:
        return "a booted machine needs root"
    for program, package in (
        ("systemd-nspawn", "systemd-container"), ("debootstrap", "debootstrap"), ("nsenter", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is missing (package {package})"
    for words, what in (
        (["unshare", "--mount", "sh", "-ec",
          "mount -t tmpfs none /mnt; mkdir /mnt/u /mnt/w;"
          " mount -t overlay -o lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w o /mnt"],
         "overlays cannot be mounted here"),
        (["systemd-nspawn", "-q", "--register=no", "--keep-unit", "--private-network", "--pipe", "--volatile=yes",
          "-D", "/", "/bin/true"], "systemd-nspawn cannot run here"),
    ):
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
            check=False)
        if done.returncode != 0:
            return f"{what}: {_last_line(done.stdout)}"
    return None


# Terminals

_libc = ctypes.CDLL(None, use_errno=True)
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78DEHM])|[\r\x00\x07]")


def _die_with_parent():
    # PR_SET_PDEATHSIG: a test that is killed leaves no machine behind.
    _libc.prctl(1, signal.SIGKILL, 0, 0, 0)


class Ended(AssertionError):
    """The terminal closed, or what was expected did not come."""


class Terminal:
    """A command on a pseudo terminal. `expect` reads on from where the last one stopped."""

    def __init__(self, words, environment=None):
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, 200))

        def prepare():
            _die_with_parent()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, env=environment or {"TERM": "dumb", "PATH": PATH},
            start_new_session=True, preexec_fn=prepare)
        os.close(slave)
        self.text = ""  # everything that was shown, without escapes
        self.place = 0  # where the next expect begins

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self, timeout):
        """Reads what has arrived; False at the end."""
        if not select.select([self.master], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.text += _ESCAPES.sub("", data.decode(errors="replace"))
        return bool(data)

    def expect(self, pattern, timeout=120):
        """Waits for this regular expression; returns the match. `before` is then what came
        before it."""
        until = time.monotonic() + timeout
        while True:
            found = re.compile(pattern).search(self.text, self.place)
            if found:
                self.before = self.text[self.place : found.start()]
                self.place = found.end()
                return found
            left = until - time.monotonic()
            if left <= 0 or not self.read(left):
                why = "did not come" if left <= 0 else "did not come before the end"
                raise Ended(f"{pattern!r} {why}; shown was: {self.text[self.place:]!r}")

    def shows_more(self, after, timeout=1):
        """Whether anything arrived, or the end, after `after` was done."""
        length = len(self.text)
        after()
        return not self.read(timeout) or len(self.text) > length

    def send(self, line=""):
        """Types a line and Enter."""
        os.write(self.master, (line + "\r").encode())

    def key(self, letter):
        """Control and this letter."""
        os.write(self.master, bytes([ord(letter.upper()) & 0x1F]))

    def wait(self, timeout=15):
        """Waits for its end; returns the exit status."""
        until = time.monotonic() + timeout
        while self.read(max(0.0, until - time.monotonic())):
            if time.monotonic() >= until:
                raise Ended(f"it does not end; shown was: {self.text[self.place:]!r}")
        return self.process.wait(5)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            os.close(self.master)
            self.master = -1


# The machine


class Machine:
    """See the top of this file. `bind` maps folders of the host to their places in the machine,
    where they are read-only."""

    _consoles = itertools.count(1)
    _machines = itertools.count(1)

    def __init__(self, image="base", bind=None, boot=True, release=RELEASE):
        reason = why_not()
        if reason is not None:
            raise Unavailable(reason)
        self.folder = globals()["image"](image, release)
        self.bind = dict(bind or {})
        self.console = self.leader = None
        # Holds the mount namespace with the overlay. When its input ends, also because this process
        # was killed, it ends the processes that it was told of and cleans up.
        self.mounted = tempfile.mkdtemp(prefix="appvault-e2e-")
        self.root = os.path.join(self.mounted, "root")
        self.name = f"appvault-{os.getpid()}-{next(self._machines)}"
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "setsid", "sh", "-ec", HOLDER, "sh",
             self.mounted, self.folder, self.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            self.stop()
            raise AssertionError("the machine's overlay cannot be mounted")
        if boot:
            self.boot()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def boot(self):
        """Boots until the console shows its login prompt; returns the seconds that it took."""
        began = time.monotonic()
        words = [
            "sh", "-ec", IN_GROUP, "sh", self.name, "nsenter", "-t", str(self.holder.pid), "-m",
            "systemd-nspawn", "-q", "-D", self.root, f"--machine={self.name}", "--hostname=machine", "--boot",
            "--register=no", "--keep-unit", "--resolv-conf=off", "--private-network",
            "--system-call-filter=@memlock memfd_secret"]
        words += [f"--bind-ro={host}:{inside}" for host, inside in self.bind.items()]
        self.console = Terminal(words, {**environment(), "TERM": "dumb"})
        try:
            self.console.expect(r"machine login: ", BOOT_TIMEOUT)
            pid = self.console.process.pid
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                self._leads(int(file.read().split()[0]))
        except BaseException:
            self.cut()
            raise
        return time.monotonic() - began

    def off(self):
        """Turns it off as `systemctl poweroff` does."""
        if self.console is None:
            return
        try:
            self.run("systemctl poweroff --no-block", timeout=10)
            self.console.wait(30)
            self.console.close()
            self.console = None
            self._leads(None)
        except (AssertionError, subprocess.TimeoutExpired):
            self.cut()

    def cut(self):
        """Turns it off as a power cut does: no program is told, and none ends by itself."""
        if self.console is None:
            return
        if self.leader is not None:
            os.kill(self.leader, signal.SIGKILL)
        self.console.close()
        self.console = None
        self._leads(None)

    def reboot(self):
        self.off()
        return self.boot()

    def stop(self):
        """Turns it off and removes it."""
        try:
            self.off()
        finally:
            self.cut()
            self.holder.stdin.close()
            self.holder.wait()
            self.holder.stdout.close()

    def _leads(self, pid):
        self.leader = pid
        print(pid or "", file=self.holder.stdin, flush=True)

    # commands

    def _enter(self):
        return ["nsenter", "-t", str(self.leader), *"-m -u -i -n -p -C -r -w env -i".split(),
                f"PATH={PATH}", "TERM=dumb"]

    def _unit(self, command, user, *options):
        words = ["systemd-run", "--quiet", "--wait", "--collect", *options, f"--setenv=PATH={PATH}"]
        if user is not None:
            words += [f"--uid={user}", "--working-directory=/"]
        return self._enter() + words + ["/bin/sh", "-c", command]

    def run(self, command, user=None, stdin="", timeout=60):
        """Runs a shell command in a unit of its own; returns its exit status, and stdout and
        stderr as they came."""
        done = subprocess.run(
            self._unit(command, user, "--pipe"), input=stdin.encode(), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=timeout, preexec_fn=_die_with_parent, check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    def check(self, command, **options):
        """Like `run`, for a command that must work; returns the output."""
        code, output = self.run(command, **options)
        if code != 0:
            raise AssertionError(f"{command}: {code}: {output}")
        return output

    def terminal(self, command, user=None):
        """A command on a terminal of its own in the machine. systemd-run may lose what it shows just before it ends."""
        return Terminal(self._unit(command, user, "--pty", "--setenv=TERM=dumb"))

    def getty(self, command):
        """The same in a unit whose name is that of a console's getty: a login there is one at
        this machine."""
        unit = f"--unit=console-getty-{next(self._consoles)}"
        return Terminal(self._unit(command, None, "--pty", "--setenv=TERM=dumb", unit))

    def write(self, path, text, mode="644"):
        self.check(f"install -D -m {mode} /dev/stdin {shlex.quote(path)}", stdin=text)

    def read(self, path):
        return self.check(f"cat {shlex.quote(path)}")


if __name__ == "__main__":
    REASON = why_not()
    if REASON is not None:
        sys.exit(f"no machine can be booted: {REASON}")
