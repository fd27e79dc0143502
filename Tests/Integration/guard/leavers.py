"""A group vanishes, somebody leaves one, nobody can tell who is in one, an account and its number are somebody else's;
too many stores, and names that are too long: a code and a sentence each, and nothing is lost."""

import os
import pwd
import signal
import unittest

import pamlab
import wire
from daemonlab import (
    PASSCODE,
    Daemon,
    account_name,
    add_account,
    answers,
    as_uid_connection,
    change_accounts,
    derivation_counter,
    remove_account,
    wait_until,
)

NEEDS_ROOT = True
TIMEOUT = 240
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
NO_ONE = ("", wire.UNKNOWN_UID)
ALREADY_EXISTS, DOES_NOT_EXIST, INVALID_ARGUMENT, LOCKED, INVALID_ACTION, DENIED = 1, 3, 4, 6, 26, 30
UNAVAILABLE, TOO_LARGE = 31, 33


class Case(unittest.TestCase):
    NAMES = ("alice", "bob", "carol")

    def setUp(self):
        self.people = {}
        for name in self.NAMES:
            self.people[name] = add_account()
            self.addCleanup(remove_account, self.people[name][0])
        self.group = account_name()
        change_accounts("groupadd", self.group)
        self.addCleanup(self.remove_group)
        for name in self.NAMES[1:]:
            change_accounts("usermod", "-a", "-G", self.group, self.name(name))
        self.server = Daemon(policy=POLICY, start=False)
        self.addCleanup(self.server.close)
        self.silent = os.path.join(self.server.folder, "silent")
        preload = pamlab.compiled("nogroups.c", "nogroups.so", "-shared", "-fPIC", "-ldl")
        self.server.env = {"LD_PRELOAD": f"{derivation_counter()}:{preload}", "NO_GROUPS": self.silent}
        self.server.start()
        self.connect()
        for who in self.NAMES:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        self.done("alice", "set", payloads=[b"one"], store="team", name="a")

    def remove_group(self):
        try:
            change_accounts("groupdel", self.group)
        except AssertionError:
            # It has vanished already.
            pass

    def connect(self):
        self.clients = {who: as_uid_connection(uid, self.server) for who, (_, uid) in self.people.items()}
        for client in self.clients.values():
            self.addCleanup(client.close)

    def restart(self):
        """What was known of groups is forgotten."""
        self.server.restart(signal.SIGKILL)
        self.connect()
        for who in self.people:
            self.done(who, "openStore", answers(PASSCODE))

    def name(self, who):
        return self.people[who][0]

    def ask(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        return self.clients[who].run(request, script, payloads, **fields)

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def change(self, request, kind, name, **fields):
        return self.ask("alice", request, answers(PASSCODE), store="team", kind=kind, name=name, **fields)

    def share(self, kind="group", name=None, role="writer"):
        answer = self.change("share", kind, name or self.group, role=role)
        self.assertEqual(answer.name, "done", answer)

    def team(self):
        return f"{self.name('alice')}/team"

    def value(self, who, name="a"):
        answer = self.ask(who, "get", store="team" if who == "alice" else self.team(), name=name)
        if answer.name == "refused":
            self.assertTrue(answer.message, answer)
        return answer.payload if answer.name == "value" else answer.code

    def members(self):
        return {each["name"]: each["kind"] for each in self.done("alice", "members", store="team").members}

    def slots(self):
        (team,) = [each for each in self.server.stores() if os.path.isdir(os.path.join(each, "members"))]
        return {name.split(".")[0] for name in os.listdir(os.path.join(team, "members"))}


class Groups(Case):
    def test_a_group_that_vanishes(self):
        self.share()
        self.assertEqual((self.value("bob"), self.value("carol")), (b"one", b"one"))
        change_accounts("groupdel", self.group)
        self.restart()
        self.assertEqual((self.value("bob"), self.value("carol"), self.value("alice")),
                         (DOES_NOT_EXIST, DOES_NOT_EXIST, b"one"))
        # It is still shown, and its removal is possible; those who came by it go with it.
        self.assertEqual(self.members()[self.group], "group")
        again = self.change("share", "group", self.group, role="reader")
        self.assertEqual((again.name, again.code), ("refused", DOES_NOT_EXIST), again)
        self.assertEqual(self.change("unshare", "group", self.group).name, "done")
        self.assertEqual(set(self.members()), {self.name("alice")})
        self.assertEqual(self.slots(), {f"u{self.people['alice'][1]}"})
        self.assertEqual(self.value("alice"), b"one")

    def test_who_leaves_a_group_and_comes_back(self):
        self.share()
        self.share("person", self.name("carol"), "reader")
        self.assertEqual((self.value("bob"), self.value("carol")), (b"one", b"one"))
        for who in ("bob", "carol"):
            change_accounts("gpasswd", "-d", self.name(who), self.group)
        self.restart()
        # Carol is a member herself, too, and may read what the group could write.
        self.assertEqual((self.value("bob"), self.value("carol")), (DOES_NOT_EXIST, b"one"))
        self.assertEqual(self.ask("carol", "set", (), [b"no"], store=self.team(), name="a").code, 30)
        wait_until(lambda: f"u{self.people['bob'][1]}" not in self.slots(), "his slot goes")
        wait_until(lambda: not self.done("alice", "members", store="team").newKeyIsDue, "the new key")
        change_accounts("usermod", "-a", "-G", self.group, self.name("bob"))
        self.restart()
        self.assertEqual(self.value("bob"), b"one")
        self.done("bob", "set", payloads=[b"two"], store=self.team(), name="a")
        self.assertEqual(self.value("alice"), b"two")

    def test_while_nobody_can_tell_who_is_in_a_group_nobody_is_removed(self):
        self.share()
        self.assertEqual(self.value("bob"), b"one")
        before = self.slots()
        with open(self.silent, "w"):
            pass
        self.restart()
        # Who has a slot by the group keeps it, who has none waits for an answer.
        self.assertEqual(self.value("alice"), b"one")
        self.assertEqual(self.value("bob"), b"one")
        self.assertNotEqual(self.value("carol"), b"one")
        self.assertEqual(self.slots(), before)
        answer = self.change("share", "group", self.group, role="reader")
        self.assertEqual((answer.name, answer.code), ("refused", UNAVAILABLE), answer)
        os.unlink(self.silent)
        self.restart()
        self.assertEqual((self.value("bob"), self.value("carol")), (b"one", b"one"))


class Accounts(Case):
    def test_a_number_that_is_somebody_elses(self):
        """The account is removed, and another one gets its number."""
        self.share("person", self.name("bob"))
        self.assertEqual(self.value("bob"), b"one")
        former, uid = self.people["bob"]
        remove_account(former)
        self.people["bob"] = add_account(account_name(), "-u", str(uid), "-o")
        self.addCleanup(remove_account, self.name("bob"))
        self.assertEqual(pwd.getpwnam(self.name("bob")).pw_uid, uid)
        self.server.restart(signal.SIGKILL)
        self.connect()
        self.done("alice", "openStore", answers(PASSCODE))
        # What the other one left is not this one's: no store, no membership.
        self.assertEqual(self.done("bob", "status").lock, "ownerChanged")
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        answer = self.ask("bob", "openStore", answers(PASSCODE))
        self.assertEqual((answer.name, answer.code), ("refused", DENIED), answer)
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        self.assertEqual(self.members()[former], "person")
        self.assertEqual(self.change("unshare", "person", former).name, "done")
        # Now it may be shared with this one, who has no store yet and waits.
        self.share("person", self.name("bob"), "reader")
        self.assertIn(self.value("bob"), (INVALID_ACTION, LOCKED))
        self.assertEqual(self.value("alice"), b"one")


class Limits(Case):
    def test_one_store_too_many(self):
        # `default` and `team` are there.
        for number in range(14):
            self.done("alice", "create", answers(PASSCODE), store=f"s{number}", way="shared" if number % 2 else
                      "configuration")
        for way in ("ownPasscode", "noPasscode", "shared", "configuration"):
            answer = self.ask("alice", "create", answers(PASSCODE), store="one more", way=way)
            self.assertEqual((answer.name, answer.code), ("refused", INVALID_ACTION), answer)
            self.assertIn("16", answer.message + answer.hint)
        for number in range(64):
            self.done("alice", "create", store=f"f{number}", way="followStore")
        answer = self.ask("alice", "create", store="one more", way="followStore")
        self.assertEqual((answer.name, answer.code), ("refused", INVALID_ACTION), answer)
        self.assertIn("64", answer.message + answer.hint)
        self.assertEqual(len(self.done("alice", "stores").stores), 16 + 64)
        # Each of them opens, and others make theirs.
        self.done("alice", "lock")
        self.done("alice", "openStore", answers(PASSCODE))
        for number in range(64):
            self.done("alice", "set", payloads=[b"x"], store=f"f{number}", name="x")
        self.done("bob", "create", store="team", way="shared")

    def test_names(self):
        longest = "n" * 255
        self.done("alice", "rename", store="team", name=longest)
        self.assertEqual(self.done("alice", "get", store=longest, name="a").payload, b"one")
        answer = self.ask("alice", "share", answers(PASSCODE), store=longest, kind="person", name=self.name("bob"),
                          role="writer")
        self.assertEqual(answer.name, "done", answer)
        called = f"{self.name('alice')}/{longest}"
        self.assertEqual(self.done("bob", "get", store=called, name="a").payload, b"one")
        self.assertIn(longest, {each["name"] for each in self.done("bob", "stores").stores})
        for who, request, fields in (
            ("alice", "get", {"store": longest + "n", "name": "a"}),
            ("bob", "get", {"store": called + "n", "name": "a"}),
            ("alice", "create", {"store": longest + "n", "way": "shared"}),
        ):
            answer = self.ask(who, request, **fields)
            self.assertEqual(answer.name, "refused", answer)
            self.assertIn(answer.code, (DOES_NOT_EXIST, TOO_LARGE))
            self.assertTrue(answer.message)
        for name in ("a/b", "a\nb", "", "00010203-0405-4607-8809-0a0b0c0d0e0f", "default"):
            with self.subTest(name=name):
                answer = self.ask("alice", "rename", store=longest, name=name)
                self.assertEqual(answer.name, "refused", answer)
                self.assertIn(answer.code, (INVALID_ARGUMENT, ALREADY_EXISTS, INVALID_ACTION))
        self.assertEqual(self.done("bob", "get", store=called, name="a").payload, b"one")


if __name__ == "__main__":
    unittest.main()
