"""Which actions are possible with a store: the list, and the same when they are performed."""

import types
import unittest

from daemonlab import IS_ROOT, PASSCODE, answers, as_uid, wait_until
from faultlab import ME, code
from policylab import PolicyLab, policy
from slow import slow

ALL = [
    "create-passcode", "change-passcode", "turn-off-passcode", "turn-on-fingerprint", "turn-off-fingerprint", "lock",
    "reset", "new-recovery-key",
]
# What performs an action, and the codes of refusals that come from the store and not from the
# action.
PERFORMED = {
    "create-passcode": ("passcode", {"change": "turnOn"}),
    "change-passcode": ("passcode", {"change": "change"}),
    "turn-off-passcode": ("passcode", {"change": "turnOff"}),
    "turn-on-fingerprint": ("fingerprintEnroll", {"finger": "unnamed"}),
    "turn-off-fingerprint": ("fingerprintSwitch", {"on": False}),
    "lock": ("lock", {}),
    "reset": ("reset", {}),
    "new-recovery-key": ("recoveryNew", {}),
}
INVALID, DENIED, ABSENT, ERASED, LIMIT, BROKEN = 26, 25, 3, 16, 23, 42
CANCELLED, CHANGE_REQUIRED = 27, 36
POLICIES = {
    "the built-in one": {},
    "no way without": {"AllowNoPasscode": "no"},
    "no recovery key": {"AllowRecoveryKey": "no"},
    "no fingerprint": {"AllowFingerprint": "no"},
    "no passcodes at all": {"Enabled": "no", "UseDefaultPolicy": "no"},
}


