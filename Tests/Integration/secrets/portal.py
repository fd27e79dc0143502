"""The key of a program in a sandbox: what xdg-desktop-portal, which is played, gets for it from appvault-secrets."""

import os
import socket
import unittest

from daemonlab import wait_until
from itemlab import Items
from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection
from secretslab import NAME, Desk

TIMEOUT = 300
PATH = "/org/freedesktop/portal/desktop"
SECRET = "org.freedesktop.impl.portal.Secret"
REQUEST = "org.freedesktop.impl.portal.Request"
PORTAL = "org.freedesktop.portal.Desktop"
SCHEMA = "org.freedesktop.portal.Secret"


class Portal:
    """xdg-desktop-portal on the bus; without a name, any other program."""

    def __init__(self, desk, name=PORTAL):
        self.connection = open_dbus_connection(desk.bus.address, enable_fds=True)
        self.calls = 0
        self.replies = {}
        if name is not None:
            self.connection.send_and_get_reply(message_bus.RequestName(name))

    def close(self):
        self.connection.close()

    def send(self, member, signature=None, body=(), path=PATH, interface=SECRET):
        message = new_method_call(DBusAddress(path, NAME, interface), member, signature, body)
        serial = next(self.connection.outgoing_serial)
        self.connection.send(message, serial=serial)
        return serial

    def reply(self, serial, seconds=20):
        while serial not in self.replies:
            message = self.connection.receive(timeout=seconds)
            if message.header.message_type in (MessageType.method_return, MessageType.error):
                self.replies[message.header.fields[5]] = message
        message = self.replies.pop(serial)
        if message.header.message_type == MessageType.error:
            return message.header.fields[4]
        return message.body

    def begin(self, application, output, handle=None):
        """Asks for the key of a program; returns the call and its handle."""
        self.calls += 1
        handle = handle or f"{PATH}/request/1_1/t{self.calls}"
        return self.send("RetrieveSecret", "osha{sv}", (handle, application, output, {})), handle

    def key(self, application):
        """The answer, and what came through the pipe."""
        reading, writing = os.pipe()
        try:
            call, _ = self.begin(application, writing)
            os.close(writing)
            writing = None
            answer = self.reply(call)
            os.set_blocking(reading, False)
            try:
                return answer, os.read(reading, 1000)
            except BlockingIOError:
                return answer, None
        finally:
            os.close(reading)
            if writing is not None:
                os.close(writing)


