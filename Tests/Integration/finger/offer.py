"""A finger is offered where a passcode is made inside a login: behind pam_unix at a store that has none, at a first
login with Onboard=login, and at `appvault unlock`. Whatever comes of it, the login succeeds and the passcode is
there."""

import os
import signal
import unittest

from daemonlab import IS_ROOT, answers, wait_until
from fingerlab import Finger
from fprintlab import Worker
from loginlab import Logind
from pamlab import ECHO_ON, ERROR_MSG, PAM_CONV_ERR, PAM_SUCCESS, TEXT_INFO, Talk
from patience import Stopwatch
from personlab import Person
from slow import slow
from wayslab import LOGIN, PASSCODE, Machine, account, in_child

NEEDS_ROOT = True
TIMEOUT = 300
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
OFFER = "Use your fingerprint to unlock? [y/n] "
PLACE = "Swipe your right index finger over the reader. Enter goes on without it."
STAGES = [f"{stage} of 5. Swipe the finger again." for stage in range(1, 5)]
READ = "Read: right index finger. It opens the store once you are logged in."


class Newcomer(Talk):
    """Answers each question by its id, and touches the reader with a finger when it is told to.
    At question number `at` the application gives `how` instead. `touches` are what the reader
    sees."""

    def __init__(self, worker, choice="y", touches=("SCAN alice",) * 8, at=None, how=PAM_CONV_ERR, reader="device"):
        super().__init__()
        self.worker, self.choice, self.touches, self.at, self.how = worker, choice, list(touches), at, how
        self.reader, self.asked = reader, 0

    def answer(self, style, text):
        self.messages.append((style, text))
        if style in (TEXT_INFO, ERROR_MSG):
            again = text in STAGES or "Too short" in text
            if (text == PLACE or again) and self.touches:
                touch = self.touches.pop(0)
                touch() if callable(touch) else self.worker.play(self.reader, touch)
            return None
        self.asked += 1
        if self.asked - 1 == self.at:
            return self.how() if callable(self.how) else self.how
        if text == "Password: ":
            return LOGIN
        if text == OFFER:
            return self.choice
        if "New passcode" in text:
            return PASSCODE
        return {"Make your store now? [y/n] ": "y", "Should your login password open it? [y/n] ": "n"}.get(
            text, "" if style == ECHO_ON else PAM_CONV_ERR)


class Case(unittest.TestCase):
    WORKER = {}
    READER = "device"
    OPTIONS = []

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
            POLICY, options=["--fingerprint-socket", self.worker.socket, *self.OPTIONS],
            before=self.logind.before, env=self.logind.env)
        self.addCleanup(self.machine.close)
        self.logind.set()
        self.machine.way_a("login")

    def without_passcode(self, policy="AllowNoPasscode=no\n"):
        """A store without a passcode, and a policy that no longer allows that."""
        done = self.machine.daemon.ask("create", way="noPasscode", subject=self.machine.daemon.person)
        self.assertEqual(done.name, "done")
        self.machine.lock()
        self.machine.daemon.policy(POLICY + policy, reload=True)

    def again(self):
        """Puts everything back to before the login."""
        self.machine.daemon.ask("reset", answers(PASSCODE), hello={"frontEnd": "terminal"})
        self.machine.daemon.policy(POLICY, reload=True)
        self.without_passcode()

    def enter(self, talk=None, confirm=True, service="login", tty=":0", **items):
        self.talk = talk or Newcomer(self.worker, reader=self.READER)
        with self.machine.login(service, self.talk, tty=tty, **items) as login:
            code = login.authenticate()
            self.assertEqual(code, PAM_SUCCESS, self.talk.messages)
            if confirm:
                self.assertEqual(login.setcred(), PAM_SUCCESS)
        self.assertIsNone(self.talk.error)

    @property
    def offered(self):
        return OFFER in self.talk.prompts

    def fingers(self):
        with self.machine.daemon.client(frontEnd="terminal") as client:
            return client.run("fingerprintList", subject=self.machine.daemon.person)

    def assertMade(self, finger):
        """The passcode is set and opens the store, nothing is due, and the finger is as it
        should be."""
        state = self.machine.daemon.status()
        self.assertEqual((state.lock, list(state.pending)), ("unlocked", []), self.talk.messages)
        found = self.fingers()
        self.assertEqual((found.on, len(found.fingers), found.ready), (finger, int(finger), finger), self.talk.messages)
        self.assertTrue(self.machine.opens_with(PASSCODE))

    def assertOpens(self):
        """A login by that finger alone."""
        self.machine.way_b("login")
        self.machine.lock()
        talk = Talk()
        opened = []

        def answer(style, text):
            opened.append(text)
            self.worker.play(self.READER, "SCAN alice")

        talk.answer = answer
        with self.machine.login("login", talk, tty=":0") as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
        self.assertEqual((len(opened), self.machine.is_open), (1, True))
        self.machine.way_a("login")


