"""A code in front of a camera: what appvault-scan reads through it, what it cannot do, what a camera that lies can
bring about; and `appvault join --camera`. The camera is played: no real one was here to try."""

import errno
import fcntl
import hashlib
import os
import shutil
import signal
import struct
import time
import unittest

from cameralab import PROGRAM, Camera, Said, grey, mjpg, nv12, yuyv
from daemonlab import wait_until
from picturelab import Picture
from realcli import Real
from slow import slow

LINK = ("appvault:join?v=1&h=fleet.example.org&k=SHA256:" + hashlib.sha256(b"x").hexdigest() + "&t=Zm9vYmFyYmF6cXV4")
STRANGER = "https://example.org/\x1b[31m"
SIZE = (640, 480)


def blank():
    return Picture([bytearray(b"\xff" * SIZE[0]) for _ in range(SIZE[1])])


def code(text=LINK):
    return Picture.of(text, scale=4).within(*SIZE)


@unittest.skipUnless(shutil.which("qrencode") and shutil.which("cjpeg"), "qrencode or cjpeg is not installed")
class Case(unittest.TestCase):
    def camera(self, frames, **lies):
        camera = Camera(frames, **lies)
        self.addCleanup(camera.__exit__)
        return camera

    def started(self, camera, option="--camera", preview=None):
        process = camera.start(option, preview)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, Said(process)


class Looking(Case):
    def test_formats(self):
        """grey, two kinds of colours, rows that are longer than they need to be, and JPEG"""
        for name, frames in [("grey", grey([code()])), ("padded", grey([code()], pad=32)), ("yuyv", yuyv([code()])),
                             ("nv12", nv12([code()])), ("mjpg", mjpg([code()])),
                             ("dark", grey([code().inverted()]))]:
            with self.subTest(name):
                _, said = self.started(self.camera(frames))
                self.assertEqual([said.next(), said.next()], ["looking", LINK.encode()])

    def test_one_after_the_other(self):
        """frames without a code say nothing, the same code is said once, and another one is said, too"""
        frames = grey([blank(), code(STRANGER), code(STRANGER), blank(), code()])
        _, said = self.started(self.camera(frames))
        self.assertEqual([said.next() for _ in range(3)], ["looking", STRANGER.encode(), LINK.encode()])

    def test_broken_pictures(self):
        """a frame that is cut short, or no JPEG, or of another size, is left out; the next one counts"""
        kind, size, stride, good = mjpg([code()])
        small = mjpg([Picture.of(LINK)])[3][0]
        frames = (kind, size, stride, [b"", b"\xff\xd8garbage", good[0][:200], small, good[0]])
        _, said = self.started(self.camera(frames))
        self.assertEqual([said.next(), said.next()], ["looking", LINK.encode()])
        kind, size, stride, good = grey([code()])
        _, said = self.started(self.camera((kind, size, stride, [good[0][:1000], good[0]])))
        self.assertEqual([said.next(), said.next()], ["looking", LINK.encode()])

    def test_no_camera(self):
        """what takes no pictures, or none that can be read, or is in use, is said, and it ends"""
        for lies, expected in [({"caps": 0x2}, "device"), ({"caps": 0x04000000}, "device"), ({"formats": 1}, "format"),
                               ({"busy": 1}, "busy"), ({"refuses": 1}, "busy")]:
            with self.subTest(lies):
                process, said = self.started(self.camera(grey([code()]), **lies))
                self.assertEqual(said.next(), expected)
                self.assertEqual(process.wait(10), 0)

    @slow
    def test_lies(self):
        """sizes, numbers and lengths that cannot be end it, before anything is read where nothing is"""
        for lies in [{"width": 100_000}, {"width": 0}, {"height": 0}, {"height": 0xFFFFFFFF}, {"stride": 10},
                     {"stride": 0xFFFFFFFF}, {"width": 4096, "height": 4096}, {"format": 0x1234},
                     {"buffers": 0}, {"buffers": 9}, {"buffers": 0xFFFFFFFF}, {"length": 0}, {"length": 1000},
                     {"length": 0xFFFFFFFF}, {"maps": 0}, {"index": 4}, {"index": 0xFFFFFFFF}, {"unplugged": 1}]:
            with self.subTest(lies):
                process, said = self.started(self.camera(grey([blank()]), **lies))
                words = []
                while (word := said.next()) is not None:
                    words.append(word)
                self.assertIn(words, (["format"], ["broken"], ["looking", "broken"]))
                self.assertEqual(process.wait(10), 0)
        # One that says of each frame that it is larger than its place: none is taken.
        process, said = self.started(self.camera(grey([code()]), used=0x7FFFFFFF))
        self.assertEqual(said.next(), "looking")
        self.assertEqual(said.next(), "broken")

    @slow
    def test_silent(self):
        """one that sends nothing is given up after ten seconds"""
        begun = time.monotonic()
        process, said = self.started(self.camera(grey([code()]), silent=1))
        self.assertEqual([said.next(), said.next()], ["looking", "broken"])
        self.assertEqual(process.wait(10), 0)
        self.assertLess(time.monotonic() - begun, 40)

    def test_confined(self):
        """of the camera it has what reading frames takes, and beside that its output: nothing else"""
        process, said = self.started(self.camera(grey([code()]), probe=1))
        self.assertEqual(said.next(), "looking")
        tried = {}
        while isinstance(word := said.next(), str):
            _, what, number = word.split()
            tried[what] = int(number)
        self.assertEqual(word, LINK.encode())
        # /dev/null knows no such call, so the kernel was reached; and there are no files.
        self.assertEqual((tried.pop("querycap"), tried.pop("open")), (errno.ENOTTY, errno.ENOENT))
        self.assertEqual(set(tried.values()), {errno.EPERM}, tried)
        self.assertEqual(len(tried), 12)
        with open(f"/proc/{process.pid}/status") as file:
            status = dict(line.rstrip("\n").split(":\t") for line in file if ":\t" in line)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        if os.geteuid() == 0:
            self.assertEqual(set(status["Uid"].split()), {"65534"})
        self.assertEqual(len(os.listdir(f"/proc/{process.pid}/fd")), 3)

    def test_preview(self):
        """whoever asks for it gets small grey pictures, ten a second at most, and as many as they read"""
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        process, said = self.started(
            self.camera(grey([blank()] * 9 + [code()] * 9)), "--camera-and-preview", preview=writer)
        os.close(writer)
        self.assertEqual([said.next(), said.next()], ["looking", LINK.encode()])
        # Nobody has read one yet, and it has gone on looking.
        with os.fdopen(reader, "rb") as file:
            begun, seen = time.monotonic(), set()
            for _ in range(20):
                mark, width, height = struct.unpack("<4sHH", file.read(8))
                self.assertEqual((mark, width, height), (b"AVG1", 160, 120))
                seen.add(min(file.read(width * height)))
            self.assertGreater(time.monotonic() - begun, 0.5)
        self.assertEqual(len(seen), 2, "a blank one and one with a code")
        # Whoever stops looking ends nothing.
        time.sleep(0.3)
        self.assertIsNone(process.poll())


