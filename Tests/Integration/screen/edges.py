"""A person leaves the screen and comes back: what the daemon does to their open stores, with a logind that says what
the test wants."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import unittest

import pamlab
from daemonlab import answers, derivation_counter, wait_until
from fingerlab import Desk, FakeWorker, Finger, effective
from screenlab import SESSION, SleepyLogind, path
from slow import slow

TIMEOUT = 240
NEEDS_ROOT = True
BOB = 47999
# As often as somebody leaves and comes back in a week.
ROUNDS = int(os.environ.get("ROUNDS") or 100)


def memory(pid):
    """What a process has of its own in memory, in bytes."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_")) * 1024


class Case(unittest.TestCase):
    policy = "LockGrace=0\n"

    def setUp(self):
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.slept = os.path.join(self.logind.folder, "slept")
        with open(self.slept, "w"):
            pass
        shim = pamlab.compiled("slept.c", "slept.so", "-shared", "-fPIC", "-ldl")
        env = {**self.logind.env, "LD_PRELOAD": f"{derivation_counter()}:{shim}", "SLEPT": self.slept}
        self.desk = Desk(self.worker, policy=self.policy, env=env, before=self.logind.before)
        self.addCleanup(self.desk.close)
        self.uid = self.desk.person[1]
        self.arrives("c7")

    def arrives(self, name, uid=None, **how):
        """A person logs in, in front."""
        uid = self.uid if uid is None else uid
        self.logind.session(name, uid, **how)
        self.logind.appears(name, announced=True)
        self.logind.shows(name, uid)

    def lasts(self, seconds):
        """The machine sleeps for so long: only the boot clock goes on."""
        os.truncate(self.slept, os.path.getsize(self.slept) + seconds)

    def is_shut(self, why=""):
        wait_until(lambda: not self.desk.is_open(), f"the store is shut {why}\n{self.desk.daemon.log()}", 60)

    def is_open(self):
        self.assertTrue(self.desk.is_open(), self.desk.daemon.log())

    def unlock(self):
        """By the passcode: Enter ends the wait for a finger."""
        last = self.desk.open(answers(), enter=lambda scan: True).last
        self.assertEqual(last.name, "done", last)
        self.is_open()


