"""docs/fleet.md, word by word: what an administrator reads there works, in that order, on a real machine."""

import json
import os
import re
import shutil
import subprocess
import unittest

import clilab
from places import ROOT
from realcli import POLICY, Real
from signerslab import MISSING
from slow import slow

REFUSED = "refused, as it should be"


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(shutil.which("journalctl"), "journalctl is not installed")
class Drill(unittest.TestCase):
    def setUp(self):
        self.lab = Real(POLICY)
        self.addCleanup(self.lab.__exit__)
        self.desk = os.path.join(self.lab.folder, "desk")
        programs = os.path.join(self.lab.folder, "programs")
        for folder in (self.desk, programs, os.path.join(self.desk, "journal")):
            os.mkdir(folder)
        # The tool, which asks this daemon, whose own user counts as its root.
        tool = os.path.join(clilab.BUILD, "appvault")
        self.program(programs, "appvault", f'exec {tool} --socket {self.lab.path} "$@"')
        self.program(programs, "sudo", 'exec "$@"')
        self.environment = {**os.environ, "PATH": programs + ":" + os.environ["PATH"], "LC_ALL": "C"}

    @staticmethod
    def program(folder, name, line):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + line + "\n")
        os.chmod(path, 0o755)

    def sh(self, block):
        return subprocess.run(["sh", "-eu", "-c", block], cwd=self.desk, env=self.environment, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL)

    @slow
    def test_word_by_word(self):
        """each block ends well; what is said to be refused is, and everything else is in force at its end"""
        with open(os.path.join(ROOT, "docs", "fleet.md")) as file:
            blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 10)
        versions = []
        for block in blocks:
            done = self.sh(block)
            with self.subTest(block):
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(done.stdout.count(REFUSED), block.count(REFUSED), done)
                refusals = re.findall("signatures that .* needs?$", done.stderr, re.M)
                self.assertEqual(len(refusals), block.count(REFUSED), done)
            if "fleet import" in block:
                versions.append(json.loads(self.sh("appvault fleet status --json").stdout)["policyVersion"])
        self.assertEqual(versions, [1, 2, 3, 4, 5, 6, 7, 9, 9, 10, 11])
        self.assertIn("laptop of Alice\tmissing\t", done.stdout)
        value = self.sh("appvault policy show --json").stdout
        (found,) = [each for each in json.loads(value)["values"] if each["key"] == "MinLength"]
        self.assertEqual((found["value"], found["file"]), ("10", "example.org, version 11"))


if __name__ == "__main__":
    unittest.main()
