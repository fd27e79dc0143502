"""What somebody does in the window, with the real daemon behind it: their first store, and what comes after it."""

import json
import os
import unittest

import memorylab
from realcli import SECRET, Real
from slow import slow
from windowlab import BUTTON, display_of_suite

TEXT = SECRET.decode()
# A package is built where there is no display.
NEEDS_ROOT = True
display = None


def setUpModule():
    global display
    display = display_of_suite()


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)

    def window(self, *more, **environment):
        """At a machine whose logins know nothing of AppVault."""
        return display.window(
            "--socket", self.lab.path, "--pam-dir", self.lab.folder, *more, environment=environment)

    def status(self):
        return json.loads(self.lab.run("--json", "status").out)

    def opens(self):
        self.lab.run("lock")
        return self.lab.run("unlock", passcodes=[SECRET]).status == 0

    def make(self):
        made = self.lab.run("create", "--own-passcode", passcodes=[SECRET])
        self.assertEqual(made.status, 0, made)

    # Each step: what is there, and what is done then.

    def begin(self, window):
        window.wait("You have no store yet")
        window.press("Make a store")

    def welcome(self, window):
        window.wait("Welcome to AppVault")
        window.press("Continue")

    def way(self, window):
        window.wait("What should open your store?")
        window.press("A passcode of its own")

    def passcode(self, window, text=TEXT):
        window.wait("A passcode for your store")
        window.fill("New passcode", text)
        window.fill("New passcode again", text)
        window.press("Continue")

    def key(self, window):
        shown = window.wait("Your recovery key: ").text
        window.press("Continue")
        return shown.rpartition(" ")[2]

    def ready(self, window):
        window.wait("Your store is ready")
        window.press("Continue")

    def to_the_key(self, window):
        for step in (self.begin, self.welcome, self.way, self.passcode):
            step(window)
        window.wait("Your recovery key: ")


