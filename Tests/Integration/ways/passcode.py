"""Way (b): a passcode of its own. AppVault asks, and a right answer is the login; other answers
go on to pam_unix. A person who uses the login password there must never come near an erase, and
nobody may gain a try by it."""

import os
import time
import unittest

from daemonlab import IS_ROOT
from pamlab import PAM_AUTH_ERR, PAM_SILENT, PAM_SUCCESS, Talk
from wayslab import LOGIN, PASSCODE, WRONG, Machine, in_child

PROMPT = "Passcode or login password: "
OWN_PROMPT = "AppVault passcode: "
STRICT = "RetryLimit=5\nThrottleAfter=0"
LAST = "One try left. A wrong passcode now erases the store."


class OneAnswer(Talk):
    """sudo -S with one line of input, and then the end of the input."""


class SameAnswer(Talk):
    """Gives every prompt the same answer, as scripts do."""

    def __init__(self, answer):
        super().__init__()
        self.same = answer

    def answer(self, style, text):
        if not self.answers:
            self.answers = [self.same]
        return super().answer(style, text)


class Case(unittest.TestCase):
    def machine(self, policy=STRICT, way="ownPasscode", passcode=PASSCODE, **options):
        machine = Machine(policy, **options)
        self.addCleanup(machine.close)
        return machine.create(passcode, way)

    def left(self, count):
        return f"Not the passcode (tries left: {count}); trying it as the login password."


