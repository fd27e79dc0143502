"""NetworkManager, its applet, and a cable whose other end wants to know who is there: the applet keeps the password in
AppVault, and finds it when the machine wakes up behind a locked screen. Where the policy locks the store with the
screen, the connection waits without a dialog until the locker has opened the store. Pictures are kept."""

import unittest

import clientlab
import packages

NEEDS_ROOT = True
TIMEOUT = 2400
WIRE = "otter on a wire"
CONNECTION = (
    "nmcli connection add type ethernet ifname near con-name wire ipv4.method manual ipv4.addresses 10.9.9.1/24"
    " ipv6.method disabled 802-1x.eap md5 802-1x.identity alice 802-1x.password-flags 1 connection.autoconnect no")
# The kernel's part of a sleep is played: it would be this computer's. The cable loses its link meanwhile.
SLEEP = "[Service]\nExecStart=\nExecStart=ip link set far down\nExecStart=sh -c 'date > /run/asleep'\n"
POWER = """[Service]
TemporaryFileSystem=/sys
ProtectControlGroups=no
BindPaths=/sys/fs /sys/class /sys/devices /sys/dev /sys/bus /run/power:/sys/power
"""
MONITOR = "dbus-monitor --session interface=org.freedesktop.Secret.Prompt interface=org.freedesktop.Secret.Service"


@packages.on_later_releases
class Network(clientlab.Locked):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        desktop = cls.desktop
        desktop.write("/etc/systemd/system/systemd-suspend.service.d/played.conf", SLEEP)
        desktop.write("/etc/tmpfiles.d/power.conf", "d /run/power\nf /run/power/state - - - - mem\n")
        desktop.write("/etc/systemd/system/systemd-logind.service.d/power.conf", POWER)
        desktop.check("echo 'nm-applet &' >> /etc/xdg/openbox/autostart")
        cls.again()

    def device(self):
        states = dict(line.split(":") for line in self.desktop.check("nmcli -t -f DEVICE,STATE device").splitlines())
        return states["near"]

    def until_connected(self):
        self.until(lambda: self.device() == "connected", "a connection")
        self.assertIn("inet 10.9.9.1/24", self.desktop.check("ip address show near"))

    def kept(self):
        """How many items the applet has made for the connection."""
        return self.items(f"connection-uuid {self.desktop.check('nmcli -g connection.uuid connection show wire')}")

    def comes_back(self):
        """The cable has its link again, after NetworkManager has seen that it had none."""
        self.until(lambda: self.device() == "unavailable", "a cable without a link")
        self.desktop.check("ip link set far up")

    def sleeps(self):
        """The machine sleeps and wakes up, as far as all but its kernel is concerned."""
        self.desktop.check("rm -f /run/asleep; systemctl suspend")
        self.until(lambda: self.desktop.run("test -s /run/asleep")[0] == 0, "a sleep")
        self.until(lambda: self.desktop.run("systemctl is-active --quiet sleep.target")[0] != 0, "its end")
        self.comes_back()

    def counted(self, member):
        """How often the bus has carried it since the monitor began."""
        return self.command("cat ~/monitor").count(f"member={member}\n")

    def test_1_the_first_time(self):
        """the applet asks for the password, and keeps it"""
        desktop = self.desktop
        journal = "journalctl -b -u NetworkManager -o cat"
        self.until(lambda: "nm-applet" in desktop.run(journal)[1], "the applet's agent")
        desktop.check(CONNECTION)
        # From her session, as polkit wants it: NetworkManager asks the agents of whoever wants the connection.
        self.starts("nmcli --wait 0 connection up wire")
        self.until(lambda: self.window("--name", "802.1X"), "the applet's question")
        desktop.run("sleep 2")
        self.picture("network-question")
        # The first field has the name, as it is in the connection.
        desktop.key("Tab")
        desktop.type(WIRE)
        self.until_connected()
        self.until(lambda: self.kept() == 1, "an item")
        told = self.command("secret-tool search --all setting-name 802-1x 2>&1")
        for line in (f"secret = {WIRE}", "schema = org.freedesktop.NetworkManager.Connection",
                     "attribute.setting-key = password"):
            self.assertIn(line, told)
        desktop.check("nmcli connection modify wire connection.autoconnect yes")

    def test_2_after_a_login(self):
        """it is connected after the login, without a question"""
        self.again()
        self.until_connected()
        self.assertEqual((self.kept(), self.dialogs()), (1, "0"))
        self.assertFalse(self.window("--name", "802.1X"))

    def test_3_a_dialog_where_the_store_is_locked(self):
        self.command("appvault lock")
        self.desktop.check("ip link set far down")
        self.comes_back()
        self.until(lambda: self.window("--name", "^AppVault$"), "a dialog")
        self.desktop.run("sleep 1")
        self.picture("network-dialog")
        self.types_the_password()
        self.until_connected()
        self.assertEqual(self.kept(), 1)

    def test_4_resume_behind_the_lock(self):
        """the store stays open behind the screen's lock: the connection is back before anybody is there"""
        self.locks_the_screen()
        self.sleeps()
        self.until_connected()
        self.assertEqual((self.kept(), self.dialogs(), self.is_locked()), (1, "0", True))
        self.unlocks_the_screen(self.types_the_password)

    def test_5_resume_with_a_locked_secret(self):
        """where the policy locks the store the applet finds the locked item and waits; no dialog opens behind the lock;
        its prompt completes once, when the locker opens the store by passcode or by finger; there is one item"""
        self.enrols_a_finger()
        self.policy("[Passcode store:secrets]\nLockOnBackground=immediate\n")
        for how, act in (("passcode", self.types_the_password), ("finger", self.touches)):
            with self.subTest(how):
                self.starts(f"exec {MONITOR} > ~/monitor")
                self.until(lambda: self.run_in_session("test -s ~/monitor")[0] == 0, "a monitor of the bus")
                self.locks_the_screen()
                self.sleeps()
                self.until(lambda: self.prompts() == 1, "the applet, which waits")
                self.desktop.run("sleep 5")
                self.assertEqual((self.dialogs(), self.is_locked(), self.prompts()), ("0", True, 1))
                self.assertEqual(self.device(), "connecting (need authentication)")
                self.assertEqual([self.counted(name) for name in ("Unlock", "Prompt", "Completed")], [1, 1, 0])
                self.picture(f"network-behind-{how}")
                self.unlocks_the_screen(act)
                self.until_connected()
                self.assertEqual([self.counted(name) for name in ("Unlock", "Prompt", "Completed")], [1, 1, 1])
                self.assertEqual((self.kept(), self.dialogs(), self.prompts()), (1, "0", 0))
                self.assertFalse(self.window("--name", "802.1X"))
                self.picture(f"network-connected-{how}")
                self.desktop.check("pkill dbus-monitor")

    def test_6_killed(self):
        """appvault-secrets is killed: the applet, which has asked the former one, finds its secret with the new one"""
        unit = "systemctl --user show -P MainPID appvault-secrets.service"
        process = self.command(unit)
        self.desktop.check(f"kill -KILL {process}")
        self.until(lambda: self.command(unit) not in (process, "0\n"), "another one")
        self.desktop.check("ip link set far down")
        self.comes_back()
        self.until_connected()
        self.assertEqual((self.kept(), self.dialogs()), (1, "0"))
        self.assertFalse(self.window("--name", "802.1X"))


if __name__ == "__main__":
    unittest.main()
