"""The machine that the other suites here use: it works as a machine, and nothing of it stays
behind."""

import os
import select
import subprocess
import sys
import time
import unittest

import machine

TIMEOUT = 900


class Boot(unittest.TestCase):
    def test_packages_are_for_the_debian_that_they_are_built_on_and_for_later_ones(self):
        self.assertEqual(machine.installs_on("bookworm"), ("bookworm", "trixie"))
        self.assertEqual(machine.installs_on("trixie"), ("trixie",))
        self.assertEqual(machine.installs_on("noble"), machine.RELEASES)

    def test_a_machine_boots_keeps_what_was_written_and_leaves_nothing_behind(self):
        with machine.Machine() as booted:
            self.assertEqual(booted.run("systemctl is-system-running --wait"), (0, "running\n"))
            self.assertEqual(booted.run("id -un; cat; exit 3", user="alice", stdin="hello"), (3, "alice\nhello"))
            # It reaches no other machine.
            self.assertEqual(booted.check("ip -o link").count("\n"), 1)

            console = booted.console
            console.send("alice")
            console.expect("Password: ")
            console.send(machine.PASSWORDS["alice"])
            console.expect(r"\$ ")
            console.send("loginctl --no-legend; echo kept > /var/tmp/kept; sync; exit")
            console.expect(r"alice +seat0 .*pts/0")
            with booted.terminal("tty; sudo id -un; echo end; read end; exit 4", user="bob") as terminal:
                terminal.expect("/dev/pts/")
                terminal.expect("password for bob: ")
                terminal.send(machine.PASSWORDS["bob"])
                terminal.expect("root\nend\n")
                terminal.send()
                self.assertEqual(terminal.wait(), 4)

            boots = [booted.read("/proc/sys/kernel/random/boot_id")]
            for again in (booted.reboot, lambda: (booted.cut(), booted.boot())):
                again()
                boots.append(booted.read("/proc/sys/kernel/random/boot_id"))
                self.assertEqual(booted.read("/var/tmp/kept"), "kept\n")
            self.assertEqual(len(set(boots)), 3)
            leader, mounted = booted.leader, booted.mounted
        self.assertFalse(os.path.exists(f"/proc/{leader}"))
        self.assertFalse(os.path.exists(mounted))
        self.assertNotIn(mounted, open("/proc/self/mounts").read())

    def test_a_machine_whose_test_was_killed_is_gone(self):
        if machine.why_not() is not None:
            raise machine.Unavailable(machine.why_not())
        script = "import machine, time; m = machine.Machine(); print(m.leader, m.mounted, flush=True); time.sleep(600)"
        test = subprocess.Popen(
            [sys.executable, "-c", script], cwd=os.path.dirname(machine.__file__), stdout=subprocess.PIPE, text=True)
        leader, mounted = test.stdout.readline().split()
        gone = os.pidfd_open(int(leader))
        test.kill()
        test.wait()
        test.stdout.close()
        self.assertTrue(select.select([gone], [], [], 20)[0])
        os.close(gone)
        until = time.monotonic() + 10
        while os.path.exists(mounted) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(mounted))
