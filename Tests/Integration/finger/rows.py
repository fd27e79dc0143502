"""Each reason for which no finger is asked for, at the real module and daemon: the passcode's question comes at once,
and not one line before it. And the policy that allows fingers again, from its one line to the finger that opens."""

import os
import time
import unittest

from daemonlab import IS_ROOT, answers
from fingerlab import FakeWorker, Finger, Reader
from flowlab import Flows
from fprintlab import LIST, MATCH, Worker
from loginlab import Logind, place
from pamlab import PAM_SUCCESS, TEXT_INFO, Talk
from patience import Stopwatch
from wayslab import PASSCODE, Machine, account

NEEDS_ROOT = True
TIMEOUT = 300
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
ALLOWED = "Your policy now allows unlocking with a fingerprint."


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not IS_ROOT:
            raise unittest.SkipTest("needs root: accounts, and a bus of its own")
        cls.logind = Logind(account()[1])
        cls.addClassCleanup(cls.logind.close)

    def setUp(self):
        self.logind.set()
        self.logind.lid(False)


class Rows(Case):
    def setUp(self):
        super().setUp()
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.machine = Machine(
            POLICY, options=["--fingerprint-socket", self.worker.path],
            before=self.logind.before, env=self.logind.env)
        self.addCleanup(self.machine.close)
        self.machine.create(PASSCODE, is_open=True)
        place(self.logind, "at the seat")
        self.worker.touches("match", "match", "match")
        done = self.ask("fingerprintEnroll", finger="unnamed")
        self.assertEqual(done.name, "done", done)
        self.machine.lock()
        self.logind.set()
        self.option = ""

    def ask(self, request, **fields):
        with self.machine.daemon.client(frontEnd="terminal") as client:
            return Finger(client, answers(PASSCODE)).run(request, subject=self.machine.daemon.person, **fields)

    def policy(self, text):
        self.machine.daemon.policy(POLICY + text, reload=True)

    def enter(self, service="login", typed=(), **items):
        self.machine.stack(service, "auth required {ours} " + self.option)
        self.talk = Talk(typed)
        self.took = Stopwatch()
        with self.machine.login(service, self.talk, tty=":0", **items) as login:
            code = login.authenticate()
        self.took.stop()
        return code

    def assertFinger(self, **more):
        """The login by finger, which works without the reason: no question is asked."""
        self.machine.lock()
        self.worker.touches("match")
        self.assertEqual((self.enter(**more), self.talk.prompts), (PAM_SUCCESS, []))

    def assertPasscode(self, matches=0, **more):
        """At once: no line, one question, and no wait for a touch."""
        self.machine.lock()
        before = self.worker.kinds().count(MATCH)
        self.assertEqual(self.enter(typed=[PASSCODE], **more), PAM_SUCCESS, self.talk.messages)
        self.assertEqual(self.talk.messages[0][1], "AppVault passcode: ")
        self.took.assert_within(2)
        self.assertEqual(self.worker.kinds().count(MATCH) - before, matches)

    def test_remote_host(self):
        """PAM_RHOST"""
        self.assertFinger()
        self.assertPasscode(RHOST="192.0.2.7")

    def test_sessions(self):
        """a remote session, another person's, one that is not active or has no seat, and one that nobody knows"""
        place(self.logind, "at the seat")
        self.assertFinger(service="sudo")
        for name in ("remote", "another's session", "not active", "no seat", "a service", "a session that is gone",
                     "user manager, display remote"):
            with self.subTest(name):
                place(self.logind, name)
                self.assertPasscode(service="sudo")
        place(self.logind, "remote")
        self.assertPasscode()

    def test_lid(self):
        """the lid is shut"""
        self.assertFinger()
        self.logind.lid(True)
        self.assertPasscode()

    def test_not_enrolled(self):
        """no finger is enrolled"""
        place(self.logind, "at the seat")
        self.assertEqual(self.ask("fingerprintSwitch", on=False).name, "done")
        self.logind.set()
        self.assertPasscode()

    def test_policy(self):
        """the policy does not allow it, from the reload on"""
        self.assertFinger()
        self.policy("AllowFingerprint=no\n")
        self.assertPasscode()

    def test_option(self):
        """the service file says no"""
        self.option = "fingerprint=off"
        self.assertPasscode()
        self.option = "fingerprint=first"
        self.assertFinger()

    def test_external(self):
        """the reader is not built in, and the policy wants one that is"""
        self.worker.readers = [Reader(internal=False)]
        self.assertPasscode()
        self.policy("FingerprintReaders=any\n")
        self.assertFinger()

    def test_due(self):
        """a flow is due"""
        self.policy("MinLength=14\n")
        self.assertPasscode()

    def test_busy(self):
        """another program uses the reader: when the daemon looks for it, and when it wants to read the finger"""
        for kind in (LIST, MATCH):
            with self.subTest(kind):
                def busy(visit, request):
                    if request.kind == kind:
                        return self.worker.fail(visit, request, "busy")
                    return self.worker.honest(visit, request)

                self.worker.behave = busy
                self.assertPasscode(matches=int(kind == MATCH))
        self.worker.behave = self.worker.honest
        self.assertFinger()

    def test_no_reader(self):
        """no reader, or another one; when it is back, it is asked"""
        here = self.worker.readers
        for readers in ([], [Reader("other")], [Reader(port="9-9")]):
            self.worker.readers = readers
            self.assertPasscode()
        self.worker.readers = here
        self.assertFinger()

    def test_no_worker(self):
        """the worker's package is not installed"""
        os.unlink(self.worker.path)
        self.assertPasscode()

    def test_failures(self):
        """too many touches that did not match"""
        self.policy("FingerprintMaxFailures=1\n")
        self.worker.touches("no")
        self.assertEqual(self.enter(typed=[PASSCODE + "?"]) == PAM_SUCCESS, False)
        self.assertPasscode()
        self.assertFinger()

    def test_passcode_first(self):
        """the passcode has not opened the store since the daemon began, and after PasscodeEvery"""
        self.machine.daemon.restart()
        self.assertPasscode()
        self.assertFinger()
        self.policy("PasscodeEvery=1s\n")
        time.sleep(1.1)
        self.assertPasscode()


