"""What assistive programs are told of a window, and what they do there, in the words of their own bus.

A window tells all of its objects in one answer, which is taken where it is whole. Otherwise each is asked: a release of
GTK may tell the rest later.
"""

import collections
import os

import dbus

ROOT = "/org/a11y/atspi/accessible/root"
PREFIX = "org.a11y.atspi."
# Bits of an object's state.
SENSITIVE, VISIBLE = 24, 30
# An answer comes at once, or its window hangs. In seconds.
PATIENCE = 10


class Node:
    """One object of a window."""

    def __init__(self, bus, name, path, role, text, states):
        self.bus, self.name, self.path = bus, name, path
        self.role, self.text, self.states = int(role), str(text), int(states)

    def has(self, state):
        return bool(self.states >> state & 1)

    def call(self, interface, method, *arguments):
        return asked(self.bus, self.name, self.path, interface, method, *arguments)


def asked(bus, name, path, interface, method, *arguments):
    return bus.get_object(name, path, introspect=False).get_dbus_method(method, PREFIX + interface)(
        *arguments, timeout=PATIENCE)


def connected():
    """The bus of assistive programs; the session's bus says where it is."""
    session = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
    address = session.get_object("org.a11y.Bus", "/org/a11y/bus", introspect=False).GetAddress(
        dbus_interface="org.a11y.Bus")
    session.close()
    return dbus.bus.BusConnection(address)


def window_of(bus, process):
    """The name on the bus of a process; nothing where it has no window yet."""
    for name, path in asked(bus, "org.a11y.atspi.Registry", ROOT, "Accessible", "GetChildren"):
        if path == ROOT and process == bus.get_object(
                dbus.BUS_DAEMON_NAME, dbus.BUS_DAEMON_PATH, introspect=False).GetConnectionUnixProcessID(
                    name, dbus_interface=dbus.BUS_DAEMON_IFACE):
            return name
    return None


def told(bus, name):
    """All objects of a window, each before those within it; nothing where they are not all there."""
    items = {}
    within = collections.defaultdict(list)
    answer = bus.get_object(name, "/org/a11y/atspi/cache", introspect=False).GetItems(
        dbus_interface=PREFIX + "Cache", timeout=PATIENCE)
    for (_, path), _, (_, parent), place, count, _, text, role, _, states in answer:
        items[path] = Node(bus, name, path, role, text, states[0]), int(count)
        within[parent].append((int(place), path))
    found = []

    def walk(path):
        node, count = items[path]
        found.append(node)
        inner = sorted(within[path])
        # Of the whole the number is not told.
        if path != ROOT and count != len(inner):
            raise LookupError(path)
        for _, each in inner:
            walk(each)

    try:
        walk(ROOT)
    except LookupError:
        return []
    return found


def asked_for(bus, name, path=ROOT):
    """The same, object by object."""
    def of(method, *arguments):
        return asked(bus, name, path, "Accessible", method, *arguments)

    text = bus.get_object(name, path, introspect=False).Get(
        PREFIX + "Accessible", "Name", dbus_interface=dbus.PROPERTIES_IFACE, timeout=PATIENCE)
    found = [Node(bus, name, path, of("GetRole"), text, of("GetState")[0])]
    for _, each in of("GetChildren"):
        found += asked_for(bus, name, each)
    return found
