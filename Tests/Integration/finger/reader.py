"""The daemon with the real worker and libfprint's virtual readers: a touch opens the store."""

import os
import signal
import unittest

from daemonlab import answers, wait_until
from fingerlab import effective
from patience import Stopwatch
from readerlab import RealDesk

TIMEOUT = 300


class Case(unittest.TestCase):
    reader = "device"

    def setUp(self):
        self.desk = RealDesk(*((self.reader,) if isinstance(self.reader, str) else self.reader))
        self.addCleanup(self.desk.close)

    def check(self, finger, name, **fields):
        self.assertIsNotNone(finger.last, self.desk.daemon.log())
        self.assertEqual(finger.last.name, name, (finger.last, self.desk.real.log()))
        for field, value in fields.items():
            self.assertEqual(getattr(finger.last, field), value, finger.last)

    def enroll(self, **more):
        return self.desk.enroll_real(**more)


class Who(Case):
    """Two who share an account: a touch of either says who it is, where the reader tells two apart."""

    reader = "storage"

    def setUp(self):
        super().setUp()
        self.enroll()
        made = self.desk.ask("create", answers(), hello={"frontEnd": "program"}, way="ownPasscode", store="work")
        self.check(made, "done")
        # One touch more: the chip is asked first whether it knows the finger.
        touches = self.desk.playing("SCAN bob", lambda: None, *["SCAN bob"] * 5)
        self.check(self.desk.ask("fingerprintEnroll", answers(), touches, finger="unnamed", store="work"), "done")

    def switch(self, *commands, script=(), act="ask", store=""):
        finger = self.desk.finger(script, self.desk.playing(*commands))
        with finger.client:
            finger.last = finger.run("switchStore", act=act, store=store)
        return finger

    def states(self):
        return [self.desk.ask("status", store=store).last.lock for store in ("", "work")]

    def failures_left(self):
        return [self.desk.ask("fingerprintList", store=store).last.failuresLeft for store in ("", "work")]

    def test_either(self):
        """where both have agreed, a touch opens the store of whose finger it is; anybody else's is a try at both"""
        self.check(self.switch("SCAN alice"), "refused", code=27)
        self.assertEqual(self.states(), ["unlocked", "unlocked"])
        for store in ("", "work"):
            self.check(self.switch(act="agree", store=store, script=answers()), "done")
        for touch, states in [("alice", ["unlocked", "locked"]), ("bob", ["locked", "unlocked"]),
                              ("bob", ["locked", "unlocked"]), ("alice", ["unlocked", "locked"])]:
            finger = self.switch(f"SCAN {touch}")
            self.check(finger, "done")
            self.assertEqual((self.states(), finger.client.asked), (states, []))
            self.assertEqual(self.failures_left(), [5, 5])
        self.check(self.switch("SCAN carol", "SCAN bob"), "done")
        self.assertEqual((self.states(), self.failures_left()), (["locked", "unlocked"], [4, 5]))
        self.check(self.switch(*["SCAN carol"] * 3), "refused", code=27)
        self.assertEqual((self.states(), self.failures_left()), (["locked", "unlocked"], [1, 2]))
        # One try is left at the first one, and after it none comes.
        finger = self.switch("SCAN carol", "SCAN bob")
        self.check(finger, "refused", code=27)
        self.assertEqual((self.states(), self.failures_left()), (["locked", "unlocked"], [0, 1]))
        self.assertEqual(self.switch("SCAN alice").scans, [])
        # It needs no passcode, so what is so already is not told to the journal.
        for _ in range(3):
            self.check(self.switch(act="disagree", store="work"), "done")
        self.assertEqual(self.desk.daemon.log().count("a finger no longer says who it is"), 1)

    def test_the_worker_killed(self):
        """while it waits: the list, and nothing has opened"""
        for store in ("", "work"):
            self.check(self.switch(act="agree", store=store, script=answers()), "done")
        self.desk.lock()
        self.check(self.desk.ask("lock", store="work"), "done")
        finger = self.switch(lambda: self.desk.real.process.kill())
        self.check(finger, "refused", code=27)
        self.assertEqual(self.states(), ["locked", "locked"])
        self.assertEqual([ask.purpose for ask in finger.client.asked], ["choice"])


    def test_the_daemon_killed(self):
        """while it waits: the touch is counted at both already, nothing has opened, and both still agree"""
        for store in ("", "work"):
            self.check(self.switch(act="agree", store=store, script=answers()), "done")
        self.desk.lock()
        self.check(self.desk.ask("lock", store="work"), "done")
        try:
            self.switch(self.desk.daemon.kill)
        except OSError:
            pass
        self.desk.daemon.start()
        self.assertEqual(self.states(), ["locked", "locked"])
        self.assertEqual(self.failures_left(), [4, 4])
        for store in ("", "work"):
            self.check(self.desk.ask("openStore", answers(), store=store), "done")
        self.assertEqual(self.failures_left(), [5, 5])
        self.check(self.switch("SCAN bob"), "done")
        self.assertEqual(self.states(), ["locked", "unlocked"])


