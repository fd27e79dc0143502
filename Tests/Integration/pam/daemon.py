"""The real module and the real daemon: what must hold if the daemon itself cannot work."""

import os
import signal
import subprocess
import threading
import unittest

from pamlab import (
    PAM_AUTH_ERR,
    PAM_AUTHINFO_UNAVAIL,
    PAM_SUCCESS,
    PAM_USER_UNKNOWN,
    Footprint,
    Lab,
    Talk,
)
from patience import Stopwatch
from slow import slow

POLICY = """PasscodeServices=front alone
UnlockServices=behind
LocalServices=front alone
ConversingServices=
DerivationMemory=19MiB
DerivationPasses=2
ThrottleAfter=0
RetryLimit=0
"""
PASSCODE = "correct horse battery"


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        session = ("session optional {ours}", "session required pam_permit.so")
        self.lab.stack("auth required {ours}", *session, name="alone")
        self.lab.stack(
            "auth [success=done default=ignore] {ours} or_password",
            "auth required {lab} want=login",
            *session,
            name="front",
        )
        self.lab.stack("auth required {lab} want=login", "auth optional {ours} unlock", *session, name="behind")

    def login(self, service, *answers, **more):
        talk = Talk(answers)
        before = Footprint()
        self.took = Stopwatch()
        with self.lab.transaction(service, talk=talk, **more) as pam:
            result = pam.authenticate()
            if result == PAM_SUCCESS:
                self.assertEqual(pam.setcred(), PAM_SUCCESS)
                self.assertEqual((pam.open_session(), pam.close_session()), (PAM_SUCCESS,) * 2)
        self.took.stop()
        self.assertEqual(before, Footprint())
        return result


class Logins(Case):
    def test_passcode(self):
        """the right passcode is a login, a wrong one is not, the login password goes on to pam_unix"""
        self.lab.appvaultd(POLICY).create(PASSCODE)
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)
        self.assertEqual(self.login("alone", "wrong horse battery"), PAM_AUTH_ERR)
        self.assertEqual(self.login("front", "login"), PAM_SUCCESS)
        self.assertEqual(self.login("front", "neither"), PAM_AUTH_ERR)
        self.assertEqual(self.login("behind", "login"), PAM_SUCCESS)

    def test_no_proof(self):
        """no store, a store without a passcode, an open store: never success without the passcode"""
        daemon = self.lab.appvaultd(POLICY)
        self.assertEqual(self.login("alone", "anything"), PAM_USER_UNKNOWN)
        daemon.create("", way="noPasscode")
        self.assertEqual(self.login("alone", "anything"), PAM_USER_UNKNOWN)
        self.assertEqual(self.login("front", "login"), PAM_SUCCESS)

    def test_open_store(self):
        """a new authentication with an open store proves the passcode again"""
        daemon = self.lab.appvaultd(POLICY)
        daemon.create(PASSCODE)
        self.assertEqual(daemon.status().lock, "unlocked")
        for answer in ("", "wrong horse battery", "x" * 1024, "\u00e9"):
            self.assertNotEqual(self.login("alone", answer), PAM_SUCCESS)
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)

    @slow
    def test_killed(self):
        """killed in the middle of a derivation, stopped, or gone: pam_unix lets the person in"""
        daemon = self.lab.appvaultd(POLICY.replace("19MiB", "1GiB"))
        daemon.create(PASSCODE)
        timer = threading.Timer(0.15, lambda: daemon.signal(signal.SIGKILL))

        def typed():
            timer.start()
            return "login"

        self.assertEqual(self.login("front", typed), PAM_SUCCESS)
        timer.join()
        daemon.stop()
        self.assertEqual(self.login("front", "login"), PAM_SUCCESS)
        daemon.start()
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)
        daemon.signal(signal.SIGSTOP)
        self.assertEqual(self.login("alone", PASSCODE), PAM_AUTHINFO_UNAVAIL)
        self.took.assert_within(3)
        self.assertEqual(self.login("front", "login"), PAM_SUCCESS)
        daemon.signal(signal.SIGCONT)
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)

    @slow
    def test_working(self):
        """a derivation of several seconds is waited for"""
        daemon = self.lab.appvaultd(POLICY.replace("19MiB", "1GiB").replace("Passes=2", "Passes=5"))
        daemon.create(PASSCODE)
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)


@unittest.skipUnless(os.geteuid() == 0, "needs root to mount a disk of its own")
class Disks(Case):
    def mounted(self, mount):
        """A daemon whose state folder is set up by `mount`, in a mount namespace that ends with
        the daemon."""
        state = os.path.join(self.lab.folder, "state")
        return ["unshare", "-m", "sh", "-c", mount.format(state) + ' && exec "$@"', "sh"]

    def test_full(self):
        """a full disk: the login password works, the passcode works or is unavailable"""
        daemon = self.lab.appvaultd(POLICY, wrapper=self.mounted("mount -t tmpfs -o size=2m,mode=0700 lab {}"))
        daemon.create(PASSCODE)

        def inside(command):
            words = ["nsenter", "-t", str(daemon.process.pid), "-m", "sh", "-c", command]
            subprocess.run(words, check=False, capture_output=True)

        inside(f"cat /dev/zero > {daemon.state}/filler")
        self.assertEqual(self.login("front", "login"), PAM_SUCCESS)
        self.assertIn(self.login("alone", PASSCODE), (PAM_SUCCESS, PAM_AUTHINFO_UNAVAIL))
        self.assertIn(self.login("alone", "wrong horse battery"), (PAM_AUTH_ERR, PAM_AUTHINFO_UNAVAIL))
        inside(f"rm {daemon.state}/filler")
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)

    def test_read_only(self):
        """a read-only state folder: no try can be counted, so nothing is derived, and pam_unix decides"""
        daemon = self.lab.appvaultd(POLICY)
        daemon.create(PASSCODE)
        daemon.stop()
        former, daemon.wrapper = (
            daemon.wrapper,
            self.mounted("mount --bind {0} {0} && mount -o remount,bind,ro {0}"),
        )
        try:
            daemon.start()
        except OSError:
            pass  # a daemon that does not start there counts as absent
        self.assertEqual(self.login("alone", PASSCODE), PAM_AUTHINFO_UNAVAIL)
        self.assertEqual(self.login("alone", "wrong horse battery"), PAM_AUTHINFO_UNAVAIL)
        self.assertEqual(self.login("front", "login"), PAM_SUCCESS)
        self.assertEqual(self.login("behind", "login"), PAM_SUCCESS)
        daemon.stop()
        daemon.wrapper = former
        daemon.start()
        self.assertEqual(self.login("alone", PASSCODE), PAM_SUCCESS)


if __name__ == "__main__":
    unittest.main()
