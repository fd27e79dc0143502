"""What PROTOCOL.md says in "Questions and their answers", by a front end that knows nothing else."""

import unittest

import wire
from daemonlab import PASSCODE, Daemon
from faultlab import ME

WRONG, NEW = "another passcode", "a new passcode"
POLICY = "ThrottleAfter=0\nRetryLimit=50\nOnRetryLimit=lock\n"
CANCELLED, TOO_LONG = 27, 33


class Abort:
    def __init__(self, reason="cancelled"):
        self.reason = reason


class Case(unittest.TestCase):
    def daemon(self, policy=POLICY):
        daemon = Daemon(policy=policy)
        self.addCleanup(daemon.close)
        # An export and the offer of a recovery key are for the owner alone.
        daemon.person = ME
        return daemon

    def talk(self, daemon, request, script, frontEnd="terminal", **fields):
        """Answers each question by its purpose: with a text, with bytes, with the next one of a list, or with an Abort.
        Returns the last message, the purposes that were asked for, and what was revealed."""
        left = {key: list(value) if isinstance(value, list) else [value] * 9 for key, value in script.items()}
        asked, revealed = [], []
        payloads = [b""] if request == "authenticate" else []
        with daemon.client(frontEnd=frontEnd, service="login") as client:
            client.send(request, 7, payloads, subject=daemon.person, **fields)
            while (message := client.receive(client.timeout)) is not None:
                self.assertEqual(message.tag, 7)
                if message.name == "reveal":
                    revealed.append(message.payload)
                elif message.name == "ask":
                    asked.append(message.purpose)
                    answer = left[message.purpose].pop(0)
                    if isinstance(answer, Abort):
                        client.send("abort", 7, question=message.question, reason=answer.reason)
                    else:
                        payload = answer.encode() if isinstance(answer, str) else answer
                        client.send("reply", 7, [payload], question=message.question)
                elif message.name not in ("working", "show"):
                    return message, asked, revealed
        raise AssertionError("the connection ended without an answer")

    def refused(self, message, code):
        self.assertEqual((message.name, message.code), ("refused", code), message)

    def counted(self, daemon):
        tally = daemon.tally()
        return tally.own.count + tally.apart.count + tally.recovery.count


class Acknowledge(Case):
    def test_any_reply_goes_on(self):
        """whatever its payload is; a key that was not acknowledged is withdrawn"""
        daemon = self.daemon()
        daemon.create()
        for reason in ("cancelled", "conversationFailed"):
            script = {"passcode": PASSCODE, "acknowledge": Abort(reason)}
            message, asked, revealed = self.talk(daemon, "recoveryNew", script)
            self.refused(message, CANCELLED)
            self.assertEqual((asked, len(revealed)), (["passcode", "acknowledge"], 1))
            self.assertFalse(daemon.status().hasRecoveryKey)
        for payload in (b"", b"no", b"\xff" * wire.SECRET):
            message, _, revealed = self.talk(daemon, "recoveryNew", {"passcode": PASSCODE, "acknowledge": payload})
            self.assertEqual((message.name, len(revealed[0])), ("done", 41))
            self.assertTrue(daemon.status().hasRecoveryKey)


class Choice(Case):
    def test_words(self):
        """yes and no are words of the front end's language or English ones, in either case and alone"""
        for reply, offered, key in (
            ("", True, False), ("maybe", True, False), ("y n", True, False), ("yes ", True, False),
            ("N", False, False), ("no", False, False), ("YES", False, True), ("y", False, True)):
            with self.subTest(reply):
                daemon = self.daemon()
                daemon.create()
                script = {"choice": reply, "passcode": PASSCODE, "acknowledge": ""}
                self.assertEqual(self.talk(daemon, "offerRecovery", script)[0].name, "done")
                state = daemon.status()
                self.assertEqual((state.recoveryOffer, state.hasRecoveryKey), (offered, key))

    def test_abort(self):
        """is neither of them"""
        daemon = self.daemon()
        daemon.create()
        self.refused(self.talk(daemon, "offerRecovery", {"choice": Abort()})[0], CANCELLED)
        self.assertTrue(daemon.status().recoveryOffer)


class Rounds(Case):
    def test_passcode(self):
        """asked for three times on a terminal, once elsewhere, and each answer is counted"""
        daemon = self.daemon()
        daemon.create()
        daemon.lock()
        for frontEnd, rounds in (("terminal", 3), ("program", 1)):
            before = self.counted(daemon)
            message, asked, _ = self.talk(daemon, "openStore", {"passcode": WRONG}, frontEnd)
            self.refused(message, 5)
            self.assertEqual(asked, ["passcode"] * rounds)
            self.assertEqual(self.counted(daemon) - before, rounds)
        message, asked, _ = self.talk(daemon, "openStore", {"passcode": [WRONG, WRONG, PASSCODE]})
        self.assertEqual((message.name, asked), ("done", ["passcode"] * 3))

    def test_new_passcode(self):
        """asked for three times where a person is, whether it falls short or is confirmed with another one"""
        daemon = self.daemon()
        daemon.create()
        both = ["newPasscode", "confirmPasscode"]
        for frontEnd, rounds in (("terminal", 3), ("program", 1)):
            for new, again, code, expected in (
                ("short", "", 14, ["newPasscode"] * rounds), (NEW, WRONG, 37, both * rounds)):
                script = {"passcode": PASSCODE, "newPasscode": new, "confirmPasscode": again}
                message, asked, _ = self.talk(daemon, "passcode", script, frontEnd, change="change")
                self.refused(message, code)
                self.assertEqual(asked, ["passcode", *expected])

    def test_everything_else_is_asked_once(self):
        daemon = self.daemon()
        daemon.create_with_recovery()
        for typed, code in (("no key", 41), ("", CANCELLED)):
            message, asked, _ = self.talk(daemon, "recover", {"recoveryKey": typed})
            self.refused(message, code)
            self.assertEqual(asked, ["recoveryKey"])
        phrases = {"passcode": PASSCODE, "newPassphrase": "one long phrase", "confirmPassphrase": "another long phrase"}
        message, asked, _ = self.talk(daemon, "exportBegin", phrases)
        self.refused(message, 37)
        self.assertEqual(asked, ["passcode", "newPassphrase", "confirmPassphrase"])


