"""The daemon and a finger: what opens a store, what does not, and a worker that lies, hangs,
floods or dies."""

import os
import random
import shutil
import socket
import struct
import threading
import time
import unittest
import uuid

from daemonlab import PASSCODE, answers, wait_until
from fingerlab import (
    ENROLL, LIST, MATCH, MATCHED, PLACE, Desk, FakeWorker, Gone, Reader, frame, payload)
from fprintlab import CANCEL, DONE, ENROLLED, READERS, SCAN, STORED_PRINTS, text
from patience import Stopwatch
from slow import slow

TIMEOUT = 300
WRONG = "not the passcode"


class Case(unittest.TestCase):
    policy = ""

    def setUp(self):
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)
        self.desk = Desk(self.worker, self.policy)
        self.addCleanup(self.desk.close)

    def check(self, last, name, **fields):
        self.assertIsNotNone(last, self.desk.daemon.log())
        self.assertEqual(last.name, name, last)
        for field, value in fields.items():
            self.assertEqual(getattr(last, field), value, last)

    def opened_by_finger(self):
        """Locks the store, touches the reader, and returns whether that opened it."""
        self.desk.lock()
        self.worker.touches("match")
        finger = self.desk.open()
        return finger.last.name == "done" and self.desk.is_open()

    def no_finger(self, reason):
        """Locks the store and asks: the daemon goes at once to the passcode, for that reason."""
        self.desk.lock()
        self.assertEqual(self.reason(), reason)
        asked = self.worker.kinds().count(MATCH)
        finger = self.desk.open(answers())
        self.check(finger.last, "done")
        self.assertEqual(finger.last.line[0], "match.done")
        self.assertEqual(finger.events, [])
        self.assertEqual(self.worker.kinds().count(MATCH), asked)

    def reason(self):
        return self.desk.list().unavailable


