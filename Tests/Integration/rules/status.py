"""Whether a login password meets the rules, as `status` knows it: from the passwords that were typed anyway, at no cost
to the login, and for nobody but the owner and root."""

import itertools
import queue
import threading
import time
import unittest

from daemonlab import CHEAP, IS_ROOT, Daemon, answers, as_uid, wait_until
from memorylab import Needles, gone
from patience import Stopwatch
from ruleslab import FakeWorker, Worker, answer, read_question

LOGIN = "correct Horse battery 7"
NUMBER = "[Passcode]\n" + CHEAP + "[Rule number]\nDisplay=a number at the end\nMatch=[0-9]$\n"
WORD = "[Passcode]\n" + CHEAP + "[Rule word]\nDisplay=no battery\nReject=battery\n"


def login(lab, password=LOGIN):
    """Sends the login password after pam_unix. Returns the verdict, and a stopwatch that says how long it took."""
    stopwatch = Stopwatch()
    verdict = lab.ask(
        "unlock", (), [password.encode()], hello={"frontEnd": "pamAuth", "service": "login"}, subject=lab.person,
        handle=bytes(16))
    return verdict, stopwatch.stop()


def meets(lab):
    return lab.status().meetsRules


class Status(unittest.TestCase):
    def lab(self, policy, socket="/nonexistent/rules", way="followLogin"):
        lab = Daemon(policy=policy, options=["--rules-socket", socket])
        self.addCleanup(lab.close)
        lab.create(LOGIN, way=way)
        return lab

    def worker(self):
        worker = Worker()
        self.addCleanup(worker.close)
        return worker

    def fake(self, serve):
        fake = FakeWorker(serve)
        self.addCleanup(fake.__exit__)
        return fake

    def again(self, lab):
        lab.lock()
        verdict, took = login(lab)
        self.assertEqual(verdict.outcome, "ignore", verdict)
        self.assertEqual(lab.status().lock, "unlocked")
        return took

    def test_built_in(self):
        """known from create on; after the rules changed, unknown until the next login"""
        lab = self.lab("MinLength=9")
        self.assertEqual(meets(lab), "yes")
        lab.policy("MinLength=60", reload=True)
        wait_until(lambda: meets(lab) == "unknown", "the policy is read")
        self.again(lab)
        self.assertEqual(meets(lab), "no")

    def test_custom(self):
        """custom rules are judged, too: at create and at a login"""
        lab = self.lab(NUMBER, self.worker().socket)
        wait_until(lambda: meets(lab) == "yes", "the rule was judged")
        lab.policy(WORD, reload=True)
        wait_until(lambda: meets(lab) == "unknown", "the policy is read")
        self.again(lab)
        wait_until(lambda: meets(lab) == "no", "the rule was judged")

    def test_both(self):
        """one rule that is met does not help if the password falls short of another"""
        lab = self.lab(NUMBER.replace("[Rule", "MinLength=60\n[Rule"), self.worker().socket)
        wait_until(lambda: meets(lab) != "unknown", "the rule was judged")
        self.assertEqual(meets(lab), "no")

    def test_new_password(self):
        """the password that the store follows from now on is judged as well"""
        lab = self.lab(NUMBER, self.worker().socket)
        wait_until(lambda: meets(lab) == "yes", "the rule was judged")
        done = lab.ask("resync", answers("", loginPassword="no number here", former=LOGIN), store="")
        self.assertEqual(done.name, "done", done)
        wait_until(lambda: meets(lab) == "no", "the rule was judged")

    def test_own_passcode(self):
        """a passcode of the store's own was judged when it was chosen"""
        lab = self.lab(NUMBER, self.worker().socket, way="ownPasscode")
        self.assertEqual(meets(lab), "unknown")

    def test_nobody_waits(self):
        """a login does not wait for a worker that hangs; its answer counts when it comes"""
        asked, go = queue.Queue(), threading.Event()

        def serve(connection):
            nonce, _, candidate = read_question(connection)
            asked.put(time.monotonic())
            go.wait(0.9)
            connection.sendall(answer(nonce, 0))

        def is_seen(lab):
            """Whether this came in time to see what the daemon says before the worker answers."""
            at = asked.get(timeout=60)
            found = meets(lab)
            is_early = time.monotonic() - at < 0.5
            go.set()
            if is_early:
                self.assertEqual(found, "unknown")
                wait_until(lambda: meets(lab) == "yes", "the answer was noted")
            go.clear()
            return is_early

        # Once more on a machine that takes longer than a worker may.
        while not is_seen(self.lab(NUMBER, self.fake(serve).socket)):
            pass
        lab = self.lab(NUMBER, self.fake(serve).socket)
        asked.get(timeout=60)
        for policy in itertools.cycle((WORD, NUMBER)):
            lab.policy(policy, reload=True)
            wait_until(lambda: meets(lab) == "unknown", "the policy is read")
            self.again(lab).assert_within(0.7)
            if is_seen(lab):
                break

    def test_late(self):
        """an answer about old rules says nothing about the new ones"""
        waiting = []
        lab = self.lab(NUMBER, self.fake(lambda connection: waiting.append(read_question(connection)) or
                                         time.sleep(1.5)).socket)
        wait_until(lambda: len(waiting) == 1, "the rule is being judged")
        lab.policy("MinLength=9", reload=True)
        wait_until(lambda: "policy" in lab.log(), "the policy is read")
        self.again(lab)
        wait_until(lambda: meets(lab) == "yes", "the present rules were judged")
        time.sleep(1.2)
        self.assertEqual(meets(lab), "yes")

    def test_no_worker(self):
        """a rule that cannot run leaves it unknown, and costs the login nothing"""
        lab = self.lab(NUMBER)
        self.again(lab).assert_within(0.7)
        self.assertEqual(meets(lab), "unknown")

    @unittest.skipUnless(IS_ROOT, "reads the daemon's memory")
    def test_not_kept(self):
        """the password is gone from memory when the request ends, also while the worker still works"""
        asked, end = threading.Event(), threading.Event()
        self.addCleanup(end.set)

        def serve(connection):
            read_question(connection)
            asked.set()
            end.wait(5)

        lab = self.lab(NUMBER, self.fake(serve).socket)
        stopwatch = Stopwatch()
        self.assertTrue(asked.wait(5))
        needles = Needles()
        needles.add_text("login", LOGIN)
        found = gone(lab.pid, needles, 0.5)
        stopwatch.assert_within(0.9, "too slow to see anything")
        self.assertEqual(found, {})

    @unittest.skipUnless(IS_ROOT, "asks as somebody else")
    def test_others(self):
        """nobody can ask about another person's password; a peer that only has the account's uid is told nothing"""
        lab = self.lab("MinLength=9")
        self.assertEqual(meets(lab), "yes")
        name, uid = lab.person
        self.assertEqual(as_uid(1, lambda: lab.status().code), 30)
        stray = lab.status(("somebody-else", uid))
        self.assertEqual((stray.lock, stray.meetsRules), ("ownerChanged", "unknown"))


if __name__ == "__main__":
    unittest.main()
