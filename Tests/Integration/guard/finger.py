"""What could give somebody a try with a finger that they should not have, or keep a person from
the passcode: quick requests, a worker that sends byte by byte, a store that changes while a scan
waits."""

import errno
import fcntl
import os
import struct
import termios
import threading
import time
import unittest

import pamlab
from daemonlab import IS_ROOT, answers, derivation_counter, wait_until
from fingerlab import ENROLL, LIST, MATCH, PLACE, RETRY, Desk, FakeWorker, Finger, Gone
from fprintlab import MATCHED, NO_MATCH, READERS, STORED
from loginlab import Logind
from pamlab import PAM_SUCCESS, Talk
from patience import Stopwatch
from wayslab import PASSCODE, Machine, account

TIMEOUT = 300


def unread(connected):
    """What the peer has not read of what was sent."""
    return struct.unpack("i", fcntl.ioctl(connected, termios.TIOCOUTQ, b"\0" * 4))[0]


class Case(unittest.TestCase):
    policy = ""

    def setUp(self):
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.desk = Desk(self.worker, self.policy)
        self.addCleanup(self.desk.close)
        self.desk.enroll()
        self.desk.lock()

    def two_failures(self):
        """Two touches that do not match, and Enter."""
        self.worker.touches("no", "no")
        self.desk.open(enter=self.worker.waits_again(3))
        wait_until(lambda: self.desk.list().failuresLeft == 3, "Enter is given back")

    def on_match(self, say):
        def behave(visit, request):
            if request.kind == MATCH:
                return say(visit, request)
            return self.worker.honest(visit, request)

        self.worker.behave = behave

    def behind(self, function, *arguments, **fields):
        """Runs beside the test. Calling the returned function gives its result."""
        result = []
        thread = threading.Thread(target=lambda: result.append(function(*arguments, **fields)), daemon=True)
        thread.start()

        def wait():
            thread.join(40)
            self.assertFalse(thread.is_alive())
            return result[0]

        return wait

    def hold_list(self):
        """The next list waits until `go` is set; `asked` is set when the list is requested.
        Returns both events."""
        asked, go = threading.Event(), threading.Event()

        def behave(visit, request):
            if request.kind == LIST and not asked.is_set():
                asked.set()
                go.wait(20)
            return self.worker.honest(visit, request)

        self.worker.behave = behave
        return asked, go


class Drips(Case):
    """A worker that sends one byte now and then: the deadline still holds."""

    def drip(self, kind, request, visit, before=()):
        def send(data):
            try:
                visit.connection.sendall(data)
            except OSError:
                raise Gone from None

        for event in before:
            visit.scan(request, event)
        send(struct.pack("<IHI", 60_000, kind, 0) + request.nonce)
        while True:
            send(b"x")
            time.sleep(0.02)

    def passcode_within(self, seconds):
        stopwatch = Stopwatch()
        finger = self.desk.open()
        self.assertEqual((finger.last.name, finger.last.code), ("refused", 27), self.desk.daemon.log())
        self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
        stopwatch.assert_within(seconds)

    def test_list(self):
        """while the worker lists its readers"""
        self.worker.behave = lambda visit, request: self.drip(READERS, request, visit)
        self.passcode_within(5)

    def test_cancelled(self):
        """a request that is cancelled: the reader is soon free for the next"""
        self.on_match(lambda visit, request: self.drip(MATCHED, request, visit, [PLACE]))
        finger = self.desk.open(enter=lambda scan: scan.event == "place")
        self.assertEqual(finger.last.code, 27)
        self.worker.behave = self.worker.honest
        self.worker.touches("match")
        self.assertEqual(self.desk.open().last.name, "done")


