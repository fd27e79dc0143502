"""What can be changed on the window's first page, with the real daemon behind it: each change is asked of the command
line afterwards."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import clilab
import memorylab
from assistivelab import SENSITIVE
from daemonlab import add_account, remove_account, wait_until
from fetchlab import Publisher
from fingerlab import FakeWorker
from loginlab import Logind
from realcli import POLICY, SECRET, Real
from slow import slow
from windowlab import BUTTON, FIELDS, ITEM, LABEL, LIST, PROGRAM, display_of_suite

TEXT = SECRET.decode()
# A package is built where there is no display.
NEEDS_ROOT = True
TERMS = """[Consent may]
Version=1
Required=no
Title=Diagnostics <b>

What goes wrong is told.
"""
ENTRY = "[Desktop Entry]\nType=Application\nName={}\nExec={} %U\n"
display = None


def setUpModule():
    global display
    display = display_of_suite()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-settings-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.lab = Real(POLICY, **self.machine())
        self.addCleanup(self.lab.__exit__)
        self.ok("create", "--own-passcode", passcodes=[SECRET])

    def machine(self):
        """What the daemon is started with."""
        return {}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def environment(self):
        """Nobody's files."""
        return {"HOME": self.path("home"), "XDG_DATA_HOME": self.path("home/share")}

    def window(self, *more, **environment):
        return display.window(
            "--socket", self.lab.path, "--pam-dir", self.lab.folder, *more,
            environment={**self.environment(), **environment})

    def ok(self, *arguments, **more):
        done = self.lab.run(*arguments, env=self.environment(), **more)
        self.assertEqual(done.status, 0, done)
        return done.out

    def json(self, *arguments):
        return json.loads(self.ok("--json", *arguments))

    def prove(self, window):
        """What opens the store is asked for, whatever the button was."""
        window.fill("Current passcode", TEXT)
        window.press("Continue")

    def gone(self, window, text):
        """The page is there again, without it."""
        def isThere(nodes):
            names = [name for _, name, _ in nodes]
            return "More with stores" in names and not [name for name in names if text in name]
        window.until(isThere)

    def row(self, window, beginning):
        return window.until(lambda nodes: [
            name for role, name, _ in nodes if role == ITEM and name.startswith(beginning)])[0]


class Fingers(Case):
    @classmethod
    def setUpClass(cls):
        # Root is asked where they are, as everybody is.
        cls.logind = Logind(os.getuid())
        cls.addClassCleanup(cls.logind.close)
        cls.logind.set(session="here")

    def machine(self):
        self.worker = self.enterContext(FakeWorker())
        self.worker.enrolls = True
        return {"options": ["--fingerprint-socket", self.worker.path], "before": self.logind.before,
                "env": self.logind.env}

    def enrol(self, *names):
        for name in names:
            self.worker.touches(*["match"] * self.worker.readers[0].stages)
            self.ok("fingerprint", "enroll", name, passcodes=[SECRET])

    def fingers(self):
        return {each["finger"] for each in self.json("fingerprint", "list")["fingers"]}

    @slow
    def test_deleted(self):
        """the one whose button was pressed goes, and the other stays"""
        self.enrol("left-thumb", "right-index")
        with self.window() as window:
            self.assertIn(" at Fake", self.row(window, "left thumb, enrolled "))
            window.press("Delete the left thumb")
            window.wait("After the last one no finger opens it.")
            # No key that goes on deletes it.
            display.key("Return")
            window.press("Cancel")
            window.press("Delete the left thumb")
            window.press("Delete the finger")
            self.prove(window)
            self.row(window, "right index finger, ")
            self.gone(window, "left thumb, ")
        self.assertEqual(self.fingers(), {"right-index"})

    @slow
    def test_wrong_passcode(self):
        """whoever does not know the passcode deletes nothing"""
        self.enrol("left-thumb")
        with self.window() as window:
            window.press("Delete the left thumb")
            window.press("Delete the finger")
            window.fill("Current passcode", "wrong")
            window.press("Continue")
            window.wait("Wrong passcode.")
            window.press("Cancel")
            window.press("Delete the left thumb")
        self.assertEqual(self.fingers(), {"left-thumb"})

    def test_enrolled(self):
        """a further one is enrolled, and stands there then"""
        self.enrol("left-thumb")
        with self.window() as window:
            window.press("Enrol a finger")
            window.wait("left thumb, enrolled already")
            window.choose("right index finger")
            window.press("Continue")
            self.worker.touches(*["match"] * self.worker.readers[0].stages)
            self.prove(window)
            self.row(window, "right index finger, enrolled ")
        self.assertEqual(self.fingers(), {"left-thumb", "right-index"})


