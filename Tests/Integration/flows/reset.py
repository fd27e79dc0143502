"""A person who has forgotten the passcode resets their store: by what polkit demands, and without
it as before."""

import os
import threading
import unittest

from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account, wait_until
from polkitlab import Polkit, beginning

NEEDS_ROOT = True
TIMEOUT = 120
NOT_ALLOWED = "polkit does not allow it here."
NOT_ASKED = "polkit cannot be asked here."


class Reset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)

    def setUp(self):
        self.polkit = Polkit()
        self.addCleanup(self.polkit.close)
        self.daemon = Daemon("ThrottleAfter=0\nRetryLimit=9\nOnRetryLimit=lock", env=self.polkit.env)
        self.addCleanup(self.daemon.close)
        self.daemon.person = (self.name, self.uid)
        self.daemon.create()

    def reset(self, script=(), frontEnd="terminal", daemon=None):
        """From the person's own process: how it ends, what was shown and asked, and who asked."""
        def ask():
            with (daemon or self.daemon).client(frontEnd=frontEnd) as client:
                answer = client.run("reset", script, subject=(self.name, self.uid))
                hint = getattr(answer, "hint", "")
                return answer.name, client.shown, [each.purpose for each in client.asked], hint, (
                    os.getpid(), beginning(os.getpid()))

        return as_uid(self.uid, ask)

    def test_allowed(self):
        """what polkit allows is done without the passcode, and polkit is told who asks by the kernel's word"""
        self.polkit.says(yes=True)
        name, shown, asked, _, (pid, began) = self.reset()
        self.assertEqual((name, shown, asked), ("done", [], []), self.daemon.log())
        self.assertEqual(self.daemon.stores(), [])
        self.assertEqual(self.polkit.questions(), [(pid, began, self.uid, "org.appvault.reset")])
        self.assertIn("without its passcode, as polkit allows", self.daemon.log())
        # One connection is the daemon's own: there it hears of logind.
        wait_until(lambda: self.polkit.asking() <= 1, "the question's own connection ends")

    def test_not_allowed(self):
        """where polkit says no, or nothing, a sentence says so, and the passcode is asked for"""
        for answer, line in (
            (lambda: self.polkit.says(), NOT_ALLOWED), (lambda: self.polkit.says(challenge=True), NOT_ASKED),
            (self.polkit.refuses, NOT_ASKED), (self.polkit.leave, NOT_ASKED),
        ):
            answer()
            name, shown, asked, hint, _ = self.reset(answers("wrong"))
            self.assertEqual((name, asked), ("refused", ["passcode"] * 3))
            self.assertIn(line, shown[0])
            self.assertEqual([each for each in shown if "`appvault reset`" in each], [])
            self.assertIn("`appvault reset --user NAME`", hint)
            self.assertEqual(self.daemon.unlock().name, "done")
            self.daemon.lock()
        name, shown, asked, _, _ = self.reset(answers(PASSCODE))
        self.assertEqual((name, asked), ("done", ["passcode"]))
        self.assertEqual(self.daemon.stores(), [])

    def test_without_bus(self):
        """a machine without a system bus is one without polkit"""
        with Daemon() as daemon:
            daemon.person = (self.name, self.uid)
            daemon.create()
            name, shown, asked, _, _ = self.reset(answers(PASSCODE), daemon=daemon)
            self.assertEqual((name, asked), ("done", ["passcode"]))
            self.assertIn(NOT_ASKED, shown[0])

    def test_programs(self):
        """a program that is no terminal is asked for the passcode, and polkit is not asked"""
        self.polkit.says(yes=True)
        self.assertEqual(self.reset(answers("wrong"), frontEnd="program")[0], "refused")
        self.assertEqual(self.polkit.questions(), [])

    def test_while_it_asks(self):
        """while polkit asks the person everybody is served, and whoever leaves takes the question back"""
        self.polkit.says(yes=True)
        # While a store is open, the daemon listens to logind.
        wait_until(lambda: self.polkit.asking() == 1, "the daemon is on the bus")
        self.polkit.pause()
        def begin():
            def ask():
                with self.daemon.client(frontEnd="terminal") as client:
                    client.send("reset", subject=(self.name, self.uid))
                    os.write(sent[1], b"x")
                    os.read(goes[0], 1)

            as_uid(self.uid, ask)

        sent, goes = os.pipe(), os.pipe()
        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
        os.read(sent[0], 1)
        wait_until(lambda: self.polkit.asking() == 2, "the daemon asks")
        self.assertEqual(self.daemon.authenticate().outcome, "success")
        second = self.reset(answers("wrong"))
        self.assertIn(NOT_ASKED, second[1][0])
        self.assertEqual(self.polkit.asking(), 2)
        os.write(goes[1], b"x")
        thread.join(20)
        wait_until(lambda: self.polkit.asking() == 1, "the question is taken back")
        self.polkit.resume()
        self.assertEqual(self.daemon.status().lock, "unlocked")
        self.assertEqual(len(self.daemon.stores()), 1)

    def test_no_tries_left(self):
        """with no tries left polkit still lets the person reset it"""
        for _ in range(9):
            self.daemon.authenticate("wrong")
        self.daemon.lock()
        self.assertEqual(self.daemon.status().lock, "retryLocked")
        self.polkit.says()
        name, _, asked, hint, _ = self.reset()
        self.assertEqual((name, asked), ("refused", []))
        self.assertIn("`appvault tries clear --user NAME`", hint)
        self.polkit.says(yes=True)
        self.assertEqual(self.reset()[0], "done")


if __name__ == "__main__":
    unittest.main()
