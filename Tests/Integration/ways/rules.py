"""password_rules: the passcode rules for login passwords, before the real pam_unix, with the
real passwd and chpasswd and the real daemon."""

import os
import subprocess
import unittest

import daemonlab
from pamlab import PAM_CONV_ERR, PAM_SUCCESS
from programlab import Case as Programs
from programlab import Terminal
from wayslab import LOGIN, in_child

NEEDS_ROOT = True

CURRENT = "Current password: "
NEW = "New login password: "
AGAIN = "New login password again: "
UNIX_NEW = "New password: "
UNIX_AGAIN = "Retype new password: "
GOOD = "Badger-in-1-Burrow"
PAM_AUTHTOK_ERR = 20
RULES = "ThrottleAfter=0\nMinLength=12\nRequireDigit=yes\nRequireUpper=yes"


class Case(Programs):
    def machine(self, policy=RULES, way="followLogin", passcode=LOGIN, unix="", **options):
        machine = super().machine(policy, way, passcode, **options)
        machine.way_a()
        self.stack(machine, unix=unix)
        return machine

    def stack(self, machine, ours="", unix="", front=()):
        machine.stack(
            "passwd",
            *front,
            f"password requisite {{ours}} password_rules {ours}",
            f"password [success=1 default=ignore] pam_unix.so sha256 rounds=1000 {unix}",
            "password requisite pam_deny.so",
            "password optional {ours} use_authtok",
            "password required pam_permit.so",
        )

    def passwd(self, machine, *talk, as_person=True):
        """Types the answers at the prompts. Returns the exit status, and what was shown."""
        words = ["passwd"] if as_person else ["passwd", machine.name]
        passwd = Terminal(self.command(machine, *words, as_person=as_person))
        for prompt, typed in talk:
            passwd.expect(prompt)
            if isinstance(typed, bytes):
                os.write(passwd.fd, typed)
            else:
                passwd.type(typed)
        return passwd.end(), passwd.shown

    def logs_in(self, machine, password):
        return machine.enter(typed=[password, ""]).code == PAM_SUCCESS


class Passwd(Case):
    def test_accepted(self):
        """a password that meets the rules becomes the login's, and the store follows it"""
        machine = self.machine()
        code, shown = self.passwd(machine, (CURRENT, LOGIN), (NEW, GOOD), (AGAIN, GOOD))
        self.assertEqual(code, 0, shown)
        self.assertIn("The login password needs: ", shown)
        self.assertNotIn(UNIX_NEW, shown)
        self.assertNotIn(GOOD, shown)
        self.assertTrue(self.logs_in(machine, GOOD))
        self.assertTrue(machine.is_open)
        self.assertFalse(self.logs_in(machine, LOGIN))
        self.assertTrue(machine.opens_with(GOOD))

    def test_refused(self):
        """a password that does not is refused with what it lacks; after three nothing has changed"""
        machine = self.machine()
        code, shown = self.passwd(
            machine, (CURRENT, LOGIN), (NEW, "badger"), (NEW, "badger-badger"), (NEW, "1badger-badger"))
        self.assertNotEqual(code, 0, shown)
        self.assertNotIn(AGAIN, shown)
        self.assertNotIn(UNIX_NEW, shown)
        self.assertGreaterEqual(shown.count("12"), 2, shown)
        self.assertTrue(self.logs_in(machine, LOGIN))
        self.assertTrue(machine.opens_with(LOGIN))

    def test_second_try(self):
        """first refused, then the two entries differ, then right"""
        machine = self.machine()
        code, shown = self.passwd(
            machine, (CURRENT, LOGIN), (NEW, "badger"), (NEW, GOOD), (AGAIN, GOOD + "x"), (NEW, GOOD), (AGAIN, GOOD))
        self.assertEqual(code, 0, shown)
        self.assertIn("The passwords do not match.", shown)
        self.assertTrue(machine.opens_with(GOOD))

    def test_same(self):
        """the present password is not accepted as a new one"""
        machine = self.machine("ThrottleAfter=0")
        code, shown = self.passwd(machine, (CURRENT, LOGIN), (NEW, LOGIN), (NEW, GOOD), (AGAIN, GOOD))
        self.assertEqual(code, 0, shown)

    def test_wrong_current(self):
        """with a wrong current password our module asks nothing"""
        machine = self.machine()
        code, shown = self.passwd(machine, (CURRENT, "wrong"))
        self.assertNotEqual(code, 0)
        self.assertNotIn("login password", shown)

    def test_cancelled(self):
        """Enter, and the end of the input, end it; nothing has changed"""
        machine = self.machine()
        for typed in ("", b"\x04"):
            code, shown = self.passwd(machine, (CURRENT, LOGIN), (NEW, typed))
            self.assertNotEqual(code, 0, shown)
            self.assertNotIn(UNIX_NEW, shown)
        self.assertTrue(self.logs_in(machine, LOGIN))
        self.assertTrue(machine.opens_with(LOGIN))

    def test_daemon_dead(self):
        """without the daemon, and with one that dies at the question, pam_unix asks, and the change works"""
        machine = self.machine()
        machine.daemon.kill()
        code, shown = self.passwd(machine, (CURRENT, LOGIN), (UNIX_NEW, GOOD), (UNIX_AGAIN, GOOD))
        self.assertEqual(code, 0, shown)
        self.assertTrue(self.logs_in(machine, GOOD))
        machine.change_password(LOGIN)
        machine.daemon.start()
        passwd = Terminal(self.command(machine, "passwd"))
        passwd.expect(CURRENT)
        passwd.type(LOGIN)
        passwd.expect(NEW)
        machine.daemon.kill()
        passwd.type(GOOD)
        for prompt in (UNIX_NEW, UNIX_AGAIN):
            passwd.expect(prompt)
            passwd.type(GOOD)
        self.assertEqual(passwd.end(), 0, passwd.shown)
        self.assertTrue(self.logs_in(machine, GOOD))

    def test_use_authtok(self):
        """always_ask before a pam_unix that may not ask: with the daemon, without it, and for people without rules"""
        machine = self.machine()
        self.stack(machine, ours="always_ask", unix="use_authtok try_first_pass")
        code, shown = self.passwd(machine, (CURRENT, LOGIN), (NEW, GOOD), (AGAIN, GOOD))
        self.assertEqual(code, 0, shown)
        machine.daemon.kill()
        code, shown = self.passwd(machine, (CURRENT, GOOD), (UNIX_NEW, "weaker"), (UNIX_AGAIN, "weaker"))
        self.assertEqual(code, 0, shown)
        self.assertTrue(self.logs_in(machine, "weaker"))