class Meanwhile(Case):
    """Something happens between the list of readers and the scan."""

    def test_deleted(self):
        """a finger that was deleted meanwhile is no longer asked for"""
        self.desk.enroll(6)
        self.desk.lock()
        asked, go = self.hold_list()
        opening = self.behind(self.desk.open)
        self.assertTrue(asked.wait(60))
        done = self.desk.ask("fingerprintDelete", answers(), finger=6)
        self.assertEqual(done.last.name, "done")
        self.worker.touches("match 0")
        go.set()
        self.assertEqual(opening().last.code, 27)
        matches = [request for request in self.worker.heard if request.kind == MATCH]
        self.assertEqual(matches, [])
        self.assertFalse(self.desk.is_open())
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_newer(self):
        """the newer request gets the reader, and the older one is told so"""
        asked, go = self.hold_list()
        older = self.behind(self.desk.open)
        self.assertTrue(asked.wait(60))
        sent, finger = threading.Event(), self.desk.finger()
        self.addCleanup(finger.client.close)
        send = finger.client.send
        finger.client.send = lambda *words, **more: (send(*words, **more), sent.set())
        newer = self.behind(finger.run, "openStore", subject=self.desk.person)
        self.assertTrue(sent.wait(60))
        wait_until(lambda: not unread(finger.client.socket), "the daemon has read it")
        self.assertEqual(self.desk.daemon.status().name, "state")
        self.worker.touches("match")
        go.set()
        self.assertEqual(newer().name, "done")
        self.assertEqual(older().last.code, 27)
        self.assertEqual(older().events, [])


    def test_refused(self):
        """an enrolment whose passcode was changed while the print was written is refused, and opens nothing"""
        hold = os.path.join(self.desk.daemon.folder, "hold")
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        self.desk.daemon.env = {"LD_PRELOAD": f"{derivation_counter()} {preload}", "HOLD_FINGERS": hold}
        self.desk.daemon.restart()
        (store,) = os.listdir(os.path.join(self.desk.daemon.state, "fingers"))
        folder = os.path.join(self.desk.daemon.state, "fingers", store)
        with open(hold, "x"):
            pass
        self.worker.touches("match", "match", "match")
        enrolling = self.behind(self.desk.ask, "fingerprintEnroll", answers(), finger=6)
        wait_until(lambda: "6.new" in os.listdir(folder), "it is written")
        new = "battery staple"
        changed = self.desk.ask("passcode", answers(newPasscode=new, confirmPasscode=new), change="change")
        self.assertEqual(changed.last.name, "done")
        os.unlink(hold)
        self.assertEqual((enrolling().last.name, enrolling().last.code), ("refused", 9))
        self.assertEqual(os.listdir(folder), ["7"])
        self.assertEqual([each["finger"] for each in self.desk.list().fingers], ["rightIndex"])


