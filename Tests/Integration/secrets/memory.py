"""What appvault-secrets needs to take many items at once is not what it keeps."""

import unittest

import secretstorage
from daemonlab import wait_until
from secretslab import Desk
from slow import slow

TIMEOUT = 240
ITEMS = 1_000
# The heap has holes, fewer or more.
MORE = 1.15


class Memory(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)

    def anonymous(self):
        """In kilobytes."""
        with open(f"/proc/{self.desk.process.pid}/smaps_rollup", encoding="utf-8") as file:
            (line,) = [line for line in file if line.startswith("Anonymous:")]
        return int(line.split()[1])

    @slow
    def test_taken(self):
        """a thousand items that it takes at its start, and when the store opens anew, take no more memory than those
        that came one after the other"""
        collection = secretstorage.get_default_collection(self.desk.connect())
        for number in range(ITEMS):
            collection.create_item(
                f"Item {number}", {"number": str(number), "server": f"host{number % 50}.example", "user": "ann"},
                b"otter")
        most = MORE * self.anonymous()
        self.desk.kill()
        self.desk.start()
        self.taken(most)
        self.desk.lock_all()
        self.desk.is_locked(True)
        self.desk.open()
        self.taken(most)

    def taken(self, most):
        connection = self.desk.connect()
        collection = secretstorage.get_default_collection(connection)
        wait_until(lambda: not collection.is_locked(), "an open collection", 60)
        wait_until(lambda: len(list(collection.get_all_items())) == ITEMS, "all items", 60)
        try:
            wait_until(lambda: self.anonymous() <= most, "it has given back what it does not need", 30)
        except AssertionError:
            self.fail(f"{self.anonymous()} KB, and {most:.0f} is the most")


if __name__ == "__main__":
    unittest.main()
