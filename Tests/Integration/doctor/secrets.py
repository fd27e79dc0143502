"""`appvault doctor` on a session bus: who has the name with which programs look for their secrets, who waits for it,
and what it says where the bus is silent."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import dbus
from agentlab import PlayedBus
from clilab import Lab
from daemonlab import wait_until

NAME = "org.freedesktop.secrets"
# A program that waits in line for the name, under any program's name.
WAITS = f"""
import dbus, os, time
dbus.SessionBus().request_name("{NAME}")
os.close(1)
time.sleep(1000)
"""


class Desktop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="appvault-desktop-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.bus = PlayedBus(self.folder, "bus")
        self.addCleanup(self.bus.stop)
        self.lab = self.enterContext(Lab())

    def environment(self, **more):
        return {
            "DBUS_SESSION_BUS_ADDRESS": self.bus.address, "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder, **more}

    def plays(self, program):
        """Another program in the line; its process."""
        process = subprocess.Popen(
            [program, "-c", WAITS], executable=sys.executable, env={**os.environ, **self.environment()},
            stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.read(), b"")
        return process

    def look(self, **environment):
        done = self.lab.run("doctor", "--json", "--pam-dir", "/nonexistent", env=self.environment(**environment))
        found = [check for check in json.loads(done.out)["checks"] if check["link"] == "secrets"]
        return [(check["state"], check["text"], check["mend"]) for check in found]

    def test_the_owner_and_who_waits(self):
        """ours has the name; another one waits for it, and is named with its process; it gets the name if ours dies"""
        ours = self.plays("appvault-secrets")
        # D-Bus's own file is there only where the package is.
        state, text, _ = self.look()[0]
        self.assertEqual((state, text.split()[-1]), ("ok", str(ours.pid)))
        other = self.plays("keepassxc")
        (_, (state, text, mend), *_) = self.look()
        self.assertEqual((state, text.split(",")[0]), ("warning", "keepassxc"))
        self.assertTrue(mend.startswith(f"`kill {other.pid}`"), mend)
        ours.kill()
        ours.wait()
        again = self.plays("appvault-secrets")
        state, text, mend = self.look()[0]
        self.assertEqual((state, text.split(",")[0]), ("broken", "keepassxc"))
        self.assertNotIn("systemctl", mend)
        # What it says helps: ours was waiting.
        other.kill()
        other.wait()
        state, text, _ = self.look()[0]
        self.assertEqual((state, text.split()[-1]), ("ok", str(again.pid)))

    @unittest.skipUnless(shutil.which("gnome-keyring-daemon"), "gnome-keyring is not installed")
    def test_gnome_keyring_itself(self):
        """a real gnome-keyring waits for the name and is named; what it keeps is offered"""
        self.plays("appvault-secrets")
        process = subprocess.Popen(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets",
             f"--control-directory={self.folder}/control"],
            env={**os.environ, **self.environment()}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(b"a password")
        process.stdin.close()
        connection = self.bus.connect()
        self.addCleanup(connection.close)
        daemon = dbus.Interface(connection.get_object("org.freedesktop.DBus", "/"), "org.freedesktop.DBus")
        wait_until(lambda: len(daemon.ListQueuedOwners(NAME)) == 2, "gnome-keyring waits", 30)
        states = [(state, mend) for state, text, mend in self.look() if text.startswith("gnome-keyring-daemon")]
        self.assertEqual(states, [("warning", f"`kill {process.pid}`")])

    def test_a_bus_that_is_not_there_or_says_nothing(self):
        """doctor ends, and says nothing of whom it could not ask about"""
        mute = os.path.join(self.folder, "mute")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(mute)
            listening.listen()
            for path in (mute, "/nonexistent"):
                found = self.look(DBUS_SESSION_BUS_ADDRESS=f"unix:path={path}")
                self.assertEqual({state for state, _, _ in found}, {"unseen"}, found)


if __name__ == "__main__":
    unittest.main()
