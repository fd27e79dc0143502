"""Real screen lockers, doas and vlock with a finger: the program itself, run by the person, with a private /etc/pam.d,
a display of the test's own, and libfprint's virtual reader. Each is skipped where it is not installed."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from daemonlab import wait_until
from programlab import NAMESPACE, Terminal
from touchlab import PLACE, Case
from wayslab import PASSCODE, WRONG

NEEDS_ROOT = True
TIMEOUT = 300


class Programs(Case):
    NEEDED = ()

    @classmethod
    def setUpClass(cls):
        missing = [name for name in cls.NEEDED if shutil.which(name) is None]
        if missing:
            raise unittest.SkipTest("not installed here: " + ", ".join(missing))
        super().setUpClass()
        tried = subprocess.run(["unshare", "-m", "--propagation", "private", "true"], capture_output=True, check=False)
        if tried.returncode != 0:
            raise unittest.SkipTest("no mount namespace here: " + tried.stderr.decode().strip())

    def setUp(self):
        super().setUp()
        self.at_seat()

    def start(self, *words, environment=(), terminal=False, as_person=True):
        """Starts the program in a mount namespace of its own, as the person."""
        uid = str(self.machine.uid)
        person = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"] if as_person else []
        command = ["unshare", "-m", "--propagation", "private", "sh", "-c", NAMESPACE, "sh",
                   self.machine.lab.services, "", *person, "env", *environment, *words]
        if terminal:
            return Terminal(command)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
            start_new_session=True)

        def end():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

        self.addCleanup(end)
        return process

    def helper(self, *words, **more):
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)

        def end():
            process.kill()
            process.wait()

        self.addCleanup(end)
        return process

    def folder(self):
        made = tempfile.mkdtemp(prefix="appvault-display-")
        self.addCleanup(shutil.rmtree, made, True)
        os.chown(made, self.machine.uid, self.machine.uid)
        return made

    def opening(self):
        """Identifies the present opening of the reader. Looking at its socket does not keep it
        from listening."""
        try:
            found = os.stat(self.worker.reader_socket("device"))
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_ctime_ns


class Locker:
    """A program that asks one question at a time; `begin` starts it, and `keys` types."""

    def locks(self):
        self.machine.lock()
        self.before = self.opening()
        self.locker = self.begin()
        return self.locker

    def starts_reader(self):
        self.until("", lambda: self.opening() != self.before, "the reader waits")

    def until(self, text, condition, what):
        """Types it until the condition holds: a locker gets no keys before it runs, nor right
        after a failure."""
        end, again = time.monotonic() + 120, 0.0
        while not condition():
            self.assertLess(time.monotonic(), end, f"{what}; the locker's status: {self.locker.poll()}")
            if time.monotonic() > again:
                self.keys(text)
                again = time.monotonic() + 3
            time.sleep(0.005)

    def unlocks(self, locker):
        self.until(PASSCODE, lambda: locker.poll() is not None, "the passcode unlocks")
        self.assertEqual(locker.returncode, 0)

    def test_passcode(self):
        """the passcode unlocks, also after a wrong one, and opens the store; no reader is started"""
        locker = self.locks()
        self.until(WRONG, lambda: self.machine.apart > 0, "the wrong one is tried")
        self.assertIsNone(locker.poll())
        self.unlocks(locker)
        self.assertTrue(self.machine.is_open)
        self.assertEqual(self.opening(), self.before)

    def test_finger(self):
        """only Enter starts the reader, and the finger unlocks and opens the store"""
        locker = self.locks()
        self.starts_reader()
        self.worker.play("device", "SCAN alice")
        self.assertEqual(locker.wait(20), 0)
        self.assertTrue(self.machine.is_open)

    def test_other_finger(self):
        """fingers that do not match unlock nothing, and the passcode does"""
        locker = self.locks()
        self.starts_reader()
        former = self.before
        for _ in range(3):
            # For each touch the reader is opened anew.
            wait_until(lambda: self.opening() not in (None, former), "the reader waits")
            former = self.opening()
            self.worker.play("device", "SCAN bob")
        wait_until(lambda: self.failures_left() == 2, "three have failed")
        self.assertIsNone(locker.poll())
        self.unlocks(locker)


class X(Programs):
    """A program with a display of Xvfb's. Without -noreset the display begins anew when its last program has left it,
    which a locker that comes just then does not survive."""

    def display(self):
        read, write = os.pipe()
        self.helper("Xvfb", "-displayfd", str(write), "-ac", "-noreset", "-nolisten", "tcp", pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as file:
            self.name = ":" + file.readline().strip()

    def type_keys(self, text):
        for words in (["type", "--delay", "20", text], ["key", "Return"]):
            if words[-1]:
                subprocess.run(["xdotool", *words], env={**os.environ, "DISPLAY": self.name}, check=True, timeout=30)

    keys = type_keys


class I3lock(Locker, X):
    NEEDED = ("Xvfb", "xdotool", "i3lock")

    def begin(self):
        self.machine.stack("i3lock", "auth required {ours}")
        self.display()
        return self.start("i3lock", "-n", environment=["DISPLAY=" + self.name])


class Swaylock(Locker, Programs):
    NEEDED = ("sway", "swaylock", "wtype")

    def begin(self):
        self.machine.stack("swaylock", "auth required {ours}")
        self.runtime = self.folder()
        config = os.path.join(self.runtime, "config")
        with open(config, "w") as file:
            file.write("")
        self.environment = ["XDG_RUNTIME_DIR=" + self.runtime, "HOME=" + self.runtime]
        self.start(
            "sway", "-c", config, environment=[
                *self.environment, "WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman"])
        wait_until(lambda: os.path.exists(os.path.join(self.runtime, "wayland-1")), "sway is there", 20)
        self.environment.append("WAYLAND_DISPLAY=wayland-1")
        return self.start("swaylock", environment=self.environment)

    def keys(self, text):
        done = self.start("wtype", *([text] if text else []), "-k", "Return", environment=self.environment)
        self.assertEqual(done.wait(20), 0)


class Doas(Programs):
    NEEDED = ("doas",)
    PROMPT = "Passcode or login password: "

    def doas(self):
        config = os.path.join(self.machine.lab.folder, "doas.conf")
        with open(config, "w") as file:
            file.write(f"permit {self.machine.name}\n")
        os.chmod(config, 0o400)
        self.machine.way_b("doas")
        made = not os.path.exists("/etc/doas.conf")
        if made:
            open("/etc/doas.conf", "w").close()
            self.addCleanup(os.unlink, "/etc/doas.conf")
        uid = str(self.machine.uid)
        return self.start(
            "sh", "-c", 'mount --bind "$1" /etc/doas.conf && shift && exec "$@"', "sh", config,
            "setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "doas", "id", "-u",
            terminal=True, as_person=False)

    def test_doas(self):
        """the question first; only Enter starts the reader, and the finger or the passcode is accepted"""
        self.machine.daemon.policy("ThrottleAfter=0\nPasscodeServices=login doas\n", reload=True)
        doas = self.doas()
        doas.expect(self.PROMPT)
        doas.type(PASSCODE)
        self.assertEqual(doas.end(), 0)
        self.assertTrue(doas.shown.endswith("0\n"), doas.shown)
        self.machine.lock()
        doas = self.doas()
        doas.expect(self.PROMPT)
        doas.type("")
        doas.expect(PLACE.format("doas"))
        self.worker.play("device", "SCAN alice")
        self.assertEqual(doas.end(), 0)
        self.assertTrue(doas.shown.endswith("0\n"), doas.shown)


class Vlock(Programs):
    NEEDED = ("vlock",)

    def test_vlock(self):
        """the question first; only Enter starts the reader, and the finger unlocks"""
        self.machine.stack("vlock", "auth required {ours}")
        self.machine.daemon.policy("ThrottleAfter=0\nPasscodeServices=login vlock\n", reload=True)
        self.machine.lock()
        vlock = self.start("vlock", "-c", environment=["USER=" + self.machine.name], terminal=True)
        vlock.expect("press [ENTER] to unlock")
        line, end = PLACE.format("vlock"), time.monotonic() + 120
        # What is typed before the question is shown is dropped.
        while line not in vlock.shown:
            self.assertLess(time.monotonic(), end, vlock.shown)
            vlock.type("")
            try:
                vlock.expect(line, 1)
            except AssertionError:
                pass
        self.worker.play("device", "SCAN alice")
        self.assertEqual(vlock.end(), 0)


if __name__ == "__main__":
    unittest.main()
