"""A polkit that says what the test wants, on a system bus of its own.

    polkit = Polkit()
    daemon = Daemon(env=polkit.env)
    polkit.says(yes=True)                 # from now on
    polkit.questions()                    # what it was asked: [Question(pid, start, uid, action)]
    polkit.pause()                        # it asks the person, and answers when it goes on
"""

import collections
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from daemonlab import wait_until
from loginlab import BUS

NAME = "org.freedesktop.PolicyKit1"
PATH = "/org/freedesktop/PolicyKit1/Authority"
INTERFACE = "org.freedesktop.PolicyKit1.Authority"

Question = collections.namedtuple("Question", "pid start uid action")


def beginning(pid):
    """When a process began, as polkit counts it."""
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[19])


class Polkit:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-polkit-")
        os.chmod(self.folder, 0o755)
        self.address = f"unix:path={self.folder}/bus"
        self.processes, self.connection = [], None
        config = os.path.join(self.folder, "bus.conf")
        with open(config, "w") as file:
            file.write(BUS.format(f"{self.folder}/bus"))
        try:
            self._run("dbus-daemon", "--nofork", "--nopidfile", "--config-file", config)
            wait_until(self._listens, "the bus listens")
            self.authority = self._run(sys.executable, "-m", "dbusmock", "--system", NAME, PATH, INTERFACE)
            import dbus

            self.connection = dbus.bus.BusConnection(self.address)
            wait_until(lambda: self.connection.name_has_owner(NAME), "polkit is on the bus")
            self.mock = dbus.Interface(self.connection.get_object(NAME, PATH), "org.freedesktop.DBus.Mock")
            self.own = set(self.peers())
        except BaseException:
            self.close()
            raise

    @property
    def env(self):
        return {"DBUS_SYSTEM_BUS_ADDRESS": self.address}

    def _run(self, *command):
        process = subprocess.Popen(
            command, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def _listens(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            return connection.connect_ex(f"{self.folder}/bus") == 0

    def _answers(self, code):
        self.mock.AddMethod(INTERFACE, "CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", code)

    def says(self, yes=False, challenge=False):
        self._answers(
            f"ret = dbus.Struct((dbus.Boolean({yes}), dbus.Boolean({challenge}), "
            "dbus.Dictionary({}, signature='ss')), signature='bba{ss}')")

    def refuses(self):
        """As it does where the package's action is not installed."""
        self._answers('raise dbus.exceptions.DBusException("Only trusted callers", '
                      'name="org.freedesktop.PolicyKit1.Error.NotAuthorized")')

    def questions(self):
        found = []
        for _, method, arguments in self.mock.GetCalls():
            if method == "CheckAuthorization":
                (kind, facts), action, _, flags, _ = arguments
                assert (str(kind), int(flags)) == ("unix-process", 1), arguments
                found.append(Question(int(facts["pid"]), int(facts["start-time"]), int(facts["uid"]), str(action)))
        return found

    def pause(self):
        self.authority.send_signal(signal.SIGSTOP)

    def resume(self):
        self.authority.send_signal(signal.SIGCONT)

    def leave(self):
        """There is a bus, and no polkit on it."""
        self.authority.kill()
        self.authority.wait()
        wait_until(lambda: not self.connection.name_has_owner(NAME), "polkit has left the bus")

    def peers(self):
        """Who else is connected to the bus."""
        return [str(name) for name in self.connection.list_names() if name.startswith(":")]

    def asking(self):
        """How many connections wait for it."""
        return len(set(self.peers()) - self.own)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
