"""Who watches the stores of a person: what they hear, and what they cost the daemon."""

import select
import unittest

import wire
from daemonlab import (
    IS_ROOT,
    PASSCODE,
    Daemon,
    add_account,
    answers,
    as_uid,
    as_uid_connection,
    comes_to_rest,
    remove_account,
    wait_until,
)

NEEDS_ROOT = True
TIMEOUT = 120


class Watch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert IS_ROOT
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)

    def setUp(self):
        self.daemon = Daemon("ThrottleAfter=0\nRetryLimit=3")
        self.addCleanup(self.daemon.close)
        self.daemon.person = (self.name, self.uid)
        self.daemon.create()

    def watching(self):
        """A connection of the person's own that watches."""
        client = as_uid_connection(self.uid, self.daemon)
        self.addCleanup(client.close)
        client.tag += 1
        client.send("watch", client.tag)
        return client

    def hear(self, client, *expected):
        """The next events are these; what `status` shows may have changed any number of times between them."""
        expected = list(expected)
        while expected:
            event = client.receive(20)
            self.assertIsNotNone(event, f"the watch has ended; missing: {expected}")
            self.assertEqual((event.name, event.tag), ("event", client.tag))
            if event.what in ("changed", "told") and expected[0] != event.what:
                continue
            self.assertEqual(event.what, expected.pop(0))

    def test_heard(self):
        """locked and opened, a wrong try, the erasure"""
        client = self.watching()
        self.hear(client, "opened")
        self.daemon.lock()
        self.hear(client, "locked")
        self.daemon.unlock()
        self.hear(client, "opened")
        self.daemon.lock()
        self.hear(client, "locked")
        self.daemon.authenticate("wrong")
        self.hear(client, "changed")
        for _ in range(2):
            self.daemon.authenticate("wrong")
        self.hear(client, "changed")
        self.assertEqual(self.daemon.status().lock, "erased")

    def test_others_hear_nothing(self):
        """another user's watch is about that user's own stores; nobody else's uid gets one"""
        other, uid = add_account()
        self.addCleanup(remove_account, other)
        client = as_uid_connection(uid, self.daemon)
        self.addCleanup(client.close)
        client.tag += 1
        client.send("watch", client.tag)
        self.assertEqual(client.receive(20).what, "told")
        self.daemon.lock()
        self.daemon.unlock()
        with self.assertRaises(TimeoutError):
            client.receive(0.5)
        stranger = as_uid_connection(uid + 7777, self.daemon)
        self.addCleanup(stranger.close)
        self.assertEqual(stranger.run("watch").code, 30)

    def test_four(self):
        """a fifth is refused as busy; a place is free again when one has ended"""
        clients = [self.watching() for _ in range(4)]
        for client in clients:
            self.hear(client, "opened")
        fifth = as_uid_connection(self.uid, self.daemon)
        self.addCleanup(fifth.close)
        answer = fifth.run("watch")
        self.assertEqual((answer.code, "watch" in answer.message), (35, True), answer)
        self.assertEqual(fifth.run("status").name, "state")
        clients[0].close()

        def again():
            sixth = as_uid_connection(self.uid, self.daemon)
            self.addCleanup(sixth.close)
            return sixth.run("watch").name == "event"

        wait_until(again, "a place to watch from", 20)

    def test_only_hears(self):
        """whatever a watcher sends ends its connection"""
        client = self.watching()
        self.hear(client, "opened", "told")
        client.send("status", 99)
        answer = client.receive(20)
        self.assertIn(answer and answer.name, (None, "refused"))
        self.assertIsNone(client.receive(20) if answer else None)

    def test_unread(self):
        """one that reads late hears at the end how things are, and always that the store was locked"""
        client = self.watching()
        self.hear(client, "opened")
        # Fewer than the kernel keeps: what is not read for ten seconds ends the connection.
        for _ in range(20):
            self.daemon.lock()
            self.daemon.unlock()
        self.daemon.lock()
        heard = []
        while not heard or heard[-1] != "locked" or self.pending(client):
            if (what := client.receive(20).what) not in ("changed", "told"):
                heard.append(what)
        self.assertEqual(self.daemon.unlock().name, "done")
        self.hear(client, "opened")

    def pending(self, client):
        return bool(select.select([client.socket], [], [], 0.3)[0])

    def test_quiet(self):
        """a watch that nothing happens to wakes nobody"""
        client = self.watching()
        self.hear(client, "opened")
        # The store is scanned some seconds after it was opened, and the connections before are forgotten.
        self.daemon.lock()
        self.hear(client, "locked")
        comes_to_rest(self.daemon.pid)
        self.daemon.unlock()
        self.hear(client, "opened")

    def test_daemon_ends(self):
        """a watcher sees the end of the daemon at once"""
        client = self.watching()
        self.hear(client, "opened")
        self.daemon.stop()
        while (last := client.receive(20)) is not None:
            self.assertIn(last.what, ("told", "locked"))


class Apps(unittest.TestCase):
    """What is shown before an application starts, over the socket."""

    @classmethod
    def setUpClass(cls):
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)

    def setUp(self):
        self.daemon = Daemon("[Passcode]\nThrottleAfter=0\nDerivationMemory=19MiB\nDerivationPasses=2\n"
                             "[App mail]\nRequire=passcode\nOnLock=quit\n")
        self.addCleanup(self.daemon.close)
        self.daemon.person = (self.name, self.uid)
        self.daemon.create()

    def ask(self, request, script=(), uid=None, **fields):
        def run():
            with self.daemon.client(frontEnd="terminal", realUID=uid or self.uid) as client:
                answer = client.run(
                    request, script, subject=("", wire.UNKNOWN_UID), store="", demand="open", **fields)
                return answer.name, getattr(answer, "code", None), [ask.purpose for ask in client.asked], answer.fields

        return as_uid(uid or self.uid, run)

    def test_rules(self):
        """what the policy says of an application"""
        name, _, asked, answer = self.ask("appRules", id="mail")
        self.assertEqual((name, asked), ("appPolicy", []))
        self.assertEqual(
            (answer["demand"], answer["onLock"], answer["onLockIsWritten"]), ("passcode", "quit", True))
        self.assertEqual(self.ask("appRules", id="other")[3]["onLockIsWritten"], False)
        self.assertEqual(self.ask("appRules", id="../x")[1], 4)

    def test_open(self):
        """the passcode is asked for although the store is open"""
        name, _, asked, _ = self.ask("appOpen", answers(PASSCODE), id="mail")
        self.assertEqual((name, asked), ("done", ["passcode"]))
        self.assertEqual(self.ask("appOpen", id="other")[:3], ("done", None, []))
        self.assertEqual(self.ask("appOpen", answers("wrong"), id="mail")[1], 5)


if __name__ == "__main__":
    unittest.main()
