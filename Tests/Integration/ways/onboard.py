"""Onboard: who creates a person's first store, and when. Silent: from the login password of the
first confirmed login. Login: in a conversation of that login. Cli: only `appvault create`."""

import glob
import os
import pwd
import threading
import time
import unittest

import daemonlab
from daemonlab import IS_ROOT, add_account, remove_account, set_password, wait_until
from pamlab import PAM_AUTH_ERR, PAM_CONV_ERR, PAM_SILENT, PAM_SUCCESS, Talk
from patience import Stopwatch
from programlab import Terminal
from wayslab import LOGIN, NEW_LOGIN, PASSCODE, WRONG, Machine, in_child

NEEDS_ROOT = True
FAR = "192.0.2.7"

TITLE = "Welcome to AppVault."
BODY = "AppVault keeps your passwords and keys in an encrypted store of your own."
OFFER = "Make your store now? [y/n] "
FOLLOW = "Should your login password open it? [y/n] "
CURRENT = "Current passcode: "
OFFERED = "Make a recovery key now, for a forgotten passcode?"
LATER = "No store was made. `appvault create` makes one at any time."


class Case(unittest.TestCase):
    POLICY = "ThrottleAfter=0"

    @classmethod
    def setUpClass(cls):
        if not IS_ROOT:
            raise unittest.SkipTest("needs root: accounts of all kinds")

    def machine(self, policy=None, service="login", **options):
        machine = Machine(self.POLICY if policy is None else policy, **options)
        self.addCleanup(machine.close)
        machine.way_a(service)
        return machine

    def stores(self, machine):
        return machine.daemon.stores()

    def assertSilent(self, entered, prompts=("Password: ",)):
        self.assertEqual((entered.code, entered.prompts, entered.lines), (PAM_SUCCESS, list(prompts), []))

    def state(self, machine):
        return machine.daemon.status().fields


