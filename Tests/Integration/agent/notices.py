"""What the agent says although nobody asked, with a real daemon: a server for notices keeps what it is told."""

import os
import unittest

import dbus
from agentlab import Played, Session
from daemonlab import wait_until
from policylab import PolicyLab, policy
from screenlab import SleepyLogind

TIMEOUT = 240
NEEDS_ROOT = True
PASSCODE = "correct horse"
SERVER = "org.freedesktop.Notifications"
STILL = "Still locked: default."


class Server(Played):
    """Gives each notice the next number, unless it takes the place of another one."""

    def __init__(self, bus):
        super().__init__(bus, SERVER, "/org/freedesktop/Notifications")
        self.mock().AddMethods(SERVER, dbus.Array([
            ("Notify", "susssasa{sv}i", "u",
             "self.last = args[1] or getattr(self, 'last', 0) + 1\nret = dbus.UInt32(self.last)"),
            ("CloseNotification", "u", "", "")], signature="(ssss)"))

    def is_pressed_at_once(self):
        """From now on: before it has answered with the number."""
        self.mock().AddMethod(
            SERVER, "Notify", "susssasa{sv}i", "u",
            f"self.EmitSignal('{SERVER}', 'ActionInvoked', 'us', [dbus.UInt32(1), 'window'])\nret = dbus.UInt32(1)")

    @property
    def said(self):
        """The line of each notice."""
        return [str(arguments[3]) for _, arguments in self.mock().GetMethodCalls("Notify")]

    @property
    def actions(self):
        """The words of each notice's actions."""
        return [[str(word) for word in arguments[5]] for _, arguments in self.mock().GetMethodCalls("Notify")]

    def press(self, number, action="window", token=None):
        if token is not None:
            self.mock().EmitSignal(
                SERVER, "ActivationToken", "us", dbus.Array([dbus.UInt32(number), token], signature="v"))
        self.mock().EmitSignal(
            SERVER, "ActionInvoked", "us", dbus.Array([dbus.UInt32(number), action], signature="v"))

    @property
    def closed(self):
        return [int(arguments[0]) for _, arguments in self.mock().GetMethodCalls("CloseNotification")]


class Manager(Played):
    """The person's systemd, which remembers what it was to start."""

    def __init__(self, bus):
        name = "org.freedesktop.systemd1"
        super().__init__(bus, name, "/" + name.replace(".", "/"), name + ".Manager")
        self.mock().AddMethods(self.interface, dbus.Array([
            ("Subscribe", "", "", ""),
            ("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", "ret = dbus.ObjectPath('/job')")], signature="(ssss)"))

    @property
    def started(self):
        """The name and the properties of each unit."""
        return [(str(arguments[0]), dict(arguments[2]))
                for _, arguments in self.mock().GetMethodCalls("StartTransientUnit")]

    def commands(self):
        return [[str(word) for word in properties["ExecStartEx"][0][1]] for _, properties in self.started]


class Case(unittest.TestCase):
    # The window's program; None where it is not installed.
    WINDOW = "/bin/true"

    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        self.daemon = PolicyLab(policy(LockGrace="0"), env=self.logind.env, before=self.logind.before)
        self.addCleanup(self.daemon.close)
        self.daemon.make(PASSCODE)
        self.logind.session("c7", 0)
        self.logind.appears("c7", announced=True)
        self.logind.shows("c7", 0)
        self.server = Server(self.session.bus)
        self.addCleanup(self.server.close)
        self.manager = Manager(self.session.bus)
        self.addCleanup(self.manager.close)
        self.session.agent(
            "--socket", self.daemon.socket, "--window", self.WINDOW or "/no/such/program", LANG="C.UTF-8")
        wait_until(lambda: "watch" in self.session.needs(), "it watches the stores", 60)

    def lock(self):
        self.logind.hints("c7", locked=True)
        wait_until(lambda: self.daemon.state_of().lock == "locked", "the store is shut", 60)

    def unlock(self):
        self.assertEqual(self.daemon.open(PASSCODE).name, "done")

    def comes_back(self):
        """The screen was unlocked without AppVault."""
        self.lock()
        self.logind.hints("c7", locked=False)