class Opening(Case):
    def test_opens(self):
        """the finger opens a store that its passcode has opened once, however often it is locked"""
        self.desk.enroll()
        for _ in range(3):
            self.assertTrue(self.opened_by_finger())
        self.assertEqual(self.desk.daemon.derivations(), 2, "one to create, one to enrol: none for the fingers")

    def test_not_before_the_passcode(self):
        """after a restart of the daemon the passcode comes first, and then the finger opens again"""
        self.desk.enroll()
        self.desk.daemon.restart()
        self.no_finger("your passcode must open the store once first")
        self.assertTrue(self.opened_by_finger())

    def test_enter(self):
        """Enter goes on to the passcode at once, and costs nothing"""
        self.desk.enroll()
        self.desk.lock()
        stopwatch = Stopwatch()
        finger = self.desk.open(answers(), enter=lambda scan: scan.event == "place")
        self.check(finger.last, "done")
        stopwatch.assert_within(3)
        self.assertEqual(finger.events, ["place", "ended"])
        wait_until(lambda: CANCEL in self.worker.kinds(), "the worker is told")
        wait_until(lambda: self.desk.list().failuresLeft == 5, "nothing was counted")

    def test_no_match(self):
        """a touch that does not match is reported, counted and asked for again; the passcode clears the count"""
        self.desk.enroll()
        self.desk.lock()
        self.worker.touches("no", "retry", "no", "no")
        finger = self.desk.open()
        self.check(finger.last, "refused", code=27)
        self.assertEqual(finger.lines, [
            "fingerprint.place.enter", "fingerprint.no-match.again", "fingerprint.retry.short",
            "fingerprint.no-match.again"])
        self.assertEqual(self.desk.list().failuresLeft, 2)
        self.assertFalse(self.desk.is_open())
        self.check(self.desk.open(answers(), enter=lambda scan: True).last, "done")
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_match_clears(self):
        """a match clears the count of earlier failures"""
        self.desk.enroll()
        self.desk.lock()
        self.worker.touches("no", "match")
        self.check(self.desk.open().last, "done")
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_failures(self):
        """after FingerprintMaxFailures one unlock with the passcode is needed, also after a restart"""
        self.desk.enroll()
        for left in (2, 0):
            self.desk.lock()
            self.worker.touches(*["no"] * (3 if left else 2))
            self.check(self.desk.open().last, "refused", code=27)
            self.assertEqual(self.desk.list().failuresLeft, left)
        self.assertFalse(self.desk.list().ready)
        self.desk.daemon.restart()
        self.no_finger("too many touches did not match; your passcode is needed once")
        self.assertTrue(self.opened_by_finger())

    def test_kill_in_a_scan(self):
        """a daemon that is killed in the middle of a scan counts that touch and gives none away"""
        self.desk.enroll()
        self.desk.lock()

        def end(scan):
            self.desk.daemon.kill()

        for left, request in ((4, "openStore"), (3, "fingerprintVerify")):
            try:
                self.desk.ask(request, enter=end)
            except OSError:
                pass
            self.desk.daemon.start()
            self.assertEqual(self.desk.list().failuresLeft, left)
            self.assertFalse(self.desk.is_open())
        self.check(self.desk.open(answers()).last, "done")
        self.assertEqual(self.desk.list().failuresLeft, 5)
        self.assertTrue(self.opened_by_finger())

    def test_program(self):
        """a program that sends the passcode is not asked for a finger"""
        self.desk.enroll()
        self.desk.lock()
        asked = self.worker.kinds().count(MATCH)
        self.check(self.desk.ask("openStore", answers(), hello=dict(frontEnd="program")).last, "done")
        self.assertEqual(self.worker.kinds().count(MATCH), asked)

    def test_two_requests(self):
        """of two requests the later one gets the finger; the first is stopped and goes on with the passcode"""
        self.desk.enroll()
        self.desk.lock()
        placed, first = threading.Event(), []

        def wait(scan):
            placed.set()

        thread = threading.Thread(target=lambda: first.append(self.desk.open(enter=wait)))
        thread.start()
        self.assertTrue(placed.wait(10))
        second = self.desk.ask(
            "fingerprintVerify", enter=lambda scan: self.worker.touches("match") if scan.event == "place" else None)
        thread.join(30)
        self.check(second.last, "done")
        self.assertEqual(second.last.line[0], "fingerprint.verified")
        (stopped,) = first
        self.check(stopped.last, "refused", code=27)
        self.assertEqual([ask.purpose for ask in stopped.client.asked], ["passcode"])
        self.assertFalse(self.desk.is_open(), "the touch was not the first one's")
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_speed(self):
        """the time from the match to the answer that the store is open"""
        self.desk.enroll()
        took, stopwatch = [], Stopwatch()
        for _ in range(10):
            self.desk.lock()
            at = []

            def matched(visit, request):
                if request.kind != MATCH:
                    return self.worker.honest(visit, request)
                visit.scan(request, PLACE)
                at.append(time.monotonic())
                visit.send(MATCHED, request, b"\0")

            self.worker.behave = matched
            self.check(self.desk.open().last, "done")
            took.append(time.monotonic() - at[0])
        stopwatch.stop()
        if sorted(took)[5] >= 0.2:
            stopwatch.assert_within(5 * 0.2, took)


