"""Way (a): the passcode follows the login password. The store opens without a question, `passwd`
keeps the two equal, and a login password that was changed elsewhere is a normal case, not an
accident."""

import time
import unittest

from daemonlab import IS_ROOT, wait_until
from pamlab import PAM_AUTH_ERR, PAM_SILENT, PAM_SUCCESS
from wayslab import LOGIN, NEW_LOGIN, PASSCODE, WRONG, Machine, in_child

# An address and no name: libpam looks names up for its audit line, and waits for a name server.
FAR = "192.0.2.7"


class Case(unittest.TestCase):
    POLICY = "ThrottleAfter=0"

    def machine(self, policy=None, way="followLogin", passcode=LOGIN, **options):
        machine = Machine(self.POLICY if policy is None else policy, **options)
        self.addCleanup(machine.close)
        return machine.create(passcode, way)

    def assertEntered(self, entered, prompts, lines=()):
        self.assertEqual((entered.code, entered.prompts, entered.lines), (PAM_SUCCESS, list(prompts), list(lines)))


class Silence(Case):
    def test_opens(self):
        """a login opens the store without a question, its session keeps it open, and the session's end locks it"""
        # Once more on a machine that takes longer than a login may last without its session.
        while not self.opens():
            pass

    def opens(self):
        machine = self.machine(options=["--deadline", "session=1"])
        machine.way_a()
        with machine.login(typed=[LOGIN]) as login:
            began = time.monotonic()
            count, code = machine.derivations(login.authenticate)
            self.assertEqual((code, count), (PAM_SUCCESS, 1))
            was_open = machine.is_open
            self.assertEqual(login.setcred(), PAM_SUCCESS)
            login.putenv("XDG_SESSION_ID=c1")
            self.assertEqual(login.open_session(), PAM_SUCCESS)
            if time.monotonic() - began >= 1:
                return False
            self.assertTrue(was_open)
            self.assertEqual(machine.daemon.status().fields["sessions"], 1)
            # Longer than a store stays open without a session.
            time.sleep(1.5)
            self.assertTrue(machine.is_open)
            self.assertEqual(login.close_session(), PAM_SUCCESS)
            self.assertFalse(machine.is_open)
            self.assertEqual((login.talk.prompts, login.talk.lines), (["Password: "], []))
        return True

    def test_last_session(self):
        """the end of the last of two sessions locks the store, and a session that ends in another process counts as
        well"""
        machine = self.machine()
        machine.way_a()
        with machine.login(typed=[LOGIN]) as first, machine.login(typed=[LOGIN]) as second:
            for number, login in enumerate((first, second)):
                self.assertEqual(login.authenticate(), PAM_SUCCESS)
                login.setcred()
                login.putenv(f"XDG_SESSION_ID=c{number}")
                login.open_session()
            first.close_session()
            self.assertTrue(machine.is_open)
            # As with sshd: another process than the one that opened it.
            in_child(second.close_session)
            self.assertFalse(machine.is_open)

    def test_no_session(self):
        """a store without a session is locked again"""
        machine = self.machine(options=["--deadline", "session=1"])
        machine.way_a()
        self.assertEntered(machine.enter(typed=[LOGIN]), ["Password: "])
        self.assertTrue(machine.is_open)
        wait_until(lambda: not machine.is_open, "the store is shut", 3)

    def test_other_classes(self):
        """a session of another class than user neither keeps a store open nor locks it"""
        machine = self.machine()
        machine.way_a()
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            login.putenv("XDG_SESSION_ID=c7")
            login.putenv("XDG_SESSION_CLASS=greeter")
            login.open_session()
            self.assertEqual(machine.daemon.status().fields["sessions"], 0)
            login.close_session()
            self.assertTrue(machine.is_open)

    def test_wrong_password(self):
        """a wrong login password never reaches the store if pam_unix comes before our module"""
        machine = self.machine()
        machine.way_a()
        count, entered = machine.derivations(lambda: machine.enter(typed=[WRONG]))
        self.assertEqual((entered.code, count), (PAM_AUTH_ERR, 0))
        self.assertEqual((machine.own, machine.apart), (0, 0))

    def test_wrong_password_behind_required(self):
        """after a required pam_unix it does: an apart try, remembered, and the person is not let in"""
        machine = self.machine()
        machine.stack("login", machine.unix("required"), "auth optional {ours} unlock")
        for expected in (1, 0):
            count, entered = machine.derivations(lambda: machine.enter(typed=[WRONG], tty=None, RHOST=FAR))
            self.assertEqual((entered.code, count, machine.own, machine.others), (PAM_AUTH_ERR, expected, 0, 1))
        self.assertFalse(machine.is_open)

    def test_other_services(self):
        """services outside UnlockServices do nothing at all"""
        machine = self.machine()
        for service in ("cron", "dovecot", "cups", "su", "sudo", "polkit-1"):
            with self.subTest(service=service):
                machine.way_a(service)
                count, entered = machine.derivations(lambda: machine.enter(service, [LOGIN]))
                self.assertEntered(entered, ["Password: "])
                self.assertEqual((count, machine.is_open), (0, False))

    def test_own_passcode(self):
        """a store with a passcode of its own is left alone, and the login password is not tried on it"""
        machine = self.machine(way="ownPasscode", passcode=PASSCODE)
        machine.way_a()
        count, entered = machine.derivations(lambda: machine.enter(typed=[LOGIN]))
        self.assertEntered(entered, ["Password: "])
        self.assertEqual((count, machine.is_open), (0, False))

    def test_open_already(self):
        """if the store is open nothing is derived"""
        machine = self.machine()
        machine.way_a()
        machine.enter(typed=[LOGIN])
        count, entered = machine.derivations(lambda: machine.enter(typed=[LOGIN]))
        self.assertEntered(entered, ["Password: "])
        self.assertEqual(count, 0)

    def test_session_alone(self):
        """a session without an authentication, as with root's su, opens no store"""
        machine = self.machine()
        machine.way_a()
        with machine.login() as login:
            login.putenv("XDG_SESSION_ID=c3")
            self.assertEqual(login.open_session(), PAM_SUCCESS)
            self.assertFalse(machine.is_open)
            self.assertEqual(login.setcred(), PAM_SUCCESS)
            login.close_session()


