"""Stores that are shared with the person, and further ones made for it, are collections of their own on the session
bus: with a real appvaultd, a real appvault-secrets, and another person who shares, writes, and shares no more."""

import contextlib
import os
import pwd
import subprocess
import threading
import unittest

import secretstorage
import wire
from daemonlab import PASSCODE, add_account, answers, as_uid_connection, remove_account, wait_until
from faultlab import policy
from itemlab import Items
from jeepney import DBusAddress, MatchRule, MessageType, new_method_call
from secretslab import NAME, ROOT, Desk
from secretstorage.exceptions import ItemNotFoundException, LockedException, SecretStorageException
from secretstorage.util import exec_prompt
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 300
NO_ONE = ("", wire.UNKNOWN_UID)
ME = pwd.getpwuid(os.getuid()).pw_name
ATTRIBUTES = {"server": "team.example"}
MARK = bytes.fromhex("c011ec710a5e80018001020304050607")


class Signals:
    """What the service tells of its collections."""

    def __init__(self, desk):
        self.connection = desk.connect()
        self.all = []
        for rule in (MatchRule(type="signal", sender=NAME, path_namespace=ROOT),):
            call = new_method_call(
                DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus"), "AddMatch", "s",
                (rule.serialise(),))
            self.connection.send_and_get_reply(call)

    def wait(self, wanted, what):
        def is_there():
            try:
                message = self.connection.receive(timeout=0.2)
            except TimeoutError:
                return any(wanted(*each) for each in self.all)
            if message.header.message_type == MessageType.signal:
                fields = message.header.fields
                self.all.append((fields[3], fields[1], message.body))
            return any(wanted(*each) for each in self.all)

        wait_until(is_there, what, 30)

    def created(self, path):
        self.wait(lambda member, _, body: member == "CollectionCreated" and body == (path,), f"{path} is created")
        self.wait(
            lambda member, _, body: member == "PropertiesChanged"
            and path in body[1].get("Collections", ("ao", []))[1], f"{path} is among the collections")

    def deleted(self, path):
        self.wait(lambda member, _, body: member == "CollectionDeleted" and body == (path,), f"{path} is deleted")
        self.wait(
            lambda member, _, body: member == "PropertiesChanged" and "Collections" in body[1]
            and path not in body[1]["Collections"][1], f"{path} is not among the collections")


