"""A member is added, removed and added again while others read and write, and while that member does, too."""

import os
import threading
import time
import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 240
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
NO_ONE = ("", wire.UNKNOWN_UID)
ROUNDS = 60 if os.environ.get("APPVAULT_TESTS") == "soak" else 6
# Enough that a new key takes a while, and more than one piece of it.
RECORDS = 500
DOES_NOT_EXIST, LOCKED = 3, 6


class Comings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob", "carol", "dave"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    def setUp(self):
        self.server = Daemon(policy=POLICY)
        self.addCleanup(self.server.close)
        self.alice = self.connect("alice")
        for who in self.people:
            self.done(self.connect(who), "create", answers(PASSCODE), way="ownPasscode")
        self.done(self.alice, "create", store="team", way="shared")
        for number in range(RECORDS):
            self.done(self.alice, "set", payloads=[self.value(number)], store="team", name=f"k{number}")
        self.share("carol", "writer")
        self.share("dave", "reader")
        self.over, self.faults, self.counts = threading.Event(), [], {}
        # Whether bob is a member: "in" or "out" and the round, or None while that changes.
        self.bob = None

    def connect(self, who):
        client = as_uid_connection(self.people[who][1], self.server)
        self.addCleanup(client.close)
        return client

    def done(self, client, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        answer = client.run(request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def share(self, whom, role):
        self.done(self.alice, "share", answers(PASSCODE), store="team", kind="person", name=self.people[whom][0],
                  role=role)

    def unshare(self, whom):
        self.done(self.alice, "unshare", answers(PASSCODE), store="team", kind="person", name=self.people[whom][0])

    def team(self, who):
        return "team" if who == "alice" else f"{self.people['alice'][0]}/team"

    @staticmethod
    def value(number):
        return b"%d." % number * 20

    def until_over(self, work):
        """In a thread of its own, again and again; a sentence that it returns is a fault."""
        def run():
            number = 0
            while not self.over.is_set():
                try:
                    fault = work(number)
                except Exception as error:
                    fault = repr(error)
                if fault:
                    self.faults.append(fault)
                    return
                number += 1
            self.counts[work] = number

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def writer(self, who, label):
        client, store = self.connect(who), self.team(who)
        self.stored[label] = kept = {}

        def work(number):
            name, value = f"{label} {number % 20}", b"%d" % number
            answer = client.run("set", (), [value], store=store, name=name)
            if answer.name != "done":
                return f"{who} sets: {answer}"
            kept[name] = value
            answer = client.run("get", store=store, name=name)
            if answer.name != "value" or answer.payload != value:
                return f"{who} reads what was set: {answer}"
        return work

    def reader(self, who):
        client, store = self.connect(who), self.team(who)

        def work(number):
            number = number * 37 % RECORDS
            answer = client.run("get", store=store, name=f"k{number}")
            if answer.name != "value" or answer.payload != self.value(number):
                return f"{who} reads k{number}: {answer}"
        return work

    def victim(self, request):
        """Bob asks all the time. What is asked and answered while he is a member is done, what while he is none is
        refused as to a stranger."""
        client = self.connect("bob")

        def work(number):
            before = self.bob
            if request == "get":
                answer = client.run("get", store=self.team("bob"), name="k7")
            else:
                answer = client.run("set", (), [b"%d" % number], store=self.team("bob"), name="bob's")
            if self.bob != before or before is None:
                return None
            if before[0] == "in" and answer.name == "refused":
                return f"bob, a member, {request}: {answer}"
            if before[0] == "out" and (answer.name != "refused" or answer.code != DOES_NOT_EXIST):
                return f"bob, no member, {request}: {answer}"
        return work

    def exports(self):
        """Bob's export, of which one piece is on its way."""
        client = self.connect("bob")
        script = answers(PASSCODE, newPassphrase="a phrase of its own")
        self.assertEqual(
            client.run("exportBegin", script, subject=NO_ONE, store=self.team("bob")).name, "chunk")
        return client

    @slow
    def test_who_is_no_member_gets_nothing_and_nobody_else_notices(self):
        self.stored = {}
        threads = [self.until_over(work) for work in (
            self.writer("alice", "alice's"), self.writer("carol", "carol's"), self.writer("carol", "more of carol's"),
            self.reader("dave"), self.reader("dave"), self.reader("alice"),
            self.victim("get"), self.victim("set"), self.victim("get"))]
        try:
            for number in range(ROUNDS):
                self.share("bob", "writer")
                self.bob = ("in", number)
                export = self.exports()
                time.sleep(0.05)
                self.bob = None
                self.unshare("bob")
                self.bob = ("out", number)
                # It has begun when he was a member.
                answer = export.run("exportNext")
                self.assertEqual(answer.name, "refused", answer)
                self.assertIn(answer.code, (DOES_NOT_EXIST, LOCKED))
                export.close()
                time.sleep(0.05)
                self.bob = None
                self.assertEqual(self.faults, [])
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(self.faults, [])
        self.assertTrue(all(self.counts.values()), self.counts)
        for restarted in (False, True):
            if restarted:
                self.server.restart(9)
                self.alice = self.connect("alice")
                self.done(self.alice, "openStore", answers(PASSCODE))
            for kept in self.stored.values():
                for name, value in kept.items():
                    self.assertEqual(self.done(self.alice, "get", store="team", name=name).payload, value)
            for number in range(RECORDS):
                answer = self.done(self.alice, "get", store="team", name=f"k{number}")
                self.assertEqual(answer.payload, self.value(number))
        self.assertEqual(
            {each["name"] for each in self.done(self.alice, "members", store="team").members},
            {self.people[who][0] for who in ("alice", "carol", "dave")})


if __name__ == "__main__":
    unittest.main()
