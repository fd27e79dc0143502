"""The installed units: who is kept out under them, what they leave a program, and that no fault leaves a dead
socket."""

import glob
import os
import re
import time
import unittest

import machine
import packages

TIMEOUT = 900
DEBS = os.path.join(machine.ROOT, ".build", "deb")
# Timeouts that a test can wait for; everything else is as installed.
SHORT = """[Service]
ExecStart=
ExecStart=/usr/libexec/appvault/appvaultd --stopped-before-hibernation --deadline idle=1
WatchdogSec=2s
"""
RULES = """[Rule animals]
Display=no animals
Reject=zebra

[Rule words]
Display=no words
Dictionary=yes
"""


class Units(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not glob.glob(os.path.join(DEBS, "*.deb")):
            raise unittest.SkipTest("no packages in .build/deb: make deb")
        cls.machine = machine.Machine(bind={DEBS: "/debs"})
        cls.addClassCleanup(cls.machine.stop)
        # A test's reader is set by an environment variable. A user who can set variables for all
        # services must not get a reader by it.
        cls.machine.check("systemctl set-environment FP_VIRTUAL_DEVICE=/tmp/reader FP_VIRTUAL_IMAGE=/tmp/image")
        cls.machine.check(
            f"{packages.APT} install {packages.within('/debs', packages.DESKTOP)} 2>&1", timeout=300)
        cls.machine.write("/run/systemd/system/appvaultd.service.d/short.conf", SHORT)
        cls.machine.check("systemctl daemon-reload")
        cls.machine.write("/srv/right", "alices own passcode\n" * 2)
        cls.machine.write("/srv/wrong", "another passcode\n")
        cls.machine.check("appvault create --own-passcode --passcode-fd 3 3</srv/right", user="alice")
        cls.machine.check("printf secret | appvault set a", user="alice")

    def wait(self, command, wanted, seconds=30):
        until = time.monotonic() + seconds
        while True:
            found = self.machine.run(command)
            if re.fullmatch(wanted, found[1].strip()):
                return
            if time.monotonic() > until:
                self.fail(f"{command}: {found}")
            time.sleep(0.2)

    def pid(self, unit="appvaultd"):
        return self.machine.check(f"systemctl show -p MainPID --value {unit}").strip()

    def unlock(self):
        self.machine.check("appvault unlock --passcode-fd 3 3</srv/right", user="alice")

    def lock(self):
        self.machine.check("appvault lock", user="alice")

    def test_two_people_are_refused_each_other(self):
        """The daemon under its unit sees which person each peer is"""
        self.unlock()
        self.assertEqual(self.machine.run("appvault get a", user="alice"), (0, "secret"))
        # The answer is the same as without a store.
        code, text = self.machine.run("appvault get a", user="bob")
        self.assertNotEqual(code, 0)
        self.assertNotIn("secret", text)
        code, text = self.machine.run("appvault status --user alice", user="bob")
        self.assertNotIn("alice", text.replace("alice's", ""))
        self.assertNotIn("open", text)
        # Root may act for her, but reads nothing of hers.
        self.assertIn("open", self.machine.check("appvault status --user alice"))
        self.assertNotEqual(self.machine.run("appvault get a")[0], 0)
        for name in ("root", "rules", "fetch", "fingerprint"):
            for user in ("alice", None):
                code, text = self.machine.run(
                    "python3 -c \"import socket;"
                    " socket.socket(socket.AF_UNIX).connect('/run/appvault/%s.socket')\"" % name, user=user)
                # Root gets in, and a worker hangs up on whoever is not the daemon.
                self.assertEqual(code != 0 and "Permission denied" in text, user is not None, f"{name}: {text}")
        self.lock()

    def test_what_is_left_to_the_daemon(self):
        """No privilege, no network, no home, nothing to write to but its state folder, nothing to start"""
        self.unlock()
        pid = self.pid()
        status = dict(re.findall(r"^(\w+):\s+(.*)$", self.machine.read(f"/proc/{pid}/status"), re.M))
        self.assertEqual(status["CapBnd"], "0" * 16)
        self.assertEqual(status["CapEff"], "0" * 16)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"], status["Umask"]), ("1", "2", "0077"))
        uid = self.machine.check("id -u _appvault").strip()
        self.assertEqual(status["Uid"].split(), [uid] * 4)
        limits = self.machine.read(f"/proc/{pid}/limits")
        self.assertRegex(limits, r"Max core file size +0 +0")
        # The file system as the daemon sees it: not even root could write there.
        root = f"/proc/{pid}/root"
        for path in ("/etc", "/var/lib", "/usr", "/usr/lib", "/run", "/run/appvault", "/var/log", "/dev/shm"):
            self.assertNotEqual(self.machine.run(f"touch {root}{path}/new")[0], 0, path)
        for path in ("/var/lib/appvault", "/run/appvaultd"):
            self.machine.check(f"touch {root}{path}/new && rm {root}{path}/new")
        self.assertEqual(self.machine.run(f"ls -A {root}/home {root}/root {root}/tmp | cat")[1].split(),
                         [f"{root}{path}:" for path in ("/home", "/root", "/tmp")])
        self.assertEqual(self.machine.check(f"nsenter -t {pid} -n cat /proc/net/dev").count(":"), 1)
        # The last mount at a place is the visible one.
        mounts = {line.split()[4]: line.split()[5] for line in self.machine.read(f"/proc/{pid}/mountinfo").splitlines()}
        for path in ("/var/lib/appvault", "/run/appvaultd", "/tmp", "/var/tmp"):
            self.assertIn("noexec", mounts[path].split(","), path)
        self.assertEqual(
            self.machine.check(
                "stat -c '%U %G %a' /var/lib/appvault /run/appvaultd /var/lib/appvault/machine.key").splitlines(),
            ["_appvault _appvault 700"] * 2 + ["_appvault _appvault 400"])
        self.assertEqual(self.machine.check("stat -f -c %T /run/appvaultd").strip(), "tmpfs")
        self.lock()

    def test_rules_of_the_administrator(self):
        """The rules worker judges under its unit, with a dictionary, and leaves nothing behind"""
        self.machine.write("/etc/appvault/policy.d/rules.conf", RULES)
        self.wait("printf 'a zebra 1\\n' | appvault policy check - | grep -c zebra; true", "0")
        for candidate, wanted in (("my zebra kJ7#v", "animals"), ("peggy123", "words"), ("kJ7#vb2Lqx", None)):
            with self.subTest(candidate):
                self.wait(f"printf '{candidate}\\n' | appvault policy check - | grep -c ^rule", "2")
                text = self.machine.run(f"printf '{candidate}\\n' | appvault policy check -", user="alice")[1]
                found = {name for name in ("animals", "words") if re.search(rf"^rule\.{name}\tunmet", text, re.M)}
                self.assertEqual(found, {wanted} - {None}, text)
                self.assertNotIn("answer", text)
        self.machine.check("rm /etc/appvault/policy.d/rules.conf")
        self.wait("systemctl list-units --all --no-legend 'appvault-rules@*' | wc -l", "0")

    def test_no_reader_is_made_of_a_variable(self):
        """The fingerprint worker starts under its unit, and a variable that is set for all services makes no reader"""
        text = self.machine.check("appvault fingerprint list", user="alice")
        self.assertNotIn("irtual", text)
        pid = self.pid("appvault-fingerprint")
        self.assertNotEqual(pid, "0")
        self.assertEqual(self.machine.run("ls /tmp/reader /tmp/image")[0], 2)
        status = dict(re.findall(r"^(\w+):\s+(.*)$", self.machine.read(f"/proc/{pid}/status"), re.M))
        self.assertEqual((status["CapBnd"], status["NoNewPrivs"], status["Seccomp"]), ("0" * 16, "1", "2"))
        self.assertNotEqual(self.machine.run(f"ls /proc/{pid}/root/var/lib/appvault/stores")[0], 0)

    def test_leaves_and_is_there_again(self):
        """The daemon ends when no store is open, its socket stays, and the next one who connects is answered"""
        self.unlock()
        first = self.pid()
        self.lock()
        self.wait("systemctl is-active appvaultd.service; true", "inactive")
        self.assertEqual(
            self.machine.check("ls /run/appvault").split(),
            ["fetch.socket", "fingerprint.socket", "root.socket", "rules.socket", "socket"])
        self.unlock()
        self.assertNotIn(self.pid(), ("0", first))
        # An open store keeps the daemon running.
        time.sleep(3)
        self.assertEqual(self.machine.run("appvault get a", user="alice"), (0, "secret"))
        self.lock()

    def test_failed_tokens(self):
        """What failed is known to the next daemon, whether this one left or was killed; hibernation takes it away"""
        self.machine.write(
            "/etc/appvault/policy.d/tries.conf",
            "[Passcode]\nRetryLimit=50\nOnRetryLimit=lock\nThrottleAfter=0\n")
        left = "appvault status --user alice --json | grep -o '\"apartTriesLeft\":[0-9]*'"
        self.unlock()
        self.lock()
        self.wait(left + "; true", '"apartTriesLeft":50')
        # pam_unix asks for the token, and our line is the next to try it.
        self.machine.write(
            "/etc/pam.d/swaylock",
            "auth optional pam_unix.so\nauth required pam_appvault.so use_first_pass\naccount required pam_permit.so\n")
        attempt = "printf 'a password that drifted\\n' | pamtester swaylock alice authenticate; true"
        for ended in ("kill --kill-whom=main -s KILL", "stop"):
            self.machine.check(attempt, user="alice")
            self.assertEqual(self.machine.check(left).strip(), '"apartTriesLeft":49')
            self.assertIn("key\n", self.machine.check("ls /run/appvaultd"))
            self.machine.check(f"systemctl {ended} appvaultd.service")
        self.wait("systemctl is-active appvaultd.service; true", "inactive|active")
        self.machine.check(attempt, user="alice")
        self.assertEqual(self.machine.check(left).strip(), '"apartTriesLeft":49')
        self.machine.check("systemctl start appvault-hibernate.service")
        self.assertEqual(self.machine.check("ls -A /run/appvaultd"), "")
        self.machine.check("rm /etc/pam.d/swaylock /etc/appvault/policy.d/tries.conf")

    def test_crash_and_burst(self):
        """Killed again and again while many connect, the daemon is there for the next one, and no try is given away"""
        self.machine.write(
            "/etc/appvault/policy.d/tries.conf",
            "[Passcode]\nRetryLimit=50\nOnRetryLimit=lock\nThrottleAfter=0\n")
        left = "appvault status --user alice --json | grep -o '\"ownTriesLeft\":[0-9]*\\|\"apartTriesLeft\":[0-9]*'"
        self.wait(left + "; true", r'"ownTriesLeft":50\s"apartTriesLeft":50')
        self.machine.check(
            "for i in $(seq 200); do appvault status >/dev/null 2>&1 & done; for i in $(seq 8); do "
            "systemctl kill --kill-whom=main -s KILL appvaultd.service; sleep 0.1; done; wait", user=None, timeout=120)
        self.assertNotEqual(
            self.machine.run("appvault unlock --passcode-fd 3 3</srv/wrong", user="alice")[0], 0)
        self.machine.check("systemctl kill --kill-whom=main -s KILL appvaultd.service")
        self.wait("appvault status --user alice 2>/dev/null | grep ^state", "state .*")
        self.assertEqual(self.machine.check("systemctl is-active appvaultd.socket"), "active\n")
        counts = [int(count) for count in re.findall(r":(\d+)", self.machine.check(left))]
        self.assertEqual(sum(counts), 99, counts)
        self.unlock()
        self.lock()
        self.machine.check("rm /etc/appvault/policy.d/tries.conf")

    def test_hung(self):
        """A daemon that hangs is ended by the watchdog, and the next one serves"""
        self.unlock()
        pid = self.pid()
        self.machine.check(f"kill -STOP {pid}")
        self.wait("systemctl show -p MainPID --value appvaultd", f"(?!{pid}$|0$)\\d+")
        text = self.machine.check("appvault status", user="alice")
        self.assertIn("locked", text)
        self.assertNotIn("core", self.machine.check("systemctl show -p Result appvaultd"))


if __name__ == "__main__":
    unittest.main()