class Login(Case):
    """Flow 2: a store without a passcode, after pam_unix."""

    def setUp(self):
        super().setUp()
        self.without_passcode()

    def test_yes(self):
        """yes: the stages are shown, the finger is kept when the login is confirmed; it opens the store from then on"""
        self.enter()
        at = self.talk.lines.index(PLACE)
        self.assertEqual(self.talk.lines[at:], [PLACE, *STAGES, "5 of 5. One moment, please.", READ])
        self.assertMade(True)
        self.assertOpens()

    def test_retry(self):
        """a touch that could not be read is explained, and made again"""
        self.enter(Newcomer(self.worker, touches=["RETRY 1"] + ["SCAN alice"] * 5))
        self.assertIn("Too short: swipe the whole finger, a little more slowly.", self.talk.lines)
        self.assertMade(True)

    def test_no(self):
        """no, an empty answer and an end of the input mean no; the daemon does not ask again"""
        for choice in ("n", "", None):
            with self.subTest(choice):
                self.enter(Newcomer(self.worker, choice))
                self.assertNotIn(PLACE, self.talk.lines)
                self.assertMade(False)
                self.machine.lock()
                self.machine.way_b("login")
                with self.machine.login("login", [PASSCODE], tty=":0") as login:
                    self.assertEqual(login.authenticate(), PAM_SUCCESS)
                    self.assertEqual(len(login.talk.prompts), 1)
                self.machine.way_a("login")
                self.again()

    def test_each_question(self):
        """cancelled at each question: before the offer nothing is made and it is due again,
        from there on the passcode is"""
        self.enter(confirm=False)
        count = self.talk.asked
        self.assertEqual(self.talk.prompts[-1], OFFER)
        for at in range(1, count):
            for how in (PAM_CONV_ERR, None):
                with self.subTest(at=at, how=how):
                    self.enter(Newcomer(self.worker, at=at, how=how))
                    if at < count - 1:
                        self.assertEqual(list(self.machine.daemon.status().pending), [2])
                        self.assertFalse(self.offered)
                    else:
                        self.assertMade(False)
                        self.again()

    def test_enter(self):
        """Enter and Ctrl-C at the terminal go on without a finger"""
        for key in (b"\r", b"\x03"):
            with self.subTest(key):
                def work():
                    self.enter(Newcomer(self.worker, touches=[]), tty="/dev/tty1")
                    return self.talk.lines

                person = Person(work)
                self.addCleanup(person.close)
                person.press(key)
                self.assertEqual(person.result()[-1], PLACE)
                self.assertEqual(person.modes(), person.before)
                self.talk = Newcomer(self.worker)
                self.assertMade(False)
                self.again()

    def test_not_confirmed(self):
        """a login that is not confirmed makes neither the passcode nor the finger"""
        self.enter(confirm=False)
        self.assertIn(READ, self.talk.lines)
        self.assertEqual(self.fingers().on, False)
        self.assertEqual(self.machine.daemon.status().lock, "locked")
        self.enter()
        self.assertMade(True)

    def test_policy_changes(self):
        """fingers that the policy forbids before the login is confirmed are not kept"""
        def forbid():
            self.worker.play("device", "SCAN alice")
            self.machine.daemon.policy(POLICY + "AllowNoPasscode=no\nAllowFingerprint=no\n", reload=True)

        self.enter(Newcomer(self.worker, touches=["SCAN alice"] * 4 + [forbid]))
        self.machine.daemon.policy(POLICY + "AllowNoPasscode=no\n", reload=True)
        state = self.machine.daemon.status()
        self.assertEqual((state.lock, self.fingers().on), ("unlocked", False))

    def test_not_offered(self):
        """nothing is offered where the policy has no fingers, in a remote session, without a reader"""
        def plain():
            self.enter()
            self.assertFalse(self.offered)
            self.assertMade(False)
            self.again()

        self.machine.daemon.policy(POLICY + "AllowNoPasscode=no\nAllowFingerprint=no\n", reload=True)
        plain()
        self.logind.set(session="remote")
        plain()
        self.logind.set()
        self.worker.close()
        self.machine.daemon.restart()
        plain()

    def test_application_dies(self):
        """the application dies at each question and each line: nothing is made, and the reader is free at once"""
        self.enter(confirm=False)
        whole = len(self.talk.messages)
        for at in range(1, whole):
            with self.subTest(at):
                class Dying(Newcomer):
                    def answer(this, style, text):
                        if len(this.messages) == at:
                            os._exit(1)
                        return super().answer(style, text)

                with self.assertRaisesRegex(AssertionError, "the child died"):
                    in_child(lambda: self.enter(Dying(self.worker)))
                wait_until(lambda: not self.worker.is_open(), "the reader is free again")
                state = self.machine.daemon.status()
                self.assertEqual((state.lock, list(state.pending), self.fingers().on), ("locked", [2], False))
        self.enter()
        self.assertMade(True)

    @slow
    def test_daemon_killed(self):
        """the daemon is killed at each question and line: what was asked for is due again, the next login makes it"""
        self.enter(confirm=False)
        whole = len(self.talk.messages)
        for at in range(1, whole):
            with self.subTest(at):
                self.machine.daemon.restart()

                class Killing(Newcomer):
                    def answer(this, style, text):
                        if len(this.messages) == at:
                            self.machine.daemon.kill()
                            this.touches = []
                        return super().answer(style, text)

                self.enter(Killing(self.worker))
                self.machine.daemon.start()
                state = self.machine.daemon.status()
                self.assertEqual((state.lock, list(state.pending), self.fingers().on), ("locked", [2], False))
                wait_until(lambda: not self.worker.is_open(), "the reader is free again")
        self.enter()
        self.assertMade(True)


