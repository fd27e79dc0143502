"""A daemon that is killed at random instants while programs store, replace, change and delete items and whole
collections. What was answered is certain, whether done or deleted; what was sent and not answered has happened
completely or not at all; no item is half there."""

import os
import random
import threading
import time
import unittest

from daemonlab import PASSCODE, wait_until
from faultlab import Lab
from itemlab import LOGIN, STORE, Items, Mirror, Refused, make_store

TIMEOUT = 600
ROUNDS = 60 if os.environ.get("APPVAULT_TESTS") == "soak" else 8
WRITERS = 4


class Writer:
    """One program. Only it touches its own items, so it knows what there is but for the request without an answer."""

    def __init__(self, number):
        self.number = number
        self.numbers = random.Random(number)
        self.certain = {}
        self.collections = {LOGIN}
        self.count = 0
        self.failure = None

    def content(self):
        """A label and a secret that tell whether they belong together."""
        self.count += 1
        text = f"{self.number}.{self.count}"
        return text, text.encode() * self.numbers.choice([1, 10, 4000])

    def work(self, lab, isOver):
        """Until the daemon is killed. Returns the states that the request without an answer allows besides."""
        self.open = [dict(self.certain)]
        try:
            items = Items(lab)
        except (OSError, AssertionError):
            return
        try:
            while not isOver.is_set():
                self.step(items)
        except OSError:
            pass
        except Exception as error:
            self.failure = error
        finally:
            items.close()

    def step(self, items):
        choice = self.numbers.random()
        known = list(self.certain)
        label, secret = self.content()
        if choice < 0.4 or not known:
            collection = self.numbers.choice(sorted(self.collections))
            attributes = {"writer": str(self.number), "step": str(self.count)}
            new = (collection, attributes, label, secret)
            # It has no id yet that this side knows.
            self.open = [self.certain, {**self.certain, None: new}]
            item = items.put(attributes, secret, label=label, collection=collection)
            self.done({**self.certain, item["id"]: new})
        elif choice < 0.6:
            identity = self.numbers.choice(known)
            collection, attributes, _, _ = self.certain[identity]
            after = {**self.certain, identity: (collection, attributes, label, secret)}
            self.open = [self.certain, after]
            item = items.put(attributes, secret, replace=True, label=label, collection=collection)
            if item["id"] != identity:
                raise AssertionError("another item was made than the one with these attributes")
            self.done(after)
        elif choice < 0.75:
            identity = self.numbers.choice(known)
            collection, attributes, _, _ = self.certain[identity]
            after = {**self.certain, identity: (collection, attributes, label, secret)}
            self.open = [self.certain, after]
            items.change(identity, secret, label=label, contentType="")
            self.done(after)
        elif choice < 0.92:
            identity = self.numbers.choice(known)
            after = {key: value for key, value in self.certain.items() if key != identity}
            self.open = [self.certain, after]
            items.delete(identity)
            self.done(after)
        elif choice < 0.96 or len(self.collections) == 1:
            self.open = [self.certain]
            self.collections.add(items.collection(f"of {self.number}")["id"])
        else:
            collection = self.numbers.choice(sorted(self.collections - {LOGIN}))
            after = {key: value for key, value in self.certain.items() if value[0] != collection}
            self.open = [self.certain, after]
            items.delete_collection(collection)
            self.collections.remove(collection)
            self.done(after)

    def done(self, after):
        self.certain = after
        self.open = [after]

    def settle(self, items, test):
        """Compares with what is there, which is certain from now on."""
        if self.failure is not None:
            raise self.failure
        found = {item["id"]: item for item in items.find({"writer": str(self.number)})}
        secrets = items.secrets(found) if found else {}
        there = {
            identity: (item["collection"], item["attributes"], item["label"], secrets[identity])
            for identity, item in found.items()}
        test.assertIn(self.comparable(there), [self.comparable(each) for each in self.open], f"writer {self.number}")
        for _, _, label, secret in there.values():
            test.assertEqual(secret[: len(label)], label.encode())
        self.certain, self.open = there, [there]
        self.collections &= set(Mirror(items).follow().collections)

    def comparable(self, state):
        """Without the ids, of which one may not be known; attributes are different in all."""
        return sorted(
            (collection, sorted(attributes.items()), label, secret)
            for collection, attributes, label, secret in state.values())


class Killed(unittest.TestCase):
    def test_killed(self):
        with Lab() as lab:
            make_store(lab)
            writers = [Writer(number) for number in range(WRITERS)]
            for _ in range(ROUNDS):
                isOver = threading.Event()
                threads = [threading.Thread(target=each.work, args=(lab, isOver)) for each in writers]
                for thread in threads:
                    thread.start()
                time.sleep(random.uniform(0.3, 2.5))
                lab.kill()
                isOver.set()
                for thread in threads:
                    thread.join()
                lab.start()
                self.assertEqual(lab.open(PASSCODE).name, "done")
                items = Items(lab)
                for writer in writers:
                    writer.settle(items, self)
                # What was deleted with its collection goes by itself.
                expected = sum(len(each.certain) for each in writers) + sum(
                    len(each.collections) - 1 for each in writers)
                collections = len(Mirror(items).follow().collections) - 1
                known = sum(len(each.collections) - 1 for each in writers)
                wait_until(
                    lambda e=expected + collections - known: lab.state_of(STORE).records == e, "all is swept", 60)
                items.close()


if __name__ == "__main__":
    unittest.main()
