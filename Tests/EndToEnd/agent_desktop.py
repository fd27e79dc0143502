"""The agent in a person's desktop session: dialogs and notices as a person sees them, an application that is frozen
behind them, and Debian's own screen locker that tells only the session bus. Pictures are kept."""

import unittest

import machine
import packages
from desktop import Desktop

NEEDS_ROOT = True
TIMEOUT = 900
ALICE = machine.PASSWORDS["alice"]

machine.IMAGES["agent"] = machine.Image("pinentry-gtk2 dunst mate-screensaver dconf-gsettings-backend", parent="desktop", prepare=r"""
cat >> /etc/xdg/openbox/autostart <<'END'
dunst &
mate-screensaver &
END
""")


class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.desktop = Desktop.__new__(Desktop)
        machine.Machine.__init__(cls.desktop, "agent", bind=packages.BIND)
        cls.addClassCleanup(cls.desktop.stop)
        packages.install(cls.desktop)
        desktop = cls.desktop
        # The greeter that is there already has begun without our module.
        desktop.reboot()
        desktop.greeter()
        desktop.type(ALICE)
        desktop.session()
        desktop.wait(lambda: cls.state() == "open", "alice's store", 60)

    @classmethod
    def state(cls):
        return cls.desktop.check("appvault status", user="alice").split("\n")[1].split()[1].rstrip(";")

    def until_state(self, state):
        self.desktop.wait(lambda: self.state() == state, f"a store that is {state}", 60)

    def in_session(self, command, **options):
        """As a program of alice's session that has no terminal."""
        return self.desktop.run(
            f"systemd-run --quiet --pipe --wait --uid=alice -p PAMName=systemd-user"
            f" -E DISPLAY=:0 -E XAUTHORITY=/home/alice/.Xauthority {command} </dev/null", **options)

    def shows(self, name):
        return self.desktop.run(
            f"DISPLAY=:0 XAUTHORITY=/var/run/lightdm/root/:0 xdotool search --onlyvisible --name '{name}'")[0] == 0

    def test_dialog_and_notice(self):
        """the store is locked: an application asks for it in a dialog; frozen, it says so in a notice"""
        desktop = self.desktop
        desktop.check("appvault lock", user="alice")
        desktop.type("clear; (setsid appvault run --app notes -- xterm -T notes -e cat </dev/null >/tmp/run.log 2>&1 &)")
        desktop.wait(lambda: self.shows("AppVault"), "the dialog", 60)
        desktop.picture("agent-1-dialog")
        desktop.type("wrong-otter-9")
        desktop.wait(lambda: desktop.run("pgrep -c pinentry")[0] == 0, "the second dialog", 60)
        desktop.wait(lambda: self.shows("AppVault"), "the second dialog", 60)
        desktop.picture("agent-2-wrong")
        desktop.type(ALICE)
        desktop.wait(lambda: self.shows("^notes$"), "the application", 60)
        desktop.picture("agent-3-application")
        self.until_state("open")
        desktop.check("appvault lock", user="alice")
        desktop.wait(lambda: not self.shows("^notes$"), "no window of the application", 60)
        desktop.wait(
            lambda: '"locked":true' in desktop.check(
                "XDG_RUNTIME_DIR=/run/user/$(id -u alice) runuser -u alice -- appvault app list --json"),
            "the application is locked", 60)
        desktop.picture("agent-4-locked")
        desktop.type("appvault unlock")
        desktop.shows("asscode")
        desktop.type(ALICE)
        desktop.wait(lambda: self.shows("^notes$"), "the application is back", 60)
        desktop.picture("agent-5-back")

    def test_relay(self):
        """mate-screensaver blanks without a lock, and nothing is locked; it locks, and the store is locked with it"""
        desktop = self.desktop
        if self.state() != "open":
            desktop.type("clear; appvault unlock")
            desktop.shows("asscode")
            desktop.type(ALICE)
            self.until_state("open")
        desktop.type("clear; gsettings set org.mate.screensaver lock-enabled false; mate-screensaver-command -a")
        desktop.wait(
            lambda: "is active" in self.command("mate-screensaver-command -q"), "a blank screen", 60)
        desktop.picture("agent-6-blank")
        self.assertEqual(self.state(), "open", self.command("gsettings list-recursively org.mate.screensaver") + desktop.run("journalctl -b -n 30 --no-pager -u appvaultd; journalctl -b -n 20 --no-pager _UID=$(id -u alice)")[1])
        self.command("mate-screensaver-command -d")
        self.command("gsettings set org.mate.screensaver lock-enabled true")
        self.command("mate-screensaver-command -l")
        self.until_state("locked")
        desktop.picture("agent-7-locked")
        desktop.x("xdotool mousemove_relative 5 5")
        desktop.wait(lambda: self.typed_at_locker(), "an unlocked screen", 120)
        self.until_state("open")
        desktop.picture("agent-8-unlocked")

    def typed_at_locker(self):
        self.desktop.key("BackSpace")
        self.desktop.run("sleep 3")
        self.desktop.type(ALICE)
        self.desktop.run("sleep 3")
        return "is inactive" in self.command("mate-screensaver-command -q")

    def command(self, command):
        return self.desktop.run(
            "XDG_RUNTIME_DIR=/run/user/$(id -u alice) DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$(id -u alice)/bus"
            f" DISPLAY=:0 XAUTHORITY=/home/alice/.Xauthority runuser -u alice -- {command}")[1]
