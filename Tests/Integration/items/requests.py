"""The desktop's secrets over the wire: what a program stores, finds, changes and deletes, and what it hears of what
others do."""

import os
import threading
import time
import unittest

import recordsfile
import wire
from daemonlab import IS_ROOT, PASSCODE, add_account, answers, as_uid, remove_account, wait_until
from faultlab import Lab, policy
from itemlab import LOGIN, STORE, Items, Mirror, Refused, make_store
from slow import slow

TIMEOUT = 300
DOES_NOT_EXIST, INVALID_ARGUMENT, LOCKED, TOO_LARGE = 3, 4, 6, 33


class Case(unittest.TestCase):
    POLICY = policy()

    def setUp(self):
        self.lab = Lab(self.POLICY)
        self.addCleanup(self.lab.close)
        make_store(self.lab)
        self.items = self.connect()

    def connect(self):
        items = Items(self.lab)
        self.addCleanup(items.close)
        return items

    def refused(self, code, call, *arguments, **fields):
        with self.assertRaises(Refused) as caught:
            call(*arguments, **fields)
        self.assertEqual(caught.exception.code, code, caught.exception.answer)
        return caught.exception.answer


class Stored(Case):
    def test_found_again(self):
        """an item has what was stored, and is found by each of its attributes and by all of them"""
        before = int(time.time())
        mail = self.items.put(
            {"user": "ann", "server": "mail"}, b"otter", label="Mail", contentType="text/plain")
        chat = self.items.put({"user": "ann", "server": "chat"}, b"heron", label="Chat")
        self.assertNotEqual(mail["id"], LOGIN)
        self.assertEqual((mail["collection"], mail["label"], mail["contentType"]), (LOGIN, "Mail", "text/plain"))
        self.assertTrue(before <= mail["created"] <= int(time.time()) and mail["modified"] == mail["created"])
        self.assertEqual(mail["attributes"], {"server": "mail", "user": "ann"})
        self.assertEqual(self.items.find({"server": "mail"}), [mail])
        self.assertEqual(self.items.find({"server": "mail", "user": "ann"}), [mail])
        self.assertCountEqual(self.items.find({"user": "ann"}), [mail, chat])
        self.assertCountEqual(self.items.find(), [mail, chat])
        for none in ({"server": "ann"}, {"user": "an"}, {"user": "ann", "port": ""}, {"": ""}):
            self.assertEqual(self.items.find(none), [], none)
        self.assertEqual(self.items.secrets([mail["id"], chat["id"]]), {mail["id"]: b"otter", chat["id"]: b"heron"})

    def test_after_a_restart(self):
        """another daemon finds the same"""
        stored = [self.items.put({"n": str(n)}, b"%d" % n, label=f"Item {n}") for n in range(30)]
        self.lab.restart()
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        items = self.connect()
        self.assertCountEqual(items.find(), stored)
        self.assertEqual(items.secret(stored[7]["id"]), b"7")

    def test_any_text(self):
        """empty and long texts, many attributes, any UTF-8, any bytes as the secret"""
        attributes = {f"{n}-Ä": "ß" * n for n in range(127)} | {"": ""}
        secret = bytes(range(256)) * 400
        item = self.items.put(attributes, secret, label="L" * 16384, contentType="text/plain; charset=utf8")
        self.assertEqual(self.items.find({"126-Ä": "ß" * 126, "": ""}), [item])
        self.assertEqual(item["attributes"], attributes)
        self.assertEqual(self.items.secret(item["id"]), secret)
        empty = self.items.put({}, b"")
        self.assertEqual(self.items.secret(empty["id"]), b"")

    def test_given_times(self):
        """who brings items over keeps their times"""
        item = self.items.put({"a": "b"}, b"x", created=1000, modified=2000)
        self.assertEqual((item["created"], item["modified"]), (1000, 2000))
        again = self.items.put({"a": "b"}, b"y", replace=True, created=3000, modified=4000)
        self.assertEqual((again["id"], again["created"], again["modified"]), (item["id"], 1000, 4000))

    def test_given_id(self):
        """an item with an id is stored under it, whether it is there or not"""
        identity = os.urandom(16)
        first = self.items.put({"a": "b"}, b"x", id=identity)
        second = self.items.put({"c": "d"}, b"y", id=identity)
        self.assertEqual((first["id"], second["id"]), (identity, identity))
        self.assertEqual(self.items.find(), [second])
        self.assertEqual(self.items.secret(identity), b"y")

    def test_replace(self):
        """only exactly the same attributes in the same collection are replaced"""
        work = self.items.collection("Work")["id"]
        first = self.items.put({"a": "1", "b": "2"}, b"one", label="first")
        others = [
            self.items.put({"a": "1"}, b"-", replace=True),
            self.items.put({"a": "1", "b": "2", "c": "3"}, b"-", replace=True),
            self.items.put({"a": "1", "b": "2"}, b"-", replace=True, collection=work),
        ]
        again = self.items.put({"b": "2", "a": "1"}, b"two", replace=True, label="again")
        self.assertEqual((again["id"], again["label"]), (first["id"], "again"))
        twice = self.items.put({"a": "1", "b": "2"}, b"three")
        self.assertNotEqual(twice["id"], first["id"])
        self.assertEqual(self.items.secret(first["id"]), b"two")
        self.assertCountEqual(self.items.find(), [again, twice, *others])

    def test_change(self):
        """what is not named stays"""
        item = self.items.put({"a": "1"}, b"one", label="first", contentType="text/plain", modified=5)
        relabelled = self.items.change(item["id"], label="second")
        self.assertEqual({**item, "label": "second", "modified": relabelled["modified"]}, relabelled)
        self.assertGreater(relabelled["modified"], 5)
        self.assertEqual(self.items.secret(item["id"]), b"one")
        moved = self.items.change(item["id"], attributes={"b": "2"})
        self.assertEqual((self.items.find({"a": "1"}), self.items.find({"b": "2"})), ([], [moved]))
        told = self.items.change(item["id"], b"two", contentType="application/x")
        self.assertEqual((told["label"], told["contentType"]), ("second", "application/x"))
        self.assertEqual(self.items.secret(item["id"]), b"two")
        self.refused(DOES_NOT_EXIST, self.items.change, os.urandom(16), label="none")

    def test_delete(self):
        item, other = (self.items.put({"a": n}, b"x") for n in "12")
        self.items.delete(item["id"])
        self.assertEqual(self.items.find(), [other])
        self.assertIsNone(self.items.secret(item["id"]))
        self.refused(DOES_NOT_EXIST, self.items.delete, item["id"])

    def test_too_large(self):
        """an item with all that it says has at most 1 MiB, as every record"""
        most = wire.VALUE - 100
        item = self.items.put({"a": "b"}, b"x" * most)
        self.assertEqual(len(self.items.secret(item["id"])), most)
        self.refused(TOO_LARGE, self.items.put, {"a": "c"}, b"x" * wire.VALUE)
        self.refused(TOO_LARGE, self.items.change, item["id"], label="L" * 200)
        self.assertEqual(self.items.find(), [item])

    def test_twice_the_same_attribute(self):
        self.refused(INVALID_ARGUMENT, self.items.put, [("a", "1"), ("a", "2")], b"x")

    def test_in_bulk(self):
        """secrets come as far as they fit, and one that is not there is left out"""
        large = [self.items.put({"n": str(n)}, os.urandom(200_000))["id"] for n in range(5)]
        small = [self.items.put({"m": str(n)}, b"%d" % n)["id"] for n in range(50)]
        found = self.items.secrets([*large, os.urandom(16), *small])
        self.assertEqual(set(found), {*large, *small})
        self.assertEqual([found[each] for each in small], [b"%d" % n for n in range(50)])
        self.assertEqual(len(self.items.secrets([*large[:2], large[0], large[1]] * 2)), 2)
        first = self.items.ask("itemSecrets", "secrets", ids=[*large])
        self.assertEqual((first.done, len(first.entries)), (1, 1))
        self.assertEqual(self.items.ask("itemSecrets", "secrets", ids=[os.urandom(16)]).done, 1)

    @slow
    def test_pages(self):
        """a listing comes in pages of at most 256 KiB, and has each item once"""
        count = 600
        ids = {self.items.put({"n": str(n), "all": "yes"}, b"", label="L" * 1000)["id"] for n in range(count)}
        for attributes in ({}, {"all": "yes"}):
            pages = []
            found = [item["id"] for item in self.items.find(attributes, pages=pages)]
            self.assertEqual((len(found), set(found)), (count, ids))
            self.assertGreater(len(pages), 2)
            self.assertLess(max(pages), 256)


