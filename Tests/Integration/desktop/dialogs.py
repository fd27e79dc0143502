"""The window as what shows dialogs: for the command line where there is no terminal, as the agent starts it."""

import json
import os
import select
import signal
import subprocess
import unittest

import memorylab
from realcli import POLICY, SECRET, Real
from windowlab import BUTTON, LABEL, PASSWORD, PROGRAM, Dialog, display_of_suite

NEEDS_ROOT = True
display = None
CANCELLED = b"ERR 83886179 cancelled\n"


def setUpModule():
    global display
    display = display_of_suite()


class Unlocks(unittest.TestCase):
    def setUp(self):
        self.lab = Real(POLICY + "RetryLimit=5\n")
        self.addCleanup(self.lab.__exit__)
        made = self.lab.run("create", "--own-passcode", passcodes=[SECRET])
        self.assertEqual(made.status, 0, made)
        self.lab.run("lock")
        self.tries = self.status()["ownTriesLeft"]

    def status(self):
        return json.loads(self.lab.run("--json", "status").out)

    def untouched(self):
        """Locked, and no try was counted."""
        status = self.status()
        self.assertEqual((status["state"], status["ownTriesLeft"]), ("locked", self.tries))

    def test_opens(self):
        """a wrong passcode is said in the next dialog, and the right one opens the store"""
        with Dialog(display, self.lab, "unlock") as dialog:
            dialog.wait("AppVault passcode")
            dialog.fill("AppVault passcode", "not this one at all")
            dialog.press("Continue")
            dialog.wait("Wrong passcode")
            dialog.fill("AppVault passcode", SECRET.decode())
            dialog.press("Continue")
            self.assertEqual(dialog.process.wait(20), 0, dialog.said())
        self.assertEqual(self.status()["state"], "unlocked")

    def test_left(self):
        """the button, Escape and a closed window leave without a try"""
        for way in ("Cancel", "Escape", "Close"):
            with self.subTest(way), Dialog(display, self.lab, "unlock") as dialog:
                dialog.wait("AppVault passcode")
                if way == "Escape":
                    dialog.until(lambda _: display.key("Escape") or dialog.process.poll() is not None)
                else:
                    dialog.press(way)
                self.assertEqual(dialog.process.wait(20), 130, dialog.said())
                self.untouched()

    def test_killed(self):
        """a window that is killed is as one that was closed: nobody waits for it, and it was no try"""
        with Dialog(display, self.lab, "unlock") as dialog:
            dialog.wait("AppVault passcode")
            os.kill(dialog.number(), signal.SIGKILL)
            self.assertEqual(dialog.process.wait(20), 130, dialog.said())
        self.untouched()

    def test_nothing_stays(self):
        """what was typed is gone with the window's process, and while it stands it is in guarded memory alone"""
        word = memorylab.word()
        needles = memorylab.needles(passcode=word)
        with Dialog(display, self.lab, "unlock") as dialog:
            dialog.wait("AppVault passcode")
            display.key(*word)
            # The button can be pressed after the first letter.
            places = dialog.until(lambda _: {
                place for found in memorylab.scan(dialog.number(), needles).values() for place in found})
            self.assertFalse({place for place in places if "heap" in place or "stack" in place}, places)
            display.key("Return")
            dialog.wait("Wrong passcode")
            self.assertEqual(memorylab.gone(dialog.process.pid, needles, 10), {})
            dialog.press("Cancel")


class Lines(unittest.TestCase):
    """The lines themselves, as any program may send them."""

    def begin(self, environment=None):
        process = subprocess.Popen(
            [PROGRAM, "--pinentry"], env={**display.environment, **(environment or {})}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)

        def close():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

        self.addCleanup(close)
        window = display.window()
        window.process, window.log = process, open(os.devnull, "rb")
        self.addCleanup(window.log.close)
        return process, window

    def send(self, process, *lines):
        process.stdin.write("".join(line + "\n" for line in lines).encode())
        process.stdin.flush()

    def hears(self, process, seconds=20):
        self.assertTrue(select.select([process.stdout], [], [], seconds)[0], "a line")
        line = process.stdout.readline()
        # The question stands on the screen.
        return self.hears(process, seconds) if line == b"# shown\n" else line

    def begun(self):
        process, window = self.begin()
        self.assertTrue(self.hears(process).startswith(b"OK"))
        return process, window

    def test_one_after_the_other(self):
        """a passcode with every byte that has to be escaped, a choice, a message, and the end"""
        process, window = self.begun()
        self.send(process, "SETDESC Two%0Alines", "SETPROMPT Passcode:", "SETERROR not that", "GETPIN")
        for _ in range(3):
            self.assertEqual(self.hears(process), b"OK\n")
        names = [name for role, name, _ in window.until(
            lambda nodes: nodes if any(role == PASSWORD for role, _, _ in nodes) else None)]
        for text in ("Two", "lines", "not that"):
            self.assertIn(text, names)
        secret = "50% of it " * 90
        window.fill("Passcode", secret)
        window.press("Continue")
        data = b""
        while (line := self.hears(process)) != b"OK\n":
            self.assertTrue(line.startswith(b"D ") and len(line) <= 1001, line)
            data += line[2:-1]
        self.assertEqual(data.replace(b"%25", b"%").decode(), secret)
        self.send(process, "SETDESC Sure?", "SETOK _Yes__", "SETCANCEL _No", "CONFIRM")
        for _ in range(3):
            self.assertEqual(self.hears(process), b"OK\n")
        window.press("No")
        self.assertTrue(self.hears(process).startswith(b"ERR 83886194"))
        # What was wrong before is not said again.
        self.send(process, "CONFIRM --one-button")
        window.wait("Sure?")
        self.assertNotIn("not that", [name for _, name, _ in window.nodes()])
        window.press("Yes_")
        self.assertEqual(self.hears(process), b"OK\n")
        self.send(process, "BYE")
        self.assertEqual(self.hears(process), b"OK\n")
        self.assertEqual(process.wait(20), 0)

    def test_plain(self):
        """whatever a text is made of stands there as itself"""
        process, window = self.begun()
        hostile = "<b>bold</b> &amp; \x1b[31m \u202egnp.exe"
        self.send(process, "SETDESC " + hostile, "SETOK <i>Go</i>", "CONFIRM")
        shown = window.until(
            lambda nodes: [name for role, name, _ in nodes if role == LABEL and "<b>bold</b> &amp;" in name])[0]
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\u202e", shown)
        self.assertIn("<i>Go</i>", [name for role, name, _ in window.nodes() if role == BUTTON])

    def test_no_line(self):
        """a line that does not end, bytes that are no text, a program that is gone: it ends"""
        for bytes in (b"SETDESC " + b"x" * 100_000, b"\xff\xfe\n\x00\n", b""):
            process, _ = self.begun()
            try:
                process.stdin.write(bytes)
                process.stdin.close()
            except BrokenPipeError:
                pass
            self.assertEqual(process.wait(20), 0)
            process.stdin = open(os.devnull, "wb")

    def test_closed(self):
        """a window that is closed cancels the question"""
        process, window = self.begun()
        self.send(process, "SETPROMPT Passcode:", "GETPIN")
        self.assertEqual(self.hears(process), b"OK\n")
        window.press("Close")
        self.assertEqual(self.hears(process), CANCELLED)
        self.assertEqual(process.wait(20), 0)

    def test_without_display(self):
        """where there is none it says nothing, so that another program is started"""
        process, _ = self.begin({"DISPLAY": ":987"})
        self.assertEqual(process.wait(20), 1)
        self.assertEqual(process.stdout.read(), b"")


if __name__ == "__main__":
    unittest.main()