class Silent(Case):
    def test_first_login(self):
        """the first login makes the store from its password, asks nothing, and every later one opens it"""
        # Once more on a machine that takes longer than a login may last without its session.
        while not self.first_login():
            pass

    def first_login(self):
        machine = self.machine(options=["--deadline", "session=1"])
        self.assertEqual(self.stores(machine), [])
        with machine.login(typed=[LOGIN]) as login:
            count, code = machine.derivations(login.authenticate)
            self.assertEqual((code, count, self.stores(machine)), (PAM_SUCCESS, 0, []))
            began = time.monotonic()
            count, code = machine.derivations(login.setcred)
            self.assertEqual((code, count), (PAM_SUCCESS, 1))
            state = self.state(machine)
            login.putenv("XDG_SESSION_ID=c1")
            login.open_session()
            if time.monotonic() - began >= 1:
                return False
            self.assertEqual((state["lock"], state["passcode"]), ("unlocked", "passcode"))
            self.assertTrue(state["followsLogin"])
            self.assertFalse(state["hasRecoveryKey"])
            time.sleep(1.3)
            self.assertTrue(machine.is_open, "its session keeps it open")
            login.close_session()
            self.assertFalse(machine.is_open)
            self.assertEqual((login.talk.prompts, login.talk.lines), (["Password: "], []))
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertTrue(machine.is_open)
        self.assertEqual(len(self.stores(machine)), 1)
        self.assertTrue(machine.opens_with(LOGIN))
        return True

    def test_no_session(self):
        """without a session it is locked again, as after any login"""
        is_late = True
        while is_late:
            machine = self.machine(options=["--deadline", "session=1"])
            began = time.monotonic()
            machine.enter(typed=[LOGIN])
            is_open = machine.is_open
            is_late = time.monotonic() - began >= 1
        self.assertTrue(is_open)
        wait_until(lambda: not machine.is_open, "the store is shut", 3)

    def test_follows(self):
        """and it follows passwd like any other"""
        machine = self.machine()
        machine.enter(typed=[LOGIN])
        machine.stack("passwd", f"password required {{lab}} setold={LOGIN} set={NEW_LOGIN}",
                      "password optional {ours} use_authtok")
        with machine.login("passwd") as passwd:
            self.assertEqual(passwd.chauthtok(), PAM_SUCCESS)
        self.assertTrue(machine.opens_with(NEW_LOGIN))

    def test_rejected(self):
        """a login that fails, or that is not confirmed in time, makes none"""
        machine = self.machine(options=["--deadline", "transaction=1"])
        self.assertEqual(machine.enter(typed=[WRONG]).code, PAM_AUTH_ERR)
        self.assertEqual(machine.enter(typed=[LOGIN], confirm=False).code, PAM_SUCCESS)
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            time.sleep(1.3)
            login.setcred()
        self.assertEqual((self.stores(machine), machine.daemon.derivations()), ([], 0))

    def test_wrong_token(self):
        """after a required pam_unix our module gets a wrong password, and the failed login keeps it from being used"""
        machine = self.machine()
        machine.stack("login", machine.unix("required"), "auth optional {ours} unlock")
        self.assertEqual(machine.enter(typed=[WRONG]).code, PAM_AUTH_ERR)
        self.assertEqual(self.stores(machine), [])
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertTrue(machine.opens_with(LOGIN))

    def test_other_process(self):
        """where auth ran in another process, as sshd's keyboard-interactive does, nothing is confirmed or made"""
        machine = self.machine(service="sshd")

        def auth():
            with machine.login("sshd", [LOGIN], tty="ssh", RHOST=FAR) as login:
                return login.authenticate()

        self.assertEqual(in_child(auth), PAM_SUCCESS)
        with machine.login("sshd", tty="ssh", RHOST=FAR) as login:
            login.setcred()
        self.assertEqual(self.stores(machine), [])

    def test_remote(self):
        """a confirmed login from elsewhere makes it as well"""
        machine = self.machine(service="sshd")
        self.assertSilent(machine.enter("sshd", [LOGIN], tty="ssh", RHOST=FAR))
        self.assertEqual(len(self.stores(machine)), 1)

    def test_once(self):
        """a confirmation counts only once, and only from root"""
        machine = self.machine()
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            in_child(login.setcred, (machine.uid,) * 3)
            self.assertEqual(self.stores(machine), [])

    def test_other_services(self):
        """services outside UnlockServices make none"""
        machine = self.machine()
        for service in ("cron", "su", "sudo", "cups", "polkit-1"):
            machine.way_a(service)
            self.assertSilent(machine.enter(service, [LOGIN]))
        self.assertEqual(self.stores(machine), [])

    def test_or_password(self):
        """before pam_unix the passcode prompt does not appear, and the login password makes the store"""
        machine = self.machine()
        machine.way_b()
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual(len(self.stores(machine)), 1)

    def test_no_token(self):
        """a login without a password makes none"""
        machine = self.machine()
        machine.stack("login", "auth required pam_permit.so", "auth optional {ours} unlock")
        self.assertSilent(machine.enter(), [])
        self.assertEqual(self.stores(machine), [])

    def test_after_reset(self):
        """after a reset the next login makes a new one"""
        machine = self.machine()
        machine.enter(typed=[LOGIN])
        before = self.stores(machine)
        machine.daemon.ask("reset", subject=(machine.name, machine.uid))
        machine.enter(typed=[LOGIN])
        self.assertNotEqual(self.stores(machine), before)
        self.assertEqual(len(self.stores(machine)), 1)

    def test_two_at_once(self):
        """two logins at once make one store, and both succeed"""
        machine = self.machine()
        with machine.login(typed=[LOGIN]) as one, machine.login(typed=[LOGIN]) as other:
            self.assertEqual((one.authenticate(), other.authenticate()), (PAM_SUCCESS, PAM_SUCCESS))
            machine.daemon.hold()
            threads = [threading.Thread(target=login.setcred) for login in (one, other)]
            for thread in threads:
                thread.start()
            time.sleep(0.3)
            machine.daemon.release()
            for thread in threads:
                thread.join()
            self.assertEqual((one.result, other.result), (PAM_SUCCESS, PAM_SUCCESS))
        self.assertEqual(len(self.stores(machine)), 1)
        self.assertTrue(machine.opens_with(LOGIN))

    def test_slow(self):
        """a machine that is too busy to make the store delays no login by more than a few seconds; the store is made
        all the same"""
        machine = self.machine()
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            machine.daemon.hold()
            stopwatch = Stopwatch()
            self.assertEqual(login.setcred(), PAM_SUCCESS)
            stopwatch.assert_within(7)
            machine.daemon.release()
            wait_until(lambda: len(self.stores(machine)) == 1, "the store is made")


