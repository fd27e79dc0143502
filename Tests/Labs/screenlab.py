"""A logind on a bus of its own, which says of sleep and of screens what a test wants. See loginlab.py for who is at the
machine."""

import os

from daemonlab import wait_until
from loginlab import Logind
from patience import Stopwatch

MANAGER = "org.freedesktop.login1.Manager"
SESSION = "org.freedesktop.login1.Session"
SEAT = "/org/freedesktop/login1/seat/seat0"


def path(session):
    return "/org/freedesktop/login1/session/" + session


class SleepyLogind(Logind):
    """A logind that goes to sleep when the test says so, but not before those who delay sleep let it. It has the
    person's sessions, whose screens the test locks and unlocks."""

    def __init__(self, hibernation="na"):
        self.hibernation = hibernation
        self.connection = None
        super().__init__(os.getuid())

    def begins(self):
        import dbus

        super().begins()
        self.connection = dbus.bus.BusConnection(self.address)
        self.calls("CanHibernate", "s", f'ret = "{self.hibernation}"')
        for name in os.listdir(os.path.join(self.folder, "run/sessions")):
            self.appears(name)
        self._mock().AddObject(SEAT, "org.freedesktop.login1.Seat", {
            "Id": "seat0", "ActiveSession": self.shown("here")}, dbus.Array([], signature="(ssss)"))

    def end(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        super().end()

    def _mock(self, interface="org.freedesktop.DBus.Mock"):
        import dbus

        return dbus.Interface(
            self.connection.get_object("org.freedesktop.login1", "/org/freedesktop/login1"), interface)

    def calls(self, method, answer, code, arguments=""):
        self._mock().AddMethod(MANAGER, method, arguments, answer, code)

    def refuses(self):
        """From now on nobody may delay sleep."""
        self.calls("Inhibit", "h", 'raise dbus.exceptions.DBusException("no", name="a.b")', "ssss")

    def says(self, asleep):
        import dbus

        self._mock().EmitSignal(MANAGER, "PrepareForSleep", "b", dbus.Array([asleep], signature="v"))

    def delays(self):
        return [tuple(str(word) for word in each[:2]) + (str(each[3]),) for each in
                self._mock(MANAGER).ListInhibitors()]

    def is_delayed(self):
        return ("sleep", "AppVault", "delay") in self.delays()

    def falls_asleep(self, within=3.0):
        """A stopwatch that has run for as long as the sleep was delayed."""
        wait_until(self.is_delayed, "the daemon delays sleep")
        stopwatch = Stopwatch()
        self.says(True)
        wait_until(lambda: not self.is_delayed(), "the daemon lets the machine sleep", within)
        return stopwatch.stop()

    def is_asleep(self, asleep):
        """What it answers to whoever asks, without a signal."""
        import dbus

        self._mock().UpdateProperties(MANAGER, {"PreparingForSleep": dbus.Boolean(asleep)})

    def wakes(self):
        self.says(False)

    def peers(self):
        """Who is connected to the bus."""
        return [str(name) for name in self.connection.list_names() if name.startswith(":")]

    def name_of(self, pid):
        """A process's name on the bus."""
        bus = self.connection.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus")
        return next(name for name in self.peers() if bus.GetConnectionUnixProcessID(name) == pid)

    # screens

    def appears(self, name, announced=False):
        """The bus knows a session that has its file."""
        import dbus

        self._mock().AddObject(path(name), SESSION, {
            "Id": name, "LockedHint": dbus.Boolean(False), "IdleHint": dbus.Boolean(False)},
            dbus.Array([], signature="(ssss)"))
        if announced:
            self.announce("SessionNew", name)

    def has(self, name):
        """Whether there is such a session."""
        return os.path.exists(os.path.join(self.folder, "run/sessions", name))

    def goes(self, name):
        """A session ends: its file goes, and logind says so."""
        self.forget(name)
        self.announce("SessionRemoved", name)
        self._mock().RemoveObject(path(name))

    def announce(self, signal, name):
        import dbus

        self._mock().EmitSignal(MANAGER, signal, "so", dbus.Array([name, dbus.ObjectPath(path(name))], signature="v"))

    def hints(self, name="here", **values):
        """A session says of itself: locked=True, idle=False."""
        import dbus

        names = {"locked": "LockedHint", "idle": "IdleHint"}
        self._object(path(name)).UpdateProperties(
            SESSION, {names[key]: dbus.Boolean(value) for key, value in values.items()})

    def tells_to_lock(self, name="here"):
        import dbus

        self._object(path(name)).EmitSignal(SESSION, "Lock", "", dbus.Array([], signature="v"))

    def shown(self, name):
        import dbus

        return dbus.Struct((name or "", dbus.ObjectPath(path(name) if name else "/")), signature="so", variant_level=1)

    def shows(self, name, uid=0):
        """Another session comes in front on seat0; None is none."""
        self.seat("seat0", name, uid)
        import dbus

        changed = dbus.Dictionary({"ActiveSession": self.shown(name)}, signature="sv")
        # dbusmock's own way to say this does not know pairs.
        self._object(SEAT).EmitSignal(
            "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
            dbus.Array(["org.freedesktop.login1.Seat", changed, dbus.Array([], signature="s")], signature="v"))

    def _object(self, at):
        import dbus

        return dbus.Interface(
            self.connection.get_object("org.freedesktop.login1", at), "org.freedesktop.DBus.Mock")

    def shows_file(self, name, uid):
        """The same while nobody can hear it."""
        self.session(name, uid)
        self.seat("seat0", name, uid)

    def restarts(self):
        """logind ends and is started again: it knows the sessions, but of no lock."""
        mock = self.processes.pop()
        mock.kill()
        mock.wait()
        self.connection.close()
        self.connection = None
        self.begins()
