"""`appvault-desktop` on a display of its own, looked at and pressed as a screen reader does it.

    with Display() as display, display.window("--gallery", "welcome") as window:
        window.press("Continue")
        window.wait("What should open your store?")
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import assistivelab
import clilab
import dbus
from assistivelab import SENSITIVE

PROGRAM = os.path.join(clilab.BUILD, "appvault-desktop")
PATIENCE = 20.0
# By their numbers: the names differ between releases of AT-SPI, and GTK has widgets that say PANEL.
BUTTON, LABEL, TEXT, PASSWORD, LIST, ITEM, ENTRY, HEADING, LINK, ALERT = 43, 29, 61, 40, 31, 32, 79, 83, 88, 2
NOTIFICATION, STATIC = 101, 116
FIELDS = (TEXT, PASSWORD, ENTRY)


class Display:
    """An X server, a session bus and the bus of assistive programs. One for a whole suite: the library that hears what
    happens on the latter connects once."""

    bus = None

    def __enter__(self):
        if not shutil.which("Xvfb"):
            raise unittest.SkipTest("needs Xvfb")
        self.children = []
        self.folder = tempfile.mkdtemp(prefix="appvault-window-")
        reader, writer = os.pipe()
        self.children.append(subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-noreset", "-screen", "0", "1280x1100x24", "-nolisten", "tcp"],
            pass_fds=[writer], stderr=subprocess.DEVNULL))
        os.close(writer)
        with os.fdopen(reader) as file:
            self.name = ":" + file.readline().strip()
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("NO_AT_BRIDGE", "WAYLAND_DISPLAY")},
            "DISPLAY": self.name, "GTK_A11Y": "atspi", "GSETTINGS_BACKEND": "memory",
            "HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "XDG_RUNTIME_DIR": self.folder, "LC_ALL": "C.UTF-8",
            "ADW_DISABLE_PORTAL": "1", "GDK_BACKEND": "x11"}
        bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, env=self.environment)
        self.children.append(bus)
        address = bus.stdout.readline().strip()
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        os.environ.update(DBUS_SESSION_BUS_ADDRESS=address, DISPLAY=self.name)
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi
        self.atspi = Atspi
        Atspi.init()
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.terminate()
            child.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def window(self, *arguments, environment=None):
        return Window(self, arguments, environment or {})

    def assistive(self):
        """The bus of assistive programs."""
        if self.bus is None:
            self.bus = assistivelab.connected()
        return self.bus

    def listen(self, event, heard):
        """Calls `heard` in `turn` for what assistive programs are told; as long as what this gives is kept."""
        from gi.repository import GLib

        def happened(what):
            # Its window may have gone meanwhile.
            with contextlib.suppress(GLib.Error):
                heard(what)

        listener = self.atspi.EventListener.new(happened)
        listener.register(event)
        return listener

    def turn(self):
        from gi.repository import GLib
        while GLib.MainContext.default().iteration(False):
            pass

    def away_and_back(self):
        """The keyboard goes to a window of another program, and comes back."""
        from Xlib import X
        from Xlib import display as x
        display = x.Display(self.name)
        with contextlib.closing(display):
            root = display.screen().root
            ours = [each for each in root.query_tree().children
                    if each.get_attributes().map_state == X.IsViewable and each.get_geometry().width > 300][-1]
            other = root.create_window(0, 0, 10, 10, 0, X.CopyFromParent)
            other.map()
            display.sync()
            while other.get_attributes().map_state != X.IsViewable:
                time.sleep(0.01)
            for window in (other, ours):
                window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
                display.sync()

    def key(self, *names):
        """Presses keys as a keyboard does: the passcode that is typed so crosses no bus."""
        from Xlib import XK, X
        from Xlib import display as x
        from Xlib.ext import xtest
        display = x.Display(self.name)
        with contextlib.closing(display):
            for name in names:
                code = display.keysym_to_keycode(XK.string_to_keysym(name))
                shifted = len(name) == 1 and name.isupper()
                shift = display.keysym_to_keycode(XK.XK_Shift_L)
                if shifted:
                    xtest.fake_input(display, X.KeyPress, shift)
                xtest.fake_input(display, X.KeyPress, code)
                xtest.fake_input(display, X.KeyRelease, code)
                if shifted:
                    xtest.fake_input(display, X.KeyRelease, shift)
                display.sync()


def display_of_suite():
    """One that ends with the suite's module."""
    display = Display()
    unittest.addModuleCleanup(display.__exit__)
    return display.__enter__()