class FirstStore(Case):
    def test_the_whole(self):
        """what was answered becomes the store; its passcode and its recovery key open it"""
        with self.window() as window:
            for step in (self.begin, self.welcome, self.way, self.passcode):
                step(window)
            key = self.key(window)
            self.ready(window)
            window.wait("Lock default")
        self.assertTrue(self.status()["recoveryKey"])
        self.assertTrue(self.opens())
        self.lab.run("lock")
        new = b"another battery horse"
        done = self.lab.run("recover", passcodes=[key.encode(), new])
        self.assertEqual(done.status, 0, done)

    def test_judged(self):
        """the daemon's rules judge what is typed, and two that differ are asked for again"""
        with self.window() as window:
            for step in (self.begin, self.welcome, self.way):
                step(window)
            window.wait("A passcode for your store")
            window.fill("New passcode", "short")
            window.wait("\u2717 8 or more characters")
            window.fill("New passcode", TEXT)
            window.wait("\u2713 8 or more characters")
            window.fill("New passcode again", TEXT + "x")
            window.press("Continue")
            window.wait("do not match")
            self.assertEqual(self.status()["state"], "absent")
            self.passcode(window)
            window.wait("Your recovery key: ")

    @slow
    def test_cancelled(self):
        """whoever leaves before there is a store has none, and is where they began"""
        steps = [self.welcome, self.way, self.passcode]
        signs = ["Welcome to AppVault", "What should open", "A passcode for your store"]
        with self.window() as window:
            for place, (sign, by) in enumerate(zip(signs, ["button", "key", "key"])):
                with self.subTest(sign):
                    self.begin(window)
                    for step in steps[:place]:
                        step(window)
                    window.wait(sign)
                    if by == "key":
                        window.until(lambda nodes: display.key("Escape") or [
                            1 for role, name, _ in nodes if name == "Make a store"])
                    else:
                        window.press("Cancel")
                    window.wait("You have no store yet")
                    self.assertEqual(self.status()["state"], "absent")

    def test_closed_at_the_key(self):
        """Escape does not leave the key by mistake; a window that is closed takes it back, and the store stays"""
        with self.window() as window:
            self.to_the_key(window)
            display.key("Escape")
            window.wait("Your recovery key: ")
            window.press("Close")
            self.assertEqual(window.has_gone(), 0)
        self.assertTrue(self.opens())
        self.assertFalse(self.status()["recoveryKey"])

    def test_daemon_dies(self):
        """it says so, and what was typed is in no store; with the daemon there again it goes on"""
        with self.window() as window:
            for step in (self.begin, self.welcome, self.way):
                step(window)
            window.wait("A passcode for your store")
            self.lab.process.kill()
            self.lab.process.wait(10)
            window.wait("That did not work")
            os.remove(self.lab.path)
            self.lab.start()
            window.press("Continue")
            window.wait("You have no store yet")
            self.assertEqual(self.status()["state"], "absent")


    @slow
    def test_login_password(self):
        """where nothing can prove it, it is typed twice, and one that differs is no answer"""
        with self.window() as window:
            self.begin(window)
            self.welcome(window)
            window.wait("What should open your store?")
            window.press("My login password")
            for again in (TEXT + "x", TEXT):
                window.fill("Login password", TEXT)
                window.press("Continue")
                window.fill("once more", again)
                window.press("Continue")
                if again != TEXT:
                    window.wait("the two do not match")
                    self.assertEqual(self.status()["state"], "absent")
            self.key(window)
            self.ready(window)
            window.wait("Lock default")
        self.assertTrue(self.status()["followsLogin"])
        self.assertTrue(self.opens())

    @slow
    def test_forgotten(self):
        """whoever says so after a wrong passcode goes on with the recovery key, and chooses another"""
        with self.window() as window:
            for step in (self.begin, self.welcome, self.way, self.passcode):
                step(window)
            key = self.key(window)
            self.ready(window)
            window.press("Lock default")
            window.press("Unlock default")
            window.fill("AppVault passcode", "wrong")
            window.press("Open")
            window.wait("Wrong passcode.")
            window.press("I forgot it")
            window.fill("Recovery key", key)
            window.press("Continue")
            self.passcode(window, "another battery horse")
            window.wait("Your stores")
        self.lab.run("lock")
        self.assertEqual(self.lab.run("unlock", passcodes=[b"another battery horse"]).status, 0)


