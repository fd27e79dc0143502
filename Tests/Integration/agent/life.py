"""The agent's own life: one in a session, for its user alone, and no longer than it is needed."""

import subprocess
import unittest

import dbus
from agentlab import NAME, PATH, Session
from daemonlab import wait_until

TIMEOUT = 120
NEEDS_ROOT = True
# A bus takes nobody whom it does not know.
OTHER = "nobody"


class Life(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def test_second(self):
        """a second agent leaves it to the first"""
        first = self.session.agent()
        second = self.session.agent(ready=False)
        self.assertEqual(second.ended(), 0)
        self.assertEqual(second.heard, ["appvault-agent: another agent runs in this session"])
        self.assertIsNone(first.process.poll())

    def test_terminate(self):
        """it ends when it is told to"""
        agent = self.session.agent()
        agent.terminate()
        self.assertEqual((agent.ended(), agent.heard), (0, []))

    def test_bus_ends(self):
        """it ends with the session's bus"""
        agent = self.session.agent()
        self.session.bus.stop()
        self.assertEqual((agent.ended(), agent.heard), (0, []))

    def test_no_bus(self):
        """without a bus it says so"""
        self.session.bus.stop()
        agent = self.session.agent(ready=False)
        self.assertEqual(agent.ended(), 1)
        self.assertEqual(len(agent.heard), 1, agent.heard)

    def test_idle(self):
        """it leaves after a minute in which nothing needs it, and D-Bus may start it again"""
        agent = self.session.sleeping_agent()
        self.assertEqual(self.session.needs(), [])
        self.session.slept(55)
        self.assertEqual(self.session.needs(), [])
        # The call itself has begun another minute.
        self.session.slept(55)
        self.assertIsNone(agent.process.poll())
        self.session.slept(10)
        self.assertEqual((agent.ended(), agent.heard), (0, []))

    def test_no_application(self):
        """what cannot be an application is none: process 0, which would be the agent as well, the agent itself, and
        names that would be more than a line of a file"""
        agent = self.session.agent()
        for process, app, store, demand in (
                (0, "mail", "", 1), (agent.process.pid, "mail", "", 1), (1, "", "", 1), (1, "a/b", "", 1),
                (1, "mail", "a\nlocked=0", 1), (1, "mail", "a\r\nb", 1), (1, "mail", "x" * 256, 1), (1, "mail", "", 9)):
            with self.subTest(process=process, app=app, store=store, demand=demand):
                with self.assertRaisesRegex(dbus.DBusException, "this cannot be an application"):
                    self.session.connection.call_blocking(
                        NAME, PATH, NAME, "Start", "ussuuuu", (process, app, store, demand, 1, 1, 0), timeout=20)

    def test_needed(self):
        """it stays for a locker, and leaves a minute after that has left"""
        mate = self.session.mate()
        agent = self.session.sleeping_agent()
        self.session.slept(600)
        self.assertEqual(self.session.needs(), ["locker"])
        mate.dies()
        wait_until(lambda: self.session.needs() == [], "the locker is gone")
        self.session.slept(61)
        self.assertEqual(agent.ended(), 0)

    def test_needed_for_long(self):
        """the minute begins when the locker has left, also if nobody has asked anything for ten"""
        mate = self.session.mate()
        agent = self.session.sleeping_agent()
        self.session.slept(600, wakes=False)
        mate.dies()
        with self.assertRaises(subprocess.TimeoutExpired):
            agent.process.wait(2)
        self.assertEqual(self.session.needs(), [])
        self.session.slept(61)
        self.assertEqual(agent.ended(), 0)

    def test_other_user(self):
        """another user's call is refused, whatever it asks for"""
        self.session.agent()

        for called in (NAME + ".Needs", NAME + ".Nothing", "org.freedesktop.DBus.Introspectable.Introspect"):
            sent = subprocess.run(
                ["dbus-send", "--bus=" + self.session.bus.address, "--print-reply", "--dest=" + NAME, PATH, called],
                user=OTHER, group="nogroup", extra_groups=[], capture_output=True, text=True, timeout=30)
            self.assertEqual(
                sent.stderr.strip(),
                "Error org.freedesktop.DBus.Error.AccessDenied: only for the user of this session")
        self.assertEqual(self.session.needs(), [])

    def test_interface(self):
        """it says what can be called, and refuses the rest by D-Bus's names"""
        self.session.agent()
        text = str(self.session.call("Introspect", "org.freedesktop.DBus.Introspectable"))
        self.assertIn('<method name="Needs">', text)
        for member, interface, path, name in (
            ("Nothing", NAME, "/org/appvault/Agent1", "UnknownMethod"),
            ("Needs", "a.b", "/org/appvault/Agent1", "UnknownInterface"),
            ("Needs", NAME, "/elsewhere", "UnknownObject"),
        ):
            with self.assertRaises(dbus.DBusException) as raised:
                self.session.call(member, interface, path)
            self.assertEqual(raised.exception.get_dbus_name(), "org.freedesktop.DBus.Error." + name)


if __name__ == "__main__":
    unittest.main()
