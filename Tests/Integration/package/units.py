"""What the packages contain: units, users, profiles for PAM, the udev rule, completions; tested
by the content of the files.

Tests/EndToEnd shows in a booted machine that they work.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

from daemonlab import build
from places import ROOT

UNITS = os.path.join(ROOT, "config", "systemd")
SERVICES = ["appvaultd.service", "appvault-rules@.service", "appvault-fetch@.service", "appvault-fleet.service",
            "appvault-fingerprint.service"]
WORKERS = ["appvault-rules.socket", "appvault-fetch.socket", "appvault-fingerprint.socket"]
SOCKETS = ["appvaultd.socket", "appvaultd-root.socket", *WORKERS]

EVERYWHERE = {
    "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "AmbientCapabilities": "", "ProtectSystem": "strict",
    "ProtectHome": "yes", "PrivateTmp": "yes", "RestrictNamespaces": "yes", "RestrictSUIDSGID": "yes",
    "LockPersonality": "yes", "MemoryDenyWriteExecute": "yes", "SystemCallArchitectures": "native",
    "ProtectKernelTunables": "yes", "ProtectKernelModules": "yes", "ProtectKernelLogs": "yes", "ProtectClock": "yes",
    "ProtectHostname": "yes", "ProtectControlGroups": "yes", "DevicePolicy": "closed", "UMask": "0077",
    "LimitCORE": "0", "MemorySwapMax": "0", "RestrictRealtime": "yes",
}


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def directives(unit):
    """The values of each directive, in the order of the file."""
    found = {}
    for line in read("config", "systemd", unit).splitlines():
        match = re.fullmatch(r"([A-Za-z]+)=(.*)", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
        else:
            assert not line or line[0] in "#[", line
    return found


class Layout(unittest.TestCase):
    def test_one_layout(self):
        """an upgrade restarts only a daemon that leaves open stores in the layout that the new one reads"""
        version = re.search(r"static let version: UInt64 = ([0-9]+)", read("Sources/StoreKeeping/HandOver.swift"))[1]
        for path in ("debian/appvault.postinst", "config/needrestart/appvault.conf"):
            found = re.findall(r"layout ([0-9]+)", read(path))
            self.assertEqual(set(found), {version}, path)


class Units(unittest.TestCase):
    def test_sandbox(self):
        """Every service gives up what it does not use"""
        for unit in SERVICES:
            found = directives(unit)
            for name, value in EVERYWHERE.items():
                with self.subTest(unit=unit, directive=name):
                    self.assertEqual(found.get(name), [value])
            self.assertIn("OOMScoreAdjust", found)
            self.assertTrue(found["SystemCallFilter"][0].startswith("@system-service"))

    def test_reasons(self):
        """After a blank line or a heading there is a reason first, so that no directive is without one"""
        for unit in SERVICES + SOCKETS + ["appvault-hibernate.service", "appvault-fleet.timer"]:
            before = ""
            for line in read("config", "systemd", unit).splitlines():
                if re.match(r"[A-Z]\w+=", line) and not before:
                    self.assertRegex(
                        line, "^(Protect|Description|WantedBy)", f"{unit}: {line} begins a paragraph without a reason")
                before = line if not line.startswith("[") else "#"

    def test_peers(self):
        """The daemon sees who its peers are: no user namespace, no hidden /proc; its folders outlive it"""
        for unit in SERVICES:
            self.assertNotIn("PrivateUsers", directives(unit), unit)
        daemon = directives("appvaultd.service")
        for name in ("ProtectProc", "ProcSubset", "DynamicUser"):
            self.assertNotIn(name, daemon)
        # Not the folder of the sockets, which would be removed with it.
        self.assertEqual(
            [daemon[f"RuntimeDirectory{word}"] for word in ("", "Mode", "Preserve")],
            [["appvaultd"], ["0700"], ["yes"]])
        self.assertEqual(daemon["StateDirectoryMode"], ["0700"])
        self.assertEqual(daemon["RestrictAddressFamilies"], ["AF_UNIX"])
        self.assertEqual(daemon["PrivateNetwork"], ["yes"])
        self.assertIn("WatchdogSec", daemon)

    def test_hibernation(self):
        """Before a hibernation the daemon ends, then its own user wipes the runtime folder, whatever came of that"""
        found = directives("appvault-hibernate.service")
        self.assertEqual(found["ExecStart"], [
            "-+/usr/bin/systemctl stop appvaultd.service",
            "-+/usr/bin/timeout 5 /bin/sh -c"
            " 'until [ \"$$(systemctl show -P NFileDescriptorStore appvaultd.service)\" = 0 ]; do sleep 0.1; done'",
            "/usr/libexec/appvault/appvaultd --forget-tokens"])
        self.assertEqual(
            (found["User"], found["Type"], found["Before"]), (["_appvault"], ["oneshot"], ["sleep.target"]))
        self.assertEqual(found["ReadWritePaths"], ["-/run/appvaultd"])
        for name, value in EVERYWHERE.items():
            with self.subTest(name):
                self.assertEqual(found.get(name), [value])
        daemon = directives("appvaultd.service")
        self.assertIn("--stopped-before-hibernation", daemon["ExecStart"][0])
        # What is left for the next daemon is dropped at a stop: no area that the kernel would not hibernate with.
        self.assertNotIn("FileDescriptorStorePreserve", daemon)
        self.assertEqual(daemon["FileDescriptorStoreMax"], ["1"])
        self.assertIn("memfd_secret", daemon["SystemCallFilter"][0].split())

    def test_agent(self):
        """The agent is a program of the person's own manager, and D-Bus, the desktop and systemd start the same one"""
        unit = read("config", "systemd-user", "appvault-agent.service")
        found = dict(line.split("=", 1) for line in unit.splitlines() if re.match("[A-Z][A-Za-z]*=", line))
        for name in ("NoNewPrivileges", "LockPersonality", "RestrictRealtime", "RestrictSUIDSGID"):
            self.assertEqual(found[name], "yes", name)
        self.assertEqual(
            (found["RestrictAddressFamilies"], found["SystemCallFilter"], found["LimitCORE"]),
            ("AF_UNIX", "@system-service", "0"))
        # These need a namespace, which a person's manager may not be able to make.
        for name in found:
            self.assertNotRegex(name, "^(Private|Protect|ReadOnly|Inaccessible|NoExec)")
        started = dict(
            line.split("=", 1) for line in read("config", "dbus", "org.appvault.Agent1.service").splitlines()[1:])
        self.assertEqual(started, {
            "Name": found["BusName"], "Exec": found["ExecStart"], "SystemdService": "appvault-agent.service"})
        desktop = read("config", "autostart", "appvault-agent.desktop").splitlines()
        self.assertIn("X-systemd-skip=true", desktop)
        self.assertIn("TryExec=" + found["ExecStart"], desktop)
        self.assertTrue(any(
            line.startswith("Exec=busctl --user call ") and found["BusName"] in line for line in desktop))
        source = read("Sources", "Agent", "Agent.swift")
        self.assertIn(f'static let name = "{found["BusName"]}"', source)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_units_of_a_person(self):
        """systemd reads the units of a person's manager without a complaint"""
        for name in ("appvault-agent", "appvault-secrets"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name + ".service")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(read("config", "systemd-user", name + ".service").replace(
                        "/usr/libexec/appvault/" + name, "/bin/true"))
                done = subprocess.run(
                    ["systemd-analyze", "verify", "--user", "--man=no", "--recursive-errors=no", path],
                    env=dict(os.environ, XDG_RUNTIME_DIR=folder), capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_window(self):
        """the window has an entry in the menu, an icon and a description, and each of them names the same program"""
        folder = os.path.join(ROOT, "config", "desktop")
        entry = os.path.join(folder, "org.appvault.Desktop.desktop")
        done = subprocess.run(["desktop-file-validate", entry], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        found = dict(line.split("=", 1) for line in read(entry).splitlines() if "=" in line)
        about = ElementTree.fromstring(read(folder, "org.appvault.Desktop.metainfo.xml"))
        # An invitation that somebody opens goes to it as its one argument, and nothing else does.
        self.assertEqual(found["MimeType"], "x-scheme-handler/appvault;")
        program, place = found["Exec"].split()
        self.assertEqual(place, "%u")
        self.assertEqual(about.findtext("provides/binary"), program)
        self.assertEqual(about.findtext("launchable"), os.path.basename(entry))
        self.assertEqual(about.findtext("id"), found["Icon"])
        ElementTree.fromstring(read(folder, found["Icon"] + ".svg"))
        self.assertIn(f"usr/bin/{program}", read("debian", "appvault-desktop.install").split())
        if shutil.which("appstreamcli"):
            done = subprocess.run(
                ["appstreamcli", "validate", "--no-net", "--pedantic", os.path.join(folder, about.findtext("id"))
                 + ".metainfo.xml"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_secrets(self):
        """What keeps a desktop's secrets comes with the session, is back whatever happens to it, and sees in which
        sandbox its clients are"""
        unit = read("config", "systemd-user", "appvault-secrets.service")
        found = dict(line.split("=", 1) for line in unit.splitlines() if re.match("[A-Z][A-Za-z]*=", line))
        for name in ("NoNewPrivileges", "LockPersonality", "MemoryDenyWriteExecute", "RestrictRealtime"):
            self.assertEqual(found[name], "yes", name)
        self.assertEqual(
            (found["RestrictAddressFamilies"], found["SystemCallFilter"], found["LimitCORE"]),
            ("AF_UNIX", "@system-service", "0"))
        self.assertEqual(
            (found["Restart"], found["StartLimitIntervalSec"], found["WantedBy"]), ("always", "0", "default.target"))
        for name in found:
            self.assertNotRegex(name, "^(Private|Protect|ReadOnly|Inaccessible|NoExec|WatchdogSec)")
        name = "org.freedesktop.secrets"
        started = dict(line.split("=", 1) for line in read("config", "dbus", name + ".service").splitlines()[1:])
        self.assertEqual(started, {
            "Name": name, "Exec": found["ExecStart"].split()[0], "SystemdService": "appvault-secrets.service"})
        portal = dict(
            line.split("=", 1) for line in read("config", "portal", "appvault.portal").splitlines() if "=" in line)
        self.assertEqual((portal["DBusName"], portal["Interfaces"]), (name, "org.freedesktop.impl.portal.Secret"))

    def test_another_keyring(self):
        """gnome-keyring is started as its own unit starts it, but without its secrets, and KWallet's settings are none
        that it does not know"""
        lines = read("config", "secret-service", "gnome-keyring-daemon.conf").splitlines()
        self.assertEqual([line for line in lines if not line.startswith("#")], [
            "[Service]", "ExecStart=",
            "ExecStart=/usr/bin/gnome-keyring-daemon --foreground --components=pkcs11 --control-directory=%t/keyring"])
        installed = "/usr/lib/systemd/user/gnome-keyring-daemon.service"
        if os.path.exists(installed):
            with open(installed) as file:
                theirs, = re.findall("^ExecStart=(.*)$", file.read(), re.M)
            self.assertEqual(theirs.replace('"pkcs11,secrets"', "pkcs11"), lines[-1].removeprefix("ExecStart="))
        settings = [line for line in read("config", "secret-service", "kwalletrc").splitlines() if "=" in line]
        self.assertEqual(settings, ["apiEnabled=false", "Enabled=false", "MigrateTo3rdParty=true"])

    def test_put_aside(self):
        """what the installation puts aside is what the removal puts back"""
        files = [re.findall(r"/[\w./-]+\.(?:service|desktop)", read("debian", f"appvault-secret-service.{script}"))
                 for script in ("preinst", "postrm")]
        self.assertEqual(len(files[0]), 2)
        self.assertEqual(files[0], files[1][:2])

    def test_readers(self):
        """The fingerprint worker is told of readers that come and go, and can open only readers"""
        worker = directives("appvault-fingerprint.service")
        for name in ("PrivateNetwork", "PrivateDevices"):
            self.assertNotIn(name, worker)
        self.assertEqual(worker["RestrictAddressFamilies"], ["AF_UNIX AF_NETLINK"])
        self.assertEqual(
            sorted(worker["DeviceAllow"]), ["char-hidraw rw", "char-spi rw", "char-usb_device rw"])
        # A test's reader is made by an environment variable.
        self.assertEqual([line.split("=")[0] for line in worker.get("Environment", [])], ["GLIBC_TUNABLES"])

    def test_fetching(self):
        """Who asks a server has the network and none of our files, starts without an administrator's files, too, and is
        asked for by root's service, which has only a socket; each machine at a time of its own"""
        worker = directives("appvault-fetch@.service")
        self.assertEqual(worker["RestrictAddressFamilies"], ["AF_INET AF_INET6 AF_UNIX AF_NETLINK"])
        self.assertNotIn("PrivateNetwork", worker)
        hidden = worker["InaccessiblePaths"][0].split()
        for path in ("-/var/lib/appvault", "-/run/appvault", "-/etc/appvault", "-/run/dbus"):
            self.assertIn(path, hidden)
        self.assertEqual(worker["DynamicUser"], ["yes"])
        loaded = [line.split(":")[0] for line in worker["LoadCredential"]]
        self.assertEqual(loaded, ["ca.pem", "client.pem", "client.key"])
        self.assertEqual(worker["SetCredential"], [name + r":\n" for name in loaded])
        asking = directives("appvault-fleet.service")
        self.assertEqual((asking["RestrictAddressFamilies"], asking["PrivateNetwork"]), (["AF_UNIX"], ["yes"]))
        self.assertEqual(asking["ExecStart"], ["-/usr/bin/appvault fleet fetch"])
        self.assertEqual(asking["ConditionPathExists"], ["/var/lib/appvault/fleet/join"])
        timer = directives("appvault-fleet.timer")
        self.assertEqual(
            (timer["OnCalendar"], timer["RandomizedDelaySec"], timer["FixedRandomDelay"]),
            (["*:0/15"], ["15min"], ["yes"]))

    def test_never_failed(self):
        """No burst and no crash leaves a socket that systemd has given up on"""
        for unit in SOCKETS:
            self.assertEqual(directives(unit)["TriggerLimitIntervalSec"], ["0"], unit)
        for unit in ("appvaultd.service", "appvault-fingerprint.service"):
            self.assertEqual(directives(unit)["StartLimitIntervalSec"], ["0"], unit)
            self.assertEqual(directives(unit)["Restart"], ["on-failure"], unit)

    def test_who_may_connect(self):
        """Everybody may connect to the daemon, root also at a socket of its own, and only the daemon to its workers"""
        self.assertEqual(directives("appvaultd.socket")["SocketMode"], ["0666"])
        roots = directives("appvaultd-root.socket")
        self.assertEqual(roots["SocketMode"], ["0600"])
        self.assertFalse({"SocketUser", "SocketGroup"} & set(roots))
        self.assertEqual(roots["Service"], ["appvaultd.service"])
        self.assertEqual(directives("appvaultd.service")["Sockets"], ["appvaultd.socket appvaultd-root.socket"])
        for unit in WORKERS:
            found = directives(unit)
            self.assertEqual((found["SocketMode"], found["SocketUser"]), (["0600"], ["_appvault"]), unit)
        self.assertEqual(directives("appvault-rules.socket")["Accept"], ["yes"])
        self.assertEqual(directives("appvault-fetch.socket")["Accept"], ["yes"])
        self.assertEqual(directives("appvault-fingerprint.socket")["Accept"], ["no"])

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_verified(self):
        """systemd accepts every line of them"""
        with tempfile.TemporaryDirectory() as folder:
            units = SOCKETS + SERVICES + ["appvault-hibernate.service", "appvault-fleet.timer"]
            for unit in units:
                # What is not installed here cannot be found.
                text = read("config", "systemd", unit)
                text = re.sub(r"^ExecStart=(-\+)?\S+", r"ExecStart=\1/bin/true", text, flags=re.M)
                with open(os.path.join(folder, unit), "w") as file:
                    file.write(re.sub(r"^(ExecPaths|Documentation)=.*\n", "", text, flags=re.M))
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no"] + [os.path.join(folder, unit) for unit in units],
                capture_output=True, text=True, check=False)
            ours = [line for line in done.stderr.splitlines() if folder in line or "appvault" in line]
            self.assertEqual(ours, [])


class Profiles(unittest.TestCase):
    def fields(self, name):
        found, field = {}, None
        for line in read("pam", "pam-configs", name).splitlines():
            if line[0] in " \t":
                found[field].append(line.split())
            else:
                field, value = line.split(":", 1)
                found[field] = [value.split()] if value.strip() else []
        return found

    def test_unlock(self):
        """The profile that is on by default cannot keep anybody out: optional lines, after pam_unix and pam_systemd"""
        found = self.fields("appvault-unlock")
        self.assertEqual(found["Name"], [["AppVault", "store", "unlock"]])
        self.assertEqual(found["Default"], [["yes"]])
        self.assertLess(int(found["Priority"][0][0]), 0)
        for kind in ("Auth", "Session", "Password"):
            self.assertEqual(found[f"{kind}-Type"], [["Additional"]])
            self.assertEqual([line[:2] for line in found[kind]], [["optional", "pam_appvault.so"]])
        self.assertEqual(found["Auth"][0][2:], ["unlock"])
        self.assertEqual(found["Password"][0][2:], ["use_authtok"])

    def test_passcode(self):
        """The passcode is asked for before pam_unix, and everything but success goes on to pam_unix"""
        found = self.fields("appvault")
        self.assertEqual(found["Name"], [["AppVault", "passcode", "and", "fingerprint"]])
        self.assertEqual((found["Default"], found["Priority"]), ([["no"]], [["262"]]))
        self.assertEqual(found["Auth"], [["[success=end", "default=ignore]", "pam_appvault.so", "or_password"]])

    def test_rules(self):
        """The rules are checked before pam_unix, and every person is still asked for a password"""
        found = self.fields("appvault-password-rules")
        self.assertEqual(found["Name"], [["AppVault", "password", "rules"]])
        self.assertEqual((found["Default"], found["Priority"]), ([["no"]], [["1024"]]))
        self.assertEqual(found["Password"], [["requisite", "pam_appvault.so", "password_rules", "always_ask"]])

    def test_no_account(self):
        """No profile has a line for account, and no script forces anything"""
        names = os.listdir(os.path.join(ROOT, "pam", "pam-configs"))
        self.assertEqual(sorted(names), ["appvault", "appvault-password-rules", "appvault-unlock"])
        for name in names:
            self.assertNotIn("Account", read("pam", "pam-configs", name))
        prerm = read("debian", "libpam-appvault.prerm")
        for name in names:
            self.assertRegex(prerm, rf"--remove [^\n]*\b{name}\b")
        self.assertIn('"${DPKG_MAINTSCRIPT_PACKAGE_REFCOUNT:-1}" = 1', prerm)
        for name in os.listdir(os.path.join(ROOT, "debian")):
            if os.path.isfile(os.path.join(ROOT, "debian", name)):
                code = re.sub(r"^\s*#.*$", "", read("debian", name), flags=re.M)
                self.assertNotRegex(code, r"pam-auth-update[^\n]*--force", name)

    @unittest.skipUnless(shutil.which("pam-auth-update"), "no pam-auth-update")
    def test_made(self):
        """pam-auth-update makes of the three profiles what they were written for"""
        # It cannot use another folder: what it reads is bind-mounted, in a mount namespace of its
        # own.
        script = r"""
mount -t tmpfs none /mnt
mkdir /mnt/configs /mnt/pam.d /mnt/lib
cp /usr/share/pam-configs/unix /mnt/configs/
printf 'Name: systemd\nDefault: yes\nPriority: 0\nSession-Interactive-Only: yes\n' > /mnt/configs/systemd
printf 'Session-Type: Additional\nSession:\n\toptional\tpam_systemd.so\n' >> /mnt/configs/systemd
cp /usr/share/pam/common-* /mnt/pam.d/
mount --bind /mnt/configs /usr/share/pam-configs
mount --bind /mnt/pam.d /etc/pam.d
cp -a /var/lib/pam/. /mnt/lib; rm -f /mnt/lib/*
mount --bind /mnt/lib /var/lib/pam
export DEBIAN_FRONTEND=noninteractive DEBCONF_DB_OVERRIDE='File{/mnt/debconf}' DEBIAN_PRIORITY=critical
# As a fresh Debian has them, and then ours, as our package does.
pam-auth-update --package --force > /mnt/log 2>&1 || cat /mnt/log
cp "$1"/pam/pam-configs/* /mnt/configs/
pam-auth-update --package $2 > /mnt/log 2>&1 || cat /mnt/log
cat /etc/pam.d/common-auth /etc/pam.d/common-password /etc/pam.d/common-session /etc/pam.d/common-session-noninteractive
"""
        if os.getuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            self.skipTest("no mount namespace of our own here")

        def lines(*profiles):
            done = subprocess.run(
                ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh", ROOT, " ".join(profiles)],
                capture_output=True, text=True, check=True)
            return [" ".join(line.split()) for line in done.stdout.splitlines() if line and line[0] != "#"]

        found = lines()
        auth = "auth optional pam_appvault.so unlock"
        self.assertGreater(found.index(auth), found.index("auth required pam_permit.so"))
        self.assertGreater(
            found.index("session optional pam_appvault.so"), found.index("session optional pam_systemd.so"))
        self.assertGreater(
            found.index("password optional pam_appvault.so use_authtok"),
            found.index("password required pam_permit.so"))
        self.assertEqual(sum("pam_appvault" in line for line in found), 3)

        found = lines("--enable", "appvault", "appvault-password-rules")
        self.assertIn("auth [success=2 default=ignore] pam_appvault.so or_password", found)
        self.assertLess(
            found.index("auth [success=2 default=ignore] pam_appvault.so or_password"),
            next(i for i, line in enumerate(found)
                 if line.startswith("auth") and "pam_unix" in line and "try_first_pass" in line))
        self.assertLess(
            found.index("password requisite pam_appvault.so password_rules always_ask"),
            next(i for i, line in enumerate(found)
                 if line.startswith("password") and "pam_unix" in line and "use_authtok" in line))


class Polkit(unittest.TestCase):
    def test_actions(self):
        """a reset without the passcode takes the person's own password, joining an organisation an administrator's, and
        each of them somebody at this machine; the daemon may ask about others"""
        name = "org.appvault.policy"
        demands = {"org.appvault.reset": "auth_self", "org.appvault.join": "auth_admin"}
        actions = ElementTree.parse(os.path.join(ROOT, "config", "polkit", name)).getroot().findall("action")
        self.assertEqual([action.get("id") for action in actions], list(demands))
        for action in actions:
            self.assertIn(f'"{action.get("id")}"', read("Sources", "VaultService", "People", "Polkit.swift"))
            self.assertEqual(
                {each.tag: each.text for each in action.find("defaults")},
                {"allow_any": "no", "allow_inactive": "no", "allow_active": demands[action.get("id")]})
            (owner,) = action.findall("annotate")
            self.assertEqual(owner.get("key"), "org.freedesktop.policykit.owner")
            self.assertEqual(owner.text, "unix-user:" + directives("appvaultd.service")["User"][0])
        self.assertIn(f"/share/polkit-1/actions/{name}", read("Makefile"))
        self.assertIn("usr/share/polkit-1/actions", read("debian", "appvault.install").splitlines())


class SystemBus(unittest.TestCase):
    def test_signals(self):
        """the bus hands the daemon's user the signals of those whom the daemon asks for some, and nobody else's"""
        (policy,) = ElementTree.parse(
            os.path.join(ROOT, "config", "dbus-system", "org.appvault.conf")).getroot().findall("policy")
        self.assertEqual(policy.attrib, {"user": directives("appvaultd.service")["User"][0]})
        # The last one that fits decides.
        first, *rest = [(each.tag, each.attrib) for each in policy]
        self.assertEqual(first, ("deny", {"receive_type": "signal"}))
        asked = set()
        for name in ("shim.h", "logind.h", "polkit.h"):
            source = read("Sources", "CSystemd", name)
            asked |= set(re.findall(r"sender='([^']+)'", source))
            asked |= {
                {"appvault_login": "org.freedesktop.login1"}[each]
                for each in re.findall(r"sd_bus_match_signal\w*\([^,]+, NULL, (\w+)", source)}
        self.assertEqual(
            sorted(rest, key=str),
            sorted([("allow", {"receive_type": "signal", "receive_sender": name}) for name in asked], key=str))
        self.assertIn("/share/dbus-1/system.d/org.appvault.conf", read("Makefile"))
        self.assertIn("usr/share/dbus-1/system.d", read("debian", "appvault.install").splitlines())
        # The bus leaves out what is for an account that is not there yet.
        script = read("debian", "appvault.postinst")
        self.assertGreater(script.index(" ReloadConfig"), script.index("#DEBHELPER#"))


class Readers(unittest.TestCase):
    HWDB = """# Supported by libfprint driver aes1610
usb:v08FFp1600*
 ID_AUTOSUSPEND=1

# Supported by libfprint driver synaptics
usb:v06CBp00BD*
usb:v06CBp00DF*

# Supported by libfprint driver other
usb:v08FFp1660*

# Known unsupported devices
usb:v04F3p036B*
usb:v0A5Cp5843*
"""
    RULES = """# "acpi:COMMENT:"
ACTION=="add|change", SUBSYSTEM=="spi", ENV{MODALIAS}=="acpi:ELAN7001:", RUN{builtin}+="kmod load spi:spidev"
ACTION=="add|change", SUBSYSTEM=="spi", ENV{MODALIAS}=="acpi:OTHR0001:", RUN{builtin}+="kmod load spi:spidev"
"""

    def test_rule(self):
        """The readers of libfprint's hwdb, on USB, on SPI and beside a touchpad, belong to the worker and to nobody
        else"""
        with tempfile.TemporaryDirectory() as root:
            udev = os.path.join(root, "usr", "lib", "udev")
            for folder, name, text in (
                ("hwdb.d", "60-autosuspend-libfprint-2.hwdb", self.HWDB),
                ("rules.d", "70-libfprint-2.rules", self.RULES)):
                os.makedirs(os.path.join(udev, folder), exist_ok=True)
                with open(os.path.join(udev, folder, name), "w") as file:
                    file.write(text)
            for _ in range(2):
                subprocess.run([os.path.join(ROOT, "config", "appvault-fingerprint-udev"), root], check=True)
            self.assertEqual(
                sorted(os.listdir(os.path.join(udev, "rules.d"))),
                ["70-libfprint-2.rules", "72-appvault-fingerprint.rules"])
            with open(os.path.join(udev, "rules.d", "72-appvault-fingerprint.rules")) as file:
                rules = file.read().splitlines()
        ours = ', OWNER="root", GROUP="_appvault-fingerprint", MODE="0660", TAG-="uaccess"'
        given = [line.removesuffix(ours) for line in rules if line.endswith(ours)]
        self.assertEqual(given, [
            'ATTR{idVendor}=="08ff", ATTR{idProduct}=="1600|1660"',
            'ATTR{idVendor}=="06cb", ATTR{idProduct}=="00bd|00df"',
            'SUBSYSTEM=="spidev", ATTRS{modalias}=="acpi:ELAN7001:*"',
            'SUBSYSTEM=="hidraw", KERNELS=="*:04F3:*", TEST=="/sys/bus/acpi/devices/ELAN7001:00"',
            'SUBSYSTEM=="spidev", ATTRS{modalias}=="acpi:OTHR0001:*"',
        ])
        rest = [line for line in rules if not line.endswith(ours)]
        self.assertTrue(all(re.search("^#|GOTO=|LABEL=", line) for line in rest), rest)


class Stripped(unittest.TestCase):
    def test_same_bytes(self):
        """Notes of the compiler's cache and the linker about a build do not reach the packages; RELRO does"""
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for name in ("one", "other"):
                path = os.path.join(folder, name)
                shutil.copy(build("appvaultd"), path)
                with open(path, "r+b") as file:
                    data = file.read()
                    for section in (".swift_modhash", ".note.gnu.build-id"):
                        row = subprocess.run(
                            ["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
                        offset, size = re.search(
                            rf"{re.escape(section)} +\w+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", row).groups()
                        end = int(offset, 16) + int(size, 16)
                        file.seek(end - 8)
                        file.write(name.ljust(8).encode())
                        self.assertNotEqual(data[end - 8 : end], name.ljust(8).encode())
                subprocess.run([os.path.join(ROOT, "Tools", "strip"), path], check=True)
                with open(path, "rb") as file:
                    found.append(file.read())
                self.assertEqual(subprocess.run([path, "--version"], capture_output=True, check=True).returncode, 0)
                self.assertIn("GNU_RELRO", subprocess.run(
                    ["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout)
            self.assertTrue(found[0] == found[1])
            self.assertLess(len(found[0]), os.path.getsize(build("appvaultd")))


class Completions(unittest.TestCase):
    def test_bash(self):
        """bash offers the verbs, their second words, the options that go with them, fingers, topics and accounts"""
        script = r"""
source "$1"; shift
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _appvault; echo "${COMPREPLY[*]}"
"""
        path = os.path.join(ROOT, ".build", "completions", "appvault.bash")

        def offered(*words):
            return subprocess.run(
                ["bash", "-c", script, "bash", path, "appvault", *words], capture_output=True, text=True, check=True,
                cwd=UNITS).stdout.split()

        self.assertEqual(offered("pol"), ["policy"])
        self.assertEqual(offered("policy", "l"), ["lint"])
        self.assertEqual(offered("--user", "bob", "fingerprint", "en"), ["enroll"])
        self.assertEqual(offered("passwd", "--o"), ["--off", "--on", "--own-passcode"])
        self.assertEqual(offered("fingerprint", "enroll", "right-t"), ["right-thumb"])
        self.assertEqual(offered("help", "fin"), ["fingerprint"])
        self.assertIn("root", offered("status", "--user", "roo"))
        self.assertEqual(offered("passwd", "--r"), [])
        self.assertEqual(offered("import", "--r"), ["--replace"])
        self.assertEqual(offered("export", "appvaultd.so"), ["appvaultd.socket"])
        self.assertEqual(
            sorted(offered("export", "appvaultd")),
            ["appvaultd-root.socket", "appvaultd.service", "appvaultd.socket"])
        self.assertEqual(offered("get", "appvaultd.so"), [])

    def test_others(self):
        """zsh and fish read theirs"""
        for shell, name in (("zsh", "_appvault"), ("fish", "appvault.fish")):
            if shutil.which(shell):
                subprocess.run([shell, "-n", os.path.join(ROOT, ".build", "completions", name)], check=True)


if __name__ == "__main__":
    unittest.main()