class Reserved(Case):
    def test_names(self):
        """nobody sees or touches the records of items by their names"""
        item = self.items.put({"a": "b"}, b"x")
        name = b"\0secret\0i" + item["id"]
        self.assertEqual(self.lab.set("mine", b"value", STORE).name, "done")
        for request, payloads in (("get", ()), ("set", (b"y",)), ("delete", ())):
            for reserved in (name, b"\0secret\0", b"\0secret\0new"):
                answer = self.lab.ask(request, payloads=payloads, store=STORE, name=reserved)
                self.assertEqual((answer.name, answer.code), ("refused", INVALID_ARGUMENT), request)
        for prefix, names in ((b"", [b"mine"]), (b"\0", []), (b"\0secret\0", []), (name, [])):
            listed = self.lab.ask("list", store=STORE, prefix=prefix)
            self.assertEqual(listed.names, names, prefix)
        self.assertEqual(self.items.secret(item["id"]), b"x")
        self.assertEqual(self.lab.state_of(STORE).records, 2)


class Collections(Case):
    def test_made_and_deleted(self):
        work = self.items.collection("Work")
        self.assertEqual(work["label"], "Work")
        item = self.items.put({"a": "1"}, b"x", collection=work["id"])
        stays = self.items.put({"a": "1"}, b"y")
        self.assertEqual(self.items.find({"a": "1"}, collection=work["id"]), [item])
        self.assertEqual(self.items.find(collection=LOGIN), [stays])
        named = self.items.collection("Office", work["id"])
        self.assertEqual((named["id"], named["label"], named["created"]), (work["id"], "Office", work["created"]))
        self.items.delete_collection(work["id"])
        self.assertEqual(self.items.find(), [stays])
        self.assertIsNone(self.items.secret(item["id"]))
        self.refused(DOES_NOT_EXIST, self.items.put, {}, b"x", collection=work["id"])
        self.refused(DOES_NOT_EXIST, self.items.delete, item["id"])
        self.refused(DOES_NOT_EXIST, self.items.delete_collection, work["id"])
        self.refused(DOES_NOT_EXIST, self.items.collection, "again", work["id"])
        # What is left of it goes by itself.
        wait_until(lambda: self.lab.state_of(STORE).records == 1, "the records of the collection are gone")

    def test_login(self):
        """one is always there, and is given another label, but not deleted"""
        self.assertEqual(Mirror(self.items).follow().collections, {LOGIN: "Login"})
        self.items.collection("Anmeldung", LOGIN)
        self.assertEqual(Mirror(self.items).follow().collections, {LOGIN: "Anmeldung"})
        self.refused(INVALID_ARGUMENT, self.items.delete_collection, LOGIN)

    def test_aliases(self):
        work = self.items.collection("Work")["id"]
        self.items.alias("default", work)
        self.items.alias("other", LOGIN)
        mirror = Mirror(self.items).follow()
        self.assertEqual(mirror.aliases, {"default": work, "other": LOGIN})
        self.items.alias("other", None)
        self.items.alias("other", None)
        self.assertEqual(mirror.follow().aliases, {"default": work})
        self.refused(DOES_NOT_EXIST, self.items.alias, "x", os.urandom(16))
        self.refused(INVALID_ARGUMENT, self.items.alias, "", work)
        self.items.delete_collection(work)
        self.assertEqual(mirror.follow().aliases, {})

    def test_aliases_go_with_their_collection(self):
        """what has meant a deleted collection does not count as an alias for ever"""
        for number in range(257):
            made = self.items.collection("Work")["id"]
            self.items.alias(f"a{number}", made)
            self.items.delete_collection(made)
            # Its sweeping goes on behind the answer.
            wait_until(lambda: self.lab.state_of(STORE).records == 0, "it is swept", 30)
        self.items.alias("one", LOGIN)
        self.assertEqual(Mirror(self.items).follow().aliases, {"one": LOGIN})

    def test_as_many_as_fit(self):
        made = [self.items.collection(f"{n}")["id"] for n in range(255)]
        self.refused(INVALID_ARGUMENT, self.items.collection, "one more")
        self.items.delete_collection(made[0])
        self.items.collection("instead")
        self.assertEqual(len(Mirror(self.items).follow().collections), 256)


