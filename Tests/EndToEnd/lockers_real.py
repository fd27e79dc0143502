"""Debian's screen lockers themselves, in a person's session on a booted machine: they lock the store with the screen,
and what is typed at them opens it. Each test is a row of docs/services.md's table, and keeps pictures of it."""

import base64
import os
import re
import shlex
import subprocess
import tempfile
import time
import unittest

import machine
import packages
from desktop import FOCUS, XSERVER, Desktop
from places import LABS

NEEDS_ROOT = True
TIMEOUT = 900
ALICE, WRONG = machine.PASSWORDS["alice"], "wrong-otter-9"
SECRET = "an otter's secret"
# What fills the screen while these have locked it.
I3LOCK, SWAYLOCK, BLANK = "7a2048", "206a48", "000000"
# What GNOME's lock screen asks in.
ENTRY = "1a375d"

machine.IMAGES["lockers"] = machine.Image("i3lock xscreensaver light-locker sway swaylock", parent="desktop")
# gjs: what the key that locks the screen calls is written in it. The seat is one that has a graphics card, for GDM;
# on any but seat0 GDM starts an X server itself, and wants no virtual terminal.
machine.IMAGES["gnome"] = machine.Image(
    "gdm3 gnome-session gnome-shell gjs xvfb xdotool imagemagick xterm x11-utils fonts-dejavu-core"
    " libpam-gnome-keyring-",
    XSERVER
    + r"""
ln -s /usr/local/bin/xserver /usr/bin/Xorg
cat > /etc/tmpfiles.d/seat.conf <<'END'
f /run/udev/data/c1:3 - - - - I:1\nE:ID_SEAT=seat1\nG:seat\nG:master-of-seat\nQ:seat\nQ:master-of-seat\nV:1\n
f /run/udev/tags/seat/c1:3
f /run/udev/tags/master-of-seat/c1:3
END
cat > /usr/local/bin/terminal <<'END'
#!/bin/sh
rm -f /tmp/terminal
exec xterm -l -lf /tmp/terminal -fa 'DejaVu Sans Mono' -fs 11 -geometry 80x24
END
chmod +x /usr/local/bin/terminal
printf '[Desktop Entry]\nType=Application\nName=Terminal\nExec=/usr/local/bin/terminal\n' \
    > /etc/xdg/autostart/terminal.desktop
: > /etc/default/locale
""",
    "base")


class Lockers(Desktop):
    """A desktop with the lockers on it. Pictures are of the display that the seat shows, and keys go there."""

    FRONT = (
        "front=$(loginctl show-seat -P ActiveSession seat0); display=$(loginctl show-session -P Display $front);"
        " export DISPLAY=${display:-:0}; export XAUTHORITY=/var/run/lightdm/root/$DISPLAY; ")

    IMAGE = "lockers"

    def __init__(self):
        machine.Machine.__init__(self, self.IMAGE, bind=packages.BIND)

    def play_terminals(self):
        """From the next boot on LightDM has virtual terminals: see terminals.c."""
        with tempfile.TemporaryDirectory() as folder:
            library, source = os.path.join(folder, "terminals.so"), os.path.join(LABS, "C", "terminals.c")
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
            with open(library, "rb") as file:
                library = base64.b64encode(file.read()).decode()
        self.check("base64 -d > /usr/lib/terminals.so", stdin=library)
        self.write(
            "/etc/systemd/system/lightdm.service.d/terminals.conf",
            "[Service]\nEnvironment=LD_PRELOAD=/usr/lib/terminals.so\n")

    def x(self, command):
        return self.check(self.FRONT + command)

    def front(self):
        """Whose session the seat shows."""
        return self.run(self.FRONT + "loginctl show-session -P Name $front")[1].strip()

    def shows_window(self, kind):
        return self.run(f"{self.FRONT} xdotool search --onlyvisible --class {kind}")[0] == 0

    def is_filled(self, colour):
        return self.colours()[bytes.fromhex(colour)] > 600_000

    def wait(self, ready, what, seconds=0):
        # Nothing here is about time, and the computer may have other things to do.
        super().wait(ready, what, 120)

    def again(self, act, done, what):
        """Runs the command that `act` names until `done` holds. A locker takes no keys before it has the keyboard, and
        some take none while they say that the last ones were wrong."""
        acted = None

        def ready():
            nonlocal acted
            if done():
                return True
            if acted is None or time.monotonic() - acted > 10:
                # The display may have gone, which `done` sees the next time.
                self.run(self.FRONT + act())
                acted = time.monotonic()
            return False

        self.wait(ready, what)

    def types(self, text, done, what, instead=lambda: None):
        """Types it and Enter; a key `instead`, while the locker needs that one first."""
        typed = f"type --delay 4 -- {shlex.quote(text)} && xdotool key Return"

        def act():
            key = instead()
            return "xdotool " + (f"key {key}" if key else typed)

        self.again(act, done, what)

    def turn_to(self, title):
        """Brings the window with that title to the front, of two, and it gets what is typed."""
        name = f"{self.FRONT} xdotool getactivewindow getwindowname"
        self.again(lambda: "xdotool key alt+Tab", lambda: self.run(name)[1].startswith(title), f"the window {title}")


