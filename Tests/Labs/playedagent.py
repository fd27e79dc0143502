"""The agent of a session, for secretslab.py. It says `asked STORE` for each dialog that it would show and `gone STORE`
when nobody waits for that any more, and answers all that wait when a line with a status comes: 0 has opened it."""

import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.appvault.Agent1"


class Agent(dbus.service.Object):
    waiting = []

    @dbus.service.method(NAME, in_signature="s", out_signature="is", async_callbacks=("answer", "refuse"))
    def Unlock(self, store, answer, refuse):
        self.waiting.append(answer)
        print("asked", store, flush=True)

    @dbus.service.method(NAME, in_signature="s", out_signature="is", async_callbacks=("answer", "refuse"))
    def Erase(self, store, answer, refuse):
        self.waiting.append(answer)
        print("erases", store, flush=True)

    @dbus.service.method(NAME, in_signature="ss", out_signature="is")
    def Make(self, store, identity):
        """The person wants no passcode for a new collection."""
        print("makes", store, identity, flush=True)
        return 3, ""

    @dbus.service.method(NAME, in_signature="s")
    def Withdraw(self, store):
        print("gone", store, flush=True)
        self.answer(130)

    def answer(self, status):
        waiting, self.waiting = self.waiting, []
        for answer in waiting:
            answer(status, "")


def main():
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    agent = Agent(bus, "/org/appvault/Agent1")
    name = dbus.service.BusName(NAME, bus, do_not_queue=True)

    def says(source, _condition):
        line = source.readline()
        if line:
            agent.answer(int(line))
        return bool(line)

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, says)
    print("ready", flush=True)
    GLib.MainLoop().run()
    del name


if __name__ == "__main__":
    main()
