"""Stores that people share: who may what with them, with real uids; and what becomes of what a member could read."""

import grp
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
from slow import slow

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

    def accept(self, who, code=None):
        """What is offered: theirs from then on."""
        answer = self.ask(who, "share", answers(PASSCODE), store=self.team(), kind="person", name=self.name(who),
                          role="owner")
        self.assertEqual(getattr(answer, "code", None), code, answer)

    def hand_on(self, who):
        self.share(who, "owner")
        self.accept(who)

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

    def slots(self):
        """The files of the members."""
        for store in self.server.stores():
            folder = os.path.join(store, "members")
            if os.path.isdir(folder):
                return sorted(os.listdir(folder))
        return []

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

    def test_only_its_owner_shares_it_and_hands_it_on(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.refused(DENIED, "bob", "share", answers(PASSCODE), store=self.team(), kind="person",
                     name=self.name("carol"), role="reader")
        self.refused(DENIED, "bob", "unshare", answers(PASSCODE), store=self.team(), kind="person",
                     name=self.name("alice"))
        self.refused(INVALID_ACTION, "alice", "share", answers(PASSCODE), store="team", kind="person",
                     name=self.name("carol"), role="owner")
        said = self.share("bob", "owner").line[2]
        self.assertIn(f"appvault share {self.team()} {self.name('bob')} --owner", said)
        # Until bob says yes it is alice's, and so is its name.
        self.assertEqual(
            self.members("bob", self.team()),
            {self.name("alice"): ("owner", False), self.name("bob"): ("writer", False)})
        self.share("carol")
        self.accept("carol", DENIED)
        self.unshare("carol")
        self.accept("bob")
        self.accept("bob", DOES_NOT_EXIST)
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

    def test_whose_own_store_was_reset_needs_somebody_who_shares_it_again(self):
        self.begin("bob", "carol", "dave")
        self.share("bob")
        self.share("carol", "reader")
        self.share("dave")
        again = lambda who, **fields: self.ask(
            who, "share", answers(PASSCODE), store="team" if who == "alice" else self.team(), kind="person",
            name=self.name("bob"), **{"role": "reader", **fields})
        self.refused(DENIED, "dave", "share", answers(PASSCODE), store=self.team(), kind="person",
                     name=self.name("bob"), role="reader")
        self.done("bob", "reset", answers(PASSCODE))
        self.enter("bob", passcode="another horse")
        # Whoever can reset it may not be bob. Others' stores being open changes nothing.
        self.assertIn("share this one with you again",
                      self.refused(INVALID_ACTION, "bob", "get", store=self.team(), name="a").message)
        self.server.restart(signal.SIGKILL)
        self.done("alice", "openStore", answers(PASSCODE))
        self.done("bob", "openStore", answers("another horse"))
        self.refused(INVALID_ACTION, "bob", "get", store=self.team(), name="a")
        self.assertTrue(self.members()[self.name("bob")][1])
        # A reader cannot, a member who writes can; bob's role stays what it was.
        self.done("carol", "openStore", answers(PASSCODE))
        self.done("dave", "openStore", answers(PASSCODE))
        self.assertEqual(again("carol").code, DENIED)
        self.assertEqual(again("dave").name, "done")
        self.assertEqual(self.value("bob"), b"one")
        self.assertEqual(self.members()[self.name("bob")], ("writer", False))
        # Its owner, too, whose own store was lost.
        self.done("alice", "reset", answers(PASSCODE))
        self.enter("alice")
        self.refused(INVALID_ACTION, "alice", "get", store="team", name="a")
        self.done("dave", "share", answers(PASSCODE), store=self.team(), kind="person", name=self.name("alice"),
                  role="writer")
        self.assertEqual(self.value("alice"), b"one")
        self.assertEqual(self.members()[self.name("alice")], ("owner", False))

    def test_whom_root_gives_it_to_reads_nothing_until_a_member_shares_it(self):
        self.begin("bob", "carol")
        self.share("bob")
        name, uid = self.people["carol"]
        (team,) = [each for each in self.server.stores() if os.path.isdir(os.path.join(each, "members"))]
        ident = bytes.fromhex(os.path.basename(team).replace("-", ""))
        self.done("root", "chown", store=ident, owner=(name, uid))
        team = f"{name}/team"
        self.done("bob", "openStore", answers(PASSCODE))
        self.refused(INVALID_ACTION, "carol", "get", store="team", name="a")
        self.assertEqual(self.done("bob", "get", store=team, name="a").payload, b"one")
        self.refused(INVALID_ACTION, "carol", "get", store="team", name="a")
        self.done("bob", "share", answers(PASSCODE), store=team, kind="person", name=name, role="writer")
        self.assertEqual(self.done("carol", "get", store="team", name="a").payload, b"one")

    def test_who_is_removed_while_they_type_is_not_let_in(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.share("carol")
        self.done("bob", "lock")
        phrase = "a phrase of its own"

        def removed():
            # The question is open: only now alice removes bob.
            with open(os.path.join(self.server.folder, "asked"), "w"):
                pass
            wait_until(lambda: os.path.exists(os.path.join(self.server.folder, "gone")), "bob is removed", 60)
            return PASSCODE

        def later(request, script, result):
            try:
                result.append(self.ask("bob", request, script, store=self.team()))
            except Exception as error:
                result.append(error)

        scripts = {
            "openStore": answers(removed),
            "exportBegin": answers(PASSCODE, newPassphrase=lambda: removed() and phrase, confirmPassphrase=phrase),
        }
        for request, script in scripts.items():
            with self.subTest(request):
                for name in ("asked", "gone"):
                    path = os.path.join(self.server.folder, name)
                    if os.path.exists(path):
                        os.unlink(path)
                os.chmod(self.server.folder, 0o777)
                result = []
                worker = threading.Thread(target=later, args=(request, script, result))
                worker.start()
                wait_until(lambda: os.path.exists(os.path.join(self.server.folder, "asked")), "the question", 60)
                self.unshare("bob")
                open(os.path.join(self.server.folder, "gone"), "w").close()
                worker.join()
                self.assertEqual(getattr(result[0], "code", None), DOES_NOT_EXIST, result)
                self.assertNotIn(f"u{self.people['bob'][1]}", {name.split(".")[0] for name in self.slots()})
                self.share("bob")

    def test_a_store_of_another_kind_is_not_what_a_program_asks_to_open(self):
        self.begin("bob")
        self.share("bob")
        self.hand_on("bob")
        create = lambda who, way, store="team", **fields: self.ask(
            who, "create", answers(PASSCODE), store=store, way=way, openExisting=True, **fields)
        for way in ("followStore", "ownPasscode", "noPasscode", "configuration"):
            self.assertEqual(create("bob", way).code, 1, way)
        self.assertEqual(create("bob", "shared").name, "done")
        mine = f"{self.name('bob')}/team"
        self.assertEqual(create("alice", "shared", mine).name, "done")
        self.assertEqual(create("carol", "shared", mine).code, DOES_NOT_EXIST)
        for way in ("followStore", "shared", "configuration"):
            self.refused(INVALID_ARGUMENT, "carol", "create", answers(PASSCODE), store="default", way=way)

    def test_handing_on_fills_nobodys_places(self):
        self.begin("bob")
        for number in range(15):
            self.done("bob", "create", store=f"s{number}", way="shared")
        self.share("bob")
        self.share("bob", "owner")
        self.accept("bob", INVALID_ACTION)
        self.done("bob", "reset", answers(PASSCODE), store="s0")
        self.done("bob", "create", store="team", way="shared")
        self.accept("bob", 1)
        self.done("bob", "reset", answers(PASSCODE), store="team")
        self.accept("bob")

    def test_a_group_made_anew_is_another_group(self):
        self.begin("bob", "carol")
        self.share(None, "reader", "group")
        change_accounts("usermod", "-a", "-G", self.group, self.name("bob"))
        self.addCleanup(change_accounts, "gpasswd", "-d", self.name("bob"), self.group)
        self.server.restart(signal.SIGKILL)
        for who in ("alice", "bob"):
            self.done(who, "openStore", answers(PASSCODE))
        self.assertEqual(self.value("bob"), b"one")
        # Also while it is told that bob himself is removed.
        self.assertIn("still shared with a group", self.unshare("bob").line[2])
        self.assertEqual(self.value("bob"), b"one")
        number = grp.getgrnam(self.group).gr_gid
        change_accounts("groupmod", "-g", str(number + 1), self.group)
        self.addCleanup(change_accounts, "groupmod", "-g", str(number), self.group)
        self.server.restart(signal.SIGKILL)
        for who in ("bob", "alice"):
            self.done(who, "openStore", answers(PASSCODE))
        self.assertEqual(self.value("bob"), DOES_NOT_EXIST)
        # Whoever has left it gets no slot of the next key either.
        wait_until(lambda: self.slots() == [f"g{number}.3", f"u{self.people['alice'][1]}.3"], "bob's slot goes")

    def test_it_does_not_stay_open_for_what_was_asked_with_a_locked_store(self):
        self.begin("bob")
        self.share("bob")
        for who in ("alice", "bob"):
            self.done(who, "lock")
        lock = lambda: {each["name"]: each["lock"] for each in self.done("alice", "stores").stores}["team"]
        self.share("carol")
        wait_until(lambda: lock() == "locked", "the store is locked")
        # Bob's was the only open store.
        self.done("bob", "openStore", answers(PASSCODE))
        self.assertEqual((self.value("bob"), lock()), (b"one", "unlocked"))
        self.unshare("bob")
        wait_until(lambda: lock() == "locked", "the store is locked")
        self.done("alice", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("alice"), b"one")

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
        # Nor takes the account that has the number now the member's place.
        answer = self.refused(INVALID_ACTION, "alice", "share", answers(PASSCODE), store="team", kind="person",
                              name=renamed, role="reader")
        self.assertIn(f"{former} is a member and had the same number", answer.message)
        self.done("alice", "unshare", answers(PASSCODE), store="team", kind="person", name=former)
        self.done("alice", "share", answers(PASSCODE), store="team", kind="person", name=renamed, role="reader")

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
        # One of somebody else, root may change as well.
        self.enter("alice")
        self.done("alice", "create", store="hosts", way="configuration")
        alices = f"{self.name('alice')}/hosts"
        self.done("root", "set", payloads=[b"by root"], store=alices, name="a")
        self.assertEqual(self.done("alice", "get", store="hosts", name="a").payload, b"by root")
        self.refused(DOES_NOT_EXIST, "bob", "get", store=alices, name="a")
        self.done("root", "share", answers(PASSCODE), store="shared", kind="everybody", role="reader",
                  subject=("root", 0))
        self.assertEqual(self.done("bob", "get", store="shared", name="a").payload, b"proxy")
        self.refused(DENIED, "bob", "set", payloads=[b"no"], store="shared", name="a")
        self.server.restart(signal.SIGKILL)
        self.assertEqual(self.done("bob", "get", store="shared", name="a").payload, b"proxy")
        self.done("root", "unshare", answers(PASSCODE), store="shared", kind="everybody", subject=("root", 0))
        self.refused(DOES_NOT_EXIST, "bob", "get", store="shared", name="a")


class RecoveryKeys(Case):
    """What a recovery key of a shared store opens, and when."""

    def show(self, request, script, **fields):
        """At alice's terminal: what was said, and the recovery key that was shown."""

        def run():
            with self.server.client(frontEnd="terminal") as client:
                done = client.run(request, script, subject=("", wire.UNKNOWN_UID), **fields)
                return done, client.revealed, client.asked

        done, revealed, asked = as_uid(self.people["alice"][1], run)
        self.assertEqual(done.name, "done", (done, asked))
        return done.line[2], revealed[0].decode() if revealed else None

    def new_key(self):
        _, key = self.show("recoveryNew", answers(PASSCODE), store="team")
        return key

    def recover(self, key, **fields):
        return self.ask("alice", "recover", answers("", recoveryKey=key), store="team", **fields)

    def lose(self):
        """Alice's own store, and with it her slot."""
        self.done("alice", "reset", answers(PASSCODE))
        self.enter("alice")
        self.refused(INVALID_ACTION, "alice", "get", store="team", name="a")

    def files(self):
        return {name for name in self.slots() if name.startswith("r")}

    def test_it_opens_for_an_owner_whose_own_store_was_lost(self):
        self.begin()
        key = self.new_key()
        self.assertEqual(self.ask("alice", "status", store="team").hasRecoveryKey, True)
        self.lose()
        self.assertEqual(self.recover(key).name, "done")
        self.assertEqual(self.value("alice"), b"one")
        self.assertEqual(list(self.members()), [self.name("alice")])
        self.done("alice", "lock")
        self.done("alice", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("alice"), b"one")

    def test_it_outlives_each_new_key_of_the_store(self):
        self.begin("bob")
        key = self.new_key()
        for number in range(2):
            self.share("bob")
            self.unshare("bob")
            self.done("alice", "set", payloads=[b"%d" % number], store="team", name="a")
        self.assertEqual(self.files(), {"r6.3"})
        self.lose()
        self.assertEqual(self.recover(key).name, "done")
        self.assertEqual(self.value("alice"), b"1")

    def test_a_former_one_opens_nothing(self):
        self.begin("bob")
        former = self.new_key()
        key = self.new_key()
        self.assertEqual(len(self.files()), 1)
        self.share("bob")
        self.unshare("bob")
        self.lose()
        self.assertEqual(self.recover(former).code, 41)
        self.refused(INVALID_ACTION, "alice", "get", store="team", name="a")
        self.assertEqual(self.recover(key).name, "done")
        self.done("alice", "recoveryDelete", answers(PASSCODE), store="team")
        self.assertEqual(self.files(), set())
        self.assertEqual(self.recover(key).code, DOES_NOT_EXIST)
        self.assertEqual(self.value("alice"), b"one")

    def test_a_key_that_was_not_seen_leaves_the_former_one(self):
        self.begin()
        key = self.new_key()

        class Unseen(list):
            def __bool__(self):
                return False

        def look_away():
            with self.server.client(frontEnd="terminal") as client:
                client.revealed = Unseen()
                script = lambda ask: PASSCODE if ask.purpose == "passcode" else None
                done = client.run("recoveryNew", script, subject=("", wire.UNKNOWN_UID), store="team")
                return done.name, len(client.revealed)

        self.assertEqual(as_uid(self.people["alice"][1], look_away), ("refused", 1))
        self.assertEqual(self.files(), {"r6.1"})
        self.lose()
        self.assertEqual(self.recover(key).name, "done")

    def test_it_is_its_owners_alone(self):
        self.begin("bob", "carol")
        self.share("bob")
        key = self.new_key()
        for request, script in (("recoveryNew", answers(PASSCODE)), ("recoveryDelete", answers(PASSCODE)),
                                ("recover", answers("", recoveryKey=key))):
            self.refused(DOES_NOT_EXIST, "bob", request, script, store=self.team(), hello={"frontEnd": "terminal"})
        # Whoever takes the store over has no need to trust the one who wrote it down.
        self.share("bob", "owner")
        self.share("carol")
        self.share("carol", "owner")
        taken = self.done("bob", "share", answers(PASSCODE), store=self.team(), kind="person", name=self.name("bob"),
                          role="owner")
        self.assertIn("`appvault recovery new`", taken.line[2])
        # What alice has offered carol is not bob's word.
        self.refused(DENIED, "carol", "share", answers(PASSCODE), store=f"{self.name('bob')}/team", kind="person",
                     name=self.name("carol"), role="owner")
        self.assertEqual(len(self.files()), 1)
        self.done("bob", "unshare", answers(PASSCODE), store="team", kind="person", name=self.name("alice"))
        self.assertEqual(self.files(), set())
        self.assertFalse(self.ask("bob", "status", store="team").hasRecoveryKey)

    def test_on_another_machine_its_owner_is_the_only_member(self):
        self.begin("bob")
        self.share("bob")
        key = self.new_key()
        _, own = self.show("recoveryNew", answers(PASSCODE), store="")
        self.server.end(signal.SIGTERM)
        path = os.path.join(self.server.state, "machine.key")
        os.chmod(path, 0o600)
        with open(path, "wb") as file:
            file.write(os.urandom(32))
        os.chmod(path, 0o400)
        self.server.start()
        self.assertEqual(
            self.ask("alice", "recover", answers("", recoveryKey=own, newPasscode=PASSCODE), store="").name, "done")
        self.refused(LOCKED, "alice", "recover", answers("", recoveryKey=key), store="team")
        self.done("alice", "openStore", answers(PASSCODE))
        self.assertEqual(self.recover("000G4-40R4F-0M30Y-E209X-185GE-R38EY-1Y7ZV").code, 41)
        said, _ = self.show("recover", answers("", recoveryKey=key), store="team")
        self.assertIn("another machine", said)
        self.assertEqual(self.value("alice"), b"one")
        self.assertEqual(list(self.members()), [self.name("alice")])
        self.assertFalse(self.done("alice", "members", store="team").newKeyIsDue)
        self.assertEqual(self.slots(), ["r6.2", f"u{self.people['alice'][1]}.2"])
        self.server.restart(signal.SIGKILL)
        self.done("alice", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("alice"), b"one")
        # And the recovery key goes on opening it.
        self.lose()
        self.assertEqual(self.recover(key).name, "done")


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

    def test_a_recovery_meanwhile_waits_and_loses_nothing(self):
        self.begin("bob", "carol")
        self.share("bob")
        self.share("carol")
        self.assertIsNone(as_uid(self.people["alice"][1], self.one_by_one(2000)))

        def reveal():
            with self.server.client(frontEnd="terminal") as client:
                client.run("recoveryNew", answers(PASSCODE), subject=("", wire.UNKNOWN_UID), store="team")
                return client.revealed[0].decode()
        key = as_uid(self.people["alice"][1], reveal)
        done = []
        others = [
            threading.Thread(target=lambda who: done.append(self.ask(
                "alice", "unshare", answers(PASSCODE), store="team", kind="person", name=self.name(who))),
                args=(who,))
            for who in ("bob", "carol")]
        for other in others:
            other.start()
        for _ in range(5):
            answer = self.ask("alice", "recover", answers("", recoveryKey=key), store="team")
            self.assertEqual(answer.name, "done", answer)
            time.sleep(0.1)
        for other in others:
            other.join()
        # Two removals at once: both are done, or one is told to try again.
        self.assertLessEqual({getattr(answer, "code", None) for answer in done}, {None, 35}, done)
        self.server.restart(signal.SIGKILL)
        self.done("alice", "openStore", answers(PASSCODE))
        self.assertEqual(self.value("alice", "k1999"), b"1999")
        self.assertEqual({name.split(".")[0] for name in self.slots()} - {f"u{self.people['carol'][1]}",
                                                                         f"u{self.people['bob'][1]}"},
                         {"r6", f"u{self.people['alice'][1]}"})
        self.assertEqual(self.ask("alice", "recover", answers("", recoveryKey=key), store="team").name, "done")

    def test_no_listing_goes_on_under_another_key(self):
        self.begin("bob")
        self.share("bob")
        self.assertIsNone(as_uid(self.people["alice"][1], self.one_by_one(1100)))
        client = as_uid_connection(self.people["alice"][1], self.server)
        self.addCleanup(client.close)
        page = client.run("list", store="team", prefix="", cursor=0)
        self.assertNotEqual(page.cursor, 0)
        self.unshare("bob")
        self.assertEqual(client.run("list", store="team", prefix="", cursor=page.cursor).code, 35)
        names, cursor = [], 0
        while True:
            page = client.run("list", store="team", prefix="", cursor=cursor)
            names, cursor = names + page.names, page.cursor
            if cursor == 0:
                break
        self.assertEqual(len(set(names)), 1101)

    @slow
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
