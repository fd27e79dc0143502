"""Who is at the machine, as the daemon under test sees it: the kernel's control groups are real,
and logind's files are in a folder that only that daemon sees in the place of /run/systemd.

    logind = Logind(uid)                                   # "here" is the person's own session in front, and so on
    daemon = Daemon(before=logind.before, env=logind.env)
    logind.set(session="here")                             # this process, and whoever it starts, is in that session
    logind.set(user=uid)                                   # a process of the person's user manager
    logind.set(unit="lightdm.service")                     # a unit of the system's manager
    logind.set()                                           # a console's login, its terminal in front

Only as root. The test's own process moves, because the daemon looks at the process that
connects.
"""

import atexit
import contextlib
import errno
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

FRONT = "/sys/class/tty/tty0/active"
OTHER = 47999
BUS = """<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/></policy></busconfig>"""


def _cgroups():
    """Where systemd's own tree of control groups is mounted, or would be."""
    for folder in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(os.path.join(folder, "cgroup.procs")) and os.access(folder, os.W_OK):
            return folder
    return None


CGROUPS = _cgroups()
_made, _home = set(), None


def front_terminal():
    try:
        with open(FRONT) as file:
            return file.read().strip()
    except OSError:
        return "tty1"


def _own_group():
    with open("/proc/self/cgroup") as file:
        return next(line.split(":", 2)[2].strip() for line in file if line.startswith("0::"))


def move(path, pid=0):
    """Moves a process, by default this one, into a control group, with its threads and later
    children."""
    global _home
    if os.getuid() != 0:
        return
    if _home is None:
        _home = _own_group()
        atexit.register(_sweep)
    _note(path)
    while True:
        try:
            os.makedirs(CGROUPS + path, exist_ok=True)
            with open(os.path.join(CGROUPS + path, "cgroup.procs"), "w") as file:
                file.write(str(pid))
            return
        except OSError as error:
            # Another suite that used the empty group has removed it meanwhile.
            if error.errno not in (errno.ENOENT, errno.ENODEV):
                raise


def _note(path):
    """Notes what to remove at the end, if nobody else uses it."""
    folder = CGROUPS + path
    while len(folder) > len(CGROUPS):
        _made.add(folder)
        folder = os.path.dirname(folder)


