"""fprintd beside the worker, at the same virtual reader: both get it in turn, and neither hangs."""

import os
import shutil
import subprocess
import tempfile
import unittest

from daemonlab import wait_until
from fprintlab import Worker
from patience import Stopwatch

FPRINTD = "/usr/libexec/fprintd"
PYTHON = "/usr/bin/python3"
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
<allow send_type="method_call"/></policy></busconfig>
"""


def has_dbusmock():
    return subprocess.run([PYTHON, "-c", "import dbusmock"], capture_output=True, check=False).returncode == 0


class Fprintd:
    """A private system bus with fprintd on it, and a polkit that permits everything."""

    def __init__(self, reader):
        self.folder = tempfile.mkdtemp(prefix="appvault-fprintd-")
        bus, state, config = (os.path.join(self.folder, name) for name in ("bus", "state", "bus.conf"))
        os.mkdir(state)
        with open(config, "w") as file:
            file.write(BUS.format(bus))
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.folder, "STATE_DIRECTORY": state,
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={bus}",
        }
        self.running = []
        try:
            self.start("dbus-daemon", f"--config-file={config}", "--nofork")
            wait_until(lambda: os.path.exists(bus), "the bus is there")
            self.start(PYTHON, "-m", "dbusmock", "--system", "--template", "polkitd", "--parameters", "{}")
            allow = [
                "dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.PolicyKit1",
                "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.DBus.Mock.AllowUnknown", "boolean:true"]
            wait_until(lambda: self.run(*allow).returncode == 0, "polkit is there")
            self.start(FPRINTD, "--no-timeout", FP_VIRTUAL_DEVICE=reader, FP_DRIVERS_WHITELIST="virtual_device")
            wait_until(lambda: "No devices" not in self.run("fprintd-list", "root").stdout
                       and self.run("fprintd-list", "root").returncode == 0, "fprintd has its reader")
        except BaseException:
            self.close()
            raise

    def start(self, *command, **more):
        self.running.append(
            subprocess.Popen(
                command, env={**self.environment, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))

    def run(self, *command):
        return subprocess.run(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False, timeout=20)

    def tool(self, name, *arguments):
        return subprocess.Popen(
            [name, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def close(self):
        for process in reversed(self.running):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@unittest.skipUnless(os.path.exists(FPRINTD), "no fprintd")
@unittest.skipUnless(shutil.which("dbus-daemon"), "no dbus-daemon")
@unittest.skipUnless(has_dbusmock(), "no dbusmock")
class Beside(unittest.TestCase):
    def said(self, tool):
        out, _ = tool.communicate(timeout=10)
        return out

    def hear(self, tool, line):
        """Waits until fprintd says so: a touch before it waits for one is lost."""
        for said in tool.stdout:
            if said.startswith(line):
                return said
        raise AssertionError(f"{line!r} was not said")

    def verify(self, fprintd, worker, finger):
        tool = fprintd.tool("fprintd-verify", "root")
        self.hear(tool, "Verifying:")
        worker.play("device", f"SCAN {finger}")
        return self.said(tool)

    def test_in_turn(self):
        """Each gets the reader when the other does not use it, again and again, with templates of its own"""
        with Worker() as worker, Fprintd(worker.reader_socket("device")) as fprintd, worker.link() as link:
            ours = worker.enroll(link, "ours")
            tool = fprintd.tool("fprintd-enroll", "-f", "right-index-finger", "root")
            self.hear(tool, "Enrolling")
            for _ in range(5):
                worker.play("device", "SCAN theirs")
                line = self.hear(tool, "Enroll result")
            self.assertIn("enroll-completed", line)
            self.said(tool)
            wait_until(lambda: not worker.is_open(), "fprintd lets go")
            for _ in range(3):
                stopwatch = Stopwatch()
                self.assertEqual(worker.match(link, [ours], "ours"), ("matched", 0))
                self.assertEqual(worker.match(link, [ours], "theirs"), ("noMatch",))
                wait_until(lambda: not worker.is_open(), "the worker lets go")
                self.assertIn("verify-match", self.verify(fprintd, worker, "theirs"))
                wait_until(lambda: not worker.is_open(), "fprintd lets go")
                self.assertIn("verify-no-match", self.verify(fprintd, worker, "ours"))
                wait_until(lambda: not worker.is_open(), "fprintd lets go")
                stopwatch.assert_within(20)


if __name__ == "__main__":
    unittest.main()
