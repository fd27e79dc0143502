"""appvault-fingerprint alone, with libfprint's virtual readers: what it answers, to whom, and
what it cannot do."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import pamlab
from daemonlab import IS_ROOT, as_uid, build, wait_until
from fprintlab import (
    CANCEL, DELETE, ENROLL, LIST, MATCH, STORED, Ended, HandedOver, Link, Worker, choice, frame, payload, templates,
    text,
)
from patience import Stopwatch

TIMEOUT = 300
RETRIES = {0: "general", 1: "tooShort", 2: "center", 3: "removeFinger"}
# FpDeviceError, and the fault that it becomes.
ERRORS = {
    0: "general", 1: "notSupported", 2: "general", 3: "busy", 4: "busy", 5: "general", 6: "badTemplate", 7: "notStored",
    8: "storageFull", 9: "duplicate", 0x100: "removed", 0x101: "tooHot",
}
# A print that libfprint would accept, of a reader that does not exist.
STRANGER = b"FP3\x01\x00\x00\x00vfs5011\x000\x00\x00\x00"


class Case(unittest.TestCase):
    READERS = ("device",)

    @classmethod
    def setUpClass(cls):
        cls.worker = Worker(readers=cls.READERS)
        cls.link = cls.worker.link()

    @classmethod
    def tearDownClass(cls):
        cls.link.close()
        cls.worker.close()


class Readers(Case):
    READERS = ("device", "storage", "image")

    def test_list(self):
        """Each reader is listed with what it can do and where it is"""
        found = {reader["id"]: reader for reader in self.link.readers()}
        self.assertEqual(set(found), {"virtual_device/0", "virtual_device_storage/0", "virtual_image/0"})
        device, storage = found["virtual_device/0"], found["virtual_device_storage/0"]
        self.assertEqual(
            (device["driver"], device["name"], device["stages"], device["port"]),
            ("virtual_device", "Virtual device for debugging", 5, ""))
        self.assertEqual((device["identifies"], device["stores"], device["internal"]), (False, False, True))
        self.assertEqual((storage["identifies"], storage["stores"]), (True, True))

    def test_kind(self):
        """Press or swipe, and how many stages, are the reader's own"""
        template = self.worker.enroll(self.link, "alice")
        for kind, number in (("press", 1), ("swipe", 2)):
            self.link.begin_match("device", [template])
            self.worker.play("device", f"SET_SCAN_TYPE {kind}", "SET_ENROLL_STAGES 3", "SCAN alice")
            self.assertEqual(self.link.last(), ("matched", 0))
            found = [each for each in self.link.readers() if each["driver"] == "virtual_device"][0]
            self.assertEqual((found["scan"], found["stages"]), (number, 3))
        self.link.begin_match("device", [template])
        self.worker.play("device", "SET_ENROLL_STAGES 5", "SCAN alice")
        self.assertEqual(self.link.last(), ("matched", 0))

    def test_each(self):
        """The reader that is named is the one that is used; the others are not opened"""
        one = self.worker.enroll(self.link, "alice", "device")
        two = self.worker.enroll(self.link, "alice", "storage")
        self.link.begin_match("storage", [two])
        self.assertFalse(self.worker.is_open("device"))
        self.worker.play("storage", "SCAN alice")
        self.assertEqual(self.link.last(), ("matched", 0))
        self.assertEqual(self.worker.match(self.link, [one], "alice"), ("matched", 0))

    def test_none(self):
        """No reader of that id at that port: reported at once"""
        for reader, port in (("vfs5011/0", ""), ("", ""), ("device", "0000:00:14.0/9")):
            with self.subTest(reader):
                stopwatch = Stopwatch()
                self.link.send(ENROLL, choice(reader, port))
                self.assertEqual(self.link.last(), ("failed", "noReader"))
                stopwatch.assert_within(2)

    def test_template_of_another(self):
        """A template of another reader is refused, before the person is asked for a finger"""
        one = self.worker.enroll(self.link, "alice", "device")
        for kind, body in ((MATCH, templates([one])), (DELETE, payload(one))):
            self.link.send(kind, choice("storage") + body)
            self.assertEqual(self.link.next(), ("failed", "badTemplate"))

    def test_image(self):
        """An image reader's enrolment, with swipes that cannot be used, ends with a cancel"""
        self.link.begin_enroll("image")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as finger:
            finger.connect(self.worker.reader_socket("image"))
            # -1 and a number are a retry of that kind (libfprint's virtual-image.c).
            finger.sendall(struct.pack("ii", -1, 1))
            self.assertEqual(self.link.next(), ("scan", "retry", 0, 5, "tooShort"))
            self.link.cancel()
            self.assertEqual(self.link.last(), ("failed", "cancelled"))


