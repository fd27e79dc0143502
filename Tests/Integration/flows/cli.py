"""What the policy demands, through the command line; and the rules for a new passcode wherever
one is made."""

import threading
import unittest

import clilab
from daemonlab import answers, wait_until
from flowlab import NEW, NO_PASSCODE, Flows, age, without_passcode
from wayslab import LOGIN, PASSCODE, WRONG

TIMEOUT = 600
START = "MinLength=8"
STRICTER = "MinLength=9"
CURRENT, CHOOSE, CONFIRM = "AppVault passcode: ", "New passcode: ", "New passcode again: "
ENTER = "[Enter]"
ENTER_ALONE = ""


class Case(unittest.TestCase):
    def machine(self, policy=START, way="ownPasscode", passcode=PASSCODE, **options):
        machine = Flows(policy, **options)
        self.addCleanup(machine.close)
        return machine.create(passcode, way)

    def talk(self, screen, *steps):
        """(What the test waits for, what it types), again and again."""
        for prompt, typed in steps:
            screen.expect(prompt)
            screen.type(typed if isinstance(typed, bytes) else typed + "\n")

    def refused(self, message, code, unmet=None):
        self.assertEqual((message.name, message.code), ("refused", code), message)
        if unmet is not None:
            self.assertEqual(message.parameters["unmet"], unmet)

    def change(self, machine, current, new, **script):
        words = {"passcode": current, "newPasscode": new, "confirmPasscode": new, **script}
        return machine.daemon.ask("passcode", lambda ask: words.get(ask.purpose), change="change")


