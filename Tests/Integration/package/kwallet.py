"""KWallet itself with the settings that the package gives it: it goes on under its own name, and leaves
org.freedesktop.secrets to others."""

import os
import shutil
import subprocess
import tempfile
import unittest

from agentlab import PlayedBus
from daemonlab import wait_until
from places import ROOT

SETTINGS = os.path.join(ROOT, "config", "secret-service", "kwalletrc")
PROGRAM = shutil.which("kwalletd6") or shutil.which("kwalletd5")


@unittest.skipUnless(PROGRAM, "KWallet is not installed")
class KWallet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="appvault-kwallet-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.settings = os.path.join(self.folder, "xdg")
        os.mkdir(self.settings)
        self.bus = PlayedBus(self.folder, "bus")
        self.addCleanup(self.bus.stop)

    def owns(self):
        """Whether KWallet owns the name once it answers under its own."""
        connection = self.bus.connect()
        self.addCleanup(connection.close)
        process = subprocess.Popen(
            [PROGRAM], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
                "PATH": os.environ["PATH"], "HOME": self.folder, "XDG_CONFIG_DIRS": self.settings,
                "XDG_RUNTIME_DIR": self.folder, "QT_QPA_PLATFORM": "offscreen",
                "DBUS_SESSION_BUS_ADDRESS": self.bus.address})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        own = "org.kde." + os.path.basename(PROGRAM)
        wait_until(lambda: connection.name_has_owner(own), "KWallet is on the bus", 60)
        # An answer: what it does at its start is done.
        connection.call_blocking(own, "/modules/" + own.rsplit(".", 1)[1], "org.kde.KWallet", "isEnabled", "", ())
        return connection.name_has_owner("org.freedesktop.secrets")

    def test_without_them_it_takes_the_name(self):
        self.assertTrue(self.owns())

    def test_with_them_it_does_not(self):
        os.symlink(SETTINGS, os.path.join(self.settings, "kwalletrc"))
        self.assertFalse(self.owns())


if __name__ == "__main__":
    unittest.main()
