"""The flows that a policy causes, each as a real PAM transaction: in front of pam_unix and behind it, cancelled at
every question, with a conversation that dies, with a daemon that is killed, and with a policy that changes again
meanwhile."""

import os
import unittest

import pamlab
from flowlab import ENTER, NEW, NO_PASSCODE, Cut, Flows, age, without_passcode
from pamlab import PAM_AUTH_ERR, PAM_CONV_ERR, PAM_SILENT, PAM_SUCCESS, PAM_USER_UNKNOWN, Talk
from slow import slow
from wayslab import LOGIN, PASSCODE, WRONG

TIMEOUT = 900
START = "MinLength=8"
STRICTER = "MinLength=9"
CHANGED = "Your administrator has changed the rules for passcodes."
STAYS = "Cancelled. The store stays locked, and the change is still due."
ELSEWHERE = "Your passcode must change; `appvault unlock` asks for a new one."
SITUATIONS = ("front", "behind")


class Case(unittest.TestCase):
    def machine(self, policy=START, way="ownPasscode", passcode=PASSCODE, **options):
        machine = Flows(policy, **options)
        self.addCleanup(machine.close)
        return machine.create(passcode, way)

    def login(self, machine, answers, code=PAM_SUCCESS, service="login", **items):
        talk = answers if isinstance(answers, Talk) else Talk(answers)
        entered = machine.enter(service, talk, **items)
        self.assertEqual(entered.code, code, entered)
        self.assertEqual(talk.answers, [], "every answer was asked for")
        return entered

    def assertDue(self, machine, flow, reason=1, passcode=PASSCODE):
        """Nothing has changed, the store is locked, and the marker says what is due."""
        self.assertFalse(machine.is_open)
        self.assertEqual(machine.slots().pending, (flow, reason))
        if passcode:
            self.assertTrue(machine.opens(passcode))
            refused = machine.daemon.unlock(passcode)
            # An expired passcode has a code of its own.
            self.assertEqual((refused.name, refused.code), ("refused", 8 if reason == 4 else 36))
            if reason != 4:
                self.assertEqual(refused.parameters["flow"], str(flow))

    def assertChanged(self, machine, passcode=NEW, former=PASSCODE):
        self.assertTrue(machine.is_open)
        self.assertEqual(machine.slots().pending, (0, 0))
        self.assertTrue(machine.opens(passcode))
        self.assertFalse(machine.opens(former))
        self.assertTrue(machine.opens_with(passcode))