class Device(Case):
    def test_opens(self):
        """enrolled with a retry, a touch of that finger opens the store, and a touch of another finger does not"""
        finger = self.enroll(before=["RETRY 0"])
        self.assertIn("retry", finger.events)
        state = self.desk.list()
        self.assertEqual([each["standing"] for each in state.fingers], ["usable"], state)
        for _ in range(2):
            self.desk.lock()
            self.check(self.desk.touch("SCAN alice"), "done")
            self.assertTrue(self.desk.is_open())
        self.desk.lock()
        finger = self.desk.touch("SCAN bob", "SCAN bob", "SCAN bob")
        self.check(finger, "refused", code=27)
        self.assertEqual(finger.client.asked[0].purpose, "passcode")
        self.assertFalse(self.desk.is_open())
        self.assertEqual(self.desk.list().failuresLeft, 2)
        self.check(self.desk.touch("SCAN bob", "SCAN alice"), "done")
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_enter(self):
        """Enter ends the scan at once, and the reader is free for the next one"""
        self.enroll()
        self.desk.lock()
        for _ in range(5):
            stopwatch = Stopwatch()
            finger = self.desk.open(answers(), enter=lambda scan: scan.event == "place")
            self.check(finger, "done")
            stopwatch.assert_within(5)
            self.desk.lock()
            self.check(self.desk.touch("SCAN alice"), "done")
            self.desk.lock()
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_retries_and_errors(self):
        """each retry has its line, each error leads to the passcode, and none counts as a failed touch"""
        self.enroll()
        self.desk.lock()
        lines = set()
        for retry in range(4):
            finger = self.desk.touch(f"RETRY {retry}", "SCAN alice")
            self.check(finger, "done")
            lines |= {line for line in finger.lines if line.startswith("fingerprint.retry")}
            self.desk.lock()
        self.assertEqual(len(lines), 4, lines)
        # Commands to a reader that is gone arrive at the next one.
        for error in (*range(11), 0x100, 0x101):
            with self.subTest(error=error):
                finger = self.desk.touch(f"ERROR {error}")
                self.check(finger, "refused", code=27)
                self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
        self.assertEqual(self.desk.list().failuresLeft, 5)
        self.check(self.desk.touch("SCAN alice"), "done")

    def test_worker_killed(self):
        """the worker is killed or stopped while it waits: the passcode, at once or in seconds; the next touch opens"""
        self.enroll()
        for number, longest in ((signal.SIGKILL, 3), (signal.SIGILL, 3), (signal.SIGSTOP, 6)):
            self.desk.lock()
            real = self.desk.real

            def end(scan):
                if scan.event != "place":
                    return False
                real.process.send_signal(number)
                return number == signal.SIGSTOP

            stopwatch = Stopwatch()
            finger = self.desk.open(answers(), enter=end)
            self.check(finger, "done")
            stopwatch.assert_within(longest)
            self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
            real.process.kill()
            real.start()
        self.desk.lock()
        self.check(self.desk.touch("SCAN alice"), "done")

    def test_unplugged(self):
        """unplugged while it waits: the passcode; and nothing counts as failed"""
        self.enroll()
        self.desk.lock()
        finger = self.desk.touch("UNPLUG")
        self.check(finger, "refused", code=27)
        self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
        self.assertEqual(self.desk.list().failuresLeft, 5)
        self.check(self.desk.touch("SCAN alice"), "done")
        self.desk.lock()
        # After a touch that could not be read, and after one that did not match, which counts as
        # failed.
        self.check(self.desk.touch("RETRY 1", "UNPLUG"), "refused", code=27)
        self.assertEqual(self.desk.list().failuresLeft, 5)
        self.check(self.desk.touch("SCAN bob", "UNPLUG"), "refused", code=27)
        self.assertEqual(self.desk.list().failuresLeft, 4)
        self.check(self.desk.touch("SCAN alice"), "done")

    def test_unplugged_enrolling(self):
        """unplugged, or broken, at each stage of an enrolment: reported, and nothing is kept; the next enrolment is
        complete"""
        for what, reason in {
            "UNPLUG": "removed", "ERROR 0": "fault", "ERROR 1": "not-supported", "ERROR 4": "busy", "ERROR 5": "fault",
            f"ERROR {0x101}": "hot",
        }.items():
            for stages in (0, 2, 4) if what == "UNPLUG" else (1,):
                with self.subTest(what, stages=stages):
                    touches = self.desk.playing(*["SCAN alice"] * stages, what)
                    finger = self.desk.ask("fingerprintEnroll", answers(), touches, finger="unnamed")
                    self.check(finger, "refused", code=28)
                    self.assertEqual(finger.last.parameters["reason"], "fingerprint." + reason)
                    state = self.desk.list()
                    self.assertEqual((state.on, state.fingers), (False, []))
        finger = self.enroll(before=[f"RETRY {retry}" for retry in range(4)])
        retries = {line for line in finger.lines if line.startswith("fingerprint.retry")}
        self.assertEqual(len(retries), 4, finger.lines)
        self.desk.lock()
        self.check(self.desk.touch("SCAN alice"), "done")

    def test_killed_enrolling(self):
        """the worker dies during an enrolment: reported, and nothing is kept"""
        touches = self.desk.playing("SCAN alice", self.desk.real.process.kill)
        finger = self.desk.ask("fingerprintEnroll", answers(), touches, finger="unnamed")
        self.check(finger, "refused", code=28)
        self.assertFalse(self.desk.list().on)
        self.desk.real.start()
        self.enroll()


