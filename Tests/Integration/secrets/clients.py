"""Programs of the desktop find their secrets in AppVault: what SecretStorage and secret-tool do, over a session bus,
with a real appvaultd behind it."""

import time
import unittest

import secretstorage
from daemonlab import IS_ROOT, wait_until
from jeepney import DBusAddress, MessageType, new_method_call
from secretslab import LOGIN, NAME, ROOT, STORE, Desk, Relay
from secretstorage.exceptions import ItemNotFoundException, LockedException
from slow import slow
from wire import decode_some, encode

TIMEOUT = 300
ATTRIBUTES = {"application": "appvault-test", "server": "mail"}


class Case(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)
        self.connection = self.desk.connect()


class Collections(Case):
    def test_default(self):
        """the first collection is there at once, open and empty, under its name and its alias"""
        collection = secretstorage.get_default_collection(self.connection)
        self.assertEqual(collection.get_label(), "Login")
        self.assertEqual(secretstorage.Collection(self.connection).get_label(), "Login")
        self.assertFalse(collection.is_locked())
        self.assertEqual(list(collection.get_all_items()), [])
        self.assertEqual(
            {each.get_label() for each in secretstorage.get_all_collections(self.connection)}, {"Login", "session"})
        self.assertEqual(secretstorage.get_any_collection(self.connection).get_label(), "Login")

    def test_label(self):
        """a collection gets another label, and keeps it over a restart of both processes"""
        collection = secretstorage.get_default_collection(self.connection)
        collection.set_label("Hello")
        self.assertEqual(collection.get_label(), "Hello")
        self.desk.kill()
        self.desk.daemon.restart()
        self.desk.open()
        self.desk.start()
        self.assertEqual(secretstorage.get_default_collection(self.desk.connect()).get_label(), "Hello")

    def test_label_before_its_event(self):
        """what `default` opens along may be open a moment later than that one: the label that nobody has read yet is
        waited for, and where the store stays locked the answer comes as well"""
        secretstorage.get_default_collection(self.connection).set_label("Hello")

        def alter(frame):
            told, _ = decode_some(frame)
            if told.name != "event" or (told.what, told.fields["name"]) != ("opened", STORE):
                return frame
            return encode("event", told.tag, what="locked", store=told.store, name=STORE)

        relay = Relay(self.desk, alter)
        self.addCleanup(relay.close)
        for isLocked, label in ((False, "Hello"), (True, "Login")):
            self.desk.kill()
            if isLocked:
                self.desk.daemon.ask("lock", store=STORE)
            self.desk.start(daemon=relay.path)
            began = time.monotonic()
            collection = secretstorage.get_default_collection(self.desk.connect())
            self.assertEqual((collection.get_label(), collection.is_locked()), (label, True))
            self.assertLess(time.monotonic() - began, 5)

    def test_further(self):
        """a further collection has items of its own, an alias, and takes its items along"""
        work = secretstorage.create_collection(self.connection, "Work", alias="work")
        self.assertEqual(secretstorage.get_collection_by_alias(self.connection, "work").get_label(), "Work")
        item = work.create_item("Mail", ATTRIBUTES, b"otter")
        self.assertEqual([each.get_label() for each in work.get_all_items()], ["Mail"])
        login = secretstorage.get_default_collection(self.connection)
        self.assertEqual(list(login.search_items(ATTRIBUTES)), [])
        self.assertEqual(next(secretstorage.search_items(self.connection, ATTRIBUTES)), item)
        work.delete()
        self.assertEqual(list(secretstorage.search_items(self.connection, ATTRIBUTES)), [])
        with self.assertRaises(ItemNotFoundException):
            secretstorage.Collection(self.connection, work.collection_path)


