"""A daemon that is killed while programs store, replace, change and delete items and whole collections: at random
instants, and at every step of each of them. What was answered is certain, whether done or deleted; what was sent and
not answered has happened completely or not at all; no item is half there."""

import os
import random
import threading
import time
import unittest

import wire
from daemonlab import PASSCODE, wait_until
from faultlab import Lab, policy
from itemlab import LOGIN, STORE, Items, Mirror, Refused, make_store
from stepslab import MANY, Steps

TIMEOUT = 600
IS_SLOW = True
IS_LONG = os.environ.get("APPVAULT_TESTS") == "soak"
ROUNDS = 60 if IS_LONG else 8
# Steps of each act that are tried where not all of them are, evenly over all.
SOME = 6
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



class EveryStep(unittest.TestCase):
    """Each act with an item of its own, killed before each write, sync and message, and after each message read."""

    def setUp(self):
        self.lab = Lab(policy(), start=False)
        self.addCleanup(self.lab.close)
        self.steps = Steps(self.lab.folder, "daemon")
        self.lab.env.update(self.steps.environment(self.lab.state))
        self.lab.start()
        make_store(self.lab)
        self.number = 0

    def version(self, number):
        """Label, an attribute and the secret, which tell whether they belong together."""
        text = f"{self.number}.{number}"
        return text, {"n": str(self.number), "version": str(number)}, text.encode() * 500

    def content(self, items):
        """Label, attributes, secret and collection of all items of this round."""
        found = items.find({"n": str(self.number)})
        secrets = items.secrets([each["id"] for each in found]) if found else {}
        return sorted(
            (each["label"], sorted(each["attributes"].items()), secrets[each["id"]], each["collection"])
            for each in found)

    def made(self, version, attributes=None, collection=LOGIN):
        label, own, secret = self.version(version)
        return label, sorted((attributes or own).items()), secret, collection

    # the acts: each returns what it does, and what there is before and afterwards

    def put(self, items):
        label, attributes, secret = self.version(1)
        return lambda: items.put(attributes, secret, label=label), [], [self.made(1)]

    def replace(self, items):
        label, attributes, secret = self.version(1)
        items.put(attributes, secret, label=label)
        label, _, secret = self.version(2)
        after = [self.made(2, attributes)]
        return lambda: items.put(attributes, secret, replace=True, label=label), [self.made(1)], after

    def change(self, items):
        label, attributes, secret = self.version(1)
        identity = items.put(attributes, secret, label=label)["id"]
        label, attributes, secret = self.version(2)
        act = lambda: items.change(identity, secret, label=label, attributes=attributes, contentType="")
        return act, [self.made(1)], [self.made(2)]

    def delete(self, items):
        label, attributes, secret = self.version(1)
        identity = items.put(attributes, secret, label=label)["id"]
        return lambda: items.delete(identity), [self.made(1)], []

    def delete_collection(self, items):
        collection = items.collection(f"of {self.number}")["id"]
        items.alias("work", collection)
        for version in (1, 2, 3):
            label, attributes, secret = self.version(version)
            items.put(attributes, secret, label=label, collection=collection)
        before = sorted(self.made(version, None, collection) for version in (1, 2, 3))
        return lambda: items.delete_collection(collection), before, []

    ACTS = (put, replace, change, delete, delete_collection)

    def attempt(self, act, step):
        self.number += 1
        items = Items(self.lab)
        run, before, after = act(self, items)
        self.steps.arm(step)
        try:
            run()
            done = True
        except (OSError, wire.WireError):
            done = False
        self.steps.comes_to_rest(self.lab.process)
        left = self.steps.disarm()
        items.close()
        # One that has counted to its end is about to end.
        try:
            self.lab.ask("status")
        except OSError:
            self.lab.process.wait(60)
        is_killed = not self.lab.is_running
        if is_killed:
            self.lab.start()
            self.assertEqual(self.lab.open(PASSCODE).name, "done")
        items = Items(self.lab)
        found = self.content(items)
        self.assertIn(found, [after] if done else [before, after])
        mirror = Mirror(items).follow()
        self.assertEqual("work" in mirror.aliases, len(mirror.collections) == 2)
        for each in items.find({"n": str(self.number)}):
            items.delete(each["id"])
        for collection in set(mirror.collections) - {LOGIN}:
            items.delete_collection(collection)
        # No record is left that nothing leads to.
        wait_until(lambda: self.lab.state_of(STORE).records == 0, "all is swept", 60)
        items.close()
        return left, is_killed

    def test_at_every_step(self):
        """killed at each step of storing, replacing, changing and deleting: whole or not at all"""
        for act in self.ACTS:
            with self.subTest(act=act.__name__):
                left, is_killed = self.attempt(act, MANY)
                self.assertFalse(is_killed)
                count, kills = MANY - left, 0
                stride = 1 if IS_LONG else max(1, -(-count // SOME))
                for step in range(int(time.time()) % stride, count + 5, stride):
                    with self.subTest(step=step):
                        _, is_killed = self.attempt(act, step)
                        kills += is_killed
                        if not is_killed and step >= count:
                            break
                print(f"        {act.__name__}: {count} steps, killed {kills} times", flush=True)
                self.assertGreater(kills, 0)


if __name__ == "__main__":
    unittest.main()
