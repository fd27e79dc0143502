"""The window as the packages install it, on each Debian: the suites of Tests/Integration/desktop with the libraries of
that Debian, and the walk of a person who has just installed it, in a real session. Half an hour: make window."""

import os
import re
import time
import unittest

import machine
import packages
from desktop import Desktop
from places import ROOT

NEEDS_ROOT = True
TIMEOUT = 1800
ALICE = machine.PASSWORDS["alice"]
SUITES = sorted(
    name[:-3] for name in os.listdir(os.path.join(ROOT, "Tests", "Integration", "desktop")) if name.endswith(".py"))

machine.IMAGES["window"] = machine.Image(
    "libadwaita-1-0 libgtk-4-1 at-spi2-core python3-gi gir1.2-atspi-2.0 python3-xlib xauth dbus-daemon dbus-bin"
    " xdg-utils libzbar0", parent="desktop")

# The programs where suites look for them.
BUILD = r"""
mkdir -p /build && cd /build
for program in /usr/libexec/appvault/appvault* /usr/bin/appvault /usr/bin/appvault-desktop; do ln -sf $program .; done
ln -sf /usr/lib/*/security/pam_appvault.so .
"""


class Case(unittest.TestCase):
    RELEASE = machine.RELEASE

    @classmethod
    def setUpClass(cls):
        if os.environ.get("APPVAULT_WINDOW") != "1":
            raise unittest.SkipTest("takes half an hour: make window")
        cls.machine = Desktop.__new__(Desktop)
        machine.Machine.__init__(
            cls.machine, "window", release=cls.RELEASE, bind={**packages.BIND, os.path.join(ROOT, "Tests"): "/tests"})
        cls.addClassCleanup(cls.machine.stop)

    def picture(self, name):
        return self.machine.picture(f"window-{self.RELEASE}-{name}")


@packages.on_later_releases
class Suites(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        packages.install(cls.machine, "appvault-desktop")
        cls.machine.check(BUILD)

    def test_suites(self):
        """each screen, the gallery and whole flows, as on the machine that built it"""
        for name in SUITES:
            with self.subTest(name):
                code, said = self.machine.run(
                    f"cd / && APPVAULT_BUILD=/build APPVAULT_TESTS=all PYTHONPATH=/tests/Labs PYTHONDONTWRITEBYTECODE=1"
                    f" python3 -W ignore /tests/Integration/desktop/{name}.py 2>&1", timeout=900)
                self.assertEqual(code, 0, said[-6000:])
                counted = re.search(r"Ran (\d+) tests", said)
                self.assertTrue(counted and int(counted.group(1)) > 0, said[-2000:])
                print(f"        {self.RELEASE}: desktop/{name}: {counted.group(1)} tests", flush=True)


if __name__ == "__main__":
    unittest.main()