class Joining(Case):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)

    def join(self, camera, device="/dev/null"):
        return self.lab.terminal("join", "--scanner", camera.program, "--camera", *([device] if device else []))

    def test_a_link(self):
        """it says what to do, passes over what is no invitation, and asks for the link as if it had been typed"""
        camera = self.camera(grey([blank(), code(STRANGER), code(LINK + "&x=1"), code()]))
        with self.join(camera) as screen:
            screen.expect("Scan the code")
            screen.expect("in front of the camera")
            screen.expect("Press Ctrl-C to stop.")
            screen.expect("This code is no invitation")
            screen.expect("This code is no invitation")
            screen.expect("the program that fetches is not there")
            self.assertNotEqual(screen.end(), 0)
            self.assertNotIn(b"example.org/", screen.seen)

    def test_none(self):
        """what is no camera, is not there, is in use or has gone is said in a sentence"""
        good = grey([blank()])
        file = os.path.join(self.lab.folder, "file")
        with open(file, "wb"):
            pass
        for lies, device, says in [
                ({"caps": 2}, "/dev/null", b"/dev/null is no camera"),
                ({}, "/nonexistent", b"there is no /nonexistent"), ({}, file, file.encode() + b" is no camera"),
                ({"formats": 1}, "/dev/null", b"cannot read"), ({"busy": 1}, "/dev/null", b"another program uses"),
                ({"index": 9}, "/dev/null", b"has stopped sending pictures")]:
            with self.subTest(says):
                done = self.lab.run("join", "--scanner", self.camera(good, **lies).program, "--camera", device)
                self.assertNotEqual(done.status, 0)
                self.assertIn(says, done.err)

    @unittest.skipIf(any(name.startswith("video") for name in os.listdir("/dev")), "this machine has a camera")
    def test_without_one(self):
        """where there is none, it says what to do instead"""
        done = self.lab.run("join", "--scanner", PROGRAM, "--camera")
        self.assertEqual(done.status, 3)
        self.assertIn(b"no camera was found", done.err)

    def test_a_program_that_lies(self):
        """nothing is believed of a program that says something else"""
        for text in ("exit 1", "echo looking", "printf 'code 5\\nab'", "printf 'code -1\\n'", "yes",
                     "printf 'code 99999999999999999999\\nx'"):
            with self.subTest(text):
                program = os.path.join(self.lab.folder, "program")
                with open(program, "w") as file:
                    file.write("#!/bin/sh\nPATH=/usr/bin:/bin\n" + text + "\n")
                os.chmod(program, 0o755)
                done = self.lab.run("join", "--scanner", program, "--camera", "/dev/null")
                self.assertNotEqual(done.status, 0)
                self.assertIn(b"the program that reads pictures does not run", done.err)

    def test_left(self):
        """Ctrl-C ends it, and the program that looks"""
        camera = self.camera(grey([blank()]))
        with self.join(camera) as screen:
            screen.expect("Press Ctrl-C to stop.")
            with open(f"/proc/{screen.process.pid}/task/{screen.process.pid}/children") as file:
                pid = int(file.read().split()[0])
            screen.process.send_signal(signal.SIGINT)
            screen.process.wait(10)
            wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "it has ended")


if __name__ == "__main__":
    unittest.main(verbosity=2)
