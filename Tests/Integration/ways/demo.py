"""The demo is the first thing that a person sees: it must run as it is, notice what is not as it
should be, leave nothing behind, and need no root."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import daemonlab
import pamlab
import wayslab
from slow import slow

DEMO = os.path.join(pamlab.ROOT, "Tools", "demo")
PROGRAMS = ("appvaultd", "appvault", "appvault-fingerprint", "appvault-agent", "appvault-windows")


class Demo(unittest.TestCase):
    def setUp(self):
        # A socket's path has at most 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="avd.", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, True)
        os.chmod(self.folder, 0o777)

    def environment(self, **more):
        base = {key: value for key, value in os.environ.items() if key not in ("INTERACTIVE", "NO_COLOR")}
        base.update(TMPDIR=self.folder, APPVAULT_BUILD=os.path.dirname(daemonlab.build("appvaultd")), **more)
        return base

    def play(self, command=(sys.executable, DEMO), env=None, **options):
        return subprocess.run(
            command, env=env or self.environment(), capture_output=True, text=True, timeout=120, cwd="/",
            stdin=subprocess.DEVNULL, **options)

    def assertPlayed(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\033", done.stdout)
        self.assertRegex(done.stdout, r"All \d+ steps as they should be")
        for heading in ("wrong passcode", "right one", "read it back", "second store", "Lock", "Forget",
                        "Lock the screen", "finger", "Lock an application", "hangs", "dead"):
            self.assertRegex(done.stdout, rf"(?m)^ *\d+  .*{heading}")
        # Not every kernel lets an ordinary user play a logind.
        self.assertRegex(done.stdout, "the screen is locked, and so is the store|no name space of their own")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 96)
        self.assertEqual([line for line in self.quoted() if line not in self.still(done.stdout)], [])
        self.assertEqual(os.listdir(self.folder), [])

    def still(self, text):
        """Its lines, without what is another in each run: numbers and times."""
        return [re.sub(r"\d+", "N", re.sub(r" +[\d.]+ m?s$", "", line)) for line in text.splitlines()]

    def quoted(self):
        """What README.md shows of the demo."""
        with open(os.path.join(pamlab.ROOT, "README.md"), encoding="utf-8") as file:
            shown = re.search(r"A part of what it prints:\n\n```\n(.*?)```", file.read(), re.S)
        return self.still(shown.group(1))

    def test_plays(self):
        """runs to its end, in plain text without a terminal, and leaves nothing behind"""
        self.assertPlayed(self.play())

    @slow
    def test_ordinary_user(self):
        """needs no root"""
        if not daemonlab.IS_ROOT:
            self.skipTest("the other test is this one")
        name, uid = wayslab.account()
        # In a place that an ordinary user may read: root's clone may be in a folder that only root
        # may read.
        tree = os.path.join(self.folder, "tree")
        os.makedirs(os.path.join(tree, "Tools"))
        build = os.path.join(tree, "build")
        os.mkdir(build)
        for part in ("demo", "demo_stage.py", "demo_logind.py"):
            shutil.copy(os.path.join(pamlab.ROOT, "Tools", part), os.path.join(tree, "Tools", part))
        for part in PROGRAMS:
            shutil.copy(daemonlab.build(part), os.path.join(build, part))
        shutil.copy(pamlab.module_path(), os.path.join(build, "pam_appvault.so"))
        temporary = os.path.join(self.folder, "tmp")
        os.mkdir(temporary)
        os.chmod(temporary, 0o777)
        env = {**self.environment(), "TMPDIR": temporary, "APPVAULT_BUILD": build, "HOME": "/nonexistent"}
        done = self.play(("/usr/bin/python3", os.path.join(tree, "Tools", "demo")), env, user=uid, group=uid,
                         extra_groups=[])
        self.assertEqual(os.listdir(temporary), [])
        shutil.rmtree(temporary)
        shutil.rmtree(tree)
        self.assertPlayed(done)
        self.assertIn(f"A store for {name}", done.stdout)
        self.assertIn("the finger has opened the store", done.stdout)

    def sabotaged(self, **parts):
        """A build folder in which some programs are replaced."""
        build = os.path.join(self.folder, "build")
        os.mkdir(build)
        self.addCleanup(shutil.rmtree, build, True)
        whole = {**{name: daemonlab.build(name) for name in PROGRAMS},
                 "pam_appvault": pamlab.module_path(), **parts}
        for name, path in whole.items():
            os.symlink(path, os.path.join(build, name + (".so" if name.startswith("pam") else "")))
        done = self.play(env={**self.environment(), "APPVAULT_BUILD": build})
        shutil.rmtree(build)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^    NO  ")
        self.assertRegex(done.stdout, r"\d+ of \d+ steps were not as they should be")
        self.assertEqual(os.listdir(self.folder), [])

    @slow
    def test_module_that_lets_everybody_in(self):
        """notices a module that lets everybody in"""
        found = subprocess.run(
            ["find", "/lib", "/usr/lib", "-name", "pam_permit.so"], capture_output=True, text=True, check=False)
        self.sabotaged(pam_appvault=found.stdout.splitlines()[0])

    def test_no_daemon(self):
        """notices a daemon that does not start"""
        self.sabotaged(appvaultd="/bin/false")

    def test_no_tool(self):
        """notices a tool that does nothing"""
        self.sabotaged(appvault="/bin/true")

    @slow
    def test_interrupted(self):
        """cleans up after itself when it is ended halfway"""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                demo = subprocess.Popen(
                    [sys.executable, "-u", DEMO], env=self.environment(), stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, cwd="/")
                for line in demo.stdout:
                    if re.match(r" *4  ", line):
                        break
                demo.send_signal(number)
                demo.stdout.read()
                self.assertNotEqual(demo.wait(30), 0)
                self.assertEqual(os.listdir(self.folder), [])
                end = time.monotonic() + 60
                while self.daemons() and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertEqual(self.daemons(), [], "no daemon is left")

    def daemons(self):
        """Processes whose working folder was this test's."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd").startswith(self.folder):
                    found.append(pid)
            except OSError:
                pass
        return found

    def test_nobody_to_type(self):
        """INTERACTIVE=1 without a terminal is refused at once"""
        done = self.play(env=self.environment(INTERACTIVE="1"), start_new_session=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("hint: make demo", done.stderr)


if __name__ == "__main__":
    unittest.main()
