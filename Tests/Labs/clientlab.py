"""A session with a screen in which real programs keep their secrets in AppVault: the packages are installed, and alice
has logged in.

    class Clients(clientlab.Case):
        def test(self):
            self.stores("Mail", "otters", "user", "alice")
            self.command("secret-tool lookup user alice")
"""

import os
import re
import shlex
import unittest

import machine
import packages
from desktop import Desktop

LOCKED = "7a2048"
ALICE = machine.PASSWORDS["alice"]
NAME = "org.freedesktop.secrets"
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


machine.IMAGES["programs"] = machine.Image(
    "i3lock python3-gi gir1.2-secret-1 gir1.2-edataserver-1.2 evolution-data-server python3-keyring"
    " python3-secretstorage"
    " network-manager network-manager-gnome hostapd wpasupplicant", parent="clients",
    prepare=r"""
apt-get install -q -y --no-install-recommends g++ pkg-config qtbase5-dev qtkeychain-qt5-dev
cat > /tmp/keychain.cpp <<'END'
#include <QtCore>
#include <cstdio>
#include <qt5keychain/keychain.h>
int main(int count, char **words) {
    QCoreApplication program(count, words);
    const QString service = "org.example.Otter", key = "alice";
    QKeychain::Job *job;
    if (count == 2) {
        auto *writing = new QKeychain::WritePasswordJob(service);
        writing->setTextData(words[1]);
        job = writing;
    } else {
        job = new QKeychain::ReadPasswordJob(service);
    }
    job->setKey(key);
    job->setAutoDelete(false);
    QObject::connect(job, &QKeychain::Job::finished, &program, &QCoreApplication::quit);
    job->start();
    program.exec();
    if (job->error()) {
        std::fprintf(stderr, "%s\n", qPrintable(job->errorString()));
        return 1;
    }
    if (count < 2)
        std::printf("%s", qPrintable(static_cast<QKeychain::ReadPasswordJob *>(job)->textData()));
    return 0;
}
END
g++ -fPIC -o /usr/local/bin/keychain /tmp/keychain.cpp $(pkg-config --cflags --libs Qt5Core) -lqt5keychain
rm /tmp/keychain.cpp
# What Evolution does with an account of its own: the registry of accounts, and where their passwords are.
cat > /usr/local/bin/mail-account <<'END'
#!/usr/bin/python3
import sys, gi
gi.require_version("EDataServer", "1.2")
from gi.repository import EDataServer
registry = EDataServer.SourceRegistry.new_sync(None)
if sys.argv[1] == "make":
    source = EDataServer.Source.new_with_uid("otter-mail", None)
    source.set_display_name("Mail at home")
    source.get_extension(EDataServer.SOURCE_EXTENSION_MAIL_ACCOUNT).set_backend_name("imapx")
    login = source.get_extension(EDataServer.SOURCE_EXTENSION_AUTHENTICATION)
    login.set_host("mail.example")
    login.set_user("alice")
    login.set_method("plain/password")
    registry.commit_source_sync(source, None)
    sys.exit()
source = registry.ref_source("otter-mail")
provider = EDataServer.SourceCredentialsProvider.new(registry)
if sys.argv[1] == "store":
    secret = EDataServer.NamedParameters()
    secret.set(EDataServer.SOURCE_CREDENTIAL_PASSWORD, sys.argv[2])
    sys.exit(not provider.store_sync(source, secret, True, None))
found, secret = provider.lookup_sync(source, None)
print(secret.get(EDataServer.SOURCE_CREDENTIAL_PASSWORD) if found else "", end="")
sys.exit(not found)
END
chmod +x /usr/local/bin/mail-account
# A network cable that leads to an authenticator. A container has no Wi-Fi, and the applet keeps the secrets of both in
# the same way.
cat > /etc/NetworkManager/conf.d/cable.conf <<'END'
[main]
plugins=keyfile
no-auto-default=*
[keyfile]
unmanaged-devices=except:interface-name:near
[device]
match-device=interface-name:near
managed=1
END
echo '"alice" MD5 "otter on a wire"' > /etc/authenticator-people
cat > /etc/authenticator.conf <<'END'
interface=far
driver=wired
ieee8021x=1
use_pae_group_addr=1
eap_server=1
eap_user_file=/etc/authenticator-people
END
cat > /etc/systemd/system/authenticator.service <<'END'
[Unit]
Before=NetworkManager.service
[Service]
Type=exec
ExecStartPre=-ip link add name near type veth peer name far
ExecStartPre=ip link set far up
ExecStart=hostapd /etc/authenticator.conf
[Install]
WantedBy=multi-user.target
END
systemctl enable --quiet authenticator.service
systemctl mask --quiet NetworkManager-wait-online.service hostapd.service
""")


