"""Places, deadlines and memory of the daemon's connections: what each party may have, and when a
connection ends."""

import contextlib
import fcntl
import os
import resource
import select
import struct
import termios
import time
import unittest

import wire
from daemonlab import answers, as_uid, derivation_counter, wait_until
from fairlab import FIRST, OWNER, PASSCODE, POLICY, STRANGERS, Machine
from memorylab import open_files
from pamlab import compiled

NEEDS_ROOT = True
BUSY, PROTOCOL_ERROR = wire.CODES["busy"], wire.CODES["protocolError"]
OWN = ("", wire.UNKNOWN_UID)
CHEAP = "DerivationMemory=19MiB\nDerivationPasses=2\n"


@contextlib.contextmanager
def uid_at_connect(uid):
    """Sets only the effective uid, which is what the daemon sees of a peer that connects."""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


def has_ended(client, seconds=0.0):
    """Whether the daemon has hung up. Reads nothing."""
    hangup = select.poll()
    hangup.register(client.socket, select.POLLRDHUP)
    return bool(hangup.poll(seconds * 1000))


class Case(unittest.TestCase):
    options, env = (), {}

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(POLICY + CHEAP, env=cls.env)
        cls.addClassCleanup(cls.machine.close)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
        cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)

    def setUp(self):
        self.daemon = self.machine.daemon
        self.held = []
        self.addCleanup(self.leave)

    def leave(self):
        for client in self.held:
            client.close()
        # Their places are free again once the daemon has seen them go.
        wait_until(lambda: self.sockets() < 12, "the connections have ended")

    def sockets(self):
        return sum(name.startswith("socket:") for name in open_files(self.daemon.pid))

    def come(self, uid, **greeting):
        """Whether one more connection of that uid is accepted; it stays open."""
        with uid_at_connect(uid):
            client = wire.Client(self.daemon.socket, 10)
        self.held.append(client)
        try:
            answer = client.hello(realUID=uid, **greeting)
        except ConnectionError:
            return None
        if answer is not None and answer.name == "refused":
            self.assertEqual((answer.code, answer.tag), (BUSY, 0))
            return None
        return None if answer is None else client


class Places(Case):
    def test_without_account(self):
        """uids without an account have 32 connections together, and keep out neither people nor root"""
        welcome = [client for client in (self.come(STRANGERS + number) for number in range(60)) if client]
        # A few are accepted until the directory service has said what they are.
        staying = lambda: [client for client in welcome if not has_ended(client)]
        wait_until(lambda: len(staying()) <= 32, "no more than that stay")
        time.sleep(0.5)
        self.assertEqual(len(staying()), 32)
        self.assertIsNotNone(self.come(FIRST))
        self.assertIsNotNone(self.come(0))
        self.assertIsNotNone(self.machine.login())
        staying()[0].close()
        wait_until(lambda: self.come(STRANGERS + 1) is not None, "a place is free again")

    def test_all_people(self):
        """all people together have 1024 connections, and root is accepted all the same"""
        welcome = 0
        for person in range(70):
            for _ in range(16 if person < 64 else 1):
                welcome += self.come(FIRST + person) is not None
        self.assertEqual(welcome, 1024)
        for _ in range(20):
            self.assertIsNotNone(self.come(0))
        self.assertIsNotNone(self.machine.login())

    def test_secrets(self):
        """what answers for the desktop's secrets has four places beside those of the person's other programs, and these
        never get one of them"""
        secrets = {"frontEnd": "program", "service": "appvault-secrets"}
        first = self.come(FIRST, **secrets)
        self.assertIsNotNone(first)
        others = [self.come(FIRST, frontEnd="program") for _ in range(16)]
        self.assertNotIn(None, others)
        self.assertIsNone(self.come(FIRST, frontEnd="program"))
        for _ in range(3):
            self.assertIsNotNone(self.come(FIRST, **secrets))
        self.assertIsNone(self.come(FIRST, **secrets))
        # A place that was only lent is free again, and so is an ordinary one.
        first.close()
        wait_until(lambda: self.come(FIRST, **secrets) is not None, "a place of its own is free again")
        others[0].close()
        wait_until(lambda: self.come(FIRST, frontEnd="program") is not None, "a place is free again")

    def test_new_account(self):
        """an account that is made while the daemon runs counts as a person within seconds, with places of its own"""
        uid = STRANGERS + 500_000
        for number in range(32):
            self.assertIsNotNone(self.come(STRANGERS + 600_000 + number))
        # They are accepted at most until the directory service has said that there is no such
        # account.
        wait_until(lambda: self.come(uid) is None, "there is no place for it")
        self.machine.add_account("fairnew", uid)
        wait_until(lambda: self.come(uid) is not None, "it is a person")

    def test_large_frame_without_account(self):
        """a frame above 4096 bytes is a violation where there is no account"""
        client = self.come(STRANGERS)
        client.send("set", 2, [b"x" * 5000], name="a")
        # If the daemon did not read the rest, the test may see the end of the connection before the
        # words.
        with contextlib.suppress(ConnectionResetError):
            answer = client.receive(60)
            self.assertEqual((answer.name, answer.code), ("refused", PROTOCOL_ERROR))
        self.assertTrue(has_ended(client, 60))