class Environment(unittest.TestCase):
    def test_brought_in(self):
        """A fake reader in the environment of the program that starts the worker does not count"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reader")
            fakes = {name: path for name in ("FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE", "FP_VIRTUAL_IMAGE")}
            with Worker(readers=(), environment=fakes) as worker, worker.link() as link:
                self.assertEqual(link.readers(), [])
            with HandedOver(environment=fakes) as worker, worker.link() as link:
                self.assertEqual(link.readers(), [])
                link.send(ENROLL, choice("device"))
                self.assertEqual(link.next(), ("failed", "noReader"))
            with Worker(variables=[f"FP_VIRTUAL_DEVICE={path}"]) as worker, worker.link() as link:
                self.assertEqual([each["id"] for each in link.readers()], ["virtual_device/0"])

    def test_command_line(self):
        """Fake readers are allowed only with a socket of one's own, not with systemd's; errors are reported"""
        for options, wrong in [
            (["--env", "FP_VIRTUAL_DEVICE=/tmp/x"], "--env needs --listen"), (["--fixed"], "--fixed needs --listen"),
            ([], "no socket was handed over"), (["--listen", "/tmp/x", "--env", "A"], "--env: NAME=VALUE"),
            (["--linger", "x"], "--linger: 0 to 86400"), (["--peer", "no such user"], "there is no user"),
            (["--listen"], "a value is missing"), (["--what"], "no such option"),
        ]:
            with self.subTest(options):
                done = subprocess.run(
                    [build("appvault-fingerprint"), *options], capture_output=True, text=True, check=False, env={})
                self.assertEqual(done.returncode, 2)
                self.assertIn(wrong, done.stderr)

    def test_not_fixed(self):
        """A reader that is on no bus is internal only by an option for tests"""
        with Worker(fixed=False) as worker, worker.link() as link:
            self.assertFalse(link.readers()[0]["internal"])

    def test_process(self):
        """No core, no file, no new privileges, and a filter"""
        with Worker() as worker, worker.link() as link:
            link.readers()
            with open(f"/proc/{worker.process.pid}/status") as file:
                status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
            self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
            with open(f"/proc/{worker.process.pid}/limits") as file:
                limits = file.read()
            for name in ("Max core file size", "Max file size"):
                line = [line for line in limits.splitlines() if line.startswith(name)][0]
                self.assertEqual(line.split()[-3:-1], ["0", "0"], line)
            for task in os.listdir(f"/proc/{worker.process.pid}/task"):
                # A thread may end before its turn.
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    with open(f"/proc/{worker.process.pid}/task/{task}/status") as file:
                        self.assertIn("Seccomp:\t2", file.read())
            if not IS_ROOT:
                with self.assertRaises(PermissionError):
                    open(f"/proc/{worker.process.pid}/mem", "rb").close()


class Enrolment(Case):
    READERS = ("device", "storage")

    def test_stages(self):
        """Every touch is a stage; the template comes last, and contains no name and no finger"""
        self.link.begin_enroll()
        for stage in range(1, 6):
            self.worker.play("device", "SCAN alice-finger")
            self.assertEqual(self.link.next(), ("scan", "stage", stage, 5, "none"))
        kind, template = self.link.next()
        self.assertEqual(kind, "enrolled")
        self.assertLess(len(template), 65536)
        for name in (b"root", b"nobody", os.environ.get("USER", "root").encode(), b"right", b"left"):
            self.assertNotIn(name, template)
        self.assertEqual(self.worker.match(self.link, [template], "alice-finger"), ("matched", 0))

    def test_retries(self):
        """Each kind of retry is reported as such, at any stage, and costs no stage"""
        for at in (0, 2, 4):
            self.link.begin_enroll()
            done = 0
            while done < 5:
                if done == at:
                    for number, kind in RETRIES.items():
                        self.worker.play("device", f"RETRY {number}")
                        self.assertEqual(self.link.next(), ("scan", "retry", done, 5, kind))
                self.worker.play("device", "SCAN alice")
                done += 1
                self.assertEqual(self.link.next(), ("scan", "stage", done, 5, "none"))
            self.assertEqual(self.link.next()[0], "enrolled")

    def test_other_finger(self):
        """Another finger halfway is a retry, never a template of two"""
        self.link.begin_enroll()
        self.worker.play("device", "SCAN alice")
        self.link.event("stage", 1)
        self.worker.play("device", "SCAN bob")
        said = self.link.next()
        self.assertEqual(said[:3], ("scan", "retry", 1))
        self.link.cancel()
        self.assertEqual(self.link.last(), ("failed", "cancelled"))

    def test_errors(self):
        """Each of libfprint's errors has its fault, at the first touch and later; the next enrolment works"""
        for reader in ("device", "storage"):
            for at in (0, 3):
                for number, fault in ERRORS.items():
                    with self.subTest(reader=reader, at=at, number=number):
                        self.link.begin_enroll(reader)
                        for _ in range(at):
                            self.worker.play(reader, "SCAN alice")
                            self.link.event("stage")
                        self.worker.play(reader, f"ERROR {number}")
                        self.assertEqual(self.link.last(), ("failed", fault))
        self.worker.enroll(self.link, "alice")