class Change(Case):
    """Flow 3: current, new, confirm."""

    def test_changes(self):
        """the rules changed: told why, a new passcode twice, and the store opens with it"""
        for situation in SITUATIONS:
            with self.subTest(situation):
                machine = self.machine()
                before = getattr(machine, situation)()
                machine.policy(STRICTER)
                entered = self.login(machine, [*before, PASSCODE, ENTER, NEW, NEW])
                self.assertIn(CHANGED, entered.lines)
                self.assertIn("The passcode needs: 9 or more characters.", entered.lines)
                self.assertIn("Passcode successfully changed.", entered.lines)
                self.assertChanged(machine)
                machine.lock()
                self.login(machine, [*before, NEW])
                self.assertTrue(machine.is_open)

    def test_only_where_it_falls_short(self):
        """ChangeOnUpdate=noncompliant: a passcode that meets the new rules is not changed, one that does not is"""
        more = "ChangeOnUpdate=noncompliant\n"
        machine = self.machine(more + START)
        machine.front()
        machine.policy(more + "MinLength=12")
        self.assertEqual(self.login(machine, [PASSCODE]).lines, [])
        self.assertTrue(machine.is_open)
        machine.lock()
        machine.policy(more + "MinLength=40")
        long = "a passcode of more than forty characters it is"
        self.login(machine, [PASSCODE, ENTER, long, long])
        self.assertChanged(machine, long)
        # A passcode that was judged good is not judged again. Rules that were changed back count as
        # changed.
        machine.lock()
        machine.policy(START)
        machine.policy("ChangeOnUpdate=always\nMinLength=40")
        self.assertEqual(self.login(machine, [long]).lines, [])

    def test_checklist(self):
        """a new passcode that falls short is refused with what it lacks; the current one again is refused"""
        machine = self.machine()
        machine.front()
        machine.policy("MinLength=10\nRequireDigit=yes\nRequireUpper=yes")
        good = "Battery staple 99"
        entered = self.login(machine, [PASSCODE, ENTER, "short", "Longer but without", good, good])
        self.assertIn(
            "The passcode needs: 10 or more characters, a digit, a capital letter.", entered.lines)
        self.assertIn("Still missing: 10 or more characters, a digit, a capital letter.", entered.lines)
        self.assertChanged(machine, good)

        machine.lock()
        machine.policy("MinLength=10")
        entered = self.login(machine, [good, ENTER, good, NEW, NEW])
        self.assertIn("That is the current passcode; choose another one.", entered.lines)
        self.assertChanged(machine, NEW, good)

    def test_three_candidates(self):
        """three candidates that fall short end the flow: the store stays locked, the login goes on"""
        machine = self.machine()
        machine.front()
        machine.policy(STRICTER)
        self.login(machine, [PASSCODE, ENTER, "a", "b", "c"])
        self.assertDue(machine, 3)

    def test_a_wrong_passcode_runs_nothing(self):
        """after a wrong passcode no flow is mentioned"""
        machine = self.machine()
        machine.behind()
        machine.policy(STRICTER)
        entered = self.login(machine, [LOGIN, WRONG], PAM_AUTH_ERR)
        self.assertNotIn(CHANGED, entered.lines)
        self.assertEqual(machine.slots().pending, (0, 0))

    def test_open_store(self):
        """an open store is locked when the person says no, and open with a new passcode"""
        machine = self.machine()
        machine.front("su")
        self.login(machine, [PASSCODE], service="su")
        machine.policy(STRICTER)
        self.assertTrue(machine.is_open)
        entered = self.login(machine, Cut([PASSCODE, ENTER], 2, PAM_CONV_ERR), service="su")
        self.assertIn(STAYS, entered.lines)
        self.assertDue(machine, 3)
        self.login(machine, [PASSCODE, ENTER, NEW, NEW], service="su")
        self.assertChanged(machine)


class Cancelled(Case):
    """Cancelled at every question, through libpam: the store stays locked and the flow due; the login goes on, or not
    with `enforce`. DueTests.swift and FirstPasscodeTests.swift have each flow, at each question."""

    def each(self, machine, answers, flow, passcode=PASSCODE, first=1, reason=1):
        for situation in SITUATIONS:
            for option, code in (("", PAM_SUCCESS), ("enforce", PAM_AUTH_ERR)):
                before = getattr(machine, situation)(option=option)
                script = [*before, *answers]
                for at in range(len(before) + first + 1, len(script) + 1):
                    for how in (PAM_CONV_ERR, None):
                        with self.subTest(situation=situation, option=option, at=at, how=how):
                            # The marker was made in this round.
                            machine.unmark()
                            self.assertEqual(machine.slots().pending, (0, 0))
                            # With `enforce` before pam_unix the login password is asked for once
                            # more, and not given.
                            talk = Cut(script, at, how)
                            entered = machine.enter("login", talk)
                            self.assertEqual(entered.code, code, entered)
                            if option == "":
                                self.assertIn(STAYS, entered.lines)
                            self.assertDue(machine, flow, reason, passcode)

    @slow
    def test_expired(self):
        machine = self.machine(START + "\nExpireDays=30")
        age(machine, 40)
        self.each(machine, [PASSCODE, ENTER, NEW, NEW], 3, reason=4)

    def test_create(self):
        """flow 1 after pam_unix, no answer and an error: the login goes on, and nothing is made"""
        machine = without_passcode(self)
        machine.way_a()
        for how in (PAM_CONV_ERR, None):
            with self.subTest(how=how):
                machine.unmark()
                entered = machine.enter("login", Cut([LOGIN, ENTER, NEW, NEW], 3, how))
                self.assertEqual(entered.code, PAM_SUCCESS)
                self.assertIn(STAYS, entered.lines)
                self.assertDue(machine, 1, passcode=None)
                self.assertEqual(machine.slots().kinds, ["device"])


