"""Who has followed a store's items is told, after a lock and an opening, only what is different: nothing where nothing
is. Where anything else may have been done to the records meanwhile, all items are told anew."""

import os
import select
import shutil
import sqlite3
import threading
import unittest

from daemonlab import PASSCODE, answers
from faultlab import Lab
from itemlab import STORE, Items, Mirror, Refused, make_store
from slow import slow

TIMEOUT = 300
LOCKED = 6
# As many ids of what has changed last are kept over a lock.
KEPT = 1024


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        make_store(self.lab)
        self.items = Items(self.lab)
        self.addCleanup(self.items.close)
        self.mirror = Mirror(self.items)

    def lock(self):
        self.assertEqual(self.lab.ask("lock", store=STORE).name, "done")

    def open(self):
        self.assertEqual(self.lab.ask("openStore", store=STORE).name, "done")

    def reopen(self):
        self.lock()
        self.open()

    def agrees(self, times_anew):
        """What the mirror knows after it has followed is what is there."""
        self.mirror.follow()
        self.assertEqual(self.mirror.known, {item["id"]: item for item in self.items.find()})
        self.assertEqual(self.mirror.times_anew, times_anew)

    def export(self):
        pieces = []
        with self.lab.client(frontEnd="terminal") as client:
            answer = client.run("exportBegin", answers(PASSCODE, newPassphrase="a phrase of its own"), store=STORE)
            pieces.append(answer.payload)
            while not answer.last:
                answer = client.run("exportNext")
                pieces.append(answer.payload)
        return pieces

    def bring(self, pieces):
        with self.lab.client(frontEnd="terminal") as client:
            script = answers(passphrase="a phrase of its own")
            answer = client.run("importBegin", script, pieces[:1], store=STORE, replace=True)
            for _ in range(2):
                for n, piece in enumerate(pieces[1:]):
                    answer = client.run("importChunk", (), [piece], last=n == len(pieces) - 2)
            self.assertEqual(answer.name, "done", answer)


class Same(Case):
    def test_nothing_is_told(self):
        """as often as it is locked, and whether or not anybody asks in between"""
        work = self.items.collection("Work")["id"]
        self.items.alias("default", work)
        for n in range(50):
            self.items.put({"n": str(n)}, b"x", collection=work)
        self.mirror.follow()
        for reopened in (1, 1, 3):
            for _ in range(reopened):
                self.reopen()
            (page,) = self.items.news(self.mirror.opening, self.mirror.since)
            self.assertEqual((page["items"], page.gone, page.isAnew), ([], [], False))
            self.assertEqual((page.opening, page.now), (self.mirror.opening, self.mirror.since))
            self.assertEqual({each["id"]: each["label"] for each in page.collections}[work], "Work")
            self.assertEqual([each["name"] for each in page.aliases], ["default"])
        self.agrees(1)

    def test_the_difference_is_told(self):
        """what nobody had asked for before the lock, and what is done after it"""
        kept, changed, deleted = (self.items.put({"n": n}, b"x")["id"] for n in "123")
        self.mirror.follow()
        changed = self.items.change(changed, label="another")
        self.reopen()
        self.items.delete(deleted)
        new = self.items.put({"n": "4"}, b"x")
        (page,) = self.items.news(self.mirror.opening, self.mirror.since)
        self.assertCountEqual(page["items"], [changed, new])
        self.assertEqual(page.gone, [deleted])
        self.reopen()
        self.agrees(1)
        self.assertIn(kept, self.mirror.known)

    @slow
    def test_who_asks_while_it_opens(self):
        """what is stored while the index is being made anew is told as well"""
        for n in range(2000):
            self.items.put({"n": str(n)}, b"x")
        pieces = self.export()
        for item in self.items.find()[:1500]:
            self.items.delete(item["id"])
        self.agrees(1)
        self.lock()
        self.open()
        thread = threading.Thread(target=self.bring, args=(pieces,))
        thread.start()
        while thread.is_alive():
            self.mirror.follow()
        thread.join()
        self.agrees(self.mirror.times_anew)
        self.assertEqual(len(self.mirror.known), 2000)


class AtOnce(Case):
    @slow
    def test_before_the_index(self):
        """a secret, and that nothing has changed, is said while the daemon still reads all records for somebody else"""
        stored = [self.items.put({"n": str(n)}, b"%d" % n)["id"] for n in range(3000)]
        self.mirror.follow()
        self.reopen()
        other = Items(self.lab)
        self.addCleanup(other.close)
        other.client.tag += 1
        other.client.send("itemFind", other.client.tag, store=STORE, attributes={"n": "7"})
        # The daemon has begun to read when this one is answered: it may have come first, but not alone.
        self.assertEqual(self.items.secret(stored[7]), b"7")
        (page,) = self.items.news(self.mirror.opening, self.mirror.since)
        self.assertEqual((page["items"], page.isAnew), ([], False))
        self.assertEqual(select.select([other.client.socket], [], [], 0)[0], [], "the index is whole already")
        self.assertEqual([item["id"] for item in other.client.receive(60)["items"]], [stored[7]])

    @slow
    def test_a_deleted_collection(self):
        """what has not been swept of it yet is not given, whenever the lock comes"""
        kept = self.items.put({"n": "1"}, b"kept")["id"]
        for n in range(20):
            doomed = self.items.collection("Doomed")["id"]
            gone = [self.items.put({"n": str(m)}, b"x", collection=doomed)["id"] for m in range(100)]
            self.items.delete_collection(doomed)
            if n % 2:
                self.items.find({"n": "1"})
            self.reopen()
            self.assertEqual(self.items.secrets([kept, *gone]), {kept: b"kept"})
        self.agrees(1)