class Edges(Case):
    def test_screen(self):
        """the screen's lock shuts the store, its end does not open it, and the passcode at the locker does"""
        self.is_open()
        for _ in range(3):
            self.logind.hints("c7", locked=True)
            self.is_shut()
            self.unlock()
            self.logind.hints("c7", locked=False)
            self.is_open()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        # It is shut for requests before it is locked.
        locked = "a store was locked: the screen was locked"
        wait_until(lambda: self.desk.daemon.log().count(locked) == 4, "the store is locked")
        self.logind.hints("c7", locked=False)
        wait_until(lambda: "it stays locked" in self.desk.daemon.log(), "the daemon has heard it")
        self.assertFalse(self.desk.is_open())

    def test_told_to_lock(self):
        """a locker that says nothing itself: the word of logind is enough"""
        self.logind.tells_to_lock("c7")
        self.is_shut()
        self.unlock()
        self.logind.tells_to_lock("c7")
        self.is_shut()

    def test_switch(self):
        """another person in front shuts it, and so does a greeter or nobody; a second session of one's own does not"""
        self.arrives("c8")
        self.is_open()
        self.arrives("b1", BOB)
        self.is_shut()
        self.logind.shows("c7", self.uid)
        self.unlock()
        self.logind.shows(None)
        self.is_shut()
        self.logind.shows("c8", self.uid)
        self.unlock()

    def test_end(self):
        """the session ends, and one over ssh goes on: shut; what is opened there is open until that one ends"""
        self.logind.session("r9", self.uid, remote=True, seat=None)
        self.logind.appears("r9", announced=True)
        self.is_open()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.unlock()
        self.logind.goes("r9")
        self.is_shut()

    def test_logind_restarts(self):
        """a logind that was started again has forgotten the lock: what was shut stays shut, and the next lock is
        heard"""
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.logind.restarts()
        self.assertFalse(self.desk.is_open())
        self.unlock()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.unlock()
        self.logind.restarts()
        self.logind.shows(None)
        self.is_shut()

    def test_closing(self):
        """a session that leaves a program behind is never announced as ended: its file says that it is closing"""
        # Until the daemon is sure to know the session: the end of one that it has never seen is nobody's leaving.
        self.logind.hints("c7", locked=True)
        wait_until(lambda: "the screen was locked" in self.desk.daemon.log(), "the store is shut")
        self.logind.hints("c7", locked=False)
        wait_until(lambda: "it stays locked" in self.desk.daemon.log(), "the screen is unlocked")
        self.unlock()
        self.logind.session("c7", self.uid, state="closing")
        self.is_shut()
        self.unlock()
        self.arrives("d1", seat=None)
        # Without a seat, a session of text is not in front, and its file says no more.
        self.logind.session("d1", self.uid, seat=None, state="closing")
        self.is_open()

    def test_locked_while_logind_was_away(self):
        """what happened while nobody could hear it is seen afterwards"""
        # What comes after the person's arrival was heard, so that was heard, too.
        self.logind.tells_to_lock("c7")
        self.is_shut()
        self.unlock()
        self.logind.end()
        self.is_open()
        self.logind.shows_file("b1", BOB)
        self.logind.start()
        self.is_shut("after the bus came back")

    def test_opened_behind_the_lock(self):
        """another one came in front while nobody could hear it: what was opened behind the lock is shut, too"""
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.unlock()
        self.logind.end()
        self.is_open()
        self.logind.shows_file("b1", BOB)
        self.logind.start()
        self.is_shut("after the bus came back")

    def test_impostor(self):
        """a lock that is not logind's does nothing"""
        import dbus
        from dbus.lowlevel import SignalMessage

        connection = dbus.bus.BusConnection(self.logind.address)
        self.addCleanup(connection.close)
        for destination in [*self.logind.peers(), None]:
            message = SignalMessage(path("c7"), SESSION, "Lock")
            if destination:
                message.set_destination(destination)
            connection.send_message(message)
        connection.flush()
        # logind's own word comes after those, and is believed.
        self.logind.hints("c7", locked=True)
        self.is_shut()
        wait_until(lambda: "the screen was locked" in self.desk.daemon.log(), "it says so")
        self.assertEqual(self.desk.daemon.log().count("the screen was locked"), 1)

    def test_flood(self):
        """a session that flickers keeps nobody from the daemon, and the last word counts"""
        began = time.monotonic()
        for _ in range(300):
            self.logind.hints("c7", locked=True)
            self.logind.hints("c7", locked=False)
        self.assertEqual(self.desk.ask("status").last.name, "state")
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.unlock()
        self.assertLess(self.desk.daemon.log().count("the screen was locked"), 3, time.monotonic() - began)

    def test_hung(self):
        """a logind that hangs keeps nobody out"""
        self.logind.processes[1].send_signal(signal.SIGSTOP)
        self.addCleanup(self.logind.processes[1].send_signal, signal.SIGCONT)
        self.desk.lock()
        self.unlock()
        self.desk.daemon.restart()
        self.logind.set()
        self.unlock()


class Silent(Case):
    """logind is silent in the middle of an edge: the daemon serves, and nothing is open that should not be."""

    @contextlib.contextmanager
    def silent(self, after):
        """logind says this, and hangs before it can answer what the daemon asks then."""
        self.desk.daemon.pause()
        after()
        logind = self.logind.processes[-1]
        logind.send_signal(signal.SIGSTOP)
        self.addCleanup(logind.send_signal, signal.SIGCONT)
        self.desk.daemon.resume()
        yield
        logind.send_signal(signal.SIGCONT)

    def is_usable(self):
        self.assertEqual(self.desk.ask("status").last.name, "state")
        self.unlock()
        self.desk.lock()
        self.unlock()

    @slow
    def test_session(self):
        """before it has said of a new session whether its screen is locked"""
        def appears():
            self.logind.session("c8", self.uid)
            self.logind.appears("c8", announced=True)
            self.logind.shows("c8", self.uid)

        with self.silent(appears):
            self.is_usable()
        self.logind.hints("c8", locked=True)
        self.is_shut()
        self.unlock()
        self.logind.shows(None)
        self.logind.shows("c7", self.uid)
        self.logind.hints("c7", locked=True)
        self.is_shut()

    def test_sleep(self):
        """before it has said whether memory goes to the disk: it may, so what a finger opens is wiped as well"""
        self.desk.enroll()
        with self.silent(lambda: self.logind.says(True)):
            self.is_shut()
            wait_until(lambda: not self.desk.daemon.status().fingerOpens, "no finger opens it", 60)
            # What somebody opens meanwhile is shut again.
            self.assertEqual(self.desk.open(answers()).last.name, "done")
            self.is_shut()
        self.logind.wakes()
        wait_until(lambda: self.desk.open(answers()).last.name == "done" and self.desk.is_open(), "it opens", 60)


