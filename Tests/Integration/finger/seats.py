"""When no finger is asked for: each row with a daemon that runs as root, with a logind that says
what the test wants."""

import os
import threading
import unittest

from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account, wait_until
from fingerlab import POLICY, FakeWorker, Finger, Reader
from fprintlab import LIST, MATCH
from loginlab import PLACES, Logind, front_terminal, place

NEEDS_ROOT = True
TIMEOUT = 180

REMOTE = "the session is a remote one"
ELSEWHERE = "your session is not the active one at this machine"
UNKNOWN = "AppVault cannot find out who is at this machine"
# By the place of the process that asks, whatever that process says about itself.
SAID = {
    "at the seat": "",
    "remote": REMOTE,
    "remote with a seat": REMOTE,
    "not active": ELSEWHERE,
    "leaving": ELSEWHERE,
    "no seat": ELSEWHERE,
    "another's session": ELSEWHERE,
    "a session that is gone": UNKNOWN,
    "a service": UNKNOWN,
    "user manager, display at the seat": "",
    "user manager, display remote": REMOTE,
    "user manager, display not active": ELSEWHERE,
    "user manager, no display": UNKNOWN,
}


class Rows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)
        cls.logind = Logind(cls.uid)
        cls.addClassCleanup(cls.logind.close)

    def setUp(self):
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.daemon = Daemon(
            policy=POLICY, options=["--fingerprint-socket", self.worker.path],
            before=self.logind.before, env=self.logind.env, start=False)
        self.daemon.person = (self.name, self.uid)
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.logind.set(session="here")
        self.addCleanup(self.logind.lid, False)
        self.addCleanup(self.logind.front, front_terminal())
        self.daemon.create()
        self.worker.touches("match", "match", "match")
        enrolled = self.ask("fingerprintEnroll", answers(), frontEnd="terminal", finger="unnamed")
        self.assertEqual(enrolled.name, "done", enrolled)

    def ask(self, request, script=(), frontEnd="pamAuth", service="sudo", fields=(), **more):
        hello = dict(frontEnd=frontEnd, realUID=self.uid, **dict(fields))
        if frontEnd == "pamAuth":
            hello["service"] = service
        with self.daemon.client(**hello) as client:
            return Finger(client, script).run(request, subject=(self.name, self.uid), **more)

    def why(self, **more):
        state = self.ask("fingerprintList", **more)
        self.assertEqual(state.name, "fingerprintState", state)
        return state.unavailable

    def test_seats(self):
        """whether the person is at the machine, for every place that the process that asks can have"""
        self.assertEqual(set(SAID), set(PLACES))
        for name, said in SAID.items():
            with self.subTest(name):
                place(self.logind, name)
                self.assertEqual(self.why(), said)
                for kind, service in (("pamAuth", "login"), ("terminal", "")):
                    with self.daemon.client(frontEnd=kind, service=service, realUID=0) as client:
                        state = Finger(client).run("fingerprintList", subject=(self.name, self.uid))
                    self.assertEqual(state.unavailable, said)

    def test_person(self):
        """a locker, which is the person's own process, is checked as well"""
        def why():
            with self.daemon.client(frontEnd="pamAuth", service="swaylock") as client:
                return Finger(client).run("fingerprintList", subject=("", 0xFFFFFFFF)).unavailable

        for name in ("at the seat", "remote", "another's session", "a service", "user manager, display at the seat"):
            with self.subTest(name):
                place(self.logind, name)
                self.assertEqual(as_uid(self.uid, why), SAID[name])

    def test_console(self):
        """at a console's login only while its terminal is in front"""
        self.logind.set()
        self.assertEqual(self.why(service="login"), "")
        self.logind.front("tty9")
        self.assertEqual(self.why(service="login"), ELSEWHERE)
        self.logind.set(unit="system-getty.slice/getty@tty9.service")
        self.assertEqual(self.why(service="login"), "")
        self.logind.set(unit="system-serial\\x2dgetty.slice/serial-getty@ttyS0.service")
        self.assertEqual(self.why(service="login"), ELSEWHERE)

    def leaves(self, change):
        """A scan that waits, and what the person does meanwhile. Returns the answer, and how
        long it took."""
        client = self.daemon.client(frontEnd="pamAuth", service="login", realUID=0)
        self.addCleanup(client.close)
        asked = self.worker.kinds().count(MATCH)
        answer = []
        thread = threading.Thread(
            target=lambda: answer.append(Finger(client).run("fingerprintVerify", subject=(self.name, self.uid))))
        thread.start()
        wait_until(lambda: self.worker.kinds().count(MATCH) > asked, "the reader waits for a touch")
        change()
        thread.join(20)
        self.assertFalse(thread.is_alive(), "the scan goes on before somebody else")
        return answer[0]

    def test_terminal_switched(self):
        """a switch to another terminal ends the scan"""
        self.logind.set()
        refused = self.leaves(lambda: self.logind.front("tty9"))
        self.assertEqual((refused.name, refused.code), ("refused", 28))

    def test_person_switched(self):
        """a switch to another person does so, too"""
        self.logind.set(session="here")
        refused = self.leaves(lambda: self.logind.session("here", self.uid, active=False))
        self.addCleanup(self.logind.session, "here", self.uid)
        self.assertEqual((refused.name, refused.code), ("refused", 28))

    def test_match_of_somebody_else(self):
        """a match does not count if another person came to the front before it"""
        self.logind.set(session="here")
        self.addCleanup(self.logind.session, "here", self.uid)

        def touch(visit, request):
            self.logind.session("here", self.uid, active=False)
            return "match"

        self.worker.touch = touch
        refused = self.ask("fingerprintVerify")
        self.assertEqual((refused.name, refused.code), ("refused", 28))

    def test_remote_host(self):
        """PAM_RHOST: no finger, whatever logind says, and no worker is asked for one"""
        self.assertEqual(self.why(fields=dict(remoteHost="198.51.100.7")), REMOTE)

    def test_lid(self):
        """with the lid shut the built-in reader is not asked; an external one is, where the policy allows it"""
        self.logind.lid(True)
        self.assertEqual(self.why(), "the lid is shut")
        self.logind.lid(False)
        self.assertEqual(self.why(), "")
        self.logind.lid(True)
        self.daemon.policy(POLICY + "FingerprintReaders=any", reload=True)
        self.worker.readers = [Reader(), Reader(port="9-9", internal=False)]
        self.assertEqual(self.why(), "")

    def test_sudo_opens(self):
        """verified at the seat, and only there"""
        self.worker.touches("match")
        self.assertEqual(self.ask("fingerprintVerify").name, "done")
        for name in ("remote", "not active", "another's session", "a service"):
            place(self.logind, name)
            asked = self.worker.kinds().count(MATCH)
            refused = self.ask("fingerprintVerify")
            self.assertEqual((refused.name, refused.code), ("refused", 28))
            self.assertEqual(self.worker.kinds().count(MATCH), asked)

    def test_not_root(self):
        """no finger is enrolled over a remote session either"""
        place(self.logind, "remote")
        refused = self.ask("fingerprintEnroll", answers(PASSCODE), frontEnd="terminal", finger="leftThumb")
        self.assertEqual((refused.name, refused.code), ("refused", 28))

    def test_given_away(self):
        """when root gives a store to another account, its fingers do not go with it"""
        other, uid = add_account()
        self.addCleanup(remove_account, other)
        store = os.path.basename(self.daemon.store())
        self.assertEqual(os.listdir(os.path.join(self.daemon.state, "fingers")), [store])
        done = self.daemon.ask("chown", store=bytes.fromhex(store.replace("-", "")), owner=(other, uid))
        self.assertEqual(done.name, "done", done)
        self.assertEqual(os.listdir(os.path.join(self.daemon.state, "fingers")), [])
        self.assertEqual(self.daemon.status((other, uid)).passcode, "passcode")
        self.assertNotIn(LIST, self.worker.kinds()[-1:])


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("peers of other uids need root")
    try:
        import dbus  # noqa: F401
        import dbusmock  # noqa: F401
    except ImportError as error:
        raise unittest.SkipTest(f"{error}: make deps") from error


if __name__ == "__main__":
    unittest.main()