class Gnome(Lockers):
    """A desktop of GNOME's, with GDM."""

    IMAGE = "gnome"
    FRONT = "export DISPLAY=:0; export XAUTHORITY=$(ls /run/gdm3/auth-for-Debian-gdm-*/database); "

    def bus(self, command):
        """A command on alice's session bus."""
        return self.run(f"export XDG_RUNTIME_DIR=/run/user/$(id -u); {command}", user="alice")

    def is_locked(self):
        name = "org.gnome.ScreenSaver /org/gnome/ScreenSaver org.gnome.ScreenSaver"
        return "true" in self.bus(f"busctl --user call {name} GetActive")[1]

    def greeter(self):
        """GDM lists who may log in; its first is alice."""
        def selected():
            return self.run(f"{self.FRONT} xdotool getdisplaygeometry")[0] == 0 and self.colours()[FOCUS]

        self.wait(lambda: selected() > 10_000, "GDM's list")
        self.again(lambda: "xdotool key Return", lambda: 400 < selected() < 5_000, "GDM's question")

    def session(self):
        name = "org.gnome.Shell /org/gnome/Shell org.gnome.Shell OverviewActive"
        self.wait(
            lambda: self.run(f"{self.FRONT} xdotool search --name '^alice@'")[0] == 0, "a terminal of alice's")

        def has_closed_overview():
            self.bus(f"busctl --user set-property {name} b false")
            return "false" in self.bus(f"busctl --user get-property {name}")[1]

        self.wait(has_closed_overview, "a desktop without its overview")


class Locking(unittest.TestCase):
    """alice's desktop, with the packages on it."""

    DESKTOP = Lockers

    @classmethod
    def setUpClass(cls):
        if os.environ.get("APPVAULT_LOCKERS") != "1":
            raise unittest.SkipTest("real screen lockers need an image of their own; `make lockers` tries them")
        cls.desktop = cls.DESKTOP()
        cls.addClassCleanup(cls.desktop.stop)
        packages.install(cls.desktop)

    def setUp(self):
        """alice logs in, and that opens her store."""
        desktop = self.desktop
        # Nothing is left of a locker of before.
        desktop.reboot()
        desktop.greeter()
        desktop.type(ALICE)
        desktop.session()
        self.until_state("open")
        desktop.check("appvault set mail", user="alice", stdin=SECRET)

    def state(self):
        return self.desktop.check("appvault status", user="alice").split("\n")[1].split()[1].rstrip(";")

    def until_state(self, state):
        self.desktop.wait(lambda: self.state() == state, f"a store that is {state}")

    def is_hinted(self):
        """Whether logind counts the screen as locked."""
        sessions = "$(loginctl show-user -P Sessions alice)"
        return "yes" in self.desktop.check(f"loginctl show-session -P LockedHint {sessions}")

    def failures(self, service):
        """How often pam_unix has refused what was typed there."""
        journal = self.desktop.run("journalctl -b -q -o cat")[1]
        return journal.count(f"pam_unix({service}:auth): authentication failure")

    def happened(self):
        """What became of the store at last, in two words."""
        lines = self.desktop.run("journalctl -b -q -o cat -u appvaultd")[1].splitlines()
        return [re.match(r"a store was (\w+)", line)[1] for line in lines if line.startswith("a store was ")][-2:]

    def locks(self, name, service, is_locked, instead=lambda: None):
        """The screen is about to be locked. The store is locked with it; a wrong password leaves both locked, and the
        right one opens both. Then the store is still open."""
        desktop = self.desktop
        desktop.wait(is_locked, f"a screen that {name} locks")
        self.until_state("locked")
        desktop.picture(f"locker-{name}-locked")

        before = self.failures(service)
        desktop.types(WRONG, lambda: self.failures(service) > before, f"a wrong password at {name}", instead)
        self.assertTrue(is_locked())
        self.assertEqual(self.state(), "locked")

        desktop.types(ALICE, lambda: not is_locked(), f"a screen that {name} unlocks", instead)
        desktop.wait(lambda: not self.is_hinted(), "logind's word that the screen is not locked")
        # On a busy machine the screen is sooner than the store.
        self.until_state("open")
        desktop.turn_to("alice@")
        before = desktop.check("cat /tmp/terminal").count(SECRET)
        desktop.types(
            "clear; appvault get mail", lambda: desktop.check("cat /tmp/terminal").count(SECRET) > before, "the secret")
        desktop.wait(lambda: self.happened() == ["locked", "opened"], "a store that was opened and is still open")
        self.assertEqual(self.state(), "open")
        desktop.picture(f"locker-{name}-unlocked")


