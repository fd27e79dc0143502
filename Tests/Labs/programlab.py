"""The real sudo, su, passwd and login, on a terminal. They read a private /etc/pam.d and /etc/sudoers in a mount
namespace of their own; the host's are not touched."""

import os
import pty
import select
import signal
import subprocess
import time
import unittest

from daemonlab import IS_ROOT
from wayslab import PASSCODE, Machine

# Except for the bind mounts, everything is as it is on the host.
NAMESPACE = (
    'mount --bind "$1" /etc/pam.d && { test -z "$2" || mount --bind "$2" /etc/sudoers; } && shift 2 && exec "$@"')
SUDOERS = """\
Defaults !lecture, timestamp_timeout=0, passwd_tries=3, !use_pty, !fqdn, badpass_message="sorry"
%s ALL=(ALL:ALL) ALL
root ALL=(ALL:ALL) ALL
"""


class Terminal:
    """A program on a terminal, to which the test types at prompts."""

    def __init__(self, command):
        self.shown = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir("/")
                os.execvpe(command[0], command, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb", "LANG": "C"})
            finally:
                os._exit(127)

    def expect(self, text, seconds=20):
        """Reads until that was shown."""
        end = time.monotonic() + seconds
        while text not in self.shown[self.read_to :]:
            if not self._read(end):
                raise AssertionError(f"{text!r} was not shown: {self.shown!r}")
        self.read_to = self.shown.index(text, self.read_to) + len(text)

    read_to = 0

    def _read(self, end):
        if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self.fd, 4096)
        except OSError:
            return False
        self.shown += data.decode(errors="replace").replace("\r", "")
        return bool(data)

    def type(self, text):
        os.write(self.fd, text.encode() + b"\n")

    def end(self, seconds=20):
        """Waits until it has shown everything; returns its exit status."""
        end = time.monotonic() + seconds
        while self._read(end):
            pass
        if time.monotonic() >= end:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not IS_ROOT:
            raise unittest.SkipTest("needs root: setuid programs and a mount namespace")
        tried = subprocess.run(["unshare", "-m", "--propagation", "private", "true"], capture_output=True, check=False)
        if tried.returncode != 0:
            raise unittest.SkipTest("no mount namespace here: " + tried.stderr.decode().strip())

    def machine(self, policy="RetryLimit=5\nThrottleAfter=0", way="ownPasscode", passcode=PASSCODE, **options):
        machine = Machine(policy, **options)
        self.addCleanup(machine.close)
        self.sudoers = os.path.join(machine.lab.folder, "sudoers")
        with open(self.sudoers, "w") as file:
            file.write(SUDOERS % machine.name)
        os.chmod(self.sudoers, 0o440)
        return machine.create(passcode, way)

    def command(self, machine, *words, as_person=True):
        sudoers = self.sudoers if os.path.exists("/etc/sudoers") else ""
        person = ("setpriv", "--reuid", str(machine.uid), "--regid", str(machine.uid), "--clear-groups")
        return [
            "unshare", "-m", "--propagation", "private", "sh", "-c", NAMESPACE, "sh", machine.lab.services, sudoers,
            *(person if as_person else ()), *words]

    def run_it(self, machine, *words, typed="", as_person=True):
        return subprocess.run(
            self.command(machine, *words, as_person=as_person), input=typed, capture_output=True, text=True,
            timeout=30, cwd="/", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C"})
