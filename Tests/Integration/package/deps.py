"""What our commands install on the machine that they run on, with an apt that only notes what it was asked for."""

import os
import subprocess
import tempfile
import unittest

from places import ROOT

APT = """#!/bin/sh
echo "$*" >> "$NOTES"
echo 'what apt says'
case $1 in $FAILS) exit 100 ;; esac
"""


class Deps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="appvault-deps-")
        self.addCleanup(folder.cleanup)
        self.folder, self.notes = folder.name, os.path.join(folder.name, "notes")
        self.program("apt-get", APT)
        # A fresh machine, and root's.
        self.program("dpkg-query", "#!/bin/sh\nexit 1\n")
        self.program("id", "#!/bin/sh\necho 0\n")

    def program(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def install(self, *sets, fails="nothing"):
        """Returns what it said, and the packages that apt was asked for."""
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "NOTES": self.notes, "FAILS": fails,
                       "SWIFT": "none"}
        done = subprocess.run(
            [os.path.join(ROOT, "Tools", "deps"), *sets], env=environment, capture_output=True, text=True)
        with open(self.notes) as file:
            update, install = file.read().splitlines()
        self.assertEqual(update.split()[0], "update", "fresh images come without package lists")
        words = install.split()
        self.assertEqual(words[0], "install")
        self.assertIn("--no-install-recommends", words)
        return done, {word for word in words[1:] if not word.startswith("-")}

    def test_says_what_it_installs(self):
        """one line names all that is installed, and nothing of apt's own is shown"""
        done, packages = self.install("demo")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said, named = done.stdout.rstrip("\n").split(": installing with apt: ")
        self.assertEqual((said, set(named.split(" "))), ("appvault", packages))

    def test_demo(self):
        """the demo asks for nothing that changes how people log in, nor for any service"""
        for command in ("demo", "build"):
            made = subprocess.run(["make", "-n", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
            sets = {word for line in made.splitlines() if "Tools/deps" in line
                    for word in line.split("Tools/deps")[1].split()}
            self.assertLessEqual(sets, {"build", "demo"})
        _, packages = self.install("demo")
        self.assertLessEqual(packages, {
            "libpam0g-dev", "libsodium-dev", "libsqlite3-dev", "libsystemd-dev", "libgcrypt20-dev", "libpwquality-dev",
            "libfprint-2-dev", "libgusb-dev", "libxcb1-dev", "libxcb-res0-dev", "libcurl4-openssl-dev",
            "libadwaita-1-dev", "libzbar-dev", "libpng-dev", "libjpeg-dev",
            "pkg-config", "g++", "binutils", "gettext", "python3", "python3-dbus",
            "python3-gi", "dbus-daemon"})

    def test_old_lists(self):
        """where the lists cannot be read anew, those that are there may do"""
        done, packages = self.install("demo", fails="update")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("libsodium-dev", packages)

    def test_fails(self):
        """if apt fails it is shown what apt said"""
        done, _ = self.install("demo", fails="install")
        self.assertEqual(done.returncode, 1)
        self.assertIn("what apt says\n", done.stderr)
        self.assertRegex(done.stderr, "(?m)^appvault: these could not be installed: .*libsodium-dev")


if __name__ == "__main__":
    unittest.main()
