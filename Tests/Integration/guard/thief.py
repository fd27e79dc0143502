"""A thief who has the whole disk, and a member's passcode: what opens, before and after that member was removed. And
where in the daemon's memory a member's private key is."""

import os
import shutil
import signal
import unittest

import memorylab
import recordsfile
import slotfile
import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account

NEEDS_ROOT = True
TIMEOUT = 120
NO_ONE = ("", wire.UNKNOWN_UID)


class Thief(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    def setUp(self):
        self.server = Daemon(policy="RetryLimit=0\nThrottleAfter=0\n")
        self.addCleanup(self.server.close)
        self.passcodes = {"alice": "the passcode of alice", "bob": "another one, of bob"}
        for who, passcode in self.passcodes.items():
            self.done(who, "create", answers(passcode), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        self.store("before")

    def done(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields["subject"] = NO_ONE
        answer = as_uid(self.people[who][1], lambda: self.server.ask(request, script, payloads, **fields))
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def store(self, value):
        self.done("alice", "set", payloads=[value.encode()], store="team", name=value)

    def share(self, request):
        fields = {"role": "writer"} if request == "share" else {}
        self.done("alice", request, answers(self.passcodes["alice"]), store="team", kind="person",
                  name=self.people["bob"][0], **fields)

    # the thief

    def disk(self):
        """A copy of everything, as it lies there when the machine is off."""
        self.server.end(signal.SIGTERM)
        copy = os.path.join(self.server.folder, f"stolen-{len(os.listdir(self.server.folder))}")
        shutil.copytree(self.server.state, copy)
        self.server.start()
        for who, passcode in self.passcodes.items():
            self.done(who, "openStore", answers(passcode))
        return copy

    @staticmethod
    def file(*parts):
        with open(os.path.join(*parts), "rb") as file:
            return file.read()

    def team(self, disk):
        for name in os.listdir(os.path.join(disk, "stores")):
            if os.path.isdir(os.path.join(disk, "stores", name, "members")):
                return os.path.join(disk, "stores", name)
        self.fail("no shared store")

    def private(self, disk, who):
        """With the person's passcode, from their own store."""
        machine = self.file(disk, "machine.key")
        for name in os.listdir(os.path.join(disk, "stores")):
            slots = self.file(disk, "stores", name, "slots")
            owner = slotfile.owner(slots, machine)
            if owner["account"].decode() == self.people[who][0] and owner["store"] == b"default":
                key = slotfile.open_passcode(slots, machine, self.passcodes[who].encode())
                return slotfile.member_key(slots, machine, key)[1]
        self.fail(f"no store of {who}")

    def keys(self, disk, who):
        """Every key of the shared store that the person's slots give, with its generation."""
        machine, team, found = self.file(disk, "machine.key"), self.team(disk), {}
        ident = bytes.fromhex(os.path.basename(team).replace("-", ""))
        private = self.private(disk, who)
        for name in os.listdir(os.path.join(team, "members")):
            data = self.file(team, "members", name)
            try:
                found[slotfile.member(data, machine, ident).generation] = slotfile.open_member(
                    data, machine, ident, private)
            except slotfile.Wrong:
                continue
        return found

    def records(self, disk, keys):
        """What these keys open."""
        team = self.team(disk)
        ident = bytes.fromhex(os.path.basename(team).replace("-", ""))
        for generation, key in keys.items():
            try:
                found, _ = recordsfile.read(os.path.join(team, "records.db"), ident, key, generation)
            except recordsfile.Damaged:
                continue
            return set(found)
        return None

    def test_what_a_member_could_open_and_what_not_any_more(self):
        alone = self.disk()
        self.assertEqual(self.keys(alone, "bob"), {})
        self.share("share")
        shared = self.disk()
        former = self.keys(shared, "bob")
        self.assertEqual(list(former), [1])
        self.assertEqual(self.records(shared, former), {b"before"})
        self.share("unshare")
        self.store("after")
        removed = self.disk()
        # Neither the passcode of today nor the key that was kept.
        self.assertEqual(self.keys(removed, "bob"), {})
        self.assertIsNone(self.records(removed, former))
        self.assertIsNone(self.records(removed, {2: former[1]}))
        self.assertEqual(self.records(removed, self.keys(removed, "alice")), {b"before", b"after"})
        # A slot of the former generation, put back, is one of another key, and opens nothing.
        name = f"u{self.people['bob'][1]}.1"
        shutil.copy(os.path.join(self.team(shared), "members", name), os.path.join(self.team(removed), "members"))
        self.assertIsNone(self.records(removed, self.keys(removed, "bob")))
        # Nothing of the former records is left over.
        self.assertEqual(
            sorted(each for each in os.listdir(self.team(removed)) if not each.startswith(".")),
            ["members", "records.db", "slots"])
        # Shared once more, everything opens.
        self.share("share")
        again = self.disk()
        self.assertEqual(self.records(again, self.keys(again, "bob")), {b"before", b"after"})

    def recovery_key(self):
        def run():
            with self.server.client(frontEnd="terminal") as client:
                script = answers(self.passcodes["alice"])
                self.assertEqual(client.run("recoveryNew", script, subject=NO_ONE, store="team").name, "done")
                return client.revealed[0].decode()

        return as_uid(self.people["alice"][1], run)

    def recovered(self, disk, text):
        """The keys of the shared store that a recovery key gives, without the machine key."""
        team = self.team(disk)
        members = os.path.join(team, "members")
        files = [self.file(members, name) for name in os.listdir(members) if name.startswith("r")]
        ident = bytes.fromhex(os.path.basename(team).replace("-", ""))
        return slotfile.open_shared_recovery(self.file(team, "slots"), text, ident, files)

    def test_a_recovery_key_opens_each_new_key_and_a_former_one_nothing(self):
        former = self.recovery_key()
        first = self.disk()
        self.assertEqual(self.records(first, self.recovered(first, former)), {b"before"})
        key = self.recovery_key()
        self.share("share")
        self.share("unshare")
        self.store("after")
        later = self.disk()
        found = self.recovered(later, key)
        self.assertEqual(list(found), [2])
        self.assertEqual(self.records(later, found), {b"before", b"after"})
        with self.assertRaises(slotfile.Wrong):
            self.recovered(later, former)
        # A file that was kept is one of another key.
        team = self.team(later)
        for name in os.listdir(os.path.join(self.team(first), "members")):
            if name.startswith("r"):
                shutil.copy(os.path.join(self.team(first), "members", name), os.path.join(team, "members"))
        self.assertEqual(list(self.recovered(later, key)), [2])
        # Nobody without the recovery key has what its file is sealed to.
        ident = bytes.fromhex(os.path.basename(team).replace("-", ""))
        for name in os.listdir(os.path.join(team, "members")):
            if name.startswith("r"):
                for who in self.people:
                    with self.assertRaises(slotfile.Wrong):
                        slotfile.open_member(
                            self.file(team, "members", name), None, ident, self.private(later, who))

    def test_a_slot_that_was_put_back_lets_nobody_in(self):
        self.share("share")
        slot = os.path.join(self.team(self.server.state), "members", f"u{self.people['bob'][1]}.1")
        kept = self.file(slot)
        self.share("unshare")
        self.server.end(signal.SIGKILL)
        for name in (slot, slot[:-1] + "2"):
            with open(name, "wb") as file:
                file.write(kept)
        shutil.chown(slot, *self.owner(slot))
        shutil.chown(slot[:-1] + "2", *self.owner(slot))
        self.server.start()
        for who, passcode in self.passcodes.items():
            self.done(who, "openStore", answers(passcode))
        answer = as_uid(self.people["bob"][1], lambda: self.server.ask(
            "get", store=f"{self.people['alice'][0]}/team", name="before"))
        self.assertNotEqual(answer.name, "value")
        self.assertEqual(self.done("alice", "get", store="team", name="before").payload, b"before")

    @staticmethod
    def owner(path):
        folder = os.stat(os.path.dirname(path))
        return folder.st_uid, folder.st_gid

    # memory

    def test_a_members_private_key_is_in_guarded_memory_alone_and_goes_with_the_lock(self):
        self.share("share")
        private = self.private(self.disk(), "bob")
        needles = memorylab.Needles()
        needles.add("private", private)
        pid = self.server.process.pid
        self.done("bob", "get", store=f"{self.people['alice'][0]}/team", name="before")
        found = memorylab.scan(pid, needles)
        self.assertTrue(found, "the key is nowhere, so this test sees nothing")
        guarded = memorylab.guarded(pid)
        for place in found["private"]:
            self.assertIn(place.split()[1], guarded, place)
        self.done("bob", "lock")
        self.assertEqual(memorylab.gone(pid, needles), {})


if __name__ == "__main__":
    unittest.main()