class Matching(Case):
    READERS = ("device", "storage")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.alice = cls.worker.enroll(cls.link, "alice")
        cls.stored = [cls.worker.enroll(cls.link, name, "storage") for name in ("one", "two", "three")]

    def test_match(self):
        """The finger matches, another does not, and one touch is the end either way"""
        for finger, said in [
            ("alice", ("matched", 0)), ("bob", ("noMatch",)), ("alic", ("noMatch",)), ("alice", ("matched", 0))]:
            self.link.begin_match("device", [self.alice])
            self.worker.play("device", f"SCAN {finger}")
            self.assertEqual(self.link.next(), said)

    def test_identify(self):
        """Of several templates the one that was touched is reported, wherever it is in the list"""
        for order in ((0, 1, 2), (2, 0, 1), (1, 2)):
            found = [self.stored[each] for each in order]
            for place, each in enumerate(order):
                self.assertEqual(
                    self.worker.match(self.link, found, ("one", "two", "three")[each], "storage"), ("matched", place))
        # It is on the chip, but not in this request.
        self.assertEqual(self.worker.match(self.link, self.stored[:2], "three", "storage"), ("noMatch",))
        self.assertEqual(self.worker.match(self.link, self.stored[:1], "two", "storage"), ("noMatch",))

    def test_several(self):
        """A reader that cannot distinguish several prints says so; ten are the most"""
        self.link.send(MATCH, choice("device") + templates([self.alice] * 2))
        self.assertEqual(self.link.last(), ("failed", "notSupported"))
        self.assertEqual(
            self.worker.match(self.link, [self.stored[0]] * 9 + [self.stored[1]], "two", "storage"), ("matched", 9))

    def test_retries(self):
        """A touch that could not be used is explained, and the next one counts"""
        for reader, found, finger in (("device", [self.alice], "alice"), ("storage", self.stored, "one")):
            for finger, said in ((finger, ("matched", 0)), ("nobody", ("noMatch",))):
                self.link.begin_match(reader, found)
                for number, kind in RETRIES.items():
                    self.worker.play(reader, f"RETRY {number}")
                    self.assertEqual(self.link.next(), ("scan", "retry", 0, 0, kind))
                self.worker.play(reader, f"SCAN {finger}")
                self.assertEqual(self.link.next(), said)

    def test_errors(self):
        """Each of libfprint's errors has its fault and no match; the reader is fine afterwards"""
        for number, fault in ERRORS.items():
            with self.subTest(number):
                self.link.begin_match("device", [self.alice])
                self.worker.play("device", f"ERROR {number}")
                self.assertEqual(self.link.next(), ("failed", fault))
                self.assertEqual(self.worker.match(self.link, [self.alice], "alice"), ("matched", 0))

    def test_quick(self):
        """A match is reported the moment that the reader has it"""
        took, stopwatch = [], Stopwatch()
        for _ in range(20):
            self.link.begin_match("device", [self.alice])
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as finger:
                finger.connect(self.worker.reader_socket("device"))
                began = time.monotonic()
                finger.sendall(b"SCAN alice")
                finger.shutdown(socket.SHUT_WR)
                self.assertEqual(self.link.next(), ("matched", 0))
                took.append(time.monotonic() - began)
        stopwatch.stop()
        if sorted(took)[10] >= 0.05:
            stopwatch.assert_within(10 * 0.05, took)


