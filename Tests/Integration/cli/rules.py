"""The verbs about the rules with the real daemon: what is in force, what a candidate lacks, and
what is shown."""

import json
import os
import time
import unittest

from realcli import POLICY, SECRET, Real

RULES = POLICY + """\
MinLength=10
RequireDigit=yes
ExpireDays=90
[Texts]
create.choose=Choose well
"""
LIVE = {"NO_COLOR": "1"}


class Rules(unittest.TestCase):
    def setUp(self):
        self.lab = Real(RULES)
        self.addCleanup(self.lab.__exit__)

    def told(self, *arguments, status=0, **more):
        result = self.lab.run("--json", *arguments, **more)
        self.assertEqual(result.status, status, result)
        return json.loads(result.out)

    def write(self, text):
        """Writes as an editor does: the whole file, under another name first."""
        with open(self.lab.policy + "~", "w") as file:
            file.write(text)
        os.rename(self.lab.policy + "~", self.lab.policy)

    def wait(self, condition, *arguments):
        """Waits until the daemon has noticed the change."""
        end = time.monotonic() + 10
        while True:
            told = self.told(*arguments)
            if condition(told):
                return told
            self.assertLess(time.monotonic(), end, told)
            time.sleep(0.02)

    def test_every_value_has_its_place(self):
        told = self.told("policy", "show")
        self.assertEqual((told["mode"], told["problem"]), ("administrators", None))
        values = {value["key"]: value for value in told["values"]}
        self.assertGreater(len(values), 35)
        self.assertEqual(values["MinLength"], {
            "key": "MinLength", "value": "10", "file": self.lab.policy, "line": 5, "actedOn": True})
        self.assertEqual((values["HistoryCount"]["file"], values["HistoryCount"]["value"]), (None, "0"))
        self.assertEqual([key for key in values if not values[key]["actedOn"]], [])

    def test_a_broken_file_is_told_as_lint_tells_it_and_the_former_stays(self):
        self.write(RULES.replace("MinLength=10", "MinLength=ten"))
        told = self.wait(lambda told: told["problem"], "policy", "show")
        lint = self.lab.run("policy", "lint", self.lab.policy)
        self.assertEqual(lint.status, 1)
        self.assertEqual(lint.out.decode(), told["problem"] + "\n")
        self.assertIn({"key": "MinLength", "value": "10", "file": self.lab.policy, "line": 5, "actedOn": True},
                      told["values"])
        self.write(RULES.replace("MinLength=10", "MinLength=12"))
        told = self.wait(lambda told: not told["problem"], "policy", "show")
        self.assertIn("12", [value["value"] for value in told["values"] if value["key"] == "MinLength"])

    def test_what_is_installed_has_no_mistakes(self):
        result = self.lab.run("policy", "lint", self.lab.policy)
        self.assertEqual((result.status, result.out, result.err), (0, b"", b""))

    def test_a_candidate_is_judged_by_what_is_in_force(self):
        told = self.told("policy", "check", input=b"no number here\n", status=1)
        findings = {rule["id"]: rule["finding"] for rule in told["rules"]}
        self.assertEqual((findings["minLength"], findings["digit"], told["met"]), ("met", "unmet", False))
        # A stranger at an open session could guess with the help of these findings.
        self.assertEqual(findings["same"], "not-checked")
        self.assertTrue(self.told("policy", "check", input=b"but 1 here it is\n")["met"])
        told = self.told("policy", "check", input="\u0661\u0662\u0663 zwei drei".encode())
        self.assertTrue(told["met"], "digits of any script")

    def test_candidates_that_are_no_text_are_refused(self):
        for candidate in [b"\xff\xfe12345678\n", b"bell\x0712345678\n"]:
            result = self.lab.run("policy", "check", input=candidate)
            self.assertEqual(result.status, 1, candidate)
            self.assertFalse(self.told("policy", "check", input=candidate, status=1)["met"])
            self.assertNotIn(b"\xff", result.out + result.err)

    def test_the_list_follows_what_is_typed(self):
        with self.lab.terminal("policy", "check", env=LIVE) as screen:
            screen.expect("candidate: ")
            screen.type("correct horse ")
            screen.expect("\u2022" * 14)
            screen.type("7")
            screen.expect("\u2022" * 15)
            screen.type("\n")
            screen.expect("it meets the rules")
            self.assertEqual(screen.end(), 0)
            self.assertTrue(screen.is_restored)

    def test_texts_say_where_they_come_from(self):
        texts = {text["id"]: text for text in self.told("texts")["texts"]}
        self.assertGreater(len(texts), 100)
        self.assertEqual((texts["create.choose"]["text"].strip(), texts["create.choose"]["origin"]),
                         ("Choose well", "administrator"))
        self.assertEqual(texts["create.confirm"]["origin"], "built-in")

    def test_a_text_that_is_none_is_a_warning(self):
        with open(self.lab.policy, "a") as file:
            file.write("create.chose=Choose better\n")
        result = self.lab.run("policy", "lint", self.lab.policy)
        self.assertEqual(result.status, 0)
        self.assertIn(b"warning: ", result.out)
        self.assertIn(b"create.choose", result.out)

    def test_status_tells_age_and_end_and_actions_what_may_be_done(self):
        actions = {action["name"]: action for action in self.told("actions")["actions"]}
        self.assertTrue(actions["create-passcode"]["allowed"], actions)
        self.assertFalse(actions["change-passcode"]["allowed"], actions)
        self.assertEqual(self.lab.run("create", "--own-passcode", passcodes=[SECRET + b"7"]).status, 0)
        told = self.told("status")
        self.assertEqual(told["expiresAt"] - told["passcodeSetAt"], 90 * 86400)
        self.assertEqual((told["pending"], told["pendingReason"], told["idleTimeout"]), ([], None, 900))
        actions = {action["name"]: action for action in self.told("actions")["actions"]}
        self.assertTrue(actions["change-passcode"]["allowed"], actions)
        self.assertFalse(actions["turn-on-fingerprint"]["allowed"], actions)
        for action in actions.values():
            self.assertEqual(action["code"] == 0, action["allowed"], action)
            self.assertEqual(action["reason"] == "", action["allowed"], action)

    def test_a_change_of_the_rules_is_due_until_it_was_made(self):
        self.assertEqual(self.lab.run("create", "--own-passcode", passcodes=[SECRET + b"7"]).status, 0)
        self.write(RULES.replace("MinLength=10", "MinLength=12"))
        self.wait(lambda told: "12" in [value["value"] for value in told["values"]], "policy", "show")
        self.assertEqual(self.lab.run("lock").status, 0)
        with self.lab.terminal("unlock", env=LIVE) as screen:
            screen.expect(": ")
            screen.type(SECRET + b"7\n")
            screen.expect("[Enter]")
            screen.type(b"\x03")
            self.assertEqual(screen.end(), 130)
            self.assertIn(b"appvault: the policy has changed", screen.seen)
        told = self.told("status")
        self.assertEqual([flow["name"] for flow in told["pending"]], ["change"])
        self.assertEqual((told["pendingReason"], told["state"]), ("policy", "locked"))
        plain = self.lab.run("status")
        self.assertIn(b"due        a new passcode has to be chosen: the rules have changed\n", plain.out)
        with self.lab.terminal("unlock", env=LIVE) as screen:
            screen.expect(": ")
            screen.type(SECRET + b"7\n")
            screen.expect("[Enter]")
            screen.type(b"\n")
            # The administrator's text for one, ours for the other.
            for prompt in ["Choose well: ", "New passcode again: "]:
                screen.expect(prompt)
                screen.type(b"another long one 8\n")
            self.assertEqual(screen.end_declining(), 0, screen.seen)
        told = self.told("status")
        self.assertEqual((told["pending"], told["state"]), ([], "unlocked"))

    def test_a_preview_tells_what_then_happens(self):
        self.assertEqual(self.lab.run("create", "--own-passcode", passcodes=[SECRET + b"7"]).status, 0)
        new = os.path.join(self.lab.folder, "new.conf")
        for text, flows, certainty in [
            (RULES, [], "certain"),
            (RULES.replace("MinLength=10", "MinLength=12"), ["change"], "certain"),
            (RULES.replace("MinLength=10", "MinLength=12\nChangeOnUpdate=noncompliant"), ["change"], "if-short"),
            (RULES.replace("[Passcode]", "[Passcode]\nEnabled=no\nUseDefaultPolicy=no"), ["drop-passcode"], "certain"),
        ]:
            with open(new, "w") as file:
                file.write(text)
            with self.subTest(flows=flows, certainty=certainty):
                told = self.told("policy", "preview", new)
                self.assertEqual(told["total"], 1)
                store = told["stores"][0]
                self.assertEqual([flow["name"] for flow in store["flows"]], flows)
                if flows:
                    self.assertEqual(store["certainty"], certainty)
        with open(new, "w") as file:
            file.write("[Passcode]\nX=1\n")
        told = self.told("policy", "preview", new, status=1)
        self.assertEqual((told["name"], told["parameters"]["line"]), ("PolicyBroken", 2))
        self.assertEqual(self.told("status")["pending"], [])


if __name__ == "__main__":
    unittest.main()
