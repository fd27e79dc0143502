"""A person with a finger who logs in by PAM: the real module, the real daemon, the real worker
with libfprint's virtual reader, and logind by python3-dbusmock."""

import os
import unittest

from daemonlab import IS_ROOT, answers, wait_until
from fingerlab import Finger
from fprintlab import Worker
from loginlab import Logind
from pamlab import PAM_SUCCESS, TEXT_INFO, Talk
from patience import Stopwatch
from wayslab import PASSCODE, Machine, account

POLICY = "RetryLimit=0\nThrottleAfter=0\n"
# libfprint's virtual readers want a swipe.
PLACE = "{}: swipe your finger over the reader, or press Enter to type the passcode."


class Touching(Talk):
    """Touches the reader with these fingers, one at each line that waits for a touch."""

    def __init__(self, worker, answers=(), fingers=()):
        super().__init__(answers)
        self.worker, self.fingers = worker, list(fingers)
        self.opened = None

    def opening(self):
        """Identifies the present opening of the reader; None if it is not open."""
        try:
            found = os.stat(self.worker.reader_socket("device"))
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_ctime_ns

    def answer(self, style, text):
        waits = "swipe your finger" in text or "Try again" in text or "Lift" in text or "Too short" in text
        if style == TEXT_INFO and waits and self.fingers:
            finger = self.fingers.pop(0)
            if "Try again" in text:
                # For another touch the reader is opened again: what was sent to the former opening
                # is lost.
                wait_until(lambda: self.opening() not in (None, self.opened), "the reader is opened again")
            self.opened = self.opening()
            self.worker.play("device", finger if " " in finger else f"SCAN {finger}")
        return super().answer(style, text)


class Case(unittest.TestCase):
    WORKER = {}
    CREATE = PASSCODE, "ownPasscode"

    @classmethod
    def setUpClass(cls):
        if not IS_ROOT:
            raise unittest.SkipTest("needs root: accounts, and a bus of its own")
        cls.logind = Logind(account()[1])
        cls.addClassCleanup(cls.logind.close)

    def setUp(self):
        self.worker = Worker(**self.WORKER)
        self.addCleanup(self.worker.close)
        self.machine = Machine(
            POLICY, options=["--fingerprint-socket", self.worker.socket],
            before=self.logind.before, env=self.logind.env)
        self.addCleanup(self.machine.close)
        self.machine.create(*self.CREATE, is_open=True)
        self.machine.way_b("login")
        self.at_seat()
        self.enroll("alice")
        self.machine.lock()
        self.before_session()

    def at_seat(self):
        self.logind.set(session="here")

    def before_session(self):
        self.logind.set()

    def enroll(self, finger):
        def touch(scan):
            if scan.event == "place" or (scan.event == "stage" and scan.stage < scan.stages):
                self.worker.play("device", f"SCAN {finger}")

        with self.machine.daemon.client(frontEnd="terminal") as client:
            done = Finger(client, answers(self.CREATE[0]), enter=touch).run(
                "fingerprintEnroll", subject=self.machine.daemon.person)
            self.assertEqual(done.name, "done", (done, self.machine.daemon.log(), self.worker.log()))

    def enter(self, *fingers, typed=(), service="login", flags=0, tty=":0", **items):
        """A whole login at a display: `code`, the questions, the lines, and how long it took."""
        talk = Touching(self.worker, typed, fingers)
        self.took = Stopwatch()
        with self.machine.login(service, talk, tty=tty, **items) as login:
            self.code = login.authenticate(flags)
            self.took.stop()
            if self.code == PAM_SUCCESS:
                login.setcred()
        self.prompts, self.lines = talk.prompts, talk.lines
        return talk

    def assertEntered(self, prompts=(), lines=()):
        self.assertEqual((self.code, self.prompts, self.lines), (PAM_SUCCESS, list(prompts), list(lines)))

    def failures_left(self):
        with self.machine.daemon.client(frontEnd="terminal") as client:
            return client.run("fingerprintList", subject=self.machine.daemon.person).failuresLeft
