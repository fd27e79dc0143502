"""What is left of a print in the memory of the daemon and of the worker: nothing, once it was used."""

import os
import re
import secrets
import unittest

from daemonlab import ROOT, answers, wait_until
from fingerlab import Desk, FakeWorker
from fprintlab import Worker
from memorylab import Needles, gone, guarded, scan
from restartlab import NAME, Bytes, RestartingDesk, content, has_secret_memory
from screenlab import SleepyLogind

NEEDS_ROOT = True
TIMEOUT = 120


class Memory(unittest.TestCase):
    def test_daemon(self):
        """the daemon: enrolled, asked for, matched, deleted"""
        worker = FakeWorker()
        self.addCleanup(worker.close)
        desk = Desk(worker)
        self.addCleanup(desk.close)
        desk.enroll()
        desk.lock()
        worker.touches("match")
        self.assertEqual(desk.open().last.name, "done")
        (match,) = [request for request in worker.heard if request.templates]
        needles = Needles(print=match.templates[0][len("print of "):])
        self.assertEqual(gone(desk.daemon.process.pid, needles), {})
        self.assertEqual(desk.ask("fingerprintDelete", answers(), finger="unnamed").last.name, "done")
        self.assertEqual(gone(desk.daemon.process.pid, needles), {})

    def test_worker(self):
        """the worker as its unit starts it, with libfprint and GLib in it: enrolled, handed over and compared"""
        with open(os.path.join(ROOT, "config/systemd/appvault-fingerprint.service")) as unit:
            environment = re.findall("^Environment=(.*?)=(.*)$", unit.read(), re.MULTILINE)
        worker = Worker(environment=environment)
        self.addCleanup(worker.close)
        finger, other = secrets.token_hex(40), secrets.token_hex(40)
        with worker.link() as link:
            print = worker.enroll(link, finger)
            self.assertIn(finger.encode(), print)
            # The virtual reader itself keeps the last command: of as many bytes, from here on.
            self.assertEqual(worker.match(link, [print], other), ("noMatch",))
            link.readers()
            self.assertEqual(gone(worker.process.pid, Needles(finger=finger)), {})
        self.assertEqual(gone(worker.process.pid, Needles(finger=finger)), {})


@unittest.skipUnless(has_secret_memory(), "without secret memory a test cannot know the keys")
class ScreenLock(unittest.TestCase):
    """A locked screen: what is left of the keys of a store that a finger opens again. A restart shows the test which
    keys they are, and the next daemon has the same ones."""

    def setUp(self):
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)

    def desk(self, policy):
        desk = Desk(
            self.worker, policy="LockGrace=0\n" + policy, env=self.logind.env, before=self.logind.before,
            kind=RestartingDesk, options=["--stopped-before-hibernation"])
        self.addCleanup(desk.close)
        self.logind.session("c7", desk.person[1])
        self.logind.appears("c7", announced=True)
        self.logind.shows("c7", desk.person[1])
        desk.enroll()
        return desk

    def keys(self, desk):
        desk.daemon.stop()
        keys = Bytes.keys(content(desk.daemon.systemd.kept[NAME]))
        self.assertEqual(sorted(keys), ["records", "resident"])
        desk.daemon.start()
        self.assertTrue(desk.is_open(), desk.daemon.lines())
        made = {name: Needles(**{name: key}) for name, key in keys.items()}
        for needles in made.values():
            self.is_guarded(desk, needles)
        return made["records"], made["resident"]

    def is_guarded(self, desk, needles):
        """It is there, and only where it is neither swapped nor dumped."""
        found = scan(desk.daemon.pid, needles)
        self.assertEqual(len(found), 1, "the key is nowhere, so this test sees nothing")
        safe = guarded(desk.daemon.pid)
        for places in found.values():
            for place in places:
                self.assertIn(place.split()[1], safe, place)

    def lock(self, desk):
        self.logind.hints("c7", locked=True)
        wait_until(lambda: not desk.is_open(), "the store is shut", 120)

    def test_kept(self):
        """the records' keys are gone, and the key that a finger opens the store with is in guarded memory alone"""
        desk = self.desk("FingerprintAfterLock=yes\n")
        records, resident = self.keys(desk)
        for _ in range(2):
            self.lock(desk)
            self.assertEqual(gone(desk.daemon.pid, records), {})
            self.is_guarded(desk, resident)
            self.worker.touches("match")
            self.assertEqual(desk.open().last.name, "done")
            self.logind.hints("c7", locked=False)

    def test_not_kept(self):
        """unless the policy wants the passcode then: both are gone"""
        desk = self.desk("FingerprintAfterLock=no\n")
        records, resident = self.keys(desk)
        self.lock(desk)
        self.assertEqual(gone(desk.daemon.pid, records), {})
        self.assertEqual(gone(desk.daemon.pid, resident), {})

    def test_time_is_over(self):
        """and when the policy's time is over"""
        desk = self.desk("FingerprintAfterLock=3s\n")
        records, resident = self.keys(desk)
        self.lock(desk)
        self.assertEqual(gone(desk.daemon.pid, records), {})
        self.assertEqual(gone(desk.daemon.pid, resident), {})


if __name__ == "__main__":
    unittest.main()
