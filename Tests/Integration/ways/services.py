"""Each screen locker that the policy lists from the start: what is typed there opens the store in `auth` alone. Some
lockers make no setcred, none opens a session, and most set no terminal."""

import os
import re
import unittest

from pamlab import PAM_AUTH_ERR, PAM_SUCCESS
from places import ROOT
from wayslab import LOGIN, PASSCODE, WRONG, Machine

TIMEOUT = 300


def listed(key):
    """The services of a key, as the policy file that we install says it."""
    with open(os.path.join(ROOT, "config", "policy.conf"), encoding="utf-8") as file:
        return re.search(rf"^{key}=(.*)$", file.read(), re.M)[1].split()


LOCKERS = [name for name in listed("PasscodeServices") if name != "LocalServices"]


class Lockers(unittest.TestCase):
    def machine(self, passcode, way):
        machine = Machine("RetryLimit=5\nThrottleAfter=0")
        self.addCleanup(machine.close)
        return machine.create(passcode, way)

    def test_list(self):
        """the list is the one that lockers of today have names in, and a login password opens at the same ones"""
        self.assertGreater(len(LOCKERS), 10)
        self.assertEqual(set(LOCKERS) - set(listed("UnlockServices")), set())

    def opens(self, machine, service, typed):
        machine.lock()
        entered = machine.enter(service, [WRONG, WRONG], tty=None, confirm=False)
        self.assertEqual((entered.code, machine.is_open), (PAM_AUTH_ERR, False), entered)
        entered = machine.enter(service, [typed], tty=None, confirm=False)
        self.assertEqual((entered.code, len(entered.prompts)), (PAM_SUCCESS, 1), entered)
        self.assertTrue(machine.is_open)

    def test_login_password(self):
        """the login password opens a store that follows it"""
        machine = self.machine(LOGIN, "followLogin")
        for service in LOCKERS:
            with self.subTest(service):
                machine.way_a(service)
                self.opens(machine, service, LOGIN)

    def test_passcode(self):
        """the passcode opens a store with one of its own, and is the login"""
        machine = self.machine(PASSCODE, "ownPasscode")
        for service in LOCKERS:
            with self.subTest(service):
                machine.way_b(service)
                self.opens(machine, service, PASSCODE)

    def test_not_listed(self):
        """at a service that is in no list neither opens it"""
        machine = self.machine(LOGIN, "followLogin")
        machine.way_a("xtrlock")
        machine.enter("xtrlock", [LOGIN], tty=None)
        self.assertFalse(machine.is_open)
        machine = self.machine(PASSCODE, "ownPasscode")
        machine.way_b("xtrlock")
        machine.enter("xtrlock", [PASSCODE], tty=None)
        self.assertFalse(machine.is_open)


if __name__ == "__main__":
    unittest.main()
