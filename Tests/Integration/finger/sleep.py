"""The machine goes to sleep: what the daemon does before and after it, with a logind that says what the test wants."""

import os
import signal
import threading
import time
import unittest

from daemonlab import PASSCODE, Daemon, answers, comes_to_rest, wait_until
from fingerlab import PLACE, Desk, FakeWorker
from fprintlab import LIST, MATCH, READERS
from patience import ADDED_UP, Stopwatch, others_took
from readerlab import RealDesk
from screenlab import SleepyLogind
from slow import slow

TIMEOUT = 240
NOT_OPENED = "your passcode must open the store once first"
NO_READER = "there is no reader"


class Case(unittest.TestCase):
    hibernation = "na"
    options = ()

    def setUp(self):
        self.logind = SleepyLogind(self.hibernation)
        self.addCleanup(self.logind.close)
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.desk = self.make_desk()
        self.addCleanup(self.desk.close)

    def make_desk(self):
        return Desk(self.worker, options=self.options, env=self.logind.env)

    def check(self, last, name, **fields):
        self.assertIsNotNone(last, self.desk.daemon.log())
        self.assertEqual(last.name, name, last)
        for field, value in fields.items():
            self.assertEqual(getattr(last, field), value, last)

    def opens_by_finger(self):
        self.worker.touches("match")
        finger = self.desk.open()
        return finger.last.name == "done" and self.desk.is_open()

    def scan(self, script=()):
        """A person who is asked for a finger, until the line is shown; the rest runs in a
        thread."""
        shown = threading.Event()
        found = {}

        def wait():
            found["finger"] = self.desk.open(script, enter=lambda scan: shown.set())

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        self.assertTrue(shown.wait(10))
        return thread, found


