"""After the lock, no secret of an item is left in the daemon's memory, whatever was done with it before."""

import unittest

import memorylab
from daemonlab import PASSCODE
from faultlab import Lab
from itemlab import Items, make_store

NEEDS_ROOT = True
TIMEOUT = 300
LARGE = 20


class Memory(unittest.TestCase):
    def test_locked(self):
        words = {
            name: memorylab.word()
            for name in ("stored", "replaced", "replacing", "changed", "deleted", "given", "kept")}
        large = memorylab.word()
        needles = memorylab.needles(**words, large=large)
        secret = {name: word.encode() for name, word in words.items()}
        with Lab() as lab:
            make_store(lab)
            items = Items(lab)
            self.addCleanup(items.close)
            items.put({"n": "1"}, secret["stored"])
            items.put({"n": "2"}, secret["replaced"])
            items.put({"n": "2"}, secret["replacing"], replace=True)
            kept = items.put({"n": "3"}, secret["kept"])
            items.change(kept["id"], label="another label")
            items.change(items.put({"n": "4"}, b"before")["id"], secret["changed"])
            items.delete(items.put({"n": "5"}, secret["deleted"])["id"])
            items.put({"n": "6"}, large.encode() * (LARGE << 10))
            given = items.put({"n": "7"}, secret["given"])
            self.assertEqual(items.secret(given["id"]), secret["given"])
            self.assertEqual(len(items.secrets(item["id"] for item in items.find())), 6)
            items.news()
            self.assertEqual(lab.ask("lock").name, "done")
            self.assertEqual(memorylab.gone(lab.pid, needles), {})
            self.assertEqual(lab.open(PASSCODE).name, "done")
            self.assertEqual(items.secret(given["id"]), secret["given"])
            self.assertEqual(memorylab.gone(lab.pid, needles), {})


if __name__ == "__main__":
    unittest.main()