class Others(Case):
    def test_not_following(self):
        """no store, one with its own passcode, one without any, an erased one: pam_unix asks, as before"""
        machine = super().machine(RULES, "ownPasscode", "Correct horse 7 battery")
        subject = (machine.name, machine.uid)

        def check():
            for old, new in ((LOGIN, "weaker"), ("weaker", LOGIN)):
                code, shown = self.passwd(machine, (CURRENT, old), (UNIX_NEW, new), (UNIX_AGAIN, new))
                self.assertEqual(code, 0, shown)
                self.assertNotIn("login password", shown)

        check()
        machine.daemon.ask("reset", subject=subject)
        check()
        machine.create("", "noPasscode")
        check()
        machine.daemon.ask("reset", subject=subject)
        machine.daemon.policy("ThrottleAfter=0\nRetryLimit=1", reload=True)
        machine.create(LOGIN, "followLogin")
        machine.daemon.authenticate("wrong", subject=subject)
        self.assertEqual(machine.daemon.status().fields["lock"], "erased")
        check()

    def test_no_rules(self):
        """in no-passcode mode there are no rules"""
        machine = self.machine()
        machine.daemon.policy("Enabled=no\nUseDefaultPolicy=no", reload=True)
        code, shown = self.passwd(machine, (CURRENT, LOGIN), (UNIX_NEW, "weaker"), (UNIX_AGAIN, "weaker"))
        self.assertEqual(code, 0, shown)


