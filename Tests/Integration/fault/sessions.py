"""Sessions, deadlines, and what the daemon tells systemd."""

import os
import signal
import socket
import tempfile
import time
import unittest

import wire
from daemonlab import IS_ROOT, as_uid, wait_until
from faultlab import ME, Lab, code, policy
from pamlab import compiled
from patience import Stopwatch

PASSCODE = "correct horse"
LOGIN = {"frontEnd": "pamAuth", "service": "login", "tty": "tty1"}
SESSION = {"frontEnd": "pamSession", "service": "login", "tty": "tty1"}
# Within so many seconds a session follows a login.
DEADLINE = 1


class Sessions(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(policy(), options=["--deadline", f"session={DEADLINE}"])
        self.addCleanup(self.lab.close)
        self.lab.make(PASSCODE)
        self.lab.lock()

    def login(self):
        verdict = self.lab.authenticate(PASSCODE)
        self.assertEqual(verdict.outcome, "success")

    def session(self, request, id_="c1", kind="user", service="login"):
        verdict = self.lab.ask(
            request, hello={**SESSION, "service": service}, subject=ME, id=id_, sessionClass=kind
        )
        self.assertEqual((verdict.name, verdict.outcome), ("verdict", "ignore"))

    def opened(self, id_="c1", **more):
        self.session("sessionOpen", id_, **more)

    def closed(self, id_="c1", **more):
        self.session("sessionClose", id_, **more)

    def in_time(self, act, undo=lambda: None):
        """Logs in and does this within the deadline; returns what it gives, and when that began. A machine that has
        others to serve may take longer: then once more."""
        while True:
            began = time.monotonic()
            self.login()
            found = act()
            if time.monotonic() - began < DEADLINE:
                return found, began
            undo()

    def followed(self, *ids):
        """A login, and these sessions within the deadline."""
        def follow():
            for id_ in ids:
                self.opened(id_)

        def end():
            for id_ in ids:
                self.closed(id_)
            self.assertEqual(self.lock(), "locked")

        self.in_time(follow, end)

    def lock(self):
        return self.lab.state_of().lock

    def stays_open(self, seconds=1.6):
        """Stays open past the deadline. Looks at it all the time, not only at one moment."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertEqual(self.lock(), "unlocked")
            time.sleep(0.1)

    def is_shut(self, seconds=5):
        wait_until(lambda: self.lock() == "locked", "the store is shut", seconds)

    def test_no_session(self):
        """a store that a login opened is locked at the deadline if no session follows"""
        found, began = self.in_time(self.lock)
        self.assertEqual(found, "unlocked")
        self.is_shut()
        self.assertGreater(time.monotonic() - began, 0.8)

    def test_followed(self):
        """a session within the deadline keeps the store open, and its end locks it"""
        self.followed("c1")
        self.stays_open()
        self.assertEqual(self.lab.state_of().sessions, 1)
        self.closed()
        self.assertEqual(self.lock(), "locked")
        self.assertEqual(self.lab.state_of().sessions, 0)

    def test_before(self):
        """if a session exists already, a store that a login opens stays open"""
        self.opened()
        self.login()
        self.stays_open()

    def test_last(self):
        """with two sessions the end of the last one locks the store, and the end of the first one does not"""
        self.followed("c1", "c2")
        self.closed("c1")
        self.stays_open()
        self.closed("c2")
        self.assertEqual(self.lock(), "locked")

    def test_gone(self):
        """a session that logind no longer lists is over, however often PAM began it and whatever PAM has said since"""
        self.gone({})

    def test_gone_unwatched(self):
        """the same where other programs have taken all the watches of files; the journal has a line about it"""
        self.gone({"LD_PRELOAD": compiled("nowatch.c", "nowatch.so", "-shared", "-fPIC")}, 30)
        self.assertIn("the ends of sessions are looked for every few seconds", self.lab.log())

    def gone(self, environment, seconds=5):
        with tempfile.TemporaryDirectory() as listed:
            os.chmod(listed, 0o755)
            lab = Lab(
                policy(), options=["--deadline", f"session={DEADLINE}", "--session-dir", listed], env=environment)
            self.addCleanup(lab.close)
            lab.make(PASSCODE)
            lab.lock()
            self.lab = lab
            for name in ("c1", "c2"):
                with open(os.path.join(listed, name), "w"):
                    pass
            self.followed("c1", "c2", "c2", "unlisted")
            self.assertEqual(lab.state_of().sessions, 3)
            os.remove(os.path.join(listed, "c2"))
            wait_until(lambda: lab.state_of().sessions == 2, "the session is over")
            self.stays_open()
            self.closed("unlisted")
            self.assertEqual(self.lock(), "unlocked")
            os.remove(os.path.join(listed, "c1"))
            self.is_shut(seconds)
            self.assertEqual(lab.state_of().sessions, 0)
            # What PAM says about it afterwards locks nobody else's store.
            self.opened("c3")
            self.login()
            self.closed("c1")
            self.assertEqual(self.lock(), "unlocked")

    def test_unknown(self):
        """the end of a session that was never registered locks nothing"""
        self.followed("c1")
        self.closed("c9")
        self.stays_open(0.3)
        self.closed("c1")
        self.assertEqual(self.lock(), "locked")

    def test_classes(self):
        """a session that does not belong to a person keeps nothing open"""
        for kind in ("manager", "background", "greeter", "lock-screen"):
            with self.subTest(kind):
                self.login()
                self.opened(f"c-{kind}", kind=kind)
                self.assertEqual(self.lab.state_of().sessions, 0)
                self.is_shut()

    def test_other(self):
        """a store opened in the CLI has no deadline, and another person's session does not count for it"""
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        self.stays_open()
        if IS_ROOT:
            with self.lab.client(**SESSION) as client:
                client.run("sessionOpen", subject=("bob", 47012), id="c5", sessionClass="user")
            with self.lab.client(**SESSION) as client:
                client.run("sessionClose", subject=("bob", 47012), id="c5", sessionClass="user")
            self.assertEqual(self.lock(), "unlocked")

    @unittest.skipUnless(IS_ROOT, "needs another user's peer")
    def test_not_root(self):
        """a peer that is not root registers no session and ends none"""
        self.followed("c1")

        def ask():
            codes = []
            for request in ("sessionOpen", "sessionClose"):
                with wire.Client(self.lab.socket, 10) as client:
                    client.hello(frontEnd="pamSession", service="login")
                    codes.append(code(client.run(request, subject=ME, id="c1", sessionClass="user")))
            return codes

        self.assertEqual(as_uid(65432, ask), [wire.CODES["notPermitted"]] * 2)
        self.assertEqual(self.lock(), "unlocked")

    def test_restart(self):
        """after a restart everything is locked, and a session from before may end"""
        self.login()
        self.opened()
        for how in (signal.SIGTERM, signal.SIGKILL):
            self.lab.restart(how)
            self.assertEqual(self.lock(), "locked")
            self.closed()
            self.login()
            self.is_shut()
            self.opened()
        self.login()
        self.stays_open()


class Notify(unittest.TestCase):
    """Stands in for systemd's socket."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="appvault-notify-")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.addCleanup(self.socket.close)

    def next(self, seconds=10.0):
        self.socket.settimeout(seconds)
        return self.socket.recv(4096).decode().split("\n")

    def lab(self, **env):
        lab = Lab(policy(), env={"NOTIFY_SOCKET": self.path, **env}, start=False)
        self.addCleanup(lab.close)
        return lab

    def test_ready(self):
        """READY comes when the daemon serves, STOPPING on SIGTERM, and nothing in between without a watchdog"""
        lab = self.lab()
        lab.spawn()
        self.assertIn("READY=1", self.next())
        with lab.client():
            pass
        self.assertEqual(lab.stop(), 0)
        self.assertIn("STOPPING=1", self.next())
        with self.assertRaises(TimeoutError):
            self.next(0.2)

    def test_reload(self):
        """SIGHUP is RELOADING, and READY again"""
        lab = self.lab()
        lab.start()
        self.assertIn("READY=1", self.next())
        lab.process.send_signal(signal.SIGHUP)
        reloading = self.next()
        self.assertIn("RELOADING=1", reloading)
        self.assertIn("READY=1", self.next())

    def test_watchdog(self):
        """WATCHDOG comes at least twice per interval, and not from a loop that has stopped"""
        interval = 2.0
        lab = self.lab(WATCHDOG_USEC=str(int(interval * 1_000_000)))
        lab.start()
        self.assertIn("READY=1", self.next())
        for _ in range(4):
            stopwatch = Stopwatch()
            while "WATCHDOG=1" not in self.next():
                pass
            stopwatch.stop().assert_within(interval * 0.75)
        lab.pause()
        self.socket.setblocking(False)
        while True:
            try:
                self.socket.recv(4096)
            except BlockingIOError:
                break
        with self.assertRaises(TimeoutError):
            self.next(interval)
        lab.resume()
        self.assertIn("WATCHDOG=1", self.next())

    def test_other_watchdog(self):
        """a watchdog that was meant for another process is left alone"""
        lab = self.lab(WATCHDOG_USEC="1000000", WATCHDOG_PID="1")
        lab.start()
        self.assertIn("READY=1", self.next())
        with self.assertRaises(TimeoutError):
            self.next(1.0)


if __name__ == "__main__":
    unittest.main()