class Enrolling(Case):
    def test_needs_the_passcode(self):
        """a finger is enrolled, deleted or turned off only with the passcode typed in the same exchange"""
        script = answers(WRONG)
        self.check(self.desk.ask("fingerprintEnroll", script, finger="unnamed").last, "refused", code=5)
        self.assertNotIn(ENROLL, self.worker.kinds())
        self.check(self.desk.ask("fingerprintSwitch", script, on=True).last, "refused", code=5)
        self.desk.enroll()
        for request, fields in (
            ("fingerprintEnroll", dict(finger="leftThumb")), ("fingerprintDelete", dict(finger="rightIndex")),
            ("fingerprintDelete", dict(finger="unnamed")), ("fingerprintSwitch", dict(on=False)),
        ):
            with self.subTest(request):
                self.check(self.desk.ask(request, script, **fields).last, "refused", code=5)
        self.assertTrue(self.opened_by_finger())

    def test_progress(self):
        """the stages are reported, and advice where a touch was not good"""
        self.worker.touches("match", "retry", "match", "match")
        finger = self.desk.ask("fingerprintEnroll", answers(), finger="leftThumb")
        self.check(finger.last, "done")
        self.assertEqual(finger.last.line[:2], ("fingerprint.enrolled", ["left thumb"]))
        self.assertEqual(finger.events, ["place", "stage", "retry", "stage", "stage", "ended"])
        self.assertEqual([scan.stage for scan in finger.scans][:5], [0, 1, 1, 2, 3])
        self.assertEqual(finger.scans[1].stages, 3)
        self.assertIn("fingerprint.retry.center", finger.lines)
        state = self.desk.list()
        self.assertEqual([(each["finger"], each["standing"]) for each in state.fingers], [("leftThumb", "usable")])
        self.assertTrue(state.on and state.ready)
        self.assertEqual(self.desk.daemon.status().passcode, "passcodeAndFingerprint")

    def test_cancelled(self):
        """an enrolment that is cancelled, or that fails, leaves everything as it was"""
        finger = self.desk.ask("fingerprintEnroll", answers(), lambda scan: scan.event == "place", finger="unnamed")
        self.check(finger.last, "refused", code=27)
        for fault in ("storageFull", "duplicate", "removed", "general", "busy", "tooHot"):
            with self.subTest(fault):
                self.worker.touches(fault)
                finger = self.desk.ask("fingerprintEnroll", answers(), finger="unnamed")
                self.check(finger.last, "refused", code=28)
        self.assertFalse(self.desk.list().on)
        self.assertEqual(self.desk.daemon.status().passcode, "passcode")
        self.assertFalse(os.path.exists(os.path.join(self.desk.daemon.state, "fingers", "x")))

    def test_changed_meanwhile(self):
        """a finger of a person whose proven passcode was replaced before the end of the scan opens nothing"""
        new = "battery staple"
        changed = []

        def behave(visit, request):
            if request.kind == ENROLL and not changed:
                script = answers(PASSCODE, newPasscode=new, confirmPasscode=new)
                changed.append(self.desk.ask("passcode", script, change="change").last)
            self.worker.honest(visit, request)

        for chip in (False, True):
            with self.subTest(chip=chip):
                self.worker.readers = [Reader(stores=chip)]
                self.worker.behave = behave
                self.worker.touches("match", "match", "match")
                enrolled = self.desk.ask("fingerprintEnroll", answers(), finger="unnamed").last
                self.check(changed.pop(), "done")
                self.check(enrolled, "refused", code=9)
                state = self.desk.list()
                self.assertEqual((state.on, state.ready, state.fingers), (False, False, []))
                wait_until(lambda: not self.worker.chip, "the chip forgets it")
                self.worker.behave = self.worker.honest
                back = answers(new, newPasscode=PASSCODE, confirmPasscode=PASSCODE)
                self.check(self.desk.ask("passcode", back, change="change").last, "done")

    def test_several(self):
        """two fingers, each of which opens; deleting one leaves the other, deleting the last turns fingers off"""
        self.desk.enroll("leftThumb")
        self.desk.enroll("rightThumb")
        for index in (0, 1):
            self.desk.lock()
            self.worker.touches(f"match{index}")
            self.check(self.desk.open().last, "done")
        self.assertEqual(len(self.worker.heard[-1].templates), 2)
        done = self.desk.ask("fingerprintDelete", answers(), finger="leftThumb").last
        self.check(done, "done")
        self.assertTrue(self.opened_by_finger())
        self.assertEqual(len(self.worker.heard[-1].templates), 1)
        self.check(self.desk.ask("fingerprintDelete", answers(), finger="leftThumb").last, "refused", code=3)
        self.check(self.desk.ask("fingerprintDelete", answers(), finger="rightThumb").last, "done")
        state = self.desk.list()
        self.assertEqual((state.on, state.ready, state.fingers), (False, False, []))

    def test_off(self):
        """turned off, nothing is left: neither the slot nor a file nor a print on a chip"""
        self.worker.readers = [Reader(stores=True)]
        self.desk.enroll()
        self.assertEqual(len(self.worker.chip), 1)
        fingers = os.path.join(self.desk.daemon.state, "fingers")
        self.assertEqual(len(os.listdir(fingers)), 1)
        self.check(self.desk.ask("fingerprintSwitch", answers(), on=False).last, "done")
        self.assertEqual(os.listdir(fingers), [])
        wait_until(lambda: not self.worker.chip, "the chip forgets it")
        state = self.desk.list()
        self.assertFalse(state.on or state.ready)
        self.desk.lock()
        self.check(self.desk.open(answers()).last, "done")
        self.check(self.desk.ask("fingerprintSwitch", answers(), on=False).last, "refused", code=26)

    def test_foreign(self):
        """prints on the chip that the daemon does not know are left alone and counted"""
        self.worker.readers = [Reader(stores=True)]
        self.worker.chip = [b"somebody else's", b"another's"]
        self.desk.enroll()
        self.assertEqual(self.desk.list().foreign, 2)
        self.check(self.desk.ask("fingerprintSwitch", answers(), on=False).last, "done")
        wait_until(lambda: len(self.worker.chip) == 2, "ours is gone, theirs are not")

    def test_one_finger_reader(self):
        """a reader that can compare with only one print has only one finger"""
        self.worker.readers = [Reader(identifies=False)]
        self.desk.enroll("leftThumb")
        finger = self.desk.ask("fingerprintEnroll", answers(), finger="rightThumb")
        self.check(finger.last, "refused", code=28)
        self.desk.enroll("leftThumb")
        self.assertTrue(self.opened_by_finger())

    def test_sealed(self):
        """no print is readable on the disk, and a changed one is never sent to a worker"""
        self.desk.enroll()
        self.assertTrue(self.opened_by_finger())
        (template,) = self.worker.heard[-1].templates
        folder = os.path.join(self.desk.daemon.state, "fingers")
        path = os.path.join(folder, os.listdir(folder)[0], "7")
        with open(path, "rb") as file:
            data = file.read()
        self.assertNotIn(template[:16], data)
        for place in random.Random(1).sample(range(len(data)), 20):
            changed = bytearray(data)
            changed[place] ^= 1
            with open(path, "r+b") as file:
                file.write(changed)
            self.desk.lock()
            asked = self.worker.kinds().count(MATCH)
            self.check(self.desk.open(answers()).last, "done")
            self.assertEqual(self.worker.kinds().count(MATCH), asked, place)
        self.assertEqual(self.reason(), "no finger is enrolled")
        with open(path, "r+b") as file:
            file.write(data)
        self.assertTrue(self.opened_by_finger())

    def test_verify(self):
        """a finger can be tried without opening anything, and the try counts like any other"""
        self.desk.enroll()
        self.desk.lock()
        self.worker.touches("match")
        self.check(self.desk.ask("fingerprintVerify").last, "done")
        self.assertFalse(self.desk.is_open())
        self.worker.touches("no", "no", "no")
        self.check(self.desk.ask("fingerprintVerify").last, "refused", code=29)
        self.assertEqual(self.desk.list().failuresLeft, 2)


