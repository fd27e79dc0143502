"""An item whose record was damaged on the disk is told of and never given; all others are, and what is stored from then
on."""

import os
import sqlite3
import unittest

from daemonlab import PASSCODE
from faultlab import Lab
from itemlab import STORE, Items, Mirror, make_store

TIMEOUT = 120
COUNT = 40


class Damage(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        make_store(self.lab)
        items = Items(self.lab)
        self.stored = {}
        for n in range(COUNT):
            item = items.put({"n": str(n)}, b"%d" % n)
            self.stored[item["id"]] = item
        items.close()
        folder = self.lab.folder_of(STORE)
        self.lab.stop()
        database = sqlite3.connect(os.path.join(folder, "records.db"))
        with database:
            row, body = database.execute("SELECT id, body FROM records ORDER BY id LIMIT 1").fetchone()
            turned = bytes([body[0] ^ 1]) + body[1:]
            database.execute("UPDATE records SET body=?2 WHERE id=?1", (row, turned))
        database.close()
        self.lab.start()
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        self.items = Items(self.lab)
        self.addCleanup(self.items.close)

    def told(self):
        """The names that the last answer came with."""
        names = {each["name"] for each in self.items.client.damaged}
        self.items.client.damaged = []
        return names

    def test_named(self):
        found = {item["id"]: item for item in self.items.find()}
        names = self.told()
        (lost,) = set(self.stored) - set(found)
        self.assertEqual({**found, lost: self.stored[lost]}, self.stored)
        # What does not open says no name.
        self.assertEqual(names, {b""})
        self.assertEqual(self.items.find({"n": "x"}), [])
        self.assertEqual(self.told(), set())
        self.assertEqual(len(Mirror(self.items).follow().known), COUNT - 1)
        self.assertEqual(self.told(), {b""})
        self.assertIn("cannot be read", self.lab.state_of(STORE).trouble)
        # It may be stored anew.
        attributes = self.stored[lost]["attributes"]
        anew = self.items.put(attributes, b"again", replace=True)
        self.assertEqual(self.items.find(attributes), [anew])
        self.assertEqual(self.items.secret(anew["id"]), b"again")


if __name__ == "__main__":
    unittest.main()