class Aborts(Case):
    def test_what_an_abort_ends_with(self):
        """27, or 33 for an answer that was too long; nothing is counted, and nothing has changed"""
        daemon = self.daemon()
        daemon.create_with_recovery()
        daemon.lock()
        for reason, code in (("cancelled", CANCELLED), ("conversationFailed", CANCELLED), ("answerTooLong", TOO_LONG)):
            abort = Abort(reason)
            for request, script, fields in (
                ("openStore", {"passcode": abort}, {}),
                ("recover", {"recoveryKey": abort}, {}),
                ("passcode", {"passcode": PASSCODE, "newPasscode": abort}, {"change": "change"}),
                ("passcode", {"passcode": PASSCODE, "newPasscode": NEW, "confirmPasscode": abort},
                 {"change": "change"}),
                ("exportBegin", {"passcode": PASSCODE, "newPassphrase": abort}, {})):
                daemon.lock()
                with self.subTest(request, reason=reason, script=list(script)):
                    self.refused(self.talk(daemon, request, script, **fields)[0], code)
            verdict, _, _ = self.talk(daemon, "authenticate", {"passcode": abort}, "pamAuth")
            self.assertEqual((verdict.name, verdict.code), ("verdict", code))
        self.assertEqual(self.counted(daemon), 0)
        self.assertEqual(daemon.unlock().name, "done")

    def test_an_empty_answer(self):
        """to the question for a passcode, a new one or a passphrase is an abort"""
        daemon = self.daemon()
        daemon.create()
        for request, script, fields in (
            ("openStore", {"passcode": ""}, {}),
            ("passcode", {"passcode": PASSCODE, "newPasscode": ""}, {"change": "change"}),
            ("exportBegin", {"passcode": PASSCODE, "newPassphrase": "", "confirmPassphrase": ""}, {})):
            with self.subTest(request):
                daemon.lock()
                self.refused(self.talk(daemon, request, script, **fields)[0], CANCELLED)
        self.assertEqual(self.counted(daemon), 0)

    def test_a_flow_that_is_due(self):
        """ends with 36 instead, and the store is locked, also if it was open"""
        daemon = self.daemon()
        daemon.create()
        daemon.policy(POLICY + "MinLength=9\n", reload=True)
        self.assertEqual(daemon.status().lock, "unlocked")
        for script in ({"acknowledge": Abort()}, {"acknowledge": "", "newPasscode": Abort()}):
            message, _, _ = self.talk(daemon, "openStore", {"passcode": PASSCODE, **script})
            self.refused(message, 36)
            self.assertEqual(message.parameters, {"flow": "3", "reason": "policy"})
            self.assertEqual(daemon.status().lock, "locked")


class Recover(Case):
    def test_it_leaves_the_store_as_it_was(self):
        """locked: openStore with the new passcode opens it; open: it stays open"""
        for isOpen in (False, True):
            with self.subTest(isOpen=isOpen):
                daemon = self.daemon()
                key = daemon.create_with_recovery()
                if not isOpen:
                    daemon.lock()
                before = daemon.status().lock
                script = {"recoveryKey": key, "newPasscode": NEW, "confirmPasscode": NEW}
                self.assertEqual(self.talk(daemon, "recover", script)[0].name, "done")
                self.assertEqual((before, daemon.status().lock), (("locked", "unlocked")[isOpen],) * 2)
                daemon.lock()
                self.refused(daemon.unlock(PASSCODE), 5)
                self.assertEqual(daemon.unlock(NEW).name, "done")
                self.assertEqual(daemon.status().lock, "unlocked")

    def test_cut_short(self):
        """the answer is 36, and a new passcode is due also with the former one"""
        daemon = self.daemon()
        key = daemon.create_with_recovery()
        daemon.lock()
        message, _, _ = self.talk(daemon, "recover", {"recoveryKey": key, "newPasscode": Abort()})
        self.refused(message, 36)
        self.assertEqual(message.parameters, {"flow": "3", "reason": "recovery"})
        script = {"passcode": PASSCODE, "acknowledge": "", "newPasscode": Abort()}
        self.refused(self.talk(daemon, "openStore", script)[0], 36)


if __name__ == "__main__":
    unittest.main()
