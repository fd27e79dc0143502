"""IdleTimeout: a store that is not used locks, also in front, by a clock that goes on while the
machine sleeps."""

import os
import time
import unittest

from daemonlab import PASSCODE, comes_to_rest, wait_until, wakeups
from faultlab import code
from patience import Stopwatch
from policylab import PolicyLab, policy
from slow import slow

LOCKED = 6


class Idle(unittest.TestCase):
    def lab(self, **keys):
        lab = PolicyLab(policy(**keys))
        self.addCleanup(lab.close)
        lab.make(PASSCODE)
        self.assertEqual(lab.set("a", b"1").name, "done")
        return lab

    def in_use(self, lab, seconds, idle, store=""):
        """Somebody asks for a value all the time. On a machine that leaves the store alone for its whole idle time
        meanwhile, once more from the beginning. Returns when the last one was sent."""
        began = last = time.monotonic()
        while last < began + seconds:
            before, last = last, time.monotonic()
            answer = lab.get("a", store)
            if answer.name != "value" and time.monotonic() - before >= idle:
                lab.open(PASSCODE, store)
                began = last = time.monotonic()
                continue
            self.assertEqual(answer.name, "value", answer)
            time.sleep(0.1)
        return last

    def locks(self, lab, seconds=10):
        wait_until(lambda: lab.state_of().lock == "locked", "the store locks", seconds)

    def test_locks(self):
        """it locks by itself when its time is over"""
        lab = self.lab(IdleTimeout="2s")
        stopwatch = Stopwatch()
        wait_until(lambda: "its idle time" in lab.log(), "the store locks", 10)
        self.assertGreater(stopwatch.seconds, 1)
        stopwatch.assert_within(3)
        self.assertEqual(code(lab.get("a")), LOCKED)
        lab.open(PASSCODE)
        self.assertEqual(lab.get("a").name, "value")
        self.locks(lab)

    def test_told_once(self):
        """the journal has a line of a store that was locked, and none where it was locked already"""
        lab = self.lab()
        for _ in range(2):
            self.assertEqual(lab.ask("lock").name, "done")
        self.assertEqual(lab.log().count("a store was locked"), 1)
        lab.open(PASSCODE)
        self.assertEqual(lab.ask("lock").name, "done")
        self.assertEqual(lab.log().count("a store was locked"), 2)

    def test_each_request(self):
        """each request to the store restarts its time, and looking at its state does not"""
        lab = self.lab(IdleTimeout="2s")
        self.in_use(lab, 5, 2)
        self.locks(lab, 4)

    def test_asleep(self):
        """after a long sleep of the machine the store is locked: nothing is served before that"""
        lab = self.lab(IdleTimeout="10min")
        lab.sleep(599 - 30)
        self.assertEqual(lab.get("a").name, "value")
        lab.sleep(599 - 30 + 601)
        self.assertEqual(code(lab.get("a")), LOCKED)
        self.assertEqual(lab.state_of().lock, "locked")
        lab.open(PASSCODE)
        self.assertEqual(lab.get("a").name, "value")

    def test_without_session(self):
        """a store whose owner has no session locks after a quarter of an hour, however the policy leaves it"""
        lab = self.lab()
        self.assertEqual(lab.state_of().idleTimeout, 900)
        lab.sleep(890 - 30)
        self.assertEqual(lab.get("a").name, "value")
        lab.sleep(890 - 30 + 901)
        self.assertEqual(code(lab.get("a")), LOCKED)
        self.assertEqual((lab.state_of().lock, lab.state_of().idleTimeout), ("locked", 0))

    def test_policy_changes(self):
        """a policy that changes applies to what is open, at once, in both directions"""
        lab = self.lab()
        is_read = False
        while not is_read:
            lab.write(policy(IdleTimeout="2s"))
            self.locks(lab, 20)
            began = time.monotonic()
            lab.open(PASSCODE)
            lab.write(policy(IdleTimeout="1h"))
            wait_until(lambda: lab.state_of().idleTimeout != 2, "the policy is read, or the time is over")
            # Once more where this machine took longer than the store may be idle.
            is_read = lab.state_of().idleTimeout == 3600
            self.assertTrue(is_read or time.monotonic() - began >= 2)
        time.sleep(2.5)
        self.assertEqual(lab.state_of().lock, "unlocked")

    def test_several(self):
        """of several open stores each has its own time"""
        lab = self.lab(IdleTimeout="2s")
        lab.make(PASSCODE, "second")
        lab.set("a", b"2", "second")
        locks = None
        while locks is None or time.monotonic() - last >= 2:
            last = self.in_use(lab, 4, 2, "second")
            locks = lab.state_of().lock, lab.state_of("second").lock
            lab.open(PASSCODE, "second")
        self.assertEqual(locks, ("locked", "unlocked"))

    def test_without_passcode(self):
        """a store without a passcode locks, too, and opens for its owner without a question"""
        lab = PolicyLab(policy(IdleTimeout="1s"))
        self.addCleanup(lab.close)
        lab.make(PASSCODE, way="noPasscode")
        lab.set("a", b"1")
        wait_until(lambda: "its idle time" in lab.log(), "the store locks", 10)
        self.assertEqual(lab.get("a").name, "value")

    @slow
    def test_no_wakeups(self):
        """nothing wakes up for it while no store is open, and one alarm is not moved by each request"""
        lab = self.lab(IdleTimeout="1h")
        wait_until(lambda: len(os.listdir(f"/proc/{lab.pid}/task")) == 1, "no thread but the loop", 20)
        with lab.client() as client:
            before = wakeups(lab.pid)
            for _ in range(200):
                self.assertEqual(client.run("get", name="a", store="").name, "value")
            during = wakeups(lab.pid) - before
        self.assertLess(during, 450)
        lab.ask("lock")
        comes_to_rest(lab.pid)


if __name__ == "__main__":
    unittest.main()