class SilentWithTimeout(Silent):
    policy = "LockOnBackground=timeout\nLockTimeout=3s\n"

    def test_screen(self):
        """after the screen's lock: the policy's time goes on, and what is opened behind the screen stays open"""
        with self.silent(lambda: self.logind.hints("c7", locked=True)):
            self.is_shut()
            self.is_usable()
        self.logind.hints("c7", locked=False)
        self.is_open()


class SilentWithNever(Silent):
    policy = "LockOnBackground=never\n"
    test_session = None


# Signals as logind sends them, to one connection.
FLOOD = """
import os, sys, dbus
from dbus.lowlevel import SignalMessage

os.setresuid(65534, 65534, 65534)
address, destination, path = sys.argv[1:]
bus = dbus.bus.BusConnection(address)
sent = 0
while True:
    signal = SignalMessage(path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
    signal.append("org.freedesktop.login1.Session", {"LockedHint": True}, [], signature="sa{sv}as")
    signal.set_destination(destination)
    bus.send_message(signal)
    sent += 1
    if sent % 100 == 0:
        bus.flush()
    if sent == 5000:
        print("flows", flush=True)
"""


class Flooded(Case):
    def test_stranger(self):
        """somebody who sends the daemon signals without pause keeps nobody from it: a lock is heard, and memory does
        not grow"""
        before = memory(self.desk.daemon.pid)
        flood = subprocess.Popen(
            [sys.executable, "-c", FLOOD, self.logind.address, self.logind.name_of(self.desk.daemon.pid), path("c7")],
            stdout=subprocess.PIPE)
        self.addCleanup(flood.stdout.close)
        self.addCleanup(flood.wait)
        self.addCleanup(flood.kill)
        self.assertEqual(flood.stdout.readline(), b"flows\n")
        times = []
        for _ in range(5):
            self.is_open()
            began = time.monotonic()
            self.logind.hints("c7", locked=True)
            wait_until(lambda: not self.desk.is_open(), "the lock is heard", 120)
            times.append(time.monotonic() - began)
            self.unlock()
            self.logind.hints("c7", locked=False)
        self.assertIsNone(flood.poll())
        after = memory(self.desk.daemon.pid)
        print("a lock was heard after " + ", ".join(f"{each * 1000:.0f} ms" for each in times))
        # A signal is some 300 bytes, and there are many thousands.
        self.assertLess(after - before, 16 << 20)
        # Only logind's own word has locked it.
        wait_until(lambda: self.desk.daemon.log().count("the screen was locked") == 5, "it says so", 60)


class Timeout(Case):
    policy = "LockOnBackground=timeout\nLockTimeout=1h\n"

    def test_back_in_time(self):
        """within the policy's time the store stays open, and coming back ends that time"""
        self.logind.hints("c7", locked=True)
        self.is_open()
        self.logind.hints("c7", locked=False)
        self.is_open()

    def test_too_late(self):
        """after that time it is locked, whether or not anybody asks for it"""
        self.desk.daemon.policy("[Passcode]\n" + "LockOnBackground=timeout\nLockTimeout=1\n", reload=True)
        wait_until(lambda: "the policy was read" in self.desk.daemon.log(), "the policy is read")
        # The first lock may still be under the former policy.
        self.logind.hints("c7", locked=True)
        self.logind.hints("c7", locked=False)
        self.logind.hints("c7", locked=True)
        self.is_shut()
        wait_until(lambda: "the screen was locked" in self.desk.daemon.log(), "it says so")