class News(Case):
    def test_followed(self):
        """who asks now and then knows what others have done, and is told nothing twice"""
        mirror = Mirror(self.connect()).follow()
        self.assertEqual((mirror.known, mirror.times_anew), ({}, 1))
        first, second = (self.items.put({"a": n}, b"x") for n in "12")
        self.assertEqual(mirror.follow().known, {first["id"]: first, second["id"]: second})
        self.assertEqual([len(page["items"]) for page in self.items.news(mirror.opening, mirror.since)], [0])
        changed = self.items.change(first["id"], label="new")
        self.items.delete(second["id"])
        (page,) = self.items.news(mirror.opening, mirror.since)
        self.assertEqual((page["items"], page.gone, page.isAnew), ([changed], [second["id"]], False))
        self.assertEqual(mirror.follow().known, {first["id"]: changed})
        work = self.items.collection("Work")["id"]
        there = self.items.put({"b": "1"}, b"x", collection=work)
        self.assertIn(there["id"], mirror.follow().known)
        self.items.delete_collection(work)
        self.assertEqual(mirror.follow().known, {first["id"]: changed})
        self.assertEqual(mirror.times_anew, 1)

    def test_anew(self):
        """a number of the future or of another index, and more changes than are remembered, are told as all items"""
        mirror = Mirror(self.items).follow()
        self.items.put({"a": "1"}, b"x")
        mirror.follow()
        for opening, since in ((mirror.opening, mirror.since + 1), (mirror.opening ^ 1, 1), (mirror.opening, 0)):
            self.assertTrue(self.items.news(opening, since)[0].isAnew)

    @slow
    def test_large_pages(self):
        mirror = Mirror(self.items).follow()
        stored = {}
        for n in range(80):
            item = self.items.put({f"{n}-{m}": "v" * 16000 for m in range(3)}, b"")
            stored[item["id"]] = item
        huge = self.items.put({f"{m}": "v" * 16000 for m in range(40)}, b"")
        stored[huge["id"]] = huge
        self.assertGreater(len(self.items.news(mirror.opening, mirror.since)), 10)
        self.assertEqual(mirror.follow().known, stored)
        self.assertEqual(mirror.times_anew, 1)
        self.assertEqual(Mirror(self.items).follow().known, stored)

    def test_watched(self):
        """a watch says that something was stored"""
        with self.lab.client() as watcher:
            watcher.tag += 1
            watcher.send("watch", watcher.tag, records=True)
            self.items.put({"a": "1"}, b"x")
            while watcher.receive(20).what != "records":
                pass