class Stops(Case):
    """Whatever ends a scan: it ends at once, and the reader is free for the next."""

    def setUp(self):
        self.alice = self.worker.enroll(self.link, "alice")

    def quickly(self, work, wanted):
        stopwatch = Stopwatch()
        self.assertEqual(work(), wanted)
        stopwatch.assert_within(2)
        self.assertEqual(self.worker.match(self.link, [self.alice], "alice"), ("matched", 0))

    def cancelled(self):
        self.link.cancel()
        return self.link.last()

    def test_cancel(self):
        """A cancel ends a match and an enrolment, at any stage, also before the reader waits"""
        self.link.begin_match("device", [self.alice])
        self.quickly(self.cancelled, ("failed", "cancelled"))
        self.link.begin_match("device", [self.alice])
        self.worker.play("device", "RETRY 1")
        self.link.event("retry")
        self.quickly(self.cancelled, ("failed", "cancelled"))
        for touches in (0, 1, 4):
            self.link.begin_enroll()
            for _ in range(touches):
                self.worker.play("device", "SCAN alice")
                self.link.event("stage")
            self.quickly(self.cancelled, ("failed", "cancelled"))
        for _ in range(20):
            self.link.send(MATCH, choice("device") + templates([self.alice]))
            self.quickly(self.cancelled, ("failed", "cancelled"))
            nonce = os.urandom(16)
            self.link.nonce = nonce
            self.link.socket.sendall(
                frame(ENROLL, nonce + choice("device")) + frame(CANCEL, nonce))
            self.quickly(self.link.last, ("failed", "cancelled"))

    def test_cancel_of_another(self):
        """A cancel of a request that has ended, or never existed, changes nothing"""
        self.link.cancel(os.urandom(16))
        self.link.begin_match("device", [self.alice])
        self.link.cancel(os.urandom(16))
        self.worker.play("device", "SCAN alice")
        self.assertEqual(self.link.next(), ("matched", 0))
        self.link.cancel()
        self.assertEqual(self.worker.match(self.link, [self.alice], "alice"), ("matched", 0))

    def test_touch_behind_cancel(self):
        """A touch that comes together with the cancel is never a match"""
        for _ in range(20):
            self.link.begin_match("device", [self.alice])
            os.kill(self.worker.process.pid, signal.SIGSTOP)
            try:
                self.link.cancel()
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as finger:
                    finger.connect(self.worker.reader_socket("device"))
                    finger.sendall(b"SCAN alice")
                    finger.shutdown(socket.SHUT_WR)
            finally:
                os.kill(self.worker.process.pid, signal.SIGCONT)
            # It is not determined which of the two comes first, but there is only one answer.
            self.assertIn(self.link.last(), (("failed", "cancelled"), ("matched", 0)))
        self.assertEqual(self.worker.match(self.link, [self.alice], "alice"), ("matched", 0))

    def test_timeout(self):
        """No finger within the time of the request: reported then, and not before"""
        stopwatch = Stopwatch()
        self.link.begin_match("device", [self.alice], seconds=1)
        self.assertEqual(self.link.last(), ("failed", "timedOut"))
        self.assertGreater(stopwatch.seconds, 0.9)
        stopwatch.assert_within(3)
        # A retry does not start the time again.
        stopwatch = Stopwatch()
        self.link.begin_match("device", [self.alice], seconds=2)
        for _ in range(3):
            time.sleep(0.5)
            self.worker.play("device", "RETRY 1")
            said = self.link.next()
            if said[0] != "scan":
                # This process comes to it only now.
                self.assertGreater(stopwatch.seconds, 1.9)
                break
            self.assertEqual(said[1], "retry")
        else:
            said = self.link.last()
        self.assertEqual(said, ("failed", "timedOut"))
        stopwatch.assert_within(4)
        self.assertEqual(self.worker.match(self.link, [self.alice], "alice"), ("matched", 0))

    def test_hang_up(self):
        """When the daemon disconnects its scan ends, and the next connection gets the reader"""
        for begin in (lambda link: link.begin_match("device", [self.alice]), lambda link: link.begin_enroll()):
            self.link.close()
            type(self).link = self.worker.link()
            begin(self.link)
            self.link.close()
            type(self).link = self.worker.link()
            stopwatch = Stopwatch()
            self.assertEqual(self.worker.match(self.link, [self.alice], "alice"), ("matched", 0))
            stopwatch.assert_within(2)

    def test_unplugged(self):
        """Unplugged in any phase: reported at once; when it is plugged in again it works"""
        def unplug():
            self.worker.play("device", "UNPLUG")
            return self.link.last()

        self.link.begin_match("device", [self.alice])
        self.quickly(unplug, ("failed", "removed"))
        self.link.begin_match("device", [self.alice])
        self.worker.play("device", "RETRY 1")
        self.link.event("retry")
        self.quickly(unplug, ("failed", "removed"))
        for touches in (0, 1, 4):
            self.link.begin_enroll()
            for _ in range(touches):
                self.worker.play("device", "SCAN alice")
                self.link.event("stage")
            self.quickly(unplug, ("failed", "removed"))
        self.assertEqual(len(self.link.readers()), 1)

    def test_released(self):
        """Between requests the reader is not in use"""
        wait_until(lambda: not self.worker.is_open(), "the reader is let go")
        self.link.begin_match("device", [self.alice])
        self.assertTrue(self.worker.is_open())
        self.cancelled()
        wait_until(lambda: not self.worker.is_open(), "the reader is let go")


