"""The daemon with the real worker and libfprint's virtual readers: a touch opens the store."""

import os
import signal
import time
import unittest

from daemonlab import IS_ROOT, answers, wait_until
from fingerlab import Desk, effective
from fprintlab import Worker

TIMEOUT = 300


class RealDesk(Desk):
    """A daemon whose worker comes after it, as its account's."""

    def __init__(self, reader="device", policy="", daemon_env=(), **options):
        self.reader, self.options, self.real = reader, options, None
        self.folder_path = os.path.join("/tmp", f"appvault-finger-{os.getpid()}-{time.monotonic_ns()}")
        super().__init__(None, policy, path=self.folder_path, env=daemon_env)
        try:
            self.work()
        except BaseException:
            self.close()
            raise

    def work(self):
        uid = self.daemon.uid
        # A change of user forgets that it ends with the test.
        wrapper = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--pdeathsig=KILL"]
        self.real = Worker(readers=(self.reader,), wrapper=wrapper if IS_ROOT else [], **self.options)
        os.symlink(self.real.socket, self.folder_path)

    def close(self):
        # Its account goes last.
        if self.real is not None:
            self.real.close()
        super().close()
        if os.path.lexists(self.folder_path):
            os.unlink(self.folder_path)

    def playing(self, *commands):
        """One command for each touch that the reader waits for."""
        left = list(commands)

        def touch(scan):
            # After what did not match the reader says anew that it waits.
            if left and (scan.event in ("place", "stage") or scan.line[0].startswith("fingerprint.retry")):
                self.real.play(self.reader, left.pop(0))
            return False

        return touch

    def enroll_real(self, finger="alice", number="unnamed", before=()):
        touches = [f"SCAN {finger}"] * 5
        done = self.ask("fingerprintEnroll", answers(), self.playing(*before, *touches), finger=number)
        assert done.last.name == "done", (done.last, self.daemon.log(), self.real.log())
        return done

    def touch(self, *commands, request="openStore", script=()):
        return self.ask(request, script, self.playing(*commands))


class Case(unittest.TestCase):
    reader = "device"

    def setUp(self):
        self.desk = RealDesk(self.reader)
        self.addCleanup(self.desk.close)

    def check(self, finger, name, **fields):
        self.assertIsNotNone(finger.last, self.desk.daemon.log())
        self.assertEqual(finger.last.name, name, (finger.last, self.desk.real.log()))
        for field, value in fields.items():
            self.assertEqual(getattr(finger.last, field), value, finger.last)

    def enroll(self, **more):
        return self.desk.enroll_real(**more)


class Device(Case):
    def test_opens(self):
        """enrolled with a retry, a touch of that finger opens the store, and one of another does not"""
        finger = self.enroll(before=["RETRY 0"])
        self.assertIn("retry", finger.events)
        state = self.desk.list()
        self.assertEqual([each["usable"] for each in state.fingers], [True], state)
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
            began = time.monotonic()
            finger = self.desk.open(answers(), enter=lambda scan: scan.event == "place")
            self.check(finger, "done")
            self.assertLess(time.monotonic() - began, 5)
            self.desk.lock()
            self.check(self.desk.touch("SCAN alice"), "done")
            self.desk.lock()
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_retries_and_errors(self):
        """each retry has its line, each error leads to the passcode, and none is a failed touch"""
        self.enroll()
        self.desk.lock()
        lines = set()
        for retry in range(4):
            finger = self.desk.touch(f"RETRY {retry}", "SCAN alice")
            self.check(finger, "done")
            lines |= {line for line in finger.lines if line.startswith("fingerprint.retry")}
            self.desk.lock()
        self.assertEqual(len(lines), 4, lines)
        for error in range(11):
            with self.subTest(error=error):
                finger = self.desk.touch(f"ERROR {error}")
                self.check(finger, "refused", code=27)
                self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
        self.assertEqual(self.desk.list().failuresLeft, 5)
        self.check(self.desk.touch("SCAN alice"), "done")

    def test_worker_killed(self):
        """the worker is killed or stopped while it waits: the passcode, at once or within a few seconds; the next touch opens"""
        self.enroll()
        for number, longest in ((signal.SIGKILL, 3), (signal.SIGSTOP, 6)):
            self.desk.lock()
            real = self.desk.real

            def end(scan):
                if scan.event != "place":
                    return False
                real.process.send_signal(number)
                return number == signal.SIGSTOP

            began = time.monotonic()
            finger = self.desk.open(answers(), enter=end)
            self.check(finger, "done")
            self.assertLess(time.monotonic() - began, longest)
            self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
            real.process.kill()
            real.start()
        self.desk.lock()
        self.check(self.desk.touch("SCAN alice"), "done")

    def test_unplugged(self):
        """unplugged while it waits: the passcode; and nothing has failed"""
        self.enroll()
        self.desk.lock()
        finger = self.desk.touch("UNPLUG")
        self.check(finger, "refused", code=27)
        self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
        self.assertEqual(self.desk.list().failuresLeft, 5)


class Storage(Case):
    reader = "storage"

    def test_chip(self):
        """a reader that keeps prints: enrolled, matched, listed beside strangers, and deleted on the chip as well"""
        self.enroll()
        self.desk.lock()
        self.check(self.desk.touch("SCAN alice"), "done")
        state = self.desk.list()
        self.assertEqual((len(state.fingers), state.foreign), (1, 0))
        done = self.desk.ask("fingerprintSwitch", answers(), on=False)
        self.check(done, "done")

        def stored():
            # The worker serves one connection at a time, and the daemon wants it as well.
            with effective(self.desk.daemon.uid), self.desk.real.link() as link:
                return link.stored("storage")

        wait_until(lambda: stored() == ("stored", []), "the chip is empty")


if __name__ == "__main__":
    unittest.main()