class Unlock(Case):
    def test_change(self):
        """flow 3 on a terminal: notice, Enter, rules, twice, and the store is open"""
        machine = self.machine()
        machine.policy(STRICTER)
        with machine.terminal("unlock") as screen:
            self.talk(screen, (CURRENT, PASSCODE))
            screen.expect("Your administrator has changed the rules for passcodes.")
            self.talk(screen, (ENTER, ""))
            screen.expect("9 or more characters")
            self.talk(screen, (CHOOSE, "short"))
            screen.expect("\u2717")
            screen.expect("9 or more characters")
            self.talk(screen, (CHOOSE, NEW), (CONFIRM, WRONG))
            screen.expect("The passcodes do not match.")
            self.talk(screen, (CHOOSE, NEW), (CONFIRM, NEW))
            screen.expect("Passcode successfully changed.")
            self.assertEqual(screen.end_declining(), 0)
        self.assertTrue(machine.is_open)
        self.assertTrue(machine.opens_with(NEW))

    def test_cancelled(self):
        """Ctrl-C and the end of input at every question: the store is locked, the flow is due, and the former passcode
        still opens"""
        machine = self.machine()
        machine.policy(STRICTER)
        steps = [(CURRENT, PASSCODE), (ENTER, ""), (CHOOSE, NEW), (CONFIRM, NEW)]
        for at in range(1, len(steps)):
            for how in (clilab.INTERRUPT, clilab.END_OF_FILE):
                with self.subTest(at=at, how=how), machine.terminal("unlock") as screen:
                    self.talk(screen, *steps[:at])
                    screen.expect(steps[at][0])
                    screen.type(how)
                    self.assertEqual(screen.end(), 130)
                    self.assertFalse(machine.is_open)
                    self.assertEqual(machine.slots().pending, (3, 1))
                    self.assertTrue(machine.opens(PASSCODE))

    def test_empty_answer_cancels(self):
        """only Enter at the new passcode: 36, with the flow and its reason"""
        machine = self.machine()
        machine.policy(STRICTER)
        refused = machine.daemon.ask("openStore", answers(PASSCODE, newPasscode="", acknowledge=""))
        self.refused(refused, 36)
        self.assertEqual(refused.parameters, {"flow": "3", "reason": "policy"})

    def test_told(self):
        """4, 6 and 7: a notice, Enter, and it is done"""
        for policy, finger, kinds, headline in (
            (NO_PASSCODE, False, ["device"], "does not ask for a passcode any more"),
            (START + "\nAllowFingerprint=no", True, ["passcode"], "ingerprint"),
            (NO_PASSCODE, True, ["device"], "does not ask for a passcode any more"),
        ):
            with self.subTest(policy=policy, finger=finger):
                machine = self.machine()
                if finger:
                    machine.set_fingerprint()
                machine.policy(policy)
                with machine.terminal("unlock") as screen:
                    self.talk(screen, (CURRENT, PASSCODE))
                    screen.expect(headline)
                    self.talk(screen, (ENTER, ""))
                    ended = screen.end_declining() if "passcode" in kinds else screen.end()
                    self.assertEqual(ended, 0)
                slots = machine.slots()
                self.assertEqual((slots.kinds, slots.fingerprint, slots.pending), (kinds, False, (0, 0)))
                self.assertTrue(machine.is_open)

    def test_create(self):
        """flow 1 on a terminal: notice, Enter, rules, twice; cancelled at every question it is due as before"""
        machine = without_passcode(self)
        steps = [(ENTER, ""), (CHOOSE, NEW), (CONFIRM, NEW)]
        for at in range(len(steps)):
            for how in (clilab.INTERRUPT, clilab.END_OF_FILE):
                machine.unmark()
                with self.subTest(at=at, how=how), machine.terminal("unlock") as screen:
                    self.talk(screen, *steps[:at])
                    screen.expect(steps[at][0])
                    screen.type(how)
                    self.assertEqual(screen.end(), 130)
                    self.assertFalse(machine.is_open)
                    slots = machine.slots()
                    self.assertEqual((slots.kinds, slots.pending), (["device"], (1, 1)))
        with machine.terminal("unlock") as screen:
            screen.expect("Your administrator has changed the rules for passcodes.")
            self.talk(screen, (ENTER, ""))
            screen.expect("8 or more characters")
            self.talk(screen, (CHOOSE, "short"))
            screen.expect("\u2717")
            screen.expect("8 or more characters")
            self.talk(screen, (CHOOSE, NEW), (CONFIRM, NEW))
            screen.expect("Passcode successfully created.")
            self.assertEqual(screen.end_declining(), 0)
        slots = machine.slots()
        self.assertEqual((slots.kinds, slots.pending), (["passcode"], (0, 0)))
        self.assertTrue(machine.is_open)
        self.assertTrue(machine.opens_with(NEW))

    def test_create_changed_meanwhile(self):
        """flow 1 while the policy changes: stricter rules apply, and what is no longer wanted is not asked for"""
        long = "a passcode that is longer than thirty"
        for at in range(3):
            with self.subTest(at=at):
                machine = without_passcode(self)
                steps = [(ENTER, ""), (CHOOSE, NEW), (CONFIRM, NEW)]
                with machine.terminal("unlock") as screen:
                    self.talk(screen, *steps[:at])
                    screen.expect(steps[at][0])
                    machine.policy("AllowNoPasscode=no\nMinLength=30")
                    screen.type(steps[at][1] + "\n")
                    if at == 1:
                        self.talk(screen, steps[2])
                    self.talk(screen, (CHOOSE, long), (CONFIRM, long))
                    self.assertEqual(screen.end_declining(), 0)
                self.assertTrue(machine.opens_with(long))
        machine = without_passcode(self)
        with machine.terminal("unlock") as screen:
            screen.expect(ENTER)
            machine.policy("AllowNoPasscode=yes")
            screen.type("\n")
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(CHOOSE.encode(), screen.seen)
        slots = machine.slots()
        self.assertEqual((slots.kinds, slots.pending), (["device"], (0, 0)))
        self.assertTrue(machine.is_open)

    def test_announced(self):
        """flow 5: one line, once, and nothing but the passcode is asked"""
        start = START + "\nAllowRecoveryKey=no"
        machine = self.machine(start + "\nAllowFingerprint=no")
        line = b"Your policy now allows unlocking with a fingerprint."
        for policy, told in ((start + "\nAllowFingerprint=no", False), (start, True), (start, False)):
            with self.subTest(policy=policy, told=told):
                machine.policy(policy)
                with machine.terminal("unlock") as screen:
                    self.talk(screen, (CURRENT, PASSCODE))
                    self.assertEqual(screen.end(), 0)
                    self.assertEqual(line in screen.seen, told)
                    self.assertNotIn(ENTER.encode(), screen.seen)
                self.assertTrue(machine.is_open)
                self.assertEqual(machine.slots().kinds, ["passcode"])
                machine.lock()

    def test_expired(self):
        """an expired passcode is reported as such"""
        machine = self.machine(START + "\nExpireDays=7")
        age(machine, 8)
        with machine.terminal("unlock") as screen:
            self.talk(screen, (CURRENT, PASSCODE))
            screen.expect("Your passcode has expired.")
            self.talk(screen, (ENTER, ""), (CHOOSE, NEW), (CONFIRM, NEW))
            self.assertEqual(screen.end_declining(), 0)
        self.assertTrue(machine.opens(NEW))

    def test_what_needs_the_passcode_runs_it_too(self):
        """a new recovery key needs the passcode, so what is due comes first"""
        machine = self.machine()
        machine.policy(STRICTER)
        with machine.daemon.client(frontEnd="terminal") as client:
            refused = client.run(
                "recoveryNew", answers(PASSCODE, newPasscode=None, acknowledge=""), subject=machine.daemon.person)
            self.refused(refused, 36)

    def test_change_by_oneself(self):
        """`passwd` while a change is due: no notice, and nothing is due afterwards"""
        machine = self.machine()
        machine.policy(STRICTER)
        self.assertEqual(self.change(machine, PASSCODE, NEW).name, "done")
        self.assertEqual(machine.daemon.unlock(NEW).name, "done")