class Resident(Case):
    def test_passcode_change(self):
        """a new passcode leaves the finger on, without a question"""
        self.desk.enroll()
        script = answers(PASSCODE, newPasscode="battery staple", confirmPasscode="battery staple")
        self.check(self.desk.ask("passcode", script, change="change").last, "done")
        self.assertTrue(self.opened_by_finger())

    def test_gone(self):
        """passcode off, reset, an erased store: no finger is left"""
        fingers = os.path.join(self.desk.daemon.state, "fingers")
        self.desk.enroll()
        self.check(self.desk.ask("passcode", answers(), change="turnOff").last, "done")
        self.assertEqual(os.listdir(fingers), [])
        self.check(self.desk.ask("passcode", answers(), change="turnOn").last, "done")
        self.assertFalse(self.desk.list().on)
        self.desk.enroll()
        self.check(self.desk.ask("reset", answers()).last, "done")
        self.assertEqual(os.listdir(fingers), [])
        self.desk.daemon.create()
        self.desk.enroll()
        self.desk.daemon.policy("RetryLimit=1\nThrottleAfter=0\nLocalServices=login", reload=True)
        verdict = self.desk.daemon.authenticate(WRONG, finger="off")
        self.assertEqual(verdict.code, 23)
        self.assertEqual(self.desk.daemon.status().lock, "erased")
        self.assertEqual(os.listdir(fingers), [])

    def test_policy(self):
        """AllowFingerprint=no holds from the reload on; the flow turns it off, allowing it again brings nothing back"""
        self.desk.enroll()
        self.desk.lock()
        self.desk.daemon.policy("AllowFingerprint=no\nThrottleAfter=0", reload=True)
        wait_until(lambda: not self.desk.list().ready, "the slot is gone")
        self.assertEqual(self.reason(), "the policy does not allow it")
        finger = self.desk.open(answers(acknowledge=""))
        self.check(finger.last, "done")
        self.assertNotIn(MATCH, self.worker.kinds())
        self.assertEqual(self.desk.daemon.status().passcode, "passcode")
        self.assertEqual(os.listdir(os.path.join(self.desk.daemon.state, "fingers")), [])

    def test_no_passcodes(self):
        """if the policy no longer wants passcodes, passcode and fingers are removed"""
        self.desk.enroll()
        self.desk.lock()
        self.desk.daemon.policy("Enabled=no\nUseDefaultPolicy=no", reload=True)
        self.assertEqual(self.reason(), "the policy does not allow it")
        finger = self.desk.open(answers(acknowledge=""))
        self.check(finger.last, "done")
        self.assertEqual(finger.events, [])
        self.assertEqual(self.desk.daemon.status().passcode, "none")
        self.assertEqual(os.listdir(os.path.join(self.desk.daemon.state, "fingers")), [])

    def copied(self, source, target):
        """Copies with the daemon's user as the owner."""
        shutil.copytree(source, target)
        for path in [target, *(os.path.join(target, name) for name in os.listdir(target))]:
            os.chown(path, self.desk.daemon.uid, -1)
        return target

    def test_swept(self):
        """fingers of a store that should have none, or that is gone, are removed at the next start"""
        self.desk.enroll()
        fingers = os.path.join(self.desk.daemon.state, "fingers")
        (store,) = os.listdir(fingers)
        self.desk.daemon.stop()
        self.copied(os.path.join(fingers, store), os.path.join(fingers, str(uuid.uuid4())))
        self.desk.daemon.start()
        self.assertEqual(os.listdir(fingers), [store])
        kept = self.copied(os.path.join(fingers, store), os.path.join(self.desk.daemon.folder, "kept"))
        self.check(self.desk.ask("fingerprintSwitch", answers(), on=False).last, "done")
        self.desk.daemon.stop()
        self.copied(kept, os.path.join(fingers, store))
        self.desk.daemon.start()
        self.assertEqual(os.listdir(fingers), [])

    def test_due(self):
        """while a change is due a finger opens nothing"""
        self.desk.enroll()
        self.desk.lock()
        self.desk.daemon.policy("MinLength=14\nThrottleAfter=0", reload=True)
        self.assertEqual(self.reason(), "a change is due first, and it needs your passcode")
        new = "battery staple 99"
        script = answers(PASSCODE, acknowledge="", newPasscode=new, confirmPasscode=new)
        finger = self.desk.open(script)
        self.check(finger.last, "done")
        self.assertEqual(finger.events, [])
        self.assertTrue(self.opened_by_finger())

    def test_passcode_every(self):
        """after PasscodeEvery the slot is removed by itself, and the passcode brings it back"""
        self.desk.enroll()
        self.desk.daemon.policy("PasscodeEvery=2\nThrottleAfter=0", reload=True)
        self.desk.lock()
        gone = "your passcode must open the store once first"
        wait_until(lambda: self.reason() == gone, "the time is over, and nothing is left in memory")
        by_finger = None
        while by_finger is None:
            began = time.monotonic()
            self.no_finger("your passcode must open the store once first")
            by_finger = self.opened_by_finger()
            if time.monotonic() - began >= 2:
                # The time may be over again: then once more.
                self.desk.lock()
                wait_until(lambda: self.reason() == gone, "the time is over")
                by_finger = None
        self.assertTrue(by_finger)