class Suspended(Case):
    """LockTimeout counts what the machine sleeps."""

    policy = "LockOnBackground=timeout\nLockTimeout=10min\nIdleTimeout=1d\n"

    def sleeps(self, seconds):
        self.logind.falls_asleep(within=120)
        self.is_open()
        self.lasts(seconds)

    def wakes(self):
        self.logind.wakes()
        # It delays the next sleep once it has heard that this one is over.
        wait_until(self.logind.is_delayed, "the daemon has heard it", 60)

    def is_closed(self):
        """For the first request already, before the daemon has heard of anything."""
        self.assertFalse(self.desk.is_open(), self.desk.daemon.log())

    def test_too_long(self):
        """asleep for longer than that, behind a locked screen: the store is shut"""
        self.logind.hints("c7", locked=True)
        self.sleeps(601)
        self.is_closed()
        self.logind.wakes()
        self.logind.hints("c7", locked=False)
        self.is_closed()

    def test_too_long_in_front(self):
        """and in front of it"""
        self.sleeps(601)
        self.is_closed()
        self.logind.wakes()
        self.is_closed()

    def test_in_time(self):
        """asleep for less: it stays open, and who is back before the time is over has it open from then on"""
        self.logind.hints("c7", locked=True)
        self.sleeps(300)
        self.wakes()
        self.is_open()
        self.logind.hints("c7", locked=False)
        # Without a locked screen the end of a sleep is the return.
        for _ in range(3):
            self.sleeps(250)
            self.wakes()
            self.is_open()
        self.lasts(601)
        self.is_open()

    def test_behind_the_screen(self):
        """a sleep that was short does not end the time behind the locked screen, which runs on"""
        self.logind.hints("c7", locked=True)
        self.sleeps(300)
        self.wakes()
        self.is_open()
        self.lasts(301)
        self.is_closed()


class Restarted(Case):
    policy = "LockOnBackground=timeout\nLockTimeout=3\n"

    def test_the_time_runs_on(self):
        """behind a locked screen the policy's time runs on over a restart of logind, which has forgotten the lock"""
        self.logind.hints("c7", locked=True)
        self.logind.restarts()
        self.is_shut()
        self.assertNotIn("it stays locked", self.desk.daemon.log())


class Never(Case):
    policy = "LockOnBackground=never\n"

    def test_stays(self):
        """the policy keeps it open behind a locked screen, through a sleep and a switch"""
        self.logind.hints("c7", locked=True)
        self.arrives("b1", BOB)
        self.logind.falls_asleep(within=120)
        self.logind.wakes()
        self.is_open()
        self.desk.lock()
        self.is_shut()


class MayHibernate(Never):
    def setUp(self):
        super().setUp()
        self.logind.calls("CanHibernate", "s", 'ret = "yes"')

    def test_stays(self):
        """but not where memory may go to the disk"""
        self.logind.falls_asleep(within=120)
        self.is_shut()


class Held(Case):
    def hold(self, seconds):
        """The person does, and not root."""
        with effective(self.uid):
            client = self.desk.daemon.client(frontEnd="terminal")
        with client:
            return Finger(client, answers(), None).run("hold", subject=self.desk.person, seconds=seconds)

    def test_hold(self):
        """what the owner holds stays open behind a locked screen, without a request and over a sleep; `status` says
        until when"""
        self.assertEqual(self.hold(3600).name, "done")
        self.logind.hints("c7", locked=True)
        self.logind.falls_asleep(within=120)
        self.logind.wakes()
        self.is_open()
        left = self.desk.daemon.status().heldUntil - time.time()
        self.assertTrue(0 < left <= 3600, left)
        self.assertEqual(self.hold(0).name, "done")
        self.is_shut()
        self.assertEqual(self.desk.daemon.status().heldUntil, 0)

    def test_root_does_not_hold(self):
        """nobody else keeps a person's store open"""
        last = self.desk.ask("hold", answers(), seconds=60).last
        self.assertEqual((last.name, last.code), ("refused", 30))


