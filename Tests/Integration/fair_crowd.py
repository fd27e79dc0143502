"""A daemon that one uid cannot hold up: logins, the watchdog and memory while fifty people do their worst."""

import ctypes
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

import wire
from daemonlab import Daemon, answers, as_uid, wait_until
from pamlab import PAM_SUCCESS, Lab, Talk, compiled

NEEDS_ROOT = True
TIMEOUT = 1200

PASSCODE = "correct horse battery"
POLICY = """LocalServices=lab
PasscodeServices=lab
UnlockServices=
ConversingServices=
ThrottleAfter=0
RetryLimit=0
DerivationMemory=64MiB
DerivationPasses=3
"""
# Uids that no machine of a test has, and the accounts that the daemon's own view of the machine has.
FIRST, PEOPLE, EACH = 61_000, 50, 16
OWNER = ("fairowner", 60_900)
STRANGERS = 2_000_000_000
BEAT = 1.0

libc = ctypes.CDLL(None, use_errno=True)


def hostile():
    return compiled("hostile.c", "hostile")


class Watchdog:
    """systemd's end of sd_notify: when the daemon said that its loop turns."""

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
    """A daemon with a watchdog, which sees fifty people and an owner among the machine's accounts."""

    def __init__(self, policy=POLICY):
        self.lab = Lab()
        self.folder = tempfile.mkdtemp(prefix="appvault-fair-")
        os.chmod(self.folder, 0o755)
        self.watchdog = Watchdog(os.path.join(self.folder, "notify"))
        # A folder of its own in the place of /etc: other tests change the machine's accounts meanwhile.
        etc = os.path.join(self.folder, "etc")
        os.mkdir(etc)
        for name in ("group", "ld.so.cache", "machine-id", "nsswitch.conf", "passwd", "shells"):
            if os.path.exists(f"/etc/{name}"):
                shutil.copy(f"/etc/{name}", etc)
        people = [(f"fair{number}", FIRST + number) for number in range(PEOPLE)] + [OWNER]
        with open(os.path.join(etc, "passwd"), "a") as file:
            for name, uid in people:
                file.write(f"{name}:x:{uid}:{uid}::/nonexistent:/bin/sh\n")
        self.daemon = Daemon(
            policy=policy,
            env={"NOTIFY_SOCKET": self.watchdog.path, "WATCHDOG_USEC": str(int(BEAT * 2e6))},
            before=[
                "unshare", "-m", "--propagation", "private", "sh", "-c",
                f'mount --bind {etc} /etc && exec "$@"', "sh"])
        self.lab.service(
            "lab", f"auth required {self.lab.module} socket={self.daemon.socket}",
            "account required pam_permit.so")
        self.daemon.create(PASSCODE, subject=("root", 0))

    def close(self):
        self.daemon.close()
        self.lab.close()
        self.watchdog.close()
        shutil.rmtree(self.folder)

    def login(self):
        """By the real module; how long it took, or None where it failed."""
        began = time.monotonic()
        with self.lab.transaction("lab", "root", Talk([PASSCODE])) as pam:
            result = pam.authenticate()
        return time.monotonic() - began if result == PAM_SUCCESS else None

    def logins(self, count):
        return [self.login() for _ in range(count)]

    def attack(self, mode, seconds, first=FIRST, people=PEOPLE, each=EACH, path=None):
        frames = os.path.join(self.folder, f"frames-{mode}")
        own = ("", wire.UNKNOWN_UID)
        requests = ["policyShow", "texts", "actions", "status", "health"]
        with open(frames, "wb") as file:
            file.write(wire.encode("hello", 1, frontEnd="program"))
            for request in requests:
                takes = ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields
                file.write(wire.encode(request, 2, **({"subject": own} if takes else {})))
        words = [hostile(), path or self.daemon.socket, mode, first, people, each, seconds, frames]
        return subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True)

    def resident(self):
        """MiB that are no file's, without what a derivation has just now."""
        with open(f"/proc/{self.daemon.pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["RssAnon"].split()[0]) / 1024


class Sink:
    """A socket that takes whatever comes and answers nothing: what the attack itself costs this machine."""

    def __init__(self, folder):
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
                held.append(connected)
                if len(held) > 800:
                    held.pop(0).close()
        listener.close()

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.unlink(self.path)


def high(times):
    """The 99th of a hundred."""
    return sorted(times)[max(0, len(times) * 99 // 100 - 1)]


class Crowd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = Machine()
        cls.addClassCleanup(cls.machine.close)

    def under(self, mode, count, **more):
        """Logins while they attack: their times, and the longest time without a beat."""
        attack = self.machine.attack(mode, 300, **more)
        self.attack = attack
        try:
            time.sleep(1)
            began = time.monotonic()
            times = self.machine.logins(count)
            resident = []
            for _ in range(10):
                resident.append(self.machine.resident())
                time.sleep(0.05)
            self.resident = max(resident)
            self.late = self.machine.watchdog.longest(began, time.monotonic()) - BEAT
            self.assertIsNone(attack.poll(), "the attack goes on")
        finally:
            attack.kill()
            attack.wait()
            attack.stdout.close()
        return times

    def compare(self, mode, count, **more):
        sink = Sink(self.machine.folder)
        beside = self.machine.attack(mode, 300, path=sink.path, **more)
        try:
            quiet = self.machine.logins(count)
        finally:
            beside.kill()
            beside.wait()
            beside.stdout.close()
            sink.close()
        times = self.under(mode, count, **more)
        failed = times.count(None)
        good = [one for one in times if one is not None]
        print(
            f"{mode}: {failed} of {count} failed; median {statistics.median(good) if good else 0:.3f} s, p99 "
            f"{high(good) if good else 0:.3f} s; quiet median {statistics.median(quiet):.3f}, p99 {high(quiet):.3f} s; "
            f"late {self.late:.2f} s; {self.resident:.0f} MiB", flush=True)
        return quiet, times


if __name__ == "__main__":
    import sys
    crowd = Crowd()
    Crowd.setUpClass()
    print("plain", [round(x, 3) for x in Crowd.machine.logins(20)], "MiB", Crowd.machine.resident())
    for mode in sys.argv[2:] or ["pipeline", "slow", "leave", "half", "unread", "mixed"]:
        try:
            crowd.compare(mode, int(sys.argv[1]))
        except AssertionError as error:
            print(mode, "FAILED", str(error)[:200])
    Crowd.machine.close()
