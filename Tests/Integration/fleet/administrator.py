"""What an administrator does without a daemon: orders are written, checked and signed, and name nobody."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import clilab
from signerslab import MISSING, Signers

KEY = bytes(range(32))
ID = "0123456789abcdef0123456789abcdef"
OTHER = "f" * 32
ANNA = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkeHu+lxjDbcOrGvne3hZH871UiqMc+3wV7a2slvB7o"


def target(*words):
    """As FORMAT.md has it."""
    return hashlib.blake2b(b"\0".join(word.encode() for word in words), digest_size=16, key=KEY,
                           person=b"AV fleet target\0").hexdigest()


class Desk(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-desk-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.join = self.write("example.join", "[Join]\nOrganisation=example.org\n"
                               f"TargetKey={base64.b64encode(KEY).decode()}\nThreshold=1\n[Keys]\n"
                               f"anna={ANNA}\n")
        self.orders = self.path("orders")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def read(self, name="orders"):
        with open(self.path(name)) as file:
            return file.read()

    def run_(self, *words, **more):
        return subprocess.run(
            [os.path.join(clilab.BUILD, "appvault"), "--socket", self.path("none"), *words],
            capture_output=True, text=True, timeout=60, cwd=self.folder, **more)

    def ok(self, *words, **more):
        done = self.run_(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def fails(self, name, *words, **more):
        done = self.run_("--json", *words, **more)
        told = json.loads(done.stdout)
        self.assertEqual((told["name"], done.returncode != 0), (name, True), told)
        return told

    def fleet(self, verb, *words):
        return self.ok("fleet", verb, self.orders, *words, "--join", self.join)


class Orders(Desk):
    def test_who_is_meant(self):
        """a person, a machine, a person on a machine and a list are written as FORMAT.md has them, and no name is"""
        people = self.write("people", f"# our people\n\nbert@example.org  of the depot\nmachine:{OTHER}\r\n")
        told = self.fleet("lock", "alice", f"machine:{ID}", f"alice@{ID.upper()}", "list:" + people)
        self.assertEqual(told.count(": locked\n"), 5)
        self.assertIn(f"alice@{ID}: locked\n", told)
        expected = [target("person", "alice"), target("machine", ID), target("person", "alice", ID),
                    target("person", "bert@example.org"), target("machine", OTHER)]
        self.assertEqual(self.read(), "".join(f"lock {each}\n" for each in sorted(expected)))
        self.assertEqual(os.stat(self.orders).st_mode & 0o777, 0o600)

    def test_a_state(self):
        """orders add up, are taken back one by one or all, and comments stay"""
        self.write("orders", "# kept by the help desk\nlock " + "0" * 32 + "\n")
        self.fleet("lock", "alice")
        self.fleet("wipe", "alice", "bert", "--before", "7")
        self.fleet("reset", "bert", "--before", "8")
        alice, bert = target("person", "alice"), target("person", "bert")
        self.assertEqual(set(self.read().splitlines()), {
            "# kept by the help desk", "lock " + "0" * 32, f"lock {alice}", f"wipe {alice} 7", f"wipe {bert} 7",
            f"reset {bert} 8"})
        self.assertEqual(self.fleet("unlock", "alice"),
                         "alice: stores are wiped that were made before version 7\n")
        self.assertEqual(self.fleet("unlock", "--all", "alice", "bert"),
                         "alice: nothing is ordered\nbert: nothing is ordered\n")
        self.assertEqual(self.read(), "# kept by the help desk\nlock " + "0" * 32 + "\n")

    def test_days_without_news(self):
        """a wipe comes after a lock, and both are taken back together; no key is needed for them"""
        self.fails("BundleBroken", "fleet", "wipe", self.orders, "offline:30")
        self.assertFalse(os.path.exists(self.orders))
        self.ok("fleet", "lock", self.orders, "offline:14")
        self.fails("BundleBroken", "fleet", "wipe", self.orders, "offline:14")
        told = self.ok("fleet", "wipe", self.orders, "offline:30")
        self.assertEqual(told, "a machine locks after so many days without news: 14\n"
                               "a machine wipes after so many days without news: 30\n")
        self.assertEqual(self.read(), "offline lock 14\noffline wipe 30\n")
        self.assertEqual(self.ok("fleet", "unlock", self.orders, "offline"),
                         "no machine locks because it hears nothing\n")
        self.assertEqual(self.read(), "")

    def test_mistakes(self):
        """what would lock nobody, or everybody, or again and again, is refused, and the file stays as it was"""
        self.fleet("lock", "alice")
        before = self.read()
        join = ("--join", self.join)
        for words in [("lock", self.orders, "machine:1234", *join), ("lock", self.orders, f"@{ID}", *join),
                      ("lock", self.orders, "alice"), ("wipe", self.orders, "alice", *join),
                      ("wipe", self.orders, "alice", "--before", "0", *join), ("lock", self.orders, "offline:0"),
                      ("reset", self.orders, "offline:9", "--before", "3"), ("lock", self.orders, "a b", *join),
                      ("lock", self.orders, "list:" + self.write("list", "alice\nmachine:x\n"), *join)]:
            with self.subTest(words):
                self.fails("InvalidArgument", "fleet", *words)
        told = self.fails("DoesNotExist", "fleet", "unlock", self.orders, f"alice@{ID}", "alice", *join)
        self.assertIn(f"alice@{ID}", told["message"])
        self.fails("DoesNotExist", "fleet", "lock", self.orders, "bert", "--join", self.path("no"))
        self.fails("BundleBroken", "fleet", "lock", self.orders, "bert", "--join", self.orders)
        self.assertEqual(self.read(), before)
        self.write("orders", "lock alice\n")
        told = self.fails("BundleBroken", "fleet", "lock", self.orders, "bert", *join)
        self.assertIn("line 1 of the orders", told["message"])
        self.assertEqual(self.read(), "lock alice\n")

    def test_json(self):
        """a program gets the same"""
        told = json.loads(self.fleet("wipe", "alice", "--before", "7", "--json"))
        alice = {"target": "alice", "locked": False, "wipesBefore": 7, "resetsBefore": 0}
        self.assertEqual(told, {
            "action": "fleet wipe", "result": "done", "offlineLock": 0, "offlineWipe": 0, "targets": [alice]})


@unittest.skipIf(MISSING, MISSING)
class Checked(Desk):
    def setUp(self):
        super().setUp()
        self.signers = Signers(self.folder)

    def bundle(self, policy, version=3):
        """Signed by anna, with the orders of the file."""
        keys = f"Threshold=1\n[Keys]\nanna={self.signers.keys['anna']}\n"
        self.join = self.write("example.join", "[Join]\nOrganisation=example.org\nTargetKey="
                               + base64.b64encode(KEY).decode() + "\n" + keys)
        draft = self.write("draft", "[Manifest]\nOrganisation=example.org\nBundle=policy\n"
                           f"Version={version}\nExpires=2099-01-01T00:00:00Z\n{keys}")
        parts = ["orders=" + self.orders, "policy=" + self.write("policy.conf", policy)]
        self.write("manifest", self.ok("fleet", "manifest", draft, *parts))
        signature = self.signers.sign("anna", "manifest")
        with open(self.path("fleet.bundle"), "w") as file:
            file.write(self.run_("fleet", "pack", "manifest", *parts, signature).stdout)
        return "fleet.bundle"

    def test_what_it_orders(self):
        """`fleet check` tells by name what a bundle orders, and looks through its policy"""
        self.fleet("lock", "alice", f"machine:{ID}")
        self.fleet("wipe", "alice", "--before", "3")
        self.ok("fleet", "lock", self.orders, "offline:14")
        told = self.ok("fleet", "check", self.bundle("[Passcode]\nMinLength=9\n"), self.join, "alice", "bert",
                       f"machine:{ID}")
        self.assertEqual(told.splitlines()[1:], [
            "orders: 2 to lock, 1 to wipe, 0 to reset", "alice: locked",
            "alice: stores are wiped that were made before version 3", "bert: nothing is ordered",
            f"machine:{ID}: locked", "a machine locks after so many days without news: 14"])
        told = json.loads(self.ok("fleet", "check", "fleet.bundle", self.join, "alice", "--json"))
        self.assertEqual((told["locks"], told["wipes"], told["resets"], told["offlineLock"]), (2, 1, 0, 14))
        self.assertEqual(told["targets"][0]["wipesBefore"], 3)
        done = self.run_("fleet", "check", self.bundle("[Passcode]\nColour=red\n"), self.join)
        self.assertEqual(done.returncode, 1)
        self.assertIn("policy:2: Colour:", done.stdout)

    def test_before_anybody_signs(self):
        """orders of a later version than the bundle's are refused when the manifest is written"""
        self.fleet("wipe", "alice", "--before", "4")
        draft = self.write("draft", "[Manifest]\nOrganisation=example.org\nBundle=orders\nVersion=3\n"
                           "Expires=2099-01-01T00:00:00Z\n")
        told = self.fails("BundleBroken", "fleet", "manifest", draft, "orders=" + self.orders)
        self.assertIn("version 4", told["message"])


if __name__ == "__main__":
    unittest.main()
