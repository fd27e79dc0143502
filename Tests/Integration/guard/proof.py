"""No proof, no success: stacks of pam_appvault alone, the real module under the real libpam with
the real daemon."""

import os
import shutil
import unittest

from daemonlab import IS_ROOT, PAGE, PASSCODE, Daemon, answers
from pamlab import (
    PAM_AUTHINFO_UNAVAIL,
    PAM_AUTH_ERR,
    PAM_MAXTRIES,
    PAM_SUCCESS,
    PAM_USER_UNKNOWN,
    Lab,
    Talk,
    me,
)
from slow import slow

TIMEOUT = 180
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
OPTIONS = ["", "or_password", "try_first_pass", "use_first_pass", "or_password try_first_pass enforce", "unlock"]
WRONG = "wrong horse"


def find_set_items():
    for folder in ("/usr/lib", "/usr/lib64"):
        for root, _, names in os.walk(folder):
            if "pam_set_items.so" in names:
                return os.path.join(root, "pam_set_items.so")
    return None


class Stack:
    """One real daemon with the store of whoever runs the test, and a PAM lab on its socket."""

    def __init__(self, policy=POLICY):
        self.daemon = Daemon(policy=policy)
        self.daemon.person = (me(), os.getuid())
        self.lab = Lab()
        self.lab.socket = self.daemon.socket

    def close(self):
        self.lab.close()
        self.daemon.close()

    def login(self, options="", token=None, typed=None, control="required", service="login"):
        """pam_authenticate with our module alone, with a token that another module set before
        it. Returns code, talk, derivations."""
        lines = []
        if token is not None:
            # The answer of this module itself does not count.
            lines.append(f"auth [default=ignore] {find_set_items()}")
        lines.append(f"auth {control} {{ours}} {options}")
        self.lab.stack(*lines, name=service)
        talk = Talk([] if typed is None else [typed] * 3)
        before = self.daemon.derivations()
        if token is not None:
            os.environ["PAM_AUTHTOK"] = token
        try:
            with self.lab.transaction(service, self.daemon.person[0], talk) as pam:
                code = pam.authenticate()
        finally:
            os.environ.pop("PAM_AUTHTOK", None)
        return code, talk, self.daemon.derivations() - before


class Case(unittest.TestCase):
    def stack(self, policy=POLICY):
        stack = Stack(policy)
        self.addCleanup(stack.close)
        return stack

    def assertNeverIn(self, stack, code):
        """Whatever is tried: never success, no question, no derivation. `code` is what an
        authenticator answers."""
        tallies = [repr(stack.daemon.tally(store)) for store in stack.daemon.stores() if self.has_slots(store)]
        for options in OPTIONS:
            for token, typed in ((None, None), (None, PASSCODE), (WRONG, ""), (PASSCODE, PASSCODE)):
                for control in ("required", "sufficient", "optional"):
                    with self.subTest(options=options, token=token, typed=typed, control=control):
                        result, talk, derived = stack.login(options, token, typed, control)
                        self.assertNotEqual(result, PAM_SUCCESS)
                        if options != "unlock" and control == "required":
                            self.assertEqual(result, code)
                        self.assertEqual(talk.prompts, [])
                        self.assertEqual(derived, 0)
        after = [repr(stack.daemon.tally(store)) for store in stack.daemon.stores() if self.has_slots(store)]
        self.assertEqual(after, tallies)

    @staticmethod
    def has_slots(store):
        path = os.path.join(store, "slots")
        return os.path.exists(path) and os.path.getsize(path) == 16 * PAGE