class Case(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(**self.settings())
        self.addCleanup(self.desk.close)
        self.bob, uid = add_account()
        self.addCleanup(remove_account, self.bob)
        self.client = as_uid_connection(uid, self.desk.daemon, "terminal")
        self.addCleanup(self.client.close)
        self.ask("create", way="ownPasscode")
        self.name = f"{self.bob}/team"
        self.theirs = Items(None, self.client, "team")
        self.connection = self.desk.connect()

    def settings(self):
        return {}

    def ask(self, request, **fields):
        answer = self.client.run(request, answers(PASSCODE), subject=NO_ONE, **fields)
        self.assertIn(answer.name, ("done", "state"), answer)
        return answer

    def own(self, request, **fields):
        with self.desk.daemon.client(frontEnd="terminal") as client:
            answer = client.run(request, answers(PASSCODE), subject=NO_ONE, **fields)
            self.assertEqual(answer.name, "done", answer)

    def share(self, role="reader", name="team"):
        self.ask("share", store=name, kind="person", name=ME, role=role)

    def unshare(self):
        self.ask("unshare", store="team", kind="person", name=ME)

    def team(self, role="reader", attributes=None):
        """Another person's store, shared with the desktop's, with one secret in it."""
        self.ask("create", store="team", way="shared")
        self.share(role)
        self.item = self.theirs.put(attributes or ATTRIBUTES, b"otter", label="Deploy", contentType="text/plain")
        return self.path("team")

    def path(self, name):
        store = self.ask("status", store=name).store
        return f"{ROOT}/collection/{bytes(store).hex()}"

    def labels(self):
        labels = set()
        connection = self.desk.connect()
        for each in secretstorage.get_all_collections(connection):
            # One may go in between.
            with contextlib.suppress(ItemNotFoundException):
                labels.add(each.get_label())
        connection.close()
        return labels

    def comes(self, label):
        wait_until(lambda: label in self.labels(), f"{label} is a collection", 30)
        return next(
            each for each in secretstorage.get_all_collections(self.connection) if each.get_label() == label)

    def goes(self, label):
        wait_until(lambda: label not in self.labels(), f"{label} is no collection", 30)


class Others(Case):
    """What another person shares."""

    def test_reads(self):
        """a member finds and reads what is in it; the collection comes while the bridge runs, and stays where it is"""
        signals = Signals(self.desk)
        path = self.team()
        signals.created(path)
        team = self.comes(self.name)
        self.assertEqual(team.collection_path, path)
        self.assertFalse(team.is_locked())
        found = list(secretstorage.search_items(self.connection, ATTRIBUTES))
        self.assertEqual([each.get_label() for each in found], ["Deploy"])
        self.assertTrue(found[0].item_path.startswith(path + "/"))
        self.assertEqual(found[0].get_secret(), b"otter")
        self.assertEqual(list(team.get_all_items()), found)
        # What the other one changes is seen.
        self.theirs.change(self.item["id"], label="Deploy keys")
        wait_until(lambda: found[0].get_label() == "Deploy keys", "the label is another one", 30)
        self.desk.kill()
        self.desk.start()
        again = secretstorage.Item(self.desk.connect(), found[0].item_path)
        self.assertEqual(again.get_secret(), b"otter")

    def test_reader(self):
        """whoever may only read is refused by name, and nothing changes"""
        team = self.collection("reader")
        item = next(team.get_all_items())
        for call in (
                lambda: team.create_item("x", {}, b"x"), lambda: item.set_secret(b"x"),
                lambda: item.set_label("x"), item.delete, lambda: team.set_label("x")):
            with self.assertRaisesRegex(Exception, "AccessDenied|read|owner"):
                call()
        self.assertEqual((item.get_secret(), item.get_label()), (b"otter", "Deploy"))

    def collection(self, role):
        self.team(role)
        return self.comes(self.name)

    def test_writer(self):
        """whoever may write stores, changes and deletes; the other one finds it"""
        team = self.collection("writer")
        new = team.create_item("New", {"a": "1"}, b"badger")
        self.assertEqual([each["label"] for each in self.theirs.find({"a": "1"})], ["New"])
        new.set_secret(b"heron")
        self.assertEqual(self.theirs.secret(self.theirs.find({"a": "1"})[0]["id"]), b"heron")
        again = team.create_item("Newer", {"a": "1"}, b"egret", replace=True)
        self.assertEqual(again, new)
        next(each for each in team.get_all_items() if each != new).delete()
        self.assertEqual([each["label"] for each in self.theirs.find()], ["Newer"])

    def test_empty(self):
        """a team's store that holds no secret of a desktop is no collection, until it does; then it stays one"""
        self.ask("create", store="team", way="shared")
        self.ask("set", store="team", name="api", payloads=[b"x"]) if False else None
        self.share("writer")
        secretstorage.get_default_collection(self.connection).create_item("x", {"a": "1"}, b"x")
        self.assertNotIn(self.name, self.labels())
        item = self.theirs.put(ATTRIBUTES, b"otter")
        self.comes(self.name)
        self.theirs.delete(item["id"])

        def is_gone():
            # It may go between the search and the question for its label.
            with contextlib.suppress(ItemNotFoundException):
                return not list(secretstorage.search_items(self.connection, ATTRIBUTES))
            return False

        wait_until(is_gone, "it is gone", 30)
        self.assertIn(self.name, self.labels())

    def test_unshared(self):
        """what is shared no more goes, with its items, and comes back with the next sharing"""
        signals = Signals(self.desk)
        path = self.team()
        team = self.comes(self.name)
        item = next(team.get_all_items())
        self.unshare()
        signals.deleted(path)
        self.assertNotIn(self.name, self.labels())
        self.assertEqual(list(secretstorage.search_items(self.connection, ATTRIBUTES)), [])
        with self.assertRaises(ItemNotFoundException):
            item.get_secret()
        self.share()
        self.comes(self.name)
        self.assertEqual(item.get_secret(), b"otter")

    def test_unshared_while_locked(self):
        """it goes also where the person's own store is locked meanwhile"""
        self.collection("reader")
        self.desk.lock_all()
        self.desk.is_locked(True)
        self.unshare()
        self.goes(self.name)

    def test_deleted(self):
        """its owner deletes the store: the collection is gone"""
        signals = Signals(self.desk)
        path = self.team()
        signals.created(path)
        self.ask("reset", store="team")
        signals.deleted(path)

    def test_renamed(self):
        """it is called what its owner calls it, under the same path"""
        path = self.team()
        self.comes(self.name)
        self.client.run("rename", answers(PASSCODE), subject=NO_ONE, store="team", name="crew")
        self.assertEqual(self.comes(f"{self.bob}/crew").collection_path, path)
        found = list(secretstorage.search_items(self.connection, ATTRIBUTES))
        self.assertEqual([each.get_secret() for each in found], [b"otter"])

    def test_locked(self):
        """it is locked while the person's own store is, whoever else has it open; one dialog opens both"""
        team = self.collection("writer")
        self.desk.collection().create_item("x", ATTRIBUTES, b"x")
        item = next(team.get_all_items())
        self.desk.lock_all()
        wait_until(team.is_locked, "it is locked", 30)
        self.assertEqual(self.theirs.secret(self.item["id"]), b"otter")
        with self.assertRaises(LockedException):
            item.get_secret()
        self.assertEqual({each.get_label() for each in team.get_all_items()}, {"Deploy"})
        process = self.desk.start_tool("search", "--all", "--unlock", *next(iter(ATTRIBUTES.items())))
        self.desk.agent.asked()
        self.assertEqual(self.desk.agent.stores(), ["secrets"])
        self.desk.open("secrets")
        self.desk.agent.answer(0)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((out.count(b"secret = otter"), out.count(b"secret = x\n")), (1, 1))
        self.assertEqual(self.desk.agent.count(), 1)

    def test_locked_alone(self):
        """a program locks it for this desktop; the other member goes on, and Unlock asks for it"""
        team = self.collection("reader")
        team.lock()
        self.assertTrue(team.is_locked())
        self.assertFalse(secretstorage.Collection(self.connection).is_locked())
        item = next(team.get_all_items())
        with self.assertRaises(LockedException):
            item.get_secret()
        self.assertEqual(self.theirs.secret(self.item["id"]), b"otter")
        thread = threading.Thread(target=team.unlock)
        thread.start()
        self.desk.agent.asked()
        self.assertEqual(self.desk.agent.stores(), [self.name])
        self.desk.agent.answer(0)
        thread.join(60)
        self.assertEqual(item.get_secret(), b"otter")

    def test_first_opening(self):
        """before the first opening one placeholder stands for what others share, too"""
        self.collection("reader")
        self.desk.kill()
        self.desk.lock_all()
        self.desk.start()
        process = self.desk.start_tool("lookup", *next(iter(ATTRIBUTES.items())))
        self.desk.agent.asked()
        self.desk.open()
        self.assertEqual(process.communicate(timeout=60)[0], b"otter")

    def test_own_first(self):
        """what is the person's own is found before what others share, however new that is"""
        self.desk.collection().create_item("Mine", ATTRIBUTES, b"mine")
        self.collection("reader")
        self.theirs.change(self.item["id"], label="Newest")
        self.assertEqual(self.desk.tool("lookup", *next(iter(ATTRIBUTES.items())))[1], "mine")

    def test_connections(self):
        """five shared stores take no more connections than none"""
        folder = f"/proc/{self.desk.process.pid}/fd"

        def sockets():
            return sum(os.readlink(os.path.join(folder, each)).startswith("socket:") for each in os.listdir(folder))

        self.desk.collection().create_item("x", {"a": "1"}, b"x")
        self.labels()
        before = sockets()
        for number in range(5):
            self.ask("create", store=f"team{number}", way="shared")
            self.share("reader", f"team{number}")
            Items(None, self.client, f"team{number}").put(ATTRIBUTES, b"otter")
            self.comes(f"{self.bob}/team{number}")
        self.assertEqual(sockets(), before)
        self.assertEqual(len(list(secretstorage.search_items(self.connection, ATTRIBUTES))), 5)

    @slow
    def test_too_much(self):
        """more than there is room for is left out, whoever shares it, and the person's own is found"""
        mine = self.desk.collection().create_item("Mine", ATTRIBUTES, b"mine")
        self.team()
        self.comes(self.name)
        for number in range(10):
            self.theirs.put({f"{number} {each}": "x" * 16_000 for each in range(60)} | ATTRIBUTES, b"x")
        self.goes(self.name)
        self.assertEqual(list(secretstorage.search_items(self.desk.connect(), ATTRIBUTES)), [mine])
        self.assertTrue(any("too much" in line for line in self.desk.said.all), self.desk.said.all)

    def test_waits(self):
        """a member without a slot sees a collection that was made for it, locked, and nothing of what is in it"""
        self.desk.lock_all()
        self.own("reset")
        self.own("create", way="noPasscode")
        self.ask("create", store="team", way="shared", id=MARK)
        self.theirs.put(ATTRIBUTES, b"otter")
        self.share()
        mine = self.desk.collection().create_item("Mine", ATTRIBUTES, b"mine")
        team = self.comes(self.name)
        wait_until(team.is_locked, "it is locked", 30)
        self.assertEqual(list(secretstorage.search_items(self.desk.connect(), ATTRIBUTES)), [mine])
        with self.assertRaises(LockedException):
            team.create_item("x", {}, b"x")
        # Nobody has it open, so nothing but this is told of it.
        self.ask("lock")
        self.unshare()
        self.goes(self.name)

    def test_delete_refused(self):
        """another person's collection is not deleted from here"""
        team = self.collection("writer")
        with self.assertRaisesRegex(Exception, "AccessDenied|somebody else"):
            team.delete()
        self.assertEqual(len(self.theirs.find()), 1)

    def test_alias(self):
        """an alias may mean it, and is kept"""
        team = self.collection("writer")
        self.desk.collection().create_item("x", {}, b"x")
        call = new_method_call(
            DBusAddress(ROOT, NAME, "org.freedesktop.Secret.Service"), "SetAlias", "so",
            ("team", team.collection_path))
        self.assertEqual(self.connection.send_and_get_reply(call).header.message_type, MessageType.method_return)
        self.desk.kill()
        self.desk.daemon.restart()
        self.desk.open()
        self.client.close()
        self.desk.start()
        by_alias = secretstorage.get_collection_by_alias(self.desk.connect(), "team")
        self.assertEqual(by_alias.get_label(), self.name)



class Own(Case):
    """Stores of the person's own that are collections, with the real agent and its dialogs."""

    PASSCODE = "a drawer of its own 9"

    def settings(self):
        return {"real_agent": True, "policy_text": policy(MinLength=6, RetryLimit=10)}

    def says(self, *steps):
        """What the person does in the next dialogs."""
        done = len(self.desk.pinentry.dialogs)
        self.desk.pinentry.answers(*[["cancel"]] * done, *steps)
        return done

    def make(self, *steps, label="Taxes", alias=""):
        self.says(*steps)
        return secretstorage.create_collection(self.connection, label, alias=alias)

    def taxes(self):
        taxes = self.make(self.PASSCODE, self.PASSCODE)
        taxes.create_item("Return", ATTRIBUTES, b"otter")
        return taxes

    def shown(self, first=0):
        return "\n".join((each.desc or "") + (each.error or "") for each in self.desk.pinentry.dialogs[first:])

    def test_passcode(self):
        """a passcode of its own makes a store, which is a collection, and opens by that passcode alone"""
        taxes = self.taxes()
        self.assertIn("Taxes", self.shown())
        self.assertEqual(self.labels(), {"Login", "Taxes", "session"})
        state = self.desk.daemon.state_of("Taxes")
        self.assertEqual((state.kind, state.lock), ("own", "unlocked"))
        self.assertEqual(taxes.collection_path, f"{ROOT}/collection/{bytes(state.store).hex()}")
        # Not what opens everything else locks it.
        self.desk.lock_all()
        item = next(taxes.get_all_items())
        self.assertEqual(item.get_secret(), b"otter")
        taxes.lock()
        self.assertEqual(self.desk.daemon.state_of("Taxes").lock, "locked")
        with self.assertRaises(LockedException):
            item.get_secret()
        first = self.says("wrong", PASSCODE, self.PASSCODE)
        self.assertFalse(taxes.unlock())
        self.assertEqual(len(self.desk.pinentry.dialogs), first + 3)
        self.assertEqual(item.get_secret(), b"otter")

    def test_tries(self):
        """a wrong passcode in its dialog is a try, as everywhere"""
        taxes = self.taxes()
        taxes.lock()
        before = self.desk.daemon.state_of("Taxes")
        self.says("wrong", ["cancel"])
        self.assertTrue(taxes.unlock())
        after = self.desk.daemon.state_of("Taxes")
        self.assertEqual(
            after.ownTriesLeft + after.apartTriesLeft, before.ownTriesLeft + before.apartTriesLeft - 1)
        self.assertTrue(taxes.is_locked())

    def test_empty(self):
        """without a passcode it lives among the others, and no store is made"""
        plain = self.make("", alias="plain")
        plain.create_item("x", {"a": "1"}, b"x")
        self.assertEqual(len(self.desk.pinentry.dialogs), 1)
        self.assertIn("leave this empty", self.shown().replace("\n", " "))
        self.assertEqual(self.desk.daemon.state_of("Taxes").lock, "absent")
        by_alias = secretstorage.get_collection_by_alias(self.connection, "plain")
        self.assertEqual([each.get_label() for each in by_alias.get_all_items()], ["x"])
        plain.delete()
        self.assertEqual(len(self.desk.pinentry.dialogs), 1)

    def test_judged(self):
        """the policy judges a new passcode, and the dialog says what it lacks"""
        self.make("abc", self.PASSCODE, self.PASSCODE)
        self.assertEqual(len(self.desk.pinentry.dialogs), 3)
        second = self.desk.pinentry.dialogs[1]
        self.assertIn("6", (second.error or "") + second.desc)
        self.assertEqual(self.desk.daemon.state_of("Taxes").lock, "unlocked")

    def test_cancelled(self):
        """whoever cancels gets no collection, and so does whoever fails thrice"""
        for steps in ([["cancel"]], ["abc"] * 3):
            with self.assertRaises(SecretStorageException):
                self.make(*steps)
        self.assertEqual(self.labels(), {"Login", "session"})

    def test_restart(self):
        """it is there while it is locked, under the same path, and is asked for by its own dialog"""
        taxes = self.taxes()
        taxes.lock()
        self.desk.kill()
        self.desk.start()
        self.assertEqual(list(secretstorage.search_items(self.desk.connect(), ATTRIBUTES)), [])
        again = secretstorage.Collection(self.desk.connect(), taxes.collection_path)
        self.assertEqual((again.get_label(), again.is_locked()), ("Taxes", True))
        self.says(self.PASSCODE)
        self.assertFalse(again.unlock())
        found = secretstorage.search_items(self.desk.connect(), ATTRIBUTES)
        self.assertEqual([each.get_secret() for each in found], [b"otter"])

    def test_dies(self):
        """the bridge dies under the dialog: it goes, and nothing was made; behind it the collection is there"""
        self.says(["wait"], self.PASSCODE, self.PASSCODE)
        call = new_method_call(
            DBusAddress(ROOT, NAME, "org.freedesktop.Secret.Service"), "CreateCollection", "a{sv}s",
            ({"org.freedesktop.Secret.Collection.Label": ("s", "Taxes")}, ""))

        def prompt():
            connection = self.desk.connect()
            path = connection.send_and_get_reply(call).body[1]
            connection.send_and_get_reply(new_method_call(
                DBusAddress(path, NAME, "org.freedesktop.Secret.Prompt"), "Prompt", "s", ("",)))

        prompt()
        dialog = self.desk.pinentry.wait(1)
        self.desk.kill()
        wait_until(lambda: not dialog.lives, "the dialog goes", 30)
        self.desk.start()
        self.assertEqual(self.desk.daemon.state_of("Taxes").lock, "absent")
        self.assertEqual(self.labels(), {"Login", "session"})
        prompt()
        wait_until(lambda: self.desk.daemon.state_of("Taxes").lock == "unlocked", "the store is made", 30)
        self.desk.kill()
        self.desk.start()
        self.assertEqual(self.labels(), {"Login", "Taxes", "session"})

    def test_label(self):
        """another label is another name of the store"""
        taxes = self.taxes()
        taxes.set_label("Duties")
        self.assertEqual((taxes.get_label(), self.desk.daemon.state_of("Duties").lock), ("Duties", "unlocked"))
        self.assertEqual(next(taxes.get_all_items()).get_secret(), b"otter")
        with self.assertRaises(Exception):
            taxes.set_label("default")

    def test_same_label(self):
        """a second one of the same label is another store"""
        self.taxes()
        second = self.make(self.PASSCODE, self.PASSCODE)
        self.assertEqual(second.get_label(), "Taxes 2")

    def test_deletes(self):
        """it goes with everything in it once the person has read what goes and has shown what opens it"""
        taxes = self.taxes()
        first = self.says(["cancel"])
        self.deletes(taxes)
        self.assertEqual(next(taxes.get_all_items()).get_secret(), b"otter")
        self.assertIn("1", self.shown(first))
        self.assertIn("everything in it", self.shown(first))
        self.says(["ok"], self.PASSCODE)
        self.deletes(taxes)
        self.assertEqual(self.labels(), {"Login", "session"})
        self.assertEqual(self.desk.daemon.state_of("Taxes").lock, "absent")

    def deletes(self, collection):
        call = new_method_call(
            DBusAddress(collection.collection_path, NAME, "org.freedesktop.Secret.Collection"), "Delete")
        prompt = self.connection.send_and_get_reply(call).body[0]
        self.assertNotEqual(prompt, "/")
        exec_prompt(self.connection, prompt)

    def test_deletes_shared(self):
        """who loses a shared one with it is named"""
        self.own("create", store="crew", way="shared", id=MARK)
        crew = self.comes("crew")
        self.own("share", store="crew", kind="person", name=self.bob, role="reader")
        first = self.says(["ok"], PASSCODE)
        self.deletes(crew)
        self.assertIn(self.bob, self.shown(first))
        self.goes("crew")

    def test_made_for_it(self):
        """`create --collection` makes a collection that is there while it is empty, for each member, too"""
        made = subprocess.run(
            [os.path.join(self.desk.folder, "tool"), "create", "crew", "--shared", "--collection"],
            capture_output=True, check=False)
        self.assertEqual(made.returncode, 0, made)
        crew = self.comes("crew")
        self.assertEqual(list(crew.get_all_items()), [])
        store = bytes(self.desk.daemon.state_of("crew").store)
        self.assertTrue(store.hex().startswith("c011ec710a5e8"))
        # What is like any other store is none.
        self.own("create", store="drawer", way="followStore")
        self.desk.collection().create_item("x", {"a": "1"}, b"x")
        self.assertNotIn("drawer", self.labels())


if __name__ == "__main__":
    unittest.main(verbosity=2)