class Together(Case):
    def test_same_attributes(self):
        """of two that replace at once, the second replaces what the first has stored"""
        clients = [self.connect() for _ in range(6)]
        for round_ in range(40):
            barrier = threading.Barrier(len(clients))
            made = [None] * len(clients)

            def put(n, barrier=barrier, made=made, round_=round_):
                barrier.wait()
                made[n] = clients[n].put({"round": str(round_)}, b"%d" % n, replace=True, label=str(n))

            threads = [threading.Thread(target=put, args=(n,)) for n in range(len(clients))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len({item["id"] for item in made}), 1)
            (last,) = self.items.find({"round": str(round_)})
            self.assertEqual(self.items.secret(last["id"]), last["label"].encode())

    def test_others_go_on(self):
        """many that store, change and delete at once end as if they had come one after the other"""
        clients = [self.connect() for _ in range(5)]
        kept = [{} for _ in clients]
        mirror, isOver = Mirror(self.connect()), threading.Event()

        def work(n):
            for step in range(60):
                item = clients[n].put({"n": str(n), "step": str(step)}, b"%d" % step)
                kept[n][item["id"]] = b"%d" % step
                if step % 3 == 0:
                    clients[n].change(item["id"], b"changed", contentType="")
                    kept[n][item["id"]] = b"changed"
                if step % 4 == 0:
                    clients[n].delete(item["id"])
                    del kept[n][item["id"]]

        def watch():
            while not isOver.is_set():
                mirror.follow()

        threads = [threading.Thread(target=work, args=(n,)) for n in range(len(clients))]
        watcher = threading.Thread(target=watch)
        for thread in (*threads, watcher):
            thread.start()
        for thread in threads:
            thread.join()
        isOver.set()
        watcher.join()
        expected = {identity: secret for each in kept for identity, secret in each.items()}
        self.assertEqual(self.items.secrets(expected), expected)
        self.assertEqual({item["id"] for item in self.items.find()}, set(expected))
        self.assertEqual(set(mirror.follow().known), set(expected))