class Items(Case):
    def setUp(self):
        super().setUp()
        self.collection = secretstorage.get_default_collection(self.connection)
        self.item = self.collection.create_item("My item", ATTRIBUTES, b"pa$$word")

    def test_has_what_was_stored(self):
        """a secret, its content type, label, attributes and times"""
        self.assertEqual(self.item.get_secret(), b"pa$$word")
        self.assertEqual(self.item.get_secret_content_type(), "text/plain")
        self.assertEqual((self.item.get_label(), self.item.get_attributes()), ("My item", ATTRIBUTES))
        self.assertAlmostEqual(self.item.get_created(), time.time(), delta=60)
        self.assertFalse(self.item.is_locked())

    def test_changes(self):
        """each of them becomes what is set, and the rest stays"""
        before = self.item.get_modified()
        self.item.set_label("Hello")
        self.item.set_attributes({"other": "x"})
        self.item.set_secret(b"new secret", content_type="application/octet-stream")
        self.assertEqual(self.item.get_label(), "Hello")
        self.assertEqual(self.item.get_attributes(), {"other": "x"})
        self.assertEqual(self.item.get_secret(), b"new secret")
        self.assertEqual(self.item.get_secret_content_type(), "application/octet-stream")
        self.assertGreaterEqual(self.item.get_modified(), before)
        self.assertEqual(list(self.collection.search_items(ATTRIBUTES)), [])
        self.assertEqual(list(self.collection.search_items({"other": "x"})), [self.item])

    def test_replace(self):
        """the same attributes get the new secret, and are one item"""
        again = self.collection.create_item("Another", ATTRIBUTES, b"second", replace=True)
        self.assertEqual((again, again.get_secret(), again.get_label()), (self.item, b"second", "Another"))
        other = self.collection.create_item("Third", ATTRIBUTES, b"third", replace=False)
        self.assertNotEqual(other, self.item)
        self.assertEqual(len(list(self.collection.search_items(ATTRIBUTES))), 2)

    def test_delete(self):
        """what is deleted is not found, and not there a second time"""
        self.item.delete()
        self.assertEqual(list(self.collection.search_items(ATTRIBUTES)), [])
        with self.assertRaises(ItemNotFoundException):
            self.item.delete()
        with self.assertRaises(ItemNotFoundException):
            secretstorage.Item(self.connection, self.item.item_path)
        with self.assertRaises(ItemNotFoundException):
            secretstorage.Item(self.connection, "/not/existing/path")

    def test_any_bytes(self):
        """an empty secret, a long one, and any UTF-8 in labels and attributes"""
        for secret in (b"", bytes(range(256)) * 3000):
            item = self.collection.create_item("Schlüssel", {"straße": "ö" * 500, "": ""}, secret, replace=True)
            self.assertEqual(item.get_secret(), secret)
            self.assertEqual(item.get_attributes(), {"straße": "ö" * 500, "": ""})
            self.assertEqual(item.get_label(), "Schlüssel")

    def test_too_long(self):
        """what is over the limit is refused, and the client goes on"""
        with self.assertRaisesRegex(Exception, "LimitsExceeded|1 MiB"):
            self.collection.create_item("Long", {"a": "b"}, b"x" * (1 << 20))
        self.assertEqual(self.item.get_secret(), b"pa$$word")

    def test_locked(self):
        """what is locked stays to be found, and no secret is given"""
        self.collection.lock()
        self.assertTrue(self.collection.is_locked() and self.item.is_locked())
        self.assertEqual(self.desk.daemon.state_of("secrets").lock, "locked")
        with self.assertRaises(LockedException):
            self.item.get_secret()
        with self.assertRaises(LockedException):
            self.collection.create_item("x", {}, b"")
        self.assertEqual(next(self.collection.search_items(ATTRIBUTES)).get_label(), "My item")
        self.desk.open("secrets")
        self.desk.is_locked(False)
        self.assertEqual(self.item.get_secret(), b"pa$$word")

    def test_kept(self):
        """another bridge and another daemon find the same items under the same paths"""
        self.desk.kill()
        self.desk.daemon.restart()
        self.desk.open()
        self.desk.start()
        # What follows `default` opens after it has answered.
        self.desk.is_locked(False)
        item = secretstorage.Item(self.desk.connect(), self.item.item_path)
        self.assertEqual((item.get_secret(), item.get_attributes()), (b"pa$$word", ATTRIBUTES))

    @slow
    def test_many(self):
        """hundreds of items, asked for all at once as a viewer does"""
        for number in range(300):
            self.collection.create_item(f"Item {number}", {"kind": "many", "number": str(number)}, b"%d" % number)
        found = list(self.collection.search_items({"kind": "many"}))
        self.assertEqual(len(found), 300)
        address = DBusAddress(found[0].item_path, NAME, "org.freedesktop.DBus.Properties")
        asked = []
        for item in found:
            call = new_method_call(
                DBusAddress(item.item_path, NAME, address.interface), "GetAll", "s", ("org.freedesktop.Secret.Item",))
            call.header.serial = next(self.connection.outgoing_serial)
            self.connection.send(call, serial=call.header.serial)
            asked.append(call.header.serial)
        labels = {}
        while len(labels) < 300:
            answer = self.connection.receive(timeout=60)
            serial = answer.header.fields.get(5)
            if serial is not None:
                self.assertEqual(answer.header.message_type, MessageType.method_return, answer.body)
                labels[serial] = answer.body[0]["Label"][1]
        self.assertEqual(list(labels), asked, "answered in the order in which they were asked")
        self.assertEqual(len(set(labels.values())), 300)