class Allowed(Case):
    """Flow 5 with a real reader."""

    def setUp(self):
        super().setUp()
        self.worker = Worker()
        self.addCleanup(self.worker.close)
        self.machine = Flows(
            POLICY + "AllowFingerprint=no\nAllowRecoveryKey=no\n",
            options=["--fingerprint-socket", self.worker.socket],
            before=self.logind.before, env=self.logind.env)
        self.addCleanup(self.machine.close)
        self.machine.create(PASSCODE)
        self.machine.stack("login", "auth required {ours}")
        self.machine.stack("sudo", "auth required {ours}")

    def enter(self, typed=(PASSCODE,), finger=None, service="login"):
        talk = Talk(typed)
        plain = talk.answer

        def answer(style, text):
            if style == TEXT_INFO and "swipe your finger" in text:
                self.worker.play("device", f"SCAN {finger}")
            return plain(style, text)

        talk.answer = answer
        self.machine.lock()
        with self.machine.login(service, talk, tty=":0") as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
        return talk.messages

    def turn_on(self):
        """Whether the person may turn fingers on, as `actions` says it."""
        with self.machine.daemon.client(frontEnd="terminal") as client:
            found = client.run("actions", subject=self.machine.daemon.person).actions
        return {each["name"]: each["allowed"] for each in found}["turn-on-fingerprint"]

    def enroll(self):
        """`appvault fingerprint enroll left-thumb` on a terminal."""
        with self.machine.terminal("fingerprint", "enroll", "left-thumb") as screen:
            screen.expect("Current passcode: ")
            screen.type(PASSCODE + "\n")
            screen.expect("Swipe your left thumb")
            self.worker.play("device", "RETRY 1")
            screen.expect("Too short")
            for _ in range(5):
                self.worker.play("device", "SCAN alice")
            return screen.end(), screen.seen

    def test_pam(self):
        """allowed again: one line at the next login that shows any, no question, a finger may be enrolled and opens"""
        self.assertEqual(self.enter(), [(1, "AppVault passcode: ")])
        self.assertFalse(self.turn_on())
        self.machine.policy(POLICY + "AllowRecoveryKey=no\n")
        self.assertEqual(self.enter(), [(1, "AppVault passcode: "), (TEXT_INFO, ALLOWED)])
        self.assertEqual(self.enter(), [(1, "AppVault passcode: ")])
        self.logind.set(session="here")
        self.assertTrue(self.turn_on())
        code, seen = self.enroll()
        self.assertEqual(code, 0, seen)
        self.assertIn(b"Enrolled: left thumb.", seen)
        self.assertEqual(len(self.enter((), "alice", "sudo")), 1)
        self.machine.lock()
        with self.machine.terminal("unlock") as screen:
            screen.expect("Swipe your finger")
            self.worker.play("device", "SCAN alice")
            self.assertEqual(screen.end(), 0, screen.seen)
        self.assertTrue(self.machine.is_open)

    def test_taken_back(self):
        """off again before anybody enrolled: nothing is announced, and nothing is due; then announced once more"""
        self.machine.policy(POLICY)
        self.assertEqual(self.enter()[1:], [(TEXT_INFO, ALLOWED)])
        self.machine.policy(POLICY + "AllowFingerprint=no\n")
        self.assertEqual(self.enter()[1:], [])
        self.assertFalse(self.turn_on())
        self.machine.policy(POLICY)
        self.assertEqual(self.enter()[1:], [(TEXT_INFO, ALLOWED)])


if __name__ == "__main__":
    unittest.main()