class Fingers(Case):
    def test_finger_at_the_locker(self):
        """a touch at the locker opens the store again"""
        self.desk.enroll()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.worker.touches("match")
        self.assertTrue(self.desk.daemon.status().fingerOpens)
        self.assertEqual(self.desk.open().last.name, "done")
        self.assertFalse(self.desk.daemon.status().fingerOpens)
        self.logind.hints("c7", locked=False)
        self.is_open()


class FingersForATime(Case):
    policy = "LockGrace=0\nFingerprintAfterLock=2s\n"

    def test_time(self):
        """if the policy has a time, a finger opens it again until that is over"""
        self.desk.enroll()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        wait_until(lambda: not self.desk.daemon.status().fingerOpens, "no finger opens it", 60)
        found = self.desk.open(answers())
        self.assertEqual(found.last.name, "done")
        self.assertEqual([ask.purpose for ask in found.client.asked], ["passcode"])

    def test_back_in_time(self):
        """who opens it before that ends the time"""
        self.desk.daemon.policy("LockGrace=0\nFingerprintAfterLock=1h\n", reload=True)
        wait_until(lambda: "the policy was read" in self.desk.daemon.log(), "the policy is read")
        self.desk.enroll()
        for _ in range(2):
            self.logind.hints("c7", locked=True)
            self.is_shut()
            self.worker.touches("match")
            found = self.desk.open()
            self.assertEqual((found.last.name, found.client.asked), ("done", []))
            self.logind.hints("c7", locked=False)
            self.is_open()


class FingersForGood(FingersForATime):
    """Whatever time has passed: only the passcode's own time ends it."""

    policy = "LockGrace=0\nFingerprintAfterLock=yes\n"

    def test_time(self):
        """if the policy has no time, a finger opens it the next day, too"""
        self.desk.enroll()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        self.lasts(24 * 3600)
        self.assertTrue(self.desk.daemon.status().fingerOpens)
        self.worker.touches("match")
        found = self.desk.open()
        self.assertEqual((found.last.name, found.client.asked), ("done", []))


class NoFingers(Case):
    policy = "LockGrace=0\nFingerprintAfterLock=no\n"

    def test_passcode_at_the_locker(self):
        """unless the policy wants the passcode then"""
        self.desk.enroll()
        self.logind.hints("c7", locked=True)
        self.is_shut()
        found = self.desk.open(answers())
        self.assertEqual(found.last.name, "done")
        self.assertEqual([ask.purpose for ask in found.client.asked], ["passcode"])


class Model:
    """The same rules, written a second time and in another way: by what the person can see."""

    def __init__(self):
        self.locked, self.shown, self.open = {"c7": False, "c8": False}, "c7", True

    def sees_the_desktop(self):
        return self.shown in self.locked and not self.locked[self.shown]

    def sees_a_screen_of_theirs(self):
        return self.shown in self.locked

    def lock(self, name):
        self.locked[name] = True
        if not self.sees_the_desktop():
            self.open = False

    def told(self, name):
        if self.shown == name or not self.sees_the_desktop():
            self.open = False

    def show(self, name):
        was, self.shown = self.shown, name
        if was != name and was in self.locked and not self.sees_the_desktop():
            self.open = False

    def sleep(self):
        self.open = False

    def end(self, name):
        del self.locked[name]
        if self.shown == name:
            self.shown = None
        if not self.sees_the_desktop():
            self.open = False

    def arrive(self, name):
        self.locked[name] = False
        self.show(name)