class Waiting(Case):
    """While a scan waits, another exchange changes the store; then the finger touches and
    matches."""

    def while_waiting(self, change, opens):
        """Whether the finger still opens the store."""
        begun, changed, trouble = [], threading.Event(), []

        def behave(visit, request):
            if request.kind != MATCH:
                return self.worker.honest(visit, request)
            visit.scan(request, PLACE)
            if not begun:
                begun.append(change)
                try:
                    change()
                except Exception as error:
                    trouble.append(error)
                changed.set()
            # The worker sends this whatever it was told meanwhile.
            visit.send(MATCHED, request, b"\0")

        self.worker.behave = behave
        finger = self.desk.open()
        self.assertTrue(begun, f"no finger was asked for: {finger.events}, {finger.last}")
        self.assertTrue(changed.wait(30))
        self.assertEqual(trouble, [])
        self.assertEqual(finger.last.name == "done", opens, finger.last)
        self.assertEqual(self.desk.is_open(), opens)
        if self.desk.daemon.status().lock in ("locked", "unlocked"):
            # It matched, so it is on nobody's count, whatever happened afterwards.
            wait_until(lambda: self.desk.list().failuresLeft in (5, 0), "it is given back")

    def done(self, request, script=(), **fields):
        last = self.desk.ask(request, script, **fields).last
        self.assertEqual(last.name, "done", last)

    def policy_says(self, text):
        def change():
            revision = self.desk.daemon.log().count("policy")
            self.desk.daemon.policy(text + "\nThrottleAfter=0", reload=True)
            wait_until(lambda: self.desk.daemon.log().count("policy") > revision, "it is read")

        return change

    def test_passcode_changed(self):
        """a new passcode: the finger stays what it was"""
        new = answers(newPasscode="battery staple", confirmPasscode="battery staple")
        self.while_waiting(lambda: self.done("passcode", new, change="change"), True)

    def test_off(self):
        """the fingerprint turned off"""
        self.while_waiting(lambda: self.done("fingerprintSwitch", answers(), on=False), False)

    def test_reset(self):
        """the store reset and made anew, by the same person with the same passcode"""
        def anew():
            self.done("reset", answers())
            self.desk.daemon.create()
            self.desk.lock()

        self.while_waiting(anew, False)

    def test_erased(self):
        """the store erased by the last try"""
        self.desk.daemon.policy("RetryLimit=1\nThrottleAfter=0\nLocalServices=login", reload=True)

        def erase():
            self.assertEqual(self.desk.daemon.authenticate("not the passcode", finger="off").code, 23)

        self.while_waiting(erase, False)

    def test_forbidden(self):
        """AllowFingerprint=no"""
        self.while_waiting(self.policy_says("AllowFingerprint=no"), False)

    def test_rules(self):
        """a rule that demands a new passcode first"""
        self.while_waiting(self.policy_says("MinLength=30"), False)

    def test_over(self):
        """PasscodeEvery: its time ends while the scan waits"""
        self.desk.daemon.policy("PasscodeEvery=2\nThrottleAfter=0", reload=True)
        self.while_waiting(lambda: wait_until(lambda: not self.desk.list().ready, "the time is over"), False)

    def test_lowered(self):
        """the limit of failures is lowered"""
        self.two_failures()
        self.while_waiting(self.policy_says("FingerprintMaxFailures=2"), False)


class Disk(Case):
    """A disk that is full or broken for the slots and the fingers, and that works again later."""

    policy = "DerivationMemory=19MiB\nDerivationPasses=2\n"

    def setUp(self):
        super().setUp()
        self.failing = os.path.join(self.desk.daemon.folder, "failing")
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        self.desk.daemon.env = {"LD_PRELOAD": f"{derivation_counter()} {preload}", "FAIL_DISK": self.failing}
        self.desk.daemon.restart()
        self.assertEqual(self.desk.open(answers()).last.name, "done")
        self.desk.lock()

    def fail(self, how):
        with open(self.failing, "w") as file:
            file.write(how)
        os.chmod(self.failing, 0o644)

    def heal(self):
        os.unlink(self.failing)

    def each(self):
        for how in (f"write {errno.ENOSPC}", f"write {errno.EROFS}", f"sync {errno.EIO}"):
            with self.subTest(how):
                self.worker.forget()
                yield how

    def state(self):
        found = self.desk.list()
        return [each["finger"] for each in found.fingers], found.failuresLeft, found.on

    def opens(self):
        self.worker.touches("match")
        done = self.desk.open().last.name == "done" and self.desk.is_open()
        self.desk.lock()
        return done

    def test_count(self):
        """a touch that cannot be counted is not asked for"""
        for how in self.each():
            self.fail(how)
            self.worker.touches("match")
            self.assertEqual(self.desk.open().events, [])
            self.assertNotIn(MATCH, self.worker.kinds())
            self.assertFalse(self.desk.is_open())
            self.heal()
            self.worker.forget()
            self.assertTrue(self.opens())

    def test_kept(self):
        """a count that can be neither given back nor cleared stays, and the match still opens the store"""
        for how in self.each():
            self.worker.behave = lambda visit, request, how=how: (
                self.fail(how) if request.kind == MATCH else None, self.worker.honest(visit, request))
            self.worker.touches("match")
            self.assertEqual(self.desk.open().last.name, "done")
            self.assertTrue(self.desk.is_open())
            self.desk.lock()
            self.heal()
            self.worker.behave = self.worker.honest
            self.assertIn(self.state()[1], (4, 5) if how.startswith("sync") else (4,))
            self.assertTrue(self.opens())
            self.assertEqual(self.state()[1], 5)

    def test_enroll(self):
        """a print that cannot be stored is refused, and leaves no file, no finger and nothing on the chip"""
        self.worker.readers[0].stores = True
        for how in self.each():
            self.worker.touches("match", "match", "match")
            asked = []

            def behave(visit, request, how=how):
                # The passcode is counted before it is tried: the disk breaks after that.
                if request.kind == ENROLL:
                    asked.append(request)
                    self.fail(how)
                return self.worker.honest(visit, request)

            self.worker.behave = behave
            finger = self.desk.ask("fingerprintEnroll", answers(), finger=6)
            self.assertEqual((finger.last.name, len(asked)), ("refused", 1), finger.last)
            self.heal()
            self.worker.behave = self.worker.honest
            self.assertEqual(self.state(), (["rightIndex"], 5, True))
            wait_until(lambda: not self.worker.chip, "the chip forgets it")
            for folder, _, names in os.walk(os.path.join(self.desk.daemon.state, "fingers")):
                self.assertIn(names, ([], ["7"]), folder)
            self.desk.lock()
            self.assertTrue(self.opens())