class Person(clilab.Lab):
    """Runs the tool as another account."""

    def __init__(self, lab, uid):
        self.path, self.uid = lab.path, uid

    def command(self, *arguments):
        return ["setpriv", "--reuid", str(self.uid), "--regid", "100", "--clear-groups", *super().command(*arguments)]


class Members(Case):
    def setUp(self):
        super().setUp()
        self.name, self.uid = add_account()
        self.addCleanup(remove_account, self.name)
        self.ok("create", "team", "--shared")

    def members(self):
        return {each["name"]: each["role"] for each in self.json("members", "team")["members"]}

    @slow
    def test_shared_and_removed(self):
        """an account that is typed shares the store, in the way that was chosen, until it is removed"""
        for button, role, says in (("Let them read and write", "writer", "reads and writes"),
                                   ("Let them only read", "reader", "reads")):
            with self.subTest(role), self.window() as window:
                window.wait("Who shares team")
                window.press("Share team with somebody")
                self.assertFalse(window.is_enabled(button))
                window.fill("An account, or @ and the name of a group", f" {self.name}")
                window.press(button)
                self.prove(window)
                self.assertIn(says, self.row(window, f"{self.name}, "))
                self.assertEqual(self.members()[self.name], role)
                window.press(f"Share team no more with {self.name}")
                window.wait("They know what they have read.")
                window.press("Cancel")
                self.assertEqual(self.members()[self.name], role)
                window.press(f"Share team no more with {self.name}")
                window.press("Remove")
                self.prove(window)
                self.gone(window, f"{self.name}, ")
                self.assertNotIn(self.name, self.members())

    @slow
    def test_left(self):
        """what somebody else shares is called by their name: it is unlocked by that, theirs to lock, and left"""
        os.chmod(self.lab.folder, 0o711)
        other, own = Person(self.lab, self.uid), pwd.getpwuid(os.getuid()).pw_name
        for words, passcodes in ((["create", "--own-passcode"], [SECRET]), (["create", "club", "--shared"], None),
                                 (["share", "club", own], [SECRET])):
            done = other.run(*words, passcodes=passcodes)
            self.assertEqual(done.status, 0, done)
        club = f"{self.name}/club"
        self.assertEqual(other.run("--store", "club", "lock").status, 0)
        with self.window() as window:
            # With the person's own store, which is open.
            window.press(f"Unlock {club}")
            self.row(window, f"{club}, open")
            self.assertNotIn(f"Lock {club}", [name for role, name, _ in window.nodes() if role == BUTTON])
            window.press(f"Leave {club}")
            window.wait("until its owner shares it with you again")
            window.press("Leave")
            self.prove(window)
            self.gone(window, club)
        self.assertNotIn(own, other.run("members", "club").out.decode())

    def test_nobody(self):
        """an account that does not exist is said, and nothing is shared"""
        before = self.members()
        with self.window() as window:
            window.press("Share team with somebody")
            window.fill("An account, or @ and the name of a group", "no-such-account")
            window.press("Let them only read")
            window.wait("That did not work")
            window.press("Continue")
            window.wait("Who shares team")
        self.assertEqual(self.members(), before)


@unittest.skipUnless(shutil.which("minisign"), "minisign is not installed")
class Organisation(Case):
    def setUp(self):
        super().setUp()
        publisher = Publisher(self.folder)
        self.ok("fleet", "join", publisher.join({}))
        bundle = self.path("bundle")
        with open(bundle, "wb") as file:
            file.write(publisher.bundle(7, policy="[Passcode]\nMinLength=8\n", terms=TERMS))
        self.ok("fleet", "import", bundle)

    def test_shown(self):
        """which one it is, what of it holds, what it asks, and who can leave it"""
        with self.window() as window:
            window.wait("example.org asks you to read something, and to answer")
            self.assertIn("version 7", self.row(window, "example.org, policy: "))
            self.assertIn("not answered yet", self.row(window, "Diagnostics <b>, "))
            self.assertIn("`appvault fleet leave`", self.row(window, "To leave it, "))
            self.assertNotIn("Join an organisation", [name for role, name, _ in window.nodes() if role == BUTTON])

    def test_answered(self):
        """what it asks is answered, and stands there then"""
        with self.window() as window:
            window.press("What your organisation asks of you")
            window.until(lambda nodes: [1 for _, name, _ in nodes if "What goes wrong is told." in name] or (
                [1 for role, name, _ in nodes if role in FIELDS] and self.prove(window)))
            window.press("Agree")
            self.assertIn("agreed ", self.row(window, "Diagnostics <b>, "))
        self.assertEqual([each["answer"] for each in self.json("consents", "show")["consents"]], ["yes"])


