"""Programs of a desktop keep their secrets in AppVault, in a session with a screen: secret-tool, git, Seahorse,
Chromium, and a program in a sandbox through the portal. A login by password or by finger opens them, and a dialog asks
where the store is locked. Pictures are kept."""

import os
import shlex
import unittest

import machine
import packages
from desktop import Desktop

NEEDS_ROOT = True
TIMEOUT = 1200
ALICE = machine.PASSWORDS["alice"]
NAME = "org.freedesktop.secrets"
APP = "org.example.Otter"
PORTALS = "[preferred]\ndefault=gtk\norg.freedesktop.impl.portal.Secret=gnome-keyring;\n"

machine.IMAGES["clients"] = machine.Image(
    "gnome-keyring seahorse libsecret-tools git xdg-desktop-portal bubblewrap python3-dbus chromium pinentry-gtk2 dunst"
    " libglib2.0-bin", parent="desktop",
    prepare=r"""
# git's own helper is in its package as a source.
apt-get install -q -y --no-install-recommends gcc libc6-dev make pkg-config libsecret-1-dev
mkdir /tmp/git && cd /tmp/git && apt-get download -q git && dpkg-deb -x git_*.deb .
make -C usr/share/doc/git/contrib/credential/libsecret
install usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret /usr/lib/git-core/
cd / && rm -r /tmp/git
apt-get clean
cat >> /etc/xdg/openbox/autostart <<'END'
dunst &
# As a desktop does that starts what is in this folder.
for file in /etc/xdg/autostart/appvault-agent.desktop /etc/xdg/autostart/gnome-keyring-*.desktop; do
    [ ! -e "$file" ] || sh -c "$(sed -n 's/^Exec=//p' "$file")" &
done
END
# What a program in a sandbox does with the portal.
cat > /usr/local/bin/portal-key <<'END'
#!/usr/bin/python3
import os, dbus
reading, writing = os.pipe()
portal = dbus.SessionBus().get_object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
portal.RetrieveSecret(
    dbus.types.UnixFd(writing), dbus.Dictionary({}, signature="sv"), dbus_interface="org.freedesktop.portal.Secret")
os.close(writing)
with os.fdopen(reading, "rb") as file:
    print(file.read().hex())
END
chmod +x /usr/local/bin/portal-key
""")


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("APPVAULT_CLIENTS") != "1":
            raise unittest.SkipTest("a desktop's programs need an image of their own; `make clients` tries them")
        packages.file(packages.DESKTOP)
        desktop = cls.desktop = Desktop.__new__(Desktop)
        machine.Machine.__init__(desktop, "clients", bind=packages.BIND)
        cls.addClassCleanup(desktop.stop)
        packages.install(desktop, packages.DESKTOP)
        desktop.play_reader()
        # Later portals ask whom the desktop names: GNOME names gnome-keyring.
        desktop.write("/etc/xdg/xdg-desktop-portal/portals.conf", PORTALS)
        cls.again()

    @classmethod
    def again(cls):
        """The machine starts, and alice logs in by her password."""
        cls.desktop.reboot()
        cls.desktop.greeter()
        cls.desktop.type(ALICE)
        cls.desktop.session()
        cls.desktop.wait(lambda: cls.state() == "open", "alice's store", 60)

    @classmethod
    def state(cls):
        return cls.desktop.check("appvault status", user="alice").split("\n")[1].split()[1].rstrip(";")

    def until(self, what, name):
        self.desktop.wait(what, name, 90)

    def run_in_session(self, command):
        """A command of alice's in her session: its exit status, and what it writes."""
        return self.desktop.run(
            "export HOME=$(echo ~alice) XDG_RUNTIME_DIR=/run/user/$(id -u alice) DISPLAY=:0 LC_ALL=C.UTF-8;"
            " export XAUTHORITY=$HOME/.Xauthority XDG_CURRENT_DESKTOP=openbox;"
            " export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus;"
            f" cd $HOME; exec runuser -u alice -- sh -c {shlex.quote(command)}", timeout=120)

    def command(self, command):
        code, output = self.run_in_session(command)
        self.assertEqual(code, 0, f"{command}: {output}")
        return output

    def starts(self, command):
        """A program that goes on."""
        self.command(
            "systemd-run --user --quiet --collect --setenv=DISPLAY --setenv=XAUTHORITY --setenv=HOME"
            f" sh -c {shlex.quote(command)}")

    def window(self, *search):
        found = self.desktop.run(
            f"DISPLAY=:0 XAUTHORITY=/var/run/lightdm/root/:0 xdotool search --onlyvisible {' '.join(search)}")[1]
        return found.strip()

    def stores(self, label, secret, *attributes):
        self.command(
            f"printf {shlex.quote(secret)} | secret-tool store --label={shlex.quote(label)} {' '.join(attributes)}")

    def touches_the_reader(self):
        """The greeter's reader waits 8 seconds. If this machine was slower, an empty password begins anew."""
        for _ in range(5):
            try:
                return self.desktop.touch("right")
            except AssertionError:
                self.desktop.key("Return")
        raise AssertionError("no reader waits for a finger")

    # the tests run in the order of their names

    def test_1_the_name_is_ours(self):
        told = self.command("appvault doctor || true")
        self.assertNotIn("gnome-keyring", told)
        self.assertIn("ok\tsecrets", told)

    def test_2_secret_tool(self):
        """stores, finds, finds after a new login without a question, and deletes"""
        self.stores("Mail at home", "otters hold hands", "user", "alice", "server", "mail.example")
        self.assertEqual(self.command("secret-tool lookup user alice server mail.example"), "otters hold hands")
        found = self.command("secret-tool search --all server mail.example 2>&1")
        for line in ("label = Mail at home", "secret = otters hold hands", "attribute.user = alice"):
            self.assertIn(line, found)
        self.again()
        self.assertEqual(self.command("secret-tool lookup user alice server mail.example"), "otters hold hands")
        self.stores("Other", "no otter", "user", "bob")
        self.command("secret-tool clear user bob")
        self.assertNotEqual(self.run_in_session("secret-tool lookup user bob")[0], 0)
        # Nothing of it is in gnome-keyring's files, and the names of the records are not listed.
        self.assertNotIn("otters", self.command("cat ~/.local/share/keyrings/* 2>/dev/null || true"))
        self.assertEqual(self.command("appvault --store secrets list"), "")

    def test_3_git(self):
        """git's helper keeps what git hands it, and git finds it"""
        helper = "git -c credential.helper=libsecret credential"
        asked = "protocol=https\\nhost=git.example\\nusername=alice\\n"
        self.command(f"printf '{asked}password=a token\\n' | {helper} approve")
        self.assertIn("password=a token\n", self.command(f"printf '{asked}' | GIT_ASKPASS=false {helper} fill"))
        self.command(f"printf '{asked}' | {helper} reject")
        self.assertNotEqual(
            self.run_in_session(f"printf '{asked}' | GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=false {helper} fill")[0], 0)

    def test_4_chromium(self):
        """the key under which it encrypts passwords and cookies is an item of ours"""
        self.starts(
            "chromium --no-sandbox --no-first-run --disable-gpu --password-store=gnome-libsecret about:blank")
        search = "secret-tool search --all application chromium 2>&1"
        self.until(lambda: "Safe Storage" in self.command(search), "an item of Chromium's")
        key = self.command("secret-tool lookup application chromium")
        self.assertTrue(key)
        self.until(lambda: self.window("--class", "chromium"), "a window of Chromium's")
        self.desktop.picture("clients-chromium")
        self.desktop.run("pkill -u alice chromium")
        self.until(lambda: self.desktop.run("pgrep -u alice chromium")[0] != 0, "Chromium's end")
        self.assertEqual(self.command("secret-tool lookup application chromium"), key)

    def test_5_sandbox(self):
        """a program in a sandbox gets a key by the portal: the same each time, and another one than its neighbour"""
        # As a desktop does at its start: the portal asks for nothing where it does not know the desktop.
        self.command("systemctl --user import-environment XDG_CURRENT_DESKTOP")
        keys = []
        for app in (APP, APP, APP + "2"):
            info = f"[Application]\\nname={app}\\n[Instance]\\ninstance-id=1\\n"
            # Later portals also look for what bwrap itself has said, where Flatpak leaves it.
            self.command(f"printf '{info}' > ~/flatpak-info; mkdir -p $XDG_RUNTIME_DIR/.flatpak/1")
            keys.append(self.command(
                "bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64"
                " --ro-bind /etc /etc --ro-bind /run /run --proc /proc --dev /dev"
                " --info-fd 3 --ro-bind ~/flatpak-info /.flatpak-info /usr/local/bin/portal-key"
                " 3> $XDG_RUNTIME_DIR/.flatpak/1/bwrapinfo.json").strip())
        self.assertEqual(len(bytes.fromhex(keys[0])), 64)
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])

    def test_6_a_dialog_where_the_store_is_locked(self):
        desktop = self.desktop
        self.command("appvault lock")
        self.starts("secret-tool lookup user alice server mail.example > ~/found 2>&1")
        self.until(lambda: self.window("--name", "^AppVault$"), "a dialog")
        desktop.run("sleep 1")
        desktop.picture("clients-dialog")
        desktop.type(ALICE)
        self.until(lambda: "otters hold hands" in self.command("cat ~/found"), "the secret")
        self.assertEqual(self.state(), "open")

    def test_7_seahorse(self):
        """shows the collection, and an item in it"""
        desktop = self.desktop
        self.starts("seahorse")
        self.until(lambda: self.window("--class", "seahorse"), "Seahorse")
        window = self.window("--class", "seahorse").split()[0]
        desktop.x(f"xdotool windowmove {window} 100 80 windowsize {window} 820 560 windowfocus {window}")
        # The first collection, which it shows when it is chosen.
        desktop.run("sleep 3")
        desktop.x("xdotool mousemove 240 181 click 1")
        desktop.run("sleep 2")
        desktop.picture("clients-seahorse")
        desktop.run("pkill -u alice seahorse")

    def test_8_finger(self):
        """after a login by finger everything is found"""
        desktop = self.desktop
        desktop.check("pam-auth-update --enable appvault")
        desktop.type("clear; appvault fingerprint enroll")
        desktop.shows("passcode: ")
        desktop.type(ALICE)
        for stage in range(1, 5):
            desktop.touch("right")
            desktop.shows(f"{stage} of 5")
        desktop.touch("right")
        desktop.shows("Enrolled")
        desktop.logout()
        desktop.wait(lambda: self.state() == "locked", "a store that is shut after the logout")
        desktop.greeter(line=True, asks=False)
        self.touches_the_reader()
        desktop.wait(lambda: self.state() == "open", "a store that a finger opens")
        desktop.key("Return")
        desktop.session()
        self.assertEqual(self.command("secret-tool lookup user alice server mail.example"), "otters hold hands")


if __name__ == "__main__":
    unittest.main()