class Later(Case):
    def setUp(self):
        super().setUp()
        self.make()

    @slow
    def test_lock_and_unlock(self):
        """a wrong passcode is asked for again, and the store opens by the right one"""
        with self.window() as window:
            window.press("Lock default")
            window.press("Unlock default")
            window.fill("AppVault passcode", "wrong")
            window.press("Open")
            window.wait("Wrong passcode.")
            window.fill("AppVault passcode", TEXT)
            window.press("Open")
            window.wait("Lock default")
            self.assertEqual(self.status()["state"], "unlocked")
            window.press("Lock default")
            window.press("Unlock default")
            window.press("Cancel")
            window.wait("Unlock default")
            self.assertEqual(self.status()["state"], "locked")

    @slow
    def test_forgotten(self):
        """without a recovery key it says what is left, and nothing has changed"""
        with self.window() as window:
            window.press("Lock default")
            window.press("Unlock default")
            window.fill("AppVault passcode", "wrong")
            window.press("Open")
            window.wait("Wrong passcode.")
            window.press("I forgot it")
            window.wait("`appvault reset` removes the store")
            window.press("Continue")
            window.wait("Unlock default")
        self.assertTrue(self.opens())

    def test_begins_with_it(self):
        """whoever comes from a notice is asked for that store at once, and goes on to what there is"""
        self.assertEqual(self.lab.run("--store", "mail", "create", "--own-passcode", passcodes=[SECRET]).status, 0)
        for store in ("default", "mail"):
            self.lab.run("--store", store, "lock")
        with self.window("--unlock", "mail") as window:
            window.wait("Open the store mail")
            window.fill("AppVault passcode", TEXT)
            window.press("Open")
            window.wait("Lock mail")
            window.wait("Unlock default")
        # There is none: it says so, and goes on.
        with self.window("--recover", "none") as window:
            window.wait("That did not work")
            window.press("Continue")
            window.wait("Lock mail")

    def test_somebody_else(self):
        """somebody is added: their store is open then, and the other one is locked"""
        with self.window() as window:
            window.press("Somebody else")
            window.wait("Which store should be open?")
            window.press("Add somebody")
            window.fill("Their name, or what it is for", "ben")
            window.press("Continue")
            self.passcode(window, "another battery horse")
            self.key(window)
            window.wait("Lock ben")
            window.wait("Unlock default")
        self.assertEqual(self.status()["state"], "locked")

    @slow
    def test_somebody_else_at_the_question(self):
        """who is asked for a passcode that is not theirs says so, and opens their own"""
        self.lab.run("people", "add", "ben", passcodes=[b"another battery horse"])
        with self.window() as window:
            window.press("Lock ben")
            window.wait("Unlock ben")
            window.press("Unlock default")
            window.wait("AppVault passcode")
            window.press("Somebody else")
            window.wait("Which store should be open?")
            window.choose("ben")
            window.press("Open")
            window.fill("AppVault passcode", "another battery horse")
            window.press("Open")
            window.wait("Lock ben")
            window.wait("Unlock default")
        self.assertEqual(self.status()["state"], "locked")

    def test_change(self):
        """the present passcode is asked for, and then the new one opens it"""
        with self.window() as window:
            window.press("Change the passcode")
            window.fill("Current passcode", TEXT)
            window.press("Continue")
            self.passcode(window, "another battery horse")
            window.wait("Lock default")
        self.lab.run("lock")
        self.assertEqual(self.lab.run("unlock", passcodes=[b"another battery horse"]).status, 0)

    def test_looks_again(self):
        """whoever comes back to the window sees what has become of the store meanwhile"""
        with self.window() as window:
            window.wait("Lock default")
            self.lab.run("lock")
            display.away_and_back()
            window.wait("Unlock default")

    def test_check(self):
        """what doctor finds stands there, and nothing is changed"""
        with self.window() as window:
            window.press("Check this computer")
            window.wait("PAM: ")
            window.press("Continue")
            window.wait("Lock default")


class Memory(Case):
    def test_nothing_stays(self):
        """a passcode that was typed is in guarded memory while its screen stands, and nowhere afterwards"""
        word = memorylab.word()
        needles = memorylab.needles(passcode=word)
        with self.window() as window:
            for step in (self.begin, self.welcome, self.way):
                step(window)
            window.wait("A passcode for your store")
            display.key(*word, "Tab", *word)
            window.wait("\u2713 8 or more characters")
            window.until(lambda _: window.is_enabled("Continue"))
            places = {place for found in memorylab.scan(window.process.pid, needles).values() for place in found}
            self.assertTrue(places)
            self.assertFalse({place for place in places if "heap" in place or "stack" in place}, places)
            display.key("Return")
            window.wait("Your recovery key: ")
            self.assertEqual(memorylab.gone(window.process.pid, needles, 10), {})
        self.lab.run("lock")
        self.assertEqual(self.lab.run("unlock", passcodes=[word.encode()]).status, 0)

    def test_cancelled(self):
        """nor where the screen was left"""
        word = memorylab.word()
        needles = memorylab.needles(passcode=word)
        with self.window() as window:
            for step in (self.begin, self.welcome, self.way):
                step(window)
            window.wait("A passcode for your store")
            display.key(*word)
            window.wait("\u2713 8 or more characters")
            window.press("Cancel")
            window.wait("You have no store yet")
            self.assertEqual(memorylab.gone(window.process.pid, needles, 10), {})

    def test_size(self):
        """it takes no more than a small program with a window does, and is gone once it is closed"""
        with self.window() as window:
            window.wait("You have no store yet")
            with open(f"/proc/{window.process.pid}/status") as file:
                resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
            self.assertLess(resident, 110 << 10)
            self.assertIn("Close", [name for role, name, _ in window.nodes() if role == BUTTON])
            window.press("Close")
            self.assertEqual(window.has_gone(), 0)


if __name__ == "__main__":
    unittest.main()
