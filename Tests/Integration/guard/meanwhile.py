"""While somebody is asked for what opens their store, they become somebody else to the one that it is about: they are
removed, may only read, or have handed it on. What they are when they have answered is what counts."""

import os
import unittest

import wire
from daemonlab import (
    PASSCODE,
    Daemon,
    account_name,
    add_account,
    answers,
    as_uid_connection,
    change_accounts,
    remove_account,
)

NEEDS_ROOT = True
TIMEOUT = 180
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
NO_ONE = ("", wire.UNKNOWN_UID)
PHRASE = "a phrase of its own"
DOES_NOT_EXIST, LOCKED, DENIED = 3, 6, 30


class Meanwhile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob", "carol"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])
        cls.group = account_name()
        change_accounts("groupadd", cls.group)
        cls.addClassCleanup(change_accounts, "groupdel", cls.group)
        change_accounts("usermod", "-a", "-G", cls.group, cls.people["carol"][0])
        cls.addClassCleanup(change_accounts, "gpasswd", "-d", cls.people["carol"][0], cls.group)

    def setUp(self):
        self.server = Daemon(policy=POLICY)
        self.addCleanup(self.server.close)
        for who in self.people:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        self.done("alice", "set", payloads=[b"one"], store="team", name="a")
        self.share("bob")

    def connect(self, who, frontEnd="program"):
        client = as_uid_connection(self.people[who][1], self.server, frontEnd)
        self.addCleanup(client.close)
        return client

    def ask(self, who, request, script=(), payloads=(), client=None, **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        return (client or self.connect(who)).run(request, script, payloads, **fields)

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def refused(self, answer, *codes):
        self.assertEqual(answer.name, "refused", answer)
        self.assertIn(answer.code, codes)

    def name(self, who):
        return self.people[who][0]

    def team(self, owner="alice"):
        return f"{self.name(owner)}/team"

    def change(self, owner, request, whom, **fields):
        return self.done(owner, request, answers(PASSCODE), store="team", kind="person", name=self.name(whom), **fields)

    def share(self, whom, role="writer"):
        self.change("alice", "share", whom, role=role)

    def unshare(self, whom):
        self.change("alice", "unshare", whom)

    def hand_on(self):
        self.share("bob", "owner")
        self.done("bob", "share", answers(PASSCODE), store=self.team(), kind="person", name=self.name("bob"),
                  role="owner")

    def asked(self, who, act, request, client=None, payloads=(), at="passcode", **fields):
        """The request, whose person answers when `act` has been done."""
        told = []
        script = answers(PASSCODE, newPassphrase=PHRASE, passphrase=PHRASE)

        def answer(ask):
            if ask.purpose == at and not told:
                told.append(ask)
                act()
            return script(ask)

        found = self.ask(who, request, answer, payloads, client, **fields)
        self.assertEqual(len(told), 1, "nobody was asked")
        return found

    def members(self, owner):
        return {each["name"]: each["role"] for each in self.done(owner, "members", store="team").members}

    def exported(self):
        client = self.connect("alice")
        chunks = [self.ask("alice", "exportBegin", answers(PASSCODE, newPassphrase=PHRASE), client=client,
                           store="team")]
        while not chunks[-1].last:
            chunks.append(client.run("exportNext"))
        return [chunk.payload for chunk in chunks]


class Owner(Meanwhile):
    """Alice has handed it on to bob when she answers."""

    def test_shares_it_with_nobody(self):
        answer = self.asked("alice", self.hand_on, "share", store="team", kind="person", name=self.name("carol"),
                            role="writer")
        self.refused(answer, DENIED, DOES_NOT_EXIST)
        self.assertEqual(
            self.members("bob"), {self.name("alice"): "writer", self.name("bob"): "owner"})
        self.refused(self.ask("carol", "get", store=self.team("bob"), name="a"), DOES_NOT_EXIST)

    def test_removes_nobody(self):
        self.share("carol")
        answer = self.asked("alice", self.hand_on, "unshare", store="team", kind="person", name=self.name("carol"))
        self.refused(answer, DENIED, DOES_NOT_EXIST)
        self.assertIn(self.name("carol"), self.members("bob"))

    def test_does_not_remove_the_new_owner(self):
        answer = self.asked("alice", self.hand_on, "unshare", store="team", kind="person", name=self.name("bob"))
        self.assertEqual(answer.name, "refused", answer)
        self.assertEqual(self.members("bob")[self.name("bob")], "owner")
        self.server.restart()
        self.done("bob", "openStore", answers(PASSCODE))
        self.assertEqual(self.done("bob", "get", store="team", name="a").payload, b"one")

    def test_does_not_erase_it(self):
        answer = self.asked("alice", self.hand_on, "reset", store="team")
        self.refused(answer, DENIED, DOES_NOT_EXIST)
        self.assertEqual(self.done("bob", "get", store="team", name="a").payload, b"one")

    def test_gets_no_recovery_key(self):
        client = self.connect("alice", "terminal")
        answer = self.asked("alice", self.hand_on, "recoveryNew", client, store="team")
        self.refused(answer, DENIED, DOES_NOT_EXIST)
        self.assertEqual(client.revealed, [])
        self.assertFalse(self.done("bob", "status", store="team").hasRecoveryKey)

    def test_does_not_delete_the_recovery_key(self):
        self.ask("alice", "recoveryNew", answers(PASSCODE), client=self.connect("alice", "terminal"), store="team")
        answer = self.asked("alice", self.hand_on, "recoveryDelete", store="team")
        self.refused(answer, DENIED, DOES_NOT_EXIST)
        self.assertTrue(self.done("bob", "status", store="team").hasRecoveryKey)

    def test_does_not_mend_it(self):
        self.refused(self.asked("alice", self.hand_on, "mend", store="team"), DENIED, DOES_NOT_EXIST)


class Member(Meanwhile):
    """Bob is removed, or may only read, when he answers."""

    def test_who_is_removed_exports_nothing(self):
        for at in ("passcode", "newPassphrase"):
            with self.subTest(at):
                self.share("bob")
                client = self.connect("bob")
                answer = self.asked(
                    "bob", lambda: self.unshare("bob"), "exportBegin", client, at=at, store=self.team())
                if answer.name == "chunk":
                    pieces = [client.run("exportNext")]
                    self.fail(f"exported: {answer}, then {pieces}")
                self.refused(answer, DOES_NOT_EXIST, LOCKED)

    def test_an_export_that_has_begun_ends_with_the_removal(self):
        client = self.connect("bob")
        answer = self.ask(
            "bob", "exportBegin", answers(PASSCODE, newPassphrase=PHRASE), client=client, store=self.team())
        self.assertEqual(answer.name, "chunk")
        self.unshare("bob")
        self.refused(client.run("exportNext"), DOES_NOT_EXIST, LOCKED)

    def import_(self, act, when):
        """Bob's import, with `act` at the question or behind it; its last answer."""
        header, *pieces = self.exported()
        client, fields = self.connect("bob"), {"store": self.team(), "replace": True}
        if when == "asked":
            answer = self.asked("bob", act, "importBegin", client, [header], "passphrase", **fields)
        else:
            answer = self.ask(
                "bob", "importBegin", answers(PASSCODE, passphrase=PHRASE), [header], client, **fields)
            self.assertEqual(answer.name, "done")
            act()
        for _ in range(2):
            for number, piece in enumerate(pieces):
                if answer.name != "refused":
                    answer = client.run("importChunk", (), [piece], last=number == len(pieces) - 1)
        return answer

    def test_who_is_removed_imports_nothing(self):
        for when in ("asked", "begun"):
            with self.subTest(when):
                self.share("bob")
                answer = self.import_(lambda: self.unshare("bob"), when)
                self.refused(answer, DOES_NOT_EXIST, LOCKED, DENIED)

    def test_who_may_only_read_imports_nothing(self):
        for when in ("asked", "begun"):
            with self.subTest(when):
                self.share("bob")
                answer = self.import_(lambda: self.share("bob", "reader"), when)
                self.refused(answer, DENIED)


class Group(Meanwhile):
    def test_who_came_by_a_group_while_its_removal_was_asked_for_goes_with_it(self):
        self.done("alice", "share", answers(PASSCODE), store="team", kind="group", name=self.group, role="writer")

        def come():
            self.assertEqual(self.done("carol", "get", store=self.team(), name="a").payload, b"one")

        answer = self.asked("alice", come, "unshare", store="team", kind="group", name=self.group)
        self.assertEqual(answer.name, "done", answer)
        self.refused(self.ask("carol", "get", store=self.team(), name="a"), DOES_NOT_EXIST)
        self.assertEqual(set(self.members("alice")), {self.name("alice"), self.name("bob")})
        (team,) = [store for store in self.server.stores() if os.path.isdir(os.path.join(store, "members"))]
        slots = {name.split(".")[0] for name in os.listdir(os.path.join(team, "members"))}
        self.assertEqual(slots, {f"u{self.people[who][1]}" for who in ("alice", "bob")})


if __name__ == "__main__":
    unittest.main()
