"""Two people of a machine share a store, and their programs use it; the machine is turned off between every two
steps, in turn as it should be and as a power cut does it."""

import itertools
import json
import unittest

import installed
import machine
from installed import Person

TIMEOUT = 900
MISSING, LOCKED = 3, 4


class Sharing(installed.Case):
    POLICY = ""

    def setUp(self):
        self.alice, self.bob = (Person(name, machine.PASSWORDS[name]) for name in ("alice", "bob"))
        self.ways = itertools.cycle((self.machine.off, self.machine.cut))
        self.enter()

    def enter(self):
        """Both log in, which opens their stores and nothing else does."""
        for person in (self.alice, self.bob):
            self.login(person).ready()
            self.until_state(person, "unlocked")

    def reboot(self, before):
        """And both log in; before that bob's program gets this."""
        next(self.ways)()
        self.machine.boot()
        for person in (self.alice, self.bob):
            self.assertEqual(self.state(person), "locked")
        self.assertEqual(self.program(self.bob, "get --store alice/team plan")[0], before)
        self.enter()

    def program(self, person, words, stdin=""):
        """A program of theirs, without a terminal, that runs the tool."""
        return self.machine.run(f"appvault {words}", user=person.name, stdin=stdin)

    def does(self, person, words, stdin=""):
        code, said = self.program(person, words, stdin)
        self.assertEqual(code, 0, said)
        return said

    def proven(self, person, words):
        """With what opens the person's own store."""
        return self.does(person, f"--passcode-fd 3 {words} 3<&0", f"{person.password}\n")

    def members(self):
        listed = json.loads(self.does(self.alice, "members team --json"))
        return {member["name"]: member["role"] for member in listed["members"]}

    def test_shared_and_not_shared_any_more_with_a_reboot_between_every_two_steps(self):
        """made, shared, written by one's program, read by the other's, ended: the other is refused, the owner reads"""
        self.does(self.alice, "create team --shared")
        self.does(self.alice, "set --store team plan -", stdin="the otter's first plan")
        # Nobody else knows of it, nor that there is one.
        self.assertEqual(self.program(self.bob, "get --store alice/team plan")[0], MISSING)
        self.proven(self.alice, "share team bob")
        self.assertEqual(self.members(), {"alice": "owner", "bob": "writer"})

        self.reboot(LOCKED)
        self.does(self.alice, "set --store team plan -", stdin="the otter's plan")

        self.reboot(LOCKED)
        self.assertEqual(self.does(self.bob, "get --store alice/team plan"), "the otter's plan")
        self.does(self.bob, "set --store alice/team answer -", stdin="the heron's answer")

        self.reboot(LOCKED)
        self.assertEqual(self.does(self.alice, "get --store team answer"), "the heron's answer")
        self.proven(self.alice, "unshare team bob")
        self.assertEqual(self.members(), {"alice": "owner"})

        # He is still logged in, and after a reboot he has logged in again: nothing either way.
        for _ in range(2):
            for words in ("get --store alice/team plan", "list --store alice/team", "members alice/team"):
                with self.subTest(words):
                    self.assertEqual(self.program(self.bob, words)[0], MISSING)
            self.assertEqual(self.program(self.bob, "set --store alice/team plan -", "no")[0], MISSING)
            self.assertNotIn("team", self.does(self.bob, "stores"))
            self.reboot(MISSING)

        self.assertEqual(self.does(self.alice, "get --store team plan"), "the otter's plan")
        self.assertEqual(self.does(self.alice, "get --store team answer"), "the heron's answer")
        self.assertIs(json.loads(self.does(self.alice, "members team --json"))["newKeyIsDue"], False)


if __name__ == "__main__":
    unittest.main()
