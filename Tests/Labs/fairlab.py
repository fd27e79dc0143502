"""A machine with fifty people on it who may do their worst, and a daemon whose watchdog messages
are recorded."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import wire
from daemonlab import Daemon
from pamlab import PAM_SUCCESS, Lab, Talk, compiled

PASSCODE = "correct horse battery"
POLICY = """LocalServices=lab locker
PasscodeServices=lab locker
UnlockServices=
ConversingServices=
ThrottleAfter=0
RetryLimit=0
"""
FULL_COST = "DerivationMemory=64MiB\nDerivationPasses=3\n"
# Uids that no test machine has: only the daemon sees accounts with them.
FIRST, PEOPLE, EACH = 61_000, 70, 16
CROWD = 50
OWNER = ("fairowner", 60_900)
# No account has these uids.
STRANGERS = 2_000_000_000
BEAT = 1.0
FIRST_OF_ALL = -15

libc = ctypes.CDLL(None, use_errno=True)


def hostile():
    return compiled("hostile.c", "hostile")


def goes_first(pid):
    """This process, and what it starts from now on, goes before everything else on this
    computer: the rest is not to be measured."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        # A thread may end before its turn.
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, int(thread), FIRST_OF_ALL)
    # For kernels that give processor time to sessions and not to processes.
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as file:
        file.write(str(FIRST_OF_ALL))


class Watchdog:
    """systemd's end of sd_notify: records when the daemon said that its loop runs."""

    def __init__(self, path):
        self.path, self.beats = path, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        os.chmod(path, 0o666)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                said = self.socket.recv(4096)
            except OSError:
                return
            if b"WATCHDOG=1" in said:
                self.beats.append(time.monotonic())

    def longest(self, since, until):
        """The longest time without a beat."""
        moments = [since, *(beat for beat in self.beats if since < beat < until), until]
        return max(later - earlier for earlier, later in zip(moments, moments[1:]))

    def close(self):
        self.socket.close()


class Machine:
    """A daemon with a watchdog, for which fifty people and an owner are among the machine's
    accounts."""

    def __init__(self, policy=POLICY, options=(), env=()):
        self.lab = Lab()
        self.folder = tempfile.mkdtemp(prefix="appvault-fair-")
        os.chmod(self.folder, 0o755)
        self.watchdog = Watchdog(os.path.join(self.folder, "notify"))
        # A folder of its own in the place of /etc, because other tests change the machine's
        # accounts meanwhile.
        etc = os.path.join(self.folder, "etc")
        os.mkdir(etc)
        for name in ("group", "ld.so.cache", "machine-id", "nsswitch.conf", "passwd", "shells"):
            if os.path.exists(f"/etc/{name}"):
                shutil.copy(f"/etc/{name}", etc)
        people = [(f"fair{number}", FIRST + number) for number in range(PEOPLE)] + [OWNER]
        with open(os.path.join(etc, "passwd"), "a") as file:
            for name, uid in people:
                file.write(f"{name}:x:{uid}:{uid}::/nonexistent:/bin/sh\n")
        # Everybody's socket is the daemon's own, and the fifty use it; logins use the one that only
        # root may use.
        self.door = os.path.join(self.folder, "root.socket")
        self.daemon = Daemon(
            policy=policy, options=[*options, "--root-socket", self.door],
            env={**dict(env), "NOTIFY_SOCKET": self.watchdog.path, "WATCHDOG_USEC": str(int(BEAT * 2e6))},
            before=[
                "unshare", "-m", "--propagation", "private", "sh", "-c",
                f'mount --bind {etc} /etc && exec "$@"', "sh"])
        for service, door in (("lab", self.door), ("locker", self.daemon.socket)):
            self.lab.service(
                service, f"auth required {self.lab.module} socket={door}", "account required pam_permit.so")
        self.daemon.create(PASSCODE, subject=("root", 0))

    def add_account(self, name, uid):
        """Adds an account as useradd does, where the daemon looks."""
        passwd = os.path.join(self.folder, "etc", "passwd")
        with open(passwd) as file:
            text = file.read()
        with open(passwd + ".new", "w") as file:
            file.write(f"{text}{name}:x:{uid}:{uid}::/nonexistent:/bin/sh\n")
        os.rename(passwd + ".new", passwd)

    def close(self):
        self.daemon.close()
        self.lab.close()
        self.watchdog.close()
        shutil.rmtree(self.folder)

    def login(self, service="lab"):
        """A login with the real module; returns how long it took, or None if it failed."""
        began = time.monotonic()
        with self.lab.transaction(service, "root", Talk([PASSCODE])) as pam:
            result = pam.authenticate()
        return time.monotonic() - began if result == PAM_SUCCESS else None

    def logins(self, count, service="lab"):
        return [self.login(service) for _ in range(count)]

    def attack(self, mode, seconds, first=FIRST, people=CROWD, each=EACH, path=None):
        frames = os.path.join(self.folder, f"frames-{mode}")
        own = ("", wire.UNKNOWN_UID)
        requests = ["policyShow", "texts", "actions", "status", "health"]
        with open(frames, "wb") as file:
            file.write(wire.encode("hello", 1, frontEnd="program"))
            for request in requests:
                takes = ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields
                file.write(wire.encode(request, 2, **({"subject": own} if takes else {})))
        words = [hostile(), path or self.daemon.socket, mode, first, people, each, seconds, frames]
        attack = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True)
        # Until each of them had a turn.
        if attack.stdout.readline() != "ready\n":
            attack.kill()
            attack.wait()
            raise AssertionError("the attack does not begin")
        return attack

    def resident(self):
        """MiB of memory that belong to no file."""
        with open(f"/proc/{self.daemon.pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["RssAnon"].split()[0]) / 1024


class Sink:
    """A socket that lets as many in as the daemon would, answers nothing and hangs up on the rest: what the attack
    itself costs this machine."""

    def __init__(self, folder, places):
        self.path = os.path.join(folder, "sink")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.path)
        os.chmod(self.path, 0o666)
        listener.listen(4096)
        self.pid = os.fork()
        if self.pid == 0:
            libc.prctl(1, signal.SIGKILL, 0, 0, 0)
            held = []
            while True:
                connected, _ = listener.accept()
                if len(held) < places:
                    held.append(connected)
                else:
                    connected.close()
        listener.close()

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.unlink(self.path)
