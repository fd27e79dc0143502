"""Stores that people share: who may what with them, with real uids; and what becomes of what a member could read."""

import os
import random
import signal
import threading
import time
import unittest

import wire
from daemonlab import (
    PASSCODE,
    Daemon,
    account_name,
    add_account,
    answers,
    as_uid,
    as_uid_connection,
    change_accounts,
    remove_account,
    wait_until,
)

NEEDS_ROOT = True
TIMEOUT = 240
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
DOES_NOT_EXIST, INVALID_ARGUMENT, LOCKED, INVALID_ACTION, DENIED = 3, 4, 6, 26, 30


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob", "carol", "dave"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])
        cls.group = account_name()
        change_accounts("groupadd", cls.group)
        cls.addClassCleanup(change_accounts, "groupdel", cls.group)

    def setUp(self):
        self.server = Daemon(policy=POLICY)
        self.addCleanup(self.server.close)

    # who does what

    def ask(self, who, request, script=(), payloads=(), **fields):
        """As this person, about their own."""
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", ("", wire.UNKNOWN_UID))
        if who == "root":
            return self.server.ask(request, script, payloads, **fields)
        uid = self.people[who][1]
        return as_uid(uid, lambda: self.server.ask(request, script, payloads, **fields))

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def refused(self, code, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertEqual((answer.name, getattr(answer, "code", None)), ("refused", code), answer)
        return answer

    def name(self, who):
        return self.people[who][0]

    def enter(self, *who, passcode=PASSCODE):
        """They have a store, and it is open."""
        for each in who:
            self.done(each, "create", answers(passcode), way="ownPasscode")

    def team(self):
        """As a member calls it."""
        return f"{self.name('alice')}/team"

    def share(self, whom, role="writer", kind="person"):
        name = self.group if kind == "group" else self.name(whom)
        return self.done("alice", "share", answers(PASSCODE), store="team", kind=kind, name=name, role=role)

    def unshare(self, whom, kind="person"):
        name = self.group if kind == "group" else self.name(whom)
        return self.done("alice", "unshare", answers(PASSCODE), store="team", kind=kind, name=name)

    def begin(self, *others):
        self.enter("alice", *others)
        self.done("alice", "create", store="team", way="shared")
        self.done("alice", "set", payloads=[b"one"], store="team", name="a")

    def members(self, who="alice", store="team"):
        return {each["name"]: (each["role"], each["isPending"])
                for each in self.done(who, "members", store=store).members}

    def value(self, who, name="a"):
        store = "team" if who == "alice" else self.team()
        answer = self.ask(who, "get", store=store, name=name)
        return answer.payload if answer.name == "value" else answer.code


class Sharing(Case):
    def test_a_member_reads_and_writes_while_their_own_store_is_open(self):
        self.begin("bob", "carol")
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        self.share("bob")
        self.share("carol", "reader")
        self.assertEqual(self.value("bob"), b"one")
        self.done("bob", "set", payloads=[b"two"], store=self.team(), name="a")
        self.assertEqual((self.value("alice"), self.value("carol")), (b"two", b"two"))
        self.refused(DENIED, "carol", "set", payloads=[b"no"], store=self.team(), name="a")
        self.refused(DENIED, "carol", "delete", store=self.team(), name="a")
        self.done("bob", "lock")
        self.assertEqual(self.value("bob"), LOCKED)
        self.assertEqual(self.value("carol"), b"two")
        self.done("bob", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("bob"), b"two")

    def test_it_locks_with_the_last_of_its_members_stores(self):
        self.begin("bob")
        self.share("bob")
        self.done("alice", "lock")
        self.assertEqual(self.value("bob"), b"one")
        self.done("bob", "lock")
        lock = lambda: {each["name"]: each["lock"] for each in self.done("alice", "stores").stores}["team"]
        wait_until(lambda: lock() == "locked", "the store is locked")
        self.done("bob", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("bob"), b"one")

    def test_after_a_restart_each_member_opens_it(self):
        self.begin("bob")
        self.share("bob")
        for who in ("bob", "alice"):
            self.server.restart(signal.SIGKILL)
            self.assertEqual(self.value(who), LOCKED)
            self.done(who, "openStore", answers(PASSCODE))
            self.assertEqual(self.value(who), b"one")

    def test_whoever_has_no_store_yet_waits_for_a_meeting(self):
        self.begin()
        self.share("bob")
        self.assertEqual(self.members()[self.name("bob")], ("writer", True))
        self.enter("bob")
        self.assertEqual(self.value("bob"), b"one")
        self.assertEqual(self.members()[self.name("bob")], ("writer", False))
        # Nobody who has the store open is there for dave.
        self.share("dave")
        self.done("alice", "lock")
        self.done("bob", "lock")
        self.enter("dave")
        self.refused(INVALID_ACTION, "dave", "get", store=self.team(), name="a")
        self.done("bob", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("dave"), b"one")

    def test_a_store_without_a_passcode_waits(self):
        self.begin()
        self.done("bob", "create", way="noPasscode")
        self.share("bob")
        self.assertTrue(self.members()[self.name("bob")][1])
        self.refused(INVALID_ACTION, "bob", "get", store=self.team(), name="a")

    def test_a_group_shares_with_whoever_is_in_it(self):
        self.begin("bob", "carol")
        self.share(None, "reader", "group")
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        change_accounts("usermod", "-a", "-G", self.group, self.name("bob"))
        self.server.restart(signal.SIGKILL)
        self.done("alice", "openStore", answers(PASSCODE))
        self.done("bob", "openStore", answers(PASSCODE))
        self.assertEqual((self.value("bob"), self.value("carol")), (b"one", DOES_NOT_EXIST))
        self.refused(DENIED, "bob", "set", payloads=[b"no"], store=self.team(), name="a")
        # With the group go those who came by it.
        self.unshare(None, "group")
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        self.assertEqual(list(self.members()), [self.name("alice")])
        change_accounts("gpasswd", "-d", self.name("bob"), self.group)

    def test_who_is_removed_has_nothing_more(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.share("carol")
        before = self.slots()
        self.unshare("bob")
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        self.assertEqual((self.value("alice"), self.value("carol")), (b"one", b"one"))
        after = self.slots()
        self.assertEqual(set(before), {f"u{self.people[who][1]}.1" for who in ("alice", "bob", "carol")})
        self.assertEqual(set(after), {f"u{self.people[who][1]}.2" for who in ("alice", "carol")})
        self.assertFalse(self.done("alice", "members", store="team").newKeyIsDue)
        # Once more a member, and everything is as for a new one.
        self.share("bob", "reader")
        self.assertEqual(self.value("bob"), b"one")
        self.done("bob", "unshare", answers(PASSCODE), store=self.team(), kind="person", name=self.name("bob"))
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        self.assertEqual(self.value("alice"), b"one")

    def slots(self):
        for store in self.server.stores():
            folder = os.path.join(store, "members")
            if os.path.isdir(folder):
                return os.listdir(folder)
        return []

    def test_only_its_owner_shares_it_and_hands_it_on(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.refused(DENIED, "bob", "share", answers(PASSCODE), store=self.team(), kind="person",
                     name=self.name("carol"), role="reader")
        self.refused(DENIED, "bob", "unshare", answers(PASSCODE), store=self.team(), kind="person",
                     name=self.name("alice"))
        self.refused(INVALID_ACTION, "alice", "share", answers(PASSCODE), store="team", kind="person",
                     name=self.name("carol"), role="owner")
        self.share("bob", "owner")
        self.assertEqual(
            self.members("bob"), {self.name("alice"): ("writer", False), self.name("bob"): ("owner", False)})
        taken = f"{self.name('bob')}/team"
        self.assertEqual(self.done("alice", "get", store=taken, name="a").payload, b"one")
        self.done("bob", "unshare", answers(PASSCODE), store="team", kind="person", name=self.name("alice"))
        self.refused(DOES_NOT_EXIST, "alice", "get", store=taken, name="a")
        self.assertEqual(self.done("bob", "get", store="team", name="a").payload, b"one")

    def test_the_passcode_is_asked_for(self):
        self.begin("bob")
        answer = self.ask("alice", "share", answers("wrong"), store="team", kind="person",
                          name=self.name("bob"), role="reader")
        self.assertEqual((answer.name, answer.code), ("refused", 5))
        self.assertEqual(list(self.members()), [self.name("alice")])

    def test_root_sees_it_and_not_what_is_in_it(self):
        self.begin("bob")
        self.share("bob")
        alice = self.people["alice"]
        listed = {each["name"]: each for each in self.done("root", "stores", all=True).stores}
        self.assertEqual((listed["team"]["kind"], listed["team"]["members"]), ("shared", 2))
        self.assertEqual(len(self.done("root", "members", subject=alice, store="team").members), 2)
        self.refused(DOES_NOT_EXIST, "root", "get", store=self.team(), name="a")
        self.refused(
            DENIED, "root", "share", subject=alice, store="team", kind="person", name="root", role="owner")

    def test_what_cannot_be_shared_and_with_whom(self):
        self.begin("bob")
        share = lambda code, **fields: self.refused(
            code, "alice", "share", answers(PASSCODE),
            **{"store": "team", "kind": "person", "role": "reader", **fields})
        share(DOES_NOT_EXIST, name="no-such-person")
        share(DOES_NOT_EXIST, kind="group", name="no-such-group")
        share(INVALID_ARGUMENT, kind="everybody", name="")
        share(INVALID_ARGUMENT, kind="group", name=self.group, role="owner")
        share(INVALID_ACTION, name=self.name("alice"))
        share(INVALID_ACTION, store="", name=self.name("bob"))
        share(DOES_NOT_EXIST, store="nothing", name=self.name("bob"))
        self.refused(DOES_NOT_EXIST, "alice", "unshare", answers(PASSCODE), store="team", kind="person",
                     name=self.name("bob"))
        self.refused(INVALID_ACTION, "alice", "unshare", answers(PASSCODE), store="team", kind="person",
                     name=self.name("alice"))
        for change in ("change", "turnOn", "followLogin"):
            self.refused(INVALID_ACTION, "alice", "passcode", answers(PASSCODE), store="team", change=change)

    def test_what_takes_a_passcode_takes_the_members_own(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.share("carol", "reader")
        phrase = "a phrase of its own"
        script = answers(PASSCODE, newPassphrase=phrase)

        def carry(store):
            with self.server.client() as client:
                chunks = [client.run("exportBegin", script, subject=("", wire.UNKNOWN_UID), store=store)]
                while chunks[-1].name == "chunk" and not chunks[-1].last:
                    chunks.append(client.run("exportNext"))
                return [(each.name, len(client.asked)) for each in chunks]

        for who in ("carol", "bob"):
            told = as_uid(self.people[who][1], lambda: carry(self.team()))
            self.assertEqual({name for name, _ in told}, {"chunk"})
            self.assertGreater(told[0][1], 2)
        wrong = self.ask("carol", "exportBegin", answers("wrong", newPassphrase=phrase), store=self.team())
        self.assertEqual((wrong.name, wrong.code), ("refused", 5))
        self.refused(DENIED, "carol", "mend", answers(PASSCODE), store=self.team())
        self.done("alice", "mend", answers(PASSCODE), store="team")
        self.refused(INVALID_ACTION, "alice", "hold", answers(PASSCODE), store="team", seconds=60)
        self.refused(INVALID_ACTION, "alice", "recoveryNew", answers(PASSCODE), store="team")
        self.refused(INVALID_ACTION, "bob", "appOpen", answers(PASSCODE), store=self.team(), id="mail", demand="open")
        self.assertEqual(self.ask("carol", "status", store=self.team()).lock, "unlocked")
        self.assertEqual(self.ask("dave", "status", store=self.team()).lock, "absent")
        self.refused(DOES_NOT_EXIST, "bob", "reset", answers(PASSCODE), store=self.team())
        self.assertEqual(self.ask("alice", "reset", answers("wrong"), store="team").code, 5)
        self.done("alice", "reset", answers(PASSCODE), store="team")
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)

    def test_whose_own_store_was_reset_waits_for_another_member(self):
        self.begin("bob")
        self.share("bob")
        self.done("bob", "reset", answers(PASSCODE))
        self.enter("bob", passcode="another horse")
        self.assertEqual(self.value("bob"), b"one")
        # And where nobody else is there: nothing.
        self.done("bob", "reset", answers("another horse"))
        self.done("alice", "lock")
        self.enter("bob")
        self.refused(INVALID_ACTION, "bob", "get", store=self.team(), name="a")

    def test_an_account_of_the_same_number_is_not_the_member(self):
        self.begin("bob")
        self.share("bob")
        former, uid = self.people["bob"]
        renamed = account_name()
        change_accounts("usermod", "-l", renamed, former)
        self.addCleanup(change_accounts, "usermod", "-l", former, renamed)
        self.server.restart(signal.SIGKILL)
        self.done("alice", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        self.assertEqual(self.members()[former][0], "writer")

    def test_a_member_hears_what_happens_to_it_until_they_are_removed(self):
        self.begin("bob")
        client = as_uid_connection(self.people["bob"][1], self.server)
        self.addCleanup(client.close)
        client.tag += 1
        client.send("watch", client.tag)

        def hear(what):
            while True:
                event = client.receive(20)
                self.assertIsNotNone(event, f"{what} did not come")
                name = event.fields["name"]
                name = name.decode() if isinstance(name, bytes) else name
                if (event.what, name) == (what, self.team()):
                    return
        self.share("bob")
        hear("members")
        self.assertEqual(self.value("bob"), b"one")
        self.share("carol", "reader")
        hear("members")
        self.unshare("bob")
        hear("locked")
        self.share("dave")
        client.socket.settimeout(1)
        with self.assertRaises(OSError):
            while True:
                event = client.receive(1)
                if event is None:
                    raise OSError("nothing more")
                self.assertNotIn(event.what, ("members", "opened"), event)

    def test_shared_configuration_is_read_by_everybody_and_written_by_its_owner(self):
        self.done("root", "create", store="shared", way="configuration", subject=("root", 0))
        self.done("root", "create", answers(PASSCODE), way="ownPasscode", subject=("root", 0))
        self.done("root", "set", payloads=[b"proxy"], store="shared", name="a")
        self.refused(DOES_NOT_EXIST, "bob", "get", store="shared", name="a")
        self.done("root", "share", answers(PASSCODE), store="shared", kind="everybody", role="reader",
                  subject=("root", 0))
        self.assertEqual(self.done("bob", "get", store="shared", name="a").payload, b"proxy")
        self.refused(DENIED, "bob", "set", payloads=[b"no"], store="shared", name="a")
        self.server.restart(signal.SIGKILL)
        self.assertEqual(self.done("bob", "get", store="shared", name="a").payload, b"proxy")
        self.done("root", "unshare", answers(PASSCODE), store="shared", kind="everybody", subject=("root", 0))
        self.refused(DOES_NOT_EXIST, "bob", "get", store="shared", name="a")


class NewKey(Case):
    """Somebody is removed while the others read and write."""

    def test_nothing_is_lost_while_the_store_gets_a_new_key(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.share("carol")
        self.assertIsNone(as_uid(self.people["alice"][1], self.one_by_one(2000)))
        stop, stored, faults = threading.Event(), {}, []

        def work():
            def run():
                kept = {}
                with self.server.client() as client:
                    number = 0
                    while not os.path.exists(flag) and number < 100_000:
                        name, value = f"w{number % 50}", str(number).encode()
                        answer = client.run("set", (), [value], store=self.team(), name=name)
                        if answer.name != "done":
                            return kept, repr(answer)
                        kept[name] = value
                        read = client.run("get", store=self.team(), name=name)
                        if read.name != "value" or read.payload != value:
                            return kept, repr(read)
                        number += 1
                return kept, None
            found, fault = as_uid(self.people["carol"][1], run)
            stored.update(found)
            if fault:
                faults.append(fault)

        flag = os.path.join(self.server.folder, "over")
        worker = threading.Thread(target=work)
        worker.start()
        time.sleep(0.3)
        try:
            self.unshare("bob")
        finally:
            open(flag, "w").close()
            worker.join()
        self.assertEqual(faults, [])
        self.assertGreater(len(stored), 5)
        for name, value in stored.items():
            self.assertEqual(self.value("alice", name), value)
        self.assertEqual(self.value("alice", "k1999"), b"1999")

    def one_by_one(self, count):
        def run():
            with self.server.client() as client:
                for number in range(count):
                    answer = client.run("set", (), [str(number).encode()], store="team", name=f"k{number}")
                    if answer.name != "done":
                        return repr(answer)
            return None
        return run

    def test_killed_anywhere_it_opens_for_the_members_and_gets_its_key_later(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.share("carol")
        self.assertIsNone(as_uid(self.people["alice"][1], self.one_by_one(400)))
        chance = random.Random(15)
        for round_ in range(12):
            victim = ("bob", "carol")[round_ % 2]
            other = ("carol", "bob")[round_ % 2]
            killer = threading.Timer(chance.uniform(0, 0.25), self.server.kill)
            killer.start()
            try:
                self.ask("alice", "unshare", answers(PASSCODE), store="team", kind="person", name=self.name(victim))
            except (OSError, AssertionError, wire.WireError):
                pass
            killer.join()
            self.server.start()
            self.done(other, "openStore", answers(PASSCODE))
            self.done("alice", "openStore", answers(PASSCODE))
            self.done(victim, "openStore", answers(PASSCODE))
            self.assertEqual((self.value(other, "k399"), self.value("alice", "k0")), (b"399", b"0"))
            wait_until(lambda: not self.done("alice", "members", store="team").newKeyIsDue, "a new key")
            if self.name(victim) in self.members():
                self.assertEqual(self.value(victim), b"one")
            else:
                self.assertEqual(self.value(victim), DOES_NOT_EXIST)
                self.share(victim)
                self.assertEqual(self.value(victim), b"one")


if __name__ == "__main__":
    unittest.main()