class Apps(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("system/applications"))
        os.makedirs(self.path("home"))
        for name in ("Mail", "Chat\x1b"):
            self.entry(name.lower().strip("\x1b"), ENTRY.format(name, "/bin/true"))
        self.entry("hidden", ENTRY.format("Hidden", "/bin/true") + "NoDisplay=true\n")

    def environment(self):
        """A menu of the test's own. What GTK keeps there is where it always is."""
        return {**super().environment(), "XDG_DATA_DIRS": self.path("system"), "XDG_CONFIG_DIRS": self.path("xdg"),
                "GSETTINGS_SCHEMA_DIR": "/usr/share/glib-2.0/schemas"}

    def entry(self, name, text):
        with open(self.path(f"system/applications/{name}.desktop"), "w") as file:
            file.write(text)

    def apps(self):
        return {each["id"]: each["state"] for each in self.json("app", "list")["apps"]}

    def lock(self, window, name):
        window.press("Lock an application")
        window.wait("not against your own programs")
        window.choose(name)
        window.press("Lock it")

    @slow
    def test_locked_and_unlocked(self):
        """one of those that the menu shows is locked, and let go of again"""
        with self.window() as window:
            window.press("Lock an application")
            window.until(lambda nodes: [name for role, name, _ in nodes if role == ITEM] == [
                "Chat\\x1b, chat", "Mail, mail"])
            window.press("Cancel")
            self.lock(window, "Mail")
            self.row(window, "Mail, locked: ")
            self.assertEqual(self.apps(), {"mail": "locked"})
            window.press("Remove the lock of mail")
            self.gone(window, "Mail, locked")
        self.assertEqual(self.apps(), {})

    def test_starts_with_the_command_line(self):
        """what is locked asks by the command line's program, which is beside the window's"""
        with self.window() as window:
            self.lock(window, "Mail")
            self.row(window, "Mail, locked: ")
        with open(self.path("home/share/applications/mail.desktop")) as file:
            command = next(line for line in file if line.startswith("Exec="))
        self.assertIn(os.path.realpath(os.path.join(os.path.dirname(PROGRAM), "appvault")), command)

    def test_changed(self):
        """one whose lock somebody has taken off is locked again"""
        self.ok("app", "add", "mail")
        path = self.path("home/share/applications/mail.desktop")
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write("".join(
                "Exec=/bin/true %U\n" if line.startswith("Exec=") else line for line in text.splitlines(True)))
        self.assertEqual(self.apps(), {"mail": "changed"})
        with self.window() as window:
            self.row(window, "Mail, not locked any more")
            window.press("Lock mail again")
            self.row(window, "Mail, locked: ")
            self.assertEqual(self.apps(), {"mail": "locked"})
            window.press("Remove the lock of mail")
            self.gone(window, "Mail, ")
        self.assertEqual(self.apps(), {})