class Tool(Case):
    """secret-tool is libsecret, which agrees on an encrypted session."""

    def test_life(self):
        """stored, found, shown and cleared"""
        desk = self.desk
        self.assertEqual(desk.tool("store", "--label=Mail", "user", "ann", typed="otter")[0], 0)
        self.assertEqual(desk.tool("lookup", "user", "ann"), (0, "otter", ""))
        self.assertEqual(desk.tool("store", "--label=Mail", "user", "ann", typed="badger")[0], 0)
        status, out, err = desk.tool("search", "--all", "user", "ann")
        self.assertEqual((status, out.count("secret = badger"), out.count("secret = ")), (0, 1, 1))
        self.assertIn("attribute.user = ann", out + err)
        self.assertEqual(desk.tool("clear", "user", "ann")[0], 0)
        self.assertEqual(desk.tool("lookup", "user", "ann"), (1, "", ""))

    def test_lock(self):
        """`secret-tool lock` locks the store; the next lookup asks the person, and gets the secret"""
        desk = self.desk
        desk.tool("store", "--label=Mail", "user", "ann", typed="otter")
        # It crashes behind the service's answer in Debian 12, whatever keyring it is.
        desk.tool("lock", "--collection=login")
        self.assertEqual(desk.daemon.state_of("secrets").lock, "locked")
        process = desk.start_tool("lookup", "user", "ann")
        desk.agent.asked()
        self.assertEqual(desk.agent.stores(), ["secrets"])
        desk.open("secrets")
        self.assertEqual(process.communicate(timeout=60)[0], b"otter")
        desk.agent.gone()

    def test_refused(self):
        """who refuses gets no secret, and storing nothing"""
        desk = self.desk
        desk.tool("store", "--label=Mail", "user", "ann", typed="otter")
        desk.lock()
        process = desk.start_tool("lookup", "user", "ann")
        desk.agent.asked()
        desk.agent.answer(130)
        self.assertEqual(process.communicate(timeout=60)[0], b"")
        process = desk.start_tool("store", "--label=Mail", "user", "bob")
        process.stdin.write(b"x")
        process.stdin.close()
        desk.agent.asked(2)
        desk.agent.answer(130)
        self.assertNotEqual(process.wait(60), 0)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(desk.agent.count(), 2)


class Journal(Case):
    def test_says_who(self):
        """the journal names the program and the collection, once, and nothing of the items"""
        self.desk.tool("store", "--label=A label", "user", "ann", typed="otter")
        for _ in range(2):
            self.desk.tool("lookup", "user", "ann")
        wait_until(lambda: any("reads" in line for line in self.desk.said.all), "it is said", 30)
        said = "\n".join(self.desk.said.all)
        self.assertRegex(said, r'<6>appvault-secrets: /usr/bin/secret-tool \(.*process \d+\) stores: "Login"')
        for word in ("otter", "ann", "A label"):
            self.assertNotIn(word, said)

    def test_reads_nothing(self):
        """no other program of the person can read its memory, and it leaves no core"""
        # As root nothing is hidden.
        if not IS_ROOT:
            with self.assertRaises(PermissionError), open(f"/proc/{self.desk.process.pid}/mem", "rb"):
                pass
        with open(f"/proc/{self.desk.process.pid}/limits", encoding="ascii") as file:
            core = next(line for line in file if line.startswith("Max core file size"))
        self.assertEqual(core.split()[4:6], ["0", "0"])


class Paths(Case):
    def test_introspection(self):
        """every path says what is there"""
        collection = secretstorage.get_default_collection(self.connection)
        item = collection.create_item("x", ATTRIBUTES, b"")
        for path, wanted in (
                ("/", 'node name="org"'), (ROOT, "org.freedesktop.Secret.Service"),
                (ROOT + "/collection", 'node name="login"'), (LOGIN, "org.freedesktop.Secret.Collection"),
                (ROOT + "/aliases/default", "org.freedesktop.Secret.Collection"),
                (item.item_path, "org.freedesktop.Secret.Item")):
            call = new_method_call(DBusAddress(path, NAME, "org.freedesktop.DBus.Introspectable"), "Introspect")
            self.assertIn(wanted, self.connection.send_and_get_reply(call).body[0], path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
