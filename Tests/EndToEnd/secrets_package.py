"""The package appvault-secret-service beside gnome-keyring: it takes the name with which programs look for their
secrets, keeps it whatever happens to gnome-keyring, and gives back everything when it goes."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

import machine
import packages
from machine import PASSWORDS, RELEASE, Machine

NEEDS_ROOT = True
TIMEOUT = 600
NEWER = "9.9"
NAME = "org.freedesktop.secrets"
SERVICE = f"/usr/share/dbus-1/services/{NAME}.service"
AUTOSTART = "/etc/xdg/autostart/gnome-keyring-secrets.desktop"
KWALLET = "/etc/xdg/kwalletrc"
# What of gnome-keyring's is not as its package has it, but for what the image has left out.
CHANGED = "dpkg --verify gnome-keyring | grep -v -E ' /usr/share/(doc|locale|man)/' || true"
# What goes aside, and how it is found again.
THEIRS = f"sha256sum {SERVICE} {AUTOSTART}; {CHANGED}; dpkg-divert --list '*appvault*'"
BUS = "busctl --user --timeout=20 call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus"

machine.IMAGES["keyring"] = machine.Image(
    "gnome-keyring libpam-gnome-keyring libsecret-tools", parent="base",
    prepare=r"""
# As the display managers of Debian have them.
echo 'auth optional pam_gnome_keyring.so' >> /etc/pam.d/login
echo 'session optional pam_gnome_keyring.so auto_start' >> /etc/pam.d/login
# To be installed again, without a network.
mkdir /srv/packages && cd /srv/packages && apt-get download -q gnome-keyring
# And a later version, which brings another configuration file.
dpkg-deb -R gnome-keyring_*.deb /srv/later
sed -i 's/^Version: .*/&.1/' /srv/later/DEBIAN/control
echo '# later' >> /srv/later/etc/xdg/autostart/gnome-keyring-secrets.desktop
dpkg-deb -Znone -b /srv/later /srv/later.deb
rm -r /srv/later
""")


def given_up(folder):
    """A package like ours, whose installation fails before anything of it is unpacked."""
    root = os.path.join(folder, "root")
    subprocess.run(["dpkg-deb", "-R", packages.file(packages.DESKTOP), root], check=True)
    with open(os.path.join(root, "DEBIAN", "preinst"), "a") as file:
        file.write("exit 1\n")
    subprocess.run(
        ["dpkg-deb", "-Znone", "--root-owner-group", "-b", root, os.path.join(folder, "given-up.deb")], check=True,
        capture_output=True)
    shutil.rmtree(root)


class Package(unittest.TestCase):
    RELEASE = RELEASE
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        packages.file(packages.DESKTOP)
        folder = tempfile.mkdtemp(prefix="appvault-given-up-")
        cls.addClassCleanup(shutil.rmtree, folder)
        given_up(folder)
        cls.machine = Machine(
            "keyring", bind={**packages.BIND, packages.newer(NEWER): "/newer", folder: "/given-up"},
            release=cls.RELEASE)
        cls.addClassCleanup(cls.machine.stop)

    # a session

    def login(self):
        """alice's session, as far as a desktop's: what starts with it has started."""
        terminal = self.machine.getty("exec login alice")
        self.addCleanup(terminal.close)
        terminal.expect("Password: ")
        terminal.send(PASSWORDS["alice"])
        terminal.expect(r"\$ ")
        self.command("systemctl --user start gnome-keyring-daemon.service")
        autostart = f"test ! -e {AUTOSTART} || $(sed -n 's/^Exec=//p' {AUTOSTART}) >/dev/null 2>&1"
        self.command(autostart)
        return terminal

    def logout(self, terminal):
        terminal.send("exit")
        terminal.wait()

    def again(self):
        """After a restart of the machine."""
        self.machine.reboot()
        return self.login()

    def command(self, command):
        """Of alice's, in her session."""
        return self.machine.check(
            "export HOME=$(echo ~alice) XDG_RUNTIME_DIR=/run/user/$(id -u alice);"
            " export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus;"
            f" exec runuser -u alice -- sh -c {shlex.quote(command)}")

    def owners(self):
        """The programs that have the name or wait for it, the owner first, and the owner's process. The question has
        D-Bus start one where nobody has it."""
        self.command(f"{BUS} StartServiceByName su {NAME} 0")
        names = self.command(f"{BUS} ListQueuedOwners s {NAME}").split()[2:]
        found = [self.command(f"{BUS} GetConnectionUnixProcessID s {name}").split()[1] for name in names]
        programs = [os.path.basename(self.machine.read(f"/proc/{pid}/cmdline").split("\0")[0]) for pid in found]
        return programs, found[0]

    def is_ours(self):
        """In the hands of the unit, and nobody waits for it."""
        programs, process = self.owners()
        self.assertEqual(programs, ["appvault-secrets"])
        self.assertEqual(
            self.command("systemctl --user show -P MainPID appvault-secrets.service").strip(), process)
        return process

    def doctor(self):
        told = json.loads(self.command("appvault doctor --json || true"))
        return [(check["state"], check["mend"]) for check in told["checks"] if check["link"] == "secrets"]

    # dpkg

    def dpkg(self, words):
        return self.machine.check(f"DEBIAN_FRONTEND=noninteractive dpkg {words} 2>&1", timeout=120)

    def apt(self, words):
        return self.machine.check(packages.APT + words + " 2>&1", timeout=120)

    def aside(self):
        """gnome-keyring is whole, and what would take the name is aside."""
        self.assertEqual(self.machine.check(CHANGED), "")
        self.assertIn("appvault-secrets", self.machine.read(SERVICE))
        self.assertEqual(self.machine.check(f"ls {AUTOSTART}* {SERVICE}*").split(), [
            AUTOSTART + ".before-appvault", SERVICE, SERVICE + ".before-appvault"])

    def test_a_life(self):
        machine = self.machine
        theirs = machine.check(THEIRS)
        # At the first login gnome-keyring makes its keyring, and finds it at the next.
        self.logout(self.login())
        machine.check("systemctl stop user@$(id -u alice).service")
        shell = self.login()
        self.assertEqual(self.owners()[0], ["gnome-keyring-daemon"])
        self.command("printf old | secret-tool store --label=Old kept-by gnome")

        # An installation that fails at once leaves all as it was.
        packages.install(machine)
        code, said = machine.run("dpkg -i /given-up/given-up.deb 2>&1")
        self.assertNotEqual(code, 0, said)
        self.assertEqual(machine.check(THEIRS), theirs)

        # The session that goes on keeps its keyring.
        said = packages.install(machine, packages.DESKTOP)
        self.assertIn("from the next login on", said)
        self.assertEqual(self.owners()[0][0], "gnome-keyring-daemon")
        self.aside()
        (state, mend), *_ = self.doctor()
        self.assertEqual(state, "broken")
        self.assertIn("systemctl --user restart gnome-keyring-daemon.service", mend)
        # What doctor says helps.
        self.command("systemctl --user daemon-reload")
        self.command("; ".join(mend.split("`")[1::2]))
        self.is_ours()
        self.logout(shell)
        shell = self.again()
        self.is_ours()
        # What gnome-keyring has is offered until something is in our store.
        well, (state, mend) = self.doctor()
        self.assertEqual((well, state, mend.split(",")[0]), (("ok", ""), "warning", "`appvault import keyring`"))
        self.command("printf new | secret-tool store --label=New kept-by appvault")
        self.assertEqual(self.doctor(), [("ok", "")])
        self.assertEqual(machine.check(f"readlink {KWALLET}"), "/usr/share/appvault/kwalletrc\n")

        # gnome-keyring is installed again, and comes in a later version, whose files go aside, too.
        self.dpkg("-i /srv/packages/gnome-keyring_*.deb")
        self.aside()
        self.dpkg("-i /srv/later.deb")
        self.aside()
        self.assertIn("# later\n", machine.read(AUTOSTART + ".before-appvault"))
        self.dpkg("-i /srv/packages/gnome-keyring_*.deb")
        self.aside()
        self.logout(shell)
        shell = self.again()
        process = self.is_ours()
        # A killed program is back, and nobody had the name meanwhile.
        machine.check(f"kill -KILL {process}")
        self.assertNotEqual(self.is_ours(), process)
        self.assertEqual(self.command("secret-tool lookup kept-by appvault"), "new")
        # It is purged, and comes anew.
        self.dpkg("--force-depends --purge gnome-keyring")
        self.assertNotEqual(machine.run(f"ls {AUTOSTART} {SERVICE}.before-appvault")[0], 0)
        process = self.is_ours()
        self.dpkg("-i /srv/packages/gnome-keyring_*.deb")
        self.aside()

        # An upgrade does not take the name from the program that has it, whose clients would not understand that.
        newer = "install " + packages.within("/newer", packages.DESKTOP)
        self.apt(newer)
        self.aside()
        self.assertEqual(self.is_ours(), process)

        # Removed: everything is back where it was, for the next login. This session keeps what it has.
        self.apt(f"remove {packages.DESKTOP}")
        self.assertBack(theirs)
        self.assertEqual(self.owners(), (["appvault-secrets"], process))
        self.apt(newer)
        self.aside()

        # Purged: gnome-keyring has the name at the next login.
        self.apt(f"purge {packages.DESKTOP}")
        self.assertBack(theirs)
        self.logout(shell)
        shell = self.again()
        self.assertEqual(self.owners()[0], ["gnome-keyring-daemon"])
        self.assertEqual(self.command("secret-tool lookup kept-by gnome"), "old")
        self.logout(shell)
        self.assertEqual(
            machine.run("find /etc /usr /var/lib/systemd -name '*appvault-secret*' | grep -v lib/dpkg")[1], "")

        # Nor is anything left of a gnome-keyring that was purged meanwhile.
        self.apt(newer)
        self.dpkg("--force-depends --purge gnome-keyring")
        self.apt(f"purge {packages.DESKTOP}")
        self.assertEqual(machine.run(f"ls {AUTOSTART}* {SERVICE}* 2>/dev/null")[1], "")

        # An administrator's own program in that place is back in it.
        own = "[Desktop Entry]\nType=Application\nName=Own\nExec=/usr/local/bin/keys\n"
        machine.write(AUTOSTART, own)
        self.apt(newer)
        self.assertEqual(machine.run(f"ls {AUTOSTART}")[0], 2)
        self.apt(f"purge {packages.DESKTOP}")
        self.assertEqual(machine.read(AUTOSTART), own)

        # An administrator's own settings of KWallet stay as they are.
        own = "[Wallet]\nEnabled=true\n"
        machine.write(KWALLET, own)
        self.assertIn(f"{KWALLET} is yours", self.apt(newer))
        self.apt(f"purge {packages.DESKTOP}")
        self.assertEqual(machine.read(KWALLET), own)

    def assertBack(self, theirs):
        self.assertEqual(self.machine.check(THEIRS), theirs)
        self.assertEqual(self.machine.run(f"ls {KWALLET} {AUTOSTART}.* {SERVICE}.* 2>/dev/null")[1], "")


# One Debian in every run, the later ones with the programs of a desktop: `make clients`.
if os.environ.get("APPVAULT_CLIENTS") == "1":
    packages.on_later_releases(Package)

if __name__ == "__main__":
    unittest.main()
