"""What a front end elsewhere hears: neither how many tries are left, nor that a store was erased, nor anything else
that a person at the machine is told of a wrong passcode. Each line is first heard at the machine, so that it is known
to be said."""

import time
import unittest

from daemonlab import answers
from pamlab import PAM_AUTH_ERR, PAM_MAXTRIES, PAM_SILENT, PAM_SUCCESS, PAM_USER_UNKNOWN
from wayslab import LOGIN, PASSCODE, WRONG, Machine

FAR = "192.0.2.7"
PROMPT, EITHER = "AppVault passcode: ", "Passcode or login password: "
# What a person without a store gets.
UNASKED = (PAM_USER_UNKNOWN, [], [])
FORGOTTEN = "Forgotten? `appvault reset` erases the store and makes room for a new one."
UNKNOWN, INVALID, DELETED, LIMIT_REACHED, THROTTLED = 3, 5, 16, 23, 24


class Case(unittest.TestCase):
    def machine(self, policy, *stack, service="login"):
        machine = Machine(policy)
        self.addCleanup(machine.close)
        machine.stack(service, *(stack or ["auth required {ours}"]))
        return machine.create(PASSCODE)

    def heard(self, entered):
        return entered.code, entered.prompts, entered.lines


class Lines(Case):
    """Under the real libpam, with PAM_RHOST and without."""

    # (policy, wrong ones before, typed, at the machine, elsewhere), each (code, prompts, lines)
    TABLE = [
        ("RetryLimit=5\nThrottleAfter=0", 0, WRONG,
         (PAM_AUTH_ERR, [PROMPT], ["Wrong passcode. 4 tries left.", FORGOTTEN]), (PAM_AUTH_ERR, [PROMPT], [])),
        ("RetryLimit=2\nThrottleAfter=0", 1, PASSCODE,
         (PAM_SUCCESS, [PROMPT], ["One try left. A wrong passcode now erases the store."]),
         (PAM_SUCCESS, [PROMPT], [])),
        ("RetryLimit=2\nThrottleAfter=0\nOnRetryLimit=lock", 1, PASSCODE,
         (PAM_SUCCESS, [PROMPT], ["One try left. A wrong passcode now locks the store."]), (PAM_SUCCESS, [PROMPT], [])),
        ("RetryLimit=1\nThrottleAfter=0", 0, WRONG,
         (PAM_MAXTRIES, [PROMPT], ["One try left. A wrong passcode now erases the store.",
                                   "Too many wrong passcodes. The store was erased."]),
         (PAM_AUTH_ERR, [PROMPT], [])),
        ("RetryLimit=1\nThrottleAfter=0\nOnRetryLimit=lock", 1, PASSCODE,
         (PAM_MAXTRIES, [], ["Too many wrong passcodes. The store is locked until root clears the tries."]), UNASKED),
        ("ThrottleAfter=1", 1, PASSCODE,
         (PAM_AUTH_ERR, [], ["You can try again in 1 s."]), UNASKED),
    ]

    def enter(self, policy, before, typed, **items):
        """Once more where the wait after the last wrong one may have been over when the answer came."""
        while True:
            machine = self.machine(policy)
            began = time.monotonic()
            for _ in range(before):
                machine.enter(typed=[WRONG], **items)
            said = self.heard(machine.enter(typed=[typed], **items))
            if policy != "ThrottleAfter=1" or time.monotonic() - began < 1:
                return said, machine
            machine.close()

    def test_lines(self):
        """what a person at the machine is told about a try, and that nothing of it is told elsewhere"""
        for policy, before, typed, near, far in self.TABLE:
            with self.subTest(policy=policy, before=before):
                said, machine = self.enter(policy, before, typed)
                self.assertEqual(said, near)
                machine.close()
                said, machine = self.enter(policy, before, typed, RHOST=FAR)
                self.assertEqual(said, far)
                self.assertEqual(machine.own, 0)
                machine.close()

    def test_or_password(self):
        """the same before pam_unix: the login password goes on, without a line"""
        for items, prompt, lines in (
            ({}, EITHER, ["Not the passcode (tries left: 4); trying it as the login password."]),
            # pam_unix's own words, as for somebody without a store.
            ({"RHOST": FAR}, "Password: ", []),
        ):
            with self.subTest(items=items):
                machine = self.machine("RetryLimit=5\nThrottleAfter=0")
                machine.way_b()
                self.assertEqual(self.heard(machine.enter(typed=[LOGIN], **items)), (PAM_SUCCESS, [prompt], lines))
                machine.close()

    def test_silent_question(self):
        """the question of a silent front end says what the last try leads to, but not elsewhere"""
        for items, last in (({}, f"One try left, then the store is erased. {PROMPT}"), ({"RHOST": FAR}, PROMPT)):
            with self.subTest(items=items):
                machine = self.machine("RetryLimit=2\nThrottleAfter=0", service="sudo")
                machine.enter("sudo", [WRONG])
                machine.enter("sudo", [WRONG], RHOST=FAR)
                with machine.login("sudo", [PASSCODE], **items) as sudo:
                    sudo.authenticate(PAM_SILENT)
                    self.assertEqual((sudo.talk.prompts, sudo.talk.lines), ([last], []))
                machine.close()

    def test_erased(self):
        """elsewhere an erased store looks like no store, also if it is erased while they are asked"""
        machine = self.machine("RetryLimit=1\nThrottleAfter=0")
        nobody = Machine("RetryLimit=1")
        self.addCleanup(nobody.close)
        nobody.stack("login", "auth required {ours}")
        without = self.heard(nobody.enter(typed=[PASSCODE], RHOST=FAR))
        self.assertEqual(without, UNASKED)

        def erased():
            self.assertIn("Too many wrong passcodes. The store was erased.", machine.enter(typed=[WRONG]).lines)
            return PASSCODE

        self.assertEqual(self.heard(machine.enter(typed=[erased], RHOST=FAR)), (PAM_USER_UNKNOWN, [PROMPT], []))
        self.assertEqual(self.heard(machine.enter(typed=[PASSCODE], RHOST=FAR)), without)

    def test_last_elsewhere(self):
        """those who used up the tries from elsewhere are asked nothing more, as if there were no store"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0")
        codes = {machine.enter(typed=[f"guess {guess}"], RHOST=FAR).code for guess in range(3)}
        self.assertEqual((codes, machine.own, machine.apart + machine.stranger), ({PAM_AUTH_ERR}, 0, 3))
        self.assertEqual(self.heard(machine.enter(typed=[PASSCODE], RHOST=FAR)), UNASKED)
        # At the machine nothing has changed.
        self.assertEqual(self.heard(machine.enter(typed=[PASSCODE])), (PAM_SUCCESS, [PROMPT], []))


class Wire(Case):
    """What the daemon itself sends, whatever the module does with it."""

    def ask(self, machine, typed, **hello):
        client = machine.daemon.client(frontEnd="pamAuth", service="login", tty="tty1", **hello)
        with client:
            verdict = client.run("authenticate", answers(typed), [b""], subject=machine.daemon.person)
            return verdict.code, client.shown

    def test_codes(self):
        """a limit and a throttle look like a wrong passcode, and then like no store"""
        for policy, near in (
            ("RetryLimit=2\nThrottleAfter=0\nOnRetryLimit=lock", [INVALID, LIMIT_REACHED, LIMIT_REACHED]),
            ("RetryLimit=2\nThrottleAfter=0", [INVALID, LIMIT_REACHED, DELETED]),
            ("RetryLimit=9\nThrottleAfter=2\nThrottleMax=1h", [INVALID, INVALID, THROTTLED]),
        ):
            with self.subTest(policy=policy):
                told = self.told(policy, 3)
                self.assertEqual([code for code, _ in told], near)
                self.assertTrue(all(lines for code, lines in told if code != DELETED), told)
                # While a stranger is asked, the answer is a wrong passcode; once they are not asked
                # any more, it is that there is no store.
                told = self.told(policy, 4, remoteHost=FAR)
                self.assertEqual(told, [(INVALID, [])] * 2 + [(UNKNOWN, [])] * 2)

    def told(self, policy, count, **hello):
        """What so many wrong tries are told within a second, which is the wait after the second one."""
        while True:
            machine = self.machine(policy)
            told = [self.ask(machine, WRONG, **hello)]
            began = time.monotonic()
            told += [self.ask(machine, WRONG, **hello) for _ in range(count - 1)]
            took = time.monotonic() - began
            machine.close()
            if took < 1:
                return told


if __name__ == "__main__":
    unittest.main()
