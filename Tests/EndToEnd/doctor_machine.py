"""`appvault doctor` on a booted Debian with the packages: on a fresh machine it finds nothing,
and it finds what a test breaks."""

import json
import os
import re
import unittest

from machine import ROOT, Machine
from packages import BIND, install

TIMEOUT = 600


class Doctor(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(bind=BIND)
        cls.addClassCleanup(cls.machine.stop)
        install(cls.machine)

    def look(self, user=None):
        """Each link with its findings, and the exit status."""
        status, out = self.machine.run("appvault doctor --json", user=user)
        links = {}
        for check in json.loads(out)["checks"]:
            links.setdefault(check["link"], []).append(check)
        return links, status

    def states(self, link, **more):
        return {check["state"] for check in self.look(**more)[0].get(link, [])}

    def after(self, command, undo):
        self.machine.check(command)
        self.addCleanup(self.machine.check, undo)

    def test_a_fresh_machine_has_nothing_to_mend(self):
        for user in (None, "alice"):
            links, status = self.look(user)
            bad = [check for checks in links.values() for check in checks if check["state"] in ("warning", "broken")]
            self.assertEqual((bad, status), ([], 0))
        ways = {check["service"]: check["text"] for check in links["pam"]}
        self.assertTrue(ways["login"].startswith("(a)"))
        self.assertIn("do nothing", ways["cron"])
        self.assertEqual({check["state"] for check in links["sandbox"] + links["rules"] + links["memory"]}, {"ok"})

    def test_what_the_readme_shows_is_what_it_shows(self):
        """with the mistake of README.md's example, but for numbers and the ends of lines"""
        def still(text):
            return re.sub(r"\d+", "N", " ".join(text.split()))

        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            wanted = re.search(r"\$ sudo appvault doctor\n(.*?broken: 1)\n", file.read(), re.S).group(1)
        self.after("printf '[Passcode]\\nMinLengt=12\\n' > /etc/appvault/policy.conf", "rm /etc/appvault/policy.conf")
        with self.machine.terminal("LC_ALL=C.UTF-8 appvault doctor; read end") as terminal:
            terminal.expect("broken: 1")
            self.assertEqual(still(terminal.text).removesuffix(" "), still(wanted))

    def test_with_each_profile_people_get_in_without_us_and_the_ways_are_told(self):
        self.after(
            "pam-auth-update --package --enable appvault appvault-password-rules",
            "pam-auth-update --package --disable appvault appvault-password-rules")
        links, status = self.look()
        self.assertEqual((status, self.states("pam")), (0, {"ok"}))
        ways = {check["service"]: check["text"] for check in links["pam"]}
        self.assertIn("(b)", ways["sudo"])
        self.assertIn("(a)", ways["login"])
        self.assertIn("(b)", ways["login"])

    def test_a_masked_socket(self):
        self.after(
            "systemctl mask --now appvaultd.socket appvaultd.service",
            "systemctl unmask appvaultd.socket appvaultd.service && systemctl start appvaultd.socket")
        links, status = self.look()
        self.assertEqual(status, 1)
        # Masked first, it is stopped without its own settings, and the socket's file stays.
        self.assertIn("systemctl unmask appvaultd.socket", links["socket"][0]["mend"] + links["daemon"][0]["mend"])
        self.assertEqual({check["state"] for check in links["pam"]}, {"ok"})

    def test_files_that_were_edited_by_hand_get_lines_to_paste(self):
        self.after(
            "cp -a /etc/pam.d /etc/pam.d.kept && sed -i 's/^# end of pam-auth-update/auth optional pam_warn.so\\n&/'"
            " /etc/pam.d/common-auth && sed -i /pam_appvault/d /etc/pam.d/common-*",
            "rm -r /etc/pam.d && mv /etc/pam.d.kept /etc/pam.d")
        links, status = self.look()
        told, = [check for check in links["pam"] if check["service"] == ""]
        self.assertEqual((told["state"], status), ("warning", 0))
        self.assertIn("auth optional pam_appvault.so unlock", told["paste"])
        # As pam-auth-update itself writes it.
        self.assertIn("not updating", self.machine.run("pam-auth-update --package < /dev/null")[1])

    def test_what_libpam_makes_of_a_service_is_what_doctor_says(self):
        right, none = "alice-otter-2\n", "no password\n"
        for name, lines, state, gets_in in [
            ("x-alone", ["auth required pam_appvault.so"], "broken", False),
            ("x-required", ["auth required pam_unix.so", "auth required pam_appvault.so"], "warning", False),
            ("x-jump", ["auth [success=1 default=ignore] pam_unix.so", "auth optional pam_appvault.so unlock",
                        "auth requisite pam_deny.so", "auth required pam_permit.so"], "broken", False),
            ("x-fine", ["auth sufficient pam_appvault.so", "auth required pam_unix.so"], "ok", True),
        ]:
            with self.subTest(name):
                path = f"/etc/pam.d/{name}"
                self.machine.write(path, "\n".join(lines + ["account required pam_permit.so", ""]))
                self.addCleanup(self.machine.check, f"rm -f {path}")
                found = {check["state"] for check in self.look()[0]["pam"] if check["service"] == name}
                self.assertIn(state, found)
                tester = f"systemctl stop appvaultd.socket appvaultd.service; pamtester {name} alice authenticate"
                self.assertEqual(self.machine.run(tester, stdin=right)[0] == 0, gets_in)
                self.assertNotEqual(self.machine.run(tester, stdin=none)[0], 0)
                self.machine.check("systemctl start appvaultd.socket")


if __name__ == "__main__":
    unittest.main()