class Seated(Display):
    """The display and the buses of the session in which this process is."""

    def __enter__(self):
        self.children, self.folder, self.name = [], tempfile.mkdtemp(prefix="appvault-window-"), os.environ["DISPLAY"]
        self.environment = {**os.environ, "GTK_A11Y": "atspi", "LC_ALL": "C.UTF-8"}
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi
        self.atspi = Atspi
        Atspi.init()
        return self


class Window:
    def __init__(self, display, arguments, environment):
        self.display, self.arguments, self.more = display, arguments, environment

    def __enter__(self):
        self.began = time.monotonic()
        self.log = open(os.path.join(self.display.folder, "log"), "w+b")
        self.process = subprocess.Popen(
            [PROGRAM, *self.arguments], env={**self.display.environment, **self.more}, stdout=self.log,
            stderr=self.log)
        return self

    def __exit__(self, *failed):
        if self.process.poll() is None:
            self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.log.seek(0)
        wrong = [line for line in self.log.read().decode(errors="replace").splitlines() if "-CRITICAL" in line]
        self.log.close()
        # What GTK says about a widget that is gone would be a crash on another day.
        assert failed[0] or not wrong, wrong

    # What there is

    def number(self):
        """Of the process whose window it is."""
        return self.process.pid

    def nodes(self):
        """Everything that the window says, as (role, name, node)."""
        bus = self.display.assistive()
        try:
            window = assistivelab.window_of(bus, self.number())
            nodes = window and (assistivelab.told(bus, window) or assistivelab.asked_for(bus, window))
        except dbus.DBusException:  # what was there a moment ago has gone
            return []
        return [(node.role, node.text, node) for node in nodes or []]

    def until(self, what, seconds=PATIENCE):
        """What `what` makes of the nodes, once it is something."""
        end = time.monotonic() + seconds
        while True:
            nodes = self.nodes()
            found = what(nodes)
            if found:
                return found
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                texts = [(role, name) for role, name, _ in nodes if name]
                raise AssertionError(f"not there: {texts} {self.process.poll()} {self.log.read()}")
            time.sleep(0.1)

    def wait(self, text, seconds=PATIENCE):
        return self.until(lambda nodes: [node for _, name, node in nodes if text in name], seconds)[0]

    def button(self, name):
        return self.until(lambda nodes: [
            node for role, text, node in nodes if role == BUTTON and text == name])[0]

    def is_enabled(self, name):
        return self.button(name).has(SENSITIVE)

    def press(self, name):
        self.until(lambda nodes: [
            node for role, text, node in nodes if role == BUTTON and text == name and node.has(SENSITIVE)
        ])[0].call("Action", "DoAction", 0)

    def text(self, node):
        """What stands in a field."""
        return str(node.call("Text", "GetText", 0, -1))

    def fields(self):
        return [(name, node) for role, name, node in self.nodes() if role in FIELDS]

    def fill(self, name, text):
        """By the bus of assistive programs, as software that types for somebody."""
        self.until(lambda nodes: [
            node for role, label, node in nodes if role in FIELDS and label == name
        ])[0].call("EditableText", "SetTextContents", text)

    def choose(self, name, place=None):
        """One of a list, by the beginning of what it says. Where some are hidden, its place among all is needed."""
        def select(nodes):
            lists = [node for role, _, node in nodes if role == LIST]
            items = [node for role, text, node in nodes if role == ITEM and text.startswith(name)]
            return items and lists[-1].call(
                "Selection", "SelectChild",
                items[0].call("Accessible", "GetIndexInParent") if place is None else place)
        self.until(select)

    def has_gone(self):
        return self.process.wait(10)


class Dialog(Window):
    """The window of a program that `appvault`, which has no terminal, starts to ask somebody."""

    def __init__(self, display, lab, *words):
        super().__init__(display, words, {})
        self.lab, self.starter = lab, os.path.join(lab.folder, "dialog-program")
        with open(self.starter, "w") as file:
            file.write(f'#!/bin/sh\nexec "{PROGRAM}" --pinentry\n')
        os.chmod(self.starter, 0o755)

    def __enter__(self):
        self.log = open(os.path.join(self.display.folder, "log"), "w+b")
        self.process = subprocess.Popen(
            [clilab.APPVAULT, "--socket", self.lab.path, "--pam-dir", self.lab.folder, *self.arguments],
            env={**self.display.environment, "APPVAULT_PINENTRY": self.starter}, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, start_new_session=True)
        return self

    def number(self):
        """Its one child; 0 between two dialogs."""
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                return int((file.read().split() or ["0"])[0])
        except OSError:
            return 0

    def said(self):
        self.log.seek(0)
        return self.log.read().decode()