class Trouble(Case):
    """The same, where a touch is not waited for as long."""

    OPTIONS = ["--deadline", "touch=2"]

    def setUp(self):
        super().setUp()
        self.without_passcode()

    @slow
    def test_trouble(self):
        """nobody touches, the reader breaks, is pulled out, its worker dies: the passcode is there, login succeeds"""
        def die():
            os.killpg(self.worker.process.pid, signal.SIGKILL)

        said = "Your fingerprint cannot be read now: "
        for name, touches in {
            "nobody": [], "nobody any more": ["SCAN alice"], "general": ["ERROR 0"], "busy": ["ERROR 4"],
            "pulled out": ["SCAN alice", "UNPLUG"], "dead": ["SCAN alice", die],
        }.items():
            with self.subTest(name):
                stopwatch = Stopwatch()
                self.enter(Newcomer(self.worker, touches=touches))
                self.assertTrue(self.talk.lines[-1].startswith(said), self.talk.messages)
                stopwatch.assert_within(12)
                self.assertMade(False)
                self.worker.close()
                self.worker.__init__()
                self.machine.daemon.options[1] = self.worker.socket
                self.machine.daemon.restart()
                self.again()


class Chip(Case):
    """A reader that stores the prints itself."""

    WORKER = {"readers": ("storage",)}
    READER = "storage"

    def on_chip(self):
        with self.worker.link() as link:
            kind, found = link.stored("storage")
            self.assertEqual(kind, "stored")
            return len(found)

    def test_kept(self):
        """the finger is on the chip, and the daemon knows it"""
        self.without_passcode()
        self.enter()
        self.assertMade(True)
        self.assertEqual((self.on_chip(), self.fingers().foreign), (1, 0))
        self.assertOpens()


class ChipInVain(Chip):
    OPTIONS = ["--deadline", "transaction=1"]
    test_kept = None

    def test_not_confirmed(self):
        """a login that is not confirmed leaves nothing on the chip"""
        self.without_passcode()
        self.enter(confirm=False)
        self.assertIn(READ, self.talk.lines)
        wait_until(lambda: self.on_chip() == 0, "the chip is empty again")


class Onboarding(Case):
    """A first login with Onboard=login."""

    def setUp(self):
        super().setUp()
        self.machine.daemon.policy(POLICY + "Onboard=login\n", reload=True)

    def test_yes(self):
        """after a passcode of its own"""
        self.enter()
        self.assertMade(True)
        self.assertOpens()

    def test_follows(self):
        """after the login password, which opens the store"""
        class Follows(Newcomer):
            def answer(self, style, text):
                given = super().answer(style, text)
                return "y" if text.startswith("Should your login password") else given

        self.enter(Follows(self.worker))
        self.assertEqual((self.machine.is_open, self.fingers().on), (True, True), self.talk.messages)
        self.assertTrue(self.machine.opens_with(LOGIN))

    def test_no(self):
        """no leaves a store with a passcode"""
        self.enter(Newcomer(self.worker, "n"))
        self.assertMade(False)

    def test_not_confirmed(self):
        """a login that fails makes neither"""
        self.enter(confirm=False)
        self.assertIn(READ, self.talk.lines)
        self.assertEqual(self.machine.daemon.stores(), [])

    def test_no_store_wanted(self):
        """a person who wants no store is offered no finger"""
        class Declines(Newcomer):
            def answer(self, style, text):
                given = super().answer(style, text)
                return "n" if text.startswith("Make your store now") else given

        self.enter(Declines(self.worker))
        self.assertFalse(self.offered)


class Terminal(Case):
    """Flow 2 at `appvault unlock`."""

    def run_it(self, choice):
        def touch(scan):
            if scan.event == "place" or (scan.event == "stage" and scan.stage < scan.stages):
                self.worker.play("device", "SCAN alice")

        def script(ask):
            return {"choice": choice, "acknowledge": ""}.get(ask.purpose, PASSCODE)

        with self.machine.daemon.client(frontEnd="terminal") as client:
            done = Finger(client, script, enter=touch).run("openStore", subject=self.machine.daemon.person)
            self.assertEqual(done.name, "done", done)
            self.talk = Newcomer(self.worker)
            return [ask.purpose for ask in client.asked]

    def test_unlock(self):
        """the passcode, then the finger; or the passcode alone"""
        for choice, finger in (("y", True), ("n", False)):
            with self.subTest(choice):
                self.logind.set(session="here")
                self.without_passcode()
                self.assertEqual(self.run_it(choice).count("choice"), 1)
                self.assertMade(finger)
                self.machine.daemon.ask("reset", answers(PASSCODE), hello={"frontEnd": "terminal"})
                self.machine.daemon.policy(POLICY, reload=True)


if __name__ == "__main__":
    unittest.main()
