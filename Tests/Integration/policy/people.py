"""Whose policy applies: sections by user, group and store; and a directory service that does not
answer for groups."""

import os
import threading
import types
import unittest

from daemonlab import IS_ROOT, PASSCODE, answers, wait_until
from faultlab import ME, code
from patience import Stopwatch
from policylab import PolicyLab, policy
from slow import slow

NAME = ME[0]
NOT_ALLOWED, UNAVAILABLE, UNDER_MIN_LENGTH = 26, 31, 14
GROUPS = policy(MinLength="10") + "[Passcode group:staff]\nMinLength=20\n[Passcode group:guests]\nMinLength=6\n"


class People(unittest.TestCase):
    def lab(self, text, **settings):
        lab = PolicyLab(text, **settings)
        self.addCleanup(lab.close)
        return lab

    def shown(self, lab, key="MinLength", subject=None, store=""):
        answer = lab.ask("policyShow", store=store, subject=subject or ME)
        self.assertEqual(answer.name, "policyValues", answer)
        return next(types.SimpleNamespace(**value) for value in answer.values if value["key"] == key)

    def minimum(self, lab, **about):
        return int(self.shown(lab, **about).value)

    def becomes(self, lab, minimum, **about):
        wait_until(lambda: self.minimum(lab, **about) == minimum, f"MinLength is {minimum}", 10)

    @unittest.skipUnless(IS_ROOT, "acts for others")
    def test_sections(self):
        """user before group before everybody, and each value says where it comes from"""
        lab = self.lab(GROUPS + f"[Passcode user:{NAME}]\nRetryLimit=9\n")
        lab.groups(**{NAME: ["staff", "other"], "guest": ["guests"]})
        self.assertEqual(self.minimum(lab), 20)
        self.assertEqual(self.shown(lab, "RetryLimit").value, "9")
        self.assertEqual(self.minimum(lab, subject=("guest", 40001)), 6)
        self.assertEqual(self.minimum(lab, subject=("nobody at all", 40002)), 10)
        value = self.shown(lab)
        file = os.path.join(lab.config, "policy.conf")
        self.assertEqual(value.file, file)
        with open(file, encoding="utf-8") as text:
            self.assertEqual(text.read().splitlines()[value.line - 1], "MinLength=20")
        built_in = self.shown(lab, "ExpireDays")
        self.assertEqual((built_in.file, built_in.line, built_in.value), ("", 0, "0"))

    def test_asked_seldom(self):
        """groups are looked up once a minute per person, and again after a policy was read"""
        lab = self.lab(GROUPS)
        lab.groups(**{NAME: ["staff"]})
        self.assertEqual(self.minimum(lab), 20)
        lab.groups(**{NAME: ["guests"]})
        self.assertEqual(self.minimum(lab), 20)
        lab.sleep(61)
        self.assertEqual(self.minimum(lab), 6)
        lab.groups(**{NAME: ["staff"]})
        lab.write(GROUPS + "# read anew\n")
        self.becomes(lab, 20)

    def test_no_groups_no_question(self):
        """if no section is for a group nothing is looked up, and nobody waits"""
        lab = self.lab(policy(MinLength="10"))
        lab.hang()
        stopwatch = Stopwatch()
        self.assertEqual(self.minimum(lab), 10)
        stopwatch.assert_within(1)

    def test_application(self):
        """where groups are not known nobody knows what an application's sections demand: it is not started"""
        lab = self.lab(GROUPS + "[App mail group:staff]\nRequire=passcode\n")
        lab.groups(**{NAME: ["staff"]})

        def demand(id="mail"):
            answer = lab.ask("appRules", store="", id=id, demand="open")
            return answer.demand if answer.name == "appPolicy" else code(answer)

        self.assertEqual((demand(), demand("other")), ("passcode", "open"))
        # What was known before does not count: another daemon has never asked.
        lab.hang()
        lab.restart()
        self.assertEqual(demand(), UNAVAILABLE)
        answer = lab.ask("appOpen", answers("correct horse battery staple"), store="", id="mail", demand="open")
        self.assertEqual(code(answer), UNAVAILABLE)
        lab.release_groups()
        wait_until(lambda: demand() == "passcode", "the groups are known again", 60)

    @unittest.skipUnless(IS_ROOT, "acts for others")
    def test_silent(self):
        """no answer: the person's last policy stays, after two seconds of waiting, and other people go on"""
        lab = self.lab(GROUPS)
        lab.groups(**{NAME: ["staff"], "other": ["guests"]})
        lab.make("correct horse battery staple")
        self.assertEqual(self.minimum(lab), 20)
        lab.hang()
        lab.write(GROUPS.replace("MinLength=20", "MinLength=3"))
        wait_until(lambda: "the policy was read" in lab.log(), "the policy is read")
        took = []

        def ask():
            stopwatch = Stopwatch()
            self.assertEqual(self.minimum(lab), 20)
            took.append(stopwatch.stop())

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        # Requests for records do not need the groups.
        others = []
        while any(thread.is_alive() for thread in threads):
            stopwatch = Stopwatch()
            self.assertEqual(lab.set("a", b"1").name, "done")
            others.append(stopwatch.stop())
        for thread in threads:
            thread.join()
        self.assertEqual(len(took), 20)
        for stopwatch in took:
            stopwatch.assert_within(2.6)
        max(others, key=lambda each: each.seconds).assert_within(1)
        # Nobody waits again for a look-up that has just not answered.
        stopwatch = Stopwatch()
        self.assertEqual(self.minimum(lab), 20)
        stopwatch.assert_within(1)
        # Never the policy of another person, and never the laxer one of a person in no group.
        self.assertEqual(self.minimum(lab, subject=("other", 40003)), 10)
        # A late answer counts.
        lab.release_groups()
        self.becomes(lab, 3)

    @slow
    def test_silent_over_a_restart(self):
        """the known groups of a person with a store survive the daemon"""
        lab = self.lab(GROUPS)
        lab.groups(**{NAME: ["staff"]})
        lab.make("correct horse battery staple")
        self.assertEqual(self.minimum(lab), 20)
        kept = os.path.join(lab.state, "groups", str(ME[1]))
        wait_until(lambda: os.path.exists(kept), "the groups are kept")
        self.assertEqual(os.stat(kept).st_mode & 0o777, 0o600)
        lab.hang()
        for end in (lab.stop, lab.kill):
            end()
            lab.start()
            self.assertEqual(self.minimum(lab), 20)
        # Another account with the same uid is another person.
        with open(kept, encoding="utf-8") as file:
            text = file.read()
        lab.stop()
        with open(kept, "w", encoding="utf-8") as file:
            file.write(text.replace(NAME, "somebody"))
        lab.start()
        self.assertEqual(self.minimum(lab), 10)
        # The file was cut short by a full disk.
        lab.stop()
        with open(kept, "w", encoding="utf-8") as file:
            file.write(text[:-3])
        lab.start()
        self.assertEqual(self.minimum(lab), 10)

    def test_gone_over_a_restart(self):
        """if the directory service knows no such account after a restart, nobody loses their groups"""
        lab = self.lab(policy(MinLength="10") + "[Passcode group:staff]\nMinLength=20\nAllowNoPasscode=no\n")
        lab.groups(**{NAME: ["staff"]})
        lab.make("correct horse battery staple")
        kept = os.path.join(lab.state, "groups", str(ME[1]))
        wait_until(lambda: os.path.exists(kept), "the groups are kept")
        with open(kept, "rb") as file:
            text = file.read()
        lab.groups()
        for _ in range(2):
            lab.stop()
            lab.start()
            self.assertEqual(self.minimum(lab), 20)
            off = lab.ask("passcode", {}, change="turnOff", store="")
            self.assertEqual(code(off), NOT_ALLOWED, off)
            # An answer of the store, after which everything is written.
            lab.open("correct horse battery staple")
        with open(kept, "rb") as file:
            self.assertEqual(file.read(), text)
        # A person who is found again is in the groups that the answer names.
        lab.groups(**{NAME: ["guests"]})
        lab.sleep(61)
        self.assertEqual(self.minimum(lab), 10)

    def test_only_at_the_front_end(self):
        """an account that the directory service never knew is in no group, and that is not written down"""
        lab = self.lab(GROUPS)
        lab.groups()
        lab.make("correct horse battery staple")
        self.assertEqual(self.minimum(lab), 10)
        self.assertEqual(lab.ask("policyShow", store="").problem, "")
        lab.stop()
        kept = os.path.join(lab.state, "groups", str(ME[1]))
        self.assertFalse(os.path.exists(kept))
        lab.start()
        lab.groups(**{NAME: ["staff"]})
        self.assertEqual(self.minimum(lab), 20)
        wait_until(lambda: os.path.exists(kept), "the groups are kept")

    def test_never_known(self):
        """a person who was never known opens a store, and can make or change none"""
        lab = self.lab(policy(MinLength="10"))
        lab.make(PASSCODE)
        lab.stop()
        lab.hang()
        lab.write(GROUPS)
        lab.start()
        self.assertEqual(lab.open(PASSCODE).name, "done")
        problem = lab.ask("policyShow", store="").problem
        self.assertIn("groups", problem)
        answer = lab.ask("create", {}, store="second", way="ownPasscode")
        self.assertEqual(code(answer), UNAVAILABLE, answer)
        answer = lab.ask("passcode", {}, change="change", store="")
        self.assertEqual(code(answer), UNAVAILABLE, answer)


