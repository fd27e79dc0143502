"""The agent in a person's desktop session: dialogs and notices as a person sees them, an application that is frozen
behind them, and a screen locker of Debian's that tells only the session bus. Pictures are kept."""

import json
import unittest

import machine
import packages
from desktop import Desktop

NEEDS_ROOT = True
TIMEOUT = 900
ALICE = machine.PASSWORDS["alice"]

machine.IMAGES["agent"] = machine.Image(
    "pinentry-gtk2 pinentry-qt pinentry-gnome3 dunst mate-screensaver dconf-gsettings-backend libglib2.0-bin"
    " libxcb-res0", parent="desktop",
    prepare=r"""
cat >> /etc/xdg/openbox/autostart <<'END'
dunst &
mate-screensaver &
# As a desktop does that starts what is in this folder.
sh -c "$(sed -n 's/^Exec=//p' /etc/xdg/autostart/appvault-agent.desktop)" &
END
""")


class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        desktop = cls.desktop = Desktop.__new__(Desktop)
        machine.Machine.__init__(desktop, "agent", bind=packages.BIND)
        cls.addClassCleanup(desktop.stop)
        packages.install(desktop)
        # The greeter that is there already has begun without our module.
        desktop.reboot()
        desktop.greeter()
        desktop.type(ALICE)
        desktop.session()
        desktop.wait(lambda: cls.state() == "open", "alice's store", 60)

    @classmethod
    def state(cls):
        return cls.desktop.check("appvault status", user="alice").split("\n")[1].split()[1].rstrip(";")

    def until(self, what, name):
        self.desktop.wait(what, name, 90)

    def until_state(self, state):
        self.until(lambda: self.state() == state, f"a store that is {state}")

    def command(self, command):
        """Of alice's, in her session; what it writes."""
        return self.desktop.run(
            "export HOME=$(echo ~alice) XDG_RUNTIME_DIR=/run/user/$(id -u alice) DISPLAY=:0;"
            " export XAUTHORITY=$HOME/.Xauthority;"
            f" export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus; runuser -u alice -- {command}")[1]

    def window(self, name):
        found = self.desktop.run(
            f"DISPLAY=:0 XAUTHORITY=/var/run/lightdm/root/:0 xdotool search --onlyvisible --name '{name}'")[1]
        return found.strip()

    def unlocks(self):
        """At the terminal of the session."""
        self.desktop.type("clear; appvault unlock")
        self.desktop.shows("asscode")
        self.desktop.type(ALICE)
        self.until_state("open")

    def dialog(self, before=""):
        """Waits for the next dialog: its process."""
        def process():
            return self.desktop.run("pgrep -x -n 'pinentry.*'")[1].strip()

        self.until(lambda: process() not in ("", before) and self.window("^AppVault$"), "a dialog")
        return process()

    def is_locked(self):
        running = json.loads(self.command("appvault app list --json"))["running"]
        return [app["locked"] for app in running] == [True]

    def test_dialog_and_application(self):
        """an application asks in a dialog, twice because of a typo; it is frozen with its store and its window gone, a
        notice says so, and both come back"""
        desktop = self.desktop
        desktop.check("appvault lock", user="alice")
        desktop.type("clear; (setsid appvault run --app notes -- xterm -T notes -e cat </dev/null >/dev/null 2>&1 &)")
        first = self.dialog()
        desktop.picture("agent-1-dialog")
        desktop.type("wrong-otter-9")
        self.dialog(first)
        desktop.picture("agent-2-wrong")
        desktop.type(ALICE)
        self.until(lambda: self.window("^notes$"), "the application")
        self.until_state("open")
        desktop.picture("agent-3-application")
        desktop.check("appvault lock", user="alice")
        self.until(lambda: not self.window("^notes$"), "no window of the application")
        self.until(self.is_locked, "a locked application")
        # The notice is drawn a moment later.
        self.until(lambda: "dunst" in desktop.run("pgrep -a dunst")[1], "a server for notices")
        desktop.run("sleep 2")
        desktop.picture("agent-4-locked")
        # The terminal has the focus again.
        self.unlocks()
        self.until(lambda: self.window("^notes$"), "the application is back")
        desktop.picture("agent-5-back")
        desktop.run("pkill -f 'xterm -T notes'")
        self.until(lambda: not self.window("^notes$"), "the end of the application")

    def test_pinentries(self):
        """each of Debian's three asks, has the focus, and opens the store"""
        desktop = self.desktop
        # The terminal may still offer a recovery key, after an earlier unlock.
        desktop.type("3")
        for name in ("gtk-2", "qt", "gnome3"):
            with self.subTest(name):
                desktop.check("appvault lock", user="alice")
                desktop.type(
                    f"clear; (APPVAULT_PINENTRY=/usr/bin/pinentry-{name} setsid appvault unlock"
                    " </dev/null >/dev/null &)")
                self.until(lambda name=name: desktop.run(f"pgrep -x pinentry-{name}")[0] == 0, "a dialog's program")
                self.until(lambda: self.window("AppVault") or self.window("gcr-prompter"), "a dialog")
                # It has drawn itself.
                desktop.run("sleep 1")
                desktop.picture(f"agent-pinentry-{name}")
                desktop.type(ALICE)
                self.until_state("open")
                self.until(lambda name=name: desktop.run(f"pgrep -x pinentry-{name}")[0] != 0, "the dialog's end")

    def test_relay(self):
        """mate-screensaver blanks without a lock, and nothing is locked; it locks, and the store is locked with it"""
        desktop = self.desktop
        if self.state() != "open":
            self.unlocks()
        self.command("gsettings set org.mate.screensaver lock-enabled false")
        self.command("mate-screensaver-command -a")
        self.until(lambda: "is active" in self.command("mate-screensaver-command -q"), "a blank screen")
        # What would be relayed is relayed at once.
        desktop.run("sleep 3")
        self.assertEqual(self.state(), "open")
        self.command("mate-screensaver-command -d")
        self.until(lambda: "is inactive" in self.command("mate-screensaver-command -q"), "no blank screen")
        self.command("gsettings set org.mate.screensaver lock-enabled true")
        self.command("mate-screensaver-command -l")
        self.until_state("locked")
        self.until(self.typed, "an unlocked screen")
        self.until_state("open")
        desktop.picture("agent-6-unlocked")

    def typed(self):
        """Whether the screen is unlocked, after the password was typed once more."""
        self.desktop.x("xdotool mousemove_relative 5 5")
        self.desktop.run("sleep 2")
        self.desktop.type(ALICE)
        self.desktop.run("sleep 3")
        return "is inactive" in self.command("mate-screensaver-command -q")
