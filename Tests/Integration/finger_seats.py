"""No finger is asked for when: each row at a daemon of root's own, with a logind that says what the test wants."""

import os
import unittest

from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account
from fingerlab import POLICY, FakeWorker, Finger, Reader
from fprintlab import LIST, MATCH
from guard_standing import SEATS, SESSION, Logind

NEEDS_ROOT = True
TIMEOUT = 180

REMOTE = "the session is a remote one"
ELSEWHERE = "your session is not the active one at this machine"
UNKNOWN = "nobody can say who is at this machine"
# By logind's answer: to sudo (the person's real uid), to login (root's), to a terminal of the person's.
SAID = {
    "at the seat": ("", ""),
    "remote": (REMOTE, REMOTE),
    "remote with a seat": (REMOTE, REMOTE),
    "not active": (ELSEWHERE, ELSEWHERE),
    "no seat": (ELSEWHERE, ELSEWHERE),
    "another's session": (ELSEWHERE, ELSEWHERE),
    "a session that is gone": (UNKNOWN, UNKNOWN),
    "no session": (UNKNOWN, ""),
    "refuses": (UNKNOWN, UNKNOWN),
    "user manager, display at the seat": ("", ""),
    "user manager, display remote": (REMOTE, REMOTE),
    "user manager, display not active": (ELSEWHERE, ELSEWHERE),
    "user manager, no display": (UNKNOWN, ""),
    "user manager, refuses": (UNKNOWN, UNKNOWN),
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
            env={"DBUS_SYSTEM_BUS_ADDRESS": self.logind.address}, start=False)
        self.daemon.person = (self.name, self.uid)
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.logind.set(session=SESSION + "seat")
        self.addCleanup(self.logind.lid, False)
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
        """whether somebody is at the machine, by every answer of logind; login asks before there is a session"""
        self.assertEqual(set(SAID), set(SEATS))
        for seat, (to_sudo, to_login) in SAID.items():
            with self.subTest(seat):
                self.logind.set(**SEATS[seat])
                self.assertEqual(self.why(), to_sudo)
                with self.daemon.client(frontEnd="pamAuth", service="login", realUID=0) as client:
                    state = Finger(client).run("fingerprintList", subject=(self.name, self.uid))
                self.assertEqual(state.unavailable, to_login)
                with self.daemon.client(frontEnd="terminal", realUID=0) as client:
                    state = Finger(client).run("fingerprintList", subject=(self.name, self.uid))
                self.assertEqual(state.unavailable, to_sudo)

    def test_person(self):
        """a locker, which is the person's own, is asked after as well"""
        def why():
            with self.daemon.client(frontEnd="pamAuth", service="swaylock") as client:
                return Finger(client).run("fingerprintList", subject=("", 0xFFFFFFFF)).unavailable

        for seat in ("at the seat", "remote", "no session", "another's session", "refuses"):
            with self.subTest(seat):
                self.logind.set(**SEATS[seat])
                self.assertEqual(as_uid(self.uid, why), SAID[seat][0])

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
        for seat in ("remote", "not active", "no session", "refuses"):
            self.logind.set(**SEATS[seat])
            asked = self.worker.kinds().count(MATCH)
            refused = self.ask("fingerprintVerify")
            self.assertEqual((refused.name, refused.code), ("refused", 28))
            self.assertEqual(self.worker.kinds().count(MATCH), asked)

    def test_not_root(self):
        """no finger is enrolled over a remote session either"""
        self.logind.set(**SEATS["remote"])
        refused = self.ask("fingerprintEnroll", answers(PASSCODE), frontEnd="terminal", finger="leftThumb")
        self.assertEqual((refused.name, refused.code), ("refused", 28))

    def test_given_away(self):
        """a store that root gives to another account takes no finger along"""
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