class NothingToProve(Case):
    @slow
    def test_absent(self):
        """No store: USER_UNKNOWN, nothing asked"""
        self.assertNeverIn(self.stack(), PAM_USER_UNKNOWN)

    @slow
    def test_none(self):
        """A store without a passcode: USER_UNKNOWN and no question, locked or open; the device slot is no proof"""
        stack = self.stack()
        stack.daemon.create(way="noPasscode")
        self.assertEqual(stack.daemon.status().lock, "unlocked")
        self.assertNeverIn(stack, PAM_USER_UNKNOWN)
        stack.daemon.lock()
        self.assertNeverIn(stack, PAM_USER_UNKNOWN)
        self.assertEqual(stack.daemon.status().lock, "locked")
        self.assertEqual(stack.daemon.unlock().name, "done", "its owner opens it without a question")

    def test_erased(self):
        """An erased store: USER_UNKNOWN, nothing asked"""
        stack = self.stack("RetryLimit=1\nThrottleAfter=0")
        stack.daemon.create()
        self.assertEqual(stack.login(typed=WRONG)[0], PAM_MAXTRIES)
        self.assertEqual(stack.daemon.status().lock, "erased")
        self.assertNeverIn(stack, PAM_USER_UNKNOWN)

    def test_another_persons(self):
        """Another person's store and passcode do not help"""
        stack = self.stack()
        if not IS_ROOT:
            self.skipTest("another person's store needs root")
        stack.daemon.create(subject=("somebody", 47099))
        self.assertNeverIn(stack, PAM_USER_UNKNOWN)

    def test_owner_changed(self):
        """A store whose owner's name or uid has changed: refused, no question, even with the right passcode"""
        if not IS_ROOT:
            self.skipTest("stores of other people need root")
        for subject in ((me(), 47099), ("somebody", os.getuid())):
            stack = self.stack()
            stack.daemon.create(subject=subject)
            code, talk, derived = stack.login(typed=PASSCODE)
            self.assertEqual((code, talk.prompts, derived), (6, [], 0))
            self.assertNotEqual(stack.login("unlock", PASSCODE)[0], PAM_SUCCESS)