class Idle(unittest.TestCase):
    def test_stays(self):
        """a daemon that systemd starts on demand stays while a finger opens a store, and ends after it"""
        with FakeWorker() as worker, Desk(
                worker, options=["--deadline", "idle=1"], socket_activated=True, create=False) as desk:
            desk.daemon.end()
            with desk.daemon.awake():
                desk.daemon.create()
                desk.enroll()
                desk.lock()
            time.sleep(2.5)
            self.assertTrue(desk.daemon.is_running)
            worker.touches("match")
            self.assertEqual(desk.open().last.name, "done")
            self.assertEqual(desk.ask("fingerprintSwitch", answers(), on=False).last.name, "done")
            desk.lock()
            self.assertEqual(desk.daemon.process.wait(60), 0)


class Readers(Case):
    def test_missing_worker(self):
        """without a worker the daemon goes at once to the passcode, and the fingers stay"""
        self.desk.enroll()
        self.desk.lock()
        os.unlink(self.worker.path)
        stopwatch = Stopwatch()
        finger = self.desk.open(answers())
        self.check(finger.last, "done")
        stopwatch.assert_within(2)
        self.assertEqual(finger.events, [])
        state = self.desk.list()
        self.assertEqual(state.unavailable, "the fingerprint service does not answer")
        self.assertEqual([each["standing"] for each in state.fingers], ["away"])
        self.assertEqual(self.desk.daemon.status().passcode, "passcodeAndFingerprint")
        self.assertEqual(self.desk.daemon.status().pending, b"")

    def test_no_reader(self):
        """no reader, another one, one at another port, an external one: at once to the passcode"""
        self.desk.enroll()
        here = self.worker.readers
        for readers, why in (
            ([], "there is no reader"), ([Reader("other")], "there is no reader"),
            ([Reader(port="1-3")], "the reader is at another port than before"),
            ([Reader(internal=False)], "the reader is not known to be built in"),
        ):
            with self.subTest(why):
                self.worker.readers = readers
                self.no_finger(why)
        self.worker.readers = here
        self.assertTrue(self.opened_by_finger())
        self.assertEqual(self.desk.daemon.status().passcode, "passcodeAndFingerprint")

    def test_external(self):
        """FingerprintReaders=any accepts an external reader, at any port"""
        self.worker.readers = [Reader(internal=False)]
        refused = self.desk.ask("fingerprintEnroll", answers(), finger="unnamed").last
        self.check(refused, "refused", code=26)
        self.assertIn("the reader is not known to be built in", refused.message)
        self.assertIn("FingerprintReaders=any", refused.hint)
        state = self.desk.list()
        self.assertEqual(state.unavailable, "the reader is not known to be built in")
        self.assertEqual(state.advice, refused.hint)
        self.desk.daemon.policy("FingerprintReaders=any\nThrottleAfter=0", reload=True)
        self.desk.enroll()
        self.worker.readers = [Reader(internal=False, port="9-9")]
        self.assertTrue(self.opened_by_finger())

    def test_busy(self):
        """a reader that another program uses: at once to the passcode, and nothing is counted"""
        self.desk.enroll()
        self.desk.lock()

        def busy(visit, request):
            if request.kind == MATCH:
                return self.worker.fail(visit, request, "busy")
            return self.worker.honest(visit, request)

        self.worker.behave = busy
        self.check(self.desk.open(answers()).last, "done")
        self.assertEqual(self.desk.list().failuresLeft, 5)

    def test_faults(self):
        """whatever happens to the reader, the passcode is asked for, and no finger failure is counted"""
        self.desk.enroll()
        for fault in ("removed", "general", "timedOut", "badTemplate", "notStored", "notSupported", "tooHot",
                      "noReader", "cancelled"):
            with self.subTest(fault):
                self.desk.lock()
                self.worker.touches(fault)
                finger = self.desk.open()
                self.check(finger.last, "refused", code=27)
                self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
                self.assertEqual(self.desk.list().failuresLeft, 5)
        self.assertTrue(self.opened_by_finger())

    def test_flows(self):
        """a store that needs a passcode is asked for it with the offer of a finger or without, depending on the
        reader"""
        for readers, flow in (([Reader()], 2), ([], 1), ([Reader(internal=False)], 1)):
            with self.subTest(flow=flow):
                self.worker.readers = readers
                self.desk.daemon.restart()
                self.check(self.desk.ask("reset", answers()).last, "done")
                self.desk.daemon.policy("Enabled=no\nUseDefaultPolicy=no", reload=True)
                self.check(self.desk.ask("create", answers(), way="noPasscode").last, "done")
                self.desk.daemon.policy("AllowNoPasscode=no\nThrottleAfter=0", reload=True)
                self.assertEqual(self.desk.daemon.status().pending, bytes([flow]))
                script = answers(acknowledge="")
                self.desk.lock()
                self.check(self.desk.open(script).last, "done")