class Lock(Locking):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.desktop.play_terminals()

    def test_i3lock(self):
        """i3lock, run by `appvault screen` in front and behind"""
        for name, command in (
            ("i3lock", f"appvault screen -- i3lock -n -c {I3LOCK}"),
            ("i3lock-detached", f"appvault screen --detach -- i3lock -c {I3LOCK}")):
            with self.subTest(name):
                self.desktop.type(command)
                self.locks(name, "i3lock", lambda: self.desktop.is_filled(I3LOCK))

    def test_swaylock(self):
        """swaylock, run by `appvault screen` in front and behind, in a sway whose monitor is a window"""
        desktop, socket = self.desktop, "SWAYSOCK=/run/user/$(id -u)/sway"
        desktop.type(f"{socket} WLR_BACKENDS=x11 WLR_RENDERER=pixman sway -c /dev/null > /tmp/sway.log 2>&1 &")
        desktop.wait(lambda: desktop.run(f"{socket} swaymsg -t get_outputs", user="alice")[0] == 0, "sway")
        locker = f"swaylock --indicator-idle-visible -c {SWAYLOCK}"
        for name, command in (
            ("swaylock", f"appvault screen -- {locker}"),
            ("swaylock-detached", f"appvault screen --detach -- {locker} -f")):
            with self.subTest(name):
                desktop.turn_to("wlroots")
                desktop.check(f"{socket} swaymsg exec {shlex.quote(command)}", user="alice")
                self.locks(name, "swaylock", lambda: desktop.is_filled(SWAYLOCK))

    def test_xscreensaver(self):
        """XScreenSaver, at logind's word"""
        desktop = self.desktop
        desktop.check("cat > ~alice/.xscreensaver", stdin="lock: True\nmode: blank\nfade: False\nunfade: False\n")

        def is_locked():
            return "screen locked" in desktop.x("xscreensaver-command -time 2>&1 || true")

        def instead():
            """A key brings its question; what it says of wrong answers goes at Enter, and comes after the right one."""
            # Two fields are white, and a part of its picture.
            if desktop.colours()[bytes.fromhex("ffffff")] > 15_000:
                return None
            return "shift" if desktop.is_filled(BLANK) else "Return"

        desktop.type("xscreensaver --no-splash > /tmp/xscreensaver.log 2>&1 &")
        desktop.types("loginctl lock-session", is_locked, "a screen that XScreenSaver locks")
        desktop.again(lambda: "xdotool key shift", lambda: instead() is None, "XScreenSaver's question")
        self.locks("xscreensaver", "xscreensaver", is_locked, instead)

    def test_light_locker(self):
        """light-locker, which brings LightDM's greeter to the front"""
        desktop = self.desktop
        desktop.type("light-locker > /tmp/light-locker.log 2>&1 &")
        desktop.type("until light-locker-command --query; do sleep 0.1; done; light-locker-command --lock")
        desktop.wait(lambda: desktop.front() == "lightdm" and desktop.colours()[FOCUS] > 400, "the greeter's question")
        self.locks(
            "light-locker", "lightdm", lambda: desktop.front() != "alice" or desktop.shows_window("light-locker"))


class LockGnome(Locking):
    DESKTOP = Gnome

    def test_gnome(self):
        """GNOME's lock screen, at logind's word, by the key that locks it, and when nobody touches anything; and when
        logind unlocks it"""
        desktop = self.desktop
        idle = "gsettings set org.gnome.desktop.session idle-delay"

        def instead():
            """A key shows the clock, and another one asks."""
            if desktop.colours()[bytes.fromhex(ENTRY)] > 5_000:
                return None
            return "shift" if desktop.is_filled(BLANK) else "Return"

        for name, lock in (
            ("gnome", lambda: desktop.type("loginctl lock-session")),
            ("gnome-key", lambda: desktop.key("super+l")),
            ("gnome-idle", lambda: desktop.type(f"{idle} 2"))):
            with self.subTest(name):
                lock()
                desktop.wait(lambda: desktop.is_locked() and self.is_hinted(), f"a screen that is locked: {name}")
                desktop.bus(f"{idle} 0")
                desktop.again(
                    lambda: f"xdotool key {instead() or 'shift'}", lambda: instead() is None, "the screen's question")
                self.locks(name, "gdm-password", desktop.is_locked, instead)

        # logind can open the screen, and not the store.
        desktop.type("loginctl lock-session")
        desktop.wait(lambda: desktop.is_locked() and self.is_hinted(), "a locked screen")
        desktop.check("loginctl unlock-session $(loginctl show-user -P Sessions alice)")
        desktop.wait(lambda: not desktop.is_locked() and not self.is_hinted(), "a screen that logind unlocks")
        self.assertEqual(self.state(), "locked")
        self.assertEqual(self.happened()[-1], "locked")
        desktop.picture("locker-gnome-by-logind")


if __name__ == "__main__":
    unittest.main()
