"""A member's file that is damaged: the member hears what it is and who mends it, the owner sees who has no access, and
both ways out of it work."""

import glob
import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account

NEEDS_ROOT = True
NO_ONE = ("", wire.UNKNOWN_UID)
DOES_NOT_EXIST, INVALID_ACTION, STORE_DAMAGED = 3, 26, 32


class Damaged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob", "carol"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    whose = "bob"

    def setUp(self):
        self.server = Daemon(policy="RetryLimit=0\nThrottleAfter=0\n")
        self.addCleanup(self.server.close)
        for who in ("alice", "bob"):
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        self.done("alice", "set", payloads=[b"kept"], store="team", name="key")
        self.share()
        self.assertEqual(self.value(), b"kept")
        self.server.stop()
        self.damage()
        self.server.start()
        for who in ("alice", "bob"):
            self.done(who, "openStore", answers(PASSCODE))

    def damage(self):
        (path,) = glob.glob(f"{self.server.state}/stores/*/members/u{self.people[self.whose][1]}.*")
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            # A line of zeroes, more than the block corrects by itself.
            data[64:1024] = bytes(960)
            file.seek(0)
            file.write(data)

    def run_as(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        client = as_uid_connection(self.people[who][1], self.server)
        try:
            return client.run(request, script, payloads, **fields)
        finally:
            client.close()

    def done(self, *arguments, **fields):
        answer = self.run_as(*arguments, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def refused(self, code, *arguments, **fields):
        answer = self.run_as(*arguments, **fields)
        self.assertEqual((answer.name, answer.fields.get("code")), ("refused", code), answer)
        return answer

    def share(self):
        self.done("alice", "share", answers(PASSCODE), store="team", kind="person", name=self.people["bob"][0],
                  role="writer")

    def team(self):
        return f"{self.people['alice'][0]}/team"

    def value(self):
        return self.done("bob", "get", store=self.team(), name="key").payloads[0]

    def members(self):
        members = self.done("alice", "members", store="team").fields["members"]
        return {each["number"]: each["isPending"] for each in members}

    # tests

    def test_told(self):
        """the member is told, a stranger is not, and the owner sees who waits"""
        for request, fields in (("get", {"name": "key"}), ("status", {}), ("openStore", {}), ("members", {})):
            self.refused(STORE_DAMAGED, "bob", request, store=self.team(), **fields)
        self.refused(DOES_NOT_EXIST, "carol", "openStore", store=self.team())
        self.assertEqual(self.members(), {self.people["alice"][1]: False, self.people["bob"][1]: True})

    def test_shared_again(self):
        """the owner shares it again, and it is as before"""
        self.share()
        self.assertEqual(self.value(), b"kept")
        self.assertEqual(self.members(), {self.people["alice"][1]: False, self.people["bob"][1]: False})

    def test_unshared(self):
        """the owner ends it: the store gets a new key, as the member may have kept the former one"""
        before = self.done("alice", "status", store="team").fields
        self.done("alice", "unshare", answers(PASSCODE), store="team", kind="person", name=self.people["bob"][0])
        self.refused(DOES_NOT_EXIST, "bob", "get", store=self.team(), name="key")
        self.assertEqual(self.members(), {self.people["alice"][1]: False})
        self.assertFalse(self.done("alice", "members", store="team").fields["newKeyIsDue"])
        self.assertEqual(glob.glob(f"{self.server.state}/stores/*/members/u{self.people['bob'][1]}.*"), [])
        self.assertEqual(self.done("alice", "get", store="team", name="key").payloads[0], b"kept")
        self.assertEqual(before["lock"], self.done("alice", "status", store="team").fields["lock"])


class Owners(Damaged):
    """The file of the owner themselves."""
    whose = "alice"
    test_told = test_unshared = None

    def members(self):
        members = self.done("bob", "members", store=self.team()).fields["members"]
        return {each["number"]: (each["role"], each["isPending"]) for each in members}

    def test_shared_again(self):
        """the others go on, and see who waits; the owner hears it, and cannot be taken out of it"""
        self.assertEqual(self.value(), b"kept")
        self.assertEqual(
            self.members(), {self.people["alice"][1]: ("owner", True), self.people["bob"][1]: ("writer", False)})
        self.refused(STORE_DAMAGED, "alice", "get", store="team", name="key")
        self.refused(INVALID_ACTION, "alice", "unshare", answers(PASSCODE), store="team", kind="person",
                     name=self.people["alice"][0])
        self.done("bob", "share", answers(PASSCODE), store=self.team(), kind="person", name=self.people["alice"][0],
                  role="owner")
        self.assertEqual(self.members()[self.people["alice"][1]], ("owner", False))
        self.assertEqual(self.done("alice", "get", store="team", name="key").payloads[0], b"kept")


if __name__ == "__main__":
    unittest.main()
