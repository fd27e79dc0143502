"""What becomes of a store that follows another one when that is erased, locked at the retry limit, or is not what the
file says: each request gets a code and a sentence, nothing is lost, and a recovery key of its own opens it."""

import os
import unittest

import slotfile
import wire
from daemonlab import BLOCK, PAGE, PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account

NEEDS_ROOT = True
TIMEOUT = 180
NO_ONE = ("", wire.UNKNOWN_UID)
NEW, PHRASE = "another horse", "a phrase of its own"
DOES_NOT_EXIST, LOCKED, DELETED, LIMIT_REACHED = 3, 6, 16, 23
# What each request gets whose store cannot be opened by any other. Locking it is always possible.
GONE = dict.fromkeys(
    ("openStore", "get", "set", "list", "exportBegin", "hold", "mend", "recoveryNew", "recover"), DOES_NOT_EXIST)


class Case(unittest.TestCase):
    POLICY = "RetryLimit=0\nThrottleAfter=0\n"

    @classmethod
    def setUpClass(cls):
        cls.person = add_account()
        cls.addClassCleanup(remove_account, cls.person[0])

    def setUp(self):
        self.server = Daemon(policy=self.POLICY)
        self.addCleanup(self.server.close)
        self.server.person = self.person
        self.connect()
        self.done("create", answers(PASSCODE), way="ownPasscode")
        # One that nothing but its parent opens, and one with a recovery key of its own.
        for name in ("notes", "keyed"):
            self.done("create", store=name, way="followStore")
            self.done("set", payloads=[name.encode()], store=name, name="a")
        self.key = self.new_key("keyed")
        self.default_key = self.new_key("")

    def connect(self):
        self.client = as_uid_connection(self.person[1], self.server, "terminal")
        self.addCleanup(self.client.close)

    def ask(self, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        return self.client.run(request, script, payloads, **fields)

    def done(self, request, script=(), payloads=(), **fields):
        answer = self.ask(request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def new_key(self, store):
        self.client.revealed = []
        self.done("recoveryNew", answers(PASSCODE), store=store)
        return self.client.revealed[0].decode()

    def spend(self):
        """All tries at the parent."""
        for _ in range(3):
            self.server.authenticate("wrong")

    def codes(self, store="notes"):
        """What each request gets; a sentence with each."""
        found = {}
        for request, fields in (
            ("openStore", {}), ("get", {"name": "a"}), ("set", {"name": "b"}), ("list", {}), ("exportBegin", {}),
            ("hold", {"seconds": 60}), ("mend", {}), ("recoveryNew", {}), ("recover", {}),
        ):
            answer = self.ask(
                request, answers(PASSCODE, newPassphrase=PHRASE, recoveryKey=self.key), store=store, **fields)
            if answer.name == "refused":
                self.assertTrue(answer.message, answer)
            found[request] = answer.code if answer.name == "refused" else answer.name
        self.done("lock", store=store)
        return found

    def follow(self):
        """One more store that follows the first."""
        return self.ask("create", answers(PASSCODE), store="another", way="followStore")

    def opens_by_its_own_key(self):
        answer = self.ask("recover", answers(NEW, recoveryKey=self.key), store="keyed")
        self.assertEqual(answer.name, "done", answer)
        self.done("openStore", answers(NEW), store="keyed")
        self.assertEqual(self.done("get", store="keyed", name="a").payload, b"keyed")
        status = self.done("status", store="keyed")
        self.assertEqual((status.kind, status.parent, status.passcode), ("own", "", "passcode"))


class Erased(Case):
    POLICY = "RetryLimit=3\nOnRetryLimit=erase\nThrottleAfter=0\n"

    def test_a_follower_of_an_erased_store(self):
        self.spend()
        self.assertEqual(self.done("status").lock, "erased")
        self.assertEqual(self.done("status", store="notes").lock, "locked")
        self.assertEqual(self.codes(), GONE)
        self.assertEqual(self.follow().code, DELETED)
        self.assertIn("that one is gone", self.ask("openStore", answers(PASSCODE), store="notes").message)
        self.opens_by_its_own_key()
        # Also when the daemon finds all of it so.
        self.server.restart()
        self.connect()
        self.assertEqual(self.codes(), GONE)
        self.done("openStore", answers(NEW), store="keyed")
        self.assertEqual(self.done("get", store="keyed", name="a").payload, b"keyed")


class RetryLocked(Case):
    POLICY = "RetryLimit=3\nOnRetryLimit=lock\nThrottleAfter=0\n"

    def test_a_follower_of_a_store_that_is_locked_at_the_limit(self):
        self.done("lock")
        self.spend()
        self.assertEqual(self.done("status").lock, "retryLocked")
        asks = dict.fromkeys(("openStore", "exportBegin", "hold", "mend", "recoveryNew"), LIMIT_REACHED)
        self.assertEqual(self.codes(), {**GONE, **dict.fromkeys(("get", "set", "list"), LOCKED), **asks})
        self.assertEqual(self.follow().code, LIMIT_REACHED)
        self.opens_by_its_own_key()
        # What opens the first one opens what follows it.
        self.done("recover", answers(NEW, recoveryKey=self.default_key), store="")
        self.done("openStore", answers(NEW))
        self.assertEqual(self.done("get", store="notes", name="a").payload, b"notes")


class Crafted(Case):
    """Whoever has the disk and the machine key may write anything into a label."""

    def folder(self, name):
        ident = self.done("status", store=name).store.hex()
        return next(store for store in self.server.stores() if os.path.basename(store).replace("-", "") == ident)

    def relabel(self, name, parent):
        """The store follows that one, by its label alone."""
        with open(os.path.join(self.server.state, "machine.key"), "rb") as file:
            machine = slotfile.Machine(file.read())
        path = os.path.join(self.folder(name), "slots")
        with open(path, "r+b") as file:
            former = file.read()
            block = bytearray(former[PAGE : PAGE + BLOCK])
            block[48 + 386 : 48 + 402] = parent
            block[480:] = slotfile.check(bytes(block[:480]), machine)
            file.seek(PAGE)
            file.write(block)
        return path, former

    def ident(self, name):
        return self.done("status", store=name).store

    def test_parents_that_are_none(self):
        ids = {name: self.ident(name) for name in ("notes", "keyed")}
        self.done("create", store="team", way="shared")
        cases = {"itself": {"notes": ids["notes"]}, "each other": {"notes": ids["keyed"], "keyed": ids["notes"]},
                 "a follower": {"notes": ids["keyed"]}, "a shared one": {"notes": self.ident("team")},
                 "nothing": {"notes": os.urandom(16)}, "zero": {"notes": bytes(16)}}
        for what, change in cases.items():
            with self.subTest(what):
                former = [self.relabel(name, parent) for name, parent in change.items()]
                self.server.restart()
                self.connect()
                self.done("openStore", answers(PASSCODE))
                self.assertEqual(self.codes(), GONE)
                self.assertEqual(
                    {store["name"]: store["lock"] for store in self.done("stores").stores}["notes"], "locked")
                # Nobody else's affair.
                self.assertEqual(self.follow().name, "done")
                self.done("reset", answers(PASSCODE), store="another")
                self.server.end()
                for path, data in former:
                    with open(path, "r+b") as file:
                        file.write(data)
                self.server.start()
                self.connect()
                self.done("openStore", answers(PASSCODE))
                for name in ("notes", "keyed"):
                    self.assertEqual(self.done("get", store=name, name="a").payload, name.encode())


if __name__ == "__main__":
    unittest.main()
