"""A booted machine with a desktop whose screen a test can see: LightDM with its GTK greeter and
openbox, on Xvfb.

    with Desktop() as desktop:
        desktop.greeter()                        # until it asks for a password
        desktop.type("alice-otter-2")            # and Enter
        desktop.session("alice")                 # until alice's terminal is there
        desktop.picture("desktop")               # .build/e2e/screenshots/desktop.png

The greeter selects alice, and later the person who logged in last. In a session a terminal is
open.
"""

import collections
import os
import shlex
import socket
import time

import machine

SCREENSHOTS = os.path.join(machine.CACHE, "screenshots")
ROOTS = "DISPLAY=:0 XAUTHORITY=/var/run/lightdm/root/:0"
READER = "/run/appvault-reader"

# An X server at /usr/local/bin/xserver, for an image's `prepare`.
XSERVER = r"""
# A display without hardware.
cat > /usr/local/bin/xserver <<'END'
#!/bin/sh
display=:0 auth=
while [ $# -gt 0 ]; do
    case $1 in
        :*) display=$1 ;;
        -auth) shift; auth=$1 ;;
    esac
    shift
done
exec Xvfb "$display" ${auth:+-auth "$auth"} -screen 0 1024x768x24 -nolisten tcp -noreset
END
chmod +x /usr/local/bin/xserver
"""

machine.IMAGES["desktop"] = machine.Image(
    "lightdm lightdm-gtk-greeter xvfb openbox xdotool imagemagick xterm x11-utils fonts-dejavu-core adwaita-icon-theme"
    " libpam-gnome-keyring-",
    XSERVER
    + r"""mkdir -p /etc/lightdm/lightdm.conf.d
cat > /etc/lightdm/lightdm.conf.d/test.conf <<'END'
[LightDM]
logind-check-graphical=false
[Seat:*]
xserver-command=/usr/local/bin/xserver
greeter-session=lightdm-gtk-greeter
user-session=openbox
greeter-hide-users=false
END
printf '[greeter]\nbackground=#2e4053\n' > /etc/lightdm/lightdm-gtk-greeter.conf
# The seat of a container has no terminals of its own.
for service in lightdm lightdm-greeter; do
    sed -i '0,/^session/s//session required pam_env.so readenv=0 conffile=\/etc\/security\/seat.conf\nsession/' \
        /etc/pam.d/$service
done
touch /etc/default/locale
install -d -o lightdm -g lightdm -m 750 /var/lib/lightdm/.cache /var/lib/lightdm/.cache/lightdm-gtk-greeter
printf '[greeter]\nlast-user=alice\n' > /var/lib/lightdm/.cache/lightdm-gtk-greeter/state
chown lightdm: /var/lib/lightdm/.cache/lightdm-gtk-greeter/state
mkdir -p /etc/xdg/openbox
cat > /etc/xdg/openbox/autostart <<'END'
xsetroot -solid '#2e4053'
rm -f /tmp/terminal
xterm -l -lf /tmp/terminal -fa 'DejaVu Sans Mono' -fs 11 -geometry 80x24+120+120 &
END
""",
    "base",
)


# The signs by which the greeter is recognised: its entry has the focus, it shows a line.
FOCUS, LINE = bytes.fromhex("3584e4"), bytes.fromhex("f1e6d9")

READER_UNIT = f"""
[Service]
Type=exec
ExecStart=/usr/libexec/appvault/appvault-fingerprint --listen {READER}/socket --peer _appvault --fixed --linger 0 \\
    --env FP_VIRTUAL_DEVICE={READER}/reader
User=_appvault
RuntimeDirectory={os.path.basename(READER)}
[Install]
WantedBy=multi-user.target
"""
READER_DROP_IN = f"""
[Service]
ExecStart=
ExecStart=/usr/libexec/appvault/appvaultd --fingerprint-socket {READER}/socket
"""


