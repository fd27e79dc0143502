"""What machines report, from a real journal: systemd-journal-remote keeps it, `fleet report` reads it."""

import base64
import hashlib
import json
import os
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

import clilab

REMOTE = "/usr/lib/systemd/systemd-journal-remote"
KEY = bytes(32)
ID = "{:032x}".format
MESSAGE = "6b1fae4e0c7c4f6f9d1f0d6c55b1a7f3"
REPORTED = {"machine", "state", "at", "policyVersion", "ordersVersion", "signed", "stores", "due", "retryLocked",
            "locked", "wiped", "offlineDays", "consentsDue", "release", "problem"}


def machine(number):
    return hashlib.blake2b(b"machine\0" + ID(number).encode(), digest_size=16, key=KEY,
                           person=b"AV fleet target\0").hexdigest()


def entry(number, at=None, **fields):
    """As machines send it. A field whose value is bytes may hold anything."""
    at = time.time() - 60 if at is None else at
    # Two reports of one instant are one to the journal.
    lines = {"__REALTIME_TIMESTAMP": int(at * 1e6) + number % 1000, "__MONOTONIC_TIMESTAMP": number + 1,
             "_BOOT_ID": ID(number + 1), "MESSAGE_ID": MESSAGE, "MESSAGE": "x",
             "APPVAULT_ORGANISATION": "example.org", "APPVAULT_MACHINE": machine(number),
             "APPVAULT_POLICY_VERSION": 3, "APPVAULT_ORDERS_VERSION": 3, "APPVAULT_SIGNED": 1795600000,
             "APPVAULT_STORES": 2, "APPVAULT_DUE": 0, "APPVAULT_RETRY_LOCKED": 0, "APPVAULT_LOCKED": 0,
             "APPVAULT_WIPED": 0, "APPVAULT_OFFLINE_DAYS": 0, "APPVAULT_CONSENTS_DUE": 0,
             "APPVAULT_PROBLEM": "", "APPVAULT_RELEASE": "1.0"}
    for name, value in fields.items():
        lines["APPVAULT_" + name.upper()] = value
    text = b""
    for name, value in lines.items():
        if isinstance(value, bytes):
            text += name.encode() + b"\n" + len(value).to_bytes(8, "little") + value + b"\n"
        elif value is not None:
            text += f"{name}={value}\n".encode()
    return text + b"\n"