class Suspend(Case):
    def test_locks(self):
        """sleep waits until the store is locked; afterwards the finger opens it again, and the next sleep waits, too"""
        self.desk.enroll()
        self.assertTrue(self.desk.is_open())
        for _ in range(3):
            self.logind.falls_asleep().assert_within(2)
            self.assertFalse(self.desk.is_open())
            self.logind.wakes()
            self.assertTrue(wait_until(self.opens_by_finger, "the finger opens it"))
        self.assertIn("a store was locked: the machine goes to sleep", self.desk.daemon.log())
        self.assertEqual(self.desk.daemon.derivations(), 2, "one to create, one to enrol")

    def test_without_a_finger(self):
        """an open store is enough to delay sleep; a locked one delays nothing"""
        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        self.desk.lock()
        wait_until(lambda: not self.logind.is_delayed(), "nothing is open")
        self.check(self.desk.open(answers()).last, "done")
        self.logind.falls_asleep()
        self.assertFalse(self.desk.is_open())

    def test_watched(self):
        """whoever watches hears that the person has left, and after the sleep that they are back, here without a
        screen"""
        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        with self.desk.daemon.client() as client:
            client.tag += 1
            client.send("watch", client.tag)

            def heard(wanted):
                while (event := client.receive(20)).what != wanted:
                    self.assertIn(event.what, ("opened", "changed", "told", "locked"))

            heard("told")
            self.logind.falls_asleep()
            heard("left")
            self.logind.wakes()
            heard("cameBack")

    @slow
    def test_quiet(self):
        """a daemon that delays sleep is idle itself: no wakeup in three seconds"""
        self.desk.enroll()
        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        # After an opening the store is looked through once, some seconds later.
        comes_to_rest(self.desk.daemon.pid)

    def test_opened_too_late(self):
        """a store that is opened while the machine goes to sleep is locked again; the person is told that the opening
        worked"""
        self.logind.falls_asleep()
        self.check(self.desk.open(answers()).last, "done")
        wait_until(lambda: not self.desk.is_open(), "it is locked again")
        self.logind.wakes()
        self.check(self.desk.open(answers()).last, "done")
        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        self.assertTrue(self.desk.is_open())

    def test_questions(self):
        """a person who is asked for a new passcode, having typed the old one, is asked no longer; a first question
        stays"""
        gone, last = threading.Event(), {}

        def change(held, reached):
            def answer(ask):
                if ask.purpose == held:
                    reached.set()
                    gone.wait(20)
                return PASSCODE if ask.purpose == "passcode" else "another passcode"

            last[held] = self.desk.ask("passcode", answer, change="change").last

        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        threads = []
        for held in ("passcode", "newPasscode"):
            reached = threading.Event()
            threads.append(threading.Thread(target=change, args=(held, reached), daemon=True))
            threads[-1].start()
            self.assertTrue(reached.wait(10), held)
        self.logind.falls_asleep()
        self.logind.wakes()
        gone.set()
        for thread in threads:
            thread.join(20)
        self.check(last["newPasscode"], "refused", code=27)
        self.check(last["passcode"], "done")

    def test_next_question(self):
        """a passcode that is being checked when sleep comes leads to no further question"""
        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        self.desk.daemon.hold()
        before = self.desk.daemon.derivations()
        found = {}

        def change():
            found["finger"] = self.desk.ask("passcode", answers(newPasscode="another passcode"), change="change")

        thread = threading.Thread(target=change, daemon=True)
        thread.start()
        wait_until(lambda: self.desk.daemon.derivations() > before, "the passcode is looked at")
        self.logind.falls_asleep()
        self.desk.daemon.release()
        thread.join(20)
        self.check(found["finger"].last, "refused", code=27)
        self.assertEqual([ask.purpose for ask in found["finger"].client.asked], ["passcode"])
        self.logind.wakes()
        self.check(self.desk.open(answers()).last, "done")

    def test_impostor(self):
        """an announcement of sleep that is not logind's does nothing"""
        import dbus
        from dbus.lowlevel import SignalMessage

        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        connection = dbus.bus.BusConnection(self.logind.address)
        self.addCleanup(connection.close)
        for destination in self.logind.peers():
            message = SignalMessage("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep")
            message.set_destination(destination)
            message.append(True, signature="b")
            connection.send_message(message)
        message = SignalMessage("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep")
        message.append(True, signature="b")
        connection.send_message(message)
        connection.flush()
        # logind's own announcement comes after those, and is believed.
        self.assertTrue(self.desk.is_open())
        self.logind.falls_asleep()
        self.assertEqual(self.desk.daemon.log().count("goes to sleep"), 1)
        self.assertFalse(self.desk.is_open())

    def test_bus_ends(self):
        """the end of the bus does not disturb the daemon; when there is a bus again, sleep waits again"""
        wait_until(self.logind.is_delayed, "the daemon delays sleep")
        self.logind.end()
        self.check(self.desk.ask("status").last, "state")
        self.assertTrue(self.desk.is_open())
        self.logind.start()
        wait_until(self.logind.is_delayed, "the daemon delays sleep again")
        self.logind.falls_asleep()
        self.assertFalse(self.desk.is_open())

    def test_hung(self):
        """a logind that hangs delays nobody"""
        self.desk.lock()
        wait_until(lambda: not self.logind.is_delayed(), "nothing is open")
        self.logind.processes[1].send_signal(signal.SIGSTOP)
        stopwatch = Stopwatch()
        self.check(self.desk.open(answers()).last, "done")
        self.desk.lock()
        stopwatch.assert_within(2)
        self.logind.processes[1].send_signal(signal.SIGCONT)

    def test_refused(self):
        """without permission to delay sleep, the store is locked all the same"""
        self.desk.lock()
        wait_until(lambda: not self.logind.is_delayed(), "nothing is open")
        self.logind.refuses()
        self.check(self.desk.open(answers()).last, "done")
        wait_until(lambda: "lets no sleep wait for us" in self.desk.daemon.log(), "it says so")
        self.logind.says(True)
        wait_until(lambda: not self.desk.is_open(), "it is locked")


