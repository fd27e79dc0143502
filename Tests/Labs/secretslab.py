"""The desktop's secrets: a real appvaultd, appvault-secrets on a session bus of the test's own, and the agent, which is
played: a test says how the person answers.

    desk = Desk()
    connection = desk.connect()                          # for secretstorage
    desk.tool("store", "--label=Mail", "user", "ann", typed="otter")
    desk.lock(); desk.agent.asked(); desk.open()
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import dbus
import secretstorage
from agentlab import NAME as AGENT
from agentlab import Agent as RealAgent
from agentlab import PlayedBus
from daemonlab import PASSCODE, build, derivation_counter, wait_until
from faultlab import Lab, policy
from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection
from pinentrylab import Pinentry
from places import LABS
from stepslab import Steps

NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
LOGIN = ROOT + "/collection/login"
STORE = "secrets"


class Lines:
    """What a process writes, line by line."""

    def __init__(self, pipe):
        self.all = []
        self.pipe = pipe
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.pipe:
            self.all.append(line.decode().rstrip("\n"))

    def close(self):
        self.thread.join()
        self.pipe.close()


class Agent:
    def __init__(self, environment):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(LABS, "playedagent.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment)
        self.lines = Lines(self.process.stdout)
        wait_until(lambda: "ready" in self.lines.all, "the agent is on the bus", 30)

    def asked(self, times=1):
        wait_until(lambda: self.count() >= times, "the person is asked", 30)

    def count(self):
        return sum(line.startswith("asked") for line in self.lines.all)

    def stores(self):
        return [line.split()[1] for line in self.lines.all if line.startswith("asked")]

    def gone(self, times=1):
        wait_until(lambda: sum(line.startswith("gone") for line in self.lines.all) >= times, "the dialog goes", 30)

    def answer(self, status):
        self.process.stdin.write(f"{status}\n".encode())
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.lines.close()


class Desk:
    """`screen` is a logind of screenlab's. The real agent starts the real tool. With `steps`, daemon and bridge can be
    killed at each of their steps."""

    def __init__(self, policy_text=None, store=True, bridge=True, screen=None, real_agent=False, steps=False):
        self.folder = tempfile.mkdtemp(prefix="appvault-secrets-")
        os.chmod(self.folder, 0o755)
        self.opened = []
        self.process = None
        try:
            self.bus = PlayedBus(self.folder, "session")
            self.opened.append(self.bus.stop)
            settings = {} if screen is None else {
                "env": {**screen.env, "LD_PRELOAD": derivation_counter()}, "before": screen.before}
            self.daemon = Lab(policy_text or policy(), start=False, **settings)
            self.opened.append(self.daemon.close)
            self.steps = {}
            if steps:
                self.steps = {name: Steps(self.folder, name) for name in ("daemon", "bridge")}
                self.daemon.env.update(self.steps["daemon"].environment(self.daemon.state))
            self.daemon.start()
            self.environment = dict(
                os.environ, DBUS_SESSION_BUS_ADDRESS=self.bus.address, XDG_RUNTIME_DIR=self.folder, LC_ALL="C.UTF-8")
            self.agent = self.real_agent() if real_agent else Agent(self.environment)
            self.opened.append(self.agent.close)
            if store:
                self.daemon.make(PASSCODE)
            if bridge:
                self.start()
        except BaseException:
            self.close()
            raise

    def close(self):
        for connection in getattr(self, "connections", []):
            connection.close()
        self.kill()
        for close in reversed(self.opened):
            close()
        shutil.rmtree(self.folder)

    def real_agent(self):
        """It starts the real tool, which asks by a pinentry that the test writes."""
        self.pinentry = Pinentry(self.folder)
        tool = os.path.join(self.folder, "tool")
        with open(tool, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {build("appvault")} --socket {self.daemon.socket} "$@"\n')
        os.chmod(tool, 0o755)
        environment = dict(
            self.environment, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={self.folder}/none", **self.pinentry.environment)
        agent = RealAgent(environment, ("--socket", self.daemon.socket, "--tool", tool))
        connection = self.bus.connect()
        wait_until(lambda: connection.name_has_owner(AGENT), "the agent is on the bus", 30)
        connection.close()
        return agent

    # the bridge

    def start(self, wait=True, daemon=None):
        self.process = subprocess.Popen(
            [build("appvault-secrets"), "--socket", daemon or self.daemon.socket],
            env=dict(self.environment, **(self.steps["bridge"].environment() if self.steps else {})),
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.said = Lines(self.process.stderr)
        if wait:
            wait_until(self.owns, "it owns the name", 30)

    def owns(self):
        """Whether it is this process that owns the name."""
        if not hasattr(self, "looker"):
            self.looker = self.bus.connect()
            self.opened.append(self.looker.close)
        bus = self.looker.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus")
        try:
            return bus.GetConnectionUnixProcessID(NAME) == self.process.pid
        except dbus.DBusException:
            # Nobody owns it yet, or the former owner has just gone.
            return False

    def kill(self, number=signal.SIGKILL):
        if self.process is None:
            return None
        self.process.send_signal(number)
        status = self.process.wait(30)
        self.said.close()
        self.process = None
        return status

    # the store

    def lock(self, store=STORE):
        self.daemon.ask("lock", store=store)
        self.is_locked(True)

    def lock_all(self):
        """With the store that it follows; the bridge is not looked at."""
        self.daemon.ask("lock")

    def open(self, store=""):
        done = self.daemon.open(PASSCODE, store)
        if done is None or done.name != "done":
            raise AssertionError(f"not opened: {done}")

    def is_locked(self, wanted):
        """Waits until the bridge has heard it."""
        connection = self.connect()
        collection = secretstorage.Collection(connection)
        wait_until(lambda: collection.is_locked() == wanted, f"locked: {wanted}", 30)
        connection.close()

    # clients

    def connect(self):
        connection = open_dbus_connection(self.bus.address)
        self.__dict__.setdefault("connections", []).append(connection)
        return connection

    def collection(self):
        return secretstorage.get_default_collection(self.connect())

    def start_tool(self, *words):
        return subprocess.Popen(
            ["secret-tool", *words], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def tool(self, *words, typed=""):
        """What secret-tool says, and its status."""
        process = self.start_tool(*words)
        out, err = process.communicate(typed.encode(), 60)
        return process.returncode, out.decode(), err.decode()


class Relay:
    """Between the bridge and the daemon: counts what comes from there. `alter` is given each of its frames, and says
    what comes instead."""

    def __init__(self, desk, alter=bytes):
        self.received = 0
        self.alter = alter
        self.daemon = desk.daemon.socket
        self.path = os.path.join(desk.folder, "relay")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.ends = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.daemon)
            self.ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, target, source is far), daemon=True).start()

    def carry(self, source, target, isDaemon):
        rest = b""
        try:
            while data := source.recv(1 << 16):
                if not isDaemon:
                    target.sendall(data)
                    continue
                self.received += len(data)
                rest += data
                while len(rest) >= 4 and len(rest) >= (end := 10 + int.from_bytes(rest[:4], "little")):
                    target.sendall(self.alter(rest[:end]))
                    rest = rest[end:]
        except OSError:
            pass
        finally:
            for end in (source, target):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self):
        for end in (self.listener, *self.ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Caller:
    """A program that calls by hand."""

    def __init__(self, desk):
        self.connection = desk.connect()
        self.heard = []

    def send(self, path, interface, member, signature=None, *body):
        return self.send_to(path, "org.freedesktop.Secret." + interface, member, signature, *body)

    def send_to(self, path, interface, member, signature=None, *body):
        call = new_method_call(DBusAddress(path, NAME, interface), member, signature, body)
        serial = next(self.connection.outgoing_serial)
        self.connection.send(call, serial=serial)
        return serial

    def answer(self, serial, seconds=60):
        while True:
            message = self.connection.receive(timeout=seconds)
            if message.header.message_type == MessageType.signal:
                self.heard.append(message)
            elif message.header.fields.get(5) == serial:
                if message.header.message_type == MessageType.error:
                    return message.header.fields[4].rsplit(".", 1)[1]
                return message.body

    def call(self, *words):
        return self.answer(self.send(*words))

    def session(self):
        return self.call(ROOT, "Service", "OpenSession", "sv", "plain", ("s", ""))[1]

    def unlock(self, *paths):
        return self.call(ROOT, "Service", "Unlock", "ao", list(paths))

    def completed(self, prompt, seconds=60):
        """What the prompt came to: whether it was dismissed, and the objects."""
        def found():
            return next((each for each in self.heard if each.header.fields[1] == prompt
                         and each.header.fields[3] == "Completed"), None)

        while not found():
            message = self.connection.receive(timeout=seconds)
            if message.header.message_type == MessageType.signal:
                self.heard.append(message)
        return found().body[0], found().body[1][1]