class Chip(Case):
    """A reader that keeps prints itself."""

    READERS = ("storage", "device")

    def insert(self, name):
        """Puts a print there as another program would; the reader hears the command while it is
        open."""
        self.link.begin_match("storage", [self.worker.enroll(self.link, f"door-{name}", "storage")])
        self.worker.play("storage", f"INSERT {name}")
        self.link.cancel()
        self.link.last()

    def setUp(self):
        # Another context has an empty chip.
        self.worker.close()
        type(self).worker = Worker(readers=self.READERS)
        type(self).link = self.worker.link()

    def test_stored(self):
        """The prints on the chip are listed, ours and others'; a delete removes what it names and nothing else"""
        one, two = (self.worker.enroll(self.link, name, "storage") for name in ("one", "two"))
        self.insert("stranger")
        kind, found = self.link.stored("storage", [one, two])
        self.assertEqual(kind, "stored")
        self.assertEqual(sorted(place for place, _ in found), [0, 0, 1, 2])
        self.assertEqual(self.link.delete("storage", one), ("done",))
        self.assertEqual(sorted(place for place, _ in self.link.stored("storage", [one, two])[1]), [0, 0, 2])
        self.assertEqual(self.worker.match(self.link, [one, two], "one", "storage"), ("noMatch",))
        self.assertEqual(self.worker.match(self.link, [one, two], "two", "storage"), ("matched", 1))
        self.assertEqual(self.link.delete("storage", one), ("done",), "gone already")
        self.assertEqual(sorted(place for place, _ in self.link.stored("storage")[1]), [0, 0, 0])

    def test_clear(self):
        """A chip is emptied, of ours and others'; a reader without one, and one that is not there, are named"""
        one = self.worker.enroll(self.link, "one", "storage")
        self.insert("stranger")
        self.assertEqual(len(self.link.stored("storage")[1]), 3)
        self.assertEqual(self.link.clear("storage"), ("done",))
        self.assertEqual(self.link.stored("storage", [one]), ("stored", []))
        self.assertEqual(self.link.clear("storage"), ("done",))
        self.assertEqual(self.link.clear("device"), ("failed", "notSupported"))
        self.assertEqual(self.link.clear("storage", "9-9"), ("failed", "noReader"))
        self.worker.enroll(self.link, "one", "storage")

    def test_full(self):
        """A chip that is full, and a finger that is already on it"""
        self.link.begin_enroll("storage")
        self.worker.play("storage", "ERROR 8")
        self.assertEqual(self.link.last(), ("failed", "storageFull"))
        self.worker.enroll(self.link, "one", "storage")
        self.link.begin_enroll("storage")
        self.worker.play("storage", "SCAN one")
        self.assertEqual(self.link.last(), ("failed", "duplicate"))
        self.assertEqual(len(self.link.stored("storage")[1]), 1)

    def test_unplugged(self):
        """Unplugged between requests, a chip's reader is found again, with what is then on it"""
        one = self.worker.enroll(self.link, "one", "storage")
        self.link.begin_match("storage", [one])
        self.worker.play("storage", "UNPLUG")
        self.assertEqual(self.link.last(), ("failed", "removed"))
        # libfprint keeps a virtual chip in memory.
        self.assertEqual(self.link.stored("storage", [one]), ("stored", []))
        self.assertEqual(self.worker.match(self.link, [one], "one", "storage"), ("noMatch",))
        self.assertEqual(self.link.delete("storage", one), ("done",))

    def test_without_chip(self):
        """A reader without a chip has nothing to delete and nothing to list"""
        template = self.worker.enroll(self.link, "alice")
        self.assertEqual(self.link.delete("device", template), ("done",))
        self.assertEqual(self.link.stored("device"), ("failed", "notSupported"))

    def waiting(self, place):
        """A worker that says where it is and waits there until the file that is returned exists."""
        self.worker.close()
        go = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "go")
        library = pamlab.compiled("fprintpreload.c", "fprintpreload.so", "-shared", "-fPIC", "-lpthread")
        type(self).worker = Worker(
            readers=self.READERS, environment={"LD_PRELOAD": library}, variables=[f"{place}={go}"])
        type(self).link = self.worker.link()
        self.link.begin_enroll("storage")
        for stage in range(1, 6):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as finger:
                finger.connect(self.worker.reader_socket("storage"))
                finger.sendall(b"SCAN one")
                finger.shutdown(socket.SHUT_WR)
            self.link.event("stage", stage)
        wait_until(lambda: f"at {place}" in self.worker.log(), f"it is at {place}")
        return go

    def go(self, path):
        with open(path, "w"):
            pass
        os.chmod(path, 0o644)

    def test_unheard(self):
        """A print of which nobody will know does not stay on the chip: the daemon left at the last touch, or while the
        reader was closed"""
        for place in ("READER_ENROLLED", "READER_CLOSES"):
            with self.subTest(place):
                go = self.waiting(place)
                self.link.close()
                self.go(go)
                type(self).link = self.worker.link()
                self.assertEqual(self.link.stored("storage"), ("stored", []))

    def test_cancelled_last(self):
        """A cancel at the last touch: nothing is enrolled, and nothing stays on the chip"""
        go = self.waiting("READER_ENROLLED")
        self.link.cancel()
        self.go(go)
        self.assertEqual(self.link.last(), ("failed", "cancelled"))
        self.assertEqual(self.link.stored("storage"), ("stored", []))

    def test_stopped_opening(self):
        """A stop that comes when the reader has just opened: it is let go, and the next request has it"""
        library = pamlab.compiled("fprintpreload.c", "fprintpreload.so", "-shared", "-fPIC", "-lpthread")
        with Worker(environment={"LD_PRELOAD": library}, variables=["READER_STOPS=1"]) as worker:
            with worker.link() as link:
                link.send(ENROLL, choice("device"))
                self.assertEqual(link.last(), ("failed", "cancelled"))
                wait_until(lambda: not worker.is_open(), "the reader is let go")
                worker.enroll(link, "alice")
                # libfprint's words where a reader is dropped that was never closed.
                self.assertNotIn("destroyed open device", worker.log())

    def test_clear_each(self):
        """Of a chip that is emptied print by print, one that stays keeps no other one there, and is reported"""
        self.worker.close()
        library = pamlab.compiled("fprintpreload.c", "fprintpreload.so", "-shared", "-fPIC", "-lpthread")
        type(self).worker = Worker(
            readers=self.READERS, environment={"LD_PRELOAD": library}, variables=["READER_KEEPS=1"])
        type(self).link = self.worker.link()
        for name in ("one", "two", "three"):
            self.worker.enroll(self.link, name, "storage")
        self.assertEqual(self.link.clear("storage"), ("failed", "cancelled"))
        self.assertEqual(len(self.link.stored("storage")[1]), 1)
        self.assertEqual(self.link.clear("storage"), ("done",))
        self.assertEqual(self.link.stored("storage"), ("stored", []))


