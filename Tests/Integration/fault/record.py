"""One record of a thousand is damaged in the file: the others are given, the one is named, it can be stored anew, and
what was done to its bucket is told until the owner acknowledges it. The real tool, the real daemon."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import clilab
import pamlab
import wire
from realcli import POLICY, SECRET, Real
from slow import slow

TIMEOUT = 900
COUNT = 1000
PHRASE = b"a phrase for the file"
PAGE = 4096


def value(number):
    return b"the value of %d" % number


class Restarted(Real):
    """The tool with a daemon that is started anew on the same state."""

    def __init__(self, lab):
        self.__dict__.update(lab.__dict__)

    def restart(self, end=signal.SIGTERM, environment=None):
        self.process.send_signal(end)
        self.process.wait(20)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.process = subprocess.Popen(
            [os.path.join(clilab.BUILD, "appvaultd"), "--socket", self.path, "--state-dir", self.state,
             "--config-dir", self.config],
            stdout=self.log, stderr=self.log, env=environment)
        end = time.monotonic() + 20
        while True:
            try:
                wire.Client(self.path).close()
                return
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.01)


class OneOfAThousand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Restarted(Real(POLICY))
        cls.addClassCleanup(cls.lab.__exit__)
        assert cls.lab.run("create", "--own-passcode", passcodes=[SECRET]).status == 0
        with cls.client() as client:
            for number in range(COUNT):
                done = client.run("set", payloads=[value(number)], name=b"name %d" % number)
                assert done.name == "done", done
        cls.names = {b"name %d" % number for number in range(COUNT)}
        (store,) = os.listdir(os.path.join(cls.lab.state, "stores"))
        cls.file = os.path.join(cls.lab.state, "stores", store, "records.db")
        assert cls.lab.run("lock").status == 0
        cls.good = cls.file + ".good"
        shutil.copyfile(cls.file, cls.good)
        cls.slots = os.path.join(os.path.dirname(cls.file), "slots")
        shutil.copyfile(cls.slots, cls.slots + ".good")

    @classmethod
    def client(cls):
        client = wire.Client(cls.lab.path, 60)
        client.hello()
        return client

    def setUp(self):
        self.lab.run("lock")
        shutil.copyfile(self.good, self.file)
        # Older records beside newer slots would be noticed.
        shutil.copyfile(self.slots + ".good", self.slots)
        self.lab.restart()

    def ok(self, *arguments, status=0, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, status, result)
        return result

    def unlock(self):
        self.ok("unlock", passcodes=[SECRET])

    def state(self):
        return json.loads(self.ok("--json", "status").out)

    def edit(self, *statements):
        database = sqlite3.connect(self.file, isolation_level=None)
        for statement in statements:
            database.execute(statement)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        database.close()

    def pair(self):
        """The ids of two records of one bucket, in the middle of the table."""
        database = sqlite3.connect(f"file:{self.file}?immutable=1", uri=True)
        rows = [row for (row,) in database.execute("SELECT id FROM records ORDER BY id")]
        database.close()
        buckets = [row >> 52 for row in rows]
        at = next(
            at for at in range(len(rows) // 2, len(rows))
            if buckets[at] == buckets[at - 1] and buckets.count(buckets[at]) == 2)
        return rows[at - 1], rows[at]

    def listed(self, status=6):
        """What a listing gives and, of what it does not, the JSON."""
        told = json.loads(self.ok("--json", "list", status=status).out)
        return {entry["name"].encode() for entry in told["names"]}, told["damaged"]

    @slow
    def test_each_part_of_a_record(self):
        """whatever of a record is damaged, the other 999 are given, and it can be stored and deleted"""
        row, _ = self.pair()
        for what, change in {
            "name": "body=CAST(substr(body, 1, 1) || x'ff' || substr(body, 3) AS BLOB)",
            "length of the name": "body=CAST(x'ff' || substr(body, 2) AS BLOB)",
            "value": "body=CAST(substr(body, 1, 20) || x'ff' || substr(body, 22) AS BLOB)",
            "zeroes": "body=CAST(substr(body, 1, 63) || x'ff' AS BLOB)",
            "all of it": "body=zeroblob(64)",
            "nonce": "nonce=zeroblob(24)",
            "generation": "generation=generation+1",
        }.items():
            with self.subTest(what):
                self.setUp()
                self.edit(f"UPDATE records SET {change} WHERE id={row}")
                self.unlock()
                names, damaged = self.listed()
                self.assertEqual(len(names), 999)
                self.assertEqual([(one["what"], one["id"]) for one in damaged], [("broken", f"{row % (1 << 64):016x}")])
                (victim,) = self.names - names
                if what not in ("name", "length of the name", "all of it", "nonce"):
                    self.assertEqual(damaged[0]["name"].encode(), victim)
                with self.client() as client:
                    for name in names:
                        self.assertEqual(client.run("get", name=name).payload, value(int(name[5:])))
                refused = self.ok("get", victim, status=6)
                self.assertIn(b"`appvault mend`", refused.err)
                text = self.ok("list", "name", status=6)
                self.assertEqual(set(text.out.split(b"\n")) - {b""}, names)
                self.assertEqual(self.state()["state"], "unlocked")
                self.assertIn("appvault mend", self.state()["advice"])

                self.ok("set", victim, "anew")
                self.assertEqual(self.ok("get", victim).out, b"anew")
                self.assertEqual(self.listed(status=0), (self.names, []))
                self.ok("delete", victim)
                self.ok("get", victim, status=3)
                # It is told of until somebody with the passcode says so, over every restart.
                self.lab.restart(signal.SIGKILL)
                self.unlock()
                self.assertIn("appvault mend", self.state()["advice"])
                self.assertIn(b"another machine's key: 1 of 1 stores", self.lab.run("doctor", "--json").out)
                self.ok("mend", "--yes", status=1, passcodes=[b"not the passcode"])
                self.assertTrue(self.state()["trouble"])
                self.ok("mend", "--yes", passcodes=[SECRET])
                self.assertEqual(self.state()["trouble"], "")
                self.assertNotIn(b"damaged in part or whole", self.lab.run("doctor", "--json").out)
                self.assertEqual(self.listed(status=0), (names, []))

    def test_tag(self):
        """a damaged tag loses nothing"""
        row, _ = self.pair()
        self.edit(f"UPDATE records SET tag=zeroblob(16) WHERE id={row}")
        self.unlock()
        self.assertEqual(self.listed(status=0), (self.names, []))

    def test_export(self):
        """an export has the 999 and exits 6, and another store takes it in and hears of the one"""
        row, _ = self.pair()
        self.edit(f"UPDATE records SET generation=generation+1 WHERE id={row}")
        self.unlock()
        names, _ = self.listed()
        file = os.path.join(self.lab.folder, "export")
        result = self.ok("export", file, status=6, passcodes=[SECRET, PHRASE, PHRASE])
        (victim,) = self.names - names
        self.assertIn(victim + b" is damaged", result.err)
        result = self.ok("export", "-", status=6, passcodes=[SECRET, PHRASE, PHRASE])
        self.assertEqual(len(result.out), os.path.getsize(file))
        self.ok("create", "--own-passcode", "--store", "other", passcodes=[SECRET])
        done = self.ok("import", file, "--store", "other", passcodes=[PHRASE])
        self.assertIn(b"999", done.err + done.out)
        self.assertIn(b"not in it: 1.", done.err + done.out)
        told = json.loads(self.ok("--json", "list", "--store", "other").out)
        self.assertEqual({entry["name"].encode() for entry in told["names"]}, names)
        self.ok("reset", "--yes", "--store", "other", passcodes=[SECRET])

    def test_removed_beside(self):
        """what was removed beside the damaged one is told, whatever is written, until it is acknowledged"""
        row, beside = self.pair()
        self.unlock()
        self.lab.run("lock")
        self.edit(
            f"UPDATE records SET body=zeroblob(64), tag=zeroblob(16) WHERE id={row}",
            f"DELETE FROM records WHERE id={beside}")
        self.unlock()
        names, damaged = self.listed()
        self.assertEqual(len(names), 998)
        self.assertEqual({one["what"] for one in damaged}, {"broken", "missing"})
        with self.client() as client:
            for name in self.names - names:
                self.assertEqual(client.run("get", name=name).code, wire.CODES["storeDamaged"])
            answers = [client.run("set", payloads=[b"anew"], name=name).name for name in self.names - names]
            self.assertEqual(answers, ["done", "done"])
        for _ in range(2):
            names, damaged = self.listed()
            self.assertEqual(names, self.names)
            self.assertEqual([one["what"] for one in damaged], ["missing"])
            self.assertTrue(self.state()["trouble"])
            self.lab.restart()
            self.unlock()
        self.ok("mend", "--yes", passcodes=[SECRET])
        self.assertEqual(self.listed(status=0), (self.names, []))

    def test_node(self):
        """a part of the sums that is damaged holds back its 64 buckets, and their owner can accept them"""
        row, _ = self.pair()
        node = (row % (1 << 64) >> 52) // 64
        self.edit(f"UPDATE nodes SET body=zeroblob(length(body)) WHERE id={node}")
        self.unlock()
        names, damaged = self.listed()
        self.assertGreater(len(names), 900)
        held = {one["name"].encode() for one in damaged if one["what"] == "unproven"}
        self.assertEqual(names | held, self.names)
        self.assertFalse(names & held)
        self.ok("mend", "--yes", passcodes=[SECRET])
        self.assertEqual(self.listed(status=0), (self.names, []))

    def leaf(self, data):
        """Where a page with rows begins, in the middle of the table."""
        leaves = [at for at in range(0, len(data), PAGE) if data[at] == 0x0D and data[at + 4] > 10]
        return leaves[len(leaves) // 2]

    def change(self, place, new):
        """The file with other bytes at a place; as it was else."""
        with open(self.good, "rb") as file:
            data = bytearray(file.read())
        at = place(data)
        data[at:at + len(new)] = new
        with open(self.file, "wb") as file:
            file.write(data)

    def values(self):
        with self.client() as client:
            for number in range(COUNT):
                answer = client.run("get", name=b"name %d" % number)
                self.assertEqual((answer.name, answer.payloads), ("value", [value(number)]))

    def test_page(self):
        """SQLite cannot read a page whose rows are whole: the rest goes on, and mending brings all of them back"""
        self.change(self.leaf, b"\x77")
        self.unlock()
        names, damaged = self.listed()
        self.assertGreater(len(names), 800)
        self.assertLess(len(names), COUNT)
        self.assertTrue(damaged)
        self.assertIn("appvault mend", self.state()["advice"])
        with self.client() as client:
            answers = {name: client.run("get", name=name).name for name in self.names}
        self.assertEqual({answers[name] for name in names}, {"value"})
        self.assertEqual({answers[name] for name in self.names - names}, {"refused"})
        mended = self.ok("mend", "--yes", passcodes=[SECRET])
        self.assertRegex(mended.out, rb"are back: \d\d\. .*removed: 0\. .*as they are: 0\.")
        self.assertEqual(self.listed(status=0), (self.names, []))
        self.values()
        self.assertEqual(self.state()["state"], "unlocked")
        self.lab.restart()
        self.unlock()
        self.values()
        names = set(os.listdir(os.path.dirname(self.file)))
        self.assertEqual({name for name in names if "new" in name or "old" in name or "lost" in name}, set())

    def test_page_gone(self):
        """a page that is overwritten costs its own rows: after a mend the names of all others are there, and go on"""
        self.change(self.leaf, bytes(PAGE))
        self.unlock()
        names, damaged = self.listed()
        self.assertTrue(damaged)
        self.assertIn(b"removed: 0.", self.ok("mend", "--yes", passcodes=[SECRET]).out)
        after, damaged = self.listed(status=0)
        self.assertEqual((after & names, damaged), (names, []))
        self.assertGreater(len(after), COUNT - 50)
        self.ok("set", "name 1", "anew")
        with self.client() as client:
            for name in self.names - after:
                self.assertEqual(client.run("set", payloads=[b"anew"], name=name).name, "done")
        self.assertEqual(self.listed(status=0), (self.names, []))

    @slow
    def test_first_page(self):
        """SQLite cannot open the file: unlocking makes it anew, says so once, and nothing is missing"""
        for at in (0, 17, 61, 100, 104):
            with self.subTest(at=at):
                self.setUp()
                self.change(lambda data: at, b"\x4d")
                told = self.ok("unlock", passcodes=[SECRET])
                self.assertIn(b"The store's records were damaged. They are repaired, and nothing is missing.", told.err)
                self.assertNotIn(b"repaired", self.ok("status").out)
                self.assertEqual(self.listed(status=0), (self.names, []))
                self.values()

    def test_locked(self):
        """a locked store is mended: the passcode that is typed for it opens it"""
        row, _ = self.pair()
        self.edit(f"UPDATE records SET body=zeroblob(64) WHERE id={row}")
        self.ok("mend", "--yes", passcodes=[SECRET])
        names, damaged = self.listed(status=0)
        self.assertEqual((len(names), damaged), (999, []))

    def mend_beside(self, client, beside):
        """The answer to a mend while somebody else does something else."""
        row, other = self.pair()
        self.edit(
            f"UPDATE records SET body=zeroblob(64), tag=zeroblob(16) WHERE id={row}",
            f"DELETE FROM records WHERE id={other}")
        self.unlock()
        client.tag += 1
        client.send("mend", client.tag)
        ask = client.receive(30)
        stop = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            worker = pool.submit(beside, stop)
            try:
                client.send("reply", client.tag, [SECRET], question=ask.question)
                while True:
                    answer = client.receive(60)
                    if answer.name != "working":
                        break
            finally:
                stop.set()
            worker.result()
        return answer

    def test_beside_sets(self):
        """whatever is stored, read and mended beside a mend, both are whole"""
        stored = set()

        def beside(stop):
            with self.client() as client:
                number = 0
                while not stop.is_set() or number < 3:
                    name = b"beside %d" % number
                    self.assertEqual(client.run("set", payloads=[b"it"], name=name).name, "done")
                    self.assertEqual(client.run("get", name=name).payload, b"it")
                    stored.add(name)
                    number += 1
            self.ok("mend", "--yes", passcodes=[SECRET])

        with self.client() as client:
            self.assertEqual(self.mend_beside(client, beside).name, "done")
        names, damaged = self.listed(status=0)
        self.assertEqual((len(names - stored), damaged), (998, []))
        self.assertLessEqual(stored, names)
        self.assertEqual(self.state()["records"], len(names))
        self.lab.restart(signal.SIGKILL)
        self.unlock()
        self.assertEqual(self.listed(status=0), (names, []))

    @slow
    def test_beside_lock(self):
        """a store that is locked while it is mended is mended or not, and says which"""
        for step in range(6):
            self.setUp()

            def beside(stop, step=step):
                # The derivation, the look at all records, the commit.
                time.sleep(0.03 * step)
                self.lab.run("lock")

            with self.client() as client:
                answer = self.mend_beside(client, beside)
            self.assertIn(answer.name, ("done", "refused"))
            if answer.name == "refused":
                self.assertEqual(answer.code, wire.CODES["locked"])
            self.unlock()
            names, damaged = self.listed(status=0 if answer.name == "done" else 6)
            self.assertEqual(len(names), 998)
            self.assertEqual(damaged == [], answer.name == "done")

    def steps(self):
        """What kills a daemon before a write or sync of a store's files: its environment, the file that says which."""
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        steps = os.path.join(self.lab.folder, "steps")
        environment = {
            **os.environ, "LD_PRELOAD": preload, "KILL_STEPS": steps,
            "STEPS_FOLDER": os.path.join(self.lab.state, "stores"),
        }
        return environment, steps

    @slow
    def test_killed(self):
        """killed before each write and sync of a mend: the damage is told of or gone, and no other record is"""
        row, beside = self.pair()
        environment, steps = self.steps()

        def mend(step):
            """Whether it was answered, and how many steps are left."""
            self.setUp()
            self.edit(
                f"UPDATE records SET body=zeroblob(64), tag=zeroblob(16) WHERE id={row}",
                f"DELETE FROM records WHERE id={beside}")
            self.lab.restart(environment=environment)
            self.unlock()
            self.ok("set", "more", "stored")
            with open(steps, "w") as file:
                file.write(f"{step}\n")
            mended = self.lab.run("mend", "--yes", passcodes=[SECRET])
            self.lab.restart(signal.SIGKILL)
            with open(steps) as file:
                left = int(file.read())
            os.unlink(steps)
            self.unlock()
            return mended.status == 0, left

        is_done, left = mend(10000)
        self.assertTrue(is_done)
        self.assertEqual(self.listed(status=0)[1], [])
        count, killed = 10000 - left, 0
        outcomes = set()
        for step in range(count):
            with self.subTest(step=step):
                is_done, left = mend(step)
                if left:
                    # What an earlier commit writes behind its answer was written before this began.
                    self.assertTrue(is_done)
                killed += left == 0
                told = json.loads(self.lab.run("--json", "list").out)
                names = {entry["name"].encode() for entry in told["names"]}
                self.assertEqual(len(names), 999)
                self.assertIn(b"more", names)
                outcomes.add(bool(told["damaged"]))
                if told["damaged"]:
                    self.assertFalse(is_done)
                    self.assertEqual({one["what"] for one in told["damaged"]}, {"broken", "missing"})
                    self.ok("mend", "--yes", passcodes=[SECRET])
                self.assertEqual(self.listed(status=0)[1], [])
        self.assertEqual(outcomes, {True, False})
        self.assertGreater(killed, 10)

    @slow
    def test_killed_while_it_is_made_anew(self):
        """killed before writes and syncs of a mend or an unlock that make the file anew: all is there, then or after a
        mend"""
        environment, steps = self.steps()

        def act(step, place, *command):
            self.setUp()
            self.change(place, b"\x77")
            self.lab.restart(environment=environment)
            if command[0] == "mend":
                self.unlock()
            with open(steps, "w") as file:
                file.write(f"{step}\n")
            done = self.lab.run(*command, passcodes=[SECRET])
            self.lab.restart(signal.SIGKILL)
            with open(steps) as file:
                left = int(file.read())
            os.unlink(steps)
            return done.status == 0, left

        for place, command in ((self.leaf, ("mend", "--yes")), (lambda data: 100, ("unlock",))):
            is_done, left = act(10000, place, *command)
            self.assertTrue(is_done)
            count, killed = 10000 - left, 0
            # Of those that only fill the new file a few, and each of the last.
            for step in [*range(0, count - 16, max(1, count // 10)), *range(max(0, count - 16), count)]:
                with self.subTest(command=command[0], step=step):
                    _, left = act(step, place, *command)
                    killed += left == 0
                    self.unlock()
                    if json.loads(self.lab.run("--json", "list").out)["damaged"]:
                        self.ok("mend", "--yes", passcodes=[SECRET])
                    self.assertEqual(self.listed(status=0), (self.names, []))
                    self.values()
            self.assertGreater(killed, 15)


if __name__ == "__main__":
    unittest.main()