class Lies(Case):
    """A compromised worker. Whatever it sends, it opens no store, and the passcode does."""

    policy = "FingerprintMaxFailures=20\n"

    def lie(self, say):
        def behave(visit, request):
            if request.kind != MATCH:
                return self.worker.honest(visit, request)
            say(visit, request)

        self.worker.behave = behave

    def survives(self, enter=None, seconds=9):
        """One opening: the finger opens nothing, the passcode does, within a time."""
        self.desk.lock()
        stopwatch = Stopwatch()
        finger = self.desk.open(enter=enter)
        stopwatch.stop()
        self.check(finger.last, "refused", code=27)
        self.assertEqual([ask.purpose for ask in finger.client.asked], ["passcode"])
        self.assertFalse(self.desk.is_open())
        stopwatch.assert_within(seconds)
        self.check(self.desk.ask("openStore", answers(), hello=dict(frontEnd="program")).last, "done")
        self.assertTrue(self.desk.is_open())

    @slow
    def test_lies(self):
        """another nonce, an index out of range, an unwanted answer, bytes that are no frame, the end: a hundred
        times"""
        self.desk.enroll()
        dice = random.Random(4)

        def matched(visit, request, index=0, nonce=None):
            visit.send(MATCHED, request, bytes([index]), nonce)

        def other_nonce(visit, request):
            visit.scan(request, PLACE)
            for nonce in (os.urandom(16), bytes(16), self.worker.heard[0].nonce):
                matched(visit, request, 0, nonce)
            raise Gone

        def out_of_range(visit, request):
            visit.scan(request, PLACE)
            matched(visit, request, dice.randrange(1, 256))

        def out_of_order(visit, request):
            visit.send(*dice.choice([
                (DONE, request), (ENROLLED, request, payload(b"x" * 50)), (READERS, request, b"\0"),
                (STORED_PRINTS, request, b"\0\0"), (LIST, request), (0x99, request)]))
            matched(visit, request)

        def garbage(visit, _request):
            visit.connection.sendall(dice.randbytes(dice.randrange(1, 5000)))

        def enormous(visit, request):
            visit.connection.sendall(struct.pack("<IHI", 0xFFFFFFFF, MATCHED, 0) + request.nonce)

        def cut_short(visit, request):
            visit.connection.sendall(frame(MATCHED, request.nonce)[: dice.randrange(1, 26)])
            raise Gone

        def too_long(visit, request):
            visit.send(MATCHED, request, b"\0\0\0")

        def tagged(visit, request):
            visit.connection.sendall(frame(MATCHED, request.nonce + b"\0", tag=7))

        def flood(visit, request):
            while True:
                visit.scan(request, PLACE)

        def flood_of_others(visit, request):
            while True:
                visit.send(SCAN, request, b"\1\0\0\0", os.urandom(16))

        def crash(_visit, _request):
            raise Gone

        kinds = [other_nonce, out_of_range, out_of_order, garbage, enormous, cut_short, too_long, tagged, flood,
                 flood_of_others, crash]
        for round in range(100):
            say = kinds[round % len(kinds)]
            with self.subTest(say.__name__, round=round):
                self.lie(say)
                self.survives()
        self.worker.behave = self.worker.honest
        self.assertTrue(self.opened_by_finger())
        self.assertTrue(self.desk.daemon.is_running)

    def test_match_after_cancel(self):
        """a match that comes after Enter does not count, a hundred times"""
        self.desk.enroll()

        def late(visit, request):
            visit.scan(request, PLACE)
            if visit.is_cancelled(20):
                visit.send(MATCHED, request, b"\0")

        self.lie(late)
        self.desk.lock()
        for _ in range(100):
            finger = self.desk.open(enter=lambda scan: scan.event == "place")
            self.check(finger.last, "refused", code=27)
            self.assertEqual(len(finger.client.asked), 1)
            self.assertFalse(self.desk.is_open())
        wait_until(lambda: self.desk.list().failuresLeft == 20, "nothing was compared")

    def test_hangs(self):
        """a worker that accepts and sends nothing: the passcode within a few seconds, at each stage"""
        self.desk.enroll()
        self.lie(lambda visit, request: visit.is_cancelled(30))
        self.survives()
        # The worker does not even answer with a list.
        self.worker.behave = lambda visit, request: visit.is_cancelled(30)
        self.desk.daemon.restart()
        self.check(self.desk.ask("openStore", answers(), hello=dict(frontEnd="program")).last, "done")
        self.survives()

        def after_place(visit, request):
            visit.scan(request, PLACE)
            visit.receive(30)
            time.sleep(30)

        self.lie(after_place)
        self.survives(enter=lambda scan: scan.event == "place", seconds=4)

    @slow
    def test_bound(self):
        """however it hangs, the passcode is asked for within about two seconds"""
        self.desk.enroll()
        # A worker that only accepts the connection.
        path = self.worker.path

        def deaf():
            os.rename(path, path + ".aside")
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(path)
            os.chmod(path, 0o666)
            listener.listen(0)
            self.addCleanup(listener.close)
            return [listener]

        def full():
            held = deaf()
            for _ in range(2):
                held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                held[-1].setblocking(False)
                held[-1].connect_ex(path)
            return held

        def silent():
            self.worker.behave = lambda visit, request: visit.is_cancelled(30)

        def lists_alone():
            self.lie(lambda visit, request: visit.is_cancelled(30))

        for hangs in (deaf, full, silent, lists_alone):
            held = hangs() or []
            self.desk.lock()
            stopwatch = Stopwatch()

            def passcode(ask, stopwatch=stopwatch):
                stopwatch.stop()
                return PASSCODE

            self.check(self.desk.open(passcode).last, "done")
            stopwatch.assert_within(2.8, hangs.__name__)
            for each in held:
                each.close()
            if held:
                os.rename(path + ".aside", path)
            self.worker.behave = self.worker.honest
            # A worker that works again keeps nobody waiting.
            self.assertTrue(self.opened_by_finger(), hangs.__name__)

    def test_lies_count(self):
        """a worker that ends or hangs while it compares has used up a match"""
        self.desk.enroll()
        self.lie(lambda visit, request: visit.connection.close())
        self.desk.lock()
        for left in range(19, 16, -1):
            self.check(self.desk.open().last, "refused", code=27)
            self.assertEqual(self.desk.list().failuresLeft, left)

    def test_lying_enrolment(self):
        """an enrolment with a print that is too long or empty, or with a match, enrols nothing"""
        for body in (payload(b""), payload(b"x" * 65_537), struct.pack("<I", 70) + b"x" * 20):
            def behave(visit, request, body=body):
                if request.kind != ENROLL:
                    return self.worker.honest(visit, request)
                visit.scan(request, PLACE, 0, 3)
                visit.send(ENROLLED, request, body)

            self.worker.behave = behave
            finger = self.desk.ask("fingerprintEnroll", answers(), finger="unnamed")
            self.check(finger.last, "refused", code=28)
        self.worker.behave = self.worker.honest
        self.assertFalse(self.desk.list().on)

    def test_nonsense_in_lists(self):
        """a list that makes no sense is treated as no reader"""
        self.desk.enroll()
        self.desk.lock()
        for body in (b"\xff", b"\1", b"\1" + text("x") * 20, b"\0\0"):
            def behave(visit, request, body=body):
                if request.kind == LIST:
                    return visit.send(READERS, request, body)
                return self.worker.honest(visit, request)

            self.worker.behave = behave
            self.check(self.desk.open(answers()).last, "done")
            self.desk.lock()


if __name__ == "__main__":
    unittest.main()
