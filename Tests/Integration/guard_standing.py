"""Own and apart: on whose count a try goes, by everything that is known of it; logind by python3-dbusmock."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account, wait_until

NEEDS_ROOT = True
TIMEOUT = 180
OTHER = 47999
POLICY = "RetryLimit=100\nThrottleAfter=0\nOnRetryLimit=lock\n"
LOCAL = "login gdm-password lightdm sddm greetd sudo sudo-i su su-l polkit-1".split()
LOCKERS = "swaylock i3lock xscreensaver kde cinnamon-screensaver mate-screensaver".split()
SESSION, USER = "/org/freedesktop/login1/session/", "/org/freedesktop/login1/user/"

BUS = """<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/></policy></busconfig>"""
# What the mock answers stands in a file, so that a test changes it without asking the mock.
ANSWER = """
import json
value = json.load(open({path!r})).get({method!r})
if value is None: raise dbus.exceptions.DBusException("none", name="org.freedesktop.login1." + {missing!r})
if value == "error": raise dbus.exceptions.DBusException("no", name="org.freedesktop.DBus.Error.AccessDenied")
ret = dbus.ObjectPath(value)
"""


class Logind:
    """A bus of its own, and on it a logind whose sessions are of every kind."""

    def __init__(self, uid):
        self.folder = tempfile.mkdtemp(prefix="appvault-logind-")
        os.chmod(self.folder, 0o755)
        self.address = f"unix:path={self.folder}/bus"
        self.answers = os.path.join(self.folder, "answers")
        self.processes = []
        self.set()
        config = os.path.join(self.folder, "bus.conf")
        with open(config, "w") as file:
            file.write(BUS.format(f"{self.folder}/bus"))
        self.uid, self.config = uid, config
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.bus = self._run("dbus-daemon", "--nofork", "--nopidfile", "--config-file", self.config)
        wait_until(self._listens, "the bus listens")
        self.mock = self._run(sys.executable, "-m", "dbusmock", "--system", "--template", "logind")
        self._fill(self.uid)

    def _listens(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            return connection.connect_ex(f"{self.folder}/bus") == 0

    def end(self):
        """Ends the bus and all that is on it."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self.processes.clear()
        if os.path.exists(f"{self.folder}/bus"):
            os.unlink(f"{self.folder}/bus")

    def _run(self, *command):
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def _fill(self, uid):
        import dbus

        connection = dbus.bus.BusConnection(self.address)
        wait_until(lambda: connection.name_has_owner("org.freedesktop.login1"), "logind is on the bus")

        def mock(path="/org/freedesktop/login1", interface="org.freedesktop.DBus.Mock"):
            return dbus.Interface(connection.get_object("org.freedesktop.login1", path), interface)

        def change(path, kind, **properties):
            for name, value in properties.items():
                mock(path, dbus.PROPERTIES_IFACE).Set(f"org.freedesktop.login1.{kind}", name, value)

        for method, missing in (("GetSessionByPID", "NoSessionForPID"), ("GetUserByPID", "NoUserForPID")):
            code = ANSWER.format(path=self.answers, method=method, missing=missing)
            mock().AddMethod("org.freedesktop.login1.Manager", method, "u", "o", code)
        mock().AddProperty("org.freedesktop.login1.Manager", "LidClosed", dbus.Boolean(False))
        nowhere = dbus.Struct(("", dbus.ObjectPath("/")), signature="so")
        kinds = {
            "seat": (uid, {}),
            "remote": (uid, {"Remote": True, "Seat": nowhere}),
            "remoteseat": (uid, {"Remote": True}),
            "inactive": (uid, {"Active": False}),
            "seatless": (uid, {"Seat": nowhere}),
            "others": (OTHER, {}),
        }
        for name, (owner, changed) in kinds.items():
            mock().AddSession(name, "seat0", dbus.UInt32(owner), f"u{owner}", True)
            change(SESSION + name, "Session", **changed)
        for number, display in ((1, "seat"), (2, "remote"), (3, "inactive"), (4, "")):
            path = mock().AddUser(dbus.UInt32(number), f"u{number}", True)
            pair = nowhere
            if display:
                pair = dbus.Struct((display, dbus.ObjectPath(SESSION + display)), signature="so")
            change(path, "User", Display=pair)
        connection.close()

    def set(self, session=None, user=None):
        """What it says of every process: a session, or a user, or an error; None is none."""
        with open(self.answers + ".new", "w") as file:
            found = {"GetSessionByPID": session, "GetUserByPID": user}
            json.dump(found, file)
        os.rename(self.answers + ".new", self.answers)

    def lid(self, shut):
        """Whether the manager says that the lid is shut."""
        import dbus

        connection = dbus.bus.BusConnection(self.address)
        manager = connection.get_object("org.freedesktop.login1", "/org/freedesktop/login1")
        properties = dbus.Interface(manager, "org.freedesktop.DBus.Mock")
        properties.UpdateProperties("org.freedesktop.login1.Manager", {"LidClosed": dbus.Boolean(shut)})
        connection.close()

    def close(self):
        self.end()
        subprocess.run(["rm", "-rf", self.folder], check=True)