class Scanning(Case):
    def setUp(self):
        super().setUp()
        self.desk.enroll()
        self.desk.lock()

    def test_scan(self):
        """a scan is stopped, the reader released before sleep comes, and nothing is counted"""
        let_go = []

        def slow(visit, request):
            if request.kind != MATCH:
                return self.worker.honest(visit, request)
            visit.scan(request, PLACE)
            while not visit.is_cancelled(1):
                pass
            self.assertTrue(self.logind.is_delayed())
            time.sleep(0.3)
            let_go.append(self.logind.is_delayed())
            self.worker.fail(visit, request, "cancelled")

        self.worker.behave = slow
        thread, found = self.scan(answers())
        self.logind.falls_asleep().assert_within(2)
        self.assertEqual(let_go, [True], "not before the reader was let go")
        thread.join(20)
        self.check(found["finger"].last, "done")
        self.assertEqual(found["finger"].client.asked[0].purpose, "passcode")
        self.assertNotIn("fingerprint.noMatch", found["finger"].lines)
        self.logind.wakes()
        self.worker.behave = self.worker.honest
        wait_until(lambda: self.desk.list().failuresLeft == 5, "nothing was counted")
        self.desk.lock()
        self.assertTrue(wait_until(self.opens_by_finger, "the finger opens it"))

    def test_reader_hangs(self):
        """a worker that does not release the reader delays sleep for less than logind's five seconds"""
        def deaf(visit, request):
            if request.kind != MATCH:
                return self.worker.honest(visit, request)
            visit.scan(request, PLACE)
            while True:
                visit.receive()

        self.worker.behave = deaf
        thread, _ = self.scan(answers())
        self.logind.falls_asleep(within=5).assert_within(4.5)
        thread.join(20)

    def test_nobody_is_asked(self):
        """between the announcement of sleep and its end there is no reader: at once to the passcode"""
        self.logind.falls_asleep()
        asked = len(self.worker.heard)
        finger = self.desk.open(answers())
        self.check(finger.last, "done")
        self.assertEqual(finger.events, [])
        self.assertEqual(self.desk.list().unavailable, NO_READER)
        self.assertEqual(len(self.worker.heard), asked, "the worker was left alone")

    @slow
    def test_comes_back(self):
        """a late reader is looked for, each time after twice the wait; until then there is none, and no wrong finger"""
        late, looks = [], []

        def returning(visit, request):
            if request.kind == LIST:
                looks.append(time.monotonic())
            if request.kind == LIST and late:
                visit.send(READERS, request, bytes([0]))
            else:
                self.worker.honest(visit, request)

        self.worker.behave = returning
        self.logind.falls_asleep()
        late.append(True)
        stopwatch = Stopwatch()
        self.logind.wakes()
        wait_until(lambda: len(looks) >= 4, "it is looked for", 10)
        waits = [after - before for before, after in zip([stopwatch.began, *looks], looks)]
        expected = (0.25, 0.5, 1, 2)
        for number, look in enumerate(looks[:4], 1):
            # This process may have heard of an earlier one late.
            self.assertGreater(look - stopwatch.began, sum(expected[:number]) - 0.1, waits)
        too_long = sum(max(0, wait - each - 0.6) for wait, each in zip(waits, expected))
        if too_long:
            time.sleep(ADDED_UP)
            self.assertLess(too_long, others_took() - stopwatch.others, waits)
        finger = self.desk.open(answers())
        self.check(finger.last, "done")
        self.assertEqual(finger.events, [])
        self.assertEqual(self.desk.list().failuresLeft, 5)
        self.desk.lock()
        late.clear()
        self.assertTrue(self.opens_by_finger())
        count = len(looks)
        wait_until(lambda: len(looks) > count, "the last look", 6)
        self.assertEqual(self.desk.list().failuresLeft, 5)


class Hibernation(Case):
    hibernation = "yes"

    def test_wiped(self):
        """if memory may be written to the disk, what a finger opens is removed: the passcode comes first"""
        self.desk.enroll()
        self.logind.falls_asleep()
        self.logind.wakes()
        wait_until(lambda: self.desk.list().unavailable == NOT_OPENED, "the finger opens nothing")
        self.check(self.desk.open(answers()).last, "done")
        self.desk.lock()
        self.assertTrue(self.opens_by_finger())

    def test_too_late(self):
        """a passcode typed after the announcement of sleep leaves nothing that a finger could open either"""
        self.desk.enroll()
        self.logind.falls_asleep()
        self.check(self.desk.open(answers()).last, "done")
        wait_until(lambda: not self.desk.is_open(), "it is locked again")
        self.logind.wakes()
        wait_until(lambda: self.desk.list().unavailable == NOT_OPENED, "the finger opens nothing")

    def test_unknown(self):
        """a logind that does not answer counts as one that does not know"""
        for answer in ('ret = "challenge"', 'ret = "no"', 'raise dbus.exceptions.DBusException("no", name="a.b")'):
            with self.subTest(answer):
                self.desk.enroll() if not self.desk.list().fingers else self.desk.open(answers())
                self.logind.calls("CanHibernate", "s", answer)
                self.logind.falls_asleep()
                self.logind.wakes()
                wait_until(lambda: self.desk.list().unavailable == NOT_OPENED, "the finger opens nothing")

    def test_silent(self):
        """so does one that answers too late"""
        self.desk.enroll()
        self.logind.calls("CanHibernate", "s", "import time\ntime.sleep(1.5)\nret = 'na'")
        self.logind.falls_asleep(within=4)
        self.logind.wakes()
        wait_until(lambda: self.desk.list().unavailable == NOT_OPENED, "the finger opens nothing")