class Answers(Case):
    def test_right(self):
        """the right passcode is the login: one question, and pam_unix is not asked"""
        machine = self.machine()
        for service in ("login", "sudo", "su", "polkit-1", "gdm-password"):
            machine.way_b(service)
            machine.lock()
            count, entered = machine.derivations(lambda: machine.enter(service, [PASSCODE]))
            self.assertEqual((entered.code, entered.prompts, entered.lines), (PAM_SUCCESS, [PROMPT], []))
            self.assertEqual((count, machine.is_open, machine.own), (1, True, 0))

    def test_open_store(self):
        """if the store is open the passcode is proven again, and a wrong one counts"""
        machine = self.machine()
        machine.way_b("sudo")
        machine.enter("sudo", [PASSCODE])
        count, entered = machine.derivations(lambda: machine.enter("sudo", [PASSCODE]))
        self.assertEqual((entered.code, count), (PAM_SUCCESS, 1))
        self.assertEqual(machine.enter("sudo", [WRONG]).code, PAM_AUTH_ERR)
        self.assertEqual((machine.own, machine.is_open), (1, True))

    def test_login_password(self):
        """the login password is accepted too, at the same single question; the try is given back at setcred"""
        machine = self.machine()
        machine.way_b()
        with machine.login(typed=[LOGIN]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            self.assertEqual((login.talk.prompts, login.talk.lines), ([PROMPT], [self.left(4)]))
            self.assertEqual((machine.own, machine.apart), (1, 0))
            self.assertEqual(login.setcred(), PAM_SUCCESS)
        self.assertEqual((machine.own, machine.apart, machine.is_open), (0, 0, False))

    def test_remembered(self):
        """confirmed once, it costs nothing until the next boot: no derivation, no count, no line"""
        machine = self.machine()
        machine.way_b()
        machine.enter(typed=[LOGIN])
        for _ in range(3):
            count, entered = machine.derivations(lambda: machine.enter(typed=[LOGIN], confirm=False))
            self.assertEqual((entered.code, entered.prompts, entered.lines), (PAM_SUCCESS, [PROMPT], []))
            self.assertEqual((count, machine.own), (0, 0))

    def test_both_wrong(self):
        """wrong for both: not let in, and the try stays counted"""
        machine = self.machine()
        machine.way_b()
        for wrong in (1, 2):
            entered = machine.enter(typed=[WRONG, WRONG])
            self.assertEqual((entered.code, machine.own), (PAM_AUTH_ERR, wrong))
        self.assertEqual(machine.enter(typed=[PASSCODE]).code, PAM_SUCCESS)
        self.assertEqual(machine.own, 0)

    def test_one_answer(self):
        """a front end with exactly one answer, as echo pw | sudo -S"""
        machine = self.machine()
        machine.way_b("sudo")
        for answer, code in ((PASSCODE, PAM_SUCCESS), (LOGIN, PAM_SUCCESS), (WRONG, PAM_AUTH_ERR)):
            with self.subTest(answer=answer):
                self.assertEqual(machine.enter("sudo", OneAnswer([answer]), tty=None).code, code)

    def test_same_answer(self):
        """a front end that answers every question the same"""
        machine = self.machine()
        machine.way_b("sudo")
        for answer, code in ((PASSCODE, PAM_SUCCESS), (LOGIN, PAM_SUCCESS), (WRONG, PAM_AUTH_ERR)):
            with self.subTest(answer=answer):
                talk = SameAnswer(answer)
                self.assertEqual(machine.enter("sudo", talk).code, code)
                self.assertLessEqual(len(talk.prompts), 2)

    def test_three_times(self):
        """sudo's three tries on one handle: the login password at the end gives back only its own try"""
        machine = self.machine()
        machine.way_b("sudo")
        with machine.login("sudo", [WRONG, WRONG + "2", LOGIN]) as sudo:
            self.assertEqual(sudo.authenticate(), PAM_AUTH_ERR)
            self.assertEqual(sudo.authenticate(), PAM_AUTH_ERR)
            self.assertEqual(sudo.authenticate(), PAM_SUCCESS)
            self.assertEqual(machine.own, 3)
            sudo.setcred()
        self.assertEqual(machine.own, 2)

    def test_three_times_passcode(self):
        """and with the passcode at the end nothing is left on the count"""
        machine = self.machine()
        machine.way_b("sudo")
        with machine.login("sudo", [WRONG, LOGIN + "x", PASSCODE]) as sudo:
            results = [sudo.authenticate() for _ in range(3)]
            sudo.setcred()
        self.assertEqual((results, machine.own), ([PAM_AUTH_ERR, PAM_AUTH_ERR, PAM_SUCCESS], 0))

    def test_empty(self):
        """an empty answer is no try"""
        machine = self.machine()
        machine.way_b()
        count, entered = machine.derivations(lambda: machine.enter(typed=["", WRONG]))
        self.assertNotEqual(entered.code, PAM_SUCCESS)
        self.assertEqual((count, machine.own), (0, 0))

    def test_other_services(self):
        """outside PasscodeServices our module asks nothing, and pam_unix asks as before"""
        machine = self.machine()
        for service in ("sshd", "cron", "cups", "dovecot", "passwd", "chsh"):
            with self.subTest(service=service):
                machine.way_b(service)
                count, entered = machine.derivations(lambda: machine.enter(service, [LOGIN]))
                self.assertEqual((entered.code, entered.prompts, entered.lines), (PAM_SUCCESS, ["Password: "], []))
                self.assertEqual((count, machine.own, machine.apart), (0, 0, 0))

    def test_alone_outside(self):
        """alone in the stack of such a service our module is ignored, which libpam treats as a denial"""
        machine = self.machine()
        machine.stack("cups", "auth required {ours} or_password")
        count, entered = machine.derivations(lambda: machine.enter("cups", [PASSCODE]))
        self.assertNotEqual(entered.code, PAM_SUCCESS)
        self.assertEqual((count, entered.prompts), (0, []))

    def test_throttled(self):
        """a try that comes too early is not asked for: pam_unix asks, and the login password works"""
        # The last try waits an hour.
        machine = self.machine("ThrottleAfter=1\nThrottleMax=1h\nRetryLimit=2")
        machine.way_b()
        machine.enter(typed=[WRONG])
        machine.enter(typed=[WRONG])
        count, entered = machine.derivations(lambda: machine.enter(typed=[LOGIN]))
        self.assertEqual((entered.code, entered.prompts), (PAM_SUCCESS, ["Password: "]))
        self.assertEqual(len(entered.lines), 1)
        self.assertRegex(entered.lines[0], r"^You can try again in ")
        self.assertEqual(count, 0)


class Beside(Case):
    def test_required(self):
        """after pam_unix as a required step: each has its own prompt, and both must be right"""
        machine = self.machine()
        machine.beside()
        for login, passcode, code in (
            (LOGIN, PASSCODE, PAM_SUCCESS),
            (LOGIN, WRONG, PAM_AUTH_ERR),
            (WRONG, PASSCODE, PAM_AUTH_ERR),
            (WRONG, WRONG, PAM_AUTH_ERR),
        ):
            with self.subTest(login=login, passcode=passcode), machine.login(typed=[login, passcode]) as transaction:
                self.assertEqual(transaction.authenticate(), code)
                self.assertEqual(transaction.talk.prompts, ["Password: ", OWN_PROMPT])
                self.assertEqual(transaction.getenv("TOKEN"), login, "the stack's token is not ours to change")

    def test_no_giving_back(self):
        """without or_password a wrong own try stays, whatever the login"""
        machine = self.machine()
        machine.stack("login", "auth optional {ours}", machine.unix("required"))
        entered = machine.enter(typed=[LOGIN, LOGIN])
        self.assertEqual((entered.code, entered.prompts), (PAM_SUCCESS, [OWN_PROMPT, "Password: "]))
        self.assertEqual(machine.own, 1)

    def test_stack_token(self):
        """try_first_pass and use_first_pass: the stack's token is an apart try, remembered if it was wrong"""
        machine = self.machine()
        machine.stack("login", f"auth optional {{lab}} set={LOGIN} return=25", "auth required {ours} use_first_pass")
        for expected in (1, 0):
            count, entered = machine.derivations(lambda: machine.enter())
            self.assertEqual((entered.code, entered.prompts, count), (PAM_AUTH_ERR, [], expected))
        self.assertEqual((machine.own, machine.apart), (0, 1))
        machine.stack("login", f"auth optional {{lab}} set={LOGIN} return=25", "auth required {ours} try_first_pass")
        entered = machine.enter(typed=[PASSCODE])
        self.assertEqual((entered.code, entered.prompts), (PAM_SUCCESS, [OWN_PROMPT]))
        self.assertEqual((machine.own, machine.apart), (0, 0))


class GivenBack(Case):
    """A try is given back only after setcred, only for the same token, only to a root peer, and
    only if it was counted."""

    def test_failed_login(self):
        """never if the login failed after our module"""
        machine = self.machine()
        machine.stack(
            "login", "auth [success=2 default=ignore] {ours} or_password", machine.unix("required"),
            "auth required pam_deny.so", "auth optional {ours} unlock")
        self.assertNotEqual(machine.enter(typed=[LOGIN]).code, PAM_SUCCESS)
        self.assertEqual(machine.own, 1)

    def test_no_setcred(self):
        """never without setcred, and not when it comes too late"""
        machine = self.machine(options=["--deadline", "transaction=1"])
        machine.way_b()
        self.assertEqual(machine.enter(typed=[LOGIN], confirm=False).code, PAM_SUCCESS)
        self.assertEqual(machine.own, 1)
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            time.sleep(1.5)
            self.assertEqual(login.setcred(), PAM_SUCCESS)
        self.assertEqual(machine.own, 2)

    def test_once(self):
        """once, however often setcred is called"""
        machine = self.machine()
        machine.way_b()
        machine.enter(typed=[WRONG])
        machine.enter(typed=[WRONG])
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            for flags in (2, 2, 8, 16):
                login.setcred(flags)
        self.assertEqual(machine.own, 2)

    def test_deleted(self):
        """a setcred that deletes credentials confirms nothing"""
        machine = self.machine()
        machine.way_b()
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            login.setcred(4)
        self.assertEqual(machine.own, 1)

    def test_other_token(self):
        """never for another token: a guess here and the login password in a later module"""
        machine = self.machine()
        machine.way_b(between=[f"{{lab}} set={LOGIN} return=25"])
        for wrong in range(1, 4):
            entered = machine.enter(typed=[f"{WRONG} {wrong}"])
            self.assertEqual((entered.code, machine.own, machine.apart), (PAM_SUCCESS, wrong, 0))

    def test_unseen_token(self):
        """without a line of ours after it the try counts as apart, once for each token"""
        machine = self.machine("RetryLimit=2\nThrottleAfter=0\nOnRetryLimit=lock")
        machine.way_b(unlock=False)
        self.assertEqual(machine.enter(typed=[LOGIN]).code, PAM_SUCCESS)
        self.assertEqual((machine.own, machine.apart), (0, 1))
        for _ in range(10):
            count, entered = machine.derivations(lambda: machine.enter(typed=[LOGIN]))
            self.assertEqual((entered.code, count, machine.own, machine.apart), (PAM_SUCCESS, 0, 0, 1))

    def test_unseen_guesses(self):
        """there, a person who knows the login password gains the apart tries and no more"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0\nOnRetryLimit=lock")
        # pam_unix's own prompt accepts the login password, whatever was typed at ours.
        machine.stack("login", "auth [success=1 default=ignore] {ours} or_password",
                      "auth required {lab} set={password}")
        derived = 0
        for number in range(12):
            count, _ = machine.derivations(lambda: machine.enter(typed=[f"guess {number}"]))
            derived += count
        self.assertEqual((derived, machine.own, machine.apart), (6, 3, 3))

    def test_nothing_counted(self):
        """a person who knows the login password cannot gain tries by it: only counted tries are given back"""
        machine = self.machine()
        machine.way_b()
        machine.enter(typed=[LOGIN])
        self.assertEqual(machine.own, 0)
        for guess in range(1, 4):
            self.assertEqual(machine.enter(typed=[f"guess {guess}"]).code, PAM_AUTH_ERR)
            self.assertEqual(machine.enter(typed=[LOGIN]).code, PAM_SUCCESS)
            self.assertEqual(machine.own, guess)

    def test_not_root(self):
        """never for a peer that is not root: a locker's tries are apart, and each token costs one"""
        if not IS_ROOT:
            self.skipTest("needs root: a peer that is neither root nor the private daemon's own user")
        machine = self.machine()
        machine.stack(
            "swaylock", "auth [success=2 default=ignore] {ours} or_password",
            "auth [success=1 default=ignore] {lab} want={password}",
            "auth requisite pam_deny.so", "auth required pam_permit.so", "auth optional {ours} unlock")

        def locker():
            entered = machine.enter("swaylock", [LOGIN], tty=None)
            return entered.code, entered.prompts

        for expected in (1, 0, 0):
            count, answer = machine.derivations(lambda: in_child(locker, (machine.uid,) * 3))
            self.assertEqual((answer, count), ((PAM_SUCCESS, [PROMPT]), expected))
            self.assertEqual((machine.own, machine.apart), (0, 1))

    def test_word_of_others(self):
        """never for a process that is not root, even with the transaction's handle"""
        if not IS_ROOT:
            self.skipTest("needs root: a peer that is neither root nor the private daemon's own user")
        machine = self.machine()
        machine.way_b()

        def login():
            with machine.login(typed=[LOGIN]) as transaction:
                code = transaction.authenticate()
                os.setresuid(machine.uid, machine.uid, machine.uid)
                transaction.setcred()
                return code

        self.assertEqual(in_child(login), PAM_SUCCESS)
        self.assertEqual((machine.own, machine.apart), (1, 0))

    def test_locked_by_login_password(self):
        """where the limit locks, a lock caused by the login password is removed with its confirmation"""
        machine = self.machine("RetryLimit=2\nThrottleAfter=0\nOnRetryLimit=lock")
        machine.way_b()
        machine.enter(typed=[WRONG])
        entered = machine.enter(typed=[LOGIN])
        self.assertEqual(entered.code, PAM_SUCCESS)
        self.assertEqual((machine.own, machine.daemon.tally().locked), (1, False))
        self.assertEqual(machine.enter(typed=[PASSCODE]).code, PAM_SUCCESS)

    def test_passcode_changed(self):
        """after a change of the passcode what was remembered is forgotten"""
        machine = self.machine()
        machine.way_b()
        machine.enter(typed=[LOGIN])
        done = machine.appvault("passwd", passcodes=[PASSCODE, LOGIN + " and more"])
        self.assertEqual(done.returncode, 0, done.stderr)
        machine.lock()
        count, entered = machine.derivations(lambda: machine.enter(typed=[LOGIN]))
        self.assertEqual((entered.code, count, machine.own), (PAM_SUCCESS, 1, 0))


class Daily(Case):
    def test_login_password_only(self):
        """a person who only uses the login password stays away from the limit, also over boots"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0\nOnRetryLimit=erase")
        machine.way_b("login")
        machine.way_b("sudo")
        for _ in range(4):
            for _ in range(5):
                for service in ("login", "sudo"):
                    self.assertEqual(machine.enter(service, [LOGIN]).code, PAM_SUCCESS)
            self.assertEqual((machine.own, machine.apart), (0, 0))
            machine.daemon.restart()
        self.assertEqual(machine.enter(typed=[PASSCODE]).code, PAM_SUCCESS)

    def test_remote_sudo(self):
        """sudo in a remote session is apart: the same login password costs one try per boot"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0")
        machine.way_b("sudo")
        for expected in (1, 0, 0, 0, 0):
            count, entered = machine.derivations(
                lambda: machine.enter("sudo", [LOGIN], RHOST="192.0.2.7"))
            self.assertEqual((entered.code, entered.lines, count), (PAM_SUCCESS, [], expected))
            self.assertEqual((machine.own, machine.others), (0, 1))

    def test_typing_errors(self):
        """mistyped login passwords count until the passcode is typed once, and the person is warned before the last
        try"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0")
        machine.way_b("sudo")
        for number in (1, 2):
            with machine.login("sudo", [LOGIN + str(number), LOGIN]) as sudo:
                self.assertEqual([sudo.authenticate(), sudo.authenticate()], [PAM_AUTH_ERR, PAM_SUCCESS])
                sudo.setcred()
            self.assertEqual(machine.own, number)
        count, entered = machine.derivations(lambda: machine.enter("sudo", [LOGIN]))
        self.assertEqual((entered.code, entered.lines, count, machine.own), (PAM_SUCCESS, [LAST], 0, 2))
        self.assertEqual(machine.enter("sudo", [PASSCODE]).code, PAM_SUCCESS)
        self.assertEqual(machine.own, 0)

    def test_limit(self):
        """the try that reaches the limit erases, and the login goes on with the login password"""
        machine = self.machine("RetryLimit=2\nThrottleAfter=0")
        machine.way_b()
        machine.enter(typed=[WRONG])
        entered = machine.enter(typed=[WRONG + "2"])
        self.assertEqual(entered.lines, [LAST, "Too many wrong passcodes. The store was erased."])
        entered = machine.enter(typed=[LOGIN])
        self.assertEqual((entered.code, entered.prompts), (PAM_SUCCESS, ["Password: "]))

    def test_silent(self):
        """where no line is shown, as with sudo, the last question says what is at stake, and only the end is told"""
        for limit, word in (("erase", "erased"), ("lock", "locked")):
            machine = self.machine(f"RetryLimit=2\nThrottleAfter=0\nOnRetryLimit={limit}")
            machine.way_b("sudo")
            prompts = []
            for lines in (0, 1):
                with machine.login("sudo", [WRONG]) as sudo:
                    sudo.authenticate(PAM_SILENT)
                    self.assertEqual(len(sudo.talk.lines), lines)
                    prompts += sudo.talk.prompts
            self.assertEqual(prompts, [PROMPT, f"One try left, then the store is {word}. {PROMPT}"])

    def test_wording_of_the_last(self):
        """a lock is not called an erase, and an apart try warns of neither"""
        machine = self.machine("RetryLimit=2\nThrottleAfter=0\nOnRetryLimit=lock")
        machine.stack("login", "auth required {ours}")
        entered = machine.enter(typed=[WRONG])
        self.assertEqual(
            entered.lines,
            [
                "Wrong passcode. One try left.",
                "Forgotten? `appvault reset` erases the store and makes room for a new one.",
            ])
        entered = machine.enter(typed=[WRONG])
        self.assertEqual(entered.lines, [
            "One try left. A wrong passcode now locks the store.",
            "Too many wrong passcodes. The store is locked until root clears the tries."])
        machine = self.machine("RetryLimit=2\nThrottleAfter=0")
        machine.stack("kde", "auth required {ours}")
        entered = machine.enter("kde", [WRONG])
        self.assertEqual(
            entered.lines,
            [
                "Wrong passcode. One try left.",
                "Forgotten? `appvault reset` erases the store and makes room for a new one.",
            ])
        machine.enter("kde", [WRONG])
        entered = machine.enter("kde", [WRONG])
        self.assertEqual(entered.lines, ["You can try again in 15 min."])


if __name__ == "__main__":
    unittest.main()