# logind's answer by the name that the table has for it.
SEATS = {
    "at the seat": dict(session=SESSION + "seat"),
    "remote": dict(session=SESSION + "remote"),
    "remote with a seat": dict(session=SESSION + "remoteseat"),
    "not active": dict(session=SESSION + "inactive"),
    "no seat": dict(session=SESSION + "seatless"),
    "another's session": dict(session=SESSION + "others"),
    "a session that is gone": dict(session=SESSION + "gone"),
    "no session": dict(),
    "refuses": dict(session="error"),
    "user manager, display at the seat": dict(user=USER + "1"),
    "user manager, display remote": dict(user=USER + "2"),
    "user manager, display not active": dict(user=USER + "3"),
    "user manager, no display": dict(user=USER + "4"),
    "user manager, refuses": dict(user="error"),
}
# At login and the display managers (real uid 0) only a remote session speaks against a person at this machine; where a
# process of the person's own asks (sudo), everything must speak for one.
FOR_ROOT = {seat: "apart" if "remote" in seat else "own" for seat in SEATS}
FOR_PERSON = {seat: "own" if seat.endswith("at the seat") else "apart" for seat in SEATS}

# (peer, real uid, PAM_RUSER, PAM_RHOST, service, logind's answer, verdict); "person" is the store's owner.
TABLE = [
    *[("root", "root", "", "", "login", seat, verdict) for seat, verdict in FOR_ROOT.items()],
    *[("root", "person", "person", "", "sudo", seat, verdict) for seat, verdict in FOR_PERSON.items()],
    *[("root", "other", "", "", "login", seat, "apart") for seat in ("at the seat", "no session", "remote")],
    *[("root", "root", "", "", service, "no session", "own") for service in LOCAL],
    *[("root", "person", "person", "", service, "at the seat", "own") for service in LOCAL],
    *[("root", "root", "", "", service, "at the seat", "apart") for service in LOCKERS],
    *[("root", "person", "", "", service, "at the seat", "apart") for service in LOCKERS],
    ("root", "root", "person", "", "login", "no session", "own"),
    ("root", "root", "root", "", "login", "no session", "apart"),
    ("root", "root", "other", "", "login", "at the seat", "apart"),
    ("root", "person", "", "", "su", "at the seat", "own"),
    ("root", "person", "other", "", "sudo", "at the seat", "apart"),
    ("root", "root", "", "198.51.100.7", "login", "at the seat", "apart"),
    ("root", "root", "", "localhost", "login", "at the seat", "apart"),
    ("root", "person", "person", "host.example", "sudo", "at the seat", "apart"),
    ("root", "person", "other", "host.example", "swaylock", "remote", "apart"),
    # What a peer says that is not root never makes a try own.
    *[("person", real, "", "", service, "at the seat", "apart")
      for real in ("root", "person") for service in ("login", "sudo", "swaylock")],
    ("person", "person", "person", "", "polkit-1", "user manager, display at the seat", "apart"),
]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)
        cls.logind = Logind(cls.uid)
        cls.addClassCleanup(cls.logind.close)
        cls.daemon = Daemon(policy=POLICY, env={"DBUS_SYSTEM_BUS_ADDRESS": cls.logind.address})
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.person = (cls.name, cls.uid)
        cls.daemon.create()

    def setUp(self):
        self.logind.set()
        self.assertEqual(self.daemon.ask("triesClear").name, "done")

    def hello(self, real="root", ruser="", rhost="", service="login"):
        uids = {"root": 0, "person": self.uid, "other": OTHER}
        names = {"person": self.name, "other": "somebody", "root": "root", "": ""}
        return dict(
            frontEnd="pamAuth", service=service, realUID=uids[real], remoteUser=names[ruser], remoteHost=rhost
        )

    def verdict(self, before, after):
        own, apart = after.own.count - before.own.count, after.apart.count - before.apart.count
        self.assertEqual(own + apart, 1, f"one try: {before} -> {after}")
        return "own" if own else "apart"

    def one_try(self, peer="root", **hello):
        """One wrong passcode; on whose count it went."""
        before = self.daemon.tally()
        greeting = self.hello(**hello)
        attempt = lambda: self.daemon.authenticate("wrong", hello=greeting, service=greeting["service"]).code
        code = attempt() if peer == "root" else as_uid(self.uid, attempt)
        self.assertEqual(code, 5)
        return self.verdict(before, self.daemon.tally())