class AtRandom(Case):
    # Seconds, as the policy has them.
    grace, rounds = 0, ROUNDS
    # How many of a hundred edges are of which kind.
    KINDS = {
        "lock": 16, "unlock": 8, "told": 8, "show": 8, "away": 8, "open": 9, "finger": 9, "blank": 6, "idle lock": 9,
        "restart": 6, "sleep": 7, "end": 6}

    @slow
    def test_model(self):
        """edges in any order, against a model: never open when the model says shut, and open when it says open"""
        self.arrives("c8")
        self.logind.shows("c7", self.uid)
        self.logind.session("b1", BOB)
        self.logind.appears("b1", announced=True)
        self.desk.enroll()
        model, seed = Model(), int(os.environ.get("SEED") or random.randrange(1 << 32))
        # logind has said all of this before the first edge.
        self.logind.hints("b1", idle=True)
        dice = random.Random(seed)
        # Each kind is among them, however few there are.
        edges = [kind for kind, share in self.KINDS.items() for _ in range(max(1, share * self.rounds // 100))]
        dice.shuffle(edges)
        done = []
        for edge in edges:
            self.play(edge, dice, model, done)
            with self.subTest(seed=seed, done=done[-12:]):
                if model.open:
                    self.is_open()
                else:
                    self.is_shut(f"seed {seed}, after {done[-12:]}")
                # A sleep leaves it, too: this machine cannot hibernate.
                self.assertEqual(self.desk.daemon.status().fingerOpens, not model.open)
        self.assertEqual({edge for edge, _ in done}, set(self.KINDS))

    def play(self, edge, dice, model, done):
        name = dice.choice(sorted(model.locked))
        done.append((edge, name))
        if edge == "lock":
            self.logind.hints(name, locked=True)
            model.lock(name)
        elif edge == "unlock":
            self.logind.hints(name, locked=False)
            model.locked[name] = False
        elif edge == "blank":
            # The screen goes dark, and nothing is locked.
            self.logind.hints(name, idle=True)
            self.logind.hints(name, idle=False)
        elif edge == "idle lock":
            # Only whoever sees the desktop may still touch the mouse.
            waits = self.grace and model.sees_the_desktop() and not model.locked[name]
            began = time.monotonic()
            self.logind.hints(name, idle=True)
            self.logind.hints(name, locked=True)
            if waits and dice.random() < 0.9:
                # The person touches the mouse at once.
                self.logind.hints(name, idle=False, locked=False)
                if time.monotonic() - began >= self.grace:
                    # Or too late, on a machine that has others to serve: then the screen is locked for good.
                    self.logind.hints(name, locked=True)
                    model.lock(name)
            else:
                model.lock(name)
                if not model.open:
                    self.is_shut("after the grace")
                self.logind.hints(name, idle=False)
        elif edge == "told":
            self.logind.tells_to_lock(name)
            model.told(name)
        elif edge == "show":
            self.logind.shows(name, self.uid)
            model.show(name)
        elif edge == "away":
            self.logind.shows("b1", BOB)
            model.show("b1")
        elif edge == "open":
            self.unlock()
            model.open = True
        elif edge == "finger":
            self.touch(model)
            model.open = True
        elif edge == "sleep":
            self.logind.falls_asleep(within=120)
            model.sleep()
            self.is_shut("asleep")
            self.logind.wakes()
            # What is opened during a sleep is shut again.
            wait_until(self.logind.is_delayed, "the daemon has heard that it is over", 60)
        elif edge == "end":
            self.logind.goes(name)
            if model.shown == name:
                self.logind.shows(None)
            model.end(name)
            if not model.open:
                self.is_shut("after the session's end")
            # The person logs in again.
            new = f"d{len(done)}"
            self.arrives(new)
            model.arrive(new)
        else:
            # Its new life knows of no lock, but whoever has seen the screen does.
            self.logind.restarts()

    def touch(self, model):
        """At the locker, or where a program asks. A finger is asked for only where the person is at the reader."""
        self.worker.touches("match")
        last = self.desk.open(() if model.sees_a_screen_of_theirs() else answers()).last
        self.assertEqual(last.name, "done", last)
        self.worker.forget()


class AtRandomWithGrace(AtRandom):
    """The same, and a lock that idleness brought waits."""

    policy = "LockGrace=4s\n"
    grace, rounds = 4, ROUNDS // 2

    def arrives(self, name, uid=None, **how):
        # At a console nobody says when it is used.
        super().arrives(name, uid, screen="x11", **how)


if __name__ == "__main__":
    unittest.main()
