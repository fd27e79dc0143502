"""`appvault export --secret-service`: what the store `secrets` keeps goes to the program that has
org.freedesktop.secrets on the session bus, if that is another one: a real gnome-keyring, and a played one whose person
is asked."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from daemonlab import build, wait_until
from foreignlab import PASSWORD, Bus, Case, Keyring, sorted_items
from places import LABS
from realcli import SECRET
from secretslab import Lines
from slow import slow

TIMEOUT = 1200
NAME = "org.freedesktop.secrets"
# gnome-keyring writes all its items anew for each one: a thousand of them take it a minute, twice.
MANY = 1000 if os.environ.get("APPVAULT_TESTS") == "soak" else 150
GENERIC = "org.freedesktop.Secret.Generic"


def plain(items):
    """What goes there and back; the times are the other program's, and an item of no kind may say so or not."""
    return sorted_items([
        {"label": item["label"], "secret": item["secret"], "contentType": item["contentType"],
         "attributes": {
             name: value for name, value in item["attributes"].items() if (name, value) != ("xdg:schema", GENERIC)}}
        for item in items])


class Back(Case):
    def back(self, bus, *words, status=0):
        done = self.lab.run(
            "export", "--secret-service", *words, timeout=300,
            env={"HOME": self.home, "DBUS_SESSION_BUS_ADDRESS": bus.environment["DBUS_SESSION_BUS_ADDRESS"]})
        self.assertEqual(done.status, status, (done.out, done.err))
        return done

    def counted(self, bus, *words, **more):
        answer = json.loads(self.back(bus, *words, "--json", **more).out)
        return {each["name"]: (each["went"], each["present"], each["different"], each["left"])
                for each in answer["collections"]}

    def store(self):
        """The store, as programs of the desktop make it."""
        made = self.lab.run("create", "secrets", "--follow")
        self.assertEqual(made.status, 0, made.err)
        return self.items()


class ToKeyring(Back):
    def other(self):
        home = tempfile.mkdtemp(prefix="appvault-back-", dir=self.home)
        keyring = Keyring(home)
        self.addCleanup(keyring.close)
        return keyring

    @slow
    def test_there_and_back(self):
        """many items of one gnome-keyring come over, go to another one, and come back, each with everything that
        belongs to it"""
        keyring = Keyring(self.home)
        try:
            for number in range(MANY - 2):
                attributes = {"xdg:schema": f"org.example.S{number % 7}", "number": str(number)}
                attributes |= {f"a{n}": "ß" * n for n in range(number % 5)}
                keyring.put(keyring.login, f"Item {number} ☃", attributes, os.urandom(number % 200))
            keyring.put(keyring.login, "of no kind", {"user": "ann"}, b"1")
            keyring.put(keyring.login, "", {}, b"no name, no attributes")
            there = keyring.all(keyring.login)
        finally:
            keyring.close()
        self.over("keyring", passwords=[PASSWORD])
        other = self.other()
        self.assertEqual(self.counted(other, "--dry-run"), {"Login": (MANY, 0, 0, 0)})
        self.assertEqual(other.all(other.login), [])
        before = self.stored()
        self.assertEqual(self.counted(other), {"Login": (MANY, 0, 0, 0)})
        self.assertEqual(plain(other.all(other.login)), plain(there))
        # A second time nothing goes, and here nothing has changed.
        self.assertEqual(self.counted(other), {"Login": (0, MANY, 0, 0)})
        self.assertEqual(len(other.all(other.login)), MANY)
        self.assertEqual(sorted_items(self.stored()), sorted_items(before))
        # And once more into an empty store.
        other.close()
        [folder] = [name for name in os.listdir(self.home) if name.startswith("appvault-back-")]
        self.assertEqual(self.lab.run("reset", "--store", "secrets", "--yes", passcodes=[SECRET]).status, 0)
        os.rename(os.path.join(self.home, ".local"), os.path.join(self.home, "former"))
        os.rename(os.path.join(self.home, folder, ".local"), os.path.join(self.home, ".local"))
        self.assertEqual(self.counts("keyring", passwords=[PASSWORD]), {"Login": (MANY, 0, 0)})
        self.assertEqual(plain(self.stored()), plain(there))

    def test_replace(self):
        """what is there with another secret stays, and is named; --replace replaces it, and its label"""
        items = self.store()
        items.put({"user": "ann"}, b"here", label="Here")
        items.put({"user": "bob"}, b"same", label="Bob")
        other = self.other()
        other.put(other.login, "There", {"user": "ann"}, b"there")
        other.put(other.login, "Bob", {"user": "bob"}, b"same")
        done = self.back(other)
        self.assertIn(b"Login: Here: it differs there; `--replace` replaces it\n", done.err)
        self.assertIn(
            b"Login: went: 0, there already: 1, differs, left as it is there: 1, did not go: 0\n", done.out)
        self.assertEqual({item["secret"] for item in other.all(other.login)}, {b"there", b"same"})
        self.assertEqual(self.counted(other, "--replace", "--dry-run"), {"Login": (1, 1, 0, 0)})
        self.assertEqual({item["secret"] for item in other.all(other.login)}, {b"there", b"same"})
        self.assertEqual(self.counted(other, "--replace"), {"Login": (1, 1, 0, 0)})
        self.assertEqual(
            {(item["label"], item["secret"]) for item in other.all(other.login)}, {("Here", b"here"), ("Bob", b"same")})

    def test_collections(self):
        """a collection goes to the one of its label; several items with the same attributes all go, and notes too"""
        items = self.store()
        work = items.collection("Work")["id"]
        for secret in (b"1", b"2"):
            items.put({"a": "1"}, secret, collection=work, label="twice")
            items.put({"xdg:schema": "org.gnome.keyring.Note"}, secret, collection=work, label="a note")
        other = self.other()
        there = other.keyring("Work", b"another")
        for _ in range(2):
            counts = self.counted(other)
            self.assertEqual(sum(counts["Work"]), 4)
        self.assertEqual(counts["Work"], (0, 4, 0, 0))
        self.assertEqual(
            sorted((item["label"], item["secret"]) for item in other.all(there)),
            [("a note", b"1"), ("a note", b"2"), ("twice", b"1"), ("twice", b"2")])


