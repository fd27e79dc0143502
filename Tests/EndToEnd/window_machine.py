"""The window as the packages install it, on each Debian: suites of Tests/Integration/desktop with the libraries of
that Debian, and the walk of a person who has just installed it, in a real session. Half an hour: make window."""

import json
import os
import re
import time
import unittest

import machine
import packages
import windowwalk
from desktop import ROOTS, Desktop
from places import ROOT

NEEDS_ROOT = True
TIMEOUT = 1800
ALICE = machine.PASSWORDS["alice"]
# The others need a web server, or the documents.
SUITES = ("dialogs", "flows", "gallery")

machine.IMAGES["window"] = machine.Image(
    "libadwaita-1-0 libgtk-4-1 at-spi2-core python3-dbus python3-gi gir1.2-atspi-2.0 python3-xlib xauth"
    " dbus-daemon dbus-bin xdg-utils libzbar0 dunst libglib2.0-bin", parent="desktop")

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
        """Kept, to be looked at."""
        self.machine.picture(f"window-{self.RELEASE}-{name}")


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


@packages.on_later_releases
class Walk(Case):
    def test_1_from_apt_to_a_first_secret(self):
        """somebody who has AppVault installed while they are logged in keeps their first secret by the window alone,
        with less than a minute of their own doing"""
        desktop = self.machine
        desktop.greeter()
        desktop.type(ALICE)
        desktop.session()
        began = time.monotonic()
        packages.install(desktop, "appvault-desktop")
        installed = time.monotonic() - began
        desktop.check(BUILD)
        desktop.type(
            "APPVAULT_BUILD=/build PYTHONPATH=/tests/Labs PYTHONDONTWRITEBYTECODE=1 python3 /tests/Labs/windowwalk.py"
            " > /tmp/walk 2>/tmp/walk-errors; echo wal''ked")
        desktop.shows("walked", 180)
        said = desktop.run("cat /tmp/walk /tmp/walk-errors")[1]
        steps = json.loads(said.splitlines()[0])
        own, took = sum(step["own"] for step in steps), sum(step["machine"] for step in steps)
        print(
            f"        {self.RELEASE}: apt {installed:.1f} s; {len(steps)} steps, {own:.1f} s of one's own doing, "
            f"{took:.1f} s for the machine and what presses", flush=True)
        self.assertLess(own, 60)
        self.assertIn("unlocked", desktop.check("appvault status --json", user="alice"))
        self.assertEqual(desktop.check("appvault get mail", user="alice").strip(), "rubber duck 42")

    def test_2_dialogs(self):
        """the command line without a terminal, and an application behind its store, ask in the window that is there"""
        desktop = self.machine

        def shown():
            # Not the shell that looks for it.
            return desktop.run("pgrep -f '[a]ppvault-desktop --pinentry'")[0] == 0

        def seen():
            return desktop.run(f"{ROOTS} xdotool search --onlyvisible --name '^AppVault$'")[0] == 0

        def opened():
            return '"unlocked"' in desktop.check("appvault status --json", user="alice")

        for name, command in (
                ("command", "appvault unlock"), ("application", "appvault run --app notes -- xterm -T notes -e cat")):
            with self.subTest(name):
                desktop.check("appvault lock", user="alice")
                desktop.type(f"clear; (setsid {command} </dev/null >/dev/null 2>&1 &)")
                desktop.wait(shown, "a dialog of the window's", 60)
                desktop.wait(seen, "it is seen", 60)
                # It has drawn itself, and has the keyboard.
                desktop.run("sleep 2")
                self.picture(f"dialog-{name}")
                desktop.type(windowwalk.PASSCODE)
                desktop.wait(opened, "it is open", 60)
                desktop.wait(lambda: not shown(), "the dialog's end", 60)

    def test_3_notice(self):
        """whoever presses the notice of a change that is due gets the window at it, as a unit of its own"""
        desktop = self.machine
        alice = (
            "export HOME=$(echo ~alice) XDG_RUNTIME_DIR=/run/user/$(id -u alice) DISPLAY=:0;"
            " export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus; runuser -u alice -- ")
        desktop.check("printf '[Passcode]\nMinLength=40\n' > /etc/appvault/policy.conf")
        desktop.type("clear; (dunst >/dev/null 2>&1 &)")
        desktop.wait(lambda: desktop.run("pgrep -x dunst")[0] == 0, "a server for notices", 60)
        agent = "org.appvault.Agent1 /org/appvault/Agent1 org.appvault.Agent1"
        desktop.check(f"{alice} busctl --user call {agent} Needs")
        desktop.wait(
            lambda: desktop.run(f"{alice} dunstctl count displayed")[1].strip() not in ("", "0"), "a notice", 60)
        self.picture("notice")
        desktop.check(f"{alice} dunstctl action 0")

        def number():
            return desktop.run("pgrep -f '^/usr/bin/[a]ppvault-desktop --unlock default'")[1].strip()

        desktop.wait(number, "the window", 60)
        self.assertIn("/app.slice/app-org.appvault.Desktop-", desktop.check(f"cat /proc/{number()}/cgroup"))
        desktop.wait(
            lambda: desktop.run(f"{ROOTS} xdotool search --onlyvisible --name '^AppVault$'")[0] == 0, "it is seen", 60)
        desktop.run("sleep 2")
        self.picture("notice-window")


if __name__ == "__main__":
    unittest.main()