class BadBytes(unittest.TestCase):
    def test_bad_template(self):
        """Bytes that are no template do not match: they are refused, or end the worker, and a new one follows"""
        with Worker(readers=("device", "storage")) as worker:
            with worker.link() as link:
                good = worker.enroll(link, "alice")
            bad = [good[:count] for count in range(1, len(good))] + [b"\0" * 50, b"FP3", b"x" * 65536, STRANGER]
            bad += [good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :] for at in range(len(good) - 1)]
            died = 0
            for template in bad:
                try:
                    with worker.link() as link:
                        link.send(MATCH, choice("storage") + templates([template]))
                        self.assertEqual(link.last(), ("failed", "badTemplate"))
                except Ended:
                    died += 1
                    self.assertIn(-worker.process.wait(5), (signal.SIGABRT, signal.SIGTRAP, signal.SIGSEGV))
                    worker.start()
            self.assertGreater(died, 0, "libfprint has learnt to refuse bad bytes")
            with worker.link() as link:
                self.assertEqual(worker.match(link, [good], "alice"), ("matched", 0))

    def test_killed(self):
        """A worker that is killed ends the connection; the next one starts anew"""
        with Worker() as worker:
            with worker.link() as link:
                good = worker.enroll(link, "alice")
                link.begin_match("device", [good])
                worker.process.kill()
                with self.assertRaises(Ended):
                    link.last()
            worker.start()
            with worker.link() as link:
                self.assertEqual(worker.match(link, [good], "alice"), ("matched", 0))

    def test_nonsense(self):
        """Bytes that are no request end the connection, and the next one is served"""
        nonce, some = b"n" * 16, choice("device")
        bad = {
            "type": frame(0x71, nonce), "odd": frame(0x7C, nonce), "tag": frame(LIST, nonce, tag=1),
            "trailing": frame(LIST, nonce + b"x"), "short": frame(LIST, nonce[:-1]), "empty": frame(ENROLL, b""),
            "huge": struct.pack("<IHI", 0xFFFFFFFF, LIST, 0), "too long": struct.pack("<IHI", 655937, MATCH, 0),
            "no template": frame(MATCH, nonce + some + templates([])),
            "eleven": frame(MATCH, nonce + some + templates([b"x"] * 11)),
            "empty template": frame(MATCH, nonce + some + templates([b""])),
            "long template": frame(MATCH, nonce + some + templates([b"x" * 65537])),
            "sizes that lie": frame(MATCH, nonce + some + bytes([0, 1]) + struct.pack("<I", 2) + payload(b"x")),
            "no text": frame(ENROLL, nonce + text(b"\xff") + text("")),
            "NUL": frame(ENROLL, nonce + text(b"a\0") + text("")),
            "long id": frame(ENROLL, nonce + text(b"a" * 256) + text("")),
            "two at once": frame(LIST, nonce) + frame(LIST, nonce),
            "cancel with more": frame(CANCEL, nonce + b"x"),
        }
        with Worker() as worker:
            for name, data in bad.items():
                with self.subTest(name), worker.link() as link:
                    link.nonce = nonce
                    link.socket.sendall(data)
                    with self.assertRaises(Ended):
                        # What came before the nonsense may be answered.
                        link.last()
                        link.last()
            with worker.link() as link:
                template = worker.enroll(link, "alice")
                link.begin_match("device", [template])
                link.send(LIST)
                with self.assertRaises(Ended):
                    while True:
                        link._receive(1)
            with worker.link() as link:
                self.assertEqual(worker.match(link, [template], "alice"), ("matched", 0))
                # In as many pieces as there are bytes.
                link.nonce = nonce
                for byte in frame(STORED, nonce + some + templates([])):
                    link.socket.sendall(bytes([byte]))
                self.assertEqual(link.next(), ("failed", "notSupported"))


