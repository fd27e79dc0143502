"""How somebody makes their store on a terminal, screen by screen: with the real daemon, which is killed at each; and
with nothing behind it."""

import contextlib
import json
import os
import signal
import unittest

from accountslab import Accounts
from daemonlab import wait_until
from realcli import SECRET, Real
from slow import slow

# What comes, and what is typed then.
WELCOME = ("  2  I have an invitation", None)
BEGIN = ("Your choice [1] ", b"\n")
DEMO = ("Continue [Enter]", b"\n")
WAY = ("What should open your store?", None)
OWN = ("Your choice [1] ", b"\n")
NEW = ("New passcode: ", SECRET + b"\n")
AGAIN = ("again: ", SECRET + b"\n")
KEY = ("You see it only once.", None)
READY = ("Your store is ready.", None)
END = ("Continue [Enter]", b"\n")
SCREENS = [WELCOME, BEGIN, WAY, OWN, NEW, AGAIN, KEY, READY, END]


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

    def test_unreadable(self):
        """where nobody can tell whether the machine has joined an organisation, a store is made all the same"""
        os.makedirs(os.path.join(self.lab.state, "fleet", "join"))
        with self.welcome() as screen:
            self.play(screen, [END, *SCREENS[2:]])
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(b"invitation", screen.seen)
        self.assertTrue(self.opens())

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
            screen.expect("  3  Add somebody")
            screen.expect("  4  Remove")
            screen.expect("  5  Cancel")
            screen.expect("Your choice, 1 to 5: ")
            screen.type("6\n")
            screen.expect("type a number from 1 to 5")
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


BEN = b"a third horse 3"
# Somebody is added on the list, and removed on it.
ADDING = [("Your choice, 1 to ", b"2\n"), ("what it is for: ", b"Ben\n"), ("New passcode: ", BEN + b"\n"),
          ("again: ", BEN + b"\n"), ("You see it only once.", b"\n"), ("The store Ben is open.", None)]
REMOVING = [("Your choice, 1 to ", b"4\n"), ("Remove: which one, 1 to 2: ", b"2\n"),
            ("Type its name, Ben, to go on: ", b"Ben\n"), ("asscode: ", BEN + b"\n"),
            ("The store Ben is removed.", None)]