class Limits(Case):
    def test_lowered(self):
        """a lower FingerprintMaxFailures also applies to earlier failures, and nothing stays in memory"""
        self.two_failures()
        self.assertTrue(self.desk.list().ready)
        self.desk.daemon.policy("FingerprintMaxFailures=2\nThrottleAfter=0", reload=True)
        wait_until(lambda: not self.desk.list().ready, "the slot is gone")
        finger = self.desk.open(answers())
        self.assertEqual((finger.last.name, finger.events), ("done", []))
        self.desk.lock()
        self.assertTrue(self.desk.list().ready)
        self.worker.touches("match")
        self.assertEqual(self.desk.open().last.name, "done")

    def test_damaged(self):
        """a match whose store cannot be opened is not counted as a failure"""
        (store,) = os.listdir(os.path.join(self.desk.daemon.state, "stores"))
        path = os.path.join(self.desk.daemon.state, "stores", store, "records.db")
        # Less than all of it is made anew with what is whole.
        with open(path, "r+b") as file:
            file.write(bytes(os.path.getsize(path)))
        self.worker.touches("match")
        self.assertEqual(self.desk.open().last.name, "refused")
        wait_until(lambda: self.desk.list().failuresLeft == 5, "it is given back")

    def test_seconds(self):
        """a request for more seconds than are allowed gets 120"""
        self.desk.ask("authenticate", enter=lambda scan: True, finger="first", fingerSeconds=255, hello=dict(
            frontEnd="pamAuth", service="login"), payloads=(b"",))
        matches = [request for request in self.worker.heard if request.kind == MATCH]
        self.assertEqual([request.seconds for request in matches], [120])


class Listing(Case):
    def test_login_comes(self):
        """a request that lists the prints of a chip gives way to a login: the finger is asked for at once"""
        self.worker.readers[0].stores = True
        asked = threading.Event()

        def behave(visit, request):
            if request.kind != STORED:
                return self.worker.honest(visit, request)
            asked.set()
            if visit.is_cancelled(20):
                self.worker.fail(visit, request, "cancelled")

        self.worker.behave = behave
        listing = self.behind(self.desk.list)
        self.assertTrue(asked.wait(5))
        stopwatch = Stopwatch()
        self.worker.touches("match")
        self.assertEqual(self.desk.open().last.name, "done")
        self.assertTrue(self.desk.is_open())
        stopwatch.assert_within(2)
        self.assertEqual([each["finger"] for each in listing().fingers], ["rightIndex"])

    def test_scan_goes_on(self):
        """a request for a list does not end a scan"""
        self.worker.readers[0].stores = True
        place = threading.Event()
        opening = self.behind(self.desk.open, enter=lambda scan: place.set())
        self.assertTrue(place.wait(5))
        self.assertEqual(self.desk.list().foreign, 0)
        self.worker.touches("match")
        self.assertEqual(opening().last.name, "done")