class Check(unittest.TestCase):
    def check(self, lab, candidate, **fields):
        answer = lab.ask("policyCheck", (), [candidate], store="", **fields)
        self.assertEqual(answer.name, "checklist", answer)
        return {entry["id"]: types.SimpleNamespace(**entry) for entry in answer.entries}

    def test_checklist(self):
        """every rule, in order, met, unmet or not checked with its reason"""
        lab = PolicyLab(policy(MinLength="12", RequireDigit="yes", HistoryCount="3"))
        self.addCleanup(lab.close)
        found = self.check(lab, "short")
        self.assertEqual(list(found), ["minLength", "digit", "same", "history"])
        self.assertEqual([entry.finding for entry in found.values()], ["unmet", "unmet", "notChecked", "notChecked"])
        self.assertIn("12", found["minLength"].wants)
        self.assertTrue(found["same"].reason)
        found = self.check(lab, "long enough 4 all")
        self.assertEqual([entry.finding for entry in found.values()][:2], ["satisfied", "satisfied"])
        for odd in ("", b"\xff\xfe", "a\x01b"):
            with self.subTest(odd=odd):
                found = self.check(lab, odd)
                self.assertEqual({entry.finding for entry in found.values()}, {"notChecked"})
                self.assertTrue(all(entry.reason for entry in found.values()))

    def test_no_oracle(self):
        """same and history say nothing outside a change, so nobody can use them to find the present passcode"""
        lab = PolicyLab(policy(MinLength="4", HistoryCount="3"))
        self.addCleanup(lab.close)
        lab.make(PASSCODE)
        before, derivations = lab.tally().counts(), lab.derivations()
        right, wrong = self.check(lab, PASSCODE), self.check(lab, "another thing")
        self.assertEqual([repr(entry) for entry in right.values()], [repr(entry) for entry in wrong.values()])
        self.assertEqual((lab.tally().counts(), lab.derivations()), (before, derivations))


if __name__ == "__main__":
    unittest.main()
