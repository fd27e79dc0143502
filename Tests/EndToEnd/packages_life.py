"""The packages are installed, upgraded, half upgraded, removed, installed again and purged while
people log in."""

import unittest

import packages
from machine import PASSWORDS, RELEASE, Machine

NEEDS_ROOT = True
TIMEOUT = 600
NEWER = "9.9"
# As on a kernel without secret memory.
WITHOUT = "[Service]\nSystemCallFilter=~memfd_secret\n"
LINGER = "[Service]\nExecStart=\nExecStart=/usr/libexec/appvault/appvaultd --deadline idle=1\n"


# What PAM goes by, the files with our name, and what systemd, debconf and dpkg know of us.
PAM = "sha256sum /etc/pam.d/* /var/lib/pam/*"
FILES = "find / /run /tmp /dev -xdev -name '*appvault*' -not -path '/var/log/*' -not -path '/proc/*'"
KNOWN = """systemctl list-units --all --no-legend --plain 'appvault*'
systemctl list-unit-files --no-legend 'appvault*'
debconf-show appvault
dpkg-query -W '*appvault*' 2>/dev/null || true"""


@packages.on_later_releases
class Life(unittest.TestCase):
    RELEASE = RELEASE

    @classmethod
    def setUpClass(cls):
        packages.file("appvault")
        cls.machine = Machine(bind={**packages.BIND, packages.newer(NEWER): "/newer"}, release=cls.RELEASE)
        cls.addClassCleanup(cls.machine.stop)

    def state(self, name="alice"):
        return self.machine.check("appvault status", user=name).split("\n")[1].split(None, 1)[1]

    def daemon(self):
        return self.machine.check("systemctl show -P MainPID appvaultd").strip()

    def login(self, name="alice"):
        """A login shell on a terminal."""
        terminal = self.machine.getty(f"exec login {name}")
        self.addCleanup(terminal.close)
        terminal.expect("Password: ")
        terminal.send(PASSWORDS[name])
        terminal.expect(r"\$ ")
        return terminal

    def reads(self, terminal, command="appvault get mail"):
        terminal.send(command)
        terminal.expect(r"the otter's\s")
        terminal.expect(r"\$ ")

    def logout(self, terminal):
        terminal.send("exit")
        terminal.wait()

    def apt(self, words, timeout=120):
        return self.machine.check(packages.APT + words + " 2>&1", timeout=timeout)

    def test_a_life(self):
        machine = self.machine
        stacks = machine.check(PAM)
        packages.install(machine)
        # systemd has nothing to say of the units but that this image has no manual pages.
        units = machine.check("ls /usr/lib/systemd/system/appvault*").split()
        said = machine.run(f"systemd-analyze verify {' '.join(units)}")[1]
        self.assertEqual([line for line in said.splitlines() if "Command 'man " not in line], [])
        machine.write("/etc/systemd/system/appvaultd.service.d/test.conf", LINGER)
        machine.check("systemctl daemon-reload")
        shell = self.login()
        self.assertEqual(self.state(), "open")
        machine.check("appvault set mail -", user="alice", stdin="the otter's")
        # The first unlock at a terminal asks once.
        shell.send("appvault unlock")
        shell.expect("recovery key")
        shell.send("2")
        shell.expect(r"\$ ")

        # An upgrade while the store is open: the new daemon takes it over.
        before = self.daemon()
        self.assertNotEqual(before, "0")
        survives = machine.check("systemctl show -P StatusText appvaultd").startswith("Open stores survive")
        output = self.apt("install --reinstall " + packages.within("/packages"))
        self.assertEqual(self.state(), "open")
        if survives:
            self.assertIn("appvaultd was restarted; open stores stay open", output)
            self.assertNotEqual(self.daemon(), before)
        # Without secret memory the old daemon goes on, and the old and the new programs understand each other.
        machine.write("/etc/systemd/system/appvaultd.service.d/without.conf", WITHOUT)
        machine.check("systemctl daemon-reload && systemctl restart appvaultd.service")
        self.assertEqual(self.state(), "open" if survives else "locked")
        if not survives:
            self.logout(shell)
            shell = self.login()
        before = self.daemon()
        output = self.apt("install " + packages.within("/newer"))
        self.assertIn(f"Version: {NEWER}", machine.check("dpkg -s libpam-appvault"), output)
        self.assertIn("the former appvaultd goes on", output)
        self.assertEqual((self.daemon(), self.state()), (before, "open"))
        self.assertIn("(deleted)", machine.check(f"readlink /proc/{before}/exe"))
        self.reads(shell)
        bob = self.login("bob")
        self.assertEqual(self.state("bob"), "open")
        self.logout(bob)
        self.logout(shell)
        # When no store is open the old daemon ends, and the next login gets the new one.
        machine.check(f"timeout 20 tail --pid={before} -f /dev/null")
        shell = self.login()
        self.assertNotIn("(deleted)", machine.check(f"readlink /proc/{self.daemon()}/exe"))
        self.reads(shell)

        # Half an upgrade: unpacked, not configured; then the module alone, without its daemon.
        machine.check(f"dpkg --force-downgrade --unpack {packages.within('/packages')} 2>&1")
        self.reads(shell)
        self.logout(self.login("bob"))
        machine.check("dpkg --configure -a 2>&1")
        self.reads(shell)
        machine.check("dpkg --force-depends --remove appvault 2>&1")
        self.logout(self.login("bob"))
        machine.check("dpkg --force-depends --unpack /newer/appvault_*.deb 2>&1")
        self.logout(self.login("bob"))
        self.apt("--fix-broken install " + packages.within("/newer"))
        self.logout(shell)
        shell = self.login()
        self.reads(shell)
        self.logout(shell)

        # Removed and installed again: the stores are still there.
        for word in ("remove", "purge"):
            with self.subTest(word):
                self.goes(word)
                self.assertEqual(machine.run("grep -r pam_appvault /etc/pam.d"), (1, ""))
                if word == "purge":
                    # The folder of the stores stays, its user's as before, and what the administrator wrote.
                    self.assertEqual(
                        machine.check(FILES).split(),
                        ["/etc/systemd/system/appvaultd.service.d", "/var/lib/appvault"])
                    self.assertEqual(
                        machine.check("stat -c '%U %G %a' /var/lib/appvault"), "_appvault _appvault 700\n")
                self.logout(self.login())
                packages.install(machine)
                shell = self.login()
                self.reads(shell)
                self.logout(shell)

        # The stores are erased if the administrator wants it, and nothing of the packages is left.
        machine.check("rm -r /etc/systemd/system/appvaultd.service.d")
        machine.check("echo appvault appvault/erase-stores boolean true | debconf-set-selections")
        self.goes("purge")
        self.assertEqual(machine.check(FILES), "")
        self.assertEqual(machine.check(KNOWN), "")
        self.assertEqual(machine.check(PAM), stacks)
        # Only the accounts stay, locked: a program that is installed next would get their numbers, and what a backup
        # brings back.
        for account in packages.ACCOUNTS:
            self.assertRegex(machine.check(f"getent shadow {account}"), r"^\S+:!\*:")
            self.assertRegex(machine.check(f"getent passwd {account}"), r":/usr/sbin/nologin$")
            self.assertEqual(
                machine.check(f"find / /run /tmp /dev -xdev '(' -user {account} -o -group {account} ')'"), "")
        self.logout(self.login())

    def goes(self, word):
        """Removes or purges them; dpkg finds no folder that it cannot tell from another."""
        said = self.apt(f"{word} appvault libpam-appvault appvault-fingerprint")
        self.assertNotRegex(said, "warning: .*systemd")
