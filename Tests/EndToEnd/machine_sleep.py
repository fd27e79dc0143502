"""A booted machine goes to sleep: its own logind, polkit and systemd, our units as they are installed; only the
kernel's part is played, because it would be this machine's."""

import json
import os
import subprocess
import tempfile
import time
import unittest

import machine

TIMEOUT = 600
PASSCODE = "correct horse battery"
# Plays the kernel's part, and notes what is open during the sleep.
SLEEP = """[Service]
ExecStart=
ExecStart=/bin/sh -c 'systemctl is-active appvaultd.service > /run/asleep; \
test $(cat /run/asleep) = inactive || runuser -u alice -- appvault status --json >> /run/asleep'
"""
POWER = """[Service]
TemporaryFileSystem=/sys
ProtectControlGroups=no
BindPaths=/sys/fs /sys/class /sys/devices /sys/dev /sys/bus /run/power:/sys/power
"""


class Sleep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = machine.why_not()
        if reason is not None:
            raise machine.Unavailable(reason)
        stage = tempfile.TemporaryDirectory(prefix="appvault-e2e-stage-")
        cls.addClassCleanup(stage.cleanup)
        os.chmod(stage.name, 0o755)
        subprocess.run(
            ["make", "-s", "install", f"DESTDIR={stage.name}"], cwd=machine.ROOT, check=True, stdout=subprocess.PIPE)
        cls.machine = machine.Machine(bind={stage.name: "/stage"})
        cls.addClassCleanup(cls.machine.stop)
        check = cls.machine.check
        check("cp -a --no-preserve=ownership /stage/. / && systemd-sysusers && systemctl daemon-reload")
        check("systemctl start appvaultd.socket")
        for name in ("suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate"):
            cls.machine.write(f"/run/systemd/system/systemd-{name}.service.d/played.conf", SLEEP)
        # Shows logind a kernel that can suspend and has no room to hibernate.
        cls.machine.write("/run/power/state", "mem\n")
        cls.machine.write("/run/systemd/system/systemd-logind.service.d/power.conf", POWER)
        check("systemctl daemon-reload && systemctl restart systemd-logind.service")
        cls.ask("create", "--own-passcode", questions=("New passcode: ", "New passcode again: "))

    @classmethod
    def ask(cls, *words, questions):
        with cls.machine.terminal("appvault " + " ".join(words), user="alice") as terminal:
            for question in questions:
                terminal.expect(question)
                terminal.send(PASSCODE)
            if terminal.wait() != 0:
                raise AssertionError(terminal.text)

    def is_open(self):
        return json.loads(self.machine.check("appvault status --json", user="alice"))["state"] == "unlocked"

    def delays(self):
        found = self.machine.check("systemd-inhibit --list --no-legend").splitlines()
        return [line for line in found if "AppVault" in line and " sleep " in line and "delay" in line]

    def opened(self):
        if not self.is_open():
            self.ask("unlock", questions=("passcode: ",))
        self.assertTrue(self.is_open())

    def sleeps(self, command):
        self.machine.check(f"rm -f /run/asleep; {command}")
        deadline = time.monotonic() + 20
        while self.machine.run("test -s /run/asleep")[0] != 0:
            self.assertLess(time.monotonic(), deadline, self.machine.run("journalctl -b -n 40")[1])
            time.sleep(0.1)
        self.machine.check(
            "until systemctl is-active --quiet sleep.target; [ $? -ne 0 ]; do sleep 0.1; done", timeout=20)
        return self.machine.read("/run/asleep")

    def test_suspend(self):
        """The unprivileged daemon may delay sleep, and when logind's own sleep comes the store is locked"""
        self.opened()
        (line,) = self.delays()
        self.assertIn("_appvault", line)
        asleep = self.sleeps("systemctl suspend")
        self.assertTrue(asleep.startswith("active\n"), asleep)
        self.assertEqual(json.loads(asleep.removeprefix("active\n"))["state"], "locked")
        self.assertEqual(self.delays(), [])
        self.opened()
        self.assertEqual(len(self.delays()), 1)

    def test_hibernation(self):
        """Before each kind of sleep that may write memory to a disk the daemon has ended, and afterwards it runs
        again"""
        for name in ("hibernate", "hybrid-sleep", "suspend-then-hibernate"):
            with self.subTest(name):
                self.opened()
                self.assertEqual(self.sleeps(f"systemctl start {name}.target"), "inactive\n")
                self.assertFalse(self.is_open())


if __name__ == "__main__":
    unittest.main()