class Accounts(Case):
    def account(self, machine, *options):
        name, uid = add_account(None, *options)
        self.addCleanup(remove_account, name)
        set_password(name, LOGIN)
        machine.name, machine.uid = machine.daemon.person = name, uid

    def test_kinds(self):
        """people get a store: a uid from 1000 on, a home, a login shell; other accounts do not"""
        machine = self.machine()
        taken = {entry.pw_uid for entry in pwd.getpwall()}
        free = min(uid for uid in range(900, 1000) if uid not in taken)
        for count, options in (
            (1, ("-s", "/bin/sh", "-d", "/home/somewhere")),
            (1, ("-s", "/bin/bash", "-d", "/srv/people/x", "-u", "61999")),
            (0, ("-s", "/bin/sh", "-d", "/home/somewhere", "-r")),
            (0, ("-s", "/bin/sh", "-d", "/home/somewhere", "-u", str(free))),
            (0, ("-s", "/bin/sh", "-d", "/nonexistent")),
            (0, ("-s", "/bin/sh", "-d", "/")),
            (0, ("-s", "/usr/sbin/nologin", "-d", "/home/somewhere")),
            (0, ("-s", "/bin/false", "-d", "/home/somewhere")),
            (0, ("-s", "/usr/bin/git-shell", "-d", "/home/somewhere")),
        ):
            with self.subTest(options=options):
                self.account(machine, *options)
                before = len(self.stores(machine))
                self.assertSilent(machine.enter(typed=[LOGIN]))
                self.assertEqual(len(self.stores(machine)) - before, count)

    def test_weak(self):
        """a password that the rules do not accept makes none: one line in the journal, which does not describe it"""
        machine = self.machine("ThrottleAfter=0\nMinLength=30")
        for _ in range(3):
            self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual((self.stores(machine), machine.daemon.derivations()), ([], 0))
        lines = [line for line in machine.daemon.log().splitlines() if "does not meet the passcode rules" in line]
        self.assertEqual(len(lines), 1)
        self.assertNotIn(LOGIN, machine.daemon.log())
        self.assertNotIn("minLength", lines[0])
        machine.daemon.policy("ThrottleAfter=0", reload=True)
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual(len(self.stores(machine)), 1)

    def test_rules(self):
        """every rule counts, the custom ones too; a rule that cannot run accepts nothing"""
        machine = self.machine()
        for rules, count in (
            ("RequireUpper=yes", 0),
            ("MinCharacterGroups=4", 0),
            ("DigitsOnly=yes", 0),
            ("MinUniqueCharacters=30", 0),
            ("RequireDigit=yes\nRequireLower=yes\nRequireSpecial=yes\n", 1),
        ):
            with self.subTest(rules=rules):
                machine.daemon.policy("[Passcode]\n" + daemonlab.CHEAP + rules + "\n", reload=True)
                machine.enter(typed=[LOGIN])
                self.assertEqual(len(self.stores(machine)), count)

    def test_rule_without_worker(self):
        """an administrator's rule without a worker that could judge it"""
        machine = self.machine(
            "[Passcode]\n" + daemonlab.CHEAP + "[Rule shape]\nMatch=login\n",
            options=["--rules-socket", "/nonexistent/rules"])
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual(self.stores(machine), [])

    def test_no_passcode(self):
        """in no-passcode mode, and with NoPasscodeByDefault, the store opens with the device alone"""
        for policy in ("Enabled=no\nUseDefaultPolicy=no", "NoPasscodeByDefault=yes"):
            with self.subTest(policy=policy):
                machine = self.machine(policy)
                self.assertSilent(machine.enter(typed=[LOGIN]))
                state = self.state(machine)
                self.assertEqual((state["passcode"], state["followsLogin"]), ("none", False))
        machine = self.machine("NoPasscodeByDefault=yes\nAllowNoPasscode=no")
        machine.enter(typed=[LOGIN])
        self.assertEqual(self.state(machine)["passcode"], "passcode")

    def test_cli(self):
        """Onboard=cli: nothing"""
        machine = self.machine("Onboard=cli")
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual(self.stores(machine), [])