class StillLocked(Case):
    def test_silent_unlock(self):
        """a screen that is unlocked without AppVault leaves the store locked, and one notice says so, until it is
        opened"""
        self.comes_back()
        wait_until(lambda: self.server.said == [STILL], "it says so", 60)
        self.unlock()
        wait_until(lambda: self.server.closed == [1], "the notice goes", 60)
        # The locker asks for the passcode: there is nothing to say.
        self.lock()
        self.unlock()
        self.logind.hints("c7", locked=False)
        # And again without it.
        self.comes_back()
        wait_until(lambda: len(self.server.said) > 1, "it says so", 60)
        self.assertEqual(self.server.said, [STILL] * 2)

    def test_several(self):
        """one notice for all stores, which becomes shorter; who leaves again takes it away"""
        self.daemon.make(PASSCODE, "mail")
        self.comes_back()
        wait_until(lambda: self.server.said == ["Still locked: default, mail."], "it names both", 60)
        self.unlock()
        wait_until(lambda: self.server.said[1:] == ["Still locked: mail."], "it names one", 60)
        self.assertEqual(self.server.closed, [])
        self.logind.hints("c7", locked=True)
        wait_until(lambda: self.server.closed == [1], "nobody is there to read it", 60)


class Window(Case):
    def is_due(self):
        self.daemon.write(policy(MinLength="40", LockGrace="0"))
        wait_until(lambda: [line for line in self.server.said if "default" in line], "it says what is due", 60)

    def test_unlock(self):
        """whoever presses the notice of a locked store gets the window, which asks for that one"""
        self.comes_back()
        wait_until(lambda: self.server.said == [STILL], "it says so", 60)
        self.assertEqual(self.server.actions, [["default", "Open AppVault", "window", "Open AppVault"]])
        # One that was not given, and one that is about nothing.
        self.server.press(7)
        self.server.press(1, "default", token="token of this press")
        wait_until(lambda: self.manager.started, "the window is started", 60)
        (unit, properties), = self.manager.started
        self.assertRegex(unit, r"^app-org\.appvault\.Desktop-1-\d+\.service$")
        self.assertEqual(self.manager.commands(), [["/bin/true", "--unlock", "default"]])
        self.assertEqual(
            [str(word) for word in properties["Environment"]], ["XDG_ACTIVATION_TOKEN=token of this press"])
        self.assertEqual([str(word) for word in properties["ExecStartEx"][0][2]], ["no-env-expand"])
        self.assertEqual(str(properties["Slice"]), "app.slice")

    def test_pressed_at_once(self):
        """a press that comes before the number of the notice counts"""
        self.server.is_pressed_at_once()
        self.comes_back()
        wait_until(lambda: self.manager.started, "the window is started", 60)
        self.assertEqual(self.manager.commands(), [["/bin/true", "--unlock", "default"]])

    def test_due(self):
        """a passcode that has to be changed leads to the window, in which it is"""
        self.is_due()
        # No compositor's word is that long.
        self.server.press(1, token="x" * 257)
        wait_until(lambda: self.manager.started, "the window is started", 60)
        self.assertEqual(self.manager.commands(), [["/bin/true", "--unlock", "default"]])
        self.assertNotIn("Environment", self.manager.started[0][1])

    def test_several(self):
        """of more than one store the window shows all; of one whose name is a word of the shell, that one"""
        self.daemon.make(PASSCODE, "$HOME")
        self.comes_back()
        wait_until(lambda: self.server.said == ["Still locked: $HOME, default."], "it names both", 60)
        self.server.press(1)
        wait_until(lambda: self.manager.commands() == [["/bin/true"]], "the window is started", 60)
        self.unlock()
        wait_until(lambda: self.server.said[1:] == ["Still locked: $HOME."], "it names one", 60)
        self.server.press(1)
        wait_until(lambda: self.manager.commands()[1:] == [["/bin/true", "--unlock", "$HOME"]], "it is started", 60)

    def test_away(self):
        """before a locked screen a press opens nothing"""
        self.is_due()
        self.comes_back()
        wait_until(lambda: self.server.said[1:] == [STILL], "it says that it is locked", 60)
        self.logind.hints("c7", locked=True)
        # The agent knows that nobody is there.
        wait_until(lambda: self.server.closed == [2], "that notice goes", 60)
        self.server.press(1)
        # It is asked after it has heard of the press.
        self.session.needs()
        self.assertEqual(self.manager.started, [])
        self.logind.hints("c7", locked=False)
        wait_until(lambda: self.server.press(1) or self.manager.started, "the window is started", 60)
        self.assertEqual(self.manager.commands(), [["/bin/true", "--unlock", "default"]])


class NoWindow(Case):
    WINDOW = None

    def test_no_action(self):
        """where the window is not installed the notice is one to read"""
        self.comes_back()
        wait_until(lambda: self.server.said == [STILL], "it says so", 60)
        self.assertEqual(self.server.actions, [[]])
        self.server.press(1)
        self.unlock()
        wait_until(lambda: self.server.closed == [1], "the notice goes", 60)
        self.assertEqual(self.manager.started, [])


if __name__ == "__main__":
    unittest.main()
