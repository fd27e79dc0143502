"""A screen locker on the session bus, for agentlab.py: NAME PATH ACTIVE; then a line for each ActiveChanged."""

import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = sys.argv[1]


class Locker(dbus.service.Object):
    active = sys.argv[3] == "True"

    @dbus.service.method(NAME, out_signature="b")
    def GetActive(self):
        return self.active

    @dbus.service.signal(NAME, signature="b")
    def ActiveChanged(self, active):
        self.active = active


def main():
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    locker = Locker(bus, sys.argv[2])
    name = dbus.service.BusName(NAME, bus, do_not_queue=True)

    def says(source, _condition):
        line = source.readline()
        if line:
            locker.ActiveChanged(line.strip() == "True")
        return bool(line)

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, says)
    GLib.MainLoop().run()
    del name


if __name__ == "__main__":
    main()