class Desktop(machine.Machine):
    """A machine with that image."""

    def __init__(self, **options):
        super().__init__("desktop", **options)

    def wait(self, ready, what, seconds=20):
        asked = time.monotonic()
        until = asked + seconds
        while not ready():
            if time.monotonic() > until:
                raise AssertionError(f"{what}: not within {seconds} s; the screen: {self.picture('last')}")
            # Each question starts programs in the machine.
            time.sleep(max(0.1, 2 * (time.monotonic() - asked)))
            asked = time.monotonic()

    # the screen

    def x(self, command):
        """A command that reaches the display, as root."""
        return self.check(f"{ROOTS} {command}")

    def key(self, *keys):
        self.x("xdotool key " + " ".join(keys))

    def type(self, text):
        """Types the text and Enter."""
        self.x(f"xdotool type --delay 4 -- {shlex.quote(text)}")
        self.key("Return")

    def _import(self, form):
        """What the screen shows."""
        self.x(f"import -window root -depth 8 {form}:/run/screen")
        with open(self._inside("run/screen"), "rb") as file:
            return file.read()

    def _inside(self, path):
        return os.path.join("/proc", str(self.leader), "root", path)

    def picture(self, name):
        """Saves what the screen shows, so that people can look at it."""
        os.makedirs(SCREENSHOTS, exist_ok=True)
        path = os.path.join(SCREENSHOTS, f"{name}.png")
        with open(path, "wb") as file:
            file.write(self._import("png"))
        return path

    def colours(self):
        """How many pixels each colour has."""
        screen = self._import("rgb")
        return collections.Counter(screen[at : at + 3] for at in range(0, len(screen), 3))

    # the greeter

    def _greeter(self, focus, line):
        def ready():
            if self.run(f"{ROOTS} xdotool search --onlyvisible --class lightdm-gtk-greeter")[0] != 0:
                return False
            seen = self.colours()
            return (seen[FOCUS] > 400, seen[LINE] > 4000) == (focus, line)

        return ready

    def greeter(self, asks=True, line=False):
        """Waits until the greeter asks for a password and shows a line above the button."""
        self.wait(self._greeter(asks, line), f"the greeter, asking: {asks}, with a line: {line}", 30)

    # the session

    def session(self, name="alice"):
        """Waits until that person's terminal is open, which then gets what is typed."""
        self.seen = 0  # position in what the terminal has shown
        self.wait(
            lambda: self.run(f"{ROOTS} xdotool search --name '^{name}@'")[0] == 0, f"the desktop of {name}", 30)

    def shows(self, text, seconds=15):
        """Waits until the terminal has shown it, after what it showed before."""
        def ready():
            shown = self.run("cat /tmp/terminal")[1].replace("\r", "")
            at = shown.find(text, self.seen)
            if at >= 0:
                self.seen = at + len(text)
            return at >= 0

        self.wait(ready, f"{text!r} in the terminal", seconds)

    def logout(self):
        self.type("openbox --exit")
        # logind lists the session for some seconds more: ssh-agent looks every ten seconds whether it has ended.
        self.wait(
            lambda: self.run("loginctl show-user -P State alice")[1].strip() not in ("active", "online"),
            "the end of the session")

    # the reader

    def play_reader(self):
        """Plays one of libfprint's own virtual readers. systemd's socket allows no fake reader,
        so it has a worker of its own, which the daemon asks."""
        self.write("/etc/systemd/system/reader.service", READER_UNIT)
        self.write("/etc/systemd/system/appvaultd.service.d/reader.conf", READER_DROP_IN)
        self.check(
            "systemctl daemon-reload && systemctl enable --now --quiet reader.service && systemctl restart appvaultd")

    def touch(self, finger):
        """Touches the reader once it waits for a finger."""
        def played():
            with socket.socket(socket.AF_UNIX) as reader:
                try:
                    reader.connect(self._inside(f"{READER[1:]}/reader"))
                except OSError:
                    return False
                reader.sendall(f"SCAN {finger}".encode())
                return True

        self.wait(played, "a reader that waits for a finger")