class Two(Case):
    """Two readers."""

    reader = ("device", "storage")

    def test_two(self):
        """the reader that the finger was enrolled on is asked, whichever others there are"""
        def alone(reader, other, finger):
            self.assertFalse(self.desk.real.is_open(other))
            self.desk.real.play(reader, f"SCAN {finger}")

        self.enroll(finger="alice", number="leftThumb")
        self.desk.lock()
        self.check(self.desk.touch(lambda: alone("device", "storage", "alice")), "done")
        self.restart("storage")
        self.desk.lock()
        finger = self.desk.open(answers())
        self.check(finger, "done")
        self.assertEqual(finger.events, [], "hers is not there")
        self.enroll(finger="bob", number="rightThumb")
        self.assertEqual([each["standing"] for each in self.desk.list().fingers], ["away", "usable"])
        self.desk.lock()
        self.check(self.desk.touch("SCAN bob"), "done")
        self.restart("device", "storage")
        # A virtual chip holds nothing after a restart.
        self.assertEqual([each["standing"] for each in self.desk.list().fingers], ["usable", "gone"])
        self.desk.lock()
        self.check(self.desk.touch(lambda: alone("device", "storage", "alice")), "done")

    def restart(self, *readers):
        """Restarts the worker with the readers that exist now."""
        self.desk.real.close()
        os.unlink(self.desk.folder_path)
        self.desk.readers, self.desk.reader = readers, readers[0]
        self.desk.work()


class Storage(Case):
    reader = "storage"

    def test_full(self):
        """a chip that is full, or already has the finger: reported, and nothing is kept"""
        for error, reason in ((8, "full"), (9, "duplicate")):
            touches = self.desk.playing(f"ERROR {error}")
            finger = self.desk.ask("fingerprintEnroll", answers(), touches, finger="unnamed")
            self.check(finger, "refused", code=28)
            self.assertEqual(finger.last.parameters["reason"], "fingerprint." + reason)
            self.assertFalse(self.desk.list().on)
        self.enroll()

    def test_clear(self):
        """a chip is emptied: its fingers are forgotten, and the same one can be enrolled again"""
        self.enroll()
        (reader,) = self.desk.list().readers
        shown = self.desk.ask("fingerprintClear", lambda ask: "no", reader=reader["driver"], agreed=False)
        self.check(shown, "refused", code=27)
        self.assertEqual([ask.purpose for ask in shown.client.asked], ["choice"])
        self.assertIn("right index finger", shown.client.shown[1])
        self.assertTrue(self.desk.list().on)
        self.check(self.desk.ask("fingerprintClear", reader=reader["driver"], agreed=True), "done")
        state = self.desk.list()
        self.assertEqual((state.on, state.fingers, state.foreign), (False, [], 0))
        self.enroll()

    def test_chip(self):
        """a reader that stores prints: enrolled, matched, listed beside other prints, and deleted on the chip as
        well"""
        self.enroll()
        self.desk.lock()
        self.check(self.desk.touch("SCAN alice"), "done")
        state = self.desk.list()
        self.assertEqual((len(state.fingers), state.foreign), (1, 0))
        # A touch that the chip knows is named before anything is enrolled; another finger is enrolled.
        known = self.desk.ask(
            "fingerprintEnroll", answers(), self.desk.playing("SCAN alice"), finger="leftThumb")
        self.check(known, "refused", code=28)
        self.assertEqual(known.last.parameters["reason"], "fingerprint.duplicate")
        self.assertIn("your right index finger", known.client.shown[-1])
        self.enroll(finger="bob", number="leftThumb", before=["SCAN bob", lambda: None])
        self.assertEqual([each["standing"] for each in self.desk.list().fingers], ["usable", "usable"])
        done = self.desk.ask("fingerprintSwitch", answers(), on=False)
        self.check(done, "done")

        def stored():
            # The worker serves one connection at a time, and the daemon needs it as well.
            with effective(self.desk.daemon.uid), self.desk.real.link() as link:
                return link.stored("storage")

        wait_until(lambda: stored() == ("stored", []), "the chip is empty")


if __name__ == "__main__":
    unittest.main()