class Peers(unittest.TestCase):
    @unittest.skipUnless(IS_ROOT, "needs other users")
    def test_peer(self):
        """Only the user that the worker works for gets an answer, not even root, and no byte of others is read"""
        def readers(path):
            with Link(path, 5) as link:
                try:
                    return len(link.readers())
                except (Ended, BrokenPipeError):
                    return "closed"

        for peer, uid in (("47011", 47011), ("nobody", 65534)):
            with Worker("--peer", peer) as worker:
                os.chmod(worker.socket, 0o666)
                self.assertEqual(readers(worker.socket), "closed")
                self.assertEqual(as_uid(47012, lambda: readers(worker.socket)), "closed")
                self.assertEqual(as_uid(uid, lambda: readers(worker.socket)), 1)

    def test_socket(self):
        """Only its user may connect to its socket"""
        with Worker() as worker:
            self.assertEqual(os.stat(worker.socket).st_mode & 0o777, 0o600)

    def test_one(self):
        """One connection at a time: the next one waits until it ends"""
        with Worker() as worker, worker.link() as first, worker.link(0.3) as second:
            first.readers()
            second.send(LIST)
            with self.assertRaises(TimeoutError):
                second.next()
            self.assertEqual(len(first.readers()), 1)
            first.close()
            second.socket.settimeout(5)
            self.assertEqual(second.next()[0], "readers")

    def test_handed_over(self):
        """It takes systemd's listening socket, and serves one connection after the other"""
        with HandedOver() as worker:
            for _ in range(3):
                with worker.link() as link:
                    self.assertEqual(link.readers(), [])
            self.assertIsNone(worker.process.poll())

    def test_lingers(self):
        """A set time after the last request it ends, whether or not silent connections are open"""
        for connect in (True, False):
            with Worker(linger=1) as worker:
                link = worker.link()
                link.readers()
                stopwatch = Stopwatch()
                if not connect:
                    link.close()
                self.assertEqual(worker.process.wait(60), 0)
                self.assertGreater(stopwatch.seconds, 0.9)
                stopwatch.assert_within(3)
                link.close()

    def test_lingers_not(self):
        """While a request runs it does not end"""
        with Worker(linger=1) as worker, worker.link() as link:
            template = worker.enroll(link, "alice")
            link.begin_match("device", [template])
            time.sleep(1.5)
            worker.play("device", "SCAN alice")
            self.assertEqual(link.next(), ("matched", 0))

    def test_slept(self):
        """After a sleep of the machine it does not rely on what libfprint knew about readers before"""
        library = pamlab.compiled("slept.c", "slept.so", "-shared", "-fPIC", "-ldl")
        with tempfile.NamedTemporaryFile() as slept:
            worker = Worker(environment={"LD_PRELOAD": library}, variables=[f"SLEPT={slept.name}"])
            with worker, worker.link() as link:
                template = worker.enroll(link, "alice")
                looks = worker.log().count("looks for readers")
                self.assertEqual(worker.match(link, [template], "alice"), ("matched", 0))
                self.assertEqual(worker.log().count("looks for readers"), looks)
                for sleep in (1, 2):
                    # Answered behind the release of the reader, which would otherwise be what took a minute.
                    link.readers()
                    os.truncate(slept.name, 60 * sleep)
                    self.assertEqual(worker.match(link, [template], "alice"), ("matched", 0))
                    self.assertEqual(worker.log().count("looks for readers"), looks + sleep)

    def test_terminated(self):
        """When it is asked to end, it first ends its scan and releases the reader"""
        with Worker() as worker, worker.link() as link:
            link.begin_enroll()
            worker.process.terminate()
            self.assertEqual(link.last(), ("failed", "cancelled"))
            self.assertEqual(worker.process.wait(5), 0)


