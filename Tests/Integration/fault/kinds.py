"""What every store promises, for each kind: what is damaged is said and never a wrong value, what can be put right is,
the owner's quota holds whoever writes and while there is a new key, and an export has everything for a store of any
kind."""

import os
import shutil
import sqlite3
import unittest

import wire
from daemonlab import BLOCK, PAGE, PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account, wait_until
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 300
NO_ONE = ("", wire.UNKNOWN_UID)
KINDS = {"own": "ownPasscode", "follows": "followStore", "shared": "shared", "conf": "configuration"}
# Which blocks of a slots file a store of this kind cannot do without, beside a recovery key (FORMAT.md).
NEEDED = {"own": {3}, "follows": {3, 4, 5}, "shared": set(), "conf": {3, 4, 5}}
RECORDS = 40
PHRASE, NEW = "a phrase of its own", "another horse"
DOES_NOT_EXIST, INVALID_ACTION, DAMAGED, TOO_LARGE = 3, 26, 32, 33
MIB = 1 << 20


class Case(unittest.TestCase):
    POLICY = "RetryLimit=0\nThrottleAfter=0\n"

    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    def setUp(self):
        self.server = Daemon(policy=self.POLICY)
        self.addCleanup(self.server.close)
        self.connect()
        for who in self.people:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")

    def connect(self):
        self.clients = {
            who: as_uid_connection(uid, self.server, "terminal") for who, (_, uid) in self.people.items()}
        for client in self.clients.values():
            self.addCleanup(client.close)

    def name(self, who):
        return self.people[who][0]

    def called(self, who, store):
        return store if who == "alice" else f"{self.name('alice')}/{store}"

    def ask(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        if "store" in fields:
            fields["store"] = self.called(who, fields["store"])
        return self.clients[who].run(request, script, payloads, **fields)

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def share(self, store, role="writer", by="alice", whom="bob"):
        self.done(by, "share", answers(PASSCODE), store=store, kind="person", name=self.name(whom), role=role)

    def make(self, store, way=None):
        self.done("alice", "create", answers(PASSCODE), store=store, way=way or KINDS[store])
        if (way or store) in ("shared", "conf", "configuration"):
            self.share(store)

    def get(self, who, store, name="n1"):
        answer = self.ask(who, "get", store=store, name=name)
        return answer.payload if answer.name == "value" else answer.code

    def folder(self, store):
        ident = self.done("alice", "status", store=store).store.hex()
        return next(each for each in self.server.stores() if os.path.basename(each).replace("-", "") == ident)

    @staticmethod
    def value(number):
        return b"%d " % number * 20


class Damage(Case):
    def setUp(self):
        super().setUp()
        self.keys, self.folders = {}, {}
        for store in KINDS:
            self.make(store)
            for number in range(RECORDS):
                self.done("alice", "set", payloads=[self.value(number)], store=store, name=f"n{number}")
            if store != "conf":
                self.clients["alice"].revealed = []
                self.done("alice", "recoveryNew", answers(PASSCODE), store=store)
                self.keys[store] = self.clients["alice"].revealed[0].decode()
            self.folders[store] = self.folder(store)
        self.server.end()
        self.template = os.path.join(self.server.folder, "template")
        shutil.copytree(self.server.state, self.template)

    def fresh(self):
        if self.server.is_running:
            self.server.kill()
        shutil.rmtree(self.server.state)
        shutil.copytree(self.template, self.server.state)

    def start(self):
        self.server.start()
        self.connect()
        for who in self.people:
            self.done(who, "openStore", answers(PASSCODE))

    def spoil(self, path, *places, how=0x5A):
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            for place in places:
                data[place] ^= how
            file.seek(0)
            file.write(data)

    def others_are_whole(self, but):
        for store in KINDS:
            if store != but:
                self.done("alice", "openStore", answers(PASSCODE), store=store)
                self.assertEqual(self.get("alice", store), self.value(1), store)

    @slow
    def test_each_block(self):
        """What a kind does not need to be opened is made anew; what it needs is damage, and a recovery key opens it"""
        for store, folder in self.folders.items():
            for block in range(16):
                with self.subTest(store=store, block=block):
                    self.fresh()
                    self.spoil(os.path.join(folder, "slots"), block * PAGE + 50, block * PAGE + 300)
                    self.start()
                    opened = self.ask("alice", "openStore", answers(PASSCODE), store=store)
                    status = self.done("alice", "status", store=store)
                    if block not in NEEDED[store]:
                        self.assertEqual(opened.name, "done", opened)
                        self.assertEqual((self.get("alice", store), status.lock), (self.value(1), "unlocked"))
                        if store in ("shared", "conf"):
                            self.assertEqual(self.get("bob", store), self.value(1))
                        continue
                    self.assertEqual((opened.name, opened.code), ("refused", DAMAGED), opened)
                    self.assertEqual((self.get("alice", store), status.lock), (DAMAGED, "damaged"))
                    self.assertIn(f"block {block}", status.trouble)
                    self.assertTrue(status.advice)
                    self.others_are_whole(store)
                    if store in self.keys:
                        self.done("alice", "recover", answers(NEW, recoveryKey=self.keys[store]), store=store)
                        self.done("alice", "openStore", answers(NEW), store=store)
                        self.assertEqual(self.get("alice", store), self.value(1))

    def test_one_bit(self):
        """One wrong bit of a slots file or a member's file is put right, whatever the kind"""
        for store, folder in self.folders.items():
            self.fresh()
            for block in range(16):
                self.spoil(os.path.join(folder, "slots"), block * PAGE + 60 + block, how=1 << block % 8)
            members = os.path.join(folder, "members")
            for number, name in enumerate(sorted(os.listdir(members)) if os.path.isdir(members) else ()):
                self.spoil(os.path.join(members, name), 60 + 70 * number, how=1 << number)
            self.start()
            with self.subTest(store):
                self.done("alice", "openStore", answers(PASSCODE), store=store)
                self.assertEqual(self.get("alice", store), self.value(1))
                if store in ("shared", "conf"):
                    self.assertEqual(self.get("bob", store), self.value(1))
                self.others_are_whole(store)

    def harm(self, path):
        """What may become of a member's file; each as it was before."""
        with open(path, "rb") as file:
            data = file.read()
        folder = os.path.dirname(path)
        other = next(name for name in sorted(os.listdir(folder), reverse=True) if name != os.path.basename(path))
        with open(os.path.join(folder, other), "rb") as file:
            others = file.read()
        turned = bytearray(data)
        for place in (60, 200):
            turned[place] ^= 0x5A
        return {"turned": bytes(turned), "cut short": data[:-1], "empty": b"", "zeroes": bytes(len(data)),
                "another's": others, "missing": None}

    def members_files(self, store, who):
        folder = os.path.join(self.folders[store], "members")
        path = os.path.join(folder, f"u{self.people[who][1]}.1")
        self.fresh()
        for what, data in self.harm(path).items():
            with self.subTest(store=store, who=who, what=what):
                self.fresh()
                if data is None:
                    os.unlink(path)
                else:
                    with open(path, "wb") as file:
                        file.write(data)
                self.start()
                yield what

    @slow
    def test_a_members_file(self):
        """Who has no slot that opens gets nothing, the others go on, and sharing it again gives them one"""
        for store in ("shared", "conf"):
            for what in self.members_files(store, "bob"):
                self.assertIn(self.get("bob", store), (DOES_NOT_EXIST, INVALID_ACTION, DAMAGED), what)
                self.assertEqual(self.get("alice", store), self.value(1))
                self.share(store)
                self.assertEqual(self.get("bob", store), self.value(1))
                self.others_are_whole(None)

    @slow
    def test_its_owners_file(self):
        """Another member lets the owner in again, or the recovery key does"""
        for what in self.members_files("shared", "alice"):
            self.assertIn(self.get("alice", "shared"), (INVALID_ACTION, DAMAGED), what)
            self.assertEqual(self.get("bob", "shared"), self.value(1))
            if what in ("turned", "missing"):
                self.done("alice", "recover", answers("", recoveryKey=self.keys["shared"]), store="shared")
            else:
                self.share("shared", by="bob", whom="alice")
            self.assertEqual(self.get("alice", "shared"), self.value(1))
            self.assertEqual(self.done("alice", "status", store="shared").lock, "unlocked")
            self.server.restart(9)
            self.connect()
            self.done("alice", "openStore", answers(PASSCODE))
            self.assertEqual(self.get("alice", "shared"), self.value(1))

    @slow
    def test_the_recovery_keys_file(self):
        """Without it the recovery key opens nothing, and that is said before it is needed"""
        path = os.path.join(self.folders["shared"], "members", "r6.1")
        self.fresh()
        for what, data in self.harm(path).items():
            with self.subTest(what):
                self.fresh()
                if data is None:
                    os.unlink(path)
                else:
                    with open(path, "wb") as file:
                        file.write(data)
                self.start()
                self.assertEqual(self.get("alice", "shared"), self.value(1))
                status = self.done("alice", "status", store="shared")
                self.assertTrue(status.trouble or not status.hasRecoveryKey, status)
                answer = self.ask("alice", "recover", answers("", recoveryKey=self.keys["shared"]), store="shared")
                self.assertEqual(answer.name, "refused", answer)
                # It is the right key, and not its holder's mistake.
                self.assertNotEqual(answer.code, wire.CODES["recoveryKeyInvalid"], answer)
                # A new one works.
                self.clients["alice"].revealed = []
                self.done("alice", "recoveryNew", answers(PASSCODE), store="shared")
                key = self.clients["alice"].revealed[0].decode()
                self.done("alice", "recover", answers("", recoveryKey=key), store="shared")

    def test_records(self):
        """A record that is damaged is said to be, to each who reads it; the owner mends the store"""
        for store, folder in self.folders.items():
            with self.subTest(store):
                self.fresh()
                database = sqlite3.connect(os.path.join(folder, "records.db"), isolation_level=None)
                # Their ids are drawn.
                database.execute(
                    "UPDATE records SET tag=zeroblob(16), body=zeroblob(64) "
                    "WHERE id IN (SELECT id FROM records ORDER BY id LIMIT 4)")
                (count,) = database.execute("SELECT count(*) FROM records WHERE tag = zeroblob(16)").fetchone()
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                database.close()
                self.assertGreater(count, 1)
                self.start()
                self.done("alice", "openStore", answers(PASSCODE), store=store)
                people = ("alice", "bob") if store in ("shared", "conf") else ("alice",)
                for who in people:
                    found = [self.get(who, store, f"n{number}") for number in range(RECORDS)]
                    for number, value in enumerate(found):
                        self.assertIn(value, (self.value(number), DAMAGED))
                    self.assertGreaterEqual(found.count(DAMAGED), count)
                self.assertTrue(self.done("alice", "status", store=store).trouble)
                self.done("alice", "mend", answers(PASSCODE), store=store)
                self.assertEqual(self.done("alice", "status", store=store).trouble, "")
                for who in people:
                    found = [self.get(who, store, f"n{number}") for number in range(RECORDS)]
                    self.assertEqual(found.count(DOES_NOT_EXIST), count)
                    self.assertEqual(sum(value == self.value(at) for at, value in enumerate(found)), RECORDS - count)
                self.others_are_whole(store)


class Quota(Case):
    POLICY = "RetryLimit=0\nThrottleAfter=0\nStoreQuota=4MiB\n"

    def fill(self, who, store, size=90_000):
        number = 0
        while True:
            answer = self.ask(who, "set", (), [os.urandom(size)], store=store, name=f"{who} {number}")
            if answer.name == "refused":
                self.assertEqual((answer.code, answer.parameters), (TOO_LARGE, {"limit": str(4 * MIB)}), answer)
                return number
            number += 1

    def used(self, who):
        return self.done(who, "status").used

    def test_whoever_writes_its_owner_pays(self):
        for store in ("shared", "conf"):
            with self.subTest(store):
                self.make(store)
                before = self.used("bob")
                self.assertGreater(self.fill("bob", store), 10)
                self.assertEqual(self.used("bob"), before)
                self.assertGreater(self.used("alice"), 3 * MIB)
                # It is full for its owner too, and for each of the owner's stores; not for bob's.
                self.assertEqual(self.fill("alice", store), 0)
                self.assertEqual(self.ask("alice", "set", (), [bytes(900_000)], name="a").code, TOO_LARGE)
                answer = self.clients["bob"].run("set", (), [bytes(90_000)], name="a")
                self.assertEqual(answer.name, "done", answer)
                self.done("alice", "reset", answers(PASSCODE), store=store)
                self.done("alice", "set", payloads=[bytes(90_000)], name="a")
                self.done("alice", "delete", name="a")

    def test_a_follower_counts(self):
        self.make("follows")
        self.assertGreater(self.fill("alice", "follows"), 10)
        self.assertEqual(self.ask("alice", "set", (), [bytes(90_000)], name="a").code, TOO_LARGE)

    def test_a_full_store_gets_its_new_key(self):
        """Twice its size while that goes on, which is the daemon's affair and not its owner's"""
        self.make("shared")
        count = self.fill("bob", "shared")
        before = self.used("alice")
        self.done("alice", "unshare", answers(PASSCODE), store="shared", kind="person", name=self.name("bob"))
        self.assertFalse(self.done("alice", "members", store="shared").newKeyIsDue)
        self.assertEqual(self.get("bob", "shared", "bob 0"), DOES_NOT_EXIST)
        for number in range(count):
            self.assertEqual(len(self.get("alice", "shared", f"bob {number}")), 90_000)

        def size(path):
            try:
                return os.stat(path).st_size
            except FileNotFoundError:
                # It has gone since its folder was read.
                return 0

        def counted():
            return sum(size(os.path.join(place, name))
                       for store in self.server.stores() if store in mine for place, _, names in os.walk(store)
                       for name in names)
        mine = {self.folder(""), self.folder("shared")}
        # The members' files are a page each.
        wait_until(lambda: 0 <= self.used("alice") - counted() <= 4096, "what it takes is what is there", 20)
        self.assertLess(self.used("alice"), before + 200_000)
        # And it is as full as it was.
        self.assertLessEqual(self.fill("alice", "shared"), 2)


class Carried(Case):
    def exported(self, who, store):
        client = self.clients[who]
        chunks = [self.ask(who, "exportBegin", answers(PASSCODE, newPassphrase=PHRASE), store=store)]
        while chunks[-1].name == "chunk" and not chunks[-1].last:
            chunks.append(client.run("exportNext"))
        self.assertEqual({chunk.name for chunk in chunks}, {"chunk"}, chunks[-1])
        return [chunk.payload for chunk in chunks]

    def imported(self, who, store, pieces):
        header, *pieces = pieces
        self.done(who, "importBegin", answers(PASSCODE, passphrase=PHRASE), [header], store=store, replace=False)
        for _ in range(2):
            for number, piece in enumerate(pieces):
                answer = self.clients[who].run("importChunk", (), [piece], last=number == len(pieces) - 1)
                self.assertIn(answer.name, ("progress", "done"), answer)
        self.assertEqual(answer.name, "done")

    @slow
    def test_from_each_kind_to_each_kind(self):
        for store in KINDS:
            self.make(store)
            for number in range(RECORDS):
                self.done("alice", "set", payloads=[self.value(number) * 500], store=store, name=f"{store} {number}")
        files = {store: self.exported("alice", store) for store in KINDS}
        # A member's export has the same in it.
        files["shared, by a member"] = self.exported("bob", "shared")
        for to in KINDS:
            self.done("alice", "reset", answers(PASSCODE), store=to)
            self.make(to)
            for source, pieces in files.items():
                with self.subTest(source=source, to=to):
                    self.imported("alice", to, pieces)
                    of = source.split(",")[0]
                    for number in range(RECORDS):
                        self.assertEqual(self.get("alice", to, f"{of} {number}"), self.value(number) * 500)
                    for number in range(RECORDS):
                        self.done("alice", "delete", store=to, name=f"{of} {number}")
        self.imported("bob", "shared", files["own"])
        self.assertEqual(self.get("alice", "shared", "own 1"), self.value(1) * 500)


if __name__ == "__main__":
    unittest.main()
