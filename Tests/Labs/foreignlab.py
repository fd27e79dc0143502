"""What other programs keep for the desktop's programs: a real gnome-keyring on a session bus of its own, files as
KWallet has written them, and a daemon with the tool that takes all this over and gives it back.

    keyring = Keyring(folder)                       # with its login keyring open
    keyring.put(keyring.login, "Mail", {"user": "ann"}, b"otter"); keyring.all(keyring.login); keyring.close()
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import dbus
import wire
from daemonlab import wait_until
from itemlab import LOGIN, Items, Mirror
from places import ROOT
from realcli import SECRET, Real

SAMPLES = os.path.join(ROOT, "Tests", "Vectors", "foreign")
PASSWORD = b"invented for a test"
SECRETS = "org.freedesktop.secrets"
SECRET_SERVICE = "/org/freedesktop/secrets"
PREFIX = "org.freedesktop.Secret."
GENERIC = "org.freedesktop.Secret.Generic"


NO_SERVICES = """<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""


class Bus:
    """A session bus of its own, with what is started on it."""

    def __init__(self, folder, starts=True):
        """starts: whether it starts programs whose name is called, such as gnome-keyring."""
        self.environment = {
            "HOME": folder, "XDG_RUNTIME_DIR": os.path.join(folder, "run"), "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8"}
        os.makedirs(self.environment["XDG_RUNTIME_DIR"], mode=0o700, exist_ok=True)
        self.started = []
        settings = ["--session"]
        if not starts:
            settings = ["--config-file=" + os.path.join(folder, "bus.conf")]
            with open(os.path.join(folder, "bus.conf"), "w", encoding="utf-8") as file:
                file.write(NO_SERVICES)
        bus = self.start(
            ["dbus-daemon", *settings, "--nofork", "--nosyslog", "--print-address=1"], stdout=subprocess.PIPE)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
        self.connection = dbus.bus.BusConnection(self.environment["DBUS_SESSION_BUS_ADDRESS"])

    def start(self, command, **more):
        more.setdefault("stdout", subprocess.DEVNULL)
        process = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL, **more)
        self.started.append(process)
        return process

    def close(self):
        self.connection.close()
        for process in reversed(self.started):
            process.terminate()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


class Keyring(Bus):
    """gnome-keyring-daemon, with its login keyring open."""

    def __init__(self, folder, password=PASSWORD):
        super().__init__(folder)
        daemon = self.start(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets",
             "--control-directory=" + self.environment["XDG_RUNTIME_DIR"]], stdin=subprocess.PIPE)
        daemon.stdin.write(password)
        daemon.stdin.close()
        wait_until(lambda: self.connection.name_has_owner(SECRETS), "no gnome-keyring")
        self.service = self.of(SECRET_SERVICE, "Service")
        self.session = self.service.OpenSession("plain", dbus.String("", variant_level=1))[1]
        wait_until(lambda: self.service.ReadAlias("login") != "/", "no login keyring")
        self.login = self.service.ReadAlias("login")

    def of(self, path, interface):
        return dbus.Interface(self.connection.get_object(SECRETS, path, introspect=False), PREFIX + interface)

    def secret(self, value):
        return dbus.Struct(
            (self.session, dbus.ByteArray(b""), dbus.ByteArray(value), "text/plain"), signature="oayays")

    def keyring(self, label, password):
        internal = dbus.Interface(
            self.connection.get_object(SECRETS, SECRET_SERVICE, introspect=False),
            "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")
        properties = dbus.Dictionary({PREFIX + "Collection.Label": label}, signature="sv")
        return internal.CreateWithMasterPassword(properties, self.secret(password))

    def put(self, path, label, attributes, value, replace=False):
        properties = {
            PREFIX + "Item.Label": label, PREFIX + "Item.Attributes": dbus.Dictionary(attributes, signature="ss")}
        return self.of(path, "Collection").CreateItem(
            dbus.Dictionary(properties, signature="sv"), self.secret(value), replace)[0]

    def all(self, path):
        """What gnome-keyring itself says of each item."""
        def of(path):
            return dbus.Interface(
                self.connection.get_object(SECRETS, path, introspect=False), "org.freedesktop.DBus.Properties")

        found = []
        for item in of(path).Get(PREFIX + "Collection", "Items"):
            facts = of(item).GetAll(PREFIX + "Item")
            secret = self.of(item, "Item").GetSecret(self.session, byte_arrays=True)
            found.append({
                "label": str(facts["Label"]), "secret": bytes(secret[2]), "contentType": str(secret[3]),
                "attributes": {str(name): str(value) for name, value in facts["Attributes"].items()},
                "created": int(facts["Created"]), "modified": int(facts["Modified"])})
        return found


class Lab(Real):
    def client(self):
        client = wire.Client(self.path)
        client.hello()
        return client


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.__exit__, None, None, None)
        made = self.lab.run("create", "--own-passcode", passcodes=[SECRET])
        self.assertEqual(made.status, 0, made.err)
        self.home = tempfile.mkdtemp(prefix="appvault-over-")
        self.addCleanup(shutil.rmtree, self.home, True)

    def over(self, *words, passwords=None, status=0, env=None):
        done = self.lab.run(
            "import", *words, passcodes=passwords, env={"HOME": self.home, **(env or {})}, timeout=300)
        self.assertEqual(done.status, status, (done.out, done.err))
        return done

    def counts(self, *words, **more):
        answer = json.loads(self.over(*words, "--json", **more).out)
        return {each["name"]: (each["came"], each["present"], each["left"]) for each in answer["from"]}

    def items(self):
        items = Items(self.lab)
        self.addCleanup(items.close)
        return items

    def stored(self):
        """What is in the store, with secrets, and collections by their labels."""
        items = self.items()
        known = Mirror(items).follow()
        secrets = items.secrets(list(known.known))
        names = {**known.collections, LOGIN: "Login"}
        return [
            {"collection": names[item["collection"]], "secret": secrets[identity],
             **{name: item[name] for name in ("label", "attributes", "contentType", "created", "modified")}}
            for identity, item in known.known.items()]

    def count(self):
        with self.lab.client() as client:
            return len(Items(self.lab, client).find())

    def stores(self):
        return [each["name"] for each in json.loads(self.lab.run("stores", "--json").out)["stores"]]

    def file(self, path, content=b""):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def sample(self, name, path):
        with open(os.path.join(SAMPLES, name), "rb") as file:
            return self.file(path, file.read())

    def samples(self, folder, *names):
        for name in names:
            self.sample(name, os.path.join(folder, name))


def sorted_items(items):
    return sorted(items, key=lambda item: (item["label"], sorted(item["attributes"].items()), item["secret"]))