class Case(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()
        self.addCleanup(self.desk.close)
        self.portal = self.connect()

    def connect(self, name=PORTAL):
        portal = Portal(self.desk, name)
        self.addCleanup(portal.close)
        return portal

    def items(self):
        items = Items(self.desk.daemon)
        self.addCleanup(items.close)
        return items

    def assertKey(self, got):
        answer, key = got
        self.assertEqual(answer, (0, {}))
        self.assertEqual(len(key), 64)
        return key


class Keys(Case):
    def test_one_for_each(self):
        """each program has a key of its own, which stays over restarts of everything and over the lock"""
        first = self.assertKey(self.portal.key("org.example.One"))
        other = self.assertKey(self.portal.key("org.example.Two"))
        self.assertNotEqual(first, other)
        self.assertEqual(self.portal.key("org.example.One")[1], first)
        self.desk.kill()
        self.desk.daemon.restart()
        self.desk.open()
        self.desk.start()
        self.assertEqual(self.portal.key("org.example.One")[1], first)
        self.assertEqual(self.portal.key("org.example.Two")[1], other)

    def test_as_gnome_keyring_has_it(self):
        """the key is an item as gnome-keyring makes one, and one of gnome-keyring's, of any version, is used"""
        key = self.assertKey(self.portal.key("org.example.One"))
        [item] = self.items().find()
        self.assertEqual(item["attributes"], {"app_id": "org.example.One", "xdg:schema": SCHEMA})
        self.assertEqual(item["label"], "Application key for org.example.One")
        self.assertEqual(self.items().secret(item["id"]), key)
        items = self.items()
        for number, schema in enumerate([{"xdg:schema": SCHEMA}, {"xdg:schema": "org.freedesktop.Secret.Generic"}, {}]):
            application = f"org.example.Imported{number}"
            secret = bytes([number]) * 64
            # Something of another program's is no key.
            items.put({"app_id": application, "xdg:schema": "org.example.Mine"}, b"another")
            items.put({"app_id": application, **schema}, secret, label="imported")
            self.assertEqual(self.portal.key(application), ((0, {}), secret))

    def test_two_at_once(self):
        """of many calls at once for a new program all get the same key, and one item is made"""
        pipes = [os.pipe() for _ in range(20)]
        calls = [self.portal.begin("org.example.Quick", writing)[0] for _, writing in pipes]
        for _, writing in pipes:
            os.close(writing)
        self.assertEqual({str(self.portal.reply(call)) for call in calls}, {"(0, {})"})
        keys = set()
        for reading, _ in pipes:
            keys.add(os.read(reading, 1000))
            os.close(reading)
        self.assertEqual([len(key) for key in keys], [64])
        self.assertEqual(len(self.items().find({"app_id": "org.example.Quick"})), 1)

    def test_properties(self):
        """the interface has its version"""
        properties = "org.freedesktop.DBus.Properties"
        call = self.portal.send("Get", "ss", (SECRET, "version"), interface=properties)
        self.assertEqual(self.portal.reply(call), (("u", 1),))
        call = self.portal.send("GetAll", "s", (SECRET,), interface=properties)
        self.assertEqual(self.portal.reply(call), ({"version": ("u", 1)},))


class Refused(Case):
    def test_other_programs(self):
        """nobody but the portal gets a key"""
        other = self.connect(None)
        answer, key = other.key("org.example.One")
        self.assertEqual(answer, "org.freedesktop.DBus.Error.AccessDenied")
        self.assertFalse(key)
        self.assertKey(self.portal.key("org.example.Two"))
        self.assertEqual([item["attributes"]["app_id"] for item in self.items().find()], ["org.example.Two"])

    def test_no_name(self):
        """a program without a name has no key, nor has one with a name that is too long"""
        for application in ("", "a" * 256):
            self.assertEqual(self.portal.key(application)[0], "org.freedesktop.DBus.Error.InvalidArgs")

    def test_ends_that_cannot_be_written(self):
        """a pipe that is full, one that nobody reads and a file make the call fail, and hold nothing up"""
        reading, full = os.pipe()
        os.set_blocking(full, False)
        try:
            while True:
                os.write(full, bytes(4096))
        except BlockingIOError:
            pass
        os.set_blocking(full, True)
        broken_reading, broken = os.pipe()
        os.close(broken_reading)
        file = os.memfd_create("file")
        try:
            for output in (full, broken, file):
                call, _ = self.portal.begin("org.example.One", output)
                self.assertEqual(self.portal.reply(call), (2, {}))
        finally:
            for descriptor in (reading, full, broken, file):
                os.close(descriptor)
        self.assertKey(self.portal.key("org.example.One"))

    def test_socket(self):
        """a socket may stand for the pipe"""
        here, there = socket.socketpair()
        with here, there:
            call, _ = self.portal.begin("org.example.One", there)
            self.assertEqual(self.portal.reply(call), (0, {}))
            self.assertEqual(len(here.recv(1000)), 64)


class Locked(Case):
    def setUp(self):
        super().setUp()
        self.key = self.assertKey(self.portal.key("org.example.One"))
        self.desk.lock()

    def waiting(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        call, handle = self.portal.begin("org.example.One", writing)
        os.close(writing)
        return call, handle, reading

    def test_asks_the_person(self):
        """the person is asked once for all that wait, and the keys come when the store is open"""
        first, second = self.waiting(), self.waiting()
        self.desk.agent.asked()
        self.desk.open()
        self.desk.open("secrets")
        self.desk.agent.answer(0)
        for call, _, reading in (first, second):
            self.assertEqual(self.portal.reply(call), (0, {}))
            self.assertEqual(os.read(reading, 1000), self.key)
        self.assertEqual(self.desk.agent.count(), 1)

    def test_not_wanted(self):
        """if the person does not want it, the call is cancelled and nothing is written"""
        call, _, reading = self.waiting()
        self.desk.agent.asked()
        self.desk.agent.answer(1)
        self.assertEqual(self.portal.reply(call), (1, {}))
        self.assertEqual(os.read(reading, 1000), b"")

    def test_closed(self):
        """a request that is closed is over, and so is the dialog; another call of the portal has its turn meanwhile"""
        call, handle, reading = self.waiting()
        self.desk.agent.asked()
        introspect = self.portal.send("Introspect", interface="org.freedesktop.DBus.Introspectable", path=handle)
        self.assertIn(REQUEST, self.portal.reply(introspect)[0])
        close = self.portal.send("Close", path=handle, interface=REQUEST)
        self.assertEqual(self.portal.reply(close), ())
        self.assertEqual(self.portal.reply(call), (1, {}))
        self.assertEqual(os.read(reading, 1000), b"")
        self.desk.agent.gone()
        again = self.portal.send("Close", path=handle, interface=REQUEST)
        self.assertIsInstance(self.portal.reply(again), str)

    def test_the_portal_ends(self):
        """if the portal ends, nobody is asked any more, and the next portal gets the key"""
        self.waiting()
        self.desk.agent.asked()
        self.portal.close()
        self.desk.agent.gone()
        self.portal = self.connect()
        self.desk.open("secrets")
        self.desk.is_locked(False)
        wait_until(lambda: self.portal.key("org.example.One")[1] == self.key, "the key")


if __name__ == "__main__":
    unittest.main()