class Sandbox(unittest.TestCase):
    """What a worker tries that a device has compromised."""

    @classmethod
    def setUpClass(cls):
        cls.library = pamlab.compiled("fprintpreload.c", "fprintpreload.so", "-shared", "-fPIC", "-lpthread")
        cls.folder = tempfile.mkdtemp(prefix="appvault-sandbox-")
        os.chmod(cls.folder, 0o777)
        cls.file = os.path.join(cls.folder, "file")
        with open(cls.file, "w") as file:
            file.write("for all")
        cls.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        cls.listener.bind(os.path.join(cls.folder, "socket"))
        cls.listener.listen(64)
        cls.victim = subprocess.Popen(["sleep", "600"])

    @classmethod
    def tearDownClass(cls):
        cls.victim.kill()
        cls.victim.wait()
        cls.listener.close()
        subprocess.run(["rm", "-rf", cls.folder], check=True)

    def tried(self, link, what):
        link.send(STORED, choice("device") + templates([what.encode()]))
        return link.last()

    def test_refused(self):
        """Processes, programs, new files, the network, other processes: each is refused in the worker, and possible
        without the sandbox"""
        pid = self.victim.pid
        script = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).attempt(sys.argv[2].encode()))"
        attempts = [
            "fork", "raw-fork", "exec", "internet", "memory-file", "dumpable", "filter", f"kill:{pid}", f"limits:{pid}",
            f"create:{self.folder}/new", f"unnamed:{self.folder}", f"mkdir:{self.folder}/folder",
            f"connect:{self.folder}/socket", f"unlink:{self.folder}/new",
        ]
        if IS_ROOT:
            attempts += [f"trace:{pid}", f"peek:{pid}", "namespace", "root"]
        for what in attempts:
            with self.subTest(what), HandedOver(environment={"LD_PRELOAD": self.library}) as worker:
                with worker.link() as link:
                    self.assertEqual(self.tried(link, what), ("failed", "noReader"))
            with self.subTest(what):
                done = subprocess.run([sys.executable, "-c", script, self.library, what], check=False)
                self.assertEqual(done.returncode, 0 if what == "exec" else 1, "possible outside")
        self.assertIsNone(self.victim.poll())

    def test_threads(self):
        """What drivers need is allowed: threads, device files, netlink"""
        for what in ("thread", "netlink", f"read:{self.file}", "pipe"):
            with self.subTest(what), HandedOver(environment={"LD_PRELOAD": self.library}) as worker:
                with worker.link() as link, self.assertRaises(Ended):
                    self.tried(link, what)
                self.assertEqual(worker.process.wait(5), 41)

    def test_hangs(self):
        """A reader that does not release is left by ending the worker; a match is reported before that"""
        with Worker("--env", "READER_HANGS=1", environment={"LD_PRELOAD": self.library}) as worker:
            with worker.link() as link:
                link.begin_enroll()
                link.cancel()
                with self.assertRaises(Ended):
                    link.last()
            self.assertEqual(worker.process.wait(10), 1)
            self.assertIn("the reader does not let go", worker.log())
        with Worker(environment={"LD_PRELOAD": self.library}) as worker, worker.link() as link:
            template = worker.enroll(link, "alice")
        with Worker("--env", "READER_HANGS=1", environment={"LD_PRELOAD": self.library}) as worker:
            with worker.link() as link:
                stopwatch = Stopwatch()
                self.assertEqual(worker.match(link, [template], "alice"), ("matched", 0))
                stopwatch.assert_within(2)
            self.assertEqual(worker.process.wait(10), 1)

    def test_misbehaves(self):
        """A worker that crashes ends the connection at once"""
        for what, status in (("crash", -signal.SIGSEGV), ("abort", -signal.SIGABRT)):
            with HandedOver(environment={"LD_PRELOAD": self.library}) as worker:
                with worker.link() as link, self.assertRaises(Ended):
                    self.tried(link, what)
                self.assertEqual(worker.process.wait(5), status)


if __name__ == "__main__":
    unittest.main()