class Table(Case):
    def test_table(self):
        """Own and apart: the whole table"""
        self.assertEqual({row[-1] for row in TABLE}, {"own", "apart"})
        for peer, real, ruser, rhost, service, seat, expected in TABLE:
            with self.subTest(peer=peer, real=real, ruser=ruser, rhost=rhost, service=service, seat=seat):
                self.logind.set(**SEATS[seat])
                found = self.one_try(peer, real=real, ruser=ruser, rhost=rhost, service=service)
                self.assertEqual(found, expected)
        own = sum(1 for row in TABLE if row[-1] == "own")
        status = self.daemon.status()
        self.assertEqual((status.ownTriesLeft, status.apartTriesLeft), (100 - own, 100 - len(TABLE) + own))

    def test_flows_of_the_cli(self):
        """Flows of the CLI are apart tries, by root for a person too"""
        for request, peer, fields in (
            ("openStore", "root", {}),
            ("openStore", "person", {}),
            ("passcode", "root", {"change": "change"}),
            ("passcode", "person", {"change": "change"}),
            ("passcode", "person", {"change": "turnOff"}),
            ("reset", "person", {}),
        ):
            with self.subTest(request=request, peer=peer, **fields):
                self.daemon.lock()
                before = self.daemon.tally()
                attempt = lambda: self.daemon.ask(request, answers("wrong"), **fields).code
                self.assertEqual(attempt() if peer == "root" else as_uid(self.uid, attempt), 5)
                self.assertEqual(self.verdict(before, self.daemon.tally()), "apart")

    def test_private_daemon(self):
        """A daemon that an ordinary user runs takes that user for root, and asks no logind"""
        self.logind.set(**SEATS["remote"])
        with Daemon(policy=POLICY, uid=self.uid, env={"DBUS_SYSTEM_BUS_ADDRESS": self.logind.address}) as daemon:
            daemon.person = (self.name, self.uid)
            self.assertEqual(as_uid(self.uid, lambda: daemon.create().name), "done")
            for service, rhost, expected in (
                ("login", "", "own"), ("swaylock", "", "apart"), ("login", "host.example", "apart")
            ):
                before = daemon.tally()
                hello = dict(frontEnd="pamAuth", service=service, realUID=self.uid, remoteHost=rhost)
                code = as_uid(self.uid, lambda: daemon.authenticate("wrong", service=service, hello=hello).code)
                self.assertEqual(code, 5)
                self.assertEqual(self.verdict(before, daemon.tally()), expected)


