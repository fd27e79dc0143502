"""The tests of debian/tests, which autopkgtest runs in a machine for each; here they run in one
machine, one after the other."""

import os
import unittest

import packages
from machine import ROOT, Machine

NEEDS_ROOT = True
TIMEOUT = 600
TESTS = os.path.join(ROOT, "debian", "tests")


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(bind={**packages.BIND, TESTS: "/tests"})
        cls.addClassCleanup(cls.machine.stop)
        packages.install(cls.machine)

    def test_the_tests_of_the_packages_succeed(self):
        with open(os.path.join(TESTS, "control")) as file:
            names = [line.split()[1] for line in file if line.startswith("Tests:")]
        # The last one removes the packages.
        self.assertEqual(names[-1], "removed")
        for name in names:
            with self.subTest(name):
                code, output = self.machine.run(f"/tests/{name}", timeout=180)
                self.assertEqual(code, 0, output)
                self.assertIn("ok: ", output)
