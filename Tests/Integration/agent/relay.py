"""Screen lockers that tell only the session bus: the agent tells logind."""

import os
import signal
import time
import unittest

import dbus
from agentlab import MOCK, Played, Session
from daemonlab import wait_until

TIMEOUT = 240
NEEDS_ROOT = True
MATE = "org.mate.screensaver"


class Relay(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.logind = self.session.logind

    def told(self, *said):
        wait_until(lambda: self.logind.said == list(said), f"logind hears {said}: {self.logind.said}", 30)

    def settled(self):
        """What came before this, the agent has handled."""
        self.session.needs()

    def test_lock(self):
        """a locker's lock and unlock are told, each once"""
        self.session.agent()
        mate = self.session.mate()
        for _ in range(2):
            mate.says(True)
            wait_until(lambda: self.logind.is_locked, "locked", 30)
            mate.says(True)
            mate.says(False)
            wait_until(lambda: not self.logind.is_locked, "unlocked", 30)
        self.told(True, False, True, False)
        self.assertEqual(self.session.needs(), ["locker"])

    def test_names(self):
        """each name that lockers have"""
        self.session.agent()
        for name, path in (
            ("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
            ("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
            ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"), ("org.freedesktop.ScreenSaver", "/ScreenSaver"),
        ):
            locker = self.session.locker(name, path)
            locker.says(True)
            wait_until(lambda: self.logind.is_locked, "locked by " + name, 30)
            locker.says(False)
            wait_until(lambda: not self.logind.is_locked, "unlocked by " + name, 30)

    def test_blank(self):
        """a locker that only makes the screen blank locks nothing"""
        self.session.set(MATE, lock_enabled="false", lock_delay="0")
        self.session.agent()
        mate = self.session.mate()
        mate.says(True)
        wait_until(lambda: self.session.readings() == [MATE], "its settings are read", 30)
        mate.says(False)
        self.session.set(MATE, lock_enabled="true", lock_delay="0")
        mate.says(True)
        self.told(True)

    def test_delay(self):
        """a locker that waits before it locks: the store stays open until then"""
        self.session.set("org.cinnamon.desktop.screensaver", lock_enabled="true", lock_delay="uint32 2")
        self.session.agent()
        cinnamon = self.session.locker("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver")
        began = time.monotonic()
        cinnamon.says(True)
        wait_until(lambda: self.logind.said, "locked", 30)
        self.assertGreater(time.monotonic() - began, 2)
        cinnamon.says(False)
        self.told(True, False)

    def test_delay_cut_short(self):
        """a person who is back before the delay is over unlocks nothing, and finds nothing locked"""
        self.session.set(MATE, lock_enabled="true", lock_delay="5")
        self.session.sleeping_agent()
        mate = self.session.mate()
        mate.says(True)
        wait_until(lambda: self.session.readings() == [MATE], "its settings are read", 30)
        self.settled()
        self.session.slept(200)
        mate.says(False)
        self.session.slept(200)
        self.settled()
        self.assertEqual(self.logind.said, [])
        mate.says(True)
        wait_until(lambda: self.session.readings() == [MATE] * 2, "its settings are read", 30)
        self.settled()

        def locked():
            self.session.slept(60)
            return self.logind.said

        wait_until(locked, "locked after the delay", 30)

    def test_xfce(self):
        """xfce4-screensaver's settings are asked on the bus"""
        conf = Played(self.session.bus, "org.xfce.Xfconf", "/org/xfce/Xfconf")
        self.addCleanup(conf.close)
        conf.mock().AddMethod(
            "org.xfce.Xfconf", "GetAllProperties", "ss", "a{sv}",
            "ret = dbus.Dictionary({'/lock/enabled': dbus.Boolean(False)}, signature='sv')")
        self.session.agent()
        xfce = self.session.locker("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver")
        xfce.says(True)
        wait_until(lambda: conf.mock().GetMethodCalls("GetAllProperties"), "it is asked", 30)
        self.assertEqual(
            [str(each) for each in conf.mock().GetMethodCalls("GetAllProperties")[0][1]],
            ["xfce4-screensaver", "/lock"])
        self.settled()
        self.assertEqual(self.logind.said, [])

    def test_says_itself(self):
        """what a locker has told logind itself stays its own"""
        self.session.agent()
        gnome = self.session.locker("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver")
        mate = self.session.mate()
        self.logind.hints(True)
        self.session.meets_logind(lambda: gnome.says(True))
        gnome.says(False)
        self.settled()
        self.logind.hints(False)
        mate.says(True)
        self.told(True)

    def test_stranger(self):
        """only the owner of the name is heard"""
        self.session.agent()
        mate = self.session.mate()
        stranger = Played(self.session.bus, "org.appvault.Stranger", "/org/mate/ScreenSaver", "org.mate.ScreenSaver")
        self.addCleanup(stranger.close)
        owner = dbus.Interface(
            stranger.connection.get_object("org.appvault.Stranger", "/org/mate/ScreenSaver"), MOCK)
        owner.EmitSignal("org.mate.ScreenSaver", "ActiveChanged", "b", dbus.Array([True], signature="v"))
        self.settled()
        self.assertEqual(self.session.readings(), [])
        mate.says(True)
        self.told(True)
        owner.EmitSignal("org.mate.ScreenSaver", "ActiveChanged", "b", dbus.Array([False], signature="v"))
        self.settled()
        self.assertTrue(self.logind.is_locked)

    def test_locker_dies(self):
        """a locker that crashes unlocks nothing; the next one under its name says that the screen is unlocked"""
        self.session.agent()
        mate = self.session.mate()
        mate.says(True)
        self.told(True)
        mate.dies()
        wait_until(lambda: not self.session.connection.name_has_owner("org.mate.ScreenSaver"), "it is gone")
        self.settled()
        self.assertEqual(self.session.needs(), ["locker"])
        self.assertTrue(self.logind.is_locked)
        self.session.mate(active=False)
        self.told(True, False)

    def test_locker_was_there(self):
        """a screen that was locked before the agent began"""
        mate = self.session.mate(active=True)
        self.session.agent()
        self.told(True)
        mate.says(False)
        self.told(True, False)

    def test_agent_dies(self):
        """the next agent takes back what a killed one has said, and not before the screen is unlocked"""
        mate = self.session.mate()
        agent = self.session.agent()
        mate.says(True)
        self.told(True)
        agent.dies()
        wait_until(lambda: not self.session.has_agent(), "it is gone")
        agent = self.session.agent()
        self.told(True, True)
        agent.dies()
        wait_until(lambda: not self.session.has_agent(), "it is gone")
        mate.says(False)
        self.session.agent()
        self.told(True, True, False)
        # Behind logind's answer.
        wait_until(lambda: os.listdir(self.session.runtime) == [], "its mark is gone", 30)

    def test_system_bus(self):
        """a screen that is locked while logind cannot be reached is told afterwards"""
        agent = self.session.agent()
        mate = self.session.mate()
        self.session.logind.close()
        self.session.open.remove(self.logind)
        self.session.system.stop()
        mate.says(True)
        wait_until(lambda: self.session.readings(), "its settings are read", 30)
        self.settled()
        # The played logind has its name before it knows a session.
        agent.process.send_signal(signal.SIGSTOP)
        self.session.system.start()
        self.logind = self.session.logind_again()
        agent.process.send_signal(signal.SIGCONT)
        wait_until(lambda: self.logind.is_locked, "locked", 30)

    def test_refused(self):
        """a logind that refuses is not asked again, and the agent goes on"""
        agent = self.session.agent()
        self.logind.refuses()
        mate = self.session.mate()
        mate.says(True)
        wait_until(lambda: any("not allowed" in line for line in agent.heard), "it says so", 30)
        mate.says(False)
        self.assertEqual(self.session.needs(), ["locker"])


if __name__ == "__main__":
    unittest.main()
