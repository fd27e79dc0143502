"""Recovery keys under a policy that does not allow them, and the history that also applies after
a recovery."""

import unittest

from daemonlab import PASSCODE, answers, wait_until
from faultlab import ME, code
from policylab import PolicyLab, policy

INVALID, DENIED, REUSED = 5, 25, 21
NEXT = "another passcode"


class Recovery(unittest.TestCase):
    def lab(self, **keys):
        lab = PolicyLab(policy(**keys))
        self.addCleanup(lab.close)
        return lab

    def change(self, lab, **keys):
        """Changes the policy, and returns when it is in force."""
        lab.write(policy(**keys, ExpireDays="77"))

        def is_read():
            values = lab.ask("policyShow", subject=ME, store="").values
            return any(entry["key"] == "ExpireDays" and entry["value"] == "77" for entry in values)

        wait_until(is_read, "the policy is read")

    def recover(self, lab, key, new, store=""):
        with lab.client(frontEnd="terminal") as client:
            script = answers("", recoveryKey=key, newPasscode=new)
            return client.run("recover", script, subject=ME, store=store), client

    def test_forbidden(self):
        """an existing key opens nothing from the reload on, and opens again when it is allowed again"""
        lab = self.lab()
        key = lab.make(PASSCODE)
        lab.ask("lock", store="")
        self.change(lab, AllowRecoveryKey="no")
        answer, client = self.recover(lab, key, NEXT)
        self.assertEqual((code(answer), client.asked), (DENIED, []), answer)
        self.assertEqual(lab.state_of().lock, "locked")
        self.change(lab)
        lab.write(policy())
        wait_until(lambda: lab.state_of().trouble == "", "the policy is read")
        answer, _ = self.recover(lab, key, NEXT)
        self.assertEqual(answer.name, "done", answer)

    def test_forbidden_meanwhile(self):
        """also if it is forbidden while the key is typed"""
        lab = self.lab()
        key = lab.make(PASSCODE)

        def typed():
            self.change(lab, AllowRecoveryKey="no")
            return key

        answer, client = self.recover(lab, typed, NEXT)
        self.assertEqual((code(answer), len(client.asked)), (DENIED, 1), answer)
        self.assertEqual(lab.open(PASSCODE).name, "done")

    def test_not_as_a_former_password(self):
        """and not where a former password is asked for"""
        lab = self.lab()
        key = lab.make(PASSCODE, way="followLogin")
        self.change(lab, AllowRecoveryKey="no")
        script = answers("", loginPassword=NEXT, former=key)
        answer = lab.ask("resync", script, store="")
        self.assertEqual(code(answer), DENIED, answer)
        lab.ask("lock", store="")
        self.assertEqual(lab.open(PASSCODE).name, "done")

    def test_told(self):
        """the owner is told by status, and before that by the preview, whatever else is due"""
        lab = self.lab()
        lab.make(PASSCODE)
        self.assertEqual(lab.state_of().trouble, "")
        for keys in ({}, {"MinLength": "30"}):
            text = policy(AllowRecoveryKey="no", **keys).encode()
            stores = lab.ask("policyPreview", (), [text], subject=ME, file="").stores
            self.assertIn("recovery key", stores[0]["reason"])
            self.assertEqual(len(stores[0]["flows"]), len(keys))
        self.change(lab, AllowRecoveryKey="no")
        state = lab.state_of()
        self.assertIn("recovery key", state.trouble)
        self.assertNotEqual(state.advice, "")

    def test_way_out(self):
        """a person with a key is shown the way that loses nothing; reset is for those who have none, or may not use
        it"""
        lab = self.lab(ThrottleAfter="0")

        def way_out(store=""):
            lab.ask("lock", store=store)
            with lab.client(frontEnd="terminal") as client:
                client.run("openStore", answers(["wrong", PASSCODE]), subject=ME, store=store)
                return client.shown[-1]

        lab.make(PASSCODE)
        lab.ask("create", answers(PASSCODE), store="keyless", way="ownPasscode")
        self.assertIn("`appvault recover`", way_out())
        self.assertIn("`appvault reset`", way_out("keyless"))
        self.change(lab, ThrottleAfter="0", AllowRecoveryKey="no")
        self.assertIn("`appvault reset`", way_out())

    def test_new_key_is_said_once(self):
        """the line at the end does not repeat the one above the key"""
        lab = self.lab()
        lab.make(PASSCODE)
        with lab.client(frontEnd="terminal") as client:
            done = client.run("recoveryNew", answers(PASSCODE), subject=ME, store="")
            self.assertEqual((done.name, len(client.revealed)), ("done", 1), done)
        self.assertEqual(done.line[2], "The recovery key was made.")

    def test_history(self):
        """the present passcode and former ones do not come back with the recovery key"""
        lab = self.lab(HistoryCount="3")
        key = lab.make(PASSCODE)
        lab.ask("passcode", answers(PASSCODE, newPasscode=NEXT), store="", change="change")
        for former in (PASSCODE, NEXT):
            answer, client = self.recover(lab, key, former)
            self.assertEqual(code(answer), REUSED, answer)
            # Only after it was typed twice: the key alone must not be enough to test guesses at a
            # passcode.
            self.assertEqual([ask.purpose for ask in client.asked][:3],
                             ["recoveryKey", "newPasscode", "confirmPasscode"])
        answer, _ = self.recover(lab, key, [NEXT, "a third passcode"])
        self.assertEqual(answer.name, "done", answer)
        lab.ask("lock", store="")
        self.assertEqual(code(lab.open(NEXT)), INVALID)
        self.assertEqual(lab.open("a third passcode").name, "done")

    def test_no_history(self):
        """without a history nothing is known about them"""
        lab = self.lab()
        key = lab.make(PASSCODE)
        answer, _ = self.recover(lab, key, PASSCODE)
        self.assertEqual(answer.name, "done", answer)


if __name__ == "__main__":
    unittest.main()
