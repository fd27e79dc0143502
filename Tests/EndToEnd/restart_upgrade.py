"""A restart and an upgrade on a booted machine: open stores stay open, under the units as they are installed, and
nothing is left of them after a stop, a kill or before a hibernation."""

import re
import threading
import time

import installed
import packages

TIMEOUT = 900
# As on a kernel without secret memory.
WITHOUT = "[Service]\nSystemCallFilter=~memfd_secret\n"
DROP_IN = "/run/systemd/system/appvaultd.service.d/without.conf"
NEWER, NEWEST = "9.8", "9.9"
SURVIVES = "Open stores survive a restart (layout 2)."


class Restart(installed.Case):
    @classmethod
    def setUpClass(cls):
        cls.BIND = {**packages.BIND, packages.newer(NEWER): "/newer", packages.newer(NEWEST): "/newest"}
        super().setUpClass()

    def setUp(self):
        self.who = self.with_store(self.person())
        self.shell = self.login(self.who)
        self.shell.ready()
        self.until_state(self.who, "unlocked")
        self.machine.check("appvault set mail -", user=self.who.name, stdin="the otter's")
        if self.shows("StatusText") != SURVIVES:
            self.skipTest("this kernel has no secret memory")

    def tearDown(self):
        self.shell.leave()

    def shows(self, name):
        return self.machine.check(f"systemctl show -P {name} appvaultd.service").strip()

    def reads(self):
        return self.machine.run("appvault get mail", user=self.who.name)

    def assertOpen(self):
        self.assertEqual(self.reads(), (0, "the otter's"), self.journal())
        self.assertEqual(self.state(self.who), "unlocked")
        self.assertEqual(self.shows("NFileDescriptorStore"), "0")

    def assertLocked(self):
        self.assertEqual(self.reads()[0], 4, self.journal())
        self.assertEqual(self.shows("NFileDescriptorStore"), "0")

    def journal(self):
        return self.machine.run("journalctl -b -q -u appvaultd -o cat -n 30")[1]

    def test_restart(self):
        """Restarts while programs read: each reads at the second try at the latest, and the logout still locks"""
        failures, times, ends = [], [], threading.Event()

        def read():
            while not ends.is_set():
                found = [self.reads()]
                if found[0] != (0, "the otter's"):
                    found.append(self.reads())
                if found[-1] != (0, "the otter's"):
                    failures.append(found)
                times.append(time.monotonic())

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            before, count = self.shows("MainPID"), len(times)
            self.machine.check("systemctl restart appvaultd.service")
            self.assertNotEqual(self.shows("MainPID"), before)
            self.until(lambda: len(times) > count + 6)
        ends.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [], self.journal())
        self.assertOpen()
        self.assertEqual(self.status(self.who)["sessions"], 1)
        self.shell.leave()
        self.until_state(self.who, "locked")
        self.shell = self.login(self.who)
        self.shell.ready()
        self.until_state(self.who, "unlocked")

    def test_stop_and_kill(self):
        """A stop and a kill lock, and systemd keeps nothing"""
        self.machine.check("systemctl stop appvaultd.service")
        self.until(lambda: self.shows("NFileDescriptorStore") == "0")
        self.assertLocked()
        self.unlock()
        self.machine.check("systemctl kill --kill-whom=main -s KILL appvaultd.service")
        self.until(lambda: self.reads()[0] == 4)
        self.assertLocked()
        self.unlock()

    def unlock(self):
        self.machine.write("/srv/password", self.who.password + "\n")
        self.machine.check("appvault unlock --passcode-fd 3 3</srv/password", user=self.who.name)
        self.assertOpen()

    def test_session_ends(self):
        """A person who logs out between the two daemons finds the store locked"""
        # The new daemon starts late.
        self.machine.write(
            "/run/systemd/system/appvaultd.service.d/late.conf",
            "[Service]\nExecStartPre=/bin/sh -c 'until test -e /tmp/go -o ! -e /tmp/wait; do sleep 0.1; done'\n")
        self.machine.write("/srv/wait", "")
        self.machine.check(
            "sed -i 's,/tmp/,/srv/,g' /run/systemd/system/appvaultd.service.d/late.conf; systemctl daemon-reload")
        self.machine.check("systemctl restart --no-block appvaultd.service")
        self.until(lambda: self.shows("NFileDescriptorStore") == "1")
        # PAM's word waits for the daemon no longer than its deadline; logind's file goes in any case.
        self.machine.check(f"loginctl terminate-user {self.who.name}")
        self.until(lambda: not self.machine.run(
            f"loginctl list-sessions --no-legend | grep -w {self.who.name}")[1].strip())
        self.machine.write("/srv/go", "")
        self.until_state(self.who, "locked")
        self.machine.check(
            "rm -f /srv/wait /srv/go /run/systemd/system/appvaultd.service.d/late.conf; systemctl daemon-reload")
        self.shell = self.login(self.who)
        self.shell.ready()

    def test_hibernation(self):
        """Before a hibernation the daemon is stopped, and no area is left when that is done"""
        self.machine.check("systemctl start appvault-hibernate.service")
        self.assertEqual(self.shows("NFileDescriptorStore"), "0")
        self.assertEqual(self.shows("ActiveState"), "inactive")
        self.assertLocked()
        self.unlock()

    def test_upgrade(self):
        """An upgrade from the old to a new version and from there to a newer one, the same once more, and the way back:
        each restarts the daemon, and the stores stay open"""
        for words, folder, version in (
            ("", "newer", NEWER),
            ("", "newest", NEWEST),
            ("--reinstall", "newest", NEWEST),
            ("--allow-downgrades", "packages", self.version()),
        ):
            with self.subTest(version, words=words):
                before = self.shows("MainPID")
                files = packages.within(f"/{folder}", packages.DESKTOP)
                said = self.machine.check(f"{packages.APT} install {words} {files} 2>&1", timeout=300)
                self.assertIn("appvault: appvaultd was restarted; open stores stay open", said)
                self.assertEqual(self.version(), version)
                self.assertNotEqual(self.shows("MainPID"), before)
                self.assertNotIn("(deleted)", self.machine.check(f"readlink /proc/{self.shows('MainPID')}/exe"))
                self.assertOpen()
        self.assertEqual(self.status(self.who)["sessions"], 1)

    def version(self):
        return self.machine.check("dpkg -s appvault | sed -n 's/^Version: //p'").strip()

    def test_upgrade_without(self):
        """On a kernel without secret memory an upgrade restarts nothing and says so; a restart locks and says so"""
        self.machine.write(DROP_IN, WITHOUT)
        self.machine.check("systemctl daemon-reload && systemctl restart appvaultd.service")
        # It was left by the daemon that has secret memory, and taken by one that makes none.
        self.assertOpen()
        self.assertRegex(self.shows("StatusText"), "^A restart locks open stores: ")
        before = self.shows("MainPID")
        said = self.machine.check(
            f"{packages.APT} install --reinstall {packages.within('/packages')} 2>&1", timeout=300)
        self.assertIn("appvault: the former appvaultd goes on while a store is open", said)
        self.assertEqual(self.shows("MainPID"), before)
        self.assertOpen()
        self.machine.check("systemctl restart appvaultd.service")
        self.assertLocked()
        self.assertEqual(
            len(re.findall("^all is locked: the kernel has no memory to leave keys in$", self.journal(), re.M)), 1)
        self.machine.check(f"rm {DROP_IN}; systemctl daemon-reload; systemctl restart appvaultd.service")
        self.unlock()


if __name__ == "__main__":
    installed.unittest.main()
