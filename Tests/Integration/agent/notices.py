"""What the agent says although nobody asked, with a real daemon: a server for notices keeps what it is told."""

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

    @property
    def said(self):
        """The line of each notice."""
        return [str(arguments[3]) for _, arguments in self.mock().GetMethodCalls("Notify")]

    @property
    def closed(self):
        return [int(arguments[0]) for _, arguments in self.mock().GetMethodCalls("CloseNotification")]


class StillLocked(unittest.TestCase):
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
        self.session.agent("--socket", self.daemon.socket, LANG="C.UTF-8")
        wait_until(lambda: "watch" in self.session.needs(), "it watches the stores", 60)

    def lock(self):
        self.logind.hints("c7", locked=True)
        wait_until(lambda: self.daemon.state_of().lock == "locked", "the store is shut", 60)

    def unlock(self):
        self.assertEqual(self.daemon.open(PASSCODE).name, "done")

    def test_silent_unlock(self):
        """a screen that is unlocked without AppVault leaves the store locked, and one notice says so, until it is
        opened"""
        self.lock()
        self.logind.hints("c7", locked=False)
        wait_until(lambda: self.server.said == [STILL], "it says so", 60)
        self.unlock()
        wait_until(lambda: self.server.closed == [1], "the notice goes", 60)
        # The locker asks for the passcode: there is nothing to say.
        self.lock()
        self.unlock()
        self.logind.hints("c7", locked=False)
        # And again without it.
        self.lock()
        self.logind.hints("c7", locked=False)
        wait_until(lambda: len(self.server.said) > 1, "it says so", 60)
        self.assertEqual(self.server.said, [STILL] * 2)

    def test_several(self):
        """one notice for all stores, which becomes shorter; who leaves again takes it away"""
        self.daemon.make(PASSCODE, "mail")
        self.lock()
        self.logind.hints("c7", locked=False)
        wait_until(lambda: self.server.said == ["Still locked: default, mail."], "it names both", 60)
        self.unlock()
        wait_until(lambda: self.server.said[1:] == ["Still locked: mail."], "it names one", 60)
        self.assertEqual(self.server.closed, [])
        self.logind.hints("c7", locked=True)
        wait_until(lambda: self.server.closed == [1], "nobody is there to read it", 60)


if __name__ == "__main__":
    unittest.main()
