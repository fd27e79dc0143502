"""Stacks that let a person in without looking at the password. At our prompt each such login
comes with a guess. A wrong guess is given back for only one token per store and boot, so that
guesses end where the policy says."""

import unittest

from daemonlab import change_accounts
from pamlab import PAM_SUCCESS
from slow import slow
from wayslab import LOGIN, NEW_LOGIN, PASSCODE, Machine

NEEDS_ROOT = True
LIMIT = 5
ERASE = f"RetryLimit={LIMIT}\nThrottleAfter=0\nOnRetryLimit=erase"
LOCK = f"RetryLimit={LIMIT}\nThrottleAfter=0\nOnRetryLimit=lock"
# The try that is given back, those that move to the apart count, and those that the own count
# takes.
MOST = 2 * LIMIT + 1
NO_PASSWORD = "pam_unix with an empty password"
WITHOUT_THE_TOKEN = {
    NO_PASSWORD: "pam_unix.so nodelay nullok try_first_pass",
    "pam_permit": "pam_permit.so",
    "pam_rootok": "pam_rootok.so",
    "pam_succeed_if": "pam_succeed_if.so quiet uid = {uid}",
    "a touch": "{lab}",
}


class Case(unittest.TestCase):
    def machine(self, policy=ERASE, **options):
        machine = Machine(policy, **options)
        self.addCleanup(machine.close)
        return machine.create(PASSCODE)

    def open_door(self, machine, name, unlock=True, service="login"):
        """A stack in which only that module decides who is let in."""
        if name == NO_PASSWORD:
            change_accounts("usermod", "--password", "", machine.name)
            self.addCleanup(machine.change_password, LOGIN)
        module = WITHOUT_THE_TOKEN[name].replace("{uid}", str(machine.uid))
        machine.stack(
            service, "auth [success=2 default=ignore] {ours} or_password",
            f"auth [success=1 default=ignore] {module}", "auth requisite pam_deny.so",
            "auth required pam_permit.so", *(["auth optional {ours} unlock"] if unlock else []))

    def guesses(self, machine, count, service="login"):
        """Makes so many different guesses. Returns how many were derived. Each login succeeds."""
        derived = 0
        for number in range(count):
            # A store that is erased, or locked for recovery, has no prompt; then nothing is asked
            # at all.
            found, entered = machine.derivations(lambda: machine.enter(service, [f"guess {number}"]))
            self.assertEqual(entered.code, PAM_SUCCESS, entered)
            derived += found
        return derived


class WithoutTheToken(Case):
    @slow
    def test_erased(self):
        """whatever module lets the guesser in, the guesses are bounded, the store is erased, and the login goes on"""
        for name in WITHOUT_THE_TOKEN:
            for unlock in (True, False):
                with self.subTest(name, unlock=unlock):
                    machine = self.machine()
                    self.open_door(machine, name, unlock)
                    self.assertEqual(self.guesses(machine, MOST + 4), MOST if unlock else MOST - 1)
                    self.assertEqual(machine.daemon.status().lock, "erased")

    @slow
    def test_locked(self):
        """the same where the limit locks: the recovery key opens the store, no guess does"""
        for name in WITHOUT_THE_TOKEN:
            with self.subTest(name):
                machine = self.machine(LOCK)
                self.open_door(machine, name)
                self.assertEqual(self.guesses(machine, MOST + 4), MOST)
                self.assertEqual(machine.daemon.status().lock, "retryLocked")
                self.assertEqual(machine.apart, LIMIT)

    def test_over_restarts(self):
        """a daemon that is killed after each guess gives no more guesses"""
        machine = self.machine(runtime=True)
        self.open_door(machine, "pam_permit")
        derived = 0
        for number in range(MOST + 4):
            found, entered = machine.derivations(lambda number=number: machine.enter(typed=[f"guess {number}"]))
            self.assertEqual(entered.code, PAM_SUCCESS)
            derived += found
            machine.daemon.kill()
            machine.daemon.start()
        self.assertEqual(derived, MOST)
        self.assertEqual(machine.daemon.status().lock, "erased")

    def test_empty_answer(self):
        """an empty answer is no try, and uses up no refund"""
        machine = self.machine()
        self.open_door(machine, NO_PASSWORD)
        for _ in range(3):
            count, entered = machine.derivations(lambda: machine.enter(typed=[""]))
            self.assertEqual((entered.code, count, machine.own, machine.apart), (PAM_SUCCESS, 0, 0, 0))
        machine.enter(typed=["guess"])
        self.assertEqual((machine.own, machine.apart), (0, 0))

    def test_same_guess(self):
        """a guess that is known to be wrong is neither derived nor counted, whichever count it went to"""
        machine = self.machine()
        self.open_door(machine, "pam_permit")
        self.assertEqual(self.guesses(machine, 3), 3)
        self.assertEqual((machine.own, machine.apart), (0, 2))
        self.assertEqual(self.guesses(machine, 3), 0)
        self.assertEqual((machine.own, machine.apart), (0, 2))

    def test_at_once(self):
        """logins that wait for their confirmation at the same time get one try back in all"""
        machine = self.machine()
        self.open_door(machine, "pam_permit")
        logins = [machine.login(typed=[f"guess {number}"]) for number in range(4)]
        for login in logins:
            self.addCleanup(login.end)
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
        self.assertEqual((machine.own, machine.apart), (4, 0))
        for login in logins:
            login.setcred()
        self.assertEqual((machine.own, machine.apart), (0, 3))

    def test_same_at_once(self):
        """two logins with the login password at once: both tries are given back, because it is one token"""
        machine = self.machine()
        machine.way_b()
        logins = [machine.login(typed=[LOGIN]) for _ in range(2)]
        for login in logins:
            self.addCleanup(login.end)
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
        self.assertEqual(machine.own, 2)
        for login in logins:
            login.setcred()
        self.assertEqual((machine.own, machine.apart), (0, 0))


