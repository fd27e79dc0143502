"""A person leaves the screen while no daemon runs, or left it before: a restart opens nothing that would be shut."""

import unittest

from daemonlab import answers, wait_until
from fingerlab import Desk, FakeWorker, Finger, effective
from restartlab import NAME, RestartingDesk, has_secret_memory
from screenlab import SleepyLogind
from slow import slow

TIMEOUT = 240
NEEDS_ROOT = True
BOB = 47999


@unittest.skipUnless(has_secret_memory(), "this kernel has no secret memory")
class Restart(unittest.TestCase):
    def desk(self, policy="LockGrace=0\n"):
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        worker = FakeWorker()
        self.addCleanup(worker.close)
        desk = Desk(
            worker, policy=policy, env=self.logind.env, before=self.logind.before, kind=RestartingDesk,
            options=["--stopped-before-hibernation"])
        self.addCleanup(desk.close)
        uid = desk.person[1]
        self.logind.session("c7", uid)
        self.logind.appears("c7", announced=True)
        self.logind.shows("c7", uid)
        # The daemon has heard that the person is in front: the screen's lock shuts the store.
        self.logind.hints("c7", locked=True)
        wait_until(lambda: not desk.is_open(), "the store is shut", 120)
        self.logind.hints("c7", locked=False)
        self.assertEqual(desk.open(answers()).last.name, "done")
        return desk

    def says(self, desk, line):
        wait_until(lambda: any(line in each for each in desk.daemon.lines()), f"{line}: {desk.daemon.lines()}", 120)

    def test_in_front(self):
        """who stays in front finds the store open, and the screen's lock shuts it as before"""
        desk = self.desk()
        desk.daemon.restart()
        self.assertTrue(desk.is_open(), desk.daemon.lines())
        self.logind.hints("c7", locked=True)
        wait_until(lambda: not desk.is_open(), "the store is shut", 120)

    def test_locked_between(self):
        """a screen that is locked between the two daemons shuts the store, and so does another person in front"""
        for leaves in (
            lambda: self.logind.hints("c7", locked=True),
            lambda: self.logind.shows_file("b1", BOB),
        ):
            desk = self.desk()
            desk.daemon.stop()
            self.assertEqual(list(desk.daemon.systemd.kept), [NAME])
            leaves()
            desk.daemon.start()
            self.assertFalse(desk.is_open())
            self.says(desk, "a store stays locked after the restart: its owner is not in front any more")
            desk.close()

    def test_never(self):
        """if the policy keeps it open behind the lock, a restart there does, too"""
        desk = self.desk("LockGrace=0\n")
        desk.daemon.policy("LockOnBackground=never\n", reload=False)
        desk.daemon.stop()
        self.logind.hints("c7", locked=True)
        for _ in range(2):
            desk.daemon.start()
            self.assertTrue(desk.is_open(), desk.daemon.lines())
            desk.daemon.stop()

    def test_time_goes_on(self):
        """LockTimeout goes on over the restart"""
        desk = self.desk()
        desk.daemon.policy("LockOnBackground=timeout\nLockTimeout=4s\n")
        desk.daemon.restart()
        with effective(desk.person[1]):
            client = desk.daemon.client()
        with client:
            client.tag += 1
            client.send("watch", client.tag)
            while client.receive(60).what != "told":
                pass
            self.logind.hints("c7", locked=True)
            # The daemon has heard it when those who watch have.
            while client.receive(60).what != "left":
                pass
        desk.daemon.restart()
        wait_until(lambda: not desk.is_open(), "the store is shut", 120)
        self.says(desk, "a store was locked: the screen was locked")

    @slow
    def test_hold(self):
        """a hold goes on over the restart behind the locked screen, and when it is over the store is locked"""
        self.holds_on(self.desk("LockGrace=0\nHoldMax=1h\n"))

    @slow
    def test_hold_with_a_finger(self):
        """so it does if a finger opens the store, too: that key is left beside the store, and knows of no hold"""
        desk = self.desk("LockGrace=0\nHoldMax=1h\n")
        desk.enroll()
        self.holds_on(desk)

    def holds_on(self, desk):
        with effective(desk.person[1]):
            client = desk.daemon.client(frontEnd="terminal")
        with client:
            done = Finger(client, answers(), None).run("hold", subject=desk.person, seconds=10)
        self.assertEqual(done.name, "done", done)
        self.logind.hints("c7", locked=True)
        desk.daemon.restart()
        self.assertGreater(desk.daemon.status().heldUntil, 0)
        self.assertTrue(desk.is_open(), desk.daemon.lines())
        wait_until(lambda: not desk.is_open(), "the store is shut", 120)

    def test_opened_behind(self):
        """what was opened behind the locked screen stays open over a restart"""
        desk = self.desk()
        self.logind.hints("c7", locked=True)
        wait_until(lambda: not desk.is_open(), "the store is shut", 120)
        self.assertEqual(desk.open(answers()).last.name, "done")
        desk.daemon.restart()
        self.assertTrue(desk.is_open(), desk.daemon.lines())

    def test_sleep(self):
        """while the machine goes to sleep nothing is left; if it begins between two daemons, the store stays shut"""
        desk = self.desk()
        desk.daemon.stop()
        self.logind.is_asleep(True)
        desk.daemon.start()
        self.assertFalse(desk.is_open())
        self.says(desk, "a store stays locked after the restart: the machine went to sleep")
        self.logind.is_asleep(False)
        desk.daemon.policy("LockOnBackground=never\n")
        desk.daemon.restart()
        self.assertEqual(desk.open(answers()).last.name, "done")
        self.logind.falls_asleep()
        desk.daemon.stop()
        self.assertEqual(desk.daemon.systemd.kept, {})


if __name__ == "__main__":
    unittest.main()
