"""What becomes of the desktop's secrets when somebody dies, leaves, floods, or was there before: appvaultd, the bridge,
a client in the middle of a prompt, another keyring."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import secretstorage
from daemonlab import PASSCODE, answers, comes_to_rest, wait_until, wakeups
from itemlab import Items
from jeepney import DBusAddress, MatchRule, MessageType, new_method_call
from places import LABS
from secretslab import LOGIN, NAME, ROOT, STORE, Caller, Desk, Lines, Relay
from secretstorage.exceptions import SecretStorageException
from slow import slow

# It begins early, because it takes longest of these.
TIMEOUT = 900
ATTRIBUTES = {"user": "ann"}


class Case(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)

    def stored(self):
        self.item = self.desk.collection().create_item("Mail", ATTRIBUTES, b"otter")
        return self.item.item_path


class Prompts(Case):
    def setUp(self):
        super().setUp()
        self.path = self.stored()
        self.desk.lock()
        self.caller = Caller(self.desk)

    def begun(self, caller):
        _, prompt = caller.unlock(self.path)
        self.assertEqual(caller.call(prompt, "Prompt", "Prompt", "s", ""), ())
        return prompt

    def test_opens(self):
        """the person is asked once for all who wait, and each hears once that it is open"""
        other = Caller(self.desk)
        prompts = [self.begun(self.caller), self.begun(self.caller), self.begun(other)]
        self.desk.agent.asked()
        self.desk.open("secrets")
        for caller, prompt in zip((self.caller, self.caller, other), prompts):
            self.assertEqual(caller.completed(prompt), (False, [self.path]))
            self.assertEqual(caller.call(prompt, "Prompt", "Prompt", "s", ""), "NoSuchObject")
        self.assertEqual(self.desk.agent.count(), 1)
        self.assertEqual(sum(each.header.fields[3] == "Completed" for each in self.caller.heard), 2)

    def test_leaves(self):
        """a client that leaves in the middle of a prompt: its dialog goes, and the next one gets another"""
        self.begun(self.caller)
        self.desk.agent.asked()
        self.caller.connection.close()
        self.desk.agent.gone()
        other = Caller(self.desk)
        prompt = self.begun(other)
        self.desk.agent.asked(2)
        self.desk.agent.answer(130)
        self.assertEqual(other.completed(prompt), (True, []))

    def test_never_answers(self):
        """a client that makes prompts and never calls them, or all that it may: others are asked for, and served"""
        for _ in range(1_000):
            _, prompt = self.caller.unlock(self.path)
            self.assertTrue(prompt.startswith("/"))
        waiter = Caller(self.desk)
        for _ in range(64):
            self.begun(waiter)
        self.assertEqual(waiter.unlock(self.path), "LimitsExceeded")
        self.desk.agent.asked()
        other = Caller(self.desk)
        prompt = self.begun(other)
        self.assertEqual(other.call(prompt, "Prompt", "Dismiss"), ())
        self.assertEqual(other.completed(prompt), (True, []))
        prompt = self.begun(other)
        self.desk.open("secrets")
        self.assertEqual(other.completed(prompt), (False, [self.path]))
        self.assertEqual(self.desk.agent.count(), 1)

    def test_dismisses(self):
        """Dismiss completes it, at once and once"""
        prompt = self.begun(self.caller)
        self.desk.agent.asked()
        self.assertEqual(self.caller.call(prompt, "Prompt", "Dismiss"), ())
        self.assertEqual(self.caller.completed(prompt), (True, []))
        self.desk.agent.gone()

    def test_others_objects(self):
        """a session and a prompt of another client are none"""
        session = self.caller.session()
        _, prompt = self.caller.unlock(self.path)
        other = Caller(self.desk)
        self.assertEqual(other.call(prompt, "Prompt", "Prompt", "s", ""), "NoSuchObject")
        self.assertEqual(other.call(prompt, "Prompt", "Dismiss"), "NoSuchObject")
        self.assertEqual(other.call(session, "Session", "Close"), "NoSession")
        self.desk.open("secrets")
        self.desk.is_locked(False)
        secret = (session, b"", b"badger", "text/plain")
        for answer in (
                other.call(self.path, "Item", "GetSecret", "o", session),
                other.call(self.path, "Item", "SetSecret", "(oayays)", secret),
                other.call(ROOT, "Service", "GetSecrets", "aoo", [self.path], session),
                other.call(LOGIN, "Collection", "CreateItem", "a{sv}(oayays)b", {}, secret, False)):
            self.assertEqual(answer, "NoSession")
        self.assertEqual(bytes(self.caller.call(self.path, "Item", "GetSecret", "o", session)[0][2]), b"otter")

    def test_no_agent(self):
        """where nobody can be asked, the prompt is dismissed"""
        self.desk.agent.process.kill()
        self.desk.agent.process.wait()
        prompt = self.begun(self.caller)
        self.assertEqual(self.caller.completed(prompt), (True, []))


class First(unittest.TestCase):
    """Before the first opening."""

    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)
        collection = self.desk.collection()
        self.items = [collection.create_item(str(n), {"user": "ann", "n": str(n)}, b"%d" % n) for n in range(3)]
        self.desk.kill()
        self.desk.lock_all()
        self.desk.start()

    def test_placeholder(self):
        """a search finds one locked item; unlocking it gives what there is"""
        caller = Caller(self.desk)
        unlocked, locked = caller.call(ROOT, "Service", "SearchItems", "a{ss}", ATTRIBUTES)
        self.assertEqual((unlocked, len(locked)), ([], 1))
        _, prompt = caller.unlock(*locked)
        caller.call(prompt, "Prompt", "Prompt", "s", "")
        self.desk.agent.asked()
        self.desk.open()
        dismissed, paths = caller.completed(prompt)
        self.assertFalse(dismissed)
        self.assertCountEqual(paths, [item.item_path for item in self.items])

    def test_lookup(self):
        """secret-tool asks the person, and gets the secret; storing one makes no second item"""
        process = self.desk.start_tool("lookup", "n", "1")
        self.desk.agent.asked()
        self.desk.open()
        self.assertEqual(process.communicate(timeout=60)[0], b"1")
        self.assertEqual(self.desk.tool("store", "--label=x", "user", "ann", "n", "1", typed="new")[0], 0)
        self.assertEqual(self.desk.tool("lookup", "n", "1")[1], "new")

    def test_delete(self):
        """what stands for a search cannot be deleted before it is known what it stands for, and that is said at once"""
        caller = Caller(self.desk)
        _, locked = caller.call(ROOT, "Service", "SearchItems", "a{ss}", ATTRIBUTES)
        self.assertEqual(caller.call(locked[0], "Item", "Delete"), "IsLocked")
        # An item whose path is known from before is meant for certain.
        prompt, = caller.call(self.items[0].item_path, "Item", "Delete")
        caller.call(prompt, "Prompt", "Prompt", "s", "")
        self.desk.agent.asked()
        self.desk.open()
        self.assertFalse(caller.completed(prompt)[0])
        self.assertEqual(len(caller.call(ROOT, "Service", "SearchItems", "a{ss}", ATTRIBUTES)[0]), 2)

    def test_known_paths(self):
        """an item that a client knows from before is locked, and not gone"""
        caller = Caller(self.desk)
        session = caller.session()
        self.assertEqual(caller.call(self.items[0].item_path, "Item", "GetSecret", "o", session), "IsLocked")


class Resets(Case):
    def test_reset(self):
        """after the store is removed all is answered at once, and the next secret makes a new one"""
        self.stored()
        self.desk.daemon.ask("reset", answers(PASSCODE), store=STORE)
        caller = Caller(self.desk)
        began = time.monotonic()
        wait_until(
            lambda: caller.call(ROOT, "Service", "SearchItems", "a{ss}", ATTRIBUTES) == ([], []), "nothing is there",
            30)
        self.assertLess(time.monotonic() - began, 15, "nobody waits for what is no more")
        self.assertEqual(self.desk.tool("store", "--label=x", "user", "ann", typed="new")[0], 0)
        self.assertEqual(self.desk.tool("lookup", "user", "ann")[1], "new")


class Deaths(Case):
    def test_bridge(self):
        """after kill -9 of the bridge another one gives the same items under the same paths"""
        path = self.stored()
        self.desk.kill(signal.SIGKILL)
        self.desk.start()
        item = secretstorage.Item(self.desk.connect(), path)
        self.assertEqual(item.get_secret(), b"otter")

    def test_ends(self):
        """it ends at SIGTERM, and with the bus"""
        self.assertEqual(self.desk.kill(signal.SIGTERM), 0)
        self.desk.start()
        self.desk.bus.process.kill()
        self.assertEqual(self.desk.process.wait(30), 0)

    @slow
    def test_daemon(self):
        """after kill -9 of appvaultd everything is locked; once it is open again clients go on"""
        path = self.stored()
        caller = Caller(self.desk)
        session = caller.session()
        self.desk.daemon.kill()
        began = time.monotonic()
        self.assertIsInstance(caller.call(path, "Item", "GetSecret", "o", session), str)
        self.assertLess(time.monotonic() - began, 25, "a client waits no longer than it would")
        self.assertEqual(
            caller.call(LOGIN, "Collection", "SearchItems", "a{ss}", ATTRIBUTES), ([path],))
        self.desk.daemon.start()
        self.desk.open()
        self.desk.is_locked(False)
        self.assertEqual(bytes(caller.call(path, "Item", "GetSecret", "o", session)[0][2]), b"otter")

    @slow
    def test_daemon_hangs(self):
        """an appvaultd that hangs holds nobody longer than 20 seconds, and what needs no daemon not at all"""
        path = self.stored()
        caller, other = Caller(self.desk), Caller(self.desk)
        session = caller.session()
        self.desk.daemon.process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            serial = caller.send(path, "Item", "GetSecret", "o", session)
            self.assertEqual(other.call(ROOT, "Service", "SearchItems", "a{ss}", ATTRIBUTES)[0], [path])
            other.session()
            self.assertEqual(caller.answer(serial), "Failed")
            self.assertGreater(time.monotonic() - began, 15)
        finally:
            self.desk.daemon.process.send_signal(signal.SIGCONT)
        self.assertEqual(bytes(caller.call(path, "Item", "GetSecret", "o", session)[0][2]), b"otter")

    @slow
    def test_hangs_from_the_start(self):
        """an appvaultd that hangs when the bridge starts: a session is opened at once, and the rest waits its time"""
        self.stored()
        self.desk.kill()
        self.desk.daemon.process.send_signal(signal.SIGSTOP)
        try:
            self.desk.start()
            caller, other = Caller(self.desk), Caller(self.desk)
            began = time.monotonic()
            serial = caller.send(ROOT, "Service", "SearchItems", "a{ss}", ATTRIBUTES)
            other.session()
            self.assertEqual(len(caller.answer(serial)[1]), 1, "it may be there, behind a lock")
            self.assertGreater(time.monotonic() - began, 15)
        finally:
            self.desk.daemon.process.send_signal(signal.SIGCONT)
        self.desk.is_locked(False)
        self.assertEqual(self.desk.tool("lookup", "user", "ann"), (0, "otter", ""))

    @slow
    def test_hangs_for_many(self):
        """calls that one client has sent at once wait at the same time, each no longer than clients wait"""
        path = self.stored()
        caller = Caller(self.desk)
        session = caller.session()
        self.desk.daemon.process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            secret = (session, b"", b"badger", "text/plain")
            serials = [
                caller.send(path, "Item", "GetSecret", "o", session),
                caller.send(path, "Item", "SetSecret", "(oayays)", secret),
                caller.send(ROOT, "Service", "GetSecrets", "aoo", [path], session)]
            for serial in serials:
                self.assertEqual(caller.answer(serial), "Failed")
                self.assertLess(time.monotonic() - began, 25, "clients wait no longer")
        finally:
            self.desk.daemon.process.send_signal(signal.SIGCONT)
        # What had no time left was not begun.
        self.assertEqual(bytes(caller.call(path, "Item", "GetSecret", "o", session)[0][2]), b"otter")

    def test_killed_while_storing(self):
        """appvaultd is killed while items are stored: what was answered is there, none is there twice"""
        self.stored()
        stored, failed = [], threading.Event()

        def store():
            collection = self.desk.collection()
            for number in range(10_000):
                try:
                    item = collection.create_item("x", {"number": str(number)}, b"%d" % number, replace=True)
                except SecretStorageException:
                    break
                except Exception as error:
                    self.assertIn("Error", str(error))
                    break
                stored.append((number, item.item_path))
            failed.set()

        thread = threading.Thread(target=store)
        thread.start()
        wait_until(lambda: len(stored) >= 10, "some are stored", 60)
        self.desk.daemon.kill()
        self.assertTrue(failed.wait(60))
        thread.join()
        self.desk.daemon.start()
        self.desk.open()
        self.desk.is_locked(False)
        collection = self.desk.collection()
        for number, path in stored:
            found = list(collection.search_items({"number": str(number)}))
            self.assertEqual([each.item_path for each in found], [path])
            self.assertEqual(found[0].get_secret(), b"%d" % number)
        self.assertLessEqual(len(list(collection.get_all_items())), len(stored) + 2)


class Floods(Case):
    def test_others_are_served(self):
        """a client that sends thousands of calls and reads no answer: others go on, and memory stays"""
        path = self.stored()
        flood = Caller(self.desk)
        session = flood.session()
        stop = threading.Event()

        def send():
            secret = (session, b"", b"x" * 100_000, "text/plain")
            properties = {"org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"flood": "x"})}
            for _ in range(1_000):
                if stop.is_set():
                    break
                flood.send(LOGIN, "Collection", "CreateItem", "a{sv}(oayays)b", properties, secret, True)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            caller = Caller(self.desk)
            own = caller.session()
            for _ in range(20):
                self.assertEqual(bytes(caller.call(path, "Item", "GetSecret", "o", own)[0][2]), b"otter")
        finally:
            stop.set()
            thread.join()
        with open(f"/proc/{self.desk.process.pid}/status", encoding="ascii") as file:
            used = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        self.assertLess(used, 96 << 10, "kB")

    def test_sessions(self):
        """ten thousand sessions of one client end at its limit; another client gets one"""
        flood = Caller(self.desk)
        serials = [flood.send(ROOT, "Service", "OpenSession", "sv", "plain", ("s", "")) for _ in range(10_000)]
        answers = [flood.answer(serial) for serial in serials]
        self.assertEqual(answers.count("LimitsExceeded"), 10_000 - 256)
        self.assertTrue(Caller(self.desk).session().startswith(ROOT + "/session/"))
        # They end with the client.
        flood.connection.close()
        self.assertIsInstance(Caller(self.desk).session(), str)


    def test_sessions_of_many_connections(self):
        """nor do more of them over forty connections of one program keep another one out"""
        flood = subprocess.Popen(
            [sys.executable, os.path.join(LABS, "sessionflood.py"), self.desk.bus.address, "40", "300"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        lines = Lines(flood.stdout)
        try:
            wait_until(lambda: lines.all, "it has opened what it may", 60)
            self.assertLess(int(lines.all[0].split()[1]), 2_100, "an eighth of what there is")
            caller = Caller(self.desk)
            for _ in range(256):
                self.assertTrue(caller.session().startswith(ROOT + "/session/"))
        finally:
            flood.kill()
            flood.wait()
            flood.stdin.close()
            lines.close()


class Watchers(unittest.TestCase):
    """Other programs of the person that listen to the daemon, or are connected to it."""

    def setUp(self):
        self.desk = Desk(bridge=False)
        self.addCleanup(self.desk.close)

    def watch(self, **greeting):
        client = self.desk.daemon.client(**greeting)
        self.addCleanup(client.close)
        client.send("watch", 2)
        return client.receive(20)

    def test_others_watch(self):
        """four programs that watch do not keep the bridge from listening"""
        self.assertEqual([self.watch().name for _ in range(4)], ["event"] * 4)
        self.assertEqual(self.watch().code, 35)
        self.desk.start()
        self.desk.is_locked(False)
        self.desk.collection().create_item("Mail", ATTRIBUTES, b"otter")
        self.desk.lock()

    def test_refused(self):
        """a bridge that may not listen says why; when a place is free again it serves"""
        kept = [self.desk.daemon.client(service="appvault-secrets") for _ in range(2)]
        for client in kept:
            self.addCleanup(client.close)
            client.send("watch", 2)
            self.assertEqual(client.receive(20).name, "event")
        self.desk.start()
        wait_until(
            lambda: any("does not tell what happens" in line and "watch" in line for line in self.desk.said.all),
            "it says so", 30)
        kept[0].close()
        self.desk.is_locked(False)


class Name(unittest.TestCase):
    def test_waits_in_line(self):
        """where another keyring has the name, it waits for it, and serves as soon as that one has ended"""
        desk = Desk(bridge=False)
        self.addCleanup(desk.close)
        other = desk.bus.connect()
        self.addCleanup(other.close)
        self.assertEqual(other.request_name(NAME), 1)
        desk.start(wait=False)
        wait_until(lambda: any("waits in line" in line for line in desk.said.all), "it says so", 30)
        other.release_name(NAME)
        wait_until(desk.owns, "it owns the name", 30)
        self.assertEqual(desk.collection().get_label(), "Login")

    def test_nobody_takes_it(self):
        """it does not give the name away"""
        desk = Desk()
        self.addCleanup(desk.close)
        other = desk.bus.connect()
        self.addCleanup(other.close)
        self.assertEqual(other.request_name(NAME, 2), 2, "in the queue")
        self.assertTrue(desk.owns())


class Rest(Case):
    @slow
    def test_no_wakeups(self):
        """while nothing happens nothing wakes it, and it stays small"""
        self.stored()
        pid = self.desk.process.pid
        comes_to_rest(pid)
        before = wakeups(pid)
        time.sleep(5)
        self.assertEqual(wakeups(pid), before)


class Unlocks(Case):
    COUNT = 300

    def test_reads_what_is_different(self):
        """after a lock it does not read anew what it knows, and what was changed while nobody looked is found"""
        items = Items(self.desk.daemon)
        self.addCleanup(items.close)
        self.stored()
        for n in range(self.COUNT):
            items.put({"n": str(n)}, b"x", label="a label of some length")
        self.desk.kill()
        relay = Relay(self.desk)
        self.addCleanup(relay.close)
        self.desk.start(daemon=relay.path)
        caller = Caller(self.desk)

        def found(attributes):
            return caller.call(ROOT, "Service", "SearchItems", "a{ss}", attributes)[0]

        wait_until(lambda: found({"n": "7"}), "it is found", 30)
        whole = relay.received
        self.assertGreater(whole, 60 * self.COUNT)
        for _ in range(3):
            self.desk.lock_all()
            self.desk.is_locked(True)
            self.desk.open()
            wait_until(lambda: found({"n": "7"}), "it is found again", 30)
            items.put({"n": "7"}, b"another", replace=True)
            items.put({"new": "yes"}, b"y", replace=True)
            wait_until(lambda: found({"new": "yes"}), "what is new is found", 30)
        self.assertLess(relay.received - whole, whole / 3)
        session = caller.session()
        secret = caller.call(found({"n": "7"})[0], "Item", "GetSecret", "o", session)
        self.assertEqual(bytes(secret[0][2]), b"another")


class WithoutStore(unittest.TestCase):
    def test_no_store(self):
        """a person without a store: nothing is found, nobody is asked, and storing says why"""
        desk = Desk(store=False)
        self.addCleanup(desk.close)
        self.assertEqual(desk.tool("lookup", "user", "ann"), (1, "", ""))
        self.assertNotEqual(desk.tool("store", "--label=x", "user", "ann", typed="x")[0], 0)
        self.assertEqual(desk.agent.count(), 0)
        # As soon as there is one, everything is there.
        desk.daemon.make("correct horse")
        desk.is_locked(False)
        self.assertEqual(desk.tool("store", "--label=x", "user", "ann", typed="otter")[0], 0)
        self.assertEqual(desk.tool("lookup", "user", "ann")[1], "otter")


class Viewers(Case):
    """Programs with libsecret's objects crash where a service that has come back tells them of items too early."""

    def setUp(self):
        super().setUp()
        self.collection = self.desk.collection()
        self.collection.create_item("one", {"n": "1"}, b"1")
        self.viewer = subprocess.Popen(
            [sys.executable, os.path.join(LABS, "secretwatcher.py")], env=self.desk.environment, stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.lines = Lines(self.viewer.stdout)
        self.addCleanup(self.put_away)
        self.shows("one")

    def put_away(self):
        self.viewer.kill()
        self.viewer.wait()
        self.lines.close()

    def shows(self, labels):
        def is_shown():
            self.assertIsNone(self.viewer.poll(), "it has crashed")
            return self.lines.all[-1:] == ["labels " + labels]

        wait_until(is_shown, f"it shows {labels}", 30)

    def test_follows(self):
        """it shows what is stored, renamed and deleted, also while the store is locked and open again"""
        two = self.collection.create_item("two", {"n": "2"}, b"2")
        self.shows("one,two")
        two.set_label("three")
        self.shows("one,three")
        self.desk.lock()
        self.desk.open("secrets")
        self.desk.is_locked(False)
        two.delete()
        self.shows("one")

    def test_bridge_dies(self):
        """it goes on after kill -9 of the bridge, and shows what comes later"""
        for number in range(3):
            self.desk.kill()
            self.desk.start()
            collection = self.desk.collection()
            collection.create_item(f"soon{number}", {"n": f"soon{number}"}, b"")
            next(collection.search_items({"n": f"soon{number}"})).delete()
            time.sleep(1.7)
            collection.create_item("two", {"n": "2"}, b"2")
            self.shows("one,two")
            next(collection.search_items({"n": "2"})).delete()
            self.shows("one")


class Signals(Case):
    def test_signals(self):
        """whoever listens hears of items that are made, changed and deleted"""
        time.sleep(1.6)
        listener = self.desk.connect()
        rule = MatchRule(type="signal", path=LOGIN, interface="org.freedesktop.Secret.Collection")
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        listener.send_and_get_reply(new_method_call(bus, "AddMatch", "s", (rule.serialise(),)))
        path = self.stored()
        self.item.set_label("Other")
        self.item.delete()
        heard = []
        while len(heard) < 3:
            message = listener.receive(timeout=30)
            if message.header.message_type == MessageType.signal and message.body == (path,):
                heard.append(message.header.fields[3])
        self.assertEqual(heard, ["ItemCreated", "ItemChanged", "ItemDeleted"])

    def test_others_writing(self):
        """what another program stores past the bridge is found here, too"""
        self.stored()
        with self.desk.daemon.client() as client:
            item = {"attributes": {"other": "way"}, "label": "x"}
            client.run("itemPut", (), [b"heron"], store="secrets", item=item, replace=False)
        collection = self.desk.collection()
        wait_until(lambda: list(collection.search_items({"other": "way"})), "it is found", 30)
        self.assertEqual(next(collection.search_items({"other": "way"})).get_secret(), b"heron")


if __name__ == "__main__":
    unittest.main(verbosity=2)