class Never(Case):
    """No new store where one exists, in whatever state."""

    def unchanged(self, machine):
        before = self.stores(machine)
        self.assertEqual(machine.enter(typed=[LOGIN]).code, PAM_SUCCESS)
        self.assertEqual(self.stores(machine), before)
        return before

    def test_erased(self):
        """an erased one: its tombstone stays"""
        machine = self.machine("RetryLimit=1\nThrottleAfter=0")
        machine.create(PASSCODE)
        machine.daemon.authenticate("wrong", subject=(machine.name, machine.uid))
        self.assertEqual(self.state(machine)["lock"], "erased")
        self.unchanged(machine)
        self.assertEqual(self.state(machine)["lock"], "erased")

    def test_damaged(self):
        """a damaged one, and one that does not even show whose it is"""
        machine = self.machine()
        machine.create(PASSCODE)
        path = os.path.join(machine.daemon.store(), "slots")
        with open(path, "rb") as file:
            good = file.read()
        for damage in (good[:100] + b"x" + good[101:], b"\0" * len(good), good[:4096], b""):
            machine.daemon.stop()
            with open(path, "wb") as file:
                file.write(damage)
            machine.daemon.start()
            self.unchanged(machine)
        os.unlink(path)
        machine.daemon.restart()
        self.unchanged(machine)

    def test_foreign(self):
        """one of the same name under another uid, or of the same uid under another name"""
        for name, uid in (("same", 4242), ("somebodyelse", "same")):
            with self.subTest(name=name, uid=uid):
                machine = self.machine()
                person = (machine.name if name == "same" else name, machine.uid if uid == "same" else uid)
                machine.daemon.create(PASSCODE, subject=person)
                self.unchanged(machine)

    def test_own(self):
        """one with a passcode of its own, and one without any"""
        for way in ("ownPasscode", "noPasscode"):
            machine = self.machine()
            machine.create(PASSCODE, way)
            before = self.state(machine)
            self.unchanged(machine)
            self.assertEqual(self.state(machine)["passcode"], before["passcode"])

    def test_machine_key(self):
        """without the machine key nothing is made beside the stores that need it"""
        machine = self.machine()
        machine.daemon.create(PASSCODE, subject=("other", 4242))
        machine.daemon.stop()
        os.unlink(os.path.join(machine.daemon.state, "machine.key"))
        machine.daemon.start()
        self.unchanged(machine)
        self.assertFalse(glob.glob(machine.daemon.state + "/machine.key"))

    def test_broken_policy(self):
        """a policy that was never good makes none"""
        machine = self.machine("[Passcode]\nMinLength=never\n")
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual(self.stores(machine), [])

    def test_killed(self):
        """a daemon that dies between auth and setcred: the login goes on, and the next one makes the store"""
        machine = self.machine()
        with machine.login(typed=[LOGIN]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            machine.daemon.kill()
            self.assertEqual(login.setcred(), PAM_SUCCESS)
            machine.daemon.start()
            self.assertEqual(login.setcred(), PAM_SUCCESS)
        self.assertEqual(self.stores(machine), [])
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertEqual(len(self.stores(machine)), 1)

    def test_killed_while_making(self):
        """a daemon that dies while it makes the store leaves none or a complete one"""
        machine = self.machine()
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            machine.daemon.hold()
            thread = threading.Thread(target=login.setcred)
            thread.start()
            wait_until(lambda: machine.daemon.derivations() == 1, "the derivation begins")
            machine.daemon.kill()
            thread.join()
            machine.daemon.release()
            machine.daemon.start()
        self.assertEqual(self.stores(machine), [])
        self.assertSilent(machine.enter(typed=[LOGIN]))
        self.assertTrue(machine.opens_with(LOGIN))


class Login(Case):
    """Onboard=login: the person is asked."""

    POLICY = "Onboard=login\nThrottleAfter=0"

    def enter(self, machine, *typed, **more):
        return machine.enter(typed=[LOGIN, *typed], **more)

    def test_follow(self):
        """yes, and yes: the login password opens the store"""
        machine = self.machine()
        with machine.login(typed=[LOGIN, "y", "Yes"]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            self.assertEqual((login.talk.prompts, login.talk.lines), (["Password: ", OFFER, FOLLOW], [TITLE, BODY]))
            self.assertEqual(self.stores(machine), [])
            login.setcred()
        self.assertTrue(self.state(machine)["followsLogin"])
        self.assertTrue(machine.opens_with(LOGIN))
        self.assertSilent(self.enter(machine))

    def test_own(self):
        """yes, and no: a passcode of its own, by the rules"""
        machine = self.machine()
        with machine.login(typed=[LOGIN, "y", "n", "short", PASSCODE, PASSCODE]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            self.assertEqual(len(login.talk.prompts), 6)
            self.assertEqual(self.stores(machine), [])
            login.setcred()
        state = self.state(machine)
        self.assertEqual((state["passcode"], state["followsLogin"]), ("passcode", False))
        self.assertTrue(machine.opens_with(PASSCODE))
        self.assertFalse(machine.opens_with(LOGIN))

    def test_weak(self):
        """a login password that the rules do not accept is not offered"""
        machine = self.machine(self.POLICY + "\nMinLength=20")
        entered = self.enter(machine, "y", PASSCODE, PASSCODE)
        self.assertNotIn(FOLLOW, entered.prompts)
        self.assertTrue(machine.opens_with(PASSCODE))

    def test_no(self):
        """no is remembered once the login is confirmed, over a restart, and for this person alone"""
        for answer in ("", "no", "maybe"):
            with self.subTest(answer=answer):
                machine = self.machine()
                self.assertEqual(self.enter(machine, answer, confirm=False).lines, [TITLE, BODY, LATER])
                entered = self.enter(machine, answer)
                self.assertEqual((entered.code, entered.prompts[1:], entered.lines), (
                    PAM_SUCCESS, [OFFER], [TITLE, BODY, LATER]))
                self.assertSilent(self.enter(machine))
                with open(os.path.join(machine.daemon.state, "declined"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), f"{machine.uid} {machine.name}\n")
        machine.daemon.restart()
        self.assertSilent(self.enter(machine))
        self.assertEqual(self.stores(machine), [])
        name, uid = add_account(None, "-s", "/bin/sh", "-d", "/home/x")
        self.addCleanup(remove_account, name)
        set_password(name, LOGIN)
        machine.name, machine.uid = machine.daemon.person = name, uid
        self.assertEqual(self.enter(machine, "y", "y").prompts[1:], [OFFER, FOLLOW])
        self.assertEqual(len(self.stores(machine)), 1)

    def test_compulsory(self):
        """a compulsory passcode: nobody is asked whether; cancelling leaves the login as it is, to be asked again"""
        machine = self.machine(self.POLICY + "\nAllowNoPasscode=no")
        for _ in range(2):
            entered = self.enter(machine, "n", PAM_CONV_ERR)
            self.assertEqual((entered.code, entered.prompts[1]), (PAM_SUCCESS, FOLLOW))
        self.assertEqual(self.stores(machine), [])
        self.assertEqual(self.enter(machine, "n", PASSCODE, PASSCODE).code, PAM_SUCCESS)
        self.assertTrue(machine.opens_with(PASSCODE))

    def test_no_passcode(self):
        """with NoPasscodeByDefault yes is enough"""
        machine = self.machine(self.POLICY + "\nNoPasscodeByDefault=yes")
        self.assertEqual(self.enter(machine, "y").prompts[1:], [OFFER])
        self.assertEqual(self.state(machine)["passcode"], "none")

    def test_skip(self):
        """only Enter at the new passcode: a store without one, where that is allowed"""
        machine = self.machine()
        self.enter(machine, "y", "n", "")
        self.assertEqual(self.state(machine)["passcode"], "none")
        machine = self.machine(self.POLICY + "\nAllowNoPasscode=no")
        self.enter(machine, "n", "")
        self.assertEqual(self.stores(machine), [])

    def test_retry(self):
        """what was answered with a mistyped password is not confirmed by a later attempt of the same login"""
        machine = self.machine()
        # When our module asks, it is not known whether the password is right.
        machine.stack("login", machine.unix("required"), "auth optional {ours} unlock")
        for second in ((LOGIN, PAM_CONV_ERR), (LOGIN, "y", PAM_CONV_ERR)):
            with self.subTest(second=second):
                with machine.login(typed=[NEW_LOGIN, "y", "y", *second]) as login:
                    self.assertEqual(login.authenticate(), PAM_AUTH_ERR)
                    self.assertIn(FOLLOW, login.talk.prompts)
                    self.assertEqual(login.authenticate(), PAM_SUCCESS)
                    login.setcred()
                self.assertEqual((self.stores(machine), machine.daemon.derivations()), ([], 0))

    def test_unreachable(self):
        """neither if the daemon cannot be reached at the later attempt"""
        machine = self.machine()
        machine.stack("login", machine.unix("required"), "auth optional {ours} unlock")
        with machine.login(typed=[NEW_LOGIN, "y", "y"]) as login:
            self.assertEqual(login.authenticate(), PAM_AUTH_ERR)
            login.talk.answers = [LOGIN]
            os.rename(machine.daemon.socket, machine.daemon.socket + ".away")
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            os.rename(machine.daemon.socket + ".away", machine.daemon.socket)
            login.setcred()
        self.assertEqual((self.stores(machine), machine.daemon.derivations()), ([], 0))

    def test_last_plan(self):
        """of two logins at once the later one decides what is made, also if it decides nothing"""
        machine = self.machine()
        with machine.login(typed=[LOGIN, "y", "y"]) as one, machine.login(typed=[LOGIN, PAM_CONV_ERR]) as other:
            self.assertEqual((one.authenticate(), other.authenticate()), (PAM_SUCCESS, PAM_SUCCESS))
            one.setcred()
            other.setcred()
        self.assertEqual(self.stores(machine), [])

    def test_dies(self):
        """a conversation that dies, at every question, leaves the login as it is and makes nothing"""
        machine = self.machine()
        for answers in ((PAM_CONV_ERR,), ("y", PAM_CONV_ERR), ("y", "n", PAM_CONV_ERR),
                        ("y", "n", PASSCODE, PAM_CONV_ERR), ("y", "n", PASSCODE, None)):
            with self.subTest(answers=answers):
                self.assertEqual(self.enter(machine, *answers).code, PAM_SUCCESS)
                self.assertEqual(self.stores(machine), [])

    def test_nobody_to_ask(self):
        """services that do not converse, silent and remote logins are not asked, and make nothing"""
        machine = self.machine()
        for service, items in (("sddm", {}), ("sshd", {"RHOST": FAR}), ("login", {"RHOST": FAR}), ("su", {})):
            with self.subTest(service=service, items=items):
                machine.way_a(service)
                self.assertSilent(machine.enter(service, [LOGIN], **items))
        with machine.login(typed=[LOGIN]) as login:
            self.assertEqual(login.authenticate(PAM_SILENT), PAM_SUCCESS)
            login.setcred()
            self.assertEqual(len(login.talk.prompts), 1)
        self.assertEqual(self.stores(machine), [])

    def test_killed(self):
        """a daemon that dies in the middle of the conversation: the login goes on"""
        machine = self.machine()
        entered = machine.enter(typed=Talk([LOGIN, "y", lambda: machine.daemon.kill() and "n" or "n"]))
        self.assertEqual(entered.code, PAM_SUCCESS)
        machine.daemon.start()
        self.assertEqual(self.stores(machine), [])


class Offer(Case):
    """No recovery key was shown for a store that a login made."""

    def appvault(self, machine, *words):
        person = ("setpriv", "--reuid", str(machine.uid), "--regid", str(machine.uid), "--clear-groups")
        return Terminal([*person, daemonlab.build("appvault"), "--socket", machine.daemon.socket, *words])

    def offered(self, machine):
        machine.enter(typed=[LOGIN])
        self.assertTrue(self.state(machine)["recoveryOffer"])
        return machine

    def test_yes(self):
        """the first unlock on a terminal offers it; yes, and the password: the key is shown, and never offered again"""
        machine = self.offered(self.machine())
        screen = self.appvault(machine, "unlock")
        screen.expect(OFFERED)
        screen.type("1")
        screen.expect(CURRENT)
        screen.type(LOGIN)
        screen.expect("You see it only once")
        self.assertEqual(screen.end(), 0, screen.shown)
        state = self.state(machine)
        self.assertEqual((state["hasRecoveryKey"], state["recoveryOffer"]), (True, False))

    def test_no(self):
        """no is final"""
        machine = self.offered(self.machine())
        screen = self.appvault(machine, "unlock")
        screen.expect(OFFERED)
        screen.type("2")
        self.assertEqual(screen.end(), 0, screen.shown)
        machine.daemon.restart()
        state = self.state(machine)
        self.assertEqual((state["hasRecoveryKey"], state["recoveryOffer"]), (False, False))
        screen = self.appvault(machine, "unlock")
        screen.expect("AppVault passcode: ")
        screen.type(LOGIN)
        self.assertEqual(screen.end(), 0)
        self.assertNotIn(OFFERED, screen.shown)

    def test_later(self):
        """later is no answer: the next one asks again, and status does not ask"""
        machine = self.offered(self.machine())
        for _ in range(2):
            screen = self.appvault(machine, "unlock")
            screen.expect(OFFERED)
            screen.type("3")
            screen.expect("You will be asked again next time.")
            self.assertEqual(screen.end(), 0, screen.shown)
        screen = self.appvault(machine, "status")
        self.assertEqual(screen.end(), 0)
        self.assertNotIn(OFFERED, screen.shown)
        self.assertIn("`appvault recovery new`", screen.shown)
        self.assertTrue(self.state(machine)["recoveryOffer"])

    def test_wrong(self):
        """a wrong password shows nothing, and the offer stays"""
        machine = self.offered(self.machine())
        screen = self.appvault(machine, "unlock")
        screen.expect(OFFERED)
        screen.type("1")
        for _ in range(3):
            # Wait for the whole question: what is typed before it is dropped.
            screen.expect(CURRENT)
            screen.type(WRONG)
        self.assertEqual(screen.end(), 0, screen.shown)
        state = self.state(machine)
        self.assertEqual((state["hasRecoveryKey"], state["recoveryOffer"]), (False, True))

    def test_not_offered(self):
        """not if the policy allows none, not for a program, not on root's terminal, not without a passcode"""
        machine = self.offered(self.machine())
        subject = (machine.name, machine.uid)
        for kind in ("program", "terminal"):
            with machine.daemon.client(frontEnd=kind) as client:
                done = client.run("offerRecovery", lambda ask: self.fail(ask), subject=subject)
                self.assertEqual(done.name, "done")
        self.assertTrue(self.state(machine)["recoveryOffer"])
        machine.daemon.policy("AllowRecoveryKey=no", reload=True)
        self.assertFalse(self.state(machine)["recoveryOffer"])
        machine = self.machine("NoPasscodeByDefault=yes")
        machine.enter(typed=[LOGIN])
        self.assertFalse(self.state(machine)["recoveryOffer"])


if __name__ == "__main__":
    unittest.main()
