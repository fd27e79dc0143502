"""The vectors of a records file and of an export, opened only by what FORMAT.md says."""

import pathlib
import sqlite3
import tempfile
import unittest

from places import VECTORS
from recordsfile import Damaged, read, read_export


class RecordsVectors(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(VECTORS)
        lines = (self.folder / "records.txt").read_text(encoding="utf-8").splitlines()
        self.values = dict(line.split(" = ", 1) for line in lines if line and not line.startswith("#"))
        self.store, self.key = (bytes.fromhex(self.values[name]) for name in ("store", "store-key"))
        self.expected = {b"record %d" % index: b"value %d" % index for index in range(150)}
        del self.expected[b"record 3"]
        self.expected |= {b"record 4": b"", b"record 5": b"a" * 3000, b"\xff\0": b"not text"}

    def test_records(self):
        """FORMAT.md alone opens the records file of the vectors, its journal and its nodes in use"""
        records, entries = read(self.folder / "records.db", self.store, self.key)
        self.assertEqual(records, self.expected)
        self.assertEqual(len(records), int(self.values["count"]))
        self.assertTrue(0 < entries < 129)

    def test_rekeyed(self):
        """FORMAT.md alone opens a records file that was sealed anew, with its key and its key generation alone"""
        path, key = self.folder / "records-rekeyed.db", bytes.fromhex(self.values["new-store-key"])
        generation = int(self.values["new-key-generation"])
        self.assertEqual(read(path, self.store, key, generation)[0], self.expected)
        for wrong in ((self.key, generation), (key, 1), (key, generation + 1), (self.key, 1)):
            with self.assertRaises(Damaged):
                read(path, self.store, *wrong)

    def test_marked(self):
        """FORMAT.md alone opens a records file with marks, and notices what was done to it after them"""
        expected = {b"record %d" % index: b"value %d" % index for index in range(10)}
        del expected[b"record 1"]
        expected |= {b"record 0": b"anew", b"record 2": b"anew"}
        records, _ = read(self.folder / "records-marked.db", self.store, self.key)
        self.assertEqual(records, expected)
        self.changed("records-marked.db", "DELETE FROM records WHERE id=(SELECT max(id) FROM records)")

    def changed(self, name, statement):
        data = (self.folder / name).read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "records.db"
            path.write_bytes(data)
            with sqlite3.connect(path) as database:
                database.execute(statement)
            database.close()
            with self.assertRaises(Damaged):
                read(path, self.store, self.key)

    def test_removed(self):
        """FORMAT.md alone notices a record that was removed"""
        self.changed("records.db", "DELETE FROM records WHERE id=(SELECT max(id) FROM records)")
        with self.assertRaises(Damaged):
            read(self.folder / "records.db", self.store, bytes(32))

    def test_export(self):
        """FORMAT.md alone reads the export of the vectors, and refuses it cut short"""
        data = (self.folder / "records-export.bin").read_bytes()
        passphrase = self.values["passphrase"].encode()
        self.assertEqual(read_export(data, passphrase), self.expected)
        for short in (60, len(data) - 1):
            with self.assertRaises(Damaged):
                read_export(data[:short], passphrase)
        with self.assertRaises(Damaged):
            read_export(data, b"other words")


if __name__ == "__main__":
    unittest.main()