class Locked(Case):
    def test_refused(self):
        """a locked store gives and takes nothing; open again, it has what it had"""
        item = self.items.put({"a": "b"}, b"x")
        self.assertEqual(self.lab.ask("lock").name, "done")
        calls = (
            lambda: self.items.put({}, b"x"), lambda: self.items.change(item["id"], label="x"),
            lambda: self.items.delete(item["id"]), self.items.find, lambda: self.items.secret(item["id"]),
            self.items.news, lambda: self.items.collection("x"), lambda: self.items.delete_collection(LOGIN),
            lambda: self.items.alias("x", LOGIN),
        )
        for call in calls:
            self.refused(LOCKED, call)
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        self.assertEqual(self.items.find(), [item])

    def test_locked_alone(self):
        """locked alone, no request opens it along with the store that it follows; the next opening of that one does"""
        item = self.items.put({"a": "b"}, b"x")
        self.assertEqual(self.lab.ask("lock", store=STORE).name, "done")
        for call in (self.items.find, self.items.news, lambda: self.items.put({}, b"x")):
            self.refused(LOCKED, call)
        self.assertEqual(self.lab.state_of(STORE).lock, "locked")
        self.assertEqual(self.lab.state_of().lock, "unlocked")
        self.assertEqual(self.lab.ask("lock").name, "done")
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        # At once: it is opened for the request, if it is not open yet.
        self.assertEqual(self.items.find(), [item])
        self.assertEqual(self.lab.ask("lock", store=STORE).name, "done")
        self.assertEqual(self.lab.open(PASSCODE, STORE).name, "done")
        self.assertEqual(self.items.find(), [item])

    def test_no_store(self):
        other = Items(self.lab, store="none")
        self.addCleanup(other.close)
        self.refused(DOES_NOT_EXIST, other.find)

    @unittest.skipUnless(IS_ROOT, "needs another account")
    def test_another_person(self):
        """nobody else reaches them, whatever name they give"""
        self.items.put({"a": "b"}, b"x")
        name, uid = add_account()
        self.addCleanup(remove_account, name)

        def ask():
            with self.lab.client(realUID=uid) as client:
                for store in (STORE, f"{self.lab.person[0]}/{STORE}"):
                    for request in ("itemFind", "itemChanges"):
                        answer = client.run(request, store=store)
                        if (answer.name, answer.code) != ("refused", DOES_NOT_EXIST):
                            return str(answer)
                return "nothing"

        self.assertEqual(as_uid(uid, ask), "nothing")


