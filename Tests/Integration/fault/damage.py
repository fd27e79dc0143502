"""Files that changed behind the daemon's back: reported as damage, never a wrong value, never a burnt try, never
overwritten."""

import os
import random
import shutil
import sqlite3
import time
import unittest
import uuid

import wire
from daemonlab import answers
from faultlab import Lab, Slots, code, policy
from slow import slow

TIMEOUT = 900
DAMAGED = wire.CODES["storeDamaged"]
PASSCODE = "correct horse"
SOAK = os.environ.get("APPVAULT_TESTS") == "soak"

# Each block begins a page of its own.
PAGE = 4096


class Files:
    """The files of a state folder, as they were."""

    def __init__(self, folder):
        self.folder = folder
        self.content = {}
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    self.content[path] = file.read()

    def put_back(self):
        for path in Files(self.folder).content.keys() - self.content.keys():
            os.unlink(path)
        for path, data in self.content.items():
            write(path, data)

    def changed(self, only="stores"):
        """Files below stores that changed."""
        now = Files(self.folder).content
        names = [path for path in now.keys() | self.content.keys() if f"/{only}" in path]
        return sorted(os.path.basename(path) for path in names if now.get(path) != self.content.get(path))


def write(path, data):
    mode = os.stat(path).st_mode if os.path.exists(path) else 0o600
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Damage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        random_ = random.Random(4)
        cls.values = {f"name {number}".encode(): random_.randbytes(60) for number in range(40)}
        cls.values[b"large"] = random_.randbytes(30_000)
        cls.lab = Lab(policy(RetryLimit="5", ThrottleMax="1s"))
        cls.addClassCleanup(cls.lab.close)
        cls.recovery = cls.lab.make(PASSCODE)
        for name, value in cls.values.items():
            cls.lab.set(name, value)
        cls.folder = cls.lab.folder_of()
        cls.lab.stop()
        cls.good = Files(cls.lab.state)

    def setUp(self):
        self.addCleanup(self.rest)

    def rest(self):
        self.lab.kill()
        self.good.put_back()

    @property
    def slots(self):
        return os.path.join(self.folder, "slots")

    @property
    def records(self):
        return os.path.join(self.folder, "records.db")

    @property
    def machine_key(self):
        return os.path.join(self.lab.state, "machine.key")

    def flip(self, path, place, bit=0):
        data = bytearray(read(path))
        data[place] ^= 1 << bit
        write(path, bytes(data))

    # what a damaged store does

    def requests(self):
        """Everything that a person could do with the store, and its answer."""
        with self.lab.client() as client:
            yield client.run("openStore", answers(PASSCODE))
            yield client.run("set", payloads=[b"new"], name=b"new")
            yield client.run("get", name=b"name 1")
            yield client.run("create", answers(PASSCODE), way="ownPasscode")
            yield client.run("passcode", answers(PASSCODE), change="change")
        verdict = self.lab.authenticate(PASSCODE)
        self.assertEqual(verdict.outcome, "unavailable")
        yield verdict

    def refused(self, what, advice="restore", changes=()):
        """The store is damaged for everybody, no try is counted, nothing in it is overwritten,
        and status helps."""
        self.assertEqual(self.lab.derivations(), 0)
        before = Files(self.lab.state)
        state = self.lab.state_of()
        self.assertEqual(state.lock, "damaged", what)
        self.assertTrue(state.trouble, what)
        self.assertIn(advice, state.advice)
        for answer in self.requests():
            self.assertEqual(code(answer), DAMAGED, f"{what}: {answer}")
        self.assertEqual(self.lab.derivations(), 0, what)
        self.assertEqual(before.changed(), list(changes), what)
        return state

    def restart(self):
        with open(self.lab.count_path, "w"):
            pass
        self.lab.kill() if self.lab.process else None
        self.lab.start()

    # the slots file

    def spoil(self, path, *places):
        data = bytearray(read(path))
        for place in places:
            data[place] ^= 0x5A
        write(path, bytes(data))

    @property
    def owner(self):
        return os.path.join(self.lab.state, "owners", os.path.basename(self.folder))

    def opens(self, what):
        """The passcode opens the store, nothing is lost, and the file is whole again."""
        self.assertEqual(self.lab.state_of().trouble, "", what)
        answer = self.tried(PASSCODE)
        self.assertEqual(answer.name, "done", f"{what}: {answer}")
        with self.lab.client() as client:
            self.assertEqual(client.run("get", name=b"name 1").payload, self.values[b"name 1"], what)
        self.lab.kill()
        data = read(self.slots)
        self.assertEqual(len(data), 16 * PAGE, what)
        self.assertFalse(any(any(data[at + 512 : at + PAGE]) for at in range(0, len(data), PAGE)), what)

    def tried(self, passcode):
        """The answer to a try, after the wait that lost tries have."""
        while code(answer := self.lab.open(passcode)) == wire.CODES["throttled"]:
            time.sleep(0.1)
        return answer

    @slow
    def test_one_bit(self):
        """a bit flipped anywhere in a slots file is put right: nothing is lost, no try either"""
        data = read(self.slots)
        # In every block the first and the last byte of each field, and a sample of the rest; in the
        # soak all bytes.
        places = set(range(0, len(data), 1 if SOAK else 4999))
        for block in range(16):
            for offset in (0, 15, 40, 100, 511, 4000):
                places.add(block * PAGE + offset)
        for place in sorted(places):
            write(self.slots, data)
            self.flip(self.slots, place, place % 8)
            self.restart()
            self.opens(f"byte {place}")

    @slow
    def test_blocks(self):
        """a block that is spoilt is damage where the passcode needs it, and else made anew"""
        for block in range(16):
            with self.subTest(block=block):
                self.rest()
                self.spoil(self.slots, block * PAGE + 50, block * PAGE + 300)
                self.restart()
                if block == 3:
                    self.refused(f"block {block}", advice="recover")
                else:
                    self.opens(f"block {block}")

    def test_owner_lost(self):
        """whose it is says the file of owners; without that it is nobody's, and root's chown gives it back"""
        for what, damage in {
            "turned": lambda data: bytes(byte ^ 0x5A for byte in data),
            "zeroes": lambda data: bytes(len(data)),
            "empty": lambda data: b"",
            "missing": None,
        }.items():
            with self.subTest(what):
                self.rest()
                data = read(self.slots)
                if damage:
                    write(self.slots, damage(data))
                else:
                    os.unlink(self.slots)
                self.restart()
                self.refused(what)
                self.lab.kill()
                os.unlink(self.owner)
                self.restart()
                self.assertEqual(self.lab.ask("status").lock, "absent", what)
                health = self.lab.ask("health")
                identity = uuid.UUID(os.path.basename(self.folder)).bytes
                self.assertEqual([one["store"] for one in health.ownerless], [identity], what)

    def test_slots_whole(self):
        """a slots file that is cut short, longer, empty or missing, and blocks that are emptied or swapped: what the
        passcode needs opens"""
        data = read(self.slots)
        block = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
        none = bytes(PAGE)

        def joined(**changed):
            return b"".join(changed.get(f"b{number}", one) for number, one in enumerate(block))

        opens = {
            "cut short": data[:-1],
            "half": data[: 8 * PAGE],
            "longer": data + bytes(512),
            "a spare block": joined(b9=b"x" + bytes(PAGE - 1)),
            "recovery moved": joined(b6=block[7], b7=block[6]),
        }
        for what, changed in opens.items():
            with self.subTest(what):
                self.rest()
                write(self.slots, changed)
                self.restart()
                self.opens(what)
        refused = {
            "one block": (data[:PAGE], "restore"),
            "passcode in the other place": (joined(b3=block[4], b4=block[3]), "recover"),
            "no key": (joined(b3=none, b4=none, b5=none, b6=none, b7=none), "restore"),
        }
        for what, (changed, advice) in refused.items():
            with self.subTest(what):
                self.rest()
                write(self.slots, changed)
                self.restart()
                self.refused(what, advice)
        with self.subTest("missing"):
            self.rest()
            os.unlink(self.slots)
            self.restart()
            self.refused("missing")
            self.assertIn("slots file is missing", self.lab.log())
            self.assertFalse(os.path.exists(self.slots))
            self.assertEqual(read(self.records), self.good.content[self.records])

    def test_lost_tries(self):
        """lost tries come after the longest wait, and lost again they are spent; the right passcode clears them"""
        self.spoil(self.slots, 2 * PAGE + 50, 2 * PAGE + 300)
        self.restart()
        self.assertEqual(code(self.tried("wrong")), wire.CODES["invalidPasscode"])
        self.assertEqual(self.lab.state_of().lock, "locked")
        self.assertEqual(Slots(self.folder).tally.own.count, 4)
        self.lab.kill()
        self.spoil(self.slots, 2 * PAGE + 50, 2 * PAGE + 300)
        self.restart()
        self.assertEqual(self.lab.state_of().lock, "retryLocked")
        self.assertEqual(code(self.lab.open(PASSCODE)), wire.CODES["retryLimitReached"], "they are spent")
        self.rest()
        self.spoil(self.slots, 2 * PAGE + 50, 2 * PAGE + 300)
        self.restart()
        self.opens("lost tries")
        self.restart()
        self.assertEqual(self.tries(), (0, 0, 0))

    def test_old_tries(self):
        """tries from an older copy of the file are accepted as they are: the file is whole"""
        # SECURITY.md says that a whole older state is not noticed; one block of it is not noticed either.
        self.restart()
        for _ in range(2):
            self.assertEqual(self.lab.authenticate("wrong").code, 5)
        self.assertEqual(Slots(self.folder).tally.own.count, 2)

    # the records

    def known(self):
        """What the store returns now: each value is the one that was stored, or the store
        reports damage."""
        answer = self.lab.ask("openStore", answers(PASSCODE))
        if code(answer):
            self.assertEqual(code(answer), DAMAGED, answer)
            return {}, [None]
        found, damaged = {}, []
        with self.lab.client() as client:
            for name, value in self.values.items():
                answer = client.run("get", name=name)
                if answer.name == "value":
                    self.assertEqual(answer.payload, value, f"{name} has another value")
                    found[name] = value
                else:
                    self.assertEqual(code(answer), DAMAGED, f"{name}: {answer}")
                    damaged.append(name)
        return found, damaged

    def tries(self):
        return Slots(self.folder).tally.counts()

    def noticed(self, what):
        self.restart()
        found, damaged = self.known()
        with self.lab.client() as client:
            listed = client.run("list", prefix=b"", cursor=0)
            # A record that was added takes none of the others away.
            self.assertTrue(damaged or client.damaged, f"{what} is not noticed")
            if listed.name == "names":
                self.assertLessEqual(set(listed.names), self.values.keys(), what)
        self.assertEqual(self.tries(), (0, 0, 0), what)
        state = self.lab.state_of()
        self.assertTrue(state.trouble, what)
        # Damage to some of the records keeps nobody from the others.
        self.assertEqual(state.lock, "damaged" if damaged == [None] else "unlocked", what)
        self.assertTrue(state.advice, what)
        return found, damaged

    @slow
    def test_records(self):
        """a bit flipped anywhere in the records file never gives a wrong value, and costs no try"""
        data = read(self.records)
        random_ = random.Random(11)
        places = list(range(0, 100, 1 if SOAK else 9))
        # Every page is changed, its header with the addresses of its cells more often than the
        # rest.
        for page in range(len(data) // 4096):
            for _ in range(20 if SOAK else 2):
                places.append(page * 4096 + random_.randrange(40))
                places.append(page * 4096 + random_.randrange(4096))
        noticed = 0
        for place in places:
            write(self.records, data)
            self.flip(self.records, place, random_.randrange(8))
            self.restart()
            found, damaged = self.known()
            noticed += bool(damaged)
            self.assertEqual(self.tries(), (0, 0, 0), f"byte {place}")
            self.assertEqual(len(found) + len([one for one in damaged if one]), len(self.values) if found else 0)
            self.lab.kill()
            for companion in ("-wal", "-journal", "-shm"):
                if os.path.exists(self.records + companion):
                    os.unlink(self.records + companion)
        # The other bytes have no meaning: free space, and SQLite's own counters.
        self.assertGreater(noticed, len(places) // 3)

    def database(self, path=None):
        database = sqlite3.connect(path or self.records, isolation_level=None)
        self.addCleanup(database.close)
        return database

    def edited(self, what, *statements):
        database = self.database()
        for statement in statements:
            database.execute(*statement) if isinstance(statement, tuple) else database.execute(statement)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        database.close()
        return self.noticed(what)

    def test_removed(self):
        """a record that was removed is noticed"""
        self.edited("one removed", "DELETE FROM records WHERE id = (SELECT min(id) FROM records)")

    def test_all_removed(self):
        """all records removed are noticed"""
        found, _ = self.edited("all removed", "DELETE FROM records")
        self.assertEqual(found, {})

    def test_swapped(self):
        """two records that changed places are noticed"""
        database = self.database()
        (one,), (two,) = database.execute("SELECT id FROM records ORDER BY id LIMIT 2").fetchall()
        database.close()
        self.edited(
            "swapped",
            ("UPDATE records SET id = 0 WHERE id = ?", (one,)),
            ("UPDATE records SET id = ? WHERE id = ?", (one, two)),
            ("UPDATE records SET id = ? WHERE id = 0", (two,)),
        )

    def test_doubled(self):
        """a record that was written a second time under another id is noticed"""
        self.edited(
            "doubled",
            "INSERT INTO records SELECT id + 1, generation, tag, nonce, body FROM records ORDER BY id LIMIT 1",
        )

    def older(self):
        """The file as it was before one value was replaced, another deleted, and a third added."""
        self.restart()
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        before = os.path.join(self.lab.folder, "older.db")
        self.addCleanup(lambda: os.path.exists(before) and os.unlink(before))
        self.lab.lock()
        shutil.copy(self.records, before)
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        self.lab.set(b"name 1", b"newer")
        self.lab.ask("delete", name=b"name 2")
        self.lab.set(b"name 99", b"added")
        self.lab.stop()
        values = dict(self.values)
        self.values = {**values, b"name 1": b"newer"}
        del self.values[b"name 2"]
        return before

    def test_put_back(self):
        """a record that was put back from an older copy is noticed, replaced and deleted ones alike"""
        for tables in (("records",), ("head",), ("nodes",), ("records", "nodes"), ("records", "head")):
            with self.subTest(" and ".join(tables)):
                self.rest()
                self.values = type(self).values
                before = self.older()
                database = self.database()
                database.execute("ATTACH ? AS old", (before,))
                same = "SELECT count(*) FROM (SELECT * FROM old.nodes EXCEPT SELECT * FROM nodes)"
                (nodes_changed,) = database.execute(same).fetchone()
                for table in tables:
                    database.execute(f"DELETE FROM {table}") if table == "records" else None
                    database.execute(f"INSERT OR REPLACE INTO {table} SELECT * FROM old.{table}")
                database.execute("DETACH old")
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                database.close()
                if tables == ("nodes",) and nodes_changed == 0:
                    # These few changes are still in the head's journal: nothing was put back.
                    continue
                if tables == ("records", "head") and nodes_changed == 0:
                    # This is the whole older file. Nothing inside it can show that, as SECURITY.md
                    # says.
                    continue
                self.noticed(" and ".join(tables))

    def test_tables(self):
        """a table, a trigger or a view that is not ours is told of, and is not in the file that is made anew"""
        for what in (
            "CREATE TABLE more(id)",
            "CREATE VIEW more AS SELECT 1",
            "CREATE TRIGGER more AFTER INSERT ON records BEGIN DELETE FROM head; END",
        ):
            with self.subTest(what):
                self.rest()
                database = self.database()
                database.execute(what)
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                database.close()
                told = self.lab.log().count("damaged records were repaired")
                self.restart()
                self.assertEqual(self.known(), (self.values, []))
                self.assertEqual(self.lab.log().count("damaged records were repaired"), told + 1)
                self.lab.lock()
                names = self.database().execute("SELECT name FROM sqlite_schema ORDER BY name").fetchall()
                self.assertEqual(names, [("head",), ("nodes",), ("records",)])
        self.rest()
        self.edited("DROP TABLE nodes", "DROP TABLE nodes")

    def test_records_whole(self):
        """a records file that is empty, cut short, another store's or missing is damage, and none is made anew"""
        data = read(self.records)
        for what, changed in {"empty": b"", "cut short": data[:8192], "no database": os.urandom(8192)}.items():
            with self.subTest(what):
                write(self.records, changed)
                self.noticed(what)
                self.lab.set(b"new", b"new")
                self.lab.kill()
                self.assertEqual(read(self.records), changed)
        with self.subTest("missing"):
            os.unlink(self.records)
            self.noticed("missing")
            self.assertFalse(os.path.exists(self.records))
            self.rest()
        with self.subTest("another store's"):
            self.restart()
            self.lab.make("another passcode", "other")
            other = self.lab.folder_of("other")
            self.lab.stop()
            shutil.copy(os.path.join(other, "records.db"), self.records)
            self.noticed("another store's")

    # the machine key

    def test_machine_key(self):
        """a machine key that is missing, cut short, longer or another one is 32, costs no try, and none is made"""
        key = read(self.machine_key)
        cases = {"cut short": key[:31], "longer": key + b"x", "empty": b"", "foreign": os.urandom(32), "missing": None}
        for what, changed in cases.items():
            with self.subTest(what):
                if changed is None:
                    os.unlink(self.machine_key)
                else:
                    write(self.machine_key, changed)
                self.restart()
                self.refused(what, advice="recover" if what == "foreign" else "restore")
                if what != "foreign":
                    answer = self.lab.ask("recover", answers("", recoveryKey=self.recovery, newPasscode="new one!"))
                    self.assertEqual(code(answer), DAMAGED, f"{what}: recover: {answer}")
                    answer = self.lab.ask("create", answers("another passcode"), store="other", way="ownPasscode")
                    self.assertEqual(code(answer), DAMAGED, f"{what}: create: {answer}")
                self.assertEqual(os.path.exists(self.machine_key), changed is not None)
                if changed is not None:
                    self.assertEqual(read(self.machine_key), changed)
                self.rest()
        self.restart()
        self.assertEqual(self.lab.open(PASSCODE).name, "done", "the right key put back heals it")
        self.assertEqual(len(self.known()[0]), len(self.values))

    def test_recover_foreign(self):
        """under another machine key a wrong recovery key changes nothing, and the right one brings the store back"""
        new = os.urandom(32)
        write(self.machine_key, new)
        before = read(self.slots)
        self.restart()
        other = "000G4-40R4F-0M30Y-E209X-185GE-R38EY-1Y7ZV"
        answer = self.lab.ask("recover", answers("", recoveryKey=other, newPasscode="a new passcode"))
        self.assertEqual(code(answer), wire.CODES["recoveryKeyInvalid"], answer)
        self.assertEqual(read(self.slots), before)
        answer = self.lab.ask("recover", answers("", recoveryKey=self.recovery, newPasscode="a new passcode"))
        self.assertEqual(answer.name, "done", answer)
        self.assertEqual(read(self.machine_key), new)
        for _ in range(2):
            self.assertEqual(code(self.lab.open(PASSCODE)), 5)
            self.assertEqual(self.lab.open("a new passcode").name, "done")
            with self.lab.client() as client:
                for name, value in self.values.items():
                    self.assertEqual(client.run("get", name=name).payload, value)
            self.lab.restart()
        answer = self.lab.ask("recover", answers("", recoveryKey=self.recovery, newPasscode="yet another one"))
        self.assertEqual(answer.name, "done", "the recovery key stays")

    def test_backup(self):
        """a restored backup of the whole folder opens as the store did"""
        self.restart()
        self.lab.open(PASSCODE)
        self.lab.set(b"name 1", b"newer")
        self.lab.ask("passcode", answers(PASSCODE, newPasscode="changed since"), change="change")
        self.lab.stop()
        shutil.rmtree(self.lab.state)
        os.mkdir(self.lab.state, 0o700)
        self.good.put_back()
        os.chmod(self.machine_key, 0o400)
        self.restart()
        self.assertEqual(len(self.known()[0]), len(self.values))
        self.assertEqual(self.lab.state_of().trouble, "")


if __name__ == "__main__":
    unittest.main()