def _sweep():
    """Moves back, and removes the groups that nobody else uses."""
    with contextlib.suppress(OSError):
        with open(os.path.join(CGROUPS + _home, "cgroup.procs"), "w") as file:
            file.write("0")
    for folder in sorted(_made, key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def console(terminal=None):
    """A unit of the system manager: the login at a terminal, by default the one in front."""
    return f"/system.slice/system-getty.slice/getty@{terminal or front_terminal()}.service"


def session(name, uid):
    return f"/user.slice/user-{uid}.slice/session-{name}.scope"


def manager(uid, below="app.slice/some.service"):
    """A user's own manager, and any name below it that the user may choose."""
    return f"/user.slice/user-{uid}.slice/user@{uid}.service/{below}"


def at_console():
    """As root: makes this process one that logs people in at the console in front."""
    if os.getuid() == 0 and CGROUPS:
        move(console())


class Desk:
    """What logind and the kernel report about sessions, seats and terminals, in files that a
    test can change at any time."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-desk-")
        os.chmod(self.folder, 0o755)
        for name in ("run/sessions", "run/seats", "run/users"):
            os.makedirs(os.path.join(self.folder, name))
        with open(os.path.join(self.folder, "front"), "w") as file:
            file.write(front_terminal() + "\n")
        self.seat("seat0")

    @property
    def before(self):
        """The command line before the daemon's, with which it sees this desk."""
        script = f"mount --bind '{self.folder}/run' /run/systemd && "
        if os.path.exists(FRONT):
            script += f"mount --bind '{self.folder}/front' '{os.path.realpath(FRONT)}' && "
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script + 'exec "$@"', "sh"]

    def _write(self, name, **fields):
        path = os.path.join(self.folder, "run", name)
        with open(path + ".new", "w") as file:
            file.writelines(f"{key}={value}\n" for key, value in fields.items())
        os.rename(path + ".new", path)

    def session(self, name, uid, kind="user", active=True, remote=False, seat="seat0", state=None, screen="tty"):
        fields = dict(
            UID=uid, USER=f"u{uid}", ACTIVE=int(active), STATE=state or ("active" if active else "online"),
            REMOTE=int(remote), CLASS=kind, TYPE=screen, LEADER=1)
        if seat:
            fields.update(SEAT=seat, VTNR=2)
        self._write(f"sessions/{name}", **fields)

    def seat(self, name, session=None, uid=0):
        fields = dict(IS_SEAT0=int(name == "seat0"), CAN_MULTI_SESSION=1, CAN_TTY=1, CAN_GRAPHICAL=1)
        if session:
            fields.update(ACTIVE=session, ACTIVE_UID=uid)
        self._write(f"seats/{name}", **fields)

    def display(self, uid, session):
        self._write(f"users/{uid}", NAME=f"u{uid}", STATE="active", **({"DISPLAY": session} if session else {}))

    def front(self, terminal):
        # Written in place, because the daemon sees this same file.
        with open(os.path.join(self.folder, "front"), "w") as file:
            file.write(terminal + "\n")

    def forget(self, name):
        """The session is over."""
        os.unlink(os.path.join(self.folder, "run/sessions", name))

    def clear(self):
        """Nobody is logged in, and seat0 is empty."""
        for kind in ("sessions", "users", "seats"):
            folder = os.path.join(self.folder, "run", kind)
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
        self.seat("seat0")
        self.front(front_terminal())

    def no_logind(self):
        shutil.rmtree(os.path.join(self.folder, "run", "seats"))
        shutil.rmtree(os.path.join(self.folder, "run", "sessions"))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Logind(Desk):
    """A desk with sessions of every kind that a person may have, and a bus with a logind that
    knows about the lid and about sleep."""

    def __init__(self, uid):
        super().__init__()
        self.uid = uid
        self.address = f"unix:path={self.folder}/bus"
        self.processes = []
        self.people()
        self.config = os.path.join(self.folder, "bus.conf")
        with open(self.config, "w") as file:
            file.write(BUS.format(f"{self.folder}/bus"))
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        self.set()

    def people(self):
        """The person in front, and in all other ways in which they may be here."""
        uid = self.uid
        self.session("here", uid)
        self.session("remote", uid, remote=True, seat=None)
        self.session("remoteseat", uid, remote=True)
        self.session("inactive", uid, active=False)
        self.session("leaving", uid, state="closing")
        self.session("seatless", uid, seat=None)
        self.session("others", OTHER)
        self.display(uid, "here")
        self.seat("seat0", "here", uid)

    @property
    def env(self):
        return {"DBUS_SYSTEM_BUS_ADDRESS": self.address}

    def set(self, session=None, user=None, unit=None, display="here"):
        """Sets where this process is from now on, and the person's display session."""
        self.display(self.uid, display)
        if session:
            move(globals()["session"](session, OTHER if session == "others" else self.uid))
        elif user:
            move(manager(user))
        elif unit:
            move(f"/system.slice/{unit}")
        else:
            move(console())

    # the bus

    def start(self):
        self.bus = self._run("dbus-daemon", "--nofork", "--nopidfile", "--config-file", self.config)
        self._wait(self._listens)
        self.begins()

    def begins(self):
        """logind takes its name."""
        self.mock = self._run(sys.executable, "-m", "dbusmock", "--system", "--template", "logind")
        import dbus

        connection = dbus.bus.BusConnection(self.address)
        self._wait(lambda: connection.name_has_owner("org.freedesktop.login1"))
        manager = connection.get_object("org.freedesktop.login1", "/org/freedesktop/login1")
        mock = dbus.Interface(manager, "org.freedesktop.DBus.Mock")
        mock.AddProperty("org.freedesktop.login1.Manager", "LidClosed", dbus.Boolean(False))
        connection.close()

    def _wait(self, condition):
        end = time.monotonic() + 10
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("the bus is not there within 10 s")
            time.sleep(0.005)

    def _listens(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            return connection.connect_ex(f"{self.folder}/bus") == 0

    def _run(self, *command):
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def lid(self, shut):
        """Sets whether the manager reports that the lid is shut."""
        import dbus

        connection = dbus.bus.BusConnection(self.address)
        manager = connection.get_object("org.freedesktop.login1", "/org/freedesktop/login1")
        properties = dbus.Interface(manager, "org.freedesktop.DBus.Mock")
        properties.UpdateProperties("org.freedesktop.login1.Manager", {"LidClosed": dbus.Boolean(shut)})
        connection.close()

    def end(self):
        """Ends the bus and all that is on it."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self.processes.clear()
        if os.path.exists(f"{self.folder}/bus"):
            os.unlink(f"{self.folder}/bus")

    def close(self):
        self.end()
        at_console()
        super().close()


def in_child(whose, become, function):
    """Runs both in a child and returns the result of the second. An exception in the child is
    raised here, too."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            try:
                become()
                answer = (True, function())
            except BaseException as error:
                answer = (False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
            with os.fdopen(write, "wb") as file:
                pickle.dump(answer, file)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    good, value = pickle.loads(data)
    if not good:
        raise AssertionError(f"{whose}: {value}")
    return value


def as_peer(function, path=None, real=0, effective=0):
    """Runs the function in a child in that control group, with that real and effective uid;
    returns its result."""
    def become():
        if path:
            move(path)
        os.setgroups([])
        os.setresgid(real, effective, effective)
        os.setresuid(real, effective, effective)

    if path:
        _note(path)
    return in_child(f"as a peer in {path}", become, function)


class Standby:
    """A process that only waits, and stands for an agent."""

    def __init__(self, path, real=0, effective=0):
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                move(path)
                os.setresuid(real, effective, effective)
                os.write(write, b"+")
                signal.pause()
            finally:
                os._exit(0)
        _note(path)
        os.close(write)
        os.read(read, 1)
        os.close(read)

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0


def polkit(instance):
    return "/system.slice/system-polkit\\x2dagent\\x2dhelper.slice/polkit-agent-helper@" + instance + ".service"


# Where the process that asks is, by the names that the tables use.
PLACES = {
    "at the seat": dict(session="here"),
    "remote": dict(session="remote"),
    "remote with a seat": dict(session="remoteseat"),
    "not active": dict(session="inactive"),
    "leaving": dict(session="leaving"),
    "no seat": dict(session="seatless"),
    "another's session": dict(session="others"),
    "a session that is gone": dict(session="gone"),
    "a service": dict(unit="some.service"),
    "user manager, display at the seat": dict(display="here"),
    "user manager, display remote": dict(display="remote"),
    "user manager, display not active": dict(display="inactive"),
    "user manager, no display": dict(display=None),
}


def place(logind, name):
    """Moves this process there."""
    fields = dict(PLACES[name])
    if name.startswith("user manager"):
        fields["user"] = logind.uid
    logind.set(**fields)
