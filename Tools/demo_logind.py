#!/usr/bin/python3
"""The logind that Tools/demo plays, on a bus of its own: one session, in front, whose screen can be locked. Its only
argument is the session's id."""

import os
import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

PROPERTIES = "org.freedesktop.DBus.Properties"
LOGIND = "org.freedesktop.login1"
AT = "/org/freedesktop/login1"


class Object(dbus.service.Object):
    def __init__(self, name, path, interface, **values):
        super().__init__(name, AT + path)
        self.interface, self.values = interface, values

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, _interface, name):
        return self.values[name]

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _interface):
        return self.values

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, gone):
        pass


class Manager(Object):
    @dbus.service.method(LOGIND + ".Manager", in_signature="ssss", out_signature="h")
    def Inhibit(self, _what, _who, _why, _mode):
        # Nobody goes to sleep here.
        return dbus.types.UnixFd(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC))

    @dbus.service.method(LOGIND + ".Manager", out_signature="s")
    def CanHibernate(self):
        return "na"


class Session(Object):
    shown = None

    @dbus.service.method(LOGIND + ".Session", in_signature="b")
    def SetLockedHint(self, locked):
        # The session has two names, and says what it says under the first.
        for each in (self, self.shown or self):
            each.values["LockedHint"] = dbus.Boolean(locked)
        (self.shown or self).PropertiesChanged(self.interface, {"LockedHint": dbus.Boolean(locked)}, [])


def main(session):
    DBusGMainLoop(set_as_default=True)
    name = dbus.service.BusName(LOGIND, dbus.SystemBus(), do_not_queue=True)
    here = dbus.Struct((session, dbus.ObjectPath(f"{AT}/session/{session}")), signature="so")
    values = {
        "Id": session, "LockedHint": dbus.Boolean(False), "IdleHint": dbus.Boolean(False), "State": "active",
        "Type": "x11", "Seat": dbus.Struct(("seat0", dbus.ObjectPath(AT + "/seat/seat0")), signature="so")}
    objects = [
        Manager(name, "", LOGIND + ".Manager", PreparingForSleep=dbus.Boolean(False), LidClosed=dbus.Boolean(False)),
        Object(name, "/seat/seat0", LOGIND + ".Seat", Id="seat0", ActiveSession=here),
        Session(name, f"/session/{session}", LOGIND + ".Session", **values),
        Session(name, "/session/auto", LOGIND + ".Session", **values),
    ]
    objects[3].shown = objects[2]
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(sys.argv[1])