class Stores(Case):
    def stores(self):
        return {each["name"]: each["kind"] for each in self.json("stores")["stores"]}

    def further(self, window, name, button):
        window.press("Make a further store")
        window.fill("What it is called", name)
        window.press(button)

    @slow
    def test_further(self):
        """one is made that opens with the first, and one that is shared"""
        with self.window() as window:
            self.further(window, "mail", "Let it open with the first one")
            window.wait("Lock mail")
            self.further(window, "team", "Make it one to share")
            window.wait("Who shares team")
            self.further(window, "mail", "Let it open with the first one")
            window.wait("That did not work")
            window.press("Continue")
            window.wait("Lock mail")
        self.assertEqual(self.stores(), {"default": "own", "mail": "follows", "team": "shared"})

    @slow
    def test_own_passcode(self):
        """one has a passcode of its own, and its recovery key is shown"""
        with self.window() as window:
            self.further(window, "taxes", "Give it a passcode of its own")
            window.fill("New passcode", "another battery horse")
            window.fill("New passcode again", "another battery horse")
            window.press("Continue")
            window.wait("Your recovery key: ")
            window.press("Continue")
            window.wait("Lock taxes")
        self.assertEqual(self.stores()["taxes"], "own")
        self.ok("--store", "taxes", "lock")
        self.ok("--store", "taxes", "unlock", passcodes=[b"another battery horse"])

    @slow
    def test_names(self):
        """what is kept is listed by its names; a value is shown to who asks for it, and removed if they say so"""
        for place in range(300):
            self.ok("set", f"<b>{place:03}\u202e", input=b"the-<i>value\n\x1b")
        value = "the-<i>value\\x0a\\x1b"
        with self.window() as window:
            window.press("What is kept in your store")
            self.row(window, "<b>000\\xe2\\x80\\xae")
            self.assertEqual([name for _, name, _ in window.nodes() if "the-" in name or "<b>299" in name], [])
            window.choose("<b>007")
            window.press("Show")
            window.wait(f"<b>007\\xe2\\x80\\xae: {value}")
            window.press("Back")
            window.press("Further names")
            window.choose("<b>299")
            window.press("Remove it")
            window.wait("nothing brings it back")
            window.press("Cancel")
            self.row(window, "<b>299")
            window.choose("<b>299")
            window.press("Remove it")
            window.wait("nothing brings it back")
            window.press("Remove it")
            window.until(lambda nodes: not [name for _, name, _ in nodes if "<b>299" in name]
                         and [name for _, name, _ in nodes if name.startswith("<b>298")])
            window.press("Back to the overview")
            window.wait("More with stores")
        self.assertEqual(len(self.json("list")["names"]), 299)

    @slow
    def test_locked_meanwhile(self):
        """a value, the names, and the question about one: none of them is to be seen once the store is locked"""
        self.ok("set", "mail", input=b"the-value")
        for buttons in (["Show"], [], ["Remove it"]):
            with self.subTest(buttons), self.window() as window:
                window.press("What is kept in your store")
                window.choose("mail")
                for button in buttons:
                    window.press(button)
                    window.wait({"Show": "mail: the-value", "Remove it": "nothing brings it back"}[button])
                self.ok("lock")
                window.wait("The store was locked, so nothing of it is shown any more.")
                self.gone(window, "mail")
                self.ok("unlock", passcodes=[SECRET])
        self.assertEqual(self.ok("get", "mail"), b"the-value")

    def test_watched_by_too_many(self):
        """whoever has as many watches as they may is told so, and sees nothing that could stay"""
        self.ok("set", "mail", input=b"the-value")
        for _ in range(4):
            watch = subprocess.Popen(
                self.lab.command("watch"), env=self.lab.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            self.addCleanup(watch.stdout.close)
            self.addCleanup(watch.wait)
            self.addCleanup(watch.kill)
            self.assertTrue(watch.stdout.readline())
        with self.window() as window:
            window.press("What is kept in your store")
            window.wait("That did not work")
            self.assertEqual([name for _, name, _ in window.nodes() if "mail" in name], [])

    def test_large_toast(self):
        """with large text a sentence stands on several lines, and is not cut"""
        sentence = "The store was locked, so nothing of it is shown any more."
        with self.window("--text", "3") as window:
            window.press("What is kept in your store")
            window.wait("Nothing is kept in it.")
            self.ok("lock")
            toast = window.until(lambda nodes: [
                name for _, name, _ in nodes if " ".join(name.split()) == sentence])[0]
        self.assertIn("\n", toast)

    @slow
    def test_killed_anywhere(self):
        """the daemon is killed at some moment after Enter: the secret is there whole, or not at all"""
        self.ok("set", "mail", input=b"the-value")
        for place, milliseconds in enumerate((0, 2, 4, 8, 16, 32, 64, 128)):
            with self.window() as window:
                window.press("Keep a secret")
                window.wait("The secret")
                display.key(*f"n{place}", "Tab", *"otter")
                window.until(lambda _, window=window: window.is_enabled("Keep"))
                display.key("Return")
                time.sleep(milliseconds / 1000)
                self.lab.process.kill()
                self.lab.process.wait()
                self.lab.start()
                self.ok("unlock", passcodes=[SECRET])
                window.until(lambda nodes: {"More with stores", "That did not work"} & {name for _, name, _ in nodes})
            names = {each["name"] for each in self.json("list")["names"]}
            self.assertIn("mail", names)
            if f"n{place}" in names:
                self.assertEqual(self.ok("get", f"n{place}"), b"otter")
        self.assertEqual(self.ok("get", "mail"), b"the-value")

    @slow
    def test_killed(self):
        """the daemon is killed while a secret is kept: it says so, and what was there is as it was"""
        self.ok("set", "mail", input=b"the-value")
        with self.window() as window:
            for _ in range(2):
                window.press("Keep a secret")
                window.wait("The secret")
                self.lab.process.send_signal(signal.SIGSTOP)
                display.key(*"other", "Tab", *"text")
                window.until(lambda _, window=window: window.is_enabled("Keep"))
                display.key("Return")
                time.sleep(0.2)
                self.lab.process.kill()
                self.lab.process.wait()
                window.wait("That did not work")
                self.lab.start()
                self.ok("unlock", passcodes=[SECRET])
                window.press("Continue")
                window.wait("More with stores")
                self.assertEqual([each["name"] for each in self.json("list")["names"]], ["mail"])
                self.assertEqual(self.ok("get", "mail"), b"the-value")
            # And while one is looked at.
            window.press("What is kept in your store")
            window.choose("mail")
            window.press("Show")
            window.wait("mail: the-value")
            self.lab.process.kill()
            self.lab.process.wait()
            window.until(lambda nodes: not [name for _, name, _ in nodes if "the-value" in name])
            self.lab.start()

    @slow
    def test_kept(self):
        """what is typed is kept by its name; what is there already is replaced by whoever says so; no copy stays"""
        word, other = memorylab.word(), memorylab.word()
        needles = memorylab.needles(first=word, second=other)
        with self.window() as window:
            for text, answer in ((word, None), (other, "Cancel"), (other, "Replace it")):
                window.press("Keep a secret")
                window.wait("The secret")
                display.key(*"mail", "Tab", *text)
                window.until(lambda _: window.is_enabled("Keep"))
                display.key("Return")
                if answer:
                    window.wait("Something is kept by the name mail already.")
                    window.press(answer)
                window.wait("More with stores")
                kept = word if answer in (None, "Cancel") else other
                wait_until(lambda kept=kept: self.ok("get", "mail") == kept.encode(), "it is kept", 30)
            self.assertEqual(memorylab.gone(window.process.pid, needles, 10), {})

    def test_held(self):
        """the store stays open for the time that was chosen, until somebody ends it"""
        with self.window() as window:
            window.press("Keep your store open")
            window.press("For an hour")
            self.prove(window)
            window.wait("It stays open until ")
            self.assertGreater(self.json("status")["heldUntil"], 0)
            window.press("Let it lock by itself again")
            window.wait("For a time, also behind a locked screen.")
        self.assertEqual(self.json("status")["heldUntil"], 0)


class Page(Case):
    def setUp(self):
        super().setUp()
        self.ok("create", "team", "--shared")

    def test_names(self):
        """each row, each button and each list says what it is"""
        with self.window() as window:
            window.wait("More with stores")
            for role, name, node in window.nodes():
                if role in (BUTTON, LABEL, LIST, ITEM):
                    self.assertTrue(name, (role, node.path))
                    self.assertFalse(name.startswith("Gtk"), name)

    @slow
    def test_by_keys(self):
        """the keyboard alone reaches every button, and presses it"""
        heard = []

        def focused(event):
            if event.detail1:
                heard.append((int(event.source.get_role()), event.source.get_name() or ""))

        def tab():
            """What has the keyboard then."""
            display.turn()
            before = len(heard)
            display.key("Tab")
            wait_until(lambda: display.turn() or len(heard) > before, "something else has the keyboard", 30)
            return heard[-1]

        listener = display.listen("object:state-changed:focused", focused)
        with self.window() as window:
            window.wait("More with stores")
            wanted = {(BUTTON, name) for role, name, node in window.nodes() if role == BUTTON and name
                      and node.has(SENSITIVE)}
            wanted -= {(BUTTON, name) for name in ("Close", "Minimize", "Maximize")}
            self.assertIn((BUTTON, "Share team with somebody"), wanted)
            seen = set()
            while not wanted <= seen and len(heard) < 200:
                seen.add(tab())
            self.assertEqual(wanted - seen, set())
            while tab() != (BUTTON, "Make a further store"):
                self.assertLess(len(heard), 400)
            display.key("Return")
            window.wait("What it is called")
            display.key("Escape")
            window.wait("More with stores")
            # Whoever comes back goes on where they were.
            wait_until(lambda: display.turn() or heard[-1] == (BUTTON, "Make a further store"), "they are there", 30)
        del listener

    @slow
    def test_pictures(self):
        """the page is drawn in each look"""
        for number, (looks, more) in enumerate((
                (["--light"], {}), (["--dark"], {}), (["--light", "--text", "2"], {}),
                (["--right-to-left"], {}))):
            picture = self.path(f"{number}.png")
            with self.subTest(looks):
                done = subprocess.run(
                    [PROGRAM, "--socket", self.lab.path, "--pam-dir", self.lab.folder, "--screenshot", picture, *looks],
                    env={**display.environment, **self.environment(), **more}, capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, b""), done)
                with open(picture, "rb") as file:
                    self.assertTrue(file.read().startswith(b"\x89PNG"))


if __name__ == "__main__":
    unittest.main()
