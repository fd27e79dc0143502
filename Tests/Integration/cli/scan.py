"""A picture with a QR code: what appvault-scan says of it, and what it cannot do; and `appvault join PICTURE`."""

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import clilab
from daemonlab import wait_until
from picturelab import Picture, bomb, png
from realcli import Real

PROGRAM = os.path.join(clilab.BUILD, "appvault-scan")
LINK = ("appvault:join?v=1&h=fleet.example.org&k=SHA256:" + hashlib.sha256(b"x").hexdigest() + "&t=Zm9vYmFyYmF6cXV4")
OTHER = LINK.replace("Zm9v", "Other")


@unittest.skipUnless(shutil.which("qrencode") and shutil.which("cjpeg"), "qrencode or cjpeg is not installed")
class Case(unittest.TestCase):
    def scan(self, data):
        """What it says, and how long it took."""
        begun = time.monotonic()
        done = subprocess.run([PROGRAM], input=data, capture_output=True, timeout=60)
        self.seconds = time.monotonic() - begun
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        found, _, text = done.stdout.partition(b"\n")
        return found.decode(), text


class Codes(Case):
    def reads(self, data, text=LINK):
        self.assertEqual(self.scan(data), ("code", text.encode()))

    def test_as_it_is(self):
        """PNG and JPEG, of every kind that people have"""
        picture = Picture.of(LINK)
        self.reads(picture.png())
        for options in ([], ["-quality", "20"], ["-progressive"], ["-arithmetic"]):
            with self.subTest(options):
                self.reads(picture.jpeg(*options))
        width, height = picture.size
        clear = b"".join(
            b"\0" + b"".join(b"\0\0\0\xff" if value < 128 else b"\0\0\0\0" for value in row) for row in picture.rows)
        self.reads(png(width, height, clear, colour=6))
        colours = b"".join(b"\0" + b"".join(bytes((value // 2, value, value)) for value in row) for row in picture.rows)
        self.reads(png(width, height, colours, colour=2))
        deep = b"".join(b"\0" + b"".join(bytes((value, 0)) for value in row) for row in picture.rows)
        self.reads(png(width, height, deep, depth=16))

    def test_as_cameras_see_it(self):
        """turned, blurred, the other way round, dark with noise, in a corner of a large picture"""
        picture = Picture.of(LINK)
        for degrees in (7, 30, 45, 90, 180, 213):
            with self.subTest(degrees):
                self.reads(picture.turned(degrees).png())
        self.reads(picture.blurred(2).png())
        self.reads(picture.inverted().png())
        self.reads(picture.noisy().png())
        self.reads(picture.turned(20).blurred(1).noisy(30).jpeg("-quality", "60"))
        large = Picture.of(LINK, scale=12).within(8000, 6000)
        self.reads(large.png())
        self.reads(large.jpeg())

    def test_levels(self):
        for level in "LMQH":
            self.reads(Picture.of(LINK, level=level).png())

    def test_what_it_says_is_as_it_stands(self):
        """bytes are no text that is guessed at, and nothing of it is acted on"""
        for text in ("a", "\u00e4\u20ac\u65e5", "\x1b[31m\n\nx", "https://example.org/?a=b", "1234567890"):
            with self.subTest(text):
                self.reads(Picture.of(text).png(), text)


class Refused(Case):
    def test_none_and_several(self):
        blank = Picture([bytearray(b"\xff" * 300) for _ in range(300)])
        self.assertEqual(self.scan(blank.png()), ("none", b""))
        self.assertEqual(self.scan(png(1, 1, b"\0\0")), ("none", b""))
        one = Picture.of(LINK)
        self.assertEqual(self.scan(one.beside(Picture.of(OTHER)).png()), ("several", b""))
        self.assertEqual(self.scan(one.beside(Picture.of("a")).png()), ("several", b""))
        # The other way round it is a code as well.
        self.assertEqual(self.scan(one.beside(Picture.of(OTHER).inverted()).png()), ("several", b""))
        self.assertEqual(self.scan(one.inverted().beside(Picture.of(OTHER)).png()), ("several", b""))
        # The same twice says one thing.
        self.assertEqual(self.scan(one.beside(one).png()), ("code", LINK.encode()))
        self.assertEqual(self.scan(one.beside(one.inverted()).png()), ("code", LINK.encode()))

    def test_no_picture(self):
        """garbage, what is cut or changed, what only begins like one: it says so, and does not die"""
        good, jpeg = Picture.of(LINK).png(), Picture.of(LINK).jpeg()
        for data in (b"", b"x", b"\xff", b"\xff\xd8", b"\xff\xd8\xff\xe0" + bytes(100), good[:8], good[:40], good[:200],
                     b"GIF89a" + bytes(100), os.urandom(10_000), b"\xff\xd8" + os.urandom(10_000), LINK.encode(),
                     png(0, 5, b""), png(5, 0, b""), png(5, 5, b"\0"), png(5, 5, b"", packed=b"x" * 50),
                     png(2 ** 31 - 1, 2 ** 31 - 1, b"\0") [:30]):
            with self.subTest(data[:20], length=len(data)):
                self.assertEqual(self.scan(data)[0], "picture")
        # A JPEG that is cut is grey from there on.
        self.assertIn(self.scan(jpeg[:len(jpeg) // 2])[0], ("none", "picture"))

    def test_too_large(self):
        """judged by what the picture says of itself, before anything of it is decoded"""
        for width, height in [(20_000, 20_000), (20_001, 1), (1, 20_001), (8001, 8000)]:
            data = bomb(width, height)
            self.assertEqual(self.scan(data), ("large", b""), (width, height))
            self.assertLess(self.seconds, 2)
        self.assertIn(self.scan(png(2 ** 30, 2 ** 30, b"\0"))[0], ("large", "picture"))
        header = b"\xff\xd8\xff\xc0\0\x0b\x08\xff\0\xff\0\x01\x01\x11\0\xff\xda\0\x08\x01\x01\0\0\x3f\0"
        self.assertEqual(self.scan(header)[0], "large")
        self.assertEqual(self.scan(Picture.of(LINK).png() + bytes(16 << 20)), ("large", b""))

    def test_as_large_as_may_be(self):
        """is looked at, within its ten seconds"""
        self.assertEqual(self.scan(bomb(8000, 8000)), ("none", b""))
        self.assertLess(self.seconds, 10)


class Confined(Case):
    def waiting(self):
        """One that waits for its picture."""
        process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def status():
            with open(f"/proc/{process.pid}/status") as file:
                return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        wait_until(lambda: status()["Seccomp"] == "2", "it is confined")
        return process, status()

    def test_what_it_has(self):
        """no file but its picture and its answer, no privilege, no user of this machine"""
        process, status = self.waiting()
        self.assertEqual((status["NoNewPrivs"], status["Seccomp_filters"]), ("1", "1"))
        if os.geteuid() == 0:
            self.assertEqual(status["Uid"].split(), ["65534"] * 4)
            self.assertEqual(status["Groups"].strip(), "")
        self.assertEqual(sorted(os.listdir(f"/proc/{process.pid}/fd")), ["0", "1", "2"])
        self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/2"), "/dev/null")
        with open(f"/proc/{process.pid}/limits") as file:
            limits = {line[:25].strip(): line[26:].split()[0] for line in file.read().splitlines()[1:]}
        self.assertEqual((limits["Max cpu time"], limits["Max address space"], limits["Max core file size"]),
                         ("10", str(768 << 20), "0"))
        with open(f"/proc/{process.pid}/maps") as file:
            self.assertFalse([line for line in file if "gconv" in line])
        out, _ = process.communicate(Picture.of(LINK).png(), timeout=30)
        self.assertEqual(out, b"code\n" + LINK.encode())

    def test_asks_for_no_file(self):
        """neither zbar nor libc gets one: with the filter none is there, and what is read is the same"""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        with tempfile.NamedTemporaryFile() as log:
            done = subprocess.run(
                ["strace", "-f", "-o", log.name, PROGRAM], input=Picture.of("\u00e4\u65e5").png(), capture_output=True)
            calls = open(log.name).read().splitlines()
        self.assertEqual(done.stdout, "code\n\u00e4\u65e5".encode())
        confined = calls[max(place for place, call in enumerate(calls) if "seccomp(" in call) + 1:]
        for call in confined:
            if "open(" in call or "openat(" in call:
                self.assertIn("ENOENT", call)

    def test_usage(self):
        done = subprocess.run([PROGRAM, "picture.png"], capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(subprocess.run([PROGRAM, "--help"], capture_output=True).returncode, 0)


class Joining(Case):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)

    def join(self, data, program=PROGRAM, name="a picture.png"):
        path = os.path.join(self.lab.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return self.lab.run("join", "--scanner", program, path)

    def test_a_link(self):
        """is asked for as if it had been typed"""
        result = self.join(Picture.of(LINK).png())
        self.assertIn(b"the program that fetches is not there", result.err)
        with open(os.path.join(self.lab.folder, "a picture.png"), "rb") as file:
            piped = self.lab.run("join", "--scanner", PROGRAM, "-", input=file.read())
        self.assertIn(b"the program that fetches is not there", piped.err)

    def test_what_is_none(self):
        """says what is wrong with it, and shows nothing of what a stranger wrote"""
        code = Picture.of(LINK)
        for data, says in [
                (Picture.of("https://example.org/\x1b[31m").png(), b"is no invitation to join"),
                (code.beside(Picture.of(OTHER)).png(), b"more than one QR code"),
                (Picture([bytearray(b"\xff" * 300) for _ in range(300)]).png(), b"no QR code was found"),
                (bomb(20_000, 20_000), b"is larger than"), (b"garbage", b"is no PNG or JPEG"),
                (Picture.of(LINK + "&x=1").png(), b"the link is not whole")]:
            with self.subTest(says):
                result = self.join(data)
                self.assertNotEqual(result.status, 0)
                self.assertIn(says, result.err)
                self.assertNotIn(b"example.org", result.out + result.err)
        self.assertIn(b"cannot be read", self.lab.run("join", "--scanner", PROGRAM, "/nonexistent.png").err)
        self.assertIn(b"cannot be read", self.lab.run("join", "--scanner", PROGRAM, self.lab.folder).err)

    def test_without_the_program(self):
        """one that is not there, ends, says nothing, or says something else: nothing is believed of it"""
        for text in (None, "exit 1", "kill -9 $$", "echo code", "printf 'code\\nhttps://x'", "yes", "echo perhaps"):
            with self.subTest(text):
                program = os.path.join(self.lab.folder, "program")
                if text is not None:
                    with open(program, "w") as file:
                        file.write("#!/bin/sh\nPATH=/usr/bin:/bin\n" + text + "\n")
                    os.chmod(program, 0o755)
                result = self.join(b"x", program)
                self.assertNotEqual(result.status, 0)
                self.assertTrue(any(says in result.err for says in (
                    b"the program that reads pictures does not run", b"is no invitation")), result)

    def test_left(self):
        """Ctrl-C while it looks ends it as well"""
        program = os.path.join(self.lab.folder, "program")
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\necho $$ > {self.lab.folder}/pid\nexec /bin/sleep 60\n")
        os.chmod(program, 0o755)
        with self.lab.terminal("join", "--scanner", program, program) as screen:
            pid = int(wait_until(lambda: os.path.exists(self.lab.folder + "/pid") and open(
                self.lab.folder + "/pid").read(), "it runs"))
            screen.process.send_signal(signal.SIGINT)
            screen.process.wait(10)
            wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "it has ended")


if __name__ == "__main__":
    unittest.main(verbosity=2)