class Manners(Case):
    """What a module is told about a scan begins with the line that asks for the finger."""

    def test_nothing_before_place(self):
        """a scan that ends before the person was asked is not shown at all"""
        def ends(visit, request):
            raise Gone

        for say in (lambda visit, request: self.worker.fail(visit, request, "busy"), ends):
            self.on_match(say)
            finger = self.desk.open(answers())
            self.assertEqual(finger.last.name, "done")
            self.assertEqual(finger.events, [])
            self.desk.lock()

    def test_retry_first(self):
        """a worker that does not say that it waits"""
        def forgets(visit, request):
            visit.scan(request, RETRY, retry=1)
            visit.send(MATCHED, request, b"\0")

        self.on_match(forgets)
        finger = self.desk.open()
        self.assertEqual(finger.last.name, "done")
        self.assertEqual(finger.events, ["place", "retry", "ended"])

    def test_talks(self):
        """a worker that sends without end is cut off: a module gives up before long"""
        def talks(visit, request):
            visit.scan(request, PLACE)
            for _ in range(300):
                visit.scan(request, RETRY, retry=1)
            visit.send(NO_MATCH, request)

        self.on_match(talks)
        finger = self.desk.open()
        self.assertEqual(finger.last.code, 27)
        self.assertEqual(len(finger.client.asked), 1)
        self.assertLess(len(finger.lines), 50)


@unittest.skipUnless(IS_ROOT, "needs root: an account, and a bus of its own")
class AtPam(unittest.TestCase):
    """The same with the real module, as part of a login."""

    def setUp(self):
        self.logind = Logind(account()[1])
        self.addCleanup(self.logind.close)
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.machine = Machine(
            "RetryLimit=0\nThrottleAfter=0\n", options=["--fingerprint-socket", self.worker.path],
            before=self.logind.before, env=self.logind.env)
        self.addCleanup(self.machine.close)
        self.machine.create(PASSCODE, is_open=True)
        self.machine.way_b("login")
        self.logind.set(session="here")
        self.worker.touches(*["match"] * 3)
        with self.machine.daemon.client(frontEnd="terminal") as client:
            done = Finger(client, answers(PASSCODE)).run("fingerprintEnroll", subject=self.machine.daemon.person)
            self.assertEqual(done.name, "done", self.machine.daemon.log())
        self.logind.set()

    def test_passcode(self):
        """whatever the worker does during the scan, the passcode is asked for and is the login"""
        def busy(visit, request):
            self.worker.fail(visit, request, "busy")

        def dies(visit, request):
            raise Gone

        def forgets(visit, request):
            visit.scan(request, RETRY, retry=1)
            visit.send(NO_MATCH, request)

        def talks(visit, request):
            visit.scan(request, PLACE)
            for _ in range(100):
                visit.scan(request, RETRY, retry=1)
            self.worker.fail(visit, request, "general")

        for say in (busy, dies, forgets, talks):
            with self.subTest(say.__name__):
                self.machine.lock()
                self.worker.behave = lambda visit, request, say=say: (
                    say if request.kind == MATCH else self.worker.honest)(visit, request)
                talk = Talk([PASSCODE])
                with self.machine.login("login", talk) as login:
                    self.assertEqual(login.authenticate(), PAM_SUCCESS)
                self.assertEqual(talk.prompts, ["Passcode or login password: "])


if __name__ == "__main__":
    unittest.main()