class Tokens(unittest.TestCase):
    """What the daemon remembers of failed tokens, without any finger."""

    def fails(self, hibernation, *options):
        """A daemon that remembers a failed token, and its logind."""
        logind = SleepyLogind(hibernation)
        self.addCleanup(logind.close)
        daemon = Daemon(
            "RetryLimit=9\nThrottleAfter=0", runtime=True, options=options,
            env={"DBUS_SYSTEM_BUS_ADDRESS": logind.address})
        self.addCleanup(daemon.close)
        daemon.create()
        daemon.lock()
        self.assertEqual(self.derived(daemon), 1)
        return logind, daemon

    def derived(self, daemon):
        before = daemon.derivations()
        daemon.authenticate(None, b"a password that drifted", service="swaylock", tokenOnly=True)
        return daemon.derivations() - before

    def test_wiped(self):
        """where memory may go to disk the key and the hashes go, and sleep waits for that, also with nothing open"""
        logind, daemon = self.fails("yes")
        self.assertEqual(len(os.listdir(daemon.runtime)), 2)
        logind.falls_asleep()
        self.assertEqual(os.listdir(daemon.runtime), [])
        logind.wakes()
        wait_until(lambda: not logind.is_delayed(), "nothing is left to be wiped")
        self.assertEqual(self.derived(daemon), 1)
        self.assertEqual(self.derived(daemon), 0)
        wait_until(logind.is_delayed, "the daemon delays sleep")

    def test_kept(self):
        """if memory stays memory they stay, and if systemd wipes them the daemon delays nothing"""
        logind, daemon = self.fails("na")
        logind.falls_asleep()
        logind.wakes()
        self.assertEqual((len(os.listdir(daemon.runtime)), self.derived(daemon)), (2, 0))
        logind, daemon = self.fails("yes", "--stopped-before-hibernation")
        wait_until(lambda: not logind.is_delayed(), "nothing is open")


class Unit(Case):
    hibernation = "yes"
    options = ("--stopped-before-hibernation",)

    def test_kept(self):
        """if systemd ends the daemon before a hibernation, any other sleep leaves what a finger opens"""
        self.desk.enroll()
        self.logind.falls_asleep()
        self.logind.wakes()
        self.assertTrue(wait_until(self.opens_by_finger, "the finger opens it"))


class Real(unittest.TestCase):
    def test_reader(self):
        """libfprint's own reader: a scan that sleep interrupts, and the same finger after it"""
        logind = SleepyLogind()
        self.addCleanup(logind.close)
        desk = RealDesk("device", daemon_env=logind.env)
        self.addCleanup(desk.close)
        desk.enroll_real()
        for _ in range(3):
            desk.lock()
            asleep = threading.Event()

            def sleep(scan):
                if scan.event == "place" and not asleep.is_set():
                    asleep.set()
                    logind.falls_asleep()
                    logind.wakes()
                return False

            finger = desk.ask("openStore", answers(), sleep)
            self.assertEqual(finger.last.name, "done", (finger.last, desk.daemon.log()))
            self.assertTrue(asleep.is_set())
            self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
            desk.lock()
            opened = wait_until(lambda: desk.touch("SCAN alice").last.name == "done", "the finger opens it")
            self.assertTrue(opened)
            self.assertEqual(desk.list().failuresLeft, 5)


def setUpModule():
    try:
        import dbus  # noqa: F401
        import dbusmock  # noqa: F401
    except ImportError as error:
        raise unittest.SkipTest(f"{error}: make deps") from error


if __name__ == "__main__":
    unittest.main()
