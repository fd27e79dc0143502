"""What is left of a print in the memory of the daemon and of the worker: nothing, once it was used."""

import os
import re
import secrets
import unittest

from daemonlab import ROOT, answers
from fingerlab import Desk, FakeWorker
from fprintlab import Worker
from memorylab import Needles, gone

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


if __name__ == "__main__":
    unittest.main()