class Root(Case):
    def test_passwd(self):
        """root is warned and may override"""
        machine = self.machine()
        code, shown = self.passwd(machine, (NEW, "weaker"), (AGAIN, "weaker"), as_person=False)
        self.assertEqual(code, 0, shown)
        self.assertIn("12", shown)
        self.assertTrue(self.logs_in(machine, "weaker"))
        self.assertTrue(machine.opens_with(LOGIN), "that is drift")

    def test_good(self):
        """and gets no warning if there is no reason for one"""
        machine = self.machine()
        code, shown = self.passwd(machine, (NEW, GOOD), (AGAIN, GOOD), as_person=False)
        self.assertEqual(code, 0, shown)
        self.assertNotIn("12", shown.replace(machine.name, ""))

    def test_chpasswd(self):
        """chpasswd, which gives every question the same password: it works, and warns"""
        machine = self.machine()
        machine.stack("chpasswd", *machine.stacks["passwd"])
        for password, warned in (("weaker", True), (GOOD, False)):
            done = subprocess.run(
                self.command(machine, "chpasswd", as_person=False), input=f"{machine.name}:{password}\n", text=True,
                capture_output=True, timeout=30, cwd="/", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C"})
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual("12" in (done.stderr + done.stdout).replace(machine.name, ""), warned, done)
            self.assertTrue(self.logs_in(machine, password))


class Stack(Case):
    """The same without a program: with tokens that other modules leave in the stack."""

    def change(self, machine, *typed, uids=None):
        def run():
            with machine.login("passwd", typed, tty="/dev/tty1") as transaction:
                return transaction.chauthtok(), transaction.talk.prompts, transaction.talk.lines

        return in_child(run, (machine.uid, 0, 0) if uids is None else uids)

    def lab(self, machine, token, former=LOGIN):
        former = f"setold={former}" if former else ""
        machine.stack(
            "passwd",
            f"password required {{lab}} {former} set={token}",
            "password requisite {ours} password_rules",
            "password required {lab} return=0",
            "password optional {ours} use_authtok",
        )

    def test_present(self):
        """a password that another module asked for is judged, and nothing is asked"""
        machine = self.machine()
        self.lab(machine, GOOD)
        self.assertEqual(self.change(machine), (PAM_SUCCESS, [], []))
        self.assertTrue(machine.opens_with(GOOD))
        machine.lock()
        self.lab(machine, "weaker", former=GOOD)
        code, prompts, lines = self.change(machine)
        self.assertEqual((code, prompts, len(lines)), (PAM_AUTHTOK_ERR, [], 1))
        self.assertIn("12", lines[0])

    def test_present_root(self):
        """for root, without a former password, with a warning"""
        machine = self.machine()
        self.lab(machine, "weaker", former=None)
        code, prompts, lines = self.change(machine, uids=(0, 0, 0))
        self.assertEqual((code, prompts, len(lines)), (PAM_SUCCESS, [], 1))

    def test_expired_login(self):
        """at a login that demands a new password the real uid is root's, and the rules apply"""
        machine = self.machine()
        self.lab(machine, "weaker")
        code, _, lines = self.change(machine, uids=(0, 0, 0))
        self.assertEqual((code, len(lines)), (PAM_AUTHTOK_ERR, 1))

    def test_expired_passwd(self):
        """with the real pam_unix there: it asks for the former password"""
        machine = self.machine()
        with machine.login("passwd", [LOGIN, "weaker", "weaker2", "weaker3"]) as transaction:
            # PAM_CHANGE_EXPIRED_AUTHTOK
            self.assertEqual(transaction.chauthtok(0x20), PAM_AUTHTOK_ERR)
            self.assertEqual(transaction.talk.prompts, [CURRENT, NEW, NEW, NEW])

    def test_conversation_dies(self):
        """at either question: refused, nothing changed, and the modules after ours ask nothing"""
        machine = self.machine()
        for typed in ((LOGIN, PAM_CONV_ERR), (LOGIN, GOOD, PAM_CONV_ERR), (LOGIN, None)):
            with machine.login("passwd", typed) as transaction:
                self.assertEqual(transaction.chauthtok(0x20), PAM_AUTHTOK_ERR)
                self.assertNotIn(UNIX_NEW, transaction.talk.prompts)
        self.assertTrue(machine.opens_with(LOGIN))

    def test_odd_text(self):
        """what cannot be a passcode, and what is too long for one, is refused"""
        machine = self.machine()
        for typed in (b"Badger\x07in 1 Burrow", b"Badger \xff in 1 Burrow", "B1" + "x" * 1100):
            with machine.login("passwd", [LOGIN, typed]) as transaction:
                self.assertEqual(transaction.chauthtok(0x20), PAM_AUTHTOK_ERR)

    def test_policy_changes(self):
        """the policy that was in force when the change began applies to its end"""
        machine = self.machine("ThrottleAfter=0")

        def typed():
            machine.daemon.policy("ThrottleAfter=0\nMinLength=60", reload=True)
            return GOOD

        with machine.login("passwd", [LOGIN, typed, GOOD]) as transaction:
            self.assertEqual(transaction.chauthtok(0x20), PAM_SUCCESS)

    def test_rule_that_cannot_run(self):
        """an administrator's rule that cannot run refuses"""
        machine = self.machine(
            "[Passcode]\n" + daemonlab.CHEAP + "[Rule shape]\nMatch=badger\n",
            options=["--rules-socket", "/nonexistent/rules"])
        self.lab(machine, GOOD)
        code, _, lines = self.change(machine)
        self.assertEqual((code, len(lines)), (PAM_AUTHTOK_ERR, 1))


if __name__ == "__main__":
    unittest.main()