class Actions(unittest.TestCase):
    def lab(self, text=None):
        lab = PolicyLab(text)
        self.addCleanup(lab.close)
        return lab

    def listed(self, lab, subject=None, store=""):
        answer = lab.ask("actions", subject=subject or ME, store=store)
        self.assertEqual(answer.name, "actionList", answer)
        found = {entry["name"]: types.SimpleNamespace(**entry) for entry in answer.actions}
        self.assertEqual(list(found), ALL)
        for entry in found.values():
            self.assertEqual(entry.allowed, entry.code == 0 and entry.reason == "", entry)
        return found

    def make(self, lab, state):
        if state == "absent":
            return
        way = {"without": "noPasscode", "follows": "followLogin"}.get(state, "ownPasscode")
        answer = lab.ask("create", answers(PASSCODE), store="", way=way)
        self.assertEqual(answer.name, "done", answer)
        if state in ("erased", "retry-locked"):
            lab.write(policy(RetryLimit="1", OnRetryLimit="erase" if state == "erased" else "lock"))
            wait_until(lambda: lab.state_of().ownTriesLeft == 1, "the policy is read")
            lab.ask("lock", store="")
            verdict = lab.authenticate("wrong")
            self.assertEqual(verdict.code, LIMIT, verdict)

    @slow
    def test_states_and_policies(self):
        """in every state, under every policy: a refused action answers what the list says, and an allowed one begins"""
        for state in ("absent", "without", "own", "follows", "erased", "retry-locked"):
            for name, keys in POLICIES.items():
                with self.subTest(state=state, policy=name):
                    lab = self.lab(policy())
                    try:
                        self.make(lab, state)
                        limit = {"RetryLimit": "1", "OnRetryLimit": "lock"} if state == "retry-locked" else {}
                        lab.write(policy(**keys, **limit, ExpireDays="77"))
                        self.is_read(lab, "77")
                        self.compare(lab, state, keys, self.listed(lab))
                    finally:
                        lab.close()

    def is_read(self, lab, days):
        def value():
            answer = lab.ask("policyShow", subject=ME, store="")
            return next(entry for entry in answer.values if entry["key"] == "ExpireDays")["value"]

        # In no-passcode mode the value of the default policy is shown.
        end = {"0", days}
        wait_until(lambda: value() in end and "the policy was read" in lab.log(), "the policy is read")

    def begun(self, action, state, keys):
        """How an allowed action ends when its first question is cancelled."""
        if action != "new-recovery-key" or state != "without":
            return CANCELLED
        # A passcode that does not exist is not asked for; but the policy may demand one first.
        return CHANGE_REQUIRED if keys.get("AllowNoPasscode") == "no" else 0

    def finger(self, state, keys):
        """This machine has no reader, so every action with a finger is refused."""
        of_store = {"absent": ABSENT, "erased": ERASED, "retry-locked": LIMIT}
        if state in of_store:
            return of_store[state]
        return DENIED if keys.get("UseDefaultPolicy") == "no" else INVALID

    def compare(self, lab, state, keys, listed):
        """Performs what is refused, and asks for what is allowed without going through with it."""
        for action, verb in (("turn-on-fingerprint", "enroll"), ("turn-off-fingerprint", "off")):
            said = (listed[action].code, listed[action].verb)
            self.assertEqual(said, (self.finger(state, keys), f"appvault fingerprint {verb}"), action)
        for action, (request, fields) in PERFORMED.items():
            if action == "create-passcode" and state == "absent":
                request, fields = "create", {"way": "ownPasscode"}
            if action in ("lock", "reset") and listed[action].allowed:
                continue
            before = lab.state_of().lock
            with lab.client(frontEnd="terminal") as client:
                answer = client.run(request, lambda _: None, subject=ME, store="", **fields)
            if listed[action].allowed:
                self.assertEqual(code(answer), self.begun(action, state, keys), f"{action}: {answer}")
            else:
                self.assertEqual(code(answer), listed[action].code, f"{action}: {answer}")
                self.assertEqual(client.asked, [], action)
            self.assertIn(lab.state_of().lock, (before, "locked"))

    def test_codes(self):
        """why, by code and reason, and what to type"""
        lab = self.lab(policy())
        found = self.listed(lab)
        self.assertTrue(found["create-passcode"].allowed)
        self.assertEqual(found["create-passcode"].verb, "appvault create")
        self.assertEqual({entry.code for name, entry in found.items() if name != "create-passcode"}, {ABSENT})
        lab.make(PASSCODE)
        found = self.listed(lab)
        self.assertEqual(found["create-passcode"].code, INVALID)
        for name, verb in {
            "change-passcode": "appvault passwd", "turn-off-passcode": "appvault passwd --off", "lock": "appvault lock",
            "reset": "appvault reset", "new-recovery-key": "appvault recovery new",
        }.items():
            self.assertTrue(found[name].allowed, name)
            self.assertEqual(found[name].verb, verb)
        self.assertEqual(found["turn-on-fingerprint"].code, INVALID)
        self.assertEqual(found["turn-on-fingerprint"].reason, "there is no reader")

    def test_no_passcode_mode(self):
        """in no-passcode mode passcode actions answer 25"""
        lab = self.lab(policy())
        lab.make(PASSCODE)
        lab.write(policy(Enabled="no", UseDefaultPolicy="no"))
        wait_until(lambda: self.listed(lab)["change-passcode"].code == DENIED, "the policy is read")
        found = self.listed(lab)
        self.assertEqual({found[name].code for name in ALL[:5]}, {DENIED})
        self.assertTrue(found["lock"].allowed)

    def test_broken(self):
        """with a policy that was never good nothing is created or changed: 42"""
        lab = self.lab("[Passcode]\nMinLength=many\n")
        self.assertEqual(self.listed(lab)["create-passcode"].code, BROKEN)
        # What it would demand of an application nobody knows: so it is the most.
        self.assertEqual(lab.ask("appRules", store="", id="mail", demand="open").demand, "passcode")

    @unittest.skipUnless(IS_ROOT, "acts for others")
    def test_others(self):
        """root asks about anybody, with the verb for them; nobody else does"""
        lab = self.lab(policy())
        person = ("somebody", 40009)
        answer = lab.ask("create", answers(PASSCODE), subject=person, store="", way="ownPasscode")
        self.assertEqual(answer.name, "done", answer)
        self.assertEqual(self.listed(lab, person)["reset"].verb, "appvault reset --user somebody")
        self.assertEqual(as_uid(1, lambda: lab.ask("actions", subject=person, store="").code), 30)


if __name__ == "__main__":
    unittest.main()
