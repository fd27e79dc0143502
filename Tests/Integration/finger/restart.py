"""A restart of the daemon and what a finger opens: it stays, and no longer than without the restart."""

import time
import unittest

from daemonlab import PASSCODE, answers, wait_until
from fingerlab import Desk, FakeWorker
from restartlab import NAME, RestartingPrivate, content, has_secret_memory, secret_file

TIMEOUT = 240


@unittest.skipUnless(has_secret_memory(), "this kernel has no secret memory")
class Restart(unittest.TestCase):
    def desk(self, policy="", **more):
        worker = FakeWorker()
        self.addCleanup(worker.close)
        desk = Desk(worker, policy, kind=RestartingPrivate, options=["--stopped-before-hibernation"], **more)
        self.addCleanup(desk.close)
        desk.enroll()
        desk.lock()
        return desk

    def opens(self, desk):
        desk.worker.touches("match")
        finger = desk.open()
        return finger.last is not None and finger.last.name == "done" and desk.is_open()

    def test_stays(self):
        """a finger opens a store that a passcode has opened before the restart"""
        desk = self.desk()
        for _ in range(2):
            desk.daemon.restart()
            self.assertFalse(desk.is_open())
            self.assertTrue(self.opens(desk))
            desk.lock()

    def test_killed(self):
        """after a kill no finger opens it"""
        desk = self.desk()
        desk.daemon.kill()
        desk.daemon.start()
        self.assertFalse(self.opens(desk))

    def test_over(self):
        """PasscodeEvery goes on over the restart"""
        desk = self.desk("PasscodeEvery=4s\n")
        end = time.monotonic() + 4
        desk.daemon.restart()
        wait_until(lambda: time.monotonic() > end, "the time is over", 60)
        self.assertFalse(self.opens(desk))

    def test_not_allowed(self):
        """if the policy allows no finger any more, none opens it, and the key goes"""
        desk = self.desk()
        desk.daemon.stop()
        desk.daemon.policy("AllowFingerprint=no\n")
        desk.daemon.start()
        self.assertFalse(self.opens(desk))
        desk.daemon.stop()
        self.assertEqual(desk.daemon.systemd.kept, {})

    def test_other_slot(self):
        """what was left under a passcode that was changed since opens nothing"""
        desk = self.desk()
        desk.daemon.stop()
        data = content(desk.daemon.systemd.kept[NAME])
        desk.daemon.start()
        with desk.daemon.client(frontEnd="terminal") as client:
            done = client.run(
                "passcode", answers(PASSCODE, newPasscode="another horse"), subject=desk.person, change="change")
        self.assertEqual(done.name, "done", done)
        desk.daemon.kill()
        desk.daemon.systemd.kept = {NAME: secret_file(data, desk.daemon.uid)}
        desk.daemon.start()
        self.assertFalse(self.opens(desk))


if __name__ == "__main__":
    unittest.main()