class Policy(Case):
    def shown(self):
        values = self.lab.ask("policyShow", store=STORE)["values"]
        (value,) = [value for value in values if value["key"] == "LockOnBackground"]
        return value["value"], os.path.basename(value["file"])

    def test_behind_the_screen(self):
        """the store stays open there, unless its own section says otherwise; `policy show` says where that is from"""
        self.assertEqual(self.lab.state_of(STORE).policyKey, "secrets")
        self.assertEqual(self.shown(), ("never", ""))
        self.lab.policy(policy(LockOnBackground="immediate"), reload=True)
        self.assertEqual(self.shown(), ("never", ""))
        own = "[Passcode store:secrets]\nLockOnBackground = immediate\n"
        self.lab.policy(policy(LockOnBackground="timeout") + own, reload=True)
        self.assertEqual(self.shown(), ("immediate", "policy.conf"))


class Moved(Case):
    def test_exported(self):
        """an export has the items, and an import brings them and their collections back"""
        work = self.items.collection("Work")["id"]
        self.items.alias("default", work)
        stored = [self.items.put({"n": str(n)}, b"%d" % n, collection=work) for n in range(20)]
        mirror = Mirror(self.items).follow()
        pieces = []
        with self.lab.client(frontEnd="terminal") as client:
            script = answers(PASSCODE, newPassphrase="a phrase of its own")
            answer = client.run("exportBegin", script, store=STORE)
            header = answer.payload
            while not answer.last:
                answer = client.run("exportNext")
                pieces.append(answer.payload)
        # By another reader, which knows FORMAT.md alone.
        records = recordsfile.read_export(header + b"".join(pieces), b"a phrase of its own")
        said = {(kind, which): fields for kind, which, fields in (recordsfile.item(*each) for each in records.items())}
        self.assertEqual((said["c", work]["label"], said["a", b"default"]), ("Work", {"collection": work}))
        for n, item in enumerate(stored):
            wanted = {**item, "secret": b"%d" % n}
            self.assertEqual({**said["i", wanted.pop("id")]}, wanted)
        for item in stored[:10]:
            self.items.delete(item["id"])
        self.items.delete_collection(work)
        extra = self.items.put({"extra": "yes"}, b"x")
        wait_until(lambda: self.lab.state_of(STORE).records == 1, "the collection and its alias are swept")
        with self.lab.client(frontEnd="terminal") as client:
            script = answers(passphrase="a phrase of its own")
            answer = client.run("importBegin", script, [header], store=STORE, replace=True)
            self.assertEqual(answer.name, "done", answer)
            for _ in range(2):
                for n, piece in enumerate(pieces):
                    answer = client.run("importChunk", (), [piece], last=n == len(pieces) - 1)
            self.assertEqual(answer.name, "done", answer)
        self.assertCountEqual(self.items.find(), [*stored, extra])
        mirror.follow()
        self.assertEqual(set(mirror.known), {item["id"] for item in (*stored, extra)})
        self.assertEqual((mirror.collections[work], mirror.aliases), ("Work", {"default": work}))

    def test_followed(self):
        """what an import stores is told as what has changed: nobody has to read everything anew, however many pieces it
        comes in"""
        for n in range(400):
            self.items.put({"n": str(n)}, b"x" * 2000)
        there = {item["id"]: item for item in self.items.find()}
        pieces = []
        with self.lab.client(frontEnd="terminal") as client:
            script = answers(PASSCODE, newPassphrase="a phrase of its own")
            answer = client.run("exportBegin", script, store=STORE)
            header = answer.payload
            while not answer.last:
                answer = client.run("exportNext")
                pieces.append(answer.payload)
        self.assertGreater(len(pieces), 2)
        for identity in list(there)[:300]:
            self.items.delete(identity)
        mirror = Mirror(self.items).follow()
        with self.lab.client(frontEnd="terminal") as client:
            script = answers(passphrase="a phrase of its own")
            client.run("importBegin", script, [header], store=STORE, replace=True)
            for _ in range(2):
                for n, piece in enumerate(pieces):
                    answer = client.run("importChunk", (), [piece], last=n == len(pieces) - 1)
                    mirror.follow()
            self.assertEqual(answer.name, "done", answer)
        self.assertEqual(mirror.known, there)
        self.assertEqual(mirror.times_anew, 1)
        self.assertEqual([item["id"] for item in self.items.find({"n": "7"})],
                         [identity for identity, item in there.items() if item["attributes"] == {"n": "7"}])


if __name__ == "__main__":
    unittest.main()