class Rules(Case):
    def test_every_unmet_rule_is_told(self):
        """a refusal carries the code of the first unmet rule and the ids of all, in their order"""
        machine = self.machine()
        rules = "MinLength=12\nRequireUpper=yes\nRequireDigit=yes\nMinUniqueCharacters=8"
        machine.policy(rules + "\nChangeOnUpdate=noncompliant")
        for candidate, code, unmet in (
            ("abc", 14, "minLength digit upper unique"),
            ("abcdefghijkl", 10, "digit upper"),
            ("abcdefghijk1", 13, "upper"),
            ("AB1AB1AB1AB1", 15, "unique"),
        ):
            with self.subTest(candidate):
                self.refused(self.change(machine, PASSCODE, candidate), code, unmet)
        self.assertEqual(self.change(machine, PASSCODE, "Abcdefghijk1").name, "done")

    def test_wherever_one_is_made(self):
        """create, turning on and recovery check a passcode against the rules, too"""
        machine = Flows("RequireDigit=yes")
        self.addCleanup(machine.close)
        daemon = machine.daemon
        bad = answers("no digit here at all")
        self.refused(daemon.ask("create", bad, way="ownPasscode", subject=daemon.person), 10, "digit")
        key = daemon.create_with_recovery("1 digit here at least")
        daemon.lock()
        self.refused(daemon.ask("recover", answers("no digit here at all", recoveryKey=key)), 10, "digit")
        off = {"passcode": "1 digit here at least"}
        self.assertEqual(
            daemon.ask("passcode", lambda ask: off.get(ask.purpose), change="turnOff").name, "done")
        self.refused(daemon.ask("passcode", bad, change="turnOn"), 10, "digit")

    def test_same(self):
        """the new passcode must differ from the current one; that is said only after the current one was typed"""
        machine = self.machine()
        self.refused(self.change(machine, PASSCODE, PASSCODE), 38, "same")
        self.refused(self.change(machine, WRONG, PASSCODE), 5)

    def test_three_candidates(self):
        """three candidates where the person can be asked again, and one elsewhere"""
        machine = self.machine()
        for kind, count in (("terminal", 3), ("program", 1)):
            asked = []

            def answer(ask):
                asked.append(ask.purpose)
                return PASSCODE

            with machine.daemon.client(frontEnd=kind) as client:
                refused = client.run("passcode", answer, subject=machine.daemon.person, change="change")
            self.refused(refused, 38, "same")
            self.assertEqual(asked.count("newPasscode"), count)

    def test_ten_candidates(self):
        """rules that change again and again let nobody compare more than ten candidates with the present passcode"""
        machine = self.machine()
        machine.policy(STRICTER)
        daemon, candidates, threads = machine.daemon, [], []

        def other_rules(before, number):
            wait_until(lambda: daemon.derivations() > before, "the new passcode is set")
            machine.policy(f"MinLength={10 + number}")
            daemon.release()

        def answer(ask):
            count = len(candidates)
            if ask.purpose == "newPasscode":
                # From the tenth candidate on it is the present passcode.
                candidates.append(f"candidate number {count // 3}" if count < 9 else candidates[-1])
                return candidates[-1]
            if ask.purpose == "confirmPasscode":
                if count % 3:
                    return "something else"
                daemon.hold()
                threads.append(threading.Thread(target=other_rules, args=(daemon.derivations(), count // 3)))
                threads[-1].start()
                return candidates[-1]
            return {"passcode": PASSCODE, "acknowledge": ""}[ask.purpose]

        with daemon.client(frontEnd="terminal") as client:
            refused = client.run("openStore", answer, subject=daemon.person)
            shown = client.shown
        for thread in threads:
            thread.join()
        self.refused(refused, 36)
        self.assertEqual((len(threads), len(candidates)), (3, 11))
        self.assertEqual(sum("current passcode" in str(line) for line in shown), 1, shown)
        self.assertTrue(machine.opens("candidate number 2"))
        self.assertFalse(machine.is_open)

    def test_custom_rule_without_a_worker(self):
        """a rule that cannot run refuses a new passcode; with ChangeOnUpdate=noncompliant it demands none"""
        rule = "\n[Rule company]\nDisplay=not the company's name\nReject=acme\n"
        cheap = "[Passcode]\nDerivationMemory=19MiB\nDerivationPasses=2\n"
        machine = self.machine(cheap + START)
        machine.policy(cheap + START + "\nChangeOnUpdate=noncompliant" + rule)
        self.assertEqual(machine.daemon.unlock(PASSCODE).name, "done")
        machine.lock()
        self.refused(self.change(machine, PASSCODE, NEW), 22, "rule.company")


class Life(Case):
    def test_skipping(self):
        """only Enter goes on without a passcode, where the policy allows that, and nowhere else"""
        for policy, name in (("AllowNoPasscode=yes", "done"), ("AllowNoPasscode=no", "refused")):
            with self.subTest(policy):
                machine = Flows(policy)
                self.addCleanup(machine.close)
                with machine.daemon.client(frontEnd="terminal") as client:
                    said = client.run(
                        "create", answers("x", newPasscode=""), way="ownPasscode", subject=machine.daemon.person)
                    self.assertEqual(said.name, name)
                    skip = "Press Enter without typing to go on without a passcode."
                    self.assertEqual(skip in client.shown, name == "done")
                if name == "done":
                    self.assertEqual(machine.slots().kinds, ["device"])
                else:
                    self.refused(said, 27)

    def test_without_by_default(self):
        """NoPasscodeByDefault: a new store starts without a passcode; later it needs one where none is forbidden"""
        machine = Flows("NoPasscodeByDefault=yes")
        self.addCleanup(machine.close)
        daemon = machine.daemon
        self.assertEqual(daemon.ask("create", way="usuallyOwnPasscode").name, "done")
        self.assertEqual(machine.slots().kinds, ["device"])
        machine.lock()
        self.assertEqual(daemon.unlock(None).name, "done")
        machine.lock()
        machine.policy("NoPasscodeByDefault=yes\nAllowNoPasscode=no")
        self.refused(daemon.ask("openStore", answers(PASSCODE, newPasscode="", acknowledge="")), 36)
        self.assertEqual(daemon.ask("openStore", answers(PASSCODE, acknowledge="")).name, "done")
        self.assertEqual(machine.slots().kinds, ["passcode"])

    def test_no_passcode_mode(self):
        """no-passcode mode: create asks nothing, opening asks nothing, passcode actions answer 25"""
        machine = Flows(NO_PASSCODE)
        self.addCleanup(machine.close)
        daemon = machine.daemon
        for way in ("ownPasscode", "followLogin"):
            self.refused(daemon.ask("create", way=way), 25)
        self.assertEqual(daemon.ask("create", way="usuallyOwnPasscode").name, "done")
        machine.lock()
        self.assertEqual(daemon.unlock(None).name, "done")
        for change in ("change", "turnOn"):
            self.refused(daemon.ask("passcode", answers(PASSCODE), change=change), 25)
        machine.lock()
        machine.policy(START)
        done = daemon.ask("openStore", answers(PASSCODE, acknowledge=""))
        self.assertEqual(done.name, "done")
        self.assertEqual(machine.slots().kinds, ["passcode"])

    def test_recovery_in_no_passcode_mode(self):
        """the recovery key leads to what the policy wants: no passcode there, a new one elsewhere"""
        machine = Flows(START)
        self.addCleanup(machine.close)
        daemon = machine.daemon
        key = daemon.create_with_recovery(PASSCODE)
        daemon.lock()
        machine.policy(NO_PASSCODE)
        self.assertEqual(daemon.ask("recover", answers(recoveryKey=key, acknowledge="")).name, "done")
        self.assertEqual(machine.slots().kinds, ["device", "recovery"])

    def test_show_reset(self):
        """ShowReset: after a wrong passcode, and only there"""
        for policy, shown in (("ShowReset=yes", True), ("ShowReset=no", False)):
            with self.subTest(policy):
                machine = self.machine(policy + "\nThrottleAfter=0")
                machine.stack("login", "auth required {ours}")
                lines = machine.enter("login", [WRONG]).lines
                self.assertEqual(any("`appvault reset`" in line for line in lines), shown)
                self.assertLessEqual(len(lines), 2)
                with machine.terminal("unlock") as screen:
                    self.talk(screen, (CURRENT, WRONG))
                    before = screen.expect(CURRENT)
                    self.assertEqual(b"appvault reset" in before, shown)
                    screen.type(PASSCODE + "\n")
                    self.assertEqual(screen.end_declining(), 0)

    def test_show_cancel(self):
        """ShowCancel: a visible way out at the question, in a demanded change always"""
        for policy, shown in (("ShowCancel=yes", True), ("ShowCancel=no", False)):
            with self.subTest(policy):
                machine = self.machine(policy)
                with machine.terminal("unlock") as screen:
                    self.assertEqual(b"Press Enter without typing to cancel." in screen.expect(CURRENT), shown)
                    screen.type("\n")
                    self.assertEqual(screen.end(), 130)
                machine.policy(policy + "\nMinLength=9")
                with machine.terminal("unlock") as screen:
                    self.talk(screen, (CURRENT, PASSCODE), (ENTER, ""))
                    self.assertIn(b"Press Enter without typing to cancel.", screen.expect(CHOOSE))
                    screen.type("\n")
                    screen.end()
                self.assertFalse(machine.is_open)


    def test_opening_cancelled(self):
        """cancelled, by Ctrl-C or by only Enter: 27, and the state that follows"""
        machine = self.machine()
        for typed in (clilab.INTERRUPT, b"\n"):
            with self.subTest(typed), machine.terminal("unlock") as screen:
                self.talk(screen, (CURRENT, typed))
                screen.expect(" cancelled; the store stays locked\r\n")
                self.assertEqual(screen.end(), 130)
        self.refused(machine.daemon.ask("openStore", answers("")), 27)
        self.assertFalse(machine.is_open)


class Recovery(Case):
    def test_unfinished(self):
        """after a recovery without a new passcode the change is due, also with the former passcode"""
        machine = Flows(START)
        self.addCleanup(machine.close)
        key = machine.daemon.create_with_recovery(PASSCODE)
        machine.lock()
        for refusal, words in ((36, {"newPasscode": ""}), (14, {"newPasscode": "short"})):
            refused = machine.daemon.ask("recover", answers("", recoveryKey=key, **words))
            self.refused(refused, refusal)
            self.assertEqual(machine.slots().pending, (3, 3))
        with machine.terminal("recover") as screen:
            self.talk(screen, ("Recovery key: ", key.encode() if isinstance(key, str) else key + b"\n"))
            screen.expect(CHOOSE)
            screen.type(clilab.INTERRUPT)
            self.assertEqual(screen.end(), 130)
        status = machine.daemon.ask("status")
        self.assertEqual((status.pending, status.pendingReason), (b"\x03", "recovery"))
        machine.daemon.restart()
        machine.stack("login", "auth required {ours}")
        entered = machine.enter("login", [PASSCODE, ENTER_ALONE, ""])
        self.assertIn("Your store was opened with its recovery key.", entered.lines)
        self.assertFalse(machine.is_open)
        with machine.terminal("unlock") as screen:
            self.talk(screen, (CURRENT, PASSCODE), (ENTER, ""), (CHOOSE, NEW), (CONFIRM, NEW))
            screen.expect("Passcode successfully changed.")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(machine.daemon.ask("status").pending, b"")
        self.assertTrue(machine.opens_with(NEW))

    def test_finished(self):
        """a recovery that ends with its new passcode leaves nothing due"""
        machine = Flows(START)
        self.addCleanup(machine.close)
        key = machine.daemon.create_with_recovery(PASSCODE)
        done = machine.daemon.ask("recover", answers("", recoveryKey=key, newPasscode=NEW, confirmPasscode=NEW))
        self.assertEqual(done.name, "done")
        self.assertEqual(machine.daemon.ask("status").pending, b"")
        self.assertTrue(machine.opens_with(NEW))


class NoPasscodes(Case):
    def test_status(self):
        """in no-passcode mode `status` says that this is not recommended, with a store or without"""
        machine = Flows(NO_PASSCODE)
        self.addCleanup(machine.close)
        for _ in range(2):
            status = machine.daemon.ask("status")
            self.assertIn("not recommended", status.trouble)
            self.assertIn("UseDefaultPolicy=yes", status.advice)
            machine.daemon.ask("create", way="noPasscode")
        machine.policy(START)
        self.assertEqual(machine.daemon.ask("status").trouble, "")


class Reset(Case):
    def test_goes_on(self):
        """after a reset on a terminal the tool names the way to a new store"""
        machine = self.machine()
        with machine.terminal("reset", "--yes") as screen:
            self.talk(screen, ("passcode: ", PASSCODE))
            screen.expect("`appvault create` makes a new store\r\n")
            self.assertEqual(screen.end(), 0)


class Before(Case):
    def test_fingerprint_alone(self):
        """a store that an older release left open to a finger alone: a passcode at the next unlock, with a notice"""
        machine = Flows(START)
        self.addCleanup(machine.close)
        daemon = machine.daemon
        daemon.ask("create", way="noPasscode")
        machine.lock()
        machine.set_fingerprint()
        self.assertEqual(machine.appvault("get", "a").returncode, 1)
        refused = daemon.ask("openStore", answers(PASSCODE, newPasscode="", acknowledge=""))
        self.refused(refused, 36)
        self.assertEqual(refused.parameters, {"flow": "1", "reason": "migration"})
        slots = machine.slots()
        self.assertEqual((slots.pending, slots.fingerprint), ((1, 2), False))
        machine.kill()
        with machine.terminal("unlock") as screen:
            screen.expect("Your store has no passcode yet.")
            self.talk(screen, (ENTER, ""), (CHOOSE, NEW), (CONFIRM, NEW))
            self.assertEqual(screen.end_declining(), 0)
        slots = machine.slots()
        self.assertEqual((slots.kinds, slots.pending), (["passcode"], (0, 0)))
        self.assertTrue(machine.opens_with(NEW))

    def test_older_stores(self):
        """a store whose passcode was never judged needs no new one; rules count from the next unlock on"""
        machine = self.machine()
        machine.daemon.stop()
        slots = machine.slots()
        number = 3 if 3 in slots.blocks else 4
        payload = slots.blocks[number].payload
        slots.put(number, payload[:40] + bytes(32) + payload[72:])
        machine.daemon.start()
        machine.policy(STRICTER)
        self.assertEqual(machine.daemon.unlock(PASSCODE).name, "done")
        machine.lock()
        machine.policy("MinLength=10")
        self.refused(machine.daemon.ask("openStore", answers(PASSCODE, newPasscode="", acknowledge="")), 36)

    def test_follows_login(self):
        """resync where the policy no longer wants a passcode"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        machine.policy(NO_PASSCODE)
        script = answers("another password", former=LOGIN, acknowledge="")
        self.assertEqual(machine.daemon.ask("resync", script).name, "done")
        self.assertEqual(machine.slots().kinds, ["device"])


if __name__ == "__main__":
    unittest.main()
