"""What a purge erases of itself, and what it does not: the package's own script, on a folder of the test's."""

import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Purge(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="appvault-purge-")
        self.addCleanup(made.cleanup)
        self.state = os.path.join(made.name, "state")
        self.runtime = os.path.join(made.name, "runtime")
        self.programs = os.path.join(made.name, "programs")
        os.makedirs(os.path.join(self.state, "stores"))
        os.mkdir(self.programs)
        os.mkdir(self.runtime)
        with open(os.path.join(self.runtime, "key"), "wb") as file:
            file.write(bytes(56))
        with open(os.path.join(self.state, "machine.key"), "wb") as file:
            file.write(bytes(64))
        with open(os.path.join(ROOT, "debian", "appvault.postrm"), encoding="utf-8") as file:
            script = file.read()
        # Nobody can be asked here: the default holds.
        self.script = script
        for path, instead in (
            ("/var/lib/appvault", self.state), ("/usr/share/debconf", "/nonexistent"), ("/run/appvaultd", self.runtime)):
            self.assertIn(path, self.script)
            self.script = self.script.replace(path, instead)

    def purge(self, how="purge"):
        path = self.programs + ":/usr/bin:/bin"
        return subprocess.run(
            ["sh", "-c", self.script, "postrm", how], env={"PATH": path}, capture_output=True, text=True, check=True)

    def store(self):
        folder = os.path.join(self.state, "stores", "00")
        os.mkdir(folder)
        path = os.path.join(folder, "slots")
        with open(path, "wb") as file:
            file.write(bytes(64))
        return path

    def test_failed_tokens(self):
        """what was remembered of failed tokens goes with the programs, without following a link, and not at an upgrade"""
        kept = os.path.join(self.programs, "kept")
        with open(kept, "wb"):
            pass
        os.symlink(self.programs, os.path.join(self.runtime, "link"))
        self.purge("upgrade")
        self.assertTrue(os.path.exists(os.path.join(self.runtime, "key")))
        self.purge("remove")
        self.assertFalse(os.path.exists(self.runtime))
        self.assertTrue(os.path.exists(kept) and os.path.exists(self.state))
        os.symlink(self.programs, self.runtime)
        self.purge("remove")
        self.assertTrue(os.path.exists(kept))

    def test_none(self):
        """where nobody has a store nothing is left, and nothing is asked"""
        self.purge()
        self.assertFalse(os.path.exists(self.state))

    def test_one(self):
        """where somebody has one and nobody can be asked it stays"""
        path = self.store()
        self.purge()
        self.assertTrue(os.path.exists(path))

    def test_cannot_be_listed(self):
        """a folder that cannot be listed is not taken for an empty one"""
        path = self.store()
        with open(os.path.join(self.programs, "ls"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho ls: input/output error >&2\nexit 2\n")
        os.chmod(os.path.join(self.programs, "ls"), 0o755)
        self.purge()
        self.assertTrue(os.path.exists(path))
