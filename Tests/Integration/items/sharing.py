"""Items in a store that is shared: who may read it finds them and gets their secrets, who may write changes them, and
who is no member is told nothing."""

import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account
from itemlab import Items, Mirror, Refused

NEEDS_ROOT = True
TIMEOUT = 120
NO_ONE = ("", wire.UNKNOWN_UID)
DOES_NOT_EXIST, NOT_PERMITTED = 3, 30


class Sharing(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("RetryLimit=0\nThrottleAfter=0")
        self.addCleanup(self.daemon.close)
        self.names, self.clients = {}, {}
        for who in ("alice", "bob", "eve"):
            self.names[who], uid = add_account()
            self.addCleanup(remove_account, self.names[who])
            self.clients[who] = as_uid_connection(uid, self.daemon, "terminal")
            self.addCleanup(self.clients[who].close)
            self.done(who, "create", way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        self.share("bob", "reader")
        self.team = {
            who: Items(None, self.clients[who], "team" if who == "alice" else f"{self.names['alice']}/team")
            for who in self.clients}

    def done(self, who, request, **fields):
        answer = self.clients[who].run(request, answers(PASSCODE), subject=NO_ONE, **fields)
        self.assertEqual(answer.name, "done", answer)

    def share(self, who, role):
        self.done("alice", "share", store="team", kind="person", name=self.names[who], role=role)

    def refused(self, code, call, *arguments, **fields):
        with self.assertRaises(Refused) as caught:
            call(*arguments, **fields)
        self.assertEqual(caught.exception.code, code, caught.exception.answer)

    def test_roles(self):
        item = self.team["alice"].put({"a": "1"}, b"x")
        bob = self.team["bob"]
        self.assertEqual(bob.find({"a": "1"}), [item])
        self.assertEqual(bob.secret(item["id"]), b"x")
        mirror = Mirror(bob).follow()
        self.assertEqual(mirror.known, {item["id"]: item})
        for call in (
            lambda: bob.put({}, b"y"), lambda: bob.change(item["id"], label="y"), lambda: bob.delete(item["id"]),
            lambda: bob.collection("y"), lambda: bob.delete_collection(bytes(16)),
            lambda: bob.alias("y", bytes(16)),
        ):
            self.refused(NOT_PERMITTED, call)
        self.share("bob", "writer")
        new = bob.put({"b": "2"}, b"y")
        self.assertEqual(self.team["alice"].secret(new["id"]), b"y")
        self.assertEqual(set(mirror.follow().known), {item["id"], new["id"]})
        for call in (self.team["eve"].find, self.team["eve"].news):
            self.refused(DOES_NOT_EXIST, call)
        # A new key for all of it: nothing of the index is wrong afterwards.
        self.share("eve", "reader")
        self.assertEqual(len(self.team["eve"].find()), 2)
        self.done("alice", "unshare", store="team", kind="person", name=self.names["eve"])
        self.refused(DOES_NOT_EXIST, self.team["eve"].find)
        self.assertCountEqual(bob.find(), [item, new])
        self.assertEqual(set(mirror.follow().known), {item["id"], new["id"]})
        self.assertEqual(mirror.times_anew, 2)
        bob.delete(item["id"])
        self.assertEqual(set(mirror.follow().known), {new["id"]})


if __name__ == "__main__":
    unittest.main()
