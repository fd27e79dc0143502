"""SIGKILL at random instants while a shared store gets members, loses them, gets a new key, another owner, another
recovery key: it opens for each of its members, nothing is lost, and what was begun is done or undone."""

import os
import random
import signal
import threading
import time
import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account, wait_until
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 900
KILLS = 300 if os.environ.get("APPVAULT_TESTS") == "soak" else 36
RECORDS = 300
NO_ONE = ("", wire.UNKNOWN_UID)
DOES_NOT_EXIST = 3
PEOPLE = ("alice", "bob", "carol")


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in PEOPLE:
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    def setUp(self):
        self.server = Daemon(policy="RetryLimit=0\nThrottleAfter=0\n")
        self.addCleanup(self.server.close)
        self.chance = random.Random(15)
        self.owner, self.members, self.written = "alice", {"alice", "bob", "carol"}, {}
        # Those that may be the recovery key, and who made them: after a kill the former one or the new one.
        self.keys = []
        for who in PEOPLE:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        # By one child, and not one for each.
        self.assertEqual(as_uid(self.people["alice"][1], self.fill), RECORDS)
        for who in ("bob", "carol"):
            self.done("alice", "share", answers(PASSCODE), store="team", kind="person", name=self.name(who),
                      role="writer")

    def fill(self):
        with self.server.client() as client:
            return sum(client.run("set", (), [b"%d" % number], store="team", name=f"k{number}").name == "done"
                       for number in range(RECORDS))

    def name(self, who):
        return self.people[who][0]

    def team(self, who):
        return "team" if who == self.owner else f"{self.name(self.owner)}/team"

    def ask(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields["subject"] = NO_ONE
        return as_uid(self.people[who][1], lambda: self.server.ask(request, script, payloads, **fields))

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def new_key(self):
        """The recovery key that was shown, and whether the answer came."""
        def make():
            shown = []
            try:
                with self.server.client(frontEnd="terminal") as client:
                    client.revealed = shown
                    answer = client.run("recoveryNew", answers(PASSCODE), subject=NO_ONE, store="team")
                    return [bytes(key) for key in shown], answer is not None and answer.name == "done"
            except (OSError, wire.WireError):
                return [bytes(key) for key in shown], False
        return as_uid(self.people[self.owner][1], make)

    def attempt(self, who, request, **fields):
        """Whether it is done; not if the kill came first."""
        try:
            answer = self.ask(who, request, answers(PASSCODE), kind="person", **fields)
        except AssertionError:
            # What the child has not got.
            answer = None
        if answer is None:
            return False
        self.assertEqual(answer.name, "done", answer)
        return True

    # one act each, which a kill may cut short; whether it was done

    def share(self):
        whom = self.chance.choice([who for who in PEOPLE if who != self.owner])
        role = self.chance.choice(("writer", "reader"))
        self.uncertain = {whom} - self.members
        if not self.attempt(self.owner, "share", store="team", name=self.name(whom), role=role):
            return False
        self.members.add(whom)
        self.uncertain = set()
        return True

    def unshare(self):
        whom = self.chance.choice([who for who in PEOPLE if who != self.owner])
        if whom not in self.members:
            return self.share()
        by = self.chance.choice((self.owner, whom))
        self.uncertain = {whom}
        if not self.attempt(by, "unshare", store=self.team(by), name=self.name(whom)):
            return False
        self.members.discard(whom)
        self.uncertain = set()
        return True

    def hand_on(self):
        others = sorted(self.members - {self.owner})
        if not others:
            return self.share()
        whom = self.chance.choice(others)
        for who in (self.owner, whom):
            if not self.attempt(who, "share", store=self.team(who), name=self.name(whom), role="owner"):
                return False
        self.owner = whom
        return True

    def recovery(self):
        shown, is_certain = self.new_key()
        made = [(key, self.owner) for key in shown]
        self.keys = made if is_certain else self.keys + made
        return is_certain

    # afterwards

    def owners(self):
        return [who for who in PEOPLE
                if any(each["name"] == "team" and each["role"] == "owner" and each["owner.name"] == self.name(who)
                       for each in self.done(who, "stores").stores)]

    def check(self):
        order = self.chance.sample(PEOPLE, len(PEOPLE))
        for who in order:
            self.done(who, "openStore", answers(PASSCODE))
        (self.owner,) = self.owners()
        listed = {each["name"]: each for each in self.done(self.owner, "members", store="team").members}
        found = {who for who in PEOPLE if self.name(who) in listed}
        self.assertEqual(found - self.uncertain, self.members - self.uncertain)
        self.members = found
        self.assertIn(self.owner, self.members)
        # It goes with whoever has made it, who has written it down. Cut short, it may have gone before them.
        if not {maker for _, maker in self.keys} <= self.members - self.uncertain:
            self.keys = []
        if self.keys:
            self.assertTrue(self.done(self.owner, "status", store="team").hasRecoveryKey)
        for who in order:
            if who not in self.members:
                answer = self.ask(who, "get", store=self.team(who), name="k0")
                self.assertEqual((answer.name, answer.code), ("refused", DOES_NOT_EXIST))
                continue
            for number in (0, RECORDS // 2, RECORDS - 1):
                self.assertEqual(self.done(who, "get", store=self.team(who), name=f"k{number}").payload, b"%d" % number)
        for name, value in self.written.items():
            self.assertEqual(self.done(self.owner, "get", store="team", name=name).payload, value)
        wait_until(lambda: not self.done(self.owner, "members", store="team").newKeyIsDue, "the new key", 60)

    def write(self, number):
        name, value = f"w{number % 10}", b"%d" % number
        self.done(self.owner, "set", payloads=[value], store="team", name=name)
        self.written[name] = value

    @slow
    def test_killed_at_random(self):
        acts = (self.share, self.unshare, self.unshare, self.hand_on, self.recovery)
        longest, cut = {act.__name__: 0.1 for act in acts}, 0
        for number in range(KILLS):
            with self.subTest(kill=number):
                self.write(number)
                self.uncertain = set()
                act = self.chance.choice(acts)
                delay = self.chance.uniform(0, 1.5 * longest[act.__name__])
                killer = threading.Timer(delay, self.server.kill)
                began = time.monotonic()
                killer.start()
                try:
                    if act():
                        # How long it takes on this machine: most kills come within it.
                        longest[act.__name__] = max(longest[act.__name__], time.monotonic() - began)
                    else:
                        cut += 1
                finally:
                    killer.join()
                if self.server.is_running:
                    self.server.kill()
                self.server.start()
                self.check()
        print(f"        {cut} of {KILLS} acts were cut short", flush=True)
        self.recovered()

    def recovered(self):
        """The owner's store is lost, and a recovery key that may be the right one is."""
        if not self.keys:
            self.assertTrue(self.recovery())
        self.done(self.owner, "reset", answers(PASSCODE))
        self.done(self.owner, "create", answers(PASSCODE), way="ownPasscode")
        for who in self.members - {self.owner}:
            self.done(who, "lock")
        tried = [
            self.ask(self.owner, "recover", answers("", recoveryKey=key), store="team").name for key, _ in self.keys]
        self.assertIn("done", tried)
        self.assertEqual(self.done(self.owner, "get", store="team", name="k0").payload, b"0")
        self.server.restart(signal.SIGKILL)
        self.done(self.owner, "openStore", answers(PASSCODE))
        self.assertEqual(self.done(self.owner, "get", store="team", name="k0").payload, b"0")


if __name__ == "__main__":
    unittest.main()
