"""An X server without a screen, with or without a window manager, and programs with windows whose place and colour a
test knows.

    with Screen(manager="openbox") as screen:
        client = screen.client("red", x=100, y=80, group="/test/a")
        screen.wait_until_shown(client)
        screen.windows("hide", "/test/a")
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

from clilab import BUILD
from daemonlab import wait_until
from places import LABS
from playedwindow import COLOURS

PROGRAM = os.path.join(BUILD, "appvault-windows")


class Client:
    def __init__(self, process):
        self.process = process
        words = process.stdout.readline().split()
        assert words, "the client has no window"
        self.window, self.menu = int(words[0]), int(words[1]) if len(words) > 1 else None

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Screen:
    def __init__(self, manager=None):
        self.folder = tempfile.mkdtemp(prefix="appvault-x-")
        self.clients, self.manager, self.display = [], None, None
        reading, writing = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-noreset", "-nolisten", "tcp", "-screen", "0", "800x600x24"],
            pass_fds=(writing,), stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as told:
            self.name = ":" + told.readline().strip()
        self.environment = {
            **{name: os.environ[name] for name in ("PATH",) if name in os.environ}, "DISPLAY": self.name,
            "HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "LC_ALL": "C.UTF-8"}
        try:
            self._begin(manager)
        except BaseException:
            # Nobody else would end the server.
            self.__exit__()
            raise

    def _begin(self, manager):
        from Xlib import display

        self.display = display.Display(self.name)
        self.root = self.display.screen().root
        if manager:
            self.manager = subprocess.Popen([manager], env=self.environment, stderr=subprocess.DEVNULL)
            wait_until(lambda: self.property(self.root, "_NET_SUPPORTING_WM_CHECK"), "the window manager runs", 30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.end()
        if self.display:
            self.display.close()
        for process in (self.manager, self.server):
            if process:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, colour, x, y, group=None, menu=False, pid=0, state=()):
        """A program in the control group. It opens its window only when it is there."""
        from loginlab import move

        process = subprocess.Popen(
            ["/bin/sh", "-c", 'read go; exec "$@"', "sh", sys.executable, "-c",
             f"import playedwindow; playedwindow.play({colour!r}, {x}, {y}, {menu}, {pid}, {tuple(state)!r})"],
            env={**self.environment, "PYTHONPATH": LABS}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if group:
            move(group, process.pid)
        process.stdin.write(b"go\n")
        process.stdin.close()
        client = Client(process)
        self.clients.append(client)
        self.wait_until_shown(client.window)
        return client

    def windows(self, *arguments, **more):
        return subprocess.run(
            [PROGRAM, *map(str, arguments)], env=self.environment, capture_output=True, timeout=30, check=False, **more)

    # --- what is to be seen

    def property(self, window, name):
        found = window.get_full_property(self.display.intern_atom(name), 0)
        return list(found.value) if found else None

    def window(self, number):
        return self.display.create_resource_object("window", number)

    def is_shown(self, number):
        from Xlib import X

        return self.window(number).get_attributes().map_state == X.IsViewable

    def wait_until_shown(self, number):
        wait_until(lambda: self.is_shown(number), "the window is shown", 20)

    def place(self, number):
        """Where its upper left corner is on the screen."""
        there = self.root.translate_coords(self.window(number), 0, 0)
        return there.x, there.y

    def colour(self, x, y):
        from Xlib import X

        data = self.root.get_image(x, y, 1, 1, X.ZPixmap, 0xFFFFFF).data
        return int.from_bytes(data[:3], "little")

    def seen(self):
        """Which of the colours are anywhere on the screen."""
        from Xlib import X

        size = self.root.get_geometry()
        data = bytes(self.root.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFF).data)
        pixels = {data[place:place + 3] for place in range(0, len(data), 4 * 7)}
        return {name for name, value in COLOURS.items() if value.to_bytes(3, "little") in pixels}

    def picture(self, path):
        subprocess.run(["import", "-window", "root", path], env=self.environment, check=True)

    def can_grab(self):
        """Whether a screen locker would get the pointer now."""
        from Xlib import X

        got = self.root.grab_pointer(False, 0, X.GrabModeAsync, X.GrabModeAsync, 0, 0, 0) == X.GrabSuccess
        if got:
            self.display.ungrab_pointer(0)
            self.display.sync()
        return got