class Told(Case):
    """Flows 4, 6 and 7: the person is told, and then it is done."""

    def test_drop_passcode(self):
        """4: the passcode is removed; the store opens without a question"""
        for situation in SITUATIONS:
            with self.subTest(situation):
                machine = self.machine()
                before = getattr(machine, situation)()
                machine.policy(NO_PASSCODE)
                entered = self.login(machine, [*before, PASSCODE, ENTER])
                self.assertIn("Your administrator does not ask for a passcode any more.", entered.lines)
                self.assertTrue(machine.is_open)
                slots = machine.slots()
                self.assertEqual((slots.kinds, slots.pending), (["device"], (0, 0)))
                machine.lock()
                self.assertEqual(machine.daemon.unlock(None).name, "done")

    def test_drop_fingerprint(self):
        """6: the fingerprint is removed, the passcode stays; then 3 where the rules changed as well"""
        for situation in SITUATIONS:
            with self.subTest(situation):
                machine = self.machine().set_fingerprint()
                before = getattr(machine, situation)()
                machine.policy(START + "\nAllowFingerprint=no")
                self.login(machine, [*before, PASSCODE, ENTER])
                self.assertTrue(machine.is_open)
                self.assertFalse(machine.slots().fingerprint)
                self.assertTrue(machine.opens(PASSCODE))

                machine.policy(START)
                machine.lock()
                machine.set_fingerprint()
                machine.policy(STRICTER + "\nAllowFingerprint=no")
                self.login(machine, [*before, PASSCODE, ENTER, ENTER, NEW, NEW])
                self.assertFalse(machine.slots().fingerprint)
                self.assertChanged(machine)

    def test_fingerprint_stays_on(self):
        """3 with a fingerprint: it stays on"""
        machine = self.machine().set_fingerprint()
        machine.front()
        machine.policy(STRICTER)
        self.login(machine, [PASSCODE, ENTER, NEW, NEW])
        self.assertTrue(machine.slots().fingerprint)

    def test_drop_both(self):
        """7: both are removed"""
        for situation in SITUATIONS:
            with self.subTest(situation):
                machine = self.machine().set_fingerprint()
                before = getattr(machine, situation)()
                machine.policy(NO_PASSCODE)
                self.login(machine, [*before, PASSCODE, ENTER])
                slots = machine.slots()
                self.assertEqual((slots.kinds, slots.fingerprint), (["device"], False))
                self.assertTrue(machine.is_open)

    def test_login_password(self):
        """a store that follows the login password has flows 4, 6 and 7, and never 3"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        machine.way_a()
        machine.policy("MinLength=200\nExpireDays=1")
        self.assertEqual(self.login(machine, [LOGIN]).lines, [])
        self.assertTrue(machine.is_open)
        machine.lock()
        machine.set_fingerprint()
        machine.policy("AllowFingerprint=no")
        self.login(machine, [LOGIN, ENTER])
        self.assertFalse(machine.slots().fingerprint)
        machine.lock()
        machine.policy(NO_PASSCODE)
        entered = machine.enter("login", Cut([LOGIN, ENTER], 2, PAM_CONV_ERR))
        self.assertEqual(entered.code, PAM_SUCCESS)
        self.assertDue(machine, 4, passcode=LOGIN)
        self.login(machine, [LOGIN, ENTER])
        self.assertEqual(machine.slots().kinds, ["device"])
        self.assertTrue(machine.is_open)

    def test_announced_once(self):
        """5: one line, once, where lines are shown, and no question; elsewhere it waits and delays nobody"""
        for situation in SITUATIONS:
            with self.subTest(situation):
                machine = self.machine(START + "\nAllowFingerprint=no")
                answers = [*getattr(machine, situation)(), PASSCODE]
                machine.front("swaylock")
                self.assertEqual(self.login(machine, answers).lines, [])
                machine.lock()
                machine.policy(START)
                self.assertEqual(self.login(machine, [PASSCODE], service="swaylock", tty=None).lines, [])
                self.assertTrue(machine.is_open)
                machine.lock()
                entered = self.login(machine, answers)
                self.assertEqual(entered.lines, ["Your policy now allows unlocking with a fingerprint."])
                self.assertEqual(len(entered.prompts), len(answers))
                self.assertTrue(machine.is_open)
                machine.lock()
                self.assertEqual(self.login(machine, answers).lines, [])


class Create(Case):
    """Flow 1: a passcode for a store without one, once the login is confirmed."""

    def test_behind_pam_unix(self):
        """asked after pam_unix, made at setcred and not before"""
        for stack in ("way_a", "front"):
            with self.subTest(stack):
                machine = without_passcode(self)
                getattr(machine, stack)()
                with machine.login(typed=[LOGIN, ENTER, NEW, NEW]) as login:
                    self.assertEqual(login.authenticate(), PAM_SUCCESS)
                    self.assertIn(CHANGED, login.talk.lines)
                    self.assertEqual(machine.slots().kinds, ["device"])
                    self.assertEqual(login.setcred(), pamlab.PAM_SUCCESS if stack == "front" else login.result)
                slots = machine.slots()
                self.assertEqual((slots.kinds, slots.pending), (["passcode"], (0, 0)))
                self.assertTrue(machine.is_open)
                self.assertTrue(machine.opens_with(NEW))

    def test_unconfirmed(self):
        """a login that is not confirmed makes nothing"""
        machine = without_passcode(self)
        machine.way_a()
        self.assertEqual(machine.enter("login", [LOGIN, ENTER, NEW, NEW], confirm=False).code, PAM_SUCCESS)
        self.assertEqual(machine.slots().kinds, ["device"])

    def test_in_front(self):
        """an authenticator asks nothing if there is no passcode"""
        machine = without_passcode(self)
        machine.stack("login", "auth required {ours}")
        self.assertEqual(self.login(machine, [], PAM_USER_UNKNOWN).prompts, [])

    def test_shut_until_then(self):
        """nothing can be read from such a store, and only a passcode unlocks it"""
        machine = without_passcode(self)
        done = machine.appvault("get", "a")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the store needs a passcode first", done.stderr)
        done = machine.appvault("unlock", passcodes=[NEW])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.slots().kinds, ["passcode"])
        self.assertTrue(machine.is_open)

    def test_changed_meanwhile(self):
        """if the rules change before the confirmation, nothing is made, and the flow is due"""
        machine = without_passcode(self)
        machine.way_a()
        with machine.login(typed=[LOGIN, ENTER, NEW, NEW]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            machine.policy("AllowNoPasscode=no\nMinLength=30")
            login.setcred()
        self.assertEqual(machine.slots().kinds, ["device"])
        machine.policy("AllowNoPasscode=yes")
        self.login(machine, [LOGIN])


class Places(Case):
    """Places where the person cannot be asked."""

    def test_not_conversing(self):
        """the passcode is the login, the store stays locked, one line says what to do; `enforce` denies"""
        machine = self.machine(START)
        machine.front("sddm")
        machine.policy(STRICTER)
        entered = self.login(machine, [PASSCODE], service="sddm")
        self.assertEqual(entered.lines, [ELSEWHERE])
        self.assertDue(machine, 3)
        machine.behind("sddm", "enforce")
        self.login(machine, [LOGIN, PASSCODE], PAM_AUTH_ERR, service="sddm")

    def test_one_prompt(self):
        """a locker asks once and shows at most one line; one that can only show a single prompt gets no line either"""
        machine = self.machine(START)
        machine.stack("swaylock", "auth required {ours}")
        machine.policy(STRICTER)
        entered = self.login(machine, [PASSCODE], service="swaylock", tty=None)
        self.assertEqual((entered.prompts, entered.lines), (["AppVault passcode: "], [ELSEWHERE]))
        self.assertLessEqual(len(ELSEWHERE), 80)
        self.assertDue(machine, 3)
        asked = []

        def answer(ask):
            asked.append(ask.purpose)
            return PASSCODE

        with machine.daemon.client(frontEnd="pamAuth", service="login", tty="tty1", oneSecret=True) as client:
            verdict = client.run("authenticate", answer, [b""], subject=machine.daemon.person)
            self.assertEqual((verdict.outcome, verdict.code, asked, client.shown), ("success", 36, ["passcode"], []))

    def test_open_at_a_locker(self):
        """an open store stays open at a locker: nobody has refused anything"""
        machine = self.machine(START)
        machine.front()
        machine.front("swaylock")
        self.login(machine, [PASSCODE])
        machine.policy(STRICTER)
        self.assertEqual(self.login(machine, [PASSCODE], service="swaylock", tty=None).lines, [])
        self.assertTrue(machine.is_open)

    def test_silent(self):
        """a silent front end, such as sudo, gets everything as part of the questions"""
        machine = self.machine(START)
        machine.front("sudo")
        machine.policy(STRICTER)
        with machine.login("sudo", [PASSCODE, ENTER, "short", NEW, NEW]) as login:
            self.assertEqual(login.authenticate(PAM_SILENT), PAM_SUCCESS)
            login.setcred(PAM_SILENT | pamlab.PAM_ESTABLISH_CRED)
            self.assertEqual(login.talk.lines, [])
            _, notice, new, again, _ = login.talk.prompts
        self.assertIn(CHANGED, notice)
        self.assertIn("9 or more characters", new)
        self.assertIn("Please use 9 or more characters. New passcode", again)
        self.assertChanged(machine)

    def test_show_cancel(self):
        """ShowCancel: whoever can be asked is told a way out, in a demanded change always; Enter alone takes it"""
        line = "Press Enter without typing to cancel."
        for policy, shown in (("ShowCancel=yes", True), ("ShowCancel=no", False)):
            for service, tty, converses in (
                ("login", "/dev/tty1", True), ("sddm", "/dev/tty1", False), ("swaylock", None, False)):
                for stack, prompt in (
                    (["auth required {ours}"], "AppVault passcode: "),
                    (["auth [success=done default=die] {ours} or_password"], "Passcode or login password: "),
                ):
                    with self.subTest(policy=policy, service=service, prompt=prompt):
                        machine = self.machine(policy)
                        machine.stack(service, *stack)
                        entered = self.login(machine, [""], PAM_AUTH_ERR, service=service, tty=tty)
                        self.assertEqual(entered.prompts, [prompt])
                        self.assertEqual(entered.lines, [line] if shown and converses else [])
                        self.assertEqual((machine.own, machine.apart, machine.is_open), (0, 0, False))
                        machine.close()
            with self.subTest(policy=policy, due=True):
                machine = self.machine(policy)
                machine.front()
                machine.policy(policy + "\n" + STRICTER)
                lines = self.login(machine, [PASSCODE, ENTER, ""]).lines
                self.assertEqual(lines.count(line), 2 if shown else 1)
                self.assertGreater(len(lines) - lines[::-1].index(line), lines.index(CHANGED))
                self.assertDue(machine, 3)

    def test_sudo_without_a_terminal(self):
        """sudo from a script is not asked anything else"""
        machine = self.machine(START)
        machine.front("sudo")
        machine.policy(STRICTER)
        self.login(machine, [PASSCODE], service="sudo", tty=None)
        self.assertDue(machine, 3)


class Age(Case):
    def test_expired(self):
        """an expired passcode is changed, with a reason of its own; enforce denies where nobody can be asked"""
        machine = self.machine(START + "\nExpireDays=30")
        machine.front()
        age(machine, 29)
        self.assertEqual(self.login(machine, [PASSCODE]).lines, [])
        age(machine, 30.1)
        machine.behind("sddm", "enforce")
        self.login(machine, [LOGIN, PASSCODE], PAM_AUTH_ERR, service="sddm")
        self.assertDue(machine, 3, 4)
        entered = self.login(machine, [PASSCODE, ENTER, NEW, NEW])
        self.assertIn("Your passcode has expired.", entered.lines)
        self.assertChanged(machine)
        machine.lock()
        self.assertEqual(self.login(machine, [NEW]).lines, [])

    def test_clocks_that_are_not_believed(self):
        """a clock that jumped by more than a year, or shows a time before this program, expires nothing"""
        machine = self.machine(START + "\nExpireDays=30")
        machine.front()
        for days in (500, -2000, -60):
            with self.subTest(days=days):
                age(machine, days)
                self.assertEqual(self.login(machine, [PASSCODE]).lines, [])
                machine.lock()

    def test_state_none(self):
        """a store without a passcode has nothing that expires"""
        machine = Flows("ExpireDays=1")
        self.addCleanup(machine.close)
        machine.daemon.ask("create", way="noPasscode", subject=machine.daemon.person)
        machine.lock()
        age(machine, 100)
        self.assertEqual(machine.daemon.unlock(None).name, "done")


class History(Case):
    def test_former_ones_are_refused(self):
        """former passcodes are refused as long as they are remembered"""
        policy = "MinLength=8\nHistoryCount=2"
        machine = self.machine(policy, passcode="passcode one")
        machine.front()
        words = ["passcode one", "passcode two", "passcode three", "passcode four"]
        for current, new in zip(words, words[1:]):
            for former in words[: words.index(new)][-3:]:
                done = self.change(machine, current, former)
                self.assertIn(done.code, (38,) if former == current else (21,), (current, former))
                self.assertEqual(done.parameters["unmet"], "same" if former == current else "history")
            self.assertEqual(self.change(machine, current, new).name, "done")
        # Only two former ones are kept: the first is allowed again.
        self.assertEqual(self.change(machine, words[3], words[0]).name, "done")
        machine.policy("MinLength=8\nHistoryCount=0")
        self.assertEqual(self.change(machine, words[0], words[3]).name, "done")
        self.assertEqual(machine.slots().history, [])

    def change(self, machine, current, new):
        script = {"passcode": current, "newPasscode": new, "confirmPasscode": new}
        return machine.daemon.ask("passcode", lambda ask: script.get(ask.purpose), change="change")

    def test_turned_on_later(self):
        """passcodes are remembered from the first unlock on, also if the rule came later"""
        machine = self.machine(START)
        machine.front()
        machine.policy(START + "\nHistoryCount=3")
        self.login(machine, [PASSCODE])
        self.assertEqual(self.change(machine, PASSCODE, NEW).name, "done")
        self.assertEqual(self.change(machine, NEW, PASSCODE).code, 21)


class Interrupted(Case):
    """A conversation that dies, a daemon that is killed: what was begun can be completed."""

    def dies(self, work):
        """Runs `work` in an application that dies in the middle of it."""
        child = os.fork()
        if child == 0:
            try:
                work(lambda: os._exit(7))
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    @slow
    def test_application_dies(self):
        """the application dies at each question of flows 3, 4, 6 and 7: the flow is due, and the next login completes
        it"""
        cases = [
            (STRICTER, False, [ENTER, NEW, NEW], 3, ["passcode"]),
            (NO_PASSCODE, False, [ENTER], 4, ["device"]),
            (START + "\nAllowFingerprint=no", True, [ENTER], 6, ["passcode"]),
            (NO_PASSCODE, True, [ENTER], 7, ["device"]),
        ]
        for policy, finger, answers, flow, kinds in cases:
            for situation in SITUATIONS:
                machine = self.machine()
                if finger:
                    machine.set_fingerprint()
                before = [*getattr(machine, situation)(), PASSCODE]
                script = [*before, *answers]
                machine.policy(policy)
                for at in range(len(before) + 1, len(script) + 1):
                    with self.subTest(flow=flow, situation=situation, at=at):
                        machine.unmark()
                        self.dies(lambda end, at=at: machine.enter("login", Cut(script, at, end)))
                        self.assertDue(machine, flow)
                        slots = machine.slots()
                        self.assertEqual((slots.kinds, slots.fingerprint), (["passcode"], finger))
                with self.subTest(flow=flow, situation=situation):
                    self.login(machine, script)
                    self.assertTrue(machine.is_open)
                    slots = machine.slots()
                    self.assertEqual((slots.kinds, slots.fingerprint, slots.pending), (kinds, False, (0, 0)))

    def test_application_dies_in_create(self):
        """flow 1: it dies at each question, or between auth and setcred: nothing is made, and the next login asks
        again"""
        machine = without_passcode(self)
        machine.way_a()
        script = [LOGIN, ENTER, NEW, NEW]

        def unconfirmed(end):
            with machine.login(typed=script) as login:
                login.authenticate()
                end()

        deaths = [lambda end, at=at: machine.enter("login", Cut(script, at, end)) for at in range(2, 5)]
        for at, death in enumerate([*deaths, unconfirmed], 2):
            with self.subTest(at=at):
                machine.unmark()
                self.dies(death)
                self.assertDue(machine, 1, passcode=None)
                self.assertEqual(machine.slots().kinds, ["device"])
        self.login(machine, script)
        self.assertEqual(machine.slots().kinds, ["passcode"])
        self.assertTrue(machine.is_open)

    def test_killed_at_each_question(self):
        """SIGKILL of the daemon at each question: the login goes on by its own rules, and the flow is due"""
        cases = [
            (STRICTER, False, [PASSCODE, ENTER, NEW, NEW], 3),
            (NO_PASSCODE, False, [PASSCODE, ENTER], 4),
            (START + "\nAllowFingerprint=no", True, [PASSCODE, ENTER], 6),
            (NO_PASSCODE, True, [PASSCODE, ENTER], 7),
        ]
        for policy, finger, script, flow in cases:
            machine = self.machine()
            if finger:
                machine.set_fingerprint()
            machine.behind()
            machine.policy(policy)
            for at in range(2, len(script) + 1):
                with self.subTest(flow=flow, at=at):

                    def killed(answer=script[at - 1]):
                        machine.kill()
                        return answer

                    talk = Talk([LOGIN, *script[: at - 1], killed])
                    self.assertNotEqual(machine.enter("login", talk).code, PAM_SUCCESS)
                    self.assertDue(machine, flow)
            self.login(machine, [LOGIN, *script])
            self.assertTrue(machine.is_open)
            self.assertEqual(machine.slots().pending, (0, 0))

    def test_killed_before_the_confirmation(self):
        """flow 1: the daemon is killed between auth and setcred: nothing is made, and the login is not harmed"""
        machine = without_passcode(self)
        machine.way_a()
        with machine.login(typed=[LOGIN, ENTER, NEW, NEW]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            machine.kill()
            login.setcred()
        self.assertEqual(machine.slots().kinds, ["device"])
        self.login(machine, [LOGIN, ENTER, NEW, NEW])
        self.assertEqual(machine.slots().kinds, ["passcode"])


class ChangedAgain(Case):
    """The policy changes while the person is being asked, through libpam. FirstPasscodeTests.swift and DueTests.swift
    have each flow, at each question."""

    def test_create(self):
        """1: rules that became stricter hold"""
        long = "a passcode that is longer than thirty"
        machine = without_passcode(self)
        machine.way_a()

        def meanwhile():
            machine.policy("AllowNoPasscode=no\nMinLength=30")
            return NEW

        entered = self.login(machine, [LOGIN, ENTER, meanwhile, NEW, long, long])
        self.assertIn("Please use 30 or more characters.", entered.lines)
        slots = machine.slots()
        self.assertEqual((slots.kinds, slots.pending), (["passcode"], (0, 0)))
        self.assertTrue(machine.is_open)
        self.assertTrue(machine.opens(long))
        self.assertFalse(machine.opens(NEW))


if __name__ == "__main__":
    unittest.main()
