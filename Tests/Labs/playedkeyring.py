"""Another program that has org.freedesktop.secrets, for a test that says how its person answers: everything that may
ask, asks. It knows plain sessions alone. It says `asked` for each prompt, and a line on its input answers that: `yes`,
`no`, or `end`, with which it dies; after `say` it says what it has."""

import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
PREFIX = "org.freedesktop.Secret."
PROPERTIES = "org.freedesktop.DBus.Properties"


class Refused(dbus.DBusException):
    _dbus_error_name = PREFIX + "Error.IsLocked"


class Keyring:
    def __init__(self, bus):
        self.bus = bus
        self.count = 0
        self.prompts = []
        self.collections = {}

    def path(self, kind):
        self.count += 1
        return f"{ROOT}/{kind}/n{self.count}"

    def ask(self, work, nothing):
        prompt = Prompt(self, self.path("prompt"), work, nothing)
        return dbus.ObjectPath(prompt.at)

    def answer(self, word):
        prompts, self.prompts = self.prompts, []
        for prompt in prompts:
            prompt.Completed(word != "yes", prompt.work() if word == "yes" else prompt.nothing)


class Prompt(dbus.service.Object):
    def __init__(self, keyring, path, work, nothing):
        super().__init__(keyring.bus, path)
        self.at, self.keyring, self.work, self.nothing = path, keyring, work, nothing

    @dbus.service.method(PREFIX + "Prompt", in_signature="s")
    def Prompt(self, _window):
        self.keyring.prompts.append(self)
        print("asked", flush=True)

    @dbus.service.signal(PREFIX + "Prompt", signature="bv")
    def Completed(self, dismissed, result):
        pass


class Collection(dbus.service.Object):
    def __init__(self, keyring, label):
        self.at = keyring.path("collection")
        super().__init__(keyring.bus, self.at)
        self.keyring, self.label, self.items, self.locked = keyring, label, [], True
        keyring.collections[self.at] = self

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, _interface, name):
        return {"Label": dbus.String(self.label), "Locked": dbus.Boolean(self.locked),
                "Items": dbus.Array([item.at for item in self.items], signature="o")}[name]

    @dbus.service.method(PREFIX + "Collection", in_signature="a{sv}(oayays)b", out_signature="oo", byte_arrays=True)
    def CreateItem(self, properties, secret, _replace):
        if self.locked:
            raise Refused("it is locked")

        if "refuse" in properties[PREFIX + "Item.Label"]:
            raise Refused("not this one")

        def work():
            item = Item(self, properties, secret)
            self.items.append(item)
            return dbus.ObjectPath(item.at)

        if "ask" in properties[PREFIX + "Item.Label"]:
            return dbus.ObjectPath("/"), self.keyring.ask(work, dbus.ObjectPath("/"))
        return work(), dbus.ObjectPath("/")


class Item(dbus.service.Object):
    def __init__(self, collection, properties, secret):
        self.at = collection.keyring.path("item")
        super().__init__(collection.keyring.bus, self.at)
        self.label, self.attributes = properties[PREFIX + "Item.Label"], properties[PREFIX + "Item.Attributes"]
        self.secret = secret

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _interface):
        return {"Label": self.label, "Attributes": dbus.Dictionary(self.attributes, signature="ss")}

    @dbus.service.method(PREFIX + "Item", in_signature="o", out_signature="(oayays)")
    def GetSecret(self, _session):
        return self.secret

    @dbus.service.method(PREFIX + "Item", in_signature="(oayays)", byte_arrays=True)
    def SetSecret(self, secret):
        self.secret = secret


class Service(dbus.service.Object):
    def __init__(self, keyring):
        super().__init__(keyring.bus, ROOT)
        self.keyring = keyring

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, _interface, _name):
        return dbus.Array(list(self.keyring.collections), signature="o")

    @dbus.service.method(PREFIX + "Service", in_signature="sv", out_signature="vo")
    def OpenSession(self, algorithm, _input):
        if algorithm != "plain":
            raise dbus.DBusException("plain alone", name="org.freedesktop.DBus.Error.NotSupported")
        return dbus.String("", variant_level=1), dbus.ObjectPath(ROOT + "/session/s1")

    @dbus.service.method(PREFIX + "Service", in_signature="s", out_signature="o")
    def ReadAlias(self, _name):
        return "/"

    @dbus.service.method(PREFIX + "Service", in_signature="ao", out_signature="aoo")
    def Unlock(self, paths):
        def work():
            for path in paths:
                self.keyring.collections[path].locked = False
            return dbus.Array(paths, signature="o")

        return dbus.Array([], signature="o"), self.keyring.ask(work, dbus.Array([], signature="o"))

    @dbus.service.method(PREFIX + "Service", in_signature="a{sv}s", out_signature="oo")
    def CreateCollection(self, properties, _alias):
        def work():
            made = Collection(self.keyring, properties[PREFIX + "Collection.Label"])
            made.locked = False
            return dbus.ObjectPath(made.at)

        return dbus.ObjectPath("/"), self.keyring.ask(work, dbus.ObjectPath("/"))


def main():
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    keyring = Keyring(bus)
    kept = [Service(keyring), *(Collection(keyring, label) for label in sys.argv[1:])]
    name = dbus.service.BusName(NAME, bus, do_not_queue=True)
    loop = GLib.MainLoop()

    def says(source, _condition):
        line = source.readline().strip()
        if line in ("", "end"):
            loop.quit()
            return False
        if line == "say":
            for collection in keyring.collections.values():
                for item in collection.items:
                    print("item", collection.label, item.label, bytes(item.secret[2]).decode(), flush=True)
            print("said", flush=True)
        else:
            keyring.answer(line)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, says)
    print("ready", flush=True)
    loop.run()
    del name, kept


if __name__ == "__main__":
    main()