@unittest.skipUnless(os.access(REMOTE, os.X_OK), "systemd-journal-remote is not installed")
class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-report-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.path("journal"))
        self.join = self.write("join", "[Join]\nOrganisation=example.org\nTargetKey="
                               + base64.b64encode(KEY).decode() + "\nThreshold=1\n[Keys]\n"
                               "a=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkeHu+lxjDbcOrGvne3hZH871UiqMc+3wV7a2slvB7o\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def keep(self, *entries):
        subprocess.run([REMOTE, "-o", self.path("journal/remote.journal"), "-"], input=b"".join(entries), check=True,
                       capture_output=True, timeout=120)

    def command(self, *words):
        return [os.path.join(clilab.BUILD, "appvault"), "--socket", self.path("none"), "fleet", "report",
                self.path("journal"), *words]

    def out(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        return done.stdout

    def told(self, *words):
        told = json.loads(self.out("--json", *words))
        return {each["machine"]: each for each in told["machines"]}, told

    def named(self, count):
        lines = [f"machine:{ID(number)} laptop {number}\n" for number in range(count)]
        return "list:" + self.write("machines", "# ours\n" + "".join(lines)), "--join", self.join

    def published(self, version):
        """What a bundle with that version is, by its head alone."""
        manifest = (f"[Manifest]\nOrganisation=example.org\nBundle=policy\nVersion={version}\n"
                    "Signed=2026-01-01T00:00:00Z\nExpires=2099-01-01T00:00:00Z\nThreshold=1\n[Keys]\n"
                    "a=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkeHu+lxjDbcOrGvne3hZH871UiqMc+3wV7a2slvB7o\n[Parts]\n")
        text = f"appvault bundle 1\nmanifest 0 {len(manifest)}\n\n{manifest}\n# whole\n"
        return "--bundle", self.write(f"{version}.bundle", text)

    def test_who_is_how(self):
        """the last report of each machine; who is behind, absent, missing, ahead of time or in trouble"""
        day = 86_400
        now = time.time()
        self.keep(entry(0, now - day, policy_version=2), entry(0, due=1), entry(1, policy_version=2),
                  entry(2, now - 9 * day), entry(3, now + 30 * day), entry(4, problem="the disk is full"),
                  entry(5, policy_version="many"))
        found, told = self.told(*self.named(7), *self.published(3))
        self.assertEqual({name: each["state"] for name, each in found.items()}, {
            "laptop 0": "ok", "laptop 1": "behind", "laptop 2": "absent", "laptop 3": "ahead", "laptop 4": "problem",
            "laptop 5": "behind nonsense", "laptop 6": "missing"})
        self.assertEqual((found["laptop 0"]["policyVersion"], found["laptop 0"]["due"]), (3, 1))
        self.assertEqual((found["laptop 6"]["at"], found["laptop 6"]["stores"]), (0, None))
        self.assertEqual(found["laptop 4"]["problem"], "the disk is full")
        self.assertEqual((told["strays"], told["tooMany"]), (0, 0))
        self.assertEqual(set(found["laptop 0"]), REPORTED)
        self.assertEqual(self.told("--days", "10", *self.named(3))[0]["laptop 2"]["state"], "ok")

    def test_without_names(self):
        """without the key, machines are called as orders call them; lines for a program have as many fields each"""
        self.keep(entry(0), entry(1, problem="a\tb"))
        lines = self.out().decode().splitlines()
        self.assertEqual({line.split("\t")[0] for line in lines}, {machine(0), machine(1)})
        self.assertEqual([len(line.split("\t")) for line in lines], [15, 15])
        self.assertEqual(lines[0].split("\t")[1], "problem")

    def test_lies(self):
        """whatever a machine sends changes nothing of another one's row, and nothing of the terminal"""
        self.keep(entry(0), entry(1, machine="../../x"), entry(2, machine=None), entry(3, organisation="other.org"),
                  entry(4, policy_version=2**64, signed="-1"), entry(5, policy_version=2**64 - 1),
                  entry(6, problem=b"\x1b[2J\nlaptop 0\tok\x00\xff"), entry(7, release="x" * 100_000),
                  entry(0, time.time() + 9e9, policy_version=1, problem="from the future"), entry(0, time.time() - 30))
        found, told = self.told(*self.named(8), *self.published(3))
        self.assertEqual((found["laptop 0"]["state"], found["laptop 0"]["policyVersion"]), ("ok", 3))
        self.assertEqual(told["strays"], 3)
        self.assertEqual({name for name, each in found.items() if "missing" in each["state"]},
                         {"laptop 1", "laptop 2", "laptop 3"})
        self.assertEqual(found["laptop 4"]["state"], "behind nonsense")
        self.assertEqual(found["laptop 5"]["state"], "ok")
        self.assertLessEqual(len(found["laptop 7"]["release"]), 256)
        lines = self.out(*self.named(8))
        self.assertEqual(len(lines.splitlines()), 8)
        self.assertNotIn(b"\x1b", lines)

    def test_on_a_terminal(self):
        """a table, with those first that somebody has to look after, and how many there are of each"""
        self.keep(entry(0), entry(1, policy_version=2), entry(2, problem=b"\x1b[2Jgone"))
        ours, theirs = pty.openpty()
        done = subprocess.Popen(self.command(*self.named(4), *self.published(3)), stdout=theirs, stderr=theirs,
                                stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        self.assertEqual(done.wait(60), 0, shown)
        os.close(ours)
        lines = shown.decode().splitlines()
        self.assertTrue(lines[0].startswith("machine"), lines)
        self.assertEqual([line.split("  ")[0] for line in lines[1:5]], ["laptop 1", "laptop 2", "laptop 3", "laptop 0"])
        self.assertEqual(lines[5], "machines: 4; behind: 1; absent: 0; missing: 1; well: 1")
        self.assertNotIn("\x1b[2J", shown.decode())

    def test_what_is_no_journal(self):
        """an empty folder has no machines, and what is no folder is said to be none"""
        self.assertEqual(self.told()[0], {})
        shutil.rmtree(self.path("journal"))
        done = subprocess.run(self.command("--json"), capture_output=True, timeout=60)
        self.assertEqual(json.loads(done.stdout)["name"], "DoesNotExist")
        os.mkdir(self.path("journal"))


if __name__ == "__main__":
    unittest.main()