class Processes(Case):
    def test_peer_that_is_gone(self):
        """A peer whose process is gone cannot be asked about: unknown"""
        self.logind.set(**SEATS["at the seat"])
        for keep, expected in ((True, "own"), (False, "apart")):
            with self.subTest(keep=keep):
                before = self.daemon.tally()
                ours, theirs = socket.socketpair()
                child = os.fork()
                if child == 0:
                    try:
                        client = self.daemon.client(**self.hello("person", "person", service="sudo"))
                        socket.send_fds(theirs, [b"+"], [client.socket.fileno()])
                        theirs.recv(1) if keep else None
                    finally:
                        os._exit(0)
                _, fds, _, _ = socket.recv_fds(ours, 1, 1)
                if not keep:
                    os.waitpid(child, 0)
                channel = wire.Channel(socket.socket(fileno=fds[0]))
                channel.send("authenticate", 2, [b""], subject=self.daemon.person)
                channel.send("reply", 2, [b"wrong"], question=channel.receive().question)
                while channel.receive().name != "verdict":
                    pass
                channel.close()
                ours.close()
                theirs.close()
                if keep:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                self.assertEqual(self.verdict(before, self.daemon.tally()), expected)


class Hangs(Case):
    def stop(self, process):
        process.send_signal(signal.SIGSTOP)
        self.addCleanup(process.send_signal, signal.SIGCONT)

    def assertUnknownInTime(self):
        for real, ruser, service, expected in (("root", "", "login", "own"), ("person", "person", "sudo", "apart")):
            began = time.monotonic()
            self.assertEqual(self.one_try(real=real, ruser=ruser, service=service), expected)
            self.assertLess(time.monotonic() - began, 2.8)

    def test_logind_hangs(self):
        """A logind that hangs is unknown, and a login waits no longer than two seconds for it"""
        self.logind.set(**SEATS["at the seat"])
        self.stop(self.logind.mock)
        self.assertUnknownInTime()
        self.logind.mock.send_signal(signal.SIGCONT)
        wait_until(
            lambda: self.one_try(real="person", ruser="person", service="sudo") == "own", "logind is heard again"
        )

    def test_bus_hangs(self):
        """So is a bus that hangs"""
        self.stop(self.logind.bus)
        self.assertUnknownInTime()

    def test_right_passcode_while_it_hangs(self):
        """Meanwhile the right passcode logs in, twenty people at once wait no longer than one, and others are served"""
        self.logind.set(**SEATS["at the seat"])
        self.stop(self.logind.mock)
        took, outcomes = [], []

        def login():
            began = time.monotonic()
            outcomes.append(self.daemon.authenticate(hello=self.hello()).outcome)
            took.append(time.monotonic() - began)

        threads = [threading.Thread(target=login) for _ in range(20)]
        for thread in threads:
            thread.start()
        slowest, answered = 0, set()
        while any(thread.is_alive() for thread in threads):
            began = time.monotonic()
            answered.add(as_uid(self.uid, lambda: self.daemon.client().run("status").name))
            slowest = max(slowest, time.monotonic() - began)
        self.assertEqual(answered, {"state"})
        self.assertEqual(outcomes, ["success"] * 20)
        self.assertLess(max(took), 4.5)
        self.assertLess(slowest, 1.0, "another person's request waits for no logind")

    def test_no_bus(self):
        """Without a bus at all a login waits for nothing"""
        with Daemon(policy=POLICY) as daemon:
            daemon.person = self.daemon.person
            daemon.create()
            began = time.monotonic()
            for real, service, expected in ((0, "login", "own"), (self.uid, "sudo", "apart")):
                before = daemon.tally()
                hello = dict(realUID=real)
                self.assertEqual(daemon.authenticate("wrong", service=service, hello=hello).code, 5)
                self.assertEqual(self.verdict(before, daemon.tally()), expected)
            self.assertLess(time.monotonic() - began, 1.5)
            self.assertEqual(daemon.authenticate(PASSCODE).outcome, "success")


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("peers of other uids need root")
    try:
        import dbus  # noqa: F401
        import dbusmock  # noqa: F401
    except ImportError as error:
        raise unittest.SkipTest(f"{error}: make deps") from error


if __name__ == "__main__":
    unittest.main()