class Anew(Case):
    def test_more_than_is_kept(self):
        self.agrees(1)
        since = self.mirror.since
        for n in range(KEPT + 1):
            self.items.put({"n": str(n % 7)}, b"x", replace=True)
        self.reopen()
        self.agrees(2)
        for since in (self.mirror.since + 1, since):
            self.assertTrue(self.items.news(self.mirror.opening, since)[0].isAnew)

    def test_another_daemon(self):
        self.items.put({"n": "1"}, b"x")
        self.agrees(1)
        opening = self.mirror.opening
        self.items.close()
        self.lab.restart()
        self.lab.open(PASSCODE)
        self.items = self.mirror.items = Items(self.lab)
        self.addCleanup(self.items.close)
        self.agrees(2)
        self.assertNotEqual(self.mirror.opening, opening)

    def test_an_older_file(self):
        """somebody puts the file of an hour ago in its place; as many changes later, the numbers would be the same"""
        first = self.items.put({"n": "1"}, b"x")
        self.reopen()
        self.agrees(1)
        self.lock()
        file = os.path.join(self.folder(), "records.db")
        shutil.copy(file, self.lab.folder)
        self.open()
        self.items.delete(first["id"])
        self.items.put({"n": "2"}, b"x")
        self.agrees(1)
        self.lock()
        self.assertFalse(os.path.exists(file + "-wal"))
        shutil.copyfile(os.path.join(self.lab.folder, "records.db"), file)
        self.open()
        for n in "34":
            self.items.put({"n": n}, b"x")
        self.agrees(2)
        self.assertIn(first["id"], self.mirror.known)

    def folder(self):
        return self.lab.folder_of(STORE)

    def test_an_import_before_anybody_asks(self):
        item = self.items.put({"n": "1"}, b"x")
        pieces = self.export()
        self.items.delete(item["id"])
        self.agrees(1)
        self.reopen()
        self.bring(pieces)
        self.agrees(2)
        self.assertEqual(list(self.mirror.known), [item["id"]])

    def test_damage(self):
        """a record that was damaged while the store was locked is told of, and is no item any more"""
        for n in range(20):
            self.items.put({"n": str(n)}, b"x")
        self.agrees(1)
        folder = self.folder()
        self.lock()
        database = sqlite3.connect(os.path.join(folder, "records.db"))
        with database:
            row, body = database.execute("SELECT id, body FROM records ORDER BY id LIMIT 1").fetchone()
            turned = bytes([body[0] ^ 1]) + body[1:]
            database.execute("UPDATE records SET body=?2 WHERE id=?1", (row, turned))
        database.close()
        with self.lab.client() as watcher:
            watcher.tag += 1
            watcher.send("watch", watcher.tag, records=True)
            while watcher.receive(20).what != "told":
                pass
            self.open()
            # Nothing is known of it at first. When the daemon has read everything, an event says so.
            self.mirror.follow()
            self.assertEqual((len(self.mirror.known), self.mirror.times_anew), (20, 1))
            while watcher.receive(20).what != "records":
                pass
        self.agrees(2)
        self.assertEqual(len(self.mirror.known), 19)
        self.assertIn(b"", {each["name"] for each in self.items.client.damaged})

    def test_made_anew(self):
        """another store of the same name"""
        self.items.put({"n": "1"}, b"x")
        self.agrees(1)
        with self.lab.client(frontEnd="terminal") as client:
            self.assertEqual(client.run("reset", answers(PASSCODE), store=STORE).name, "done")
            self.assertEqual(client.run("create", answers(PASSCODE), way="followStore", store=STORE).name, "done")
        self.items.put({"n": "2"}, b"x")
        self.agrees(2)

    def test_pages_of_another_index(self):
        """a list that has begun before a lock begins anew, because the places of the items are others"""
        for n in range(40):
            self.items.put({"n": str(n), "long": "x" * 16000, "longer": "y" * 16000}, b"")
        page = self.items.ask("itemChanges", "itemNews")
        self.assertNotEqual(page.cursor, 0)
        self.reopen()
        after = self.items.ask("itemChanges", "itemNews", cursor=page.cursor)
        self.assertEqual((after.opening, after.isAnew), (page.opening, True))

    @slow
    def test_locks_amid_changes(self):
        """whatever is under way when it locks"""
        over = threading.Event()

        def work(number):
            items = Items(self.lab)
            stored = []
            while not over.is_set():
                try:
                    stored.append(items.put({"n": str(number)}, b"x")["id"])
                    if len(stored) > 5:
                        items.delete(stored.pop(0))
                except Refused as refused:
                    if refused.code != LOCKED:
                        raise
            items.close()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(150):
            self.lock()
            self.open()
            try:
                self.mirror.follow()
            except Refused as refused:
                self.assertEqual(refused.code, LOCKED)
        over.set()
        for thread in threads:
            thread.join()
        self.agrees(self.mirror.times_anew)


if __name__ == "__main__":
    unittest.main()