class Traps(Case):
    def test_lone_optional(self):
        """an unlocker alone in its stack lets nobody in, whatever the store's state and the token are"""
        machine = self.machine()
        machine.stack("login", "auth optional {lab} set={password} return=25", "auth optional {ours} unlock")
        self.assertNotEqual(machine.enter().code, PAM_SUCCESS)
        self.assertTrue(machine.is_open, "it did its work")
        self.assertNotEqual(machine.enter().code, PAM_SUCCESS)

    def test_lone_authenticator(self):
        """a lone authenticator asks nothing and lets nobody in if there is no passcode to prove"""
        machine = Machine(self.POLICY)
        self.addCleanup(machine.close)
        machine.stack("login", "auth required {ours} or_password")
        for way in (None, "noPasscode"):
            with self.subTest(way=way):
                if way:
                    machine.create(None, way)
                    machine.daemon.unlock()
                entered = machine.enter(typed=[LOGIN, LOGIN])
                self.assertNotEqual(entered.code, PAM_SUCCESS)
                self.assertEqual(entered.prompts, [])


def new_passwords(machine, *typed, service="passwd"):
    """Stands for `passwd`, which is setuid root, so that its real uid is the person's."""

    def change():
        with machine.login(service, typed, tty="/dev/tty1") as transaction:
            code = transaction.chauthtok()
            return code, transaction.talk.prompts, transaction.talk.lines

    return in_child(change, (machine.uid, 0, 0) if IS_ROOT else None)


