"""A system bus of its own, with an AccountsService that is played by dbusmock."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import dbus

NAME, ROOT = "org.freedesktop.Accounts", "/org/freedesktop/Accounts"
BUS = """<busconfig><type>system</type><listen>{}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/></policy></busconfig>"""
MOCK = "org.freedesktop.DBus.Mock"


class Accounts:
    """What it says of this user: `set(RealName=..., IconFile=...)`."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-accounts-")
        self.address = f"unix:path={self.folder}/bus"
        self.env = {"DBUS_SYSTEM_BUS_ADDRESS": self.address}
        config = os.path.join(self.folder, "config")
        with open(config, "w") as file:
            file.write(BUS.format(self.address))
        self.processes = [self.begin("dbus-daemon", "--nofork", "--nopidfile", "--config-file", config)]
        self.wait(lambda: self.listens(f"{self.folder}/bus"))
        self.processes.append(self.begin(sys.executable, "-m", "dbusmock", "--system", NAME, ROOT, NAME))
        self.connection = dbus.bus.BusConnection(self.address)
        self.wait(lambda: self.connection.name_has_owner(NAME))
        path = f"{ROOT}/User{os.getuid()}"
        root = dbus.Interface(self.connection.get_object(NAME, ROOT), MOCK)
        root.AddMethod(NAME, "FindUserById", "x", "o", f"ret = dbus.ObjectPath('{path}')")
        root.AddObject(path, f"{NAME}.User", {"RealName": "", "IconFile": ""}, dbus.Array([], signature="(ssss)"))
        self.user = dbus.Interface(self.connection.get_object(NAME, path), MOCK)

    def set(self, **properties):
        self.user.UpdateProperties(f"{NAME}.User", properties)

    def begin(self, *command):
        return subprocess.Popen(
            command, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def listens(path):
        """A bus has its socket a moment before it listens."""
        with socket.socket(socket.AF_UNIX) as one:
            return one.connect_ex(path) == 0

    def wait(self, condition):
        end = time.monotonic() + 10
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("the bus is not there within 10 s")
            time.sleep(0.005)

    def close(self):
        self.connection.close()
        for process in reversed(self.processes):
            process.kill()
            process.wait(10)
        shutil.rmtree(self.folder)
