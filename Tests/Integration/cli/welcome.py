"""How somebody makes their store on a terminal, screen by screen: with the real daemon, which is killed at each; and
with nothing behind it."""

import json
import os
import signal
import unittest

from daemonlab import wait_until
from realcli import SECRET, Real

# What comes, and what is typed then.
WELCOME = ("Continue [Enter]", b"\n")
WAY = ("What should open your store?", None)
OWN = ("Your choice [1] ", b"\n")
NEW = ("New passcode: ", SECRET + b"\n")
AGAIN = ("again: ", SECRET + b"\n")
KEY = ("You see it only once.", None)
READY = ("Your store is ready.", None)
END = ("Continue [Enter]", b"\n")
SCREENS = [WELCOME, WAY, OWN, NEW, AGAIN, KEY, READY, END]


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)

    def play(self, screen, steps):
        for text, typed in steps:
            screen.expect(text)
            if typed:
                screen.type(typed)

    def welcome(self, *more):
        """At a machine whose logins know nothing of AppVault."""
        return self.lab.terminal("welcome", "--pam-dir", self.lab.folder, *more)

    def status(self):
        return json.loads(self.lab.run("--json", "status").out)

    def state(self):
        return self.status()["state"]

    def opens(self):
        self.lab.run("lock")
        return self.lab.run("unlock", passcodes=[SECRET]).status == 0

    def everything(self):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(self.lab.state) for name in names)


class Welcome(Case):
    def test_the_whole(self):
        """what was answered becomes the store; then nothing is left to do"""
        with self.welcome() as screen:
            self.play(screen, SCREENS)
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(SECRET, screen.seen)
        self.assertTrue(self.opens())
        again = self.lab.run("welcome")
        self.assertEqual(again.status, 0)
        self.assertIn(b"nothing is left to do", again.out + again.err)

    def test_killed(self):
        """there is no store, or the one that was asked for; and the next time goes on from there"""
        made = SCREENS.index(KEY)
        for place, (text, _) in enumerate(SCREENS):
            with self.subTest(text), self.welcome() as screen:
                self.play(screen, SCREENS[:place])
                screen.expect(text)
                self.lab.process.kill()
                self.lab.process.wait(10)
                if SCREENS[place][1]:
                    screen.type(SCREENS[place][1])
                os.remove(self.lab.path)
                self.lab.start()
                has_key = self.status()["recoveryKey"]
                # What was shown may have been confirmed just before.
                self.assertTrue(has_key or place <= made)
                self.assertEqual(self.state(), "absent" if place < made else "locked")
                if place >= made:
                    self.assertTrue(self.opens())
                    with self.welcome() as again:
                        if not has_key:
                            again.expect("Make a recovery key now")
                            again.type("2\n")
                            again.expect(END[0])
                            again.type("\n")
                        self.assertEqual(again.end(), 0)
                    self.assertEqual(self.lab.run("reset", "--yes", passcodes=[SECRET]).status, 0)

    def test_left(self):
        """whoever leaves before there is a store has none, and hears so"""
        for place in range(SCREENS.index(KEY)):
            with self.subTest(SCREENS[place]), self.welcome() as screen:
                self.play(screen, SCREENS[:place])
                screen.expect(SCREENS[place][0])
                if SCREENS[place][1] is None:
                    continue
                screen.type("\x03")
                self.assertEqual(screen.end(), 130)
                self.assertEqual(self.state(), "absent")


class Switch(Case):
    def test_by_its_number(self):
        """the list says which one is open, and what is taken opens by its passcode; then the other one is locked"""
        for store in ("default", "work"):
            made = self.lab.run("--store", store, "create", "--own-passcode", passcodes=[SECRET])
            self.assertEqual(made.status, 0, made)
        self.assertEqual(self.lab.run("lock", "--store", "work").status, 0)
        with self.lab.terminal("switch") as screen:
            screen.expect("* 1  default  open")
            screen.expect("  2  work  locked")
            screen.expect("Your choice, 1 to 2: ")
            screen.type("3\n")
            screen.expect("type a number from 1 to 2")
            screen.type("2\n")
            screen.expect("asscode: ")
            screen.type(SECRET + b"\n")
            screen.expect("The store work is open. Your others are locked.")
            self.assertEqual(screen.end(), 0)
        with self.lab.terminal("switch", "default") as screen:
            screen.expect("asscode: ")
            self.lab.process.kill()
            self.lab.process.wait(10)
            screen.type(SECRET + b"\n")
            self.assertNotEqual(screen.end(), 0)
        os.remove(self.lab.path)
        self.lab.start()
        self.assertEqual(self.state(), "locked")
        self.assertEqual(self.lab.run("unlock", "--store", "work", passcodes=[SECRET]).status, 0)
        self.assertEqual(self.lab.run("switch", "default", passcodes=[b"no horse at all"]).status, 1)
        self.assertEqual(self.state(), "locked")
        self.assertEqual(self.lab.run("switch", "default", passcodes=[SECRET]).status, 0)
        self.assertEqual(self.state(), "unlocked")


class Demo(Case):
    def test_a_demo(self):
        """shows the same screens, asks no daemon and leaves nothing"""
        wait_until(lambda: any(path.endswith("/reserve") for path in self.everything()), "the daemon has begun")
        before = self.everything()
        self.lab.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.lab.process.send_signal, signal.SIGCONT)
        with self.welcome("--demo") as screen:
            self.play(screen, [WELCOME, WAY, OWN, NEW])
            screen.expect("\u2717")
            self.play(screen, [("New passcode: ", SECRET + b"7\n"), ("again: ", SECRET + b"7\n"), READY, END])
            self.assertEqual(screen.end(), 0)
            self.assertIn("Nothing was kept", screen.seen.decode())
        self.lab.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.state(), "absent")


if __name__ == "__main__":
    unittest.main()
