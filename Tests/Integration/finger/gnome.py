"""A real gnome-keyring after a login by finger: pam_gnome_keyring, its daemon, and secret-tool,
as Debian ships them, on a bus and in folders of the test's own."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import unittest

from daemonlab import wait_until
from keyringlab import OPTIONS, Case
from pamlab import PAM_SUCCESS
from touchlab import Touching
from wayslab import LOGIN, NEW_LOGIN

NEEDS_ROOT = True
TIMEOUT = 120
PROGRAMS = ("gnome-keyring-daemon", "secret-tool", "dbus-daemon", "dbus-send")
MODULE = glob.glob("/lib/*/security/pam_gnome_keyring.so")


class Desktop:
    """The person's home, runtime folder and session bus."""

    def __init__(self, uid):
        self.uid = uid
        self.folder = tempfile.mkdtemp(prefix="appvault-desktop-")
        # pam_gnome_keyring uses the account's home.
        self.home, self.runtime = pwd.getpwuid(uid).pw_dir, f"{self.folder}/run"
        os.chmod(self.folder, 0o755)
        for path in (self.home, self.runtime):
            os.mkdir(path, 0o700)
            os.chown(path, uid, uid)
        self.address = f"unix:path={self.runtime}/bus"
        self.bus = None

    @property
    def environment(self):
        return {
            "HOME": self.home, "XDG_RUNTIME_DIR": self.runtime, "DBUS_SESSION_BUS_ADDRESS": self.address,
            "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def command(self, *words, start=subprocess.run, **options):
        return start(
            words, env=self.environment, cwd="/", user=self.uid, group=self.uid, extra_groups=[], **options)

    def begin(self):
        """Starts the bus. Programs that it starts get no display, so nobody is asked."""
        self.bus = self.command(
            "dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={self.address}",
            start=subprocess.Popen, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(f"{self.runtime}/bus"), "the session's bus listens")

    def processes(self):
        """The ids of the person's processes. One that has ended may remain for long until its
        parent has waited for it."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat") as file:
                    has_ended = file.read().rpartition(")")[2].split()[0] == "Z"
                if not has_ended and os.stat(f"/proc/{entry}").st_uid == self.uid:
                    found.append(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def end(self):
        """The person logs out: none of their processes runs any more."""
        for process in self.processes():
            try:
                os.kill(process, signal.SIGTERM)
            except ProcessLookupError:
                pass
        if self.bus is not None:
            self.bus.wait(10)
            self.bus = None
        wait_until(lambda: not self.processes(), "the session is over")
        for name in os.listdir(self.runtime):
            path = f"{self.runtime}/{name}"
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def close(self):
        self.end()
        for path in (self.home, self.folder):
            shutil.rmtree(path)

    def is_locked(self):
        done = self.command(
            "dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets/collection/login", "org.freedesktop.DBus.Properties.Get",
            "string:org.freedesktop.Secret.Collection", "string:Locked", capture_output=True, text=True, timeout=20)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[-1] == "true"

    def store(self, secret):
        self.command(
            "secret-tool", "store", "--label=a test", "place", "here", input=secret.encode(), check=True, timeout=20)

    def look_up(self):
        looked = self.command("secret-tool", "lookup", "place", "here", stdout=subprocess.PIPE, timeout=20)
        return looked.stdout.decode()


class Gnome(Case):
    @classmethod
    def setUpClass(cls):
        missing = [program for program in PROGRAMS if shutil.which(program) is None]
        if missing or not MODULE:
            raise unittest.SkipTest("needs gnome-keyring: " + ", ".join(missing or ["pam_gnome_keyring.so"]))
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.desktop = Desktop(self.person[1])
        self.addCleanup(self.desktop.close)
        self.gnome()

    def gnome(self, options=OPTIONS):
        """Debian's lightdm with our profile in common-auth."""
        self.machine.stack(
            "lightdm", f"auth [success=2 default=ignore] {{ours}} {options}",
            self.machine.unix("[success=1 default=ignore]"), "auth requisite pam_deny.so",
            "auth required pam_permit.so", "auth optional {ours} unlock", f"auth optional {MODULE[0]}",
            "session required pam_permit.so", f"session optional {MODULE[0]} auto_start")

    def session(self, typed, *fingers):
        """A whole login, up to the desktop."""
        self.machine.lock()
        self.desktop.begin()
        talk = Touching(self.worker, typed, fingers)
        with self.machine.login("lightdm", talk, tty=":0") as login:
            for name in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
                login.putenv(f"{name}={self.desktop.environment[name]}")
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            self.assertEqual(login.setcred(), PAM_SUCCESS)
            self.assertEqual(login.open_session(), PAM_SUCCESS)

    def passwd(self, former, new):
        """Changes the login password; the store and the keyring follow, as in Debian's
        common-password."""
        self.machine.change_password(new)
        self.machine.stack(
            "passwd", f"password required {{lab}} setold={former} set={new}", "password optional {ours}",
            f"password optional {MODULE[0]}")
        with self.machine.login("passwd") as login:
            login.putenv(f"XDG_RUNTIME_DIR={self.desktop.runtime}")
            self.assertEqual(login.chauthtok(), PAM_SUCCESS)

    def test_keyring(self):
        """a keyring made with the login password is open after a login by finger alone, and only with the option"""
        self.session([LOGIN])
        self.assertFalse(self.desktop.is_locked())
        self.desktop.store("a secret of the desktop")
        self.desktop.end()

        self.session([""], "alice")
        self.assertEqual(self.desktop.look_up(), "a secret of the desktop")
        self.assertFalse(self.desktop.is_locked())
        self.passwd(LOGIN, NEW_LOGIN)
        self.desktop.end()

        self.session([""], "alice")
        self.assertEqual(self.desktop.look_up(), "a secret of the desktop", "with the new login password")
        self.desktop.end()

        self.gnome("or_password fingerprint=on-empty")
        self.session([""], "alice")
        self.assertTrue(self.desktop.is_locked(), "a finger has no password")


class Following(Gnome):
    """Way (a): the login password opens both the store and the keyring."""

    CREATE = LOGIN, "followLogin"

    def passcode(self):
        self.assertEqual(self.machine.daemon.unlock(LOGIN).name, "done")
        self.machine.lock()


if __name__ == "__main__":
    unittest.main()
