"""An agent in a session of its own: a session bus and a system bus, on which a test plays screen lockers and logind.

    session = Session()
    agent = session.agent()
    mate = session.locker("org.mate.ScreenSaver", "/org/mate/ScreenSaver")
    mate.says(True)
    wait_until(lambda: session.logind.said == [True], "logind was told")
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import dbus
from daemonlab import build, wait_until
from pamlab import compiled
from places import LABS

NAME = "org.appvault.Agent1"
PATH = "/org/appvault/Agent1"
MOCK = "org.freedesktop.DBus.Mock"
LOGIN = "org.freedesktop.login1"
AUTO = "/org/freedesktop/login1/session/auto"
SESSION = LOGIN + ".Session"
# As many calls at once as a session bus lets a program have.
CONFIG = """<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/></policy>
<limit name="max_replies_per_connection">50000</limit></busconfig>"""
# What a locker's own settings say is in a file; the test sees how often they were read.
GSETTINGS = """#!/bin/sh
echo "$2" >> {0}/asked
exec cat "{0}/$2"
"""


class PlayedBus:
    """A bus daemon. Anybody may use it: who may call the agent, the agent decides itself."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)
        self.address = "unix:path=" + self.path
        self.config = self.path + ".conf"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(self.path))
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["dbus-daemon", "--nofork", "--nopidfile", "--config-file", self.config, "--print-address=1"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()

    def connect(self):
        return dbus.bus.BusConnection(self.address)

    def stop(self):
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process = None
        if os.path.exists(self.path):
            os.unlink(self.path)


class Played:
    """A program on a bus that owns a name."""

    def __init__(self, bus, name, path, interface=None):
        self.name, self.path, self.interface = name, path, interface or name
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dbusmock", "--session", name, path, self.interface],
            stdout=subprocess.DEVNULL, env=dict(os.environ, DBUS_SESSION_BUS_ADDRESS=bus.address))
        self.connection = bus.connect()
        wait_until(lambda: self.connection.name_has_owner(name), name + " is on the bus", 30)

    def mock(self, path=None):
        return dbus.Interface(self.connection.get_object(self.name, path or self.path), MOCK)

    def close(self):
        self.connection.close()
        self.dies()

    def dies(self):
        self.process.kill()
        self.process.wait()