class Memory(Case):
    def open(self):
        if not self.daemon.stores() or len(self.daemon.stores()) == 1:
            self.daemon.create(PASSCODE, subject=OWNER)
        unlock = lambda: self.daemon.ask("openStore", answers(PASSCODE), subject=OWN).name
        self.assertEqual(as_uid(OWNER[1], unlock), "done")

    def test_one_large_frame(self):
        """a person's second large frame waits until the first is complete, and both are stored"""
        self.open()
        frame = wire.encode("set", 2, [b"v" * (1 << 20)], name="first")
        first, second = self.come(OWNER[1]), self.come(OWNER[1])
        first.socket.sendall(frame[: 1 << 19])
        # The daemon has read all that was sent, so that the room is the first one's.
        wait_until(lambda: not unsent(first.socket), "the first half is there")
        other = wire.encode("set", 2, [b"w" * 5000], name="second")
        second.socket.sendall(other)
        with self.assertRaises(TimeoutError):
            second.receive(1)
        first.socket.sendall(frame[1 << 19 :])
        self.assertEqual(first.receive(10).name, "done")
        self.assertEqual(second.receive(10).name, "done")
        self.assertEqual(second.run("get", name="first").payload, b"v" * (1 << 20))

    def test_large_answers(self):
        """a person's second large answer waits until the first is read; small ones do not wait"""
        self.open()
        writer = self.come(OWNER[1])
        self.assertEqual(writer.run("set", (), [b"v" * (1 << 20)], name="large").name, "done")
        first, second = self.come(OWNER[1]), self.come(OWNER[1])
        first.send("get", 2, name="large")
        wait_until(lambda: unread(first.socket) > 0, "some of the answer is there")
        second.send("get", 2, name="large")
        with self.assertRaises(TimeoutError):
            second.receive(1)
        self.assertEqual(writer.run("status", subject=OWN).name, "state")
        self.assertEqual(len(first.receive(10).payload), 1 << 20)
        self.assertEqual(len(second.receive(10).payload), 1 << 20)


class Waits(Case):
    @classmethod
    def setUpClass(cls):
        cls.slept = compiled("slept.c", "slept.so", "-shared", "-fPIC", "-ldl")
        cls.file = os.path.join(os.path.dirname(cls.slept), "slept")
        with open(cls.file, "w"):
            pass
        os.chmod(cls.file, 0o644)
        cls.env = {"LD_PRELOAD": f"{derivation_counter()}:{cls.slept}", "SLEPT": cls.file}
        super().setUpClass()

    def later(self, seconds):
        """Sets the daemon's clock forward by so much."""
        os.truncate(self.file, os.stat(self.file).st_size + seconds)

    def test_half_a_frame(self):
        """half a frame, small or large, and one that comes byte by byte, end the connection after ten seconds"""
        # Once more on a machine that takes those ten seconds itself.
        while not (clients := self.half_sent()):
            self.leave()
        self.later(3)
        for name, client in clients.items():
            with self.subTest(name):
                self.ends(client)

    def half_sent(self):
        """Connections, each with a part of a frame that is there for at least eight seconds; None if it was too long to
        say of them that they stay."""
        frames = {
            "small": wire.encode("status", 2, subject=OWN)[:7],
            "large": wire.encode("set", 2, [b"v" * (1 << 20)], name="a")[:-1],
            "dripping": b"",
        }
        clients = {name: self.come(FIRST + number) for number, name in enumerate(frames)}
        whole = wire.encode("status", 2, subject=OWN)
        began = time.monotonic()
        for name, client in clients.items():
            client.socket.sendall(frames[name] or whole[:1])
            wait_until(lambda client=client: not unsent(client.socket), "the daemon has read it")
        self.later(8)
        drips = clients["dripping"].socket
        with contextlib.suppress(BrokenPipeError):
            drips.sendall(whole[1:2])
            time.sleep(1)
            drips.send(whole[2:3])
        ended = [name for name, client in clients.items() if has_ended(client)]
        if time.monotonic() - began >= 2:
            return None
        self.assertEqual(ended, [])
        return clients

    def ends(self, client):
        wait_until(lambda: has_ended(client), "the daemon hangs up", 3)

    def test_idle(self):
        """a connection without requests is closed after five minutes, and not before"""
        client = self.come(FIRST)
        self.later(290)
        time.sleep(1.2)
        self.assertEqual(client.run("status", subject=OWN).name, "state")
        self.later(290)
        time.sleep(1.2)
        self.assertEqual(client.run("status", subject=OWN).name, "state")

        def forgotten():
            # Once more, in case the daemon's five minutes began later.
            self.later(301)
            return has_ended(client, 0.7)

        wait_until(forgotten, "it is over")

    def test_not_read(self):
        """a peer that does not read an answer for ten seconds is disconnected; its place is free"""
        client = self.come(FIRST)
        client.socket.settimeout(5)
        request = wire.encode("texts", 2)
        with contextlib.suppress(TimeoutError):
            # Until the daemon has more to say than the kernel keeps for it.
            for _ in range(2000):
                client.socket.sendall(request * 100)
        self.later(11)
        self.ends(client)

    def test_greeting(self):
        """a peer that does not greet within two seconds is disconnected"""
        with uid_at_connect(FIRST):
            client = wire.Client(self.daemon.socket, 10)
        self.held.append(client)
        self.later(3)
        self.ends(client)


def unread(connected):
    return struct.unpack("i", fcntl.ioctl(connected, termios.FIONREAD, b"\0" * 4))[0]


def unsent(connected):
    """What the peer has not read."""
    return struct.unpack("i", fcntl.ioctl(connected, termios.TIOCOUTQ, b"\0" * 4))[0]