class People(Case):
    """Two who share an account."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.lab.run("create", "--own-passcode", passcodes=[SECRET]).status, 0)

    def people(self):
        answer = json.loads(self.lab.run("--json", "people", "list").out)
        return {one["name"]: one["current"] for one in answer["people"]}

    def opens(self, name, passcode):
        return self.lab.run("switch", name, passcodes=[passcode]).status == 0

    def killed(self, verb, steps, place):
        """At that step, before its answer."""
        with self.lab.terminal(*verb) as screen:
            self.play(screen, steps[:place])
            screen.expect(steps[place][0])
            self.lab.process.kill()
            self.lab.process.wait(10)
            if steps[place][1]:
                screen.type(steps[place][1])
        os.remove(self.lab.path)
        self.lab.start()

    def test_somebody_else(self):
        """at the question for a passcode somebody says that they are another: the list comes, and theirs opens"""
        self.assertEqual(self.lab.run("people", "add", "Ben", passcodes=[BEN]).status, 0)
        self.assertEqual(self.lab.run("lock", "--store", "Ben").status, 0)
        tries = self.lab.run("--json", "status").out
        for verb in (["unlock"], ["switch", "default"]):
            self.lab.run("lock", "--store", "Ben")
            with self.subTest(verb), self.lab.terminal(*verb) as screen:
                self.play(screen, [
                    ("Press Enter without typing to see what else you can do.", None), ("asscode: ", b"\n"),
                    ("  1  Somebody else", None), ("  2  Cancel", None), ("Your choice, 1 to 2: ", b"1\n"),
                    ("  2  Ben", None), ("Your choice, 1 to ", b"2\n"), ("asscode: ", BEN + b"\n"),
                    ("The store Ben is open.", None)])
                self.assertEqual(screen.end(), 0)
            self.assertEqual(self.people(), {"default": False, "Ben": True})
        self.lab.run("lock", "--store", "Ben")
        self.assertEqual(self.lab.run("--json", "status").out, tries)
        # A daemon that dies while the list stands leaves everything as it was; so does who cancels there.
        for typed in (None, b"5\n", b"\x03"):
            with self.subTest(typed), self.lab.terminal("unlock") as screen:
                self.play(screen, [("asscode: ", b"\n"), ("Your choice, 1 to 2: ", b"1\n")])
                screen.expect("Your choice, 1 to 5: ")
                if typed:
                    screen.type(typed)
                    self.assertEqual(screen.end(), 130)
                else:
                    self.lab.process.kill()
                    self.lab.process.wait(10)
                    screen.type(b"2\n")
                    self.assertNotEqual(screen.end(), 0)
                    os.remove(self.lab.path)
                    self.lab.start()
            self.assertEqual(self.people(), {"default": False, "Ben": False})
        # Whoever shows lines only is asked as before.
        self.assertEqual(self.lab.run("unlock", passcodes=[SECRET]).status, 0)

    def test_pictures(self):
        """each has the first letter of their name, or the picture that was chosen; nothing else becomes one"""
        home = {"HOME": self.lab.folder, "XDG_CONFIG_HOME": os.path.join(self.lab.folder, "settings")}
        self.assertEqual(self.lab.run("people", "add", "Ben", passcodes=[BEN]).status, 0)

        def pictures():
            told = json.loads(self.lab.run("--json", "people", "list", env=home).out)
            return {one["name"]: one["picture"] for one in told["people"]}
        self.assertEqual(pictures(), {"default": "letter", "Ben": "letter"})
        for name, picture in [("Ben", "key"), ("default", "vault"), ("Ben", "organisation")]:
            self.assertEqual(self.lab.run("people", "picture", name, picture, env=home).status, 0)
        self.assertEqual(pictures(), {"default": "vault", "Ben": "organisation"})
        self.assertEqual(self.lab.run("people", "picture", "nobody", "key", env=home).status, 3)
        self.assertEqual(self.lab.run("people", "picture", "Ben", "face.png", env=home).status, 2)
        self.assertEqual(self.lab.run("people", "picture", "Ben", "letter", env=home).status, 0)
        self.assertEqual(pictures(), {"default": "vault", "Ben": "letter"})
        with open(os.path.join(self.lab.folder, "settings", "appvault", "pictures"), "rb") as file:
            self.assertEqual(file.read(), b"vault default\n")

    def test_two(self):
        """one is added and open, and sees nothing of the other; who is removed is gone, and the last one, too"""
        self.assertEqual(self.lab.run("set", "diary", input=b"mine").status, 0)
        with self.lab.terminal("switch") as screen:
            self.play(screen, ADDING)
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(BEN, screen.seen)
        self.assertEqual(self.people(), {"default": False, "Ben": True})
        listed = self.lab.run("--store", "Ben", "list")
        self.assertEqual((listed.status, listed.out), (0, b""))
        self.assertEqual(self.lab.run("get", "diary").status, 4)
        self.assertFalse(self.opens("default", BEN))
        self.assertEqual(self.people(), {"default": False, "Ben": True})
        self.assertTrue(self.opens("default", SECRET))
        self.assertEqual(self.lab.run("get", "diary").out.strip(), b"mine")
        self.assertEqual(self.lab.run("--store", "Ben", "list").status, 4)
        lines = self.lab.run("people", "list").out.decode().splitlines()
        self.assertEqual(lines, ["default\tunlocked\tcurrent", "Ben\tlocked\t"])
        with self.lab.terminal("switch") as screen:
            self.play(screen, REMOVING)
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.people(), {"default": True})
        gone = self.lab.run("people", "remove", "default", "--yes", passcodes=[SECRET])
        self.assertEqual(gone.status, 0, gone)
        self.assertEqual(self.people(), {})
        with self.lab.terminal("people", "list") as screen:
            screen.expect("nobody has a store here")
            screen.expect("appvault welcome")
            self.assertEqual(screen.end(), 0)

    def test_killed_while_one_is_added(self):
        """there is nobody more, or somebody whose passcode opens their store; all are locked then"""
        made = [text for text, _ in ADDING].index("You see it only once.")
        for place in range(len(ADDING) - 1):
            with self.subTest(ADDING[place][0]):
                self.killed(["switch"], ADDING, place)
                expected = {"default": False, "Ben": False} if place >= made else {"default": False}
                self.assertEqual(self.people(), expected)
                if place >= made:
                    self.assertTrue(self.opens("Ben", BEN))
                    self.assertEqual(
                        self.lab.run("people", "remove", "Ben", "--yes", passcodes=[BEN]).status, 0)
                self.assertTrue(self.opens("default", SECRET))

    def test_killed_while_one_is_removed(self):
        """nobody is gone before their passcode was typed"""
        self.assertEqual(self.lab.run("people", "add", "Ben", passcodes=[BEN]).status, 0)
        self.assertEqual(self.people(), {"default": False, "Ben": True})
        for place in range(len(REMOVING) - 1):
            with self.subTest(REMOVING[place][0]):
                self.assertTrue(self.opens("default", SECRET))
                self.killed(["switch"], REMOVING, place)
                self.assertEqual(self.people(), {"default": False, "Ben": False})
                self.assertTrue(self.opens("Ben", BEN))

    def test_left(self):
        """whoever leaves adds nobody and removes nobody, and shuts nothing"""
        for steps in (ADDING[:4], REMOVING[:4]):
            if steps == REMOVING[:4]:
                self.assertEqual(self.lab.run("people", "add", "Ben", passcodes=[BEN]).status, 0)
                self.assertTrue(self.opens("default", SECRET))
            before = self.people()
            self.assertTrue(before["default"])
            for place, (text, _) in enumerate(steps):
                with self.subTest(text), self.lab.terminal("switch") as screen:
                    self.play(screen, steps[:place])
                    screen.expect(text)
                    screen.type("\x03")
                    self.assertEqual(screen.end(), 130)
                    self.assertEqual(self.people(), before)

    def test_a_program_asks_who_it_is(self):
        """it hears the name, and nothing is opened or locked"""
        self.assertEqual(self.lab.run("people", "add", "Ben", passcodes=[BEN]).status, 0)
        for typed, code, answer in [("1\n", 45, "default"), ("3\n", 44, None)]:
            with self.lab.terminal("--json", "people", "choose") as screen:
                screen.expect("Your choice, 1 to 4: ")
                screen.type(typed)
                self.assertEqual(screen.end(), 0 if code == 45 else 1)
                told = json.loads(screen.seen.decode().splitlines()[-1])
                self.assertEqual((told["code"], told["to"]), (code, answer))
            self.assertEqual(self.people(), {"default": False, "Ben": True})
        with self.lab.terminal("people", "choose") as screen:
            screen.expect("Your choice, 1 to 4: ")
            screen.type("1\n")
            self.assertEqual(screen.end(), 0)
            self.assertEqual(screen.seen.decode().splitlines()[-1], "default")

    def test_a_long_list(self):
        """a part of a name shows those that have it, and Enter takes the only one"""
        for number in range(10):
            made = self.lab.run("people", "add", f"guest {number}", passcodes=[BEN])
            self.assertEqual(made.status, 0, made)
        self.assertTrue(self.opens("default", SECRET))
        with self.lab.terminal("switch") as screen:
            screen.expect("To see fewer, type a part of a name.")
            screen.expect("Your choice, 1 to 14: ")
            screen.type("nobody\n")
            screen.expect("none has that in its name")
            screen.type("T 7\n")
            screen.expect("Your choice [9] ")
            screen.type("\n")
            screen.expect("asscode: ")
            screen.type(BEN + b"\n")
            screen.expect("The store guest 7 is open.")
            self.assertEqual(screen.end(), 0)


class Account(Case):
    """What AccountsService says of the account stands above its people."""

    def test_name_and_picture(self):
        """as it says them; a file of somebody else's is no picture, and without it there is neither"""
        accounts = Accounts()
        closing = contextlib.ExitStack()
        closing.callback(accounts.close)
        self.addCleanup(closing.close)
        icon = "/var/lib/AccountsService/icons/ann"
        for name, path, picture in [("Jörg \"J\" O'Neil", icon, icon), ("Ann\x1b[31m", "/etc/shadow", None),
                                    ("", icon + "/../../../shadow", None)]:
            with self.subTest(name):
                accounts.set(RealName=name, IconFile=path)
                told = json.loads(self.lab.run("--json", "people", "list", env=accounts.env).out)
                self.assertEqual((told["realName"], told["picture"]), (name or None, picture))
                with self.lab.terminal("people", "list", env=accounts.env) as screen:
                    screen.expect("The account ")
                    screen.expect("nobody has a store here")
                    self.assertEqual(screen.end(), 0)
                    self.assertNotIn(b"\x1b[31m", screen.seen)
        closing.close()
        nobody = json.loads(self.lab.run("--json", "people", "list", env=accounts.env).out)
        self.assertEqual((nobody["realName"], nobody["picture"], nobody["people"]), (None, None, []))


class Demo(Case):
    @slow
    def test_a_demo(self):
        """shows the same screens, asks no daemon and leaves nothing"""
        wait_until(lambda: any(path.endswith("/reserve") for path in self.everything()), "the daemon has begun")
        before = self.everything()
        self.lab.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.lab.process.send_signal, signal.SIGCONT)
        with self.welcome("--demo") as screen:
            self.play(screen, [DEMO, WAY, OWN, NEW])
            screen.expect("\u2717")
            self.play(screen, [("New passcode: ", SECRET + b"7\n"), ("again: ", SECRET + b"7\n"), READY, END])
            self.assertEqual(screen.end(), 0)
            self.assertIn("Nothing was kept", screen.seen.decode())
        self.lab.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.state(), "absent")


if __name__ == "__main__":
    unittest.main()
