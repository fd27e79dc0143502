"""Somebody makes their store at a machine that joins an organisation on the way, and is broken off at every screen: by
Ctrl-C, by a daemon that dies, by another policy. The next time it goes on with what is left."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import tempfile
import unittest

from daemonlab import wait_until
from fetchlab import NGINX, Authority, Publisher, SignInServer, Web, Worker
from realcli import POLICY, SECRET, Real
from slow import slow

TIMEOUT = 600
TOKEN = "Zm9vYmFyYmF6cXV4-_"
RULES = POLICY + "RetryLimit=9\n"
PLACE = ".well-known/appvault-join/" + TOKEN
TERMS = """[Licence]
Version=1
Title=Terms of use

The first page.
---
The second page.
[Consent must]
Version=1
Required=yes
Title=Inventory

We count machines.
[Consent may]
Version=1
Required=no
Title=Diagnostics

What goes wrong is told.
"""
SIGNIN = """[Sign-in]
Version=1
URL={url}
Title=Sign in with your staff account

[Field mail]
Label=E-mail
Kind=email
Prefill={{account}}@example.org

[Field word]
Label=Password
Kind=secret
"""
# What comes, and what is typed then.
JOIN = [("  2  I have an invitation", None), ("Your choice [1] ", b"2\n"), ("Link or e-mail address: ", "link"),
        ("Continue [Enter] ", b"\n"),
        ("Let this organisation manage this machine?", None), ("Your choice, 1 to 2: ", b"1\n")]
PAPERS = [("Terms of use", None), ("Next page [Enter]", b"\n"), ("Your choice, 1 to 3: ", b"1\n"),
          ("Inventory", None), ("Your choice, 1 to 3: ", b"1\n"),
          ("Diagnostics", None), ("Your choice, 1 to 3: ", b"2\n")]
SIGN_IN = [("Sign in with your staff account", None), ("E-mail: [root@example.org] ", b"\n"),
           ("Password: ", b"rubber duck\n"), ("Asking localhost", None)]
STORE = [("What should open your store?", None), ("Your choice [1] ", b"\n"), ("New passcode: ", SECRET + b"\n"),
         ("again: ", SECRET + b"\n"), ("You see it only once.", None)]
READY = [("Your store is ready.", None), ("Continue [Enter]", b"\n")]
SCREENS = JOIN + PAPERS + SIGN_IN + STORE + READY
# Where each is interrupted: as its question stands.
PLACES = [place for place, (_, typed) in enumerate(SCREENS) if typed]
JOINED, SIGNED, MADE = len(JOIN) - 1, len(JOIN + PAPERS + SIGN_IN) - 1, SCREENS.index(STORE[-1])


@unittest.skipUnless(shutil.which("minisign") and NGINX, "minisign or nginx is not installed")
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-onboarding-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.publisher = Publisher(cls.folder)
        authority = Authority(cls.folder, "ca")
        certificate = authority.issue("server", hosts=("localhost",))
        cls.web = cls.enterClassContext(Web(authority))
        cls.worker = cls.enterClassContext(Worker({"ca.pem": authority.path + ".pem"}))
        os.makedirs(os.path.join(cls.web.folder, "www", os.path.dirname(PLACE)))
        with open(cls.publisher.join({"URL": cls.web.url()}), "rb") as file:
            data = file.read()
        cls.web.publish(data, PLACE)
        cls.server = cls.enterClassContext(SignInServer(certificate))
        cls.web.publish(cls.publisher.bundle(
            1, policy="[Passcode]\nMinLength=11\n", terms=TERMS, signin=SIGNIN.format(url=cls.server.url("in"))))
        cls.link = (f"appvault:join?v=1&h=localhost:{cls.web.port}&k=SHA256:{hashlib.sha256(data).hexdigest()}"
                    f"&t={TOKEN}\n").encode()

    def setUp(self):
        self.machine = contextlib.ExitStack()
        self.addCleanup(self.machine.close)

    def fresh(self):
        self.machine.close()
        self.lab = self.machine.enter_context(Real(RULES, ["--fetch-socket", self.worker.socket]))

    def welcome(self):
        return self.lab.terminal("welcome", "--pam-dir", self.lab.folder)

    def play(self, screen, steps):
        for text, typed in steps:
            screen.expect(text, 30)
            if typed:
                screen.type(self.link if typed == "link" else typed)

    def until(self, screen, place):
        """The question of this step stands."""
        self.play(screen, SCREENS[:place])
        screen.expect(SCREENS[place][0], 30)

    def told(self, *words):
        return json.loads(self.lab.run("--json", *words).out)

    def joined(self):
        return self.told("fleet", "status").get("organisation") == "example.org"

    def agreed(self):
        """How many papers have an answer."""
        return sum(item["answer"] != "open" for item in self.told("consents", "show")["consents"])

    def is_as_it_was(self, place):
        """What was finished before this question stays, and of what it asks for there is nothing."""
        self.assertEqual(self.joined(), place > JOINED)
        if place > JOINED:
            answered = sum(1 for step in PAPERS[:max(0, place - len(JOIN))] if step[0].startswith("Your choice"))
            self.assertEqual(self.agreed(), answered)
        status = self.told("status")
        self.assertEqual(status["state"] == "absent", place < MADE, status)
        if place > MADE:
            self.assertEqual((status["ownTriesLeft"], status["apartTriesLeft"]), (9, 9), status)
            self.assertTrue(status["recoveryKey"])

    def goes_on(self, place):
        """With what is left, and to its end."""
        with self.welcome() as screen:
            if place <= JOINED:
                self.play(screen, SCREENS)
            elif place < MADE:
                self.play(screen, [("Continue [Enter]", b"\n")])
                answered = [at for at, step in enumerate(PAPERS) if step[0].startswith("Your choice")
                            and at + len(JOIN) < place]
                signing = SIGN_IN if place <= SIGNED else []
                self.play(screen, PAPERS[answered[-1] + 1 if answered else 0:] + signing + STORE + READY)
            elif not self.told("status")["recoveryKey"]:
                self.play(screen, [("Make a recovery key now", None), ("Your choice [1] ", b"\n"),
                                   ("asscode: ", SECRET + b"\n"), ("You see it only once.", None)] + READY)
            self.assertEqual(screen.end(), 0)
        self.is_as_it_was(len(SCREENS))
        self.lab.run("lock")
        self.assertEqual(self.lab.run("unlock", passcodes=[SECRET]).status, 0)
        again = self.lab.run("welcome")
        self.assertEqual(again.status, 0)
        self.assertIn(b"nothing is left to do", again.out + again.err)

    @slow
    def test_left(self):
        """Ctrl-C at each question ends it, and nothing is half made"""
        for place in PLACES:
            self.fresh()
            with self.subTest(place=place, at=SCREENS[place][0]):
                with self.welcome() as screen:
                    self.until(screen, place)
                    screen.type(b"\x03")
                    self.assertIn(screen.end(), (130, -signal.SIGINT))
                self.is_as_it_was(place)
                self.goes_on(place)

    @slow
    def test_killed(self):
        """the daemon dies while a question stands; so does what was begun, and what was finished stays"""
        for place in PLACES:
            self.fresh()
            with self.subTest(place=place, at=SCREENS[place][0]):
                with self.welcome() as screen:
                    self.until(screen, place)
                    self.lab.process.kill()
                    self.lab.process.wait(10)
                    typed = SCREENS[place][1]
                    screen.type(self.link if typed == "link" else typed)
                    if SCREENS[place][0].startswith(("Next page", "E-mail")):
                        # A page is turned without the daemon, and so are the fields of one screen filled in.
                        self.play(screen, [SCREENS[place + 1]])
                    screen.end()
                os.remove(self.lab.path)
                self.lab.start()
                self.is_as_it_was(place)
                self.goes_on(place)

    @slow
    def test_another_policy(self):
        """a policy that comes while a question stands is the one that holds for the store that is made"""
        for place in (place for place in PLACES if place < MADE):
            self.fresh()
            with self.subTest(place=place, at=SCREENS[place][0]):
                with self.welcome() as screen:
                    self.until(screen, place)
                    with open(self.lab.policy, "w") as file:
                        file.write(RULES + "MinLength=40\n")
                    self.lab.process.send_signal(signal.SIGHUP)
                    # It is in force as soon as the next request is answered by it.
                    wait_until(lambda: any(
                        value.get("value") == "40" for value in self.told("policy", "show")["values"]
                        if value.get("key") == "MinLength"), "the policy is in force")
                    typed = SCREENS[place][1]
                    screen.type(self.link if typed == "link" else typed)
                    # While it is typed it is judged by the rules that stand on the screen, and then by those in force.
                    first = SCREENS.index(STORE[2])
                    self.play(screen, SCREENS[place + 1:first + 1])
                    if place >= first:
                        self.play(screen, SCREENS[place + 1:MADE])
                    screen.expect("40", 30)
                    screen.type(b"\x03")
                    self.assertNotEqual(screen.end(), 0)
                self.assertEqual(self.told("status")["state"], "absent")


if __name__ == "__main__":
    unittest.main(verbosity=2)