class Passwd(Case):
    def wired(self, machine):
        """Our silent line after pam_unix. For an ordinary user, pam_unix's stand-in hands both
        tokens on."""
        machine.way_a()
        if IS_ROOT:
            front = "password [success=1 default=ignore] pam_unix.so sha256 rounds=1000 minlen=4"
        else:
            front = f"password [success=1 default=ignore] {{lab}} setold={LOGIN} set={NEW_LOGIN}"
        machine.stack(
            "passwd", front, "password requisite pam_deny.so", "password required pam_permit.so",
            "password optional {ours} use_authtok")

    def change(self, machine):
        typed = [LOGIN, NEW_LOGIN, NEW_LOGIN] if IS_ROOT else []
        code, prompts, lines = new_passwords(machine, *typed)
        self.assertEqual(code, PAM_SUCCESS)
        # pam_unix's own words.
        self.assertEqual([line for line in lines if not line.startswith("Changing password")], [])
        self.assertEqual(len(prompts), len(typed), "nothing of ours was asked")
        if not IS_ROOT:
            machine.change_password(NEW_LOGIN)

    def test_follows(self):
        """after passwd the new password opens the store at the next login, and from then on the former one does not"""
        for is_open in (False, True):
            with self.subTest(is_open=is_open):
                machine = self.machine()
                self.wired(machine)
                if is_open:
                    self.assertEntered(machine.enter(typed=[LOGIN]), ["Password: "])
                self.change(machine)
                self.assertEqual(machine.is_open, is_open)
                machine.lock()
                self.assertEntered(machine.enter(typed=[NEW_LOGIN]), ["Password: "])
                self.assertTrue(machine.is_open)
                self.assertFalse(machine.opens_with(LOGIN))
                self.assertTrue(machine.opens_with(NEW_LOGIN))
                machine.change_password(LOGIN)

    def test_either(self):
        """until then either password opens it: a passwd that fails after our module locks nobody out"""
        machine = self.machine()
        self.wired(machine)
        self.change(machine)
        # As if a module after ours had undone the change.
        machine.change_password(LOGIN)
        self.assertEntered(machine.enter(typed=[LOGIN]), ["Password: "])
        self.assertTrue(machine.is_open)
        self.assertFalse(machine.opens_with(NEW_LOGIN))
        self.assertTrue(machine.opens_with(LOGIN))

    def test_twice(self):
        """passwd twice in a row, without a login in between"""
        machine = self.machine()
        self.wired(machine)
        self.change(machine)
        third = "login-heron-9"
        if IS_ROOT:
            self.assertEqual(new_passwords(machine, NEW_LOGIN, third, third)[0], PAM_SUCCESS)
        else:
            machine.stack("again", f"password required {{lab}} setold={NEW_LOGIN} set={third}",
                          "password optional {ours} use_authtok")
            self.assertEqual(new_passwords(machine, service="again")[0], PAM_SUCCESS)
            machine.change_password(third)
        self.assertFalse(machine.opens_with(LOGIN))
        self.assertEntered(machine.enter(typed=[third]), ["Password: "])
        self.assertTrue(machine.is_open)
        self.assertFalse(machine.opens_with(NEW_LOGIN))

    def test_own_passcode(self):
        """a store with a passcode of its own is not touched by passwd"""
        machine = self.machine(way="ownPasscode", passcode=PASSCODE)
        self.wired(machine)
        before = machine.daemon.blocks()
        count, _ = machine.derivations(lambda: self.change(machine))
        self.assertEqual((count, machine.daemon.blocks()), (0, before))

    def test_wrong_former(self):
        """a former password that does not open the store changes nothing, and passwd goes on"""
        machine = self.machine(passcode=PASSCODE)
        self.wired(machine)
        self.change(machine)
        self.assertEqual((machine.own, machine.apart), (0, 1))
        self.assertFalse(machine.opens_with(NEW_LOGIN))
        self.assertTrue(machine.opens_with(PASSCODE))

    def test_without_former(self):
        """root's passwd alice does not know the former password: nothing is derived, and the two drift apart"""
        machine = self.machine()
        machine.way_a()
        machine.stack("passwd", f"password required {{lab}} set={NEW_LOGIN}", "password optional {ours} use_authtok")
        count, (code, prompts, _) = machine.derivations(lambda: new_passwords(machine))
        self.assertEqual((code, prompts, count), (PAM_SUCCESS, [], 0))
        self.assertTrue(machine.opens_with(LOGIN))
        self.assertFalse(machine.opens_with(NEW_LOGIN))

    def test_failed_in_front(self):
        """if pam_unix refuses, nothing reaches the store"""
        if not IS_ROOT:
            self.skipTest("needs root: pam_unix and an account")
        machine = self.machine()
        self.wired(machine)
        count, (code, _, _) = machine.derivations(lambda: new_passwords(machine, WRONG, NEW_LOGIN, NEW_LOGIN))
        self.assertNotEqual(code, PAM_SUCCESS)
        self.assertEqual((count, machine.apart), (0, 0))


NOTICE = "Your login password has changed; your store still opens with the old one."
FORMER = "Old login password or recovery key (Enter to skip): "


