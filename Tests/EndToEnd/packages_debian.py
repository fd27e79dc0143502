"""What is in the packages, and the tests of debian/tests, which autopkgtest runs in a machine for each; here they run
in one machine, one after the other."""

import os
import subprocess
import unittest

import packages
from machine import RELEASE, ROOT, Machine

NEEDS_ROOT = True
TIMEOUT = 600
TESTS = os.path.join(ROOT, "debian", "tests")
# Those that a later Debian could change the outcome of; `make e2e DEBIAN=trixie` runs all of them there.
ELSEWHERE = ("logins", "removed")
# Folders that are links into /usr: dpkg takes the same file under both names for two.
ALIASES = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")


class Contents(unittest.TestCase):
    def test_nothing_lies_in_a_folder_that_is_another_name_of_one_in_usr(self):
        for name in (*packages.NAMES, packages.DESKTOP):
            archive = subprocess.run(
                ["dpkg-deb", "--fsys-tarfile", packages.file(name)], stdout=subprocess.PIPE, check=True)
            listed = subprocess.run(["tar", "-t"], input=archive.stdout, stdout=subprocess.PIPE, check=True)
            paths = [path.removeprefix("./") for path in listed.stdout.decode().splitlines()]
            self.assertIn("usr/", paths)
            self.assertEqual([path for path in paths if path.split("/")[0] in ALIASES], [], name)


@packages.on_later_releases
class Debian(unittest.TestCase):
    RELEASE = RELEASE

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(bind={**packages.BIND, TESTS: "/tests"}, release=cls.RELEASE)
        cls.addClassCleanup(cls.machine.stop)
        packages.install(cls.machine)

    def test_the_tests_of_the_packages_succeed(self):
        with open(os.path.join(TESTS, "control")) as file:
            names = [line.split()[1] for line in file if line.startswith("Tests:")]
        # The last one removes the packages.
        self.assertEqual(names[-1], "removed")
        for name in names if self.RELEASE == RELEASE else ELSEWHERE:
            with self.subTest(name):
                code, output = self.machine.run(f"/tests/{name}", timeout=180)
                self.assertEqual(code, 0, output)
                self.assertIn("ok: ", output)
