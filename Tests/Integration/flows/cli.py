"""What the policy demands, through the command line. RulesTests.swift has the rules for a new passcode, wherever one is
made, and FirstPasscodeTests.swift and DueTests.swift each flow while the policy changes."""

import threading
import unittest

import clilab
from daemonlab import answers, wait_until
from flowlab import NEW, NO_PASSCODE, Flows, age, without_passcode
from wayslab import PASSCODE, WRONG

TIMEOUT = 600
START = "MinLength=8"
STRICTER = "MinLength=9"
CURRENT, CHOOSE, CONFIRM = "AppVault passcode: ", "New passcode: ", "New passcode again: "
ENTER = "[Enter]"
ENTER_ALONE = ""


class Case(unittest.TestCase):
    def machine(self, policy=START):
        machine = Flows(policy)
        self.addCleanup(machine.close)
        return machine.create(PASSCODE, "ownPasscode")

    def talk(self, screen, *steps):
        """(What the test waits for, what it types), again and again."""
        for prompt, typed in steps:
            screen.expect(prompt)
            screen.type(typed if isinstance(typed, bytes) else typed + "\n")

    def refused(self, message, code):
        self.assertEqual((message.name, message.code), ("refused", code), message)


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


class Rules(Case):
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


class Life(Case):
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


if __name__ == "__main__":
    unittest.main()