class Damaged(Case):
    def damaged(self, damage):
        stack = self.stack()
        stack.daemon.create()
        stack.daemon.lock()
        stack.daemon.stop()
        damage(stack.daemon)
        stack.daemon.start()
        self.assertEqual(stack.daemon.status().lock, "damaged")
        return stack

    @staticmethod
    def spoil(block, knows_owner=False):
        def damage(daemon):
            with open(os.path.join(daemon.store(), "slots"), "r+b") as file:
                file.seek(block * PAGE + 100)
                part = bytes(byte ^ 0x5A for byte in file.read(16))
                file.seek(block * PAGE + 100)
                file.write(part)
            if not knows_owner:
                shutil.rmtree(os.path.join(daemon.state, "owners"))

        return damage

    def test_spoilt_blocks(self):
        """A block that is spoilt and needed: damage, nothing asked, nothing counted, nothing derived"""
        for block in (0, 1, 3):
            with self.subTest(block=block):
                stack = self.damaged(self.spoil(block))
                slots = stack.daemon.blocks()
                for options, token in (("", None), ("or_password", None), ("use_first_pass", PASSCODE)):
                    code, talk, derived = stack.login(options, token, PASSCODE)
                    self.assertEqual((code, talk.prompts, derived), (PAM_AUTHINFO_UNAVAIL, [], 0))
                self.assertEqual(stack.daemon.blocks(), slots)
                stack.close()

    @slow
    def test_spoilt_elsewhere(self):
        """A block that is spoilt and not needed: the passcode alone lets in, and the store is whole again"""
        stack = self.stack()
        stack.daemon.create()
        for block in (0, 1, 2, *range(4, 16)):
            with self.subTest(block=block):
                stack.daemon.lock()
                stack.daemon.stop()
                self.spoil(block, knows_owner=True)(stack.daemon)
                stack.daemon.start()
                self.assertEqual(stack.daemon.status().lock, "locked")
                self.assertNotEqual(stack.login(typed=WRONG)[0], PAM_SUCCESS)
                self.assertEqual(stack.login(typed=PASSCODE)[0], PAM_SUCCESS)
                with open(os.path.join(stack.daemon.store(), "slots"), "rb") as file:
                    data = file.read()
                self.assertEqual(len(data), 16 * PAGE)
                self.assertFalse(any(any(data[at + 512 : at + PAGE]) for at in range(0, len(data), PAGE)))

    @slow
    def test_every_option(self):
        """A damaged store: AUTHINFO_UNAVAIL with every option, token and answer"""
        self.assertNeverIn(self.damaged(self.spoil(3)), PAM_AUTHINFO_UNAVAIL)

    def test_files_gone(self):
        """A slots file cut or missing, a machine key missing, cut or another one: damage, nothing is made anew"""

        def cut(daemon):
            os.truncate(os.path.join(daemon.store(), "slots"), 3 * PAGE + 100)

        def no_slots(daemon):
            os.unlink(os.path.join(daemon.store(), "slots"))

        def no_key(daemon):
            os.unlink(os.path.join(daemon.state, "machine.key"))

        def cut_key(daemon):
            os.chmod(os.path.join(daemon.state, "machine.key"), 0o600)
            os.truncate(os.path.join(daemon.state, "machine.key"), 31)

        def other_key(daemon):
            path = os.path.join(daemon.state, "machine.key")
            os.unlink(path)
            with open(path, "wb") as file:
                file.write(bytes(32))
            os.chmod(path, 0o400)

        for damage in (cut, no_slots, no_key, cut_key, other_key):
            with self.subTest(damage.__name__):
                stack = self.stack()
                stack.daemon.create()
                stack.daemon.lock()
                stack.daemon.stop()
                damage(stack.daemon)
                files = self.files(stack.daemon.state)
                stack.daemon.start()
                for options, token in (("", None), ("use_first_pass", PASSCODE), ("unlock", PASSCODE)):
                    code, talk, derived = stack.login(options, token, PASSCODE)
                    self.assertNotEqual(code, PAM_SUCCESS)
                    self.assertEqual((talk.prompts, derived), ([], 0))
                self.assertEqual(self.files(stack.daemon.state), files)
                stack.close()

    @staticmethod
    def files(folder):
        found = {}
        for root, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(root, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
        found.pop("policy.last", None)
        return found

    def test_records_gone(self):
        """With the right passcode but damaged or missing records: no success"""
        for damage in ("cut", "gone", "garbage"):
            with self.subTest(damage):
                stack = self.stack()
                stack.daemon.create()
                stack.daemon.stop()
                path = os.path.join(stack.daemon.store(), "records.db")
                for name in (path + "-wal", path + "-shm"):
                    if os.path.exists(name):
                        os.unlink(name)
                if damage == "gone":
                    os.unlink(path)
                elif damage == "cut":
                    # Nothing behind it, and no head: with one, what is whole opens.
                    os.truncate(path, 8192)
                else:
                    size = os.path.getsize(path)
                    with open(path, "wb") as file:
                        file.write(os.urandom(size))
                stack.daemon.start()
                code, talk, derived = stack.login(typed=PASSCODE)
                self.assertEqual((code, len(talk.prompts), derived), (PAM_AUTHINFO_UNAVAIL, 1, 1))
                self.assertEqual(stack.daemon.tally().counts(), (0, 0, 0), "the right passcode is no wrong try")
                stack.close()


class SomethingToProve(Case):
    def expected(self, options, token, typed):
        """Whether the passcode is proven."""
        if options == "unlock":
            return False
        # What a module in front was told stands for the answer.
        if options == "or_password" and token is not None:
            return token == PASSCODE
        if "first_pass" in options and token == PASSCODE:
            return True
        if "use_first_pass" in options:
            return False
        return typed == PASSCODE

    def run_all(self, stack, again):
        proven = 0
        for options in OPTIONS:
            for token in (None, WRONG, PASSCODE):
                for typed in (None, WRONG, PASSCODE, ""):
                    with self.subTest(options=options, token=token, typed=typed):
                        again()
                        code, talk, derived = stack.login(options, token, typed)
                        self.assertEqual(code == PAM_SUCCESS, self.expected(options, token, typed), f"code {code}")
                        if code == PAM_SUCCESS:
                            proven += 1
                            self.assertGreater(derived, 0)
                        self.assertLessEqual(len(talk.prompts), 1)
        self.assertGreater(proven, 10)

    @slow
    def test_locked(self):
        """A locked store: success where the passcode was given, and only there"""
        stack = self.stack()
        stack.daemon.create()
        self.run_all(stack, stack.daemon.lock)
        self.assertEqual(stack.daemon.stores(), [stack.daemon.store()])

    @slow
    def test_open(self):
        """An open store: the passcode is proven again each time, and a wrong one leaves it open and is counted"""
        stack = self.stack()
        stack.daemon.create()
        self.run_all(stack, lambda: self.assertEqual(stack.daemon.status().lock, "unlocked"))
        stack.login(typed=PASSCODE)
        self.assertEqual(stack.daemon.tally().counts(), (0, 0, 0))
        code, _, derived = stack.login(typed=WRONG)
        self.assertEqual((code, derived), (PAM_AUTH_ERR, 1))
        self.assertEqual(stack.daemon.tally().counts(), (1, 0, 0))
        code, _, derived = stack.login(token="another wrong one", options="use_first_pass")
        self.assertEqual((code, derived), (PAM_AUTH_ERR, 1))
        self.assertEqual(stack.daemon.tally().counts(), (1, 1, 0), "a token of another module is an apart try")
        self.assertEqual(stack.daemon.status().lock, "unlocked")

    def test_open_store_reaches_its_limit(self):
        """Wrong passcodes at an open store reach the limit like any others"""
        stack = self.stack("RetryLimit=3\nThrottleAfter=0")
        stack.daemon.create()
        codes = [stack.login(typed=WRONG)[0] for _ in range(4)]
        self.assertEqual(codes, [PAM_AUTH_ERR, PAM_AUTH_ERR, PAM_MAXTRIES, PAM_USER_UNKNOWN])
        self.assertEqual(stack.daemon.status().lock, "erased")

    def test_tokens_of_other_modules(self):
        """Tokens of another module are apart tries, erase nothing, and one that failed is not tried again"""
        stack = self.stack("RetryLimit=2\nThrottleAfter=0")
        stack.daemon.create()
        stack.daemon.lock()
        for derived in (1, 0, 0):
            self.assertEqual(stack.login("use_first_pass", WRONG)[::2], (PAM_AUTH_ERR, derived))
        self.assertEqual(stack.login("use_first_pass", "wrong 2")[::2], (PAM_AUTH_ERR, 1))
        # The count is full: one try in each ThrottleMax.
        self.assertEqual(stack.login("use_first_pass", PASSCODE)[::2], (PAM_AUTH_ERR, 0))
        self.assertEqual(stack.daemon.tally().counts(), (0, 2, 0))
        self.assertEqual(stack.login(typed=PASSCODE)[0], PAM_SUCCESS)

    def test_unlock_alone(self):
        """`unlock` opens a store that follows the login password, and still gives PAM no verdict, alone or not"""
        stack = self.stack()
        stack.daemon.create(way="followLogin")
        for control in ("required", "requisite", "sufficient", "optional", "[success=done default=die]"):
            with self.subTest(control):
                stack.daemon.lock()
                code, talk, derived = stack.login("unlock", PASSCODE, control=control)
                self.assertNotEqual(code, PAM_SUCCESS)
                self.assertEqual((talk.prompts, derived), ([], 1))
                self.assertEqual(stack.daemon.status().lock, "unlocked", "and it was the right token")

    def test_nobody_listens(self):
        """No success without a running daemon: a stopped, killed or missing one gives none"""
        stack = self.stack()
        stack.daemon.create()
        stack.daemon.kill()
        self.assertEqual(stack.login(typed=PASSCODE)[0], PAM_AUTHINFO_UNAVAIL)


class OutsideTheLists(Case):
    def test_service_outside(self):
        """A service outside PasscodeServices: ignored, no question, no derivation, with every option and token"""
        stack = self.stack()
        stack.daemon.create(way="followLogin")
        stack.daemon.lock()
        for service in ("cron", "sshd-keys", "dovecot"):
            for options in OPTIONS:
                for token in (None, PASSCODE):
                    with self.subTest(service=service, options=options, token=token):
                        code, talk, derived = stack.login(options, token, PASSCODE, service=service)
                        self.assertNotEqual(code, PAM_SUCCESS)
                        self.assertEqual((talk.prompts, talk.lines, derived), ([], [], 0))
        self.assertEqual(stack.daemon.status().lock, "locked")

    def test_next_module_decides(self):
        """There the stack works as if our module were not in it: the modules after it decide"""
        stack = self.stack()
        stack.daemon.create()
        for behind, code in (("pam_permit.so", PAM_SUCCESS), ("pam_deny.so", PAM_AUTH_ERR)):
            stack.lab.stack("auth required {ours} or_password", f"auth required {behind}", name="cron")
            talk = Talk([PASSCODE])
            with stack.lab.transaction("cron", me(), talk) as pam:
                self.assertEqual(pam.authenticate(), code)
            self.assertEqual(talk.messages, [])

    def test_policy_decides(self):
        """The lists come from the policy, from the reload on"""
        stack = self.stack()
        stack.daemon.create()
        self.assertEqual(stack.login(typed=PASSCODE)[0], PAM_SUCCESS)
        stack.daemon.policy(POLICY + "PasscodeServices=gdm-password", reload=True)
        code, talk, derived = stack.login(typed=PASSCODE)
        self.assertNotEqual(code, PAM_SUCCESS)
        self.assertEqual((talk.prompts, derived), ([], 0))
        self.assertEqual(stack.login(typed=PASSCODE, service="gdm-password")[0], PAM_SUCCESS)


class BesidePam(Case):
    def test_verdicts_over_the_socket(self):
        """A peer that speaks the protocol itself gets no success without the passcode either"""
        stack = self.stack()
        daemon = stack.daemon
        daemon.create()
        self.assertEqual(daemon.status().lock, "unlocked")
        hello = {"frontEnd": "pamAuth", "service": "login"}
        # The number of another question, another tag, a confirmation of nothing.
        with daemon.client(**hello) as client:
            client.send("authenticate", 2, [b""], subject=daemon.person)
            ask = client.receive()
            client.send("reply", 2, [PASSCODE.encode()], question=ask.question + 1)
            answer = client.receive()
            self.assertTrue(answer is None or (answer.name, answer.code) == ("refused", 34), answer)
        with daemon.client(**hello) as client:
            client.send("authenticate", 2, [b""], subject=daemon.person)
            ask = client.receive()
            client.send("reply", 3, [PASSCODE.encode()], question=ask.question)
            answer = client.receive()
            self.assertTrue(answer is None or (answer.name, answer.code) == ("refused", 34), answer)
        verdict = daemon.ask("confirm", hello=hello, handle=os.urandom(16))
        self.assertEqual(verdict.outcome, "ignore")
        verdict = daemon.ask("authenticate", answers(None), [PASSCODE.encode()[:-1]], hello=hello, tokenOnly=True)
        self.assertEqual(verdict.outcome, "authError")
        verdict = daemon.ask("authenticate", answers(None), [b""], hello=hello, tokenOnly=True)
        self.assertEqual((verdict.outcome, verdict.code), ("unavailable", 9))

    def test_handle_is_no_proof(self):
        """The handle of a proven login opens nothing and proves nothing; it is good once"""
        stack = self.stack()
        daemon = stack.daemon
        daemon.create()
        verdict = daemon.authenticate()
        self.assertEqual(verdict.outcome, "success")
        daemon.lock()
        for _ in range(2):
            confirmed = daemon.ask("confirm", hello={"frontEnd": "pamAuth"}, handle=verdict.handle)
            self.assertEqual(confirmed.outcome, "ignore")
        self.assertEqual(daemon.status().lock, "locked")


def setUpModule():
    if find_set_items() is None:
        raise unittest.SkipTest("libpam-wrapper is not installed: make deps")


if __name__ == "__main__":
    unittest.main()
