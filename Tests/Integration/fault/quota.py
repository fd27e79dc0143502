"""StoreQuota: how much all stores of one person take together; at the limit only growth is
refused."""

import os
import threading
import time
import unittest

import wire
from daemonlab import add_account, answers, as_uid, remove_account, wait_until
from faultlab import Lab, Slots, code, policy
from slow import slow

NEEDS_ROOT = True
PASSCODE = "correct horse"
TOO_LARGE = wire.CODES["tooLarge"]
MIB = 1 << 20
CONNECTIONS = 16
# What a value of 1 MiB takes in the file: its size class (6.25 % at the most) and the last page.
LARGEST = MIB + MIB // 16 + 8192
# How many pages rows split is known only afterwards: the excess that is tolerated, and the last row
# of a store.
SPLITS = 65536 + 6 * 4096


def taken(folder):
    """Bytes of all files below the folder that count. A file that disappears during the count
    counts as gone."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                pass
    return total


class Case(unittest.TestCase):
    def lab(self, quota, **keys):
        lab = Lab(policy(StoreQuota=quota, **keys))
        self.addCleanup(lab.close)
        lab.make(PASSCODE)
        self.daemon = lab
        return lab

    def disk(self):
        return taken(os.path.join(self.daemon.state, "stores")) + taken(os.path.join(self.daemon.state, "fingers"))

    def fill(self, lab, size, store="", prefix="value"):
        """Stores until it is refused: returns what was stored, and the refusal."""
        stored = {}
        while True:
            name, value = f"{prefix} {len(stored)}".encode(), os.urandom(size)
            answer = lab.set(name, value, store)
            if answer.name != "done":
                return stored, answer
            stored[name] = value

    def refused(self, answer, limit):
        self.assertEqual((code(answer), answer.fields.get("parameters")), (TOO_LARGE, {"limit": str(limit)}), answer)

    def all_there(self, lab, stored, store=""):
        for name, value in stored.items():
            answer = lab.get(name, store)
            self.assertEqual((answer.name, answer.payload), ("value", value), name)


class Limit(Case):
    def test_growth_alone_is_refused(self):
        """at the limit what grows is refused with 33 and the limit; the rest goes on, deleting makes room at once"""
        lab = self.lab("4MiB")
        stored, answer = self.fill(lab, 90_000)
        self.refused(answer, 4 * MIB)
        self.assertRegex(str(answer.message), r"use \d+ KiB of the 4 MiB")
        self.assertIn("StoreQuota", str(answer.hint))
        # Nearly all of the quota can be used, whatever the log took in between.
        self.assertGreater(sum(map(len, stored.values())), 3.4 * MIB)
        state = lab.state_of()
        self.assertEqual(state.quota, 4 * MIB)
        self.assertLessEqual(state.used, 4 * MIB + SPLITS)
        self.assertEqual(state.used, self.disk())
        first, second = list(stored)[:2]
        # It replaces a value of the same size, or a larger one: that is no growth.
        for value in (os.urandom(90_000), os.urandom(50_000)):
            self.assertEqual(lab.set(first, value).name, "done")
            stored[first] = value
        self.assertEqual(lab.set(first, os.urandom(90_000)).name, "done", "the room that it had left is its store's")
        self.refused(lab.set(first, os.urandom(900_000)), 4 * MIB)
        del stored[first]
        self.all_there(lab, stored)
        self.assertEqual(lab.ask("delete", name=second).name, "done")
        del stored[second]
        self.assertEqual(lab.set(b"in its place", os.urandom(90_000)).name, "done")
        self.assertEqual(lab.ask("lock").name, "done")
        self.assertEqual(lab.authenticate("wrong").code, 5)
        self.assertEqual(sum(Slots(lab.store()).tally.counts()), 1)
        self.assertEqual(lab.open(PASSCODE).name, "done")
        self.all_there(lab, stored)
        changed = lab.ask("passcode", answers(PASSCODE, newPasscode="another horse"), change="change")
        self.assertEqual(changed.name, "done")
        self.assertLessEqual(self.disk(), 4 * MIB + SPLITS)

    @slow
    def test_small_records(self):
        """many small records stop at the same limit"""
        lab = self.lab("1MiB")
        stored = 0
        with lab.client() as client:
            while True:
                answer = client.run("set", payloads=[os.urandom(200)], name=f"name {stored}".encode())
                if answer.name != "done":
                    break
                stored += 1
        self.refused(answer, MIB)
        self.assertGreater(stored, 1500)
        self.assertLessEqual(lab.state_of().used, MIB + SPLITS)
        lab.restart(9)
        self.assertEqual(lab.state_of().used, self.disk())

    def test_lowered_and_lifted(self):
        """a quota below what is stored refuses growth and nothing else; 0 is no limit; the key applies at once"""
        lab = self.lab("0")
        value = os.urandom(300_000)
        for number in range(8):
            self.assertEqual(lab.set(f"{number}".encode(), value).name, "done")
        self.assertEqual(lab.state_of().quota, 0)
        self.assertGreater(lab.state_of().used, 8 * 300_000)
        lab.policy(policy(StoreQuota="1MiB"), reload=True)
        self.refused(lab.set(b"more", b"a"), MIB)
        self.refused(lab.ask("create", answers("second horse"), store="second", way="ownPasscode"), MIB)
        for restart in (False, True):
            if restart:
                lab.restart()
                self.assertEqual(lab.open(PASSCODE).name, "done")
            self.assertEqual(lab.get(b"3").payload, value)
            self.assertEqual(lab.set(b"3", value).name, "done")
            self.assertEqual(lab.ask("delete", name=b"7" if restart else b"6").name, "done")
            self.assertEqual(lab.ask("lock").name, "done")
            self.assertEqual(lab.open(PASSCODE).name, "done")
        lab.policy(policy(StoreQuota="64MiB"), reload=True)
        self.assertEqual(lab.set(b"more", b"a").name, "done")

    def test_a_person_of_their_own(self):
        """the value for this person counts, whichever store is written to"""
        lab = self.lab("64MiB")
        rules = policy(StoreQuota="64MiB") + f"[Passcode user:{lab.person[0]}]\nStoreQuota=1MiB\n"
        lab.policy(rules, reload=True)
        self.refused(self.fill(lab, 50_000)[1], MIB)

    def test_deleted_records_go_back_to_the_disk(self):
        """deleted room counts against none of the person's stores, and the disk gets it back for others"""
        lab = self.lab("8MiB")
        lab.make("second horse", "second")
        stored, answer = self.fill(lab, 200_000)
        self.refused(answer, 8 * MIB)
        self.refused(lab.set(b"a", os.urandom(200_000), "second"), 8 * MIB)
        for name in list(stored)[5:]:
            self.assertEqual(lab.ask("delete", name=name).name, "done")
        wait_until(lambda: lab.state_of().used == self.disk() < 2 * MIB, "the file shrinks")
        self.assertEqual(lab.set(b"a", os.urandom(3 * MIB // 4), "second").name, "done")
        self.all_there(lab, {name: stored[name] for name in list(stored)[:5]})

    @slow
    def test_killed_while_it_shrinks(self):
        """SIGKILL while a file shrinks loses no record"""
        lab = self.lab("0")
        kept = {f"kept {number}".encode(): os.urandom(20_000) for number in range(60)}
        with lab.client() as client:
            for round_, (name, value) in enumerate(kept.items()):
                client.run("set", payloads=[os.urandom(150_000)], name=f"gone {round_}".encode())
                self.assertEqual(client.run("set", payloads=[value], name=name).name, "done")
        for pause in (0.9, 1.0, 1.02, 1.05):
            with lab.client() as client:
                for round_ in range(60):
                    client.run("delete", name=f"gone {round_}".encode())
            # Any moment is good: the promise holds at each of them.
            time.sleep(pause)
            lab.restart(9)
            self.assertEqual(lab.open(PASSCODE).name, "done")
            self.all_there(lab, kept)
            for round_ in range(60):
                lab.set(f"gone {round_}".encode(), os.urandom(150_000))

    def test_new_stores(self):
        """a new store counts before anything of it is made, and a reset gives everything back"""
        lab = self.lab("1MiB")
        made = 1
        while True:
            answer = lab.ask("create", answers("some horse"), store=f"store {made}", way="ownPasscode")
            if answer.name != "done":
                break
            made += 1
        self.refused(answer, MIB)
        self.assertGreater(made, 2)
        self.assertEqual(lab.state_of().used, self.disk())
        self.assertLessEqual(self.disk(), MIB)
        before = lab.state_of().used
        self.assertEqual(lab.ask("reset", answers("some horse"), store="store 1").name, "done")
        self.assertLess(lab.state_of().used, before - 150_000)
        self.assertEqual(lab.state_of().used, self.disk())


class Import(Case):
    def export(self, lab, store=""):
        """The pieces of a whole export."""
        pieces = []
        with lab.client() as client:
            piece = client.run(
                "exportBegin", answers(PASSCODE, newPassphrase="a long phrase"), store=store)
            pieces.append(piece)
            while not piece.last:
                piece = client.run("exportNext")
                pieces.append(piece)
        return [piece.payload for piece in pieces]

    def importing(self, lab, pieces):
        """Sends the whole file twice. Returns the last answer, and in which of its rounds it
        came."""
        header, body = pieces[0], pieces[1:]
        total = sum(map(len, body))
        with lab.client() as client:
            answer = client.run("importBegin", answers(passphrase="a long phrase"), [header], replace=True)
            for round_ in (1, 2):
                done = 0
                for index, piece in enumerate(body):
                    done += len(piece)
                    answer = client.run(
                        "importChunk", (), [piece], done=done, total=total, last=index == len(body) - 1)
                    if answer.name != "progress":
                        return answer, round_
        return answer, 2

    def test_before_anything_changed(self):
        """an import that does not fit is refused when its size is known, and nothing of it is stored"""
        lab = self.lab("0")
        values = {f"{number}".encode(): os.urandom(100_000) for number in range(30)}
        for name, value in values.items():
            lab.set(name, value)
        pieces = self.export(lab)
        for name in values:
            lab.ask("delete", name=name)
        lab.set(b"own", b"own")
        lab.policy(policy(StoreQuota="2MiB"), reload=True)
        wait_until(lambda: lab.state_of().used < MIB, "the file shrinks")
        answer, round_ = self.importing(lab, pieces)
        self.refused(answer, 2 * MIB)
        self.assertEqual((round_, lab.state_of().records), (1, 1))
        lab.policy(policy(StoreQuota="8MiB"), reload=True)
        self.assertEqual(self.importing(lab, pieces)[0].name, "done")
        self.all_there(lab, {**values, b"own": b"own"})
        # The same again in its own place: that is no growth, whatever is left.
        lab.policy(policy(StoreQuota="1MiB"), reload=True)
        self.assertEqual(self.importing(lab, pieces)[0].name, "done")

    def test_another_was_faster(self):
        """an import that fitted when it was checked, and no longer does, stops at the limit"""
        lab = self.lab("0")
        for number in range(20):
            lab.set(f"{number}".encode(), os.urandom(100_000))
        pieces = self.export(lab)
        for number in range(20):
            lab.ask("delete", name=f"{number}".encode())
        lab.policy(policy(StoreQuota="4MiB"), reload=True)
        wait_until(lambda: lab.state_of().used < MIB, "the file shrinks")
        header, body = pieces[0], pieces[1:]
        total = sum(map(len, body))
        with lab.client() as client:
            client.run("importBegin", answers(passphrase="a long phrase"), [header], replace=True)
            answers_ = []
            for round_ in (1, 2):
                if round_ == 2:
                    stored, _ = self.fill(lab, 100_000, prefix="mine")
                done = 0
                for index, piece in enumerate(body):
                    done += len(piece)
                    answer = client.run(
                        "importChunk", (), [piece], done=done, total=total, last=index == len(body) - 1)
                    answers_.append(answer)
                    if answer.name != "progress":
                        break
        self.refused(answers_[-1], 4 * MIB)
        self.assertLessEqual(lab.state_of().used, 4 * MIB + SPLITS)
        self.all_there(lab, stored)


class Many(Case):
    """Another person of the machine, with all the connections that one person may have."""

    def setUp(self):
        self.person = add_account()
        self.addCleanup(remove_account, self.person[0])

    def together(self, quota, stores):
        self.daemon = lab = Lab(policy(StoreQuota=f"{quota // MIB}MiB"))
        self.addCleanup(lab.close)
        lab.person = self.person
        names = [f"store {number}" for number in range(stores)]
        for name in names:
            lab.create(PASSCODE, store=name)

        def attack():
            refusals, stored = [], []

            def work(number):
                with lab.client() as client:
                    for round_ in range(60):
                        name = f"{number} {round_}".encode()
                        answer = client.run(
                            "set", payloads=[os.urandom(MIB)], store=names[(number + round_) % stores], name=name)
                        if answer.name == "done":
                            stored.append(name)
                            continue
                        refusals.append(code(answer))
                        if refusals.count(TOO_LARGE) >= 4 * CONNECTIONS:
                            return

            threads = [threading.Thread(target=work, args=(number,)) for number in range(CONNECTIONS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return set(refusals), len(stored)

        ended, most = threading.Event(), [0]

        def watch():
            while not ended.is_set():
                most[0] = max(most[0], self.disk())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            refusals, stored = as_uid(self.person[1], attack)
        finally:
            ended.set()
            watcher.join()
        self.assertEqual(refusals, {TOO_LARGE})
        for name in names:
            self.assertEqual(lab.ask("lock", store=name).name, "done")
        return stored, most[0]

    @slow
    def test_sixteen_connections(self):
        """sixteen connections together pass the limit by at most one batch in the log, and keep it when it is empty"""
        quota = 24 * MIB
        for stores in (1, 5, 16):
            with self.subTest(stores=stores):
                stored, most = self.together(quota, stores)
                self.assertGreater(stored, (quota - stores * 300_000) // LARGEST - CONNECTIONS)
                self.assertLessEqual(most, quota + CONNECTIONS * (LARGEST + 40 * 4096))
                self.assertLessEqual(self.disk(), quota + 65536 + stores * 6 * 4096)
                self.assertEqual(self.daemon.ask("status", store="store 0").used, self.disk())
                self.daemon.close()


if __name__ == "__main__":
    unittest.main()
