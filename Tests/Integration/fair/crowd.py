"""A crowd cannot hold up the daemon: logins, the watchdog, memory and other people's requests,
while fifty people do their worst."""

import os
import statistics
import time
import unittest

import wire
from daemonlab import answers, as_uid
from fairlab import BEAT, CROWD, EACH, FULL_COST, OWNER, PASSCODE, POLICY, STRANGERS, Machine, Sink, goes_first
from patience import ADDED_UP, Stopwatch, others_took

NEEDS_ROOT = True
IS_SLOW = True
TIMEOUT = 1500
NEEDS_ALONE = True
MODES = ["pipeline", "slow", "leave", "half", "unread"]
# In addition to the memory of derivations: none runs when this is measured.
MEMORY = 128
# Everybody had a turn before; the daemon's queues are full after this.
BUILDS_UP = 0.3
# Logins of the one attack whose slowest are compared.
MANY = 100 if os.environ.get("APPVAULT_TESTS") == "soak" else 40


def high(times):
    """The 99th of a hundred values; of a few, the last but one."""
    return sorted(times)[-max(2, len(times) // 100 + 1)]


class Crowd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        goes_first(os.getpid())
        cls.machine = Machine(POLICY + FULL_COST)
        cls.addClassCleanup(cls.machine.close)
        goes_first(cls.machine.daemon.pid)
        cls.machine.daemon.create(PASSCODE, subject=OWNER)

    def attacked(self, mode, work, **more):
        """What `work` returns during the attack. No beat of the watchdog may be late, and no
        memory may be taken."""
        attack = self.machine.attack(mode, 300, **more)
        try:
            time.sleep(BUILDS_UP)
            stopwatch = Stopwatch()
            began = stopwatch.began
            result = work()
            resident = []
            for _ in range(10):
                resident.append(self.machine.resident())
                time.sleep(0.05)
            late = self.machine.watchdog.longest(began, time.monotonic()) - BEAT
            self.assertIsNone(attack.poll(), "the attack goes on")
        finally:
            attack.kill()
            attack.wait()
            attack.stdout.close()
        print(f"        {mode}: the watchdog {late:.2f} s late, {max(resident):.0f} MiB", flush=True)
        if late >= 1:
            # This computer may have stood still itself.
            time.sleep(ADDED_UP)
            self.assertLess(late - (others_took() - stopwatch.others), 1)
        self.assertLess(max(resident), MEMORY)
        return result

    def beside(self, mode, count, service, places=CROWD * EACH, **more):
        """Logins while the same attack goes to a socket that is not the daemon's: the computer
        has as much to do."""
        sink = Sink(self.machine.folder, places)
        attack = self.machine.attack(mode, 300, path=sink.path, **more)
        try:
            time.sleep(BUILDS_UP)
            return self.machine.logins(count, service)
        finally:
            attack.kill()
            attack.wait()
            attack.stdout.close()
            sink.close()

    def compare(self, mode, count, figure, service="lab", places=CROWD * EACH, **more):
        """None fails, and they take at most twice as long and 50 ms more; a machine that had other things to do gets
        two chances more to say so."""
        for chance in (3, 2, 1):
            quiet = self.beside(mode, count, service, places, **more)
            times = self.attacked(mode, lambda: self.machine.logins(count, service), **more)
            self.assertNotIn(None, quiet)
            self.assertNotIn(None, times)
            print(
                f"        {mode}: median {statistics.median(times):.3f} s, p99 {high(times):.3f} s, otherwise "
                f"{statistics.median(quiet):.3f} and {high(quiet):.3f} s", flush=True)
            bound = 2 * figure(quiet) + 0.05
            if figure(times) <= bound or chance == 1:
                break
        self.assertLessEqual(figure(times), bound)

    def test_all_at_once(self):
        """many logins while fifty people, each with sixteen connections, do everything at once"""
        self.compare("mixed", MANY, high)

    def test_each(self):
        """logins while fifty people all do the same: pipeline, drip, connect and leave, send half frames, read
        nothing"""
        for mode in MODES:
            with self.subTest(mode):
                self.compare(mode, 12, statistics.median)

    def test_without_account(self):
        """logins while eight hundred uids without an account connect and leave, or request everything that they can"""
        for mode in ("leave", "pipeline"):
            with self.subTest(mode):
                self.compare(mode, 12, statistics.median, places=32, first=STRANGERS, people=CROWD * EACH, each=1)

    def test_at_everybodys_door(self):
        """a peer that is not root waits in line with those who connect and leave, and gets in all the same"""
        self.compare("leave", 12, statistics.median, "locker")

    def test_owner(self):
        """the owner of an open store reads and writes it while the others do their worst"""
        uid = OWNER[1]
        own = ("", wire.UNKNOWN_UID)

        def read():
            slowest = 0.0
            with self.machine.daemon.client(timeout=30) as client:
                for number in range(40):
                    began = time.monotonic()
                    set_ = client.run("set", (), [b"%d" % number], name="one")
                    got = client.run("get", name="one")
                    if (set_.name, got.name, got.payload) != ("done", "value", b"%d" % number):
                        raise AssertionError(f"{set_}, {got}")
                    slowest = max(slowest, time.monotonic() - began)
            return slowest

        unlock = lambda: self.machine.daemon.ask("openStore", answers(PASSCODE), subject=own).name
        self.assertEqual(as_uid(uid, unlock), "done")
        for mode in ("pipeline", "mixed"):
            with self.subTest(mode):
                slowest = self.attacked(mode, lambda: as_uid(uid, read))
                self.assertLess(slowest, 5, "less than after which a front end gives up")

    def test_one_person(self):
        """four connections of one uid that request everything they can do not delay a login"""
        self.compare("pipeline", 12, statistics.median, people=1, each=4)


if __name__ == "__main__":
    unittest.main()