class Played:
    """The other program, whose person the test plays."""

    def __init__(self, folder, *collections):
        self.bus = Bus(folder)
        self.environment = self.bus.environment
        self.process = self.bus.start(
            [sys.executable, os.path.join(LABS, "playedkeyring.py"), *collections], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.lines = Lines(self.process.stdout)
        wait_until(lambda: "ready" in self.lines.all, "the other program is on the bus", 30)

    def says(self, word):
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()

    def asked(self, times):
        wait_until(lambda: self.lines.all.count("asked") == times, f"it asks {times} times", 60)

    def items(self):
        self.says("say")
        wait_until(lambda: "said" in self.lines.all, "it says what it has", 30)
        return [line.removeprefix("item ") for line in self.lines.all if line.startswith("item ")]

    def close(self):
        self.bus.close()


class ToOthers(Back):
    def played(self, *collections):
        played = Played(self.home, *collections)
        self.addCleanup(played.close)
        return played

    def begun(self, played, *words):
        address = played.environment["DBUS_SESSION_BUS_ADDRESS"]
        process = subprocess.Popen(
            self.lab.command("export", "--secret-service", *words),
            env=self.lab.environment(HOME=self.home, DBUS_SESSION_BUS_ADDRESS=address), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        return process

    def test_prompts(self):
        """where the other program asks its person, it is waited for: to make a collection, open one, take an item"""
        items = self.store()
        items.put({"a": "1"}, b"one", label="first")
        work = items.collection("Work")["id"]
        items.put({"a": "2"}, b"two", label="ask for this", collection=work)
        played = self.played("Work")
        process = self.begun(played)
        for times in (1, 2, 3):
            played.asked(times)
            self.assertIsNone(process.poll())
            played.says("yes")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(err.count(b"asks in a dialog of its own\n"), 3, err)
        self.assertEqual(sorted(played.items()), ["Login first one", "Work ask for this two"])
        self.assertIn(b"Work: went: 1, ", out)

    def test_dismissed(self):
        """whoever closes a dialog leaves out what it was for, and the rest goes"""
        items = self.store()
        items.put({"a": "1"}, b"one", label="first")
        work = items.collection("Work")["id"]
        items.put({"a": "2"}, b"two", label="second", collection=work)
        played = self.played("Work")
        process = self.begun(played)
        for times, word in ((1, "no"), (2, "yes")):
            played.asked(times)
            played.says(word)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b"appvault: Login: its dialog was closed\n", err)
        self.assertEqual(played.items(), ["Work second two"])

    def test_refused(self):
        """what the other program refuses is named, in its own words, and the rest goes"""
        items = self.store()
        for number, label in enumerate(("first", "refuse this", "third")):
            items.put({"n": str(number)}, b"x", label=label)
        played = self.played()
        process = self.begun(played)
        played.asked(1)
        played.says("yes")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b"appvault: Login: refuse this: the other keyring refuses it: not this one\n", err)
        self.assertIn(b"Login: went: 2, there already: 0, differs, left as it is there: 0, did not go: 1\n", out)
        self.assertEqual(sorted(played.items()), ["Login first x", "Login third x"])

    def test_it_ends(self):
        """a program that ends while its person is asked is waited for no more"""
        self.store().put({"a": "1"}, b"one", label="first")
        played = self.played()
        process = self.begun(played)
        played.asked(1)
        played.says("end")
        _, err = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(b"the other keyring has ended", err)

    def test_nobody_and_ours(self):
        """without a bus, without another program, and where AppVault has the name, it says what to do"""
        self.store().put({"a": "1"}, b"one")
        bus = Bus(self.home, starts=False)
        self.addCleanup(bus.close)
        self.assertIn(b"no keyring has org.freedesktop.secrets\nhint: start the keyring", self.back(bus, status=3).err)
        bus.start([build("appvault-secrets"), "--socket", self.lab.path])
        wait_until(lambda: bus.connection.name_has_owner(NAME), "nobody has the name")
        done = self.lab.run(
            "export", "--secret-service",
            env={"DBUS_SESSION_BUS_ADDRESS": bus.environment["DBUS_SESSION_BUS_ADDRESS"]})
        self.assertNotEqual(done.status, 0)
        self.assertIn(b"hint: `apt remove appvault-secret-service` gives the name back", done.err)
        nowhere = self.lab.run(
            "export", "--secret-service", env={"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + self.home + "/none"})
        self.assertIn(b"there is no session bus here", nowhere.err)

    def test_usage(self):
        """a file and a keyring exclude each other, and the options of one are not the other's"""
        for words in (["--secret-service", "file"], ["--dry-run", "file"], ["--replace"]):
            self.assertEqual(self.lab.run("export", *words, cwd=self.home).status, 2, words)
        played = self.played()
        self.assertIn(b"there is no store secrets", self.back(played, status=3).err)
        self.store()
        self.assertEqual(self.lab.run("lock").status, 0)
        self.back(played, status=4)


if __name__ == "__main__":
    unittest.main()