class Locker:
    def __init__(self, bus, name, path, active=False):
        self.name, self.path = name, path
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(LABS, "playedlocker.py"), name, path, str(active)], stdin=subprocess.PIPE,
            text=True, env=dict(os.environ, DBUS_SESSION_BUS_ADDRESS=bus.address))
        self.connection = bus.connect()
        wait_until(lambda: self.connection.name_has_owner(name), name + " is on the bus", 30)

    def says(self, active):
        # Its signal has been sent when it answers.
        self.process.stdin.write(f"{active}\n")
        self.process.stdin.flush()
        wait_until(lambda: self.active() == active, "it says so", 30)

    def active(self):
        owner = self.connection.get_name_owner(self.name)
        return bool(self.connection.call_blocking(owner, self.path, self.name, "GetActive", "", ()))

    def dies(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.dies()
        self.process.stdin.close()
        self.connection.close()


class PlayedLogind(Played):
    """Knows one session, and remembers what it was told about its screen."""

    def __init__(self, bus):
        super().__init__(bus, LOGIN, "/org/freedesktop/login1", LOGIN + ".Manager")
        self.mock().AddObject(
            AUTO, SESSION, {"LockedHint": dbus.Boolean(False)},
            dbus.Array([("SetLockedHint", "b", "", f"self.UpdateProperties('{SESSION}', {{'LockedHint': args[0]}})")],
                       signature="(ssss)"))

    @property
    def said(self):
        calls = self.mock(AUTO).GetMethodCalls("SetLockedHint")
        return [bool(arguments[0]) for _time, arguments in calls]

    @property
    def is_locked(self):
        return bool(dbus.Interface(self.connection.get_object(LOGIN, AUTO), dbus.PROPERTIES_IFACE).Get(
            SESSION, "LockedHint"))

    def hints(self, locked):
        """The locker says it itself."""
        self.mock(AUTO).UpdateProperties(SESSION, {"LockedHint": dbus.Boolean(locked)})

    def refuses(self):
        self.mock(AUTO).AddMethod(
            SESSION, "SetLockedHint", "b", "", "raise dbus.exceptions.DBusException('not allowed', name='a.b')")


class Agent:
    def __init__(self, env, words=()):
        self.process = subprocess.Popen(
            [build("appvault-agent"), *words], env=env, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.heard = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.heard.append(line.decode().rstrip("\n"))

    def ended(self, seconds=20):
        """The exit status."""
        status = self.process.wait(seconds)
        self.reader.join()
        return status

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def dies(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.dies()
        self.reader.join()
        self.process.stderr.close()


class Session:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-agent-")
        os.chmod(self.folder, 0o755)
        self.open = []
        self.buses = []
        try:
            self.bus = self._bus("session")
            self.system = self._bus("system")
            self.logind = self._kept(PlayedLogind(self.system))
            self.connection = self.bus.connect()
        except BaseException:
            self.close()
            raise
        self.settings = os.path.join(self.folder, "settings")
        self.runtime = os.path.join(self.folder, "runtime")
        for folder in (self.settings, self.runtime):
            os.mkdir(folder)
        script = os.path.join(self.settings, "gsettings")
        with open(script, "w", encoding="utf-8") as file:
            file.write(GSETTINGS.format(self.settings))
        os.chmod(script, 0o755)

    def _bus(self, name):
        bus = PlayedBus(self.folder, name)
        self.buses.append(bus)
        return bus

    def _kept(self, what):
        self.open.append(what)
        return what

    def logind_again(self):
        self.logind = self._kept(PlayedLogind(self.system))
        return self.logind

    def set(self, schema, **values):
        lines = [f"{schema} {key.replace('_', '-')} {value}\n" for key, value in values.items()]
        with open(os.path.join(self.settings, schema), "w", encoding="utf-8") as file:
            file.writelines(lines)

    def readings(self):
        try:
            with open(os.path.join(self.settings, "asked"), encoding="utf-8") as file:
                return file.read().split()
        except FileNotFoundError:
            return []

    @property
    def env(self):
        return dict(
            os.environ, DBUS_SESSION_BUS_ADDRESS=self.bus.address, DBUS_SYSTEM_BUS_ADDRESS=self.system.address,
            XDG_RUNTIME_DIR=self.runtime, PATH=self.settings + ":" + os.environ["PATH"])

    def agent(self, *words, ready=True, **more):
        agent = self._kept(Agent(dict(self.env, **more), words))
        if ready:
            wait_until(self.has_agent, "the agent is on the bus", 30)
            wait_until(lambda: "beginning" not in self.needs(), "the agent has begun", 30)
        return agent

    def sleeping_agent(self):
        """One whose clock the test moves on by seconds, with `slept`."""
        library = compiled("slept.c", "slept.so", "-shared", "-fPIC", "-ldl")
        self.slept_path = os.path.join(self.folder, "slept")
        return self.agent(LD_PRELOAD=library, SLEPT=self.slept_path)

    def slept(self, seconds, wakes=True):
        """It looks at its clock when something wakes it. What it was asked before has ended by then: an answer may be
        here a moment earlier."""
        if wakes:
            self.wake()
        with open(self.slept_path, "ab") as file:
            file.write(b"x" * seconds)
        if wakes:
            self.wake()

    def wake(self):
        try:
            self.call("Ping", "org.freedesktop.DBus.Peer")
        except dbus.DBusException:
            pass

    def has_agent(self):
        return self.connection.name_has_owner(NAME)

    def call(self, member, interface=NAME, path=PATH, connection=None):
        return (connection or self.connection).call_blocking(NAME, path, interface, member, "", (), timeout=10)

    def needs(self):
        return [str(each) for each in self.call("Needs")]

    def meets_logind(self, act):
        """Does it, and waits until the agent has asked logind and left its bus."""
        there = set(self.logind.connection.list_names())
        number, looks = self._newest(), 0
        act()

        def has_been():
            nonlocal looks
            looks += 1
            return self._newest() - number > looks

        wait_until(has_been, "the agent asks logind", 30)
        wait_until(lambda: set(self.logind.connection.list_names()) == there, "it has its answer", 30)

    def _newest(self):
        """The number of a new connection: each has the next one."""
        connection = self.system.connect()
        number = int(connection.get_unique_name().split(".")[1])
        connection.close()
        return number

    def locker(self, name, path, active=False):
        return self._kept(Locker(self.bus, name, path, active))

    def mate(self, active=False):
        return self.locker("org.mate.ScreenSaver", "/org/mate/ScreenSaver", active)

    def close(self):
        for each in reversed(self.open):
            each.close()
        for bus in self.buses:
            bus.stop()
        shutil.rmtree(self.folder)