class Drift(Case):
    def drifted(self, policy=None, **options):
        machine = self.machine(policy, **options)
        machine.change_password(NEW_LOGIN)
        return machine

    def test_goes_on(self):
        """where the service cannot converse the login goes on, at one try per boot"""
        machine = self.drifted()
        machine.way_a("sshd")
        for expected in (1, 0, 0):
            count, entered = machine.derivations(lambda: machine.enter("sshd", [NEW_LOGIN], tty="ssh", RHOST=FAR))
            self.assertEntered(entered, ["Password: "])
            self.assertEqual((count, machine.own, machine.others), (expected, 0, 1))
        self.assertFalse(machine.is_open)

    def test_years(self):
        """hundreds of such logins over a few boots neither erase nor lock the store, nor use up the person's own
        tries"""
        machine = self.drifted("RetryLimit=3\nThrottleAfter=0")
        machine.way_a("sshd")
        machine.way_a("login")
        for _ in range(5):
            for _ in range(20):
                self.assertEqual(machine.enter("sshd", [NEW_LOGIN], tty="ssh", RHOST=FAR).code, PAM_SUCCESS)
            machine.daemon.restart()
        self.assertEqual((machine.own, machine.others), (0, 3))
        self.assertEntered(machine.enter(typed=[NEW_LOGIN, LOGIN]), ["Password: ", FORMER], [NOTICE])
        self.assertTrue(machine.opens_with(NEW_LOGIN))

    @unittest.skipUnless(IS_ROOT, "a private daemon knows no strangers")
    def test_guessed_from_elsewhere(self):
        """those who used up the strangers' tries keep no person out, and are asked nothing"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0")
        machine.stack("sshd", machine.unix("required"), "auth optional {ours} unlock")
        machine.way_a()
        for guess in range(5):
            machine.enter("sshd", [f"guess {guess}"], tty="ssh", RHOST=FAR)
        self.assertEqual((machine.own, machine.apart, machine.stranger), (0, 0, 3))
        self.assertEntered(machine.enter(typed=[LOGIN]), ["Password: "])
        self.assertTrue(machine.is_open)
        self.assertEqual(machine.stranger, 0)

    def test_tokens_used_up(self):
        """if the person's own mistyped passwords fill the count, the store asks for its passcode itself at the next
        login"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0")
        machine.stack("login", machine.unix("required"), "auth optional {ours} unlock")
        for guess in range(4):
            # Only Enter where the former password is asked for.
            machine.enter(typed=[f"guess {guess}", ""])
        self.assertEqual((machine.own, machine.apart), (0, 3))
        machine.way_a()
        self.assertEntered(
            machine.enter(typed=[LOGIN, LOGIN]),
            ["Password: ", "Passcode of the store or recovery key (Enter to skip): "],
            ["Too many wrong tries came from elsewhere; your store now asks separately."])
        self.assertTrue(machine.is_open)
        self.assertEqual((machine.own, machine.apart), (0, 0))
        machine.lock()
        self.assertEntered(machine.enter(typed=[LOGIN]), ["Password: "])
        self.assertTrue(machine.is_open)

    def test_asked_once(self):
        """a login that can converse asks once for the former password, and then the store follows the new one"""
        machine = self.drifted()
        machine.way_a()
        with machine.login(typed=[NEW_LOGIN, LOGIN]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            self.assertEqual((login.talk.prompts, login.talk.lines), (["Password: ", FORMER], [NOTICE]))
            self.assertTrue(machine.is_open)
            login.setcred()
        self.assertFalse(machine.opens_with(LOGIN))
        self.assertEntered(machine.enter(typed=[NEW_LOGIN]), ["Password: "])
        self.assertTrue(machine.is_open)
        self.assertEqual((machine.own, machine.apart), (0, 0))

    def test_lock_before_the_confirmation(self):
        """a lock between the former password and the confirmation wipes what would have changed the store's passcode"""
        machine = self.drifted()
        machine.way_a()
        with machine.login(typed=[NEW_LOGIN, LOGIN]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            self.assertTrue(machine.opens_with(LOGIN), "nothing is re-keyed before the login is confirmed")
            self.assertFalse(machine.opens_with(NEW_LOGIN))
            machine.lock()
            login.setcred()
        self.assertTrue(machine.opens_with(LOGIN))

    def test_recovery_key(self):
        """the recovery key works as well"""
        machine = Machine(self.POLICY)
        self.addCleanup(machine.close)
        key = machine.create_with_recovery(LOGIN, "followLogin")
        machine.change_password(NEW_LOGIN)
        machine.way_a()
        self.assertEntered(machine.enter(typed=[NEW_LOGIN, key]), ["Password: ", FORMER], [NOTICE])
        self.assertTrue(machine.opens_with(NEW_LOGIN))
        self.assertFalse(machine.opens_with(LOGIN))

    def test_skipped(self):
        """Enter skips the question: the login goes on, nothing is counted, and the next login asks again"""
        machine = self.drifted()
        machine.way_a()
        for expected in (1, 0):
            count, entered = machine.derivations(lambda: machine.enter(typed=[NEW_LOGIN, ""]))
            self.assertEntered(entered, ["Password: ", FORMER], [NOTICE])
            self.assertEqual((count, machine.own, machine.apart, machine.is_open), (expected, 0, 1, False))

    def test_wrong_former(self):
        """a wrong former password is an own try of the person's, and the login goes on"""
        machine = self.drifted("RetryLimit=5\nThrottleAfter=0")
        machine.way_a()
        entered = machine.enter(typed=[NEW_LOGIN, WRONG])
        self.assertEntered(entered, ["Password: ", FORMER], [NOTICE, "Wrong passcode. 4 tries left."])
        self.assertEqual((machine.own, machine.apart), (1, 1))
        self.assertFalse(machine.opens_with(NEW_LOGIN))

    def test_last_try_is_told(self):
        """before a former password that could erase the store the person is told"""
        machine = self.drifted("RetryLimit=2\nThrottleAfter=0")
        machine.way_a()
        machine.enter(typed=[NEW_LOGIN, WRONG])
        entered = machine.enter(typed=[NEW_LOGIN, ""])
        self.assertEntered(
            entered, ["Password: ", FORMER], [NOTICE, "One try left. A wrong passcode now erases the store."])

    def test_not_confirmed(self):
        """a login that fails after our module, or is not confirmed in time, changes nothing at the store"""
        machine = self.drifted(options=["--deadline", "transaction=1"])
        machine.way_a()
        entered = machine.enter(typed=[NEW_LOGIN, LOGIN], confirm=False)
        self.assertEqual(entered.code, PAM_SUCCESS)
        machine.lock()
        with machine.login(typed=[NEW_LOGIN, LOGIN]) as login:
            login.authenticate()
            time.sleep(1.5)
            login.setcred()
        self.assertTrue(machine.opens_with(LOGIN))
        self.assertFalse(machine.opens_with(NEW_LOGIN))

    def test_nobody_to_ask(self):
        """silent logins, remote ones and lockers are not asked"""
        for service, flags, items in (
            ("login", PAM_SILENT, {}),
            ("login", 0, {"RHOST": FAR}),
            ("swaylock", 0, {}),
            ("sddm", 0, {}),
        ):
            with self.subTest(service=service, flags=flags, items=items):
                machine = self.drifted()
                machine.way_a(service)
                with machine.login(service, [NEW_LOGIN], **items) as login:
                    self.assertEqual(login.authenticate(flags), PAM_SUCCESS)
                    self.assertEqual((login.talk.prompts, login.talk.lines), (["Password: "], []))
                machine.close()

    def test_wrong_token_behind_required(self):
        """a wrong login password with the right former one changes nothing: there is no confirmation"""
        machine = self.drifted()
        machine.stack("login", machine.unix("required"), "auth optional {ours} unlock")
        entered = machine.enter(typed=[WRONG, LOGIN])
        self.assertEqual(entered.code, PAM_AUTH_ERR)
        self.assertFalse(machine.opens_with(WRONG))
        self.assertTrue(machine.opens_with(LOGIN))

    def test_not_root(self):
        """a peer that is not root is asked nothing and changes nothing"""
        if not IS_ROOT:
            self.skipTest("needs root: a peer that is neither root nor the private daemon's own user")
        machine = self.drifted()
        machine.stack("login", "auth required {lab} set={password}", "auth optional {ours} unlock")

        def login():
            with machine.login(typed=[LOGIN]) as transaction:
                code = transaction.authenticate()
                transaction.setcred()
                return code, transaction.talk.prompts

        self.assertEqual(in_child(login, (machine.uid,) * 3), (PAM_SUCCESS, []))
        self.assertFalse(machine.opens_with(NEW_LOGIN))

    def test_resync(self):
        """appvault resync does the same, with the former password or the recovery key"""
        for former in ("password", "recovery key"):
            with self.subTest(former=former):
                machine = Machine(self.POLICY)
                key = machine.create_with_recovery(LOGIN, "followLogin")
                machine.change_password(NEW_LOGIN)
                done = machine.appvault("resync", passcodes=[NEW_LOGIN, LOGIN if former == "password" else key])
                self.assertEqual(done.returncode, 0, done.stderr)
                machine.way_a()
                self.assertEntered(machine.enter(typed=[NEW_LOGIN]), ["Password: "])
                self.assertTrue(machine.is_open)
                self.assertFalse(machine.opens_with(LOGIN))
                machine.close()

    def test_resync_wrong(self):
        """resync with a wrong former password is an apart try and changes nothing"""
        machine = self.drifted()
        done = machine.appvault("resync", passcodes=[NEW_LOGIN, WRONG])
        self.assertEqual(done.returncode, 1, done.stderr)
        # For an ordinary user the daemon is private, and still the CLI is not a local service.
        self.assertEqual((machine.own, machine.apart), (0, 1))
        self.assertTrue(machine.opens_with(LOGIN))
        self.assertFalse(machine.opens_with(NEW_LOGIN))


if __name__ == "__main__":
    unittest.main()