class Case(unittest.TestCase):
    """The tests of a class run in the order of their names, in one machine."""

    RELEASE = machine.RELEASE
    IMAGE = "clients"
    # The administrator's file.
    POLICY = ""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("APPVAULT_CLIENTS") != "1":
            raise unittest.SkipTest("a desktop's programs need an image of their own; `make clients` tries them")
        packages.file(packages.DESKTOP)
        desktop = cls.desktop = Desktop.__new__(Desktop)
        machine.Machine.__init__(desktop, cls.IMAGE, bind=packages.BIND, release=cls.RELEASE)
        cls.addClassCleanup(desktop.stop)
        if cls.POLICY:
            desktop.write("/etc/appvault/policy.conf", cls.POLICY)
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

    def picture(self, name):
        oldest = self.RELEASE == machine.RELEASES[0]
        self.desktop.picture(name if oldest else f"{name}-{self.RELEASE}")

    def stores(self, label, secret, *attributes):
        self.command(
            f"printf {shlex.quote(secret)} | secret-tool store --label={shlex.quote(label)} {' '.join(attributes)}")

    def asks(self, command, name):
        """The command goes on, in the session; its result comes to a file."""
        self.command(f"rm -f ~/{name}")
        self.starts(f"({command}) > ~/{name}.new 2>&1; echo \" ended $?\" >> ~/{name}.new; mv ~/{name}.new ~/{name}")

    def result(self, name):
        return self.command(f"cat ~/{name} 2>/dev/null || true").replace("\n", "")

    def touches_the_reader(self):
        """The greeter's reader waits 8 seconds. If this machine was slower, an empty password begins anew."""
        for _ in range(5):
            try:
                return self.desktop.touch("right")
            except AssertionError:
                self.desktop.key("Return")
        raise AssertionError("no reader waits for a finger")

    def enrols_a_finger(self):
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


class Locked(Case):
    """With more programs, and a locker for the screen."""

    IMAGE = "programs"

    def items(self, attributes):
        """How many items have these attributes."""
        found = self.command(f"secret-tool search --all {attributes} 2>/dev/null || true")
        return len(re.findall(r"^\[/", found, re.M))

    def dialogs(self):
        return self.desktop.run("pgrep -c -x 'pinentry.*'")[1].strip()

    def prompts(self):
        """How many clients wait for the person."""
        told = self.run_in_session(
            "busctl --user call org.freedesktop.secrets /org/freedesktop/secrets/prompt"
            " org.freedesktop.DBus.Introspectable Introspect")[1]
        return told.count("<node name")

    # the screen

    def is_locked(self):
        return self.desktop.colours()[bytes.fromhex(LOCKED)] > 600_000

    def locks_the_screen(self):
        """A real locker, which tells nobody by itself. The store `default` is locked with the screen."""
        self.starts(f"appvault screen -- i3lock -n -c {LOCKED}")
        self.until(self.is_locked, "a screen that i3lock locks")
        self.until(lambda: self.state() == "locked", "a store that is locked with the screen")

    def unlocks_the_screen(self, act):
        """The locker takes no keys before it has the keyboard, and for a moment after a failed try."""
        for _ in range(6):
            act()
            try:
                self.desktop.wait(lambda: not self.is_locked(), "an unlocked screen", 20)
                break
            except AssertionError:
                continue
        self.assertFalse(self.is_locked())
        self.until(lambda: self.state() == "open", "an open store")

    def types_the_password(self):
        self.desktop.type(ALICE)

    def touches(self):
        self.desktop.key("Return")
        self.desktop.touch("right")

    def policy(self, text):
        """The administrator's file from now on."""
        desktop = self.desktop
        read = "journalctl -b -q -u appvaultd -o cat | grep -cx 'the policy was read'"
        before = desktop.run(read)[1]
        desktop.write("/etc/appvault/policy.conf", text)
        desktop.check("systemctl kill --kill-whom=main -s HUP appvaultd.service")
        self.until(lambda: desktop.run(read)[1] != before, "the policy")
