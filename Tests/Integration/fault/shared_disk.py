"""A disk that is full before or in the middle of a shared store's new key: the answer says so, nothing is lost, the
other members go on, whoever was removed has nothing, and the new key comes when there is room."""

import os
import signal
import subprocess
import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account, wait_until
from disklab import ext4
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 240
NO_ONE = ("", wire.UNKNOWN_UID)
RECORDS, SIZE = 300, 10_000
DOES_NOT_EXIST = 3


class Full(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob", "carol"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    def setUp(self):
        self.server = Daemon(policy="RetryLimit=0\nThrottleAfter=0\n", start=False)
        self.addCleanup(self.server.close)
        ext4(self, self.server, 24 << 20)
        self.addCleanup(self.unmount)
        self.server.start()
        self.connect()
        for who in self.people:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        self.stored = {f"n{number}": os.urandom(SIZE) for number in range(RECORDS)}
        for name, value in self.stored.items():
            self.done("alice", "set", payloads=[value], store="team", name=name)
        for who in ("bob", "carol"):
            self.done("alice", "share", answers(PASSCODE), store="team", kind="person", name=self.name(who),
                      role="writer")

    def unmount(self):
        self.server.kill()
        subprocess.run(["umount", "-l", self.server.state], check=False)

    def connect(self):
        self.clients = {who: as_uid_connection(uid, self.server) for who, (_, uid) in self.people.items()}
        for client in self.clients.values():
            self.addCleanup(client.close)

    def restart(self, how):
        self.server.restart(how)
        self.connect()

    def name(self, who):
        return self.people[who][0]

    def ask(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        if "store" in fields and who != "alice":
            fields["store"] = f"{self.name('alice')}/team"
        return self.clients[who].run(request, script, payloads, **fields)

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def open(self, *people):
        for who in people:
            self.done(who, "openStore", answers(PASSCODE))

    def is_due(self):
        return self.done("alice", "members", store="team").newKeyIsDue

    def fill(self, leave):
        """Until there is only so much room."""
        self.filler = os.path.join(self.server.state, "filler")
        with open(self.filler, "ab", buffering=0) as file:
            size = 1 << 16
            while size >= 512:
                found = os.statvfs(self.server.state)
                try:
                    if found.f_bavail * found.f_frsize - leave < size or file.write(b"x" * size) < size:
                        size //= 2
                except OSError:
                    size //= 2

    def all_there(self, who):
        for name, value in self.stored.items():
            self.assertEqual(self.done(who, "get", store="team", name=name).payload, value)

    def removed_on(self, leave):
        self.fill(leave)
        answer = self.done("alice", "unshare", answers(PASSCODE), store="team", kind="person", name=self.name("bob"))
        # It is done, and what is not done yet is said, with what helps.
        self.assertEqual(answer.line[0], "unshare.key-due", answer)
        self.assertRegex(answer.line[2], "full|room|space")
        self.assertTrue(self.is_due())
        for how in (None, signal.SIGKILL, signal.SIGTERM):
            if how:
                self.restart(how)
                self.open("carol", "alice", "bob")
            for who in ("alice", "carol"):
                self.all_there(who)
            self.assertEqual(self.ask("bob", "get", store="team", name="n0").code, DOES_NOT_EXIST)
            self.assertTrue(self.is_due())
        os.unlink(self.filler)
        self.done("carol", "set", payloads=[b"later"], store="team", name="later")
        for who in ("alice", "carol"):
            self.done(who, "lock")
        self.open("carol", "alice")
        self.all_there("carol")
        wait_until(lambda: not self.is_due(), "the new key", 60)
        self.all_there("alice")
        self.assertEqual(self.done("carol", "get", store="team", name="later").payload, b"later")
        self.assertEqual(self.ask("bob", "get", store="team", name="n0").code, DOES_NOT_EXIST)
        (team,) = [store for store in self.server.stores() if os.path.isdir(os.path.join(store, "members"))]
        self.assertEqual({name.split(".")[0] for name in os.listdir(os.path.join(team, "members"))},
                         {f"u{self.people[who][1]}" for who in ("alice", "carol")})
        wait_until(lambda: not {"records.new", "records.old"} & set(os.listdir(team)), "nothing is left over")

    @slow
    def test_from_the_beginning(self):
        self.removed_on(0)

    @slow
    def test_in_the_middle(self):
        """Half of it fits."""
        self.removed_on(RECORDS * SIZE // 2)


if __name__ == "__main__":
    unittest.main()