class Honest(Case):
    def test_daily(self):
        """the login password at our prompt, day after day and over restarts, costs one derivation per boot and no
        try"""
        machine = self.machine(runtime=True)
        for service in ("login", "sudo"):
            machine.way_b(service)
        derived = 0
        for day in range(4):
            for service in ("login", "sudo", "sudo"):
                count, entered = machine.derivations(lambda service=service: machine.enter(service, [LOGIN]))
                self.assertEqual(entered.code, PAM_SUCCESS)
                derived += count
            self.assertEqual((machine.own, machine.apart), (0, 0))
            machine.daemon.restart() if day % 2 else (machine.daemon.kill(), machine.daemon.start())
        self.assertEqual(derived, 1)
        self.assertEqual(machine.enter(typed=[PASSCODE]).code, PAM_SUCCESS)

    def test_new_login_password(self):
        """a new login password in the same boot costs one apart try, once"""
        machine = self.machine()
        machine.way_b()
        machine.enter(typed=[LOGIN])
        machine.change_password(NEW_LOGIN)
        for expected in (1, 0, 0):
            count, entered = machine.derivations(lambda: machine.enter(typed=[NEW_LOGIN]))
            self.assertEqual((entered.code, count), (PAM_SUCCESS, expected))
            self.assertEqual((machine.own, machine.apart), (0, 1))

    def test_new_passcode(self):
        """a new passcode brings no second refund, and what was wrong before it may be right"""
        machine = self.machine()
        self.open_door(machine, "pam_permit")
        machine.enter(typed=["guess"])
        self.assertEqual((machine.own, machine.apart), (0, 0))
        done = machine.appvault("passwd", passcodes=[PASSCODE, "horse of the guess"])
        self.assertEqual(done.returncode, 0, done.stderr)
        machine.lock()
        machine.enter(typed=["guess"])
        self.assertEqual((machine.own, machine.apart), (0, 1))
        machine.enter(typed=["horse of the guess"])
        self.assertTrue(machine.is_open)

    def test_passcode_set_before_the_confirmation(self):
        """a wrong try says nothing about a passcode that was set before its login was confirmed"""
        machine = self.machine()
        self.open_door(machine, "pam_permit")
        with machine.login(typed=["horse of the guess"]) as login:
            login.authenticate()
            done = machine.appvault("passwd", passcodes=[PASSCODE, "horse of the guess"])
            self.assertEqual(done.returncode, 0, done.stderr)
            login.setcred()
        machine.lock()
        machine.enter(typed=["horse of the guess"])
        self.assertTrue(machine.is_open)


if __name__ == "__main__":
    unittest.main()
